/* test_compat_settings.c - each setting of a request in every protocol, every preset, and the levels
   of thinking of models by their names: tests/fixtures/compat/requests/settings.
   PHI_COMPAT_WRITE=1 writes missing ones (compat.h). */
#include "agent/response.h"
#include "compat/compat_wire.h"
#include "agent/agent_history.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1},"         \
    "\"price\":{\"type\":\"number\",\"minimum\":0},\"tags\":{\"type\":\"array\",\"items\":{"       \
    "\"type\":\"string\"}}},\"required\":[\"name\"]}"

static phi_flow never_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_reply(call, "ok");
    return PHI_DONE;
}

static phi_tool tool_of(const char *name, const char *description, const char *schema) {
    phi_tool tool = PHI_ZERO;
    tool.name = name;
    tool.description = description;
    tool.schema = schema;
    tool.start = never_start;
    return tool;
}

/* One request of a desc, in a runtime of its own, added to `out`. A desc or a request that is
   refused is a line. */
static void one_request(compat_text *out, const char *heading, const phi_agent_desc *desc,
                        const char *extra) {
    compat_wire c;
    phi_prompt_desc ask = PHI_ZERO;
    const char *words = "";
    phi_response response;
    if (!compat_open(&c)) return;
    c.agent = phi_agent_new(c.rt, desc);
    ask.text = "Go on.";
    ask.extra = extra;
    if (c.agent.rt == NULL || phi_prompt_with(c.agent, &ask, &response) != PHI_OK) {
        words = phi_last_error(c.rt).message;
        compat_print(out, "=== %s\n%s\n\n", heading, words);
        compat_close(&c);
        return;
    }
    compat_run(&c);
    if (c.w.count == 0) {
        const phi_message *m = phi_thread_message_at(
            phi_agent_thread(c.agent), phi_thread_message_count(phi_agent_thread(c.agent)) - 1);
        compat_print(out, "=== %s\nnot sent: ", heading);
        if (m != NULL) compat_str(out, m->error_message);
        compat_print(out, "\n\n");
    }
    compat_tell(&c, heading);
    compat_add(out, c.out.at, c.out.len);
    compat_close(&c);
}

/* ---- each setting in every protocol ---- */

typedef struct settings {
    phi_model model;
    phi_tool tools[4];
    phi_model_header headers[2];
    compat_text out;
} settings;

static phi_agent_desc plain(const settings *s) {
    phi_agent_desc desc = compat_desc(s->model);
    desc.system_prompt = "S";
    return desc;
}

static phi_agent_desc with_tools(const settings *s) {
    phi_agent_desc desc = plain(s);
    desc.tools = s->tools;
    desc.tool_count = 2;
    return desc;
}

static void sampling_and_limits(settings *s) {
    static const char *const stop[] = {"END", "\n\n"};
    phi_agent_desc desc = plain(s);
    one_request(&s->out, "plain", &desc, NULL);
    desc.system_prompt = NULL;
    one_request(&s->out, "no system prompt", &desc, NULL);
    desc = plain(s);
    desc.options.has_temperature = true;
    desc.options.temperature = 0.25;
    desc.max_tokens = 777;
    desc.options.top_p = 0.9;
    desc.options.top_k = 40;
    desc.options.stop = stop;
    desc.options.stop_count = 2;
    desc.options.has_seed = true;
    desc.options.seed = -5;
    desc.options.service_tier = "flex";
    one_request(&s->out, "temperature, max_tokens and all options", &desc, NULL);
    desc.thinking = PHI_THINKING_HIGH;
    one_request(&s->out, "the same with thinking", &desc, NULL);
}

