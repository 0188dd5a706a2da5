/* user.c - a program as a user of phi writes it, from phi.h alone: it talks to a server on this
   machine and prints each event as a line of JSON. scripts/interop.py servers compiles it;
   servers.py decides what the events must be.

       user DIALECT BASE_URL MODEL KEY [SETTING=VALUE]... -- PROMPT...

   DIALECT names a preset (see `presets`). One agent gets all prompts, one after another. Settings:
       thinking=low    (default: off)
       silence_ms=N    a server that sends nothing for so long has failed
       max_tokens=N  turns=N  retries=0  tools=0
       must_call=1     the model must call a tool
       schema=1        the answer is JSON by a schema that only {"answer":"yes"} fits
   Two tools: "double" returns twice its n, "open" is an error. Exit code 3: a run has not ended
   after a minute. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_SECONDS = 60 };

/* ---- the model ---- */

typedef struct preset {
    const char *dialect;
    phi_model (*of)(const char *id, const char *api_key);
} preset;

static phi_model llama_cpp(const char *id, const char *key) {
    phi_model model = phi_model_preset("llama_cpp", id, NULL);
    model.api_key = key;
    return model;
}

/* What llama.cpp serves by OpenAI's newer protocol. */
static phi_model llama_cpp_responses(const char *id, const char *key) {
    phi_model model = llama_cpp(id, key);
    model.protocol = PHI_PROTOCOL_OPENAI_RESPONSES;
    model.codec = phi_model_openai_responses(id, key).codec;
    return model;
}

static phi_model litellm(const char *id, const char *key) {
    return phi_model_preset("litellm", id, key);
}

static phi_model litellm_responses(const char *id, const char *key) {
    phi_model model = litellm(id, key);
    model.protocol = PHI_PROTOCOL_OPENAI_RESPONSES;
    model.codec = phi_model_openai_responses(id, key).codec;
    return model;
}

static phi_model mistral(const char *id, const char *key) {
    return phi_model_preset("mistral", id, key);
}

static phi_model groq(const char *id, const char *key) { return phi_model_preset("groq", id, key); }

static phi_model together(const char *id, const char *key) {
    return phi_model_preset("together", id, key);
}

static phi_model xai(const char *id, const char *key) { return phi_model_preset("xai", id, key); }

static const preset presets[] = {
    {"anthropic", phi_model_anthropic},
    {"chat", phi_model_openai},
    {"responses", phi_model_openai_responses},
    {"google", phi_model_google},
    {"mistral", mistral},
    {"groq", groq},
    {"together", together},
    {"xai", xai},
    {"llama_cpp", llama_cpp},
    {"llama_cpp_responses", llama_cpp_responses},
    {"litellm", litellm},
    {"litellm_responses", litellm_responses},
};

static phi_model model_of(char **argv) {
    phi_model model = PHI_ZERO;
    size_t i;
    for (i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(argv[1], presets[i].dialect) == 0) model = presets[i].of(argv[3], argv[4]);
    model.base_url = argv[2];
    return model;
}

/* ---- the tools ---- */

static phi_flow double_it(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    (void)phi_call_replyf(call, "%ld", 2 * (long)phi_call_arg_int(call, "n", 0));
    return PHI_DONE;
}

static phi_flow open_it(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_fail(call, "it is locked");
    return PHI_DONE;
}

static const phi_tool tools[] = {
    {.name = "double",
     .description = "Doubles a number",
     .schema =
         "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}",
     .start = double_it},
    {.name = "open",
     .description = "Opens the door",
     .schema = "{\"type\":\"object\",\"properties\":{}}",
     .start = open_it},
};

/* ---- the agent ---- */

/* Only one answer fits, whatever the model would say. */
static const phi_format yes_or_no = {
    .kind = PHI_FORMAT_JSON_SCHEMA,
    .schema =
        "{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":\"string\",\"enum\":[\"yes\"]}},"
        "\"required\":[\"answer\"],\"additionalProperties\":false}"};

static bool is(const char *setting, const char *name, const char **value) {
    size_t len = strlen(name);
    *value = setting + len + 1;
    return strncmp(setting, name, len) == 0 && setting[len] == '=';
}

static bool set(phi_agent_desc *desc, const char *setting) {
    const char *value;
    if (is(setting, "thinking", &value))
        desc->thinking = strcmp(value, "low") == 0 ? PHI_THINKING_LOW : PHI_THINKING_OFF;
    else if (is(setting, "silence_ms", &value))
        desc->deadlines.first_event_ms = desc->deadlines.idle_ms = (uint32_t)atoi(value);
    else if (is(setting, "tools", &value))
        desc->tool_count = value[0] == '0' ? 0 : desc->tool_count;
    else if (is(setting, "max_tokens", &value))
        desc->max_tokens = (uint32_t)atoi(value);
    else if (is(setting, "retries", &value))
        desc->retry.disable = value[0] == '0';
    else if (is(setting, "turns", &value))
        desc->limits.max_turns = (uint32_t)atoi(value);
    else if (is(setting, "must_call", &value))
        desc->tool_options.choice =
            value[0] == '1' ? PHI_TOOL_CHOICE_REQUIRED : PHI_TOOL_CHOICE_AUTO;
    else if (is(setting, "schema", &value))
        desc->format = yes_or_no;
    else
        return false;
    return true;
}

/* The index of the first prompt, or 0. */
static int settings(phi_agent_desc *desc, int argc, char **argv) {
    int i;
    desc->model = model_of(argv);
    desc->system_prompt = "You are a test.";
    desc->tools = tools;
    desc->tool_count = 2;
    desc->retry.initial_delay_ms = 20;
    for (i = 5; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!set(desc, argv[i])) return 0;
    return i < argc ? i + 1 : 0;
}

/* ---- a run ---- */

static bool print(const phi_event *event, phi_arena *arena) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_str line;
    bool good = phi_event_to_json(event, arena, &line) == PHI_OK &&
                printf("%.*s\n", (int)line.len, line.at) > 0;
    phi_arena_reset(arena, mark);
    return good;
}

static bool run(phi_runtime *rt, phi_agent agent, const char *prompt, phi_arena *arena) {
    time_t end = time(NULL) + MOST_SECONDS;
    phi_event event;
    bool over = false, good = phi_prompt(agent, prompt) == PHI_OK;
    while (good && !over) {
        good = phi_step(rt, 100) >= 0;
        while (phi_next_event(rt, &event)) {
            good = print(&event, arena) && good;
            over = over || event.kind == PHI_EV_AGENT_END;
        }
        if (!over && time(NULL) > end) exit(3);
    }
    return good;
}

int main(int argc, char **argv) {
    phi_runtime_desc has = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_allocator plain = PHI_ZERO;
    phi_memory memory;
    phi_arena arena;
    phi_runtime *rt;
    phi_agent agent;
    int at = argc > 6 ? settings(&desc, argc, argv) : 0;
    bool good = at > 0 && desc.model.id != NULL;
    if (!good) return 2;
    has.features = PHI_ALL_FEATURES;
    rt = phi_runtime_new(&has);
    if (rt == NULL) return 2;
    phi_memory_init(&memory, &plain, 0);
    phi_arena_init(&arena, &memory, 0);
    agent = phi_agent_new(rt, &desc);
    for (; at < argc && good; at++) good = run(rt, agent, argv[at], &arena);
    if (!good && phi_last_error(rt).status != PHI_OK)
        fprintf(stderr, "%s\n", phi_last_error(rt).message);
    phi_runtime_free(rt);
    phi_arena_free(&arena);
    return good ? 0 : 1;
}
