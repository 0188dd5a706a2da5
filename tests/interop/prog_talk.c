/* prog_talk.c - conversations with a server on this machine, for make interop to play against a mock model
   server that is not ours (aimock.mjs). Says what came of each run; whether that is right is decided there.

       prog_talk PROTOCOL BASE_URL MODEL KEY SILENCE_MS [NAME=VALUE]... -- PROMPT...

   A server that says nothing for SILENCE_MS has failed. NAME=VALUE is a header that every request has. All prompts
   go to one agent, one after another; each is answered by a line of JSON. Two tools: "double" says twice its n,
   "open" is an error. A run that has not ended after a minute ends the program with exit code 3. */
#include "agent/agent.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "text/json_in.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "model/event.h"
#include "model/failure.h"
#include "loop/loop_in.h"

#include <stdio.h>
#include <stdlib.h>

enum { TALK_HEADERS = 8, TALK_MOST_MS = 60000 };

typedef struct talk {
    phi_runtime *rt;
    phi_agent agent;
    phi_memory memory;
    phi__buf text, thinking, calls; /* of the run, but what was retracted; calls: JSON objects */
    size_t text_before, thinking_before;
    int retries, retracts;
    phi_usage usage;
    phi__buf last_retry, failure;
    phi_failure_kind kind;
    int http_status;
    phi_status status;
    bool over;
} talk;

/* ---- the tools ---- */

static phi_flow talk_double(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    (void)phi_call_replyf(call, "%ld", 2 * (long)phi_call_arg_int(call, "n", 0));
    return PHI_DONE;
}

static phi_flow talk_open(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_fail(call, "it is locked");
    return PHI_DONE;
}

/* ---- what is heard ---- */

static void talk_call(talk *t, const phi_event *event) {
    phi__buf *out = &t->calls;
    if (out->len > 0) phi__buf_char(out, ',');
    phi__buf_text(out, "{\"name\":");
    phi__json_write_str(out, event->tool_name);
    phi__buf_text(out, ",\"arguments\":");
    phi__json_write_str(out, event->arguments);
    phi__buf_char(out, '}');
}

static void talk_hear(talk *t, const phi_event *event) {
    if (event->kind == PHI_EV_TEXT) phi__buf_add_str(&t->text, event->text);
    if (event->kind == PHI_EV_THINKING) phi__buf_add_str(&t->thinking, event->text);
    if (event->kind == PHI_EV_TOOL_START) talk_call(t, event);
    if (event->kind == PHI_EV_MESSAGE_START) {
        t->text_before = t->text.len;
        t->thinking_before = t->thinking.len;
    }
    if (event->kind == PHI_EV_RETRACT) {
        t->text.len = t->text_before;
        t->thinking.len = t->thinking_before;
        t->retracts++;
    }
    if (event->kind == PHI_EV_RETRY) {
        t->retries++;
        phi__buf_clear(&t->last_retry);
        phi__buf_text(&t->last_retry, phi_failure_kind_text(event->failure->kind));
    }
    if (event->kind == PHI_EV_ERROR) {
        t->kind = event->failure->kind;
        t->http_status = event->failure->http_status;
        phi__buf_add_str(&t->failure, event->failure->message);
    }
    if (event->kind == PHI_EV_AGENT_END) {
        t->status = event->status;
        if (event->usage != NULL) t->usage = *event->usage;
        t->over = true;
    }
}

/* ---- a run ---- */

static void talk_forget(talk *t) {
    phi__buf_clear(&t->text);
    phi__buf_clear(&t->thinking);
    phi__buf_clear(&t->calls);
    phi__buf_clear(&t->last_retry);
    phi__buf_clear(&t->failure);
    t->text_before = t->thinking_before = 0;
    t->retries = t->retracts = t->http_status = 0;
    memset(&t->usage, 0, sizeof t->usage);
    t->kind = PHI_FAILURE_NONE;
    t->over = false;
}

static bool talk_run(talk *t, const char *prompt) {
    uint64_t end = phi__clock_us() + TALK_MOST_MS * 1000u;
    phi_event event;
    talk_forget(t);
    if (phi_prompt(t->agent, prompt) != PHI_OK) return false;
    while (!t->over) {
        (void)phi_step(t->rt, 100);
        while (phi_next_event(t->rt, &event)) talk_hear(t, &event);
        if (!t->over && phi__clock_us() > end) exit(3);
    }
    return true;
}

static void talk_member(phi__buf *out, const char *name, phi_str value) {
    phi__buf_text(out, name);
    phi__json_write_str(out, value);
}