static void tools_and_choice(settings *s) {
    phi_agent_desc desc = with_tools(s);
    desc.tool_options.choice = PHI_TOOL_CHOICE_NONE;
    one_request(&s->out, "tools, choice none", &desc, NULL);
    desc.tool_options.choice = PHI_TOOL_CHOICE_REQUIRED;
    desc.options.serial_calls = true;
    one_request(&s->out, "tools, choice required, serial calls", &desc, NULL);
    desc.thinking = PHI_THINKING_LOW;
    one_request(&s->out, "tools, choice required, serial calls, thinking", &desc, NULL);
    desc = with_tools(s);
    s->tools[0].strict = true;
    one_request(&s->out, "a strict tool", &desc, NULL);
    s->tools[0].strict = false;
    s->tools[1].deferred = true;
    s->tools[2].may_defer = true;
    desc.tool_count = 3;
    one_request(&s->out, "a deferred tool, and one that may be", &desc, NULL);
    s->tools[1].deferred = s->tools[2].may_defer = false;
}

static void hosted_tools(settings *s) {
    phi_agent_desc desc = with_tools(s);
    phi_raw_tool raw[2];
    raw[0].protocol = s->model.protocol;
    raw[0].json = "{\"type\":\"web_search_20250305\",\"name\": \"web_search\",\"max_uses\":5.0}";
    raw[1].protocol = "own";
    raw[1].json = "{}";
    desc.tool_options.raw_tools = raw;
    desc.tool_options.raw_tool_count = 2;
    desc.tool_count = 4;
    s->tools[3].raw = "{\"type\":\"memory_20250818\",\"name\":\"memory\"}";
    s->tools[3].raw_protocol = s->model.protocol;
    one_request(&s->out, "hosted tools", &desc, NULL);
}

static void formats(settings *s) {
    phi_agent_desc desc = plain(s);
    desc.format.kind = PHI_FORMAT_JSON_OBJECT;
    one_request(&s->out, "a JSON object", &desc, NULL);
    desc.format.kind = PHI_FORMAT_JSON_SCHEMA;
    desc.format.schema = SCHEMA;
    one_request(&s->out, "a JSON schema", &desc, NULL);
    desc.format.strict = true;
    desc.format.name = "sword";
    one_request(&s->out, "a strict JSON schema", &desc, NULL);
    desc = with_tools(s);
    desc.format.kind = PHI_FORMAT_JSON_SCHEMA;
    desc.format.schema = SCHEMA;
    one_request(&s->out, "a JSON schema beside tools", &desc, NULL);
    desc.thinking = PHI_THINKING_MEDIUM;
    one_request(&s->out, "a JSON schema beside tools, thinking", &desc, NULL);
}

static void marks_and_extra(settings *s) {
    phi_agent_desc desc = with_tools(s);
    desc.cache.mode = PHI_CACHE_DISABLED;
    one_request(&s->out, "no cache marks", &desc, NULL);
    desc.cache.mode = PHI_CACHE_MANUAL;
    desc.cache.tools = true;
    desc.cache.one_hour = true;
    one_request(&s->out, "a mark of an hour on the tools", &desc, NULL);
    desc.cache.mode = PHI_CACHE_AUTO;
    one_request(&s->out, "marks of an hour", &desc, NULL);
    desc = plain(s);
    s->headers[0].name = "anthropic-beta";
    s->headers[0].value = "context-management-2025-06-27";
    s->headers[1].name = "X-Team";
    s->headers[1].value = "docs";
    desc.model.headers = s->headers;
    desc.model.header_count = 2;
    desc.model.extra = "{\"metadata\":{\"team\":\"docs\",\"user\":\"1\"},\"verbosity\":\"low\"}";
    desc.options.extra =
        "{\"metadata\":{\"user\":\"7\"},\"context_management\":{\"edits\":[{\"type\":"
        "\"clear_tool_uses_20250919\"}]},\"x\":null}";
    one_request(&s->out, "extra of model, agent and request; headers; context edits", &desc,
                "{\"metadata\":{\"request\":1e2},\"verbosity\":\"high\"}");
    desc.options.extra = NULL;
    desc.model.extra = NULL;
    desc.model.api_version = "2026-10-21";
    desc.options.has_temperature = true;
    one_request(&s->out, "a later version of the API, temperature 0", &desc, NULL);
}

static void every_setting(phi_model model) {
    settings s = PHI_ZERO;
    char name[100];
    s.model = model;
    s.tools[0] = tool_of("look", "Looks around", SCHEMA);
    s.tools[1] = tool_of("echo", "Says it again", "{\"type\":\"object\",\"properties\":{}}");
    s.tools[2] = tool_of("sum", "Adds", NULL);
    s.tools[3] = tool_of("memory", "Remembers", "{\"type\":\"object\"}");
    sampling_and_limits(&s);
    tools_and_choice(&s);
    hosted_tools(&s);
    formats(&s);
    marks_and_extra(&s);
    (void)snprintf(name, sizeof name, "requests/settings/%s_%s.txt", model.protocol, model.id);
    (void)compat_done(name, &s.out);
}

#define VERTEX "https://europe-west1-aiplatform.googleapis.com/v1/projects/P/locations/europe-west1"

TEST(each_setting_is_sent_as_it_was_in_every_protocol) {
    every_setting(phi_model_anthropic("claude-sonnet-4-5", "test-key"));
    every_setting(phi_model_anthropic("claude-opus-4-8", "test-key"));
    every_setting(phi_model_openai("gpt-4o", "test-key"));
    every_setting(phi_model_openai("gpt-5-mini", "test-key"));
    every_setting(phi_model_openai_responses("gpt-5.4", "test-key"));
    every_setting(
        phi_model_azure("https://r.openai.azure.com/openai?api-version=1", "gpt-4.1", "test-key"));
    every_setting(phi_model_google("gemini-3-pro-preview", "test-key"));
    every_setting(phi_model_vertex(VERTEX, "gemini-2.5-flash", "test-key"));
    every_setting(phi_model_interactions("gemini-2.5-flash", "test-key"));
    every_setting(phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-5", "test-key"));
    every_setting(phi_model_bedrock(NULL, "openai.gpt-oss-120b", "test-key"));
}

/* ---- every preset ---- */

static phi_message message_of(phi_role role, phi_content *content, size_t count) {
    phi_message m = PHI_ZERO;
    m.role = role;
    m.content = content;
    m.content_count = count;
    return m;
}

/* A thought, a call and its result, by the preset's own model; then a prompt. */
static void talk_of(compat_text *out, phi_model model, phi_thinking level, const char *heading) {
    compat_wire c;
    phi_agent_desc desc = compat_desc(model);
    phi_content blocks[4];
    phi_message messages[3];
    phi_tool tool = tool_of("read", "Reads", SCHEMA);
    if (!compat_open(&c)) return;
    memset(blocks, 0, sizeof blocks);
    blocks[0].kind = blocks[3].kind = PHI_CONTENT_TEXT;
    blocks[0].text = phi_str_of("hi");
    blocks[1].kind = PHI_CONTENT_THINKING;
    blocks[1].text = phi_str_of("hm");
    blocks[1].signature = phi_str_of("reasoning_content");
    blocks[2].kind = PHI_CONTENT_TOOL_CALL;
    blocks[2].id = phi_str_of("toolu_01");
    blocks[2].name = phi_str_of("read");
    blocks[2].arguments = phi_str_of("{\"name\":\"a\"}");
    blocks[3].text = phi_str_of("ok");
    messages[0] = message_of(PHI_ROLE_USER, blocks, 1);
    messages[1] = message_of(PHI_ROLE_ASSISTANT, blocks + 1, 2);
    messages[1].model = phi_str_of(model.id);
    messages[1].provider = phi_str_of(model.provider);
    messages[1].protocol = phi_str_of(model.protocol);
    messages[1].stop_reason = PHI_STOP_REASON_TOOL_USE;
    messages[2] = message_of(PHI_ROLE_TOOL_RESULT, blocks + 3, 1);
    messages[2].tool_call_id = phi_str_of("toolu_01");
    messages[2].tool_name = phi_str_of("read");
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.tool_options.choice = PHI_TOOL_CHOICE_REQUIRED;
    desc.thinking = level;
    desc.options.has_temperature = true;
    desc.options.temperature = 0.5;
    desc.system_prompt = "S";
    if (compat_agent(&c, &desc)) {
        CHECK_EQ_INT(phi_agent_replace_messages(c.agent, messages, 3), PHI_OK);
        compat_prompt(&c, heading, "Go on.");
    }
    compat_add(out, c.out.at, c.out.len);
    compat_close(&c);
}

static phi_model proxied(const char *id) {
    phi_model model = phi_model_preset("litellm", id, "test-key");
    model.base_url = "http://proxy:4000";
    return model;
}

static phi_model thinks(phi_model model) {
    model.reasoning = true;
    return model;
}

static void preset(compat_text *out, phi_model model) {
    char heading[200];
    (void)snprintf(heading, sizeof heading, "%s %s, thinking off", model.provider, model.id);
    talk_of(out, model, PHI_THINKING_OFF, heading);
    (void)snprintf(heading, sizeof heading, "%s %s, thinking medium", model.provider, model.id);
    talk_of(out, model, PHI_THINKING_MEDIUM, heading);
}

TEST(every_server_of_chat_completions_gets_the_request_that_it_got) {
    compat_text out = PHI_ZERO;
    preset(&out, phi_model_openai("gpt-5-mini", "test-key"));
    preset(&out, phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "test-key"));
    preset(&out, phi_model_preset("openrouter", "openai/gpt-5", "test-key"));
    preset(&out, phi_model_preset("xai", "grok-3-mini", "test-key"));
    preset(&out, phi_model_preset("groq", "openai/gpt-oss-20b", "test-key"));
    preset(&out, phi_model_preset("groq", "qwen/qwen3-32b", "test-key"));
    preset(&out, phi_model_preset("cerebras", "gpt-oss-120b", "test-key"));
    preset(&out, phi_model_preset("mistral", "magistral-medium", "test-key"));
    preset(&out, phi_model_preset("deepseek", "deepseek-reasoner", "test-key"));
    preset(&out, phi_model_preset("together", "deepseek-ai/DeepSeek-V3.1", "test-key"));
    preset(&out, phi_model_preset("qwen", "qwen3-max", "test-key"));
    preset(&out, phi_model_preset("moonshot", "kimi-k2-thinking", "test-key"));
    preset(&out, phi_model_preset("zai", "glm-4.6", "test-key"));
    preset(&out, phi_model_preset("fireworks", "accounts/fireworks/models/x", "test-key"));
    preset(&out, thinks(phi_model_preset("ollama", "qwen3", NULL)));
    preset(&out, thinks(phi_model_preset("llama_cpp", "m", NULL)));
    preset(&out, thinks(phi_model_preset("vllm", "m", NULL)));
    preset(&out, thinks(phi_model_preset("lm_studio", "m", NULL)));
    preset(&out, phi_model_preset("litellm", "claude-sonnet-4-5", NULL));
    preset(&out, proxied("gpt-5-mini"));
    preset(&out, thinks(phi_model_local("http://h:1/v1", "m", NULL)));
    (void)compat_done("requests/settings/presets_of_chat_servers.txt", &out);
}