static bool talk_tell(talk *t) {
    phi__buf out;
    bool good;
    phi__buf_init(&out, &t->memory);
    talk_member(&out, "{\"status\":", phi_str_of(phi_status_text(t->status)));
    talk_member(&out, ",\"text\":", phi__buf_str(&t->text));
    talk_member(&out, ",\"thinking\":", phi__buf_str(&t->thinking));
    phi__buf_text(&out, ",\"calls\":[");
    phi__buf_add_str(&out, phi__buf_str(&t->calls));
    phi__buf_text(&out, "],\"retries\":");
    phi__buf_u64(&out, (uint64_t)t->retries);
    phi__buf_text(&out, ",\"retracts\":");
    phi__buf_u64(&out, (uint64_t)t->retracts);
    phi__buf_text(&out, ",\"input\":");
    phi__buf_u64(&out, t->usage.input);
    phi__buf_text(&out, ",\"output\":");
    phi__buf_u64(&out, t->usage.output);
    talk_member(&out, ",\"retried\":", phi__buf_str(&t->last_retry));
    talk_member(&out, ",\"kind\":", phi_str_of(phi_failure_kind_text(t->kind)));
    phi__buf_text(&out, ",\"http\":");
    phi__buf_u64(&out, (uint64_t)t->http_status);
    talk_member(&out, ",\"words\":", phi__buf_str(&t->failure));
    phi__buf_text(&out, "}\n");
    good = !out.failed && fwrite(out.at, 1, out.len, stdout) == out.len;
    phi__buf_free(&out);
    return good && fflush(stdout) == 0;
}

/* ---- who speaks ---- */

static phi_model talk_model(char **argv) {
    const char *protocol = argv[1], *base = argv[2], *id = argv[3], *key = argv[4];
    phi_model model = PHI_ZERO;
    if (strcmp(protocol, PHI_PROTOCOL_ANTHROPIC) == 0) model = phi_model_anthropic(id, key);
    if (strcmp(protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0) model = phi_model_openai(id, key);
    if (strcmp(protocol, PHI_PROTOCOL_OPENAI_RESPONSES) == 0)
        model = phi_model_openai_responses(id, key);
    if (strcmp(protocol, PHI_PROTOCOL_AZURE_RESPONSES) == 0) model = phi_model_azure(base, id, key);
    if (strcmp(protocol, PHI_PROTOCOL_GOOGLE) == 0) model = phi_model_google(id, key);
    if (strcmp(protocol, PHI_PROTOCOL_VERTEX) == 0) model = phi_model_vertex(base, id, key);
    if (strcmp(protocol, PHI_PROTOCOL_BEDROCK) == 0) model = phi_model_bedrock(base, id, key);
    model.base_url = base;
    return model;
}

static phi_agent talk_agent(phi_runtime *rt, const phi_model *model, uint32_t silence_ms) {
    phi_agent_desc desc = PHI_ZERO;
    phi_tool tools[2];
    memset(tools, 0, sizeof tools);
    tools[0].name = "double";
    tools[0].description = "Doubles a number";
    tools[0].schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
                      "\"required\":[\"n\"]}";
    tools[0].start = talk_double;
    tools[1].name = "open";
    tools[1].description = "Opens the door";
    tools[1].schema = "{\"type\":\"object\",\"properties\":{}}";
    tools[1].start = talk_open;
    desc.model = *model;
    desc.system_prompt = "You are a test.";
    desc.tools = tools;
    desc.tool_count = 2;
    desc.thinking = PHI_THINKING_LOW;
    desc.retry.initial_delay_ms = 10;
    desc.deadlines.first_event_ms = silence_ms;
    desc.deadlines.idle_ms = silence_ms;
    return phi_agent_new(rt, &desc);
}

/* Headers up to "--"; the index behind it, or 0. */
static int talk_headers(int argc, char **argv, phi_model_header *headers, phi_model *model) {
    int i;
    for (i = 6; i < argc && strcmp(argv[i], "--") != 0; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL || model->header_count == TALK_HEADERS) return 0;
        *equals = '\0';
        headers[model->header_count].name = argv[i];
        headers[model->header_count++].value = equals + 1;
    }
    model->headers = headers;
    return i < argc ? i + 1 : 0;
}

int main(int argc, char **argv) {
    talk t;
    phi_model_header headers[TALK_HEADERS];
    phi_model model = PHI_ZERO;
    phi_allocator plain = PHI_ZERO;
    int at = 0;
    bool good = true;
    memset(&t, 0, sizeof t);
    if (argc > 7) model = talk_model(argv);
    if (argc > 7) at = talk_headers(argc, argv, headers, &model);
    if (at == 0) return 2;
    phi_memory_init(&t.memory, &plain, 0);
    phi__buf_init(&t.text, &t.memory);
    phi__buf_init(&t.thinking, &t.memory);
    phi__buf_init(&t.calls, &t.memory);
    phi__buf_init(&t.last_retry, &t.memory);
    phi__buf_init(&t.failure, &t.memory);
    t.rt = phi_runtime_new(NULL);
    if (t.rt == NULL) return 2;
    t.agent = talk_agent(t.rt, &model, (uint32_t)strtoul(argv[5], NULL, 10));
    for (; at < argc && good; at++) good = talk_run(&t, argv[at]) && talk_tell(&t);
    phi_runtime_free(t.rt);
    phi__buf_free(&t.text);
    phi__buf_free(&t.thinking);
    phi__buf_free(&t.calls);
    phi__buf_free(&t.last_retry);
    phi__buf_free(&t.failure);
    return good ? 0 : 1;
}