TEST(every_other_preset_sends_the_request_that_it_sent) {
    compat_text out = PHI_ZERO;
    preset(&out, phi_model_anthropic("claude-haiku-4-5", "test-key"));
    preset(&out, phi_model_anthropic("claude-haiku-4-5", "sk-ant-oat-test-key"));
    preset(&out, phi_model_minimax("MiniMax-M2", "test-key"));
    preset(&out, phi_model_openai_responses("o3", "test-key"));
    preset(&out, phi_model_azure("https://r.openai.azure.com", "gpt-5", NULL));
    preset(&out, phi_model_google("gemini-2.5-pro", "test-key"));
    preset(&out, phi_model_vertex("https://aiplatform.googleapis.com/v1", "gemini-3-flash-preview",
                                  "test-key"));
    preset(&out, phi_model_interactions("gemini-3-flash-preview", "test-key"));
    preset(&out,
           phi_model_bedrock(NULL, "us.anthropic.claude-3-7-sonnet-20250219-v1:0", "test:key"));
    preset(&out, phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "test-key"));
    (void)compat_done("requests/settings/other_presets.txt", &out);
}

/* ---- levels of thinking ---- */

static void levels(compat_text *out, phi_model model) {
    static const char *const names[] = {"off", "minimal", "low", "medium", "high", "xhigh", "max"};
    int level;
    for (level = PHI_THINKING_OFF; level <= PHI_THINKING_MAX; level++) {
        phi_agent_desc desc = compat_desc(model);
        char heading[200];
        desc.thinking = (phi_thinking)level;
        desc.options.has_temperature = true;
        desc.options.temperature = 0.5;
        desc.options.top_p = 0.5;
        (void)snprintf(heading, sizeof heading, "%s %s, thinking %s", model.provider, model.id,
                       names[level]);
        one_request(out, heading, &desc, NULL);
    }
}

TEST(each_level_of_thinking_is_sent_as_it_was_to_models_of_each_kind) {
    static const char *const claudes[] = {"claude-3-5-haiku-latest", "claude-3-7-sonnet",
                                          "claude-opus-4-1",         "claude-opus-4-6",
                                          "claude-opus-4-8",         "claude-sonnet-5",
                                          "claude-opus-5-5",         "claude-fable-5-1",
                                          "claude-mythos-5",         "unknown"};
    static const char *const gpts[] = {"gpt-4.1", "gpt-5", "gpt-5.1", "gpt-5.4-pro", "o4-mini"};
    static const char *const geminis[] = {"gemini-2.0-flash", "gemini-2.5-flash-lite",
                                          "gemini-2.5-pro", "gemini-3-pro-preview",
                                          "gemini-3.5-flash"};
    compat_text out = PHI_ZERO;
    size_t i;
    for (i = 0; i < sizeof claudes / sizeof claudes[0]; i++)
        levels(&out, phi_model_anthropic(claudes[i], "test-key"));
    (void)compat_done("requests/settings/thinking_of_claude.txt", &out);
    for (i = 0; i < sizeof gpts / sizeof gpts[0]; i++) {
        levels(&out, phi_model_openai(gpts[i], "test-key"));
        levels(&out, phi_model_openai_responses(gpts[i], "test-key"));
    }
    (void)compat_done("requests/settings/thinking_of_openai.txt", &out);
    for (i = 0; i < sizeof geminis / sizeof geminis[0]; i++) {
        levels(&out, phi_model_google(geminis[i], "test-key"));
        levels(&out, phi_model_interactions(geminis[i], "test-key"));
    }
    (void)compat_done("requests/settings/thinking_of_gemini.txt", &out);
    levels(&out, phi_model_bedrock(NULL, "anthropic.claude-opus-4-6-v1", "test-key"));
    levels(&out, phi_model_bedrock(NULL, "openai.gpt-oss-20b", "test-key"));
    levels(&out, phi_model_preset("deepseek", "deepseek-chat", "test-key"));
    levels(&out, phi_model_preset("openrouter", "anthropic/claude-opus-4.6", "test-key"));
    levels(&out, phi_model_preset("qwen", "qwen3-235b-a22b", "test-key"));
    (void)compat_done("requests/settings/thinking_of_others.txt", &out);
}

TEST(the_folder_has_no_other_settings) { compat_folder("requests/settings"); }

TEST_MAIN(TEST_ENTRY(each_setting_is_sent_as_it_was_in_every_protocol),
          TEST_ENTRY(every_server_of_chat_completions_gets_the_request_that_it_got),
          TEST_ENTRY(every_other_preset_sends_the_request_that_it_sent),
          TEST_ENTRY(each_level_of_thinking_is_sent_as_it_was_to_models_of_each_kind),
          TEST_ENTRY(the_folder_has_no_other_settings))
