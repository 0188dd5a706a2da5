/* test_said.c - what a host says in requests beside the conversation: options, extras of model,
   agent and request, raw tools. Checked when they are given, copied, and in the requests. */
#include "support/rig.h"
#include "support/set.h"

#include "support/preflight.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "features/failover.h"
#include "loop/hook.h"
#include "loop/provider.h"
#include "loop/run.h"
#include "model/event.h"
#include "wire/writer.h"

static bool has(rig *r, size_t i, const char *text) {
    const char *request = rig_request(r, i);
    bool found = request != NULL && strstr(request, text) != NULL;
    if (!found) fprintf(stderr, "request: %s\n", request != NULL ? request : "none");
    return found;
}

static bool lacks(rig *r, size_t i, const char *text) {
    const char *request = rig_request(r, i);
    return request != NULL && strstr(request, text) == NULL;
}

static const char *run(rig *r, phi_agent agent) {
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 6000000), 0);
    return rig_story(r);
}

static const char *refusal(rig *r, const phi_agent_desc *desc, phi_status want) {
    const char *words = "";
    phi_status status = PHI_OK;
    CHECK(phi_agent_new(rig_runtime(r), desc).rt == NULL);
    words = phi_last_error(rig_runtime(r)).message;
    status = phi_last_error(rig_runtime(r)).status;
    CHECK_EQ_INT(status, want);
    return words;
}

static phi_flow answers(void *user_data, phi_call call, phi_str arguments) {
    phi_tool_result result;
    phi_content block;
    memset(&result, 0, sizeof result);
    memset(&block, 0, sizeof block);
    *(int *)user_data += 1;
    block.kind = PHI_CONTENT_TEXT;
    block.text = arguments;
    result.content = &block;
    result.content_count = 1;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

/* A hosted tool that the host answers. */
static phi_tool memory_tool(int *calls) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "memory";
    tool.start = answers;
    tool.user_data = calls;
    tool.raw = "{\"type\":\"memory_20250818\",\"name\":\"memory\"}";
    tool.raw_protocol = PHI_PROTOCOL_ANTHROPIC;
    return tool;
}

/* ---- extras ---- */

TEST(extras_of_model_agent_and_request_are_one_object_in_the_body) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_prompt_desc ask;
    phi_response response;
    phi_agent agent;
    memset(&ask, 0, sizeof ask);
    desc.model.extra = "{\"metadata\":{\"user_id\":\"model\",\"a\":1},\"speed\":\"fast\"}";
    desc.options.extra = "{\"metadata\":{\"user_id\":\"agent\",\"b\":[1]}}";
    agent = rig_agent(r, &desc);
    rig_says(r, "One.");
    rig_says(r, "Two.");
    rig_says(r, "Three.");
    ask.text = "Hi";
    ask.extra = "{\"metadata\":{\"b\":[2]},\"speed\":null}";
    CHECK_EQ_INT(phi_prompt_with(agent, &ask, &response), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 6000000), 0);
    CHECK(has(r, 0, "\"metadata\":{\"user_id\":\"agent\",\"a\":1,\"b\":[2]},\"speed\":null,"));
    (void)run(r, agent); /* the request's own was for that run */
    CHECK(has(r, 1, "\"metadata\":{\"user_id\":\"agent\",\"a\":1,\"b\":[1]},\"speed\":\"fast\","));
    desc.options.extra = NULL;
    CHECK_EQ_INT(phi_agent_set(agent, &desc, PHI_SET_OPTIONS), PHI_OK);
    (void)run(r, agent);
    CHECK(has(r, 2, "\"metadata\":{\"user_id\":\"model\",\"a\":1},\"speed\":\"fast\","));
    rig_free(r);
}

TEST(an_extra_of_what_phi_always_writes_makes_no_agent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), to;
    phi_agent agent;
    phi_model model;
    const char *words = "";
    phi_prompt_desc ask;
    phi_response response;
    memset(&to, 0, sizeof to);
    memset(&ask, 0, sizeof ask);
    desc.options.extra = "{\"messages\":[]}";
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG), "options.extra: phi writes \"messages\" itself");
    desc.options.extra = "[]";
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG),
                 "options.extra: expected a JSON object, got array");
    desc.options.extra = NULL;
    desc.model.extra = "{\"model\":\"x\"}";
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG), "model.extra: phi writes \"model\" itself");
    desc.model.extra = NULL;
    desc.options.extra = "{\"contents\":1}";
    agent = rig_agent(r, &desc);
    to.options.extra = "{\"stream\":false}";
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_OPTIONS), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "options.extra: phi writes \"stream\" itself");
    model = phi_model_google("gemini-3-flash", "K");
    CHECK_EQ_INT(set_model(agent, &model), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "options.extra: phi writes \"contents\" itself");
    ask.text = "Hi";
    ask.extra = "{\"a\":1,\"a\":2}";
    CHECK_EQ_INT(phi_prompt_with(agent, &ask, &response), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "extra: \"a\" is there twice");
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

TEST(an_extra_of_what_this_request_has_fails_the_call_before_anything_is_sent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.options.extra = "{\"temperature\":1}";
    agent = rig_agent(r, &desc);
    rig_says(r, "One.");
    (void)run(r, agent);
    CHECK(has(r, 0, "\"temperature\":1,"));
    desc.options.has_temperature = true;
    desc.options.temperature = 0.5;
    CHECK_EQ_INT(phi_agent_set(agent, &desc, PHI_SET_OPTIONS), PHI_OK);
    CHECK(strstr(run(r, agent), "extra: phi writes \"temperature\" itself in this request") !=
          NULL);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

TEST(the_extra_of_a_request_goes_on_after_a_snapshot) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_prompt_desc ask;
    phi_response response;
    phi_agent agent, restored;
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi_arena arena;
    phi_str snapshot;
    phi_pending_item item;
    memset(&ask, 0, sizeof ask);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "Done.");
    ask.text = "Hi";
    ask.extra = "{\"metadata\":{\"user_id\":\"u\"}}";
    CHECK_EQ_INT(phi_prompt_with(agent, &ask, &response), PHI_OK);
    (void)rig_run(r, 40);
    CHECK_EQ_INT(rig_started(r), 1);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &snapshot), PHI_OK);
    CHECK(strstr(snapshot.at, "{\\\"metadata\\\":{\\\"user_id\\\":\\\"u\\\"}}") != NULL);
    phi_agent_free(agent);
    restored = phi_agent_restore(rig_runtime(r), &desc, snapshot, PHI_RESTORE_RESUME);
    CHECK(restored.rt != NULL);
    (void)rig_run(r, 5);
    if (CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1))
        CHECK_EQ_INT(phi_call_reply(item.call, "ok"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 6000000), 0);
    CHECK(has(r, 1, "\"metadata\":{\"user_id\":\"u\"}"));
    phi_arena_free(&arena);
    rig_free(r);
}

/* ---- options ---- */

TEST(options_are_copied_sent_and_changed_in_the_next_request) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    char stop[] = "END", tier[] = "auto";
    const char *stops[1];
    phi_agent agent;
    stops[0] = stop;
    desc.options.top_p = 0.5;
    desc.options.stop = stops;
    desc.options.stop_count = 1;
    desc.options.service_tier = tier;
    agent = rig_agent(r, &desc);
    memcpy(stop, "---", 3);
    memcpy(tier, "XXXX", 4);
    rig_says(r, "One.");
    rig_says(r, "Two.");
    (void)run(r, agent);
    CHECK(has(r, 0, "\"top_p\":0.5,\"stop_sequences\":[\"END\"],\"service_tier\":\"auto\","));
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_STR(got.options.stop[0], "END");
    got.options.top_p = 0;
    got.options.top_k = 7;
    CHECK_EQ_INT(phi_agent_set(agent, &got, PHI_SET_OPTIONS), PHI_OK); /* its own strings */
    (void)run(r, agent);
    CHECK(has(r, 1, "\"top_k\":7,\"stop_sequences\":[\"END\"],\"service_tier\":\"auto\","));
    got.options.top_p = 2;
    CHECK_EQ_INT(phi_agent_set(agent, &got, PHI_SET_OPTIONS), PHI_BAD_ARG);
    rig_free(r);
}

typedef struct resetting {
    phi_agent agent;
    int sets;
} resetting;

/* The request is made, and not sent yet. */
static phi_verdict set_options_again(void *user_data, phi_hook *hook) {
    resetting *s = (resetting *)user_data;
    phi_agent_desc got;
    (void)hook;
    CHECK_EQ_INT(phi_agent_get_desc(s->agent, &got), PHI_OK);
    CHECK_EQ_INT(phi_agent_set(s->agent, &got, PHI_SET_OPTIONS), PHI_OK);
    s->sets++;
    return PHI_ALLOW;
}

TEST(options_set_while_a_request_is_under_way_leave_it_as_it_is) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    const char *stops[] = {"END"};
    resetting s = PHI_ZERO;
    phi_raw_tool raw;
    int i;
    raw.protocol = PHI_PROTOCOL_ANTHROPIC;
    raw.json = "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}";
    desc.tool_options.raw_tools = &raw;
    desc.tool_options.raw_tool_count = 1;
    desc.options.stop = stops;
    desc.options.stop_count = 1;
    desc.hook_fn = set_options_again;
    desc.user_data = &s;
    desc.hook_points = PHI_HOOK_CREDENTIAL;
    s.agent = rig_agent(r, &desc);
    rig_says(r, "One.");
    CHECK_EQ_INT(phi_prompt(s.agent, "Hi"), PHI_OK);
    for (i = 0; i < 50; i++) {
        CHECK_EQ_INT(phi_agent_get_desc(s.agent, &got), PHI_OK);
        CHECK_EQ_INT(phi_agent_set(s.agent, &got, PHI_SET_OPTIONS), PHI_OK);
        (void)phi_step(rig_runtime(r), 0);
    }
    CHECK_EQ_INT(rig_run_until(r, 6000000), 0);
    CHECK(s.sets > 0);
    CHECK(has(r, 0, "\"stop_sequences\":[\"END\"]"));
    CHECK(has(r, 0, "\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}],"));
    rig_free(r);
}

TEST(a_bad_option_makes_no_agent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    desc.options.top_p = 1.5;
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG), "options.top_p: expected above 0, to 1");
    rig_free(r);
}

/* ---- raw tools ---- */

TEST(raw_tools_are_sent_to_their_protocol_alone) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_raw_tool raws[2];
    char json[] = "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}";
    phi_agent agent;
    raws[0].protocol = "Anthropic"; /* a name that files have */
    raws[0].json = json;
    raws[1].protocol = PHI_PROTOCOL_OPENAI_RESPONSES;
    raws[1].json = "{\"type\":\"web_search\"}";
    desc.tool_options.raw_tools = raws;
    desc.tool_options.raw_tool_count = 2;
    agent = rig_agent(r, &desc);
    json[2] = 'X';
    rig_says(r, "One.");
    rig_says(r, "Two.");
    (void)run(r, agent);
    CHECK(has(r, 0, "\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}],"));
    desc.tool_options.raw_tool_count = 0;
    CHECK_EQ_INT(phi_agent_set(agent, &desc, PHI_SET_RAW_TOOLS), PHI_OK);
    (void)run(r, agent);
    CHECK(lacks(r, 1, "\"tools\""));
    rig_free(r);
}

TEST(a_request_that_names_its_tools_gets_no_raw_ones) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_raw_tool raw;
    phi_prompt_desc ask;
    phi_response response;
    phi_agent agent;
    memset(&ask, 0, sizeof ask);
    raw.protocol = PHI_PROTOCOL_ANTHROPIC;
    raw.json = "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}";
    desc.tool_options.raw_tools = &raw;
    desc.tool_options.raw_tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "One.");
    ask.text = "Hi";
    ask.no_tools = true;
    CHECK_EQ_INT(phi_prompt_with(agent, &ask, &response), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 6000000), 0);
    CHECK(lacks(r, 0, "web_search"));
    rig_free(r);
}

TEST(a_hosted_tool_is_answered_by_a_function_of_the_host) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    int calls = 0;
    phi_agent agent;
    tools[0] = memory_tool(&calls);
    tools[1] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 2;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "memory", "{\"command\":\"view\",\"path\":\"/memories\"}");
    rig_says(r, "Done.");
    (void)run(r, agent);
    CHECK_EQ_INT(calls, 1);
    CHECK(has(r, 0, "[{\"type\":\"memory_20250818\",\"name\":\"memory\"},{"));
    CHECK(lacks(r, 0, "\"name\":\"memory\",\"input_schema\""));
    CHECK(has(r, 1, "\"type\":\"tool_result\",\"tool_use_id\":\"c1\""));
    rig_free(r);
}

static void keep_request(void *user_data, const phi_event *event) {
    if (event->kind == PHI_EV_TURN_REQUEST)
        (void)snprintf((char *)user_data, 2000, "%.*s", (int)event->text.len, event->text.at);
}

TEST(a_captured_request_shows_raw_tools_and_the_level_of_thinking) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    char captured[2000] = "";
    phi_raw_tool raw;
    phi_agent agent;
    raw.protocol = PHI_PROTOCOL_ANTHROPIC;
    raw.json = "{\"type\":\"x\"}";
    desc.tool_options.raw_tools = &raw;
    desc.tool_options.raw_tool_count = 1;
    desc.options.capture_requests = true;
    desc.thinking = PHI_THINKING_MAX;
    rig_watch(r, keep_request, captured);
    agent = rig_agent(r, &desc);
    rig_says(r, "One.");
    (void)run(r, agent);
    CHECK(strstr(captured, "\"tools\":[{\"name\":\"\",\"description\":\"\",\"parameters\":{},"
                           "\"raw\":{\"type\":\"x\"}}]") != NULL);
    CHECK(strstr(captured, "\"thinking_level\":\"max\"") != NULL);
    rig_free(r);
}

TEST(a_hosted_tool_is_left_out_for_another_protocol_unless_it_has_a_schema) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tools[3];
    int calls = 0;
    phi_agent agent;
    tools[0] = memory_tool(&calls);
    tools[0].raw_protocol = PHI_PROTOCOL_BEDROCK;
    tools[1] = memory_tool(&calls);
    tools[1].name = "notes";
    tools[1].raw_protocol = PHI_PROTOCOL_BEDROCK;
    tools[1].schema = "{\"type\":\"object\"}";
    tools[2] = memory_tool(&calls);
    tools[2].name = "click";
    tools[2].raw = ""; /* the model knows it from elsewhere */
    desc.tools = tools;
    desc.tool_count = 3;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "click", "{}");
    rig_says(r, "Done.");
    (void)run(r, agent);
    CHECK(lacks(r, 0, "\"memory\"") && lacks(r, 0, "click"));
    CHECK(has(r, 0, "\"tools\":[{\"name\":\"notes\",\"input_schema\":{\"type\":\"object\"}"));
    CHECK_EQ_INT(calls, 1);
    rig_free(r);
}

TEST(raw_tools_that_are_no_good_make_no_agent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_raw_tool raw;
    phi_tool tool;
    int calls = 0;
    desc.tool_options.raw_tool_count = 1;
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG),
                 "tool_options.raw_tools is missing, raw_tool_count is 1");
    desc.tool_options.raw_tools = &raw;
    raw.protocol = NULL;
    raw.json = "{}";
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG), "tool_options.raw_tools[0].protocol is missing");
    raw.protocol = PHI_PROTOCOL_ANTHROPIC;
    raw.json = NULL;
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG), "tool_options.raw_tools[0].json is missing");
    raw.json = "[]";
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG),
                 "tool_options.raw_tools[0].json: expected a JSON object, got array");
    raw.json = "{\"a\":\"\xff\"}";
    CHECK(strstr(refusal(r, &desc, PHI_BAD_ARG), "tool_options.raw_tools[0].json") != NULL);
    raw.json = "{";
    CHECK(strncmp(refusal(r, &desc, PHI_BAD_ARG), "tool_options.raw_tools[0].json:1:2: ", 36) == 0);
    desc.tool_options.raw_tool_count = 0;
    tool = memory_tool(&calls);
    tool.raw_protocol = NULL;
    desc.tools = &tool;
    desc.tool_count = 1;
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG), "tool \"memory\": raw_protocol is missing");
    tool.raw_protocol = PHI_PROTOCOL_ANTHROPIC;
    tool.raw = "7";
    CHECK_EQ_STR(refusal(r, &desc, PHI_BAD_ARG),
                 "tool \"memory\": raw: expected a JSON object, got number");
    rig_free(r);
}

/* ---- other models ---- */

#define CHUNK(delta, reason)                                                                       \
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{"     \
    "\"index\":0,\"delta\":{" delta "},\"finish_reason\":" reason "}]}\n\n"

TEST(after_a_failover_the_other_protocol_gets_its_own_raw_tools_and_the_models_extra) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_failover failover;
    phi_failover_model other;
    phi_raw_tool raws[2];
    phi_agent agent;
    memset(&failover, 0, sizeof failover);
    memset(&other, 0, sizeof other);
    other.model = phi_model_openai("gpt-4o", "K");
    other.model.extra = "{\"verbosity\":\"low\"}";
    failover.models = &other;
    failover.model_count = 1;
    raws[0].protocol = PHI_PROTOCOL_ANTHROPIC;
    raws[0].json = "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}";
    raws[1].protocol = "openai";
    raws[1].json = "{\"type\":\"of_chat\"}";
    desc.failover = &failover;
    desc.tool_options.raw_tools = raws;
    desc.tool_options.raw_tool_count = 2;
    desc.model.extra = "{\"speed\":\"fast\"}";
    desc.options.extra = "{\"metadata\":{}}";
    desc.options.top_k = 3;
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, "Content-Type: application/json\r\n", "{\"error\":{\"message\":\"no\"}}");
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n",
                CHUNK("\"content\":\"Hi\"", "null") CHUNK("", "\"stop\"") "data: [DONE]\n\n");
    CHECK(strstr(run(r, agent), "AgentEnd ok") != NULL);
    CHECK(has(r, 0, "web_search_20250305") && has(r, 0, "\"speed\":\"fast\",\"metadata\":{},"));
    CHECK(has(r, 0, "\"top_k\":3") && lacks(r, 0, "of_chat") && lacks(r, 0, "verbosity"));
    CHECK(has(r, 1, "\"tools\":[{\"type\":\"of_chat\"}],"));
    CHECK(has(r, 1, "\"verbosity\":\"low\",\"metadata\":{},"));
    CHECK(lacks(r, 1, "web_search") && lacks(r, 1, "speed") && lacks(r, 1, "top_k"));
    rig_free(r);
}

typedef struct heard {
    char extra[100], raw[100], stop[20];
    double top_p;
} heard;

static phi_status own_open(void *user_data, const phi_model_request *request, void **call) {
    heard *h = (heard *)user_data;
    *call = h;
    (void)snprintf(h->extra, sizeof h->extra, "%s", request->options.extra);
    if (CHECK_EQ_INT(request->tool_count, 1))
        (void)snprintf(h->raw, sizeof h->raw, "%s", request->tools[0].raw.at);
    if (CHECK_EQ_INT(request->options.stop_count, 1))
        (void)snprintf(h->stop, sizeof h->stop, "%s", request->options.stop[0]);
    h->top_p = request->options.top_p;
    return PHI_OK;
}

static phi_poll own_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    phi_answer_text(answer, phi_str_of("Hi"));
    return PHI_POLL_DONE;
}

static void own_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

TEST(a_model_of_the_hosts_own_gets_options_extra_and_raw_tools) {
    static const char *const stops[] = {"END"};
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_provider own;
    phi_raw_tool raw;
    heard h;
    phi_agent agent;
    memset(&own, 0, sizeof own);
    memset(&h, 0, sizeof h);
    own.protocol = "own";
    own.user_data = &h;
    own.open = own_open;
    own.poll = own_poll;
    own.close = own_close;
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &own), PHI_OK);
    raw.protocol = "OWN";
    raw.json = "{\"a\":1}";
    desc.model.protocol = "own";
    desc.tool_options.raw_tools = &raw;
    desc.tool_options.raw_tool_count = 1;
    desc.options.extra = "{\"messages\":1}"; /* whose names are the host's to know */
    desc.options.top_p = 0.25;
    desc.options.stop = stops;
    desc.options.stop_count = 1;
    agent = rig_agent(r, &desc);
    CHECK(strstr(run(r, agent), "AgentEnd ok") != NULL);
    CHECK_EQ_STR(h.extra, "{\"messages\":1}");
    CHECK_EQ_STR(h.raw, "{\"a\":1}");
    CHECK_EQ_STR(h.stop, "END");
    CHECK(h.top_p > 0.24 && h.top_p < 0.26);
    rig_free(r);
}

/* ---- before it is sent ---- */

static phi_status look(const phi_agent_desc *desc, char words[300]) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_status status;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    status = preflight_settings(desc, &arena, words, 300);
    phi_arena_free(&arena);
    CHECK_EQ_INT(memory.used_bytes, 0);
    return status;
}

TEST(preflight_names_what_a_model_does_not_take) {
    phi_agent_desc desc;
    phi_raw_tool raw;
    phi_tool tool;
    int calls = 0;
    char words[300];
    memset(&desc, 0, sizeof desc);
    desc.model = phi_model_openai_responses("gpt-5.4", "K");
    CHECK_EQ_INT(look(&desc, words), PHI_OK);
    CHECK_EQ_STR(words, "");
    raw.protocol = PHI_PROTOCOL_ANTHROPIC;
    raw.json = "{}";
    tool = memory_tool(&calls);
    desc.tool_options.raw_tools = &raw;
    desc.tool_options.raw_tool_count = 1;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.options.top_k = 5;
    desc.options.has_temperature = true;
    desc.thinking = PHI_THINKING_MAX;
    CHECK_EQ_INT(look(&desc, words), PHI_UNSUPPORTED);
    CHECK_EQ_STR(words, "temperature is not sent; top_k is not sent; "
                        "thinking is lowered to xhigh; tool_options.raw_tools[0] is for "
                        "anthropic_messages; tool \"memory\" is not sent");
    desc.options.top_p = -1;
    CHECK_EQ_INT(look(&desc, words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "options.top_p: expected above 0, to 1");
    desc.options.top_p = 0;
    desc.options.extra = "{\"input\":1}";
    CHECK_EQ_INT(look(&desc, words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "options.extra: phi writes \"input\" itself");
    desc.options.extra = "{\"reasoning\":{\"effort\":\"low\"}}";
    CHECK_EQ_INT(look(&desc, words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "extra: phi writes \"reasoning.effort\" itself in this request");
    desc.options.extra = NULL;
    desc.model.extra = "{";
    CHECK_EQ_INT(look(&desc, words), PHI_BAD_ARG);
    CHECK(strncmp(words, "model.extra:1:2: ", 17) == 0);
    desc.model.extra = NULL;
    desc.model.protocol = "smoke";
    CHECK_EQ_INT(look(&desc, words), PHI_UNSUPPORTED);
    CHECK_EQ_INT(look(NULL, words), PHI_BAD_ARG);
}

/* ---- no memory ---- */

TEST(what_is_said_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 200; n++) {
        static const char *const stops[] = {"END"};
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc(), to;
        phi_raw_tool raw;
        phi_agent agent = rig_agent(r, &desc);
        phi_status status;
        memset(&to, 0, sizeof to);
        raw.protocol = PHI_PROTOCOL_ANTHROPIC;
        raw.json = "{\"a\":1}";
        to.options.stop = stops;
        to.options.stop_count = 1;
        to.options.service_tier = "auto";
        to.options.extra = "{\"metadata\":{\"user_id\":\"u\"}}";
        to.tool_options.raw_tools = &raw;
        to.tool_options.raw_tool_count = 1;
        test_alloc_fail_at(n);
        status = phi_agent_set(agent, &to, PHI_SET_OPTIONS | PHI_SET_RAW_TOOLS);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        CHECK_EQ_INT(phi_agent_get_desc(agent, &desc), PHI_OK);
        CHECK_EQ_INT(desc.options.extra != NULL, !tripped);
        CHECK_EQ_INT(desc.tool_options.raw_tool_count, tripped ? 0 : 1);
        CHECK_EQ_INT(desc.options.stop_count, tripped ? 0 : 1);
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 2 && !tripped);
}

TEST_MAIN(
    TEST_ENTRY(extras_of_model_agent_and_request_are_one_object_in_the_body),
    TEST_ENTRY(an_extra_of_what_phi_always_writes_makes_no_agent),
    TEST_ENTRY(an_extra_of_what_this_request_has_fails_the_call_before_anything_is_sent),
    TEST_ENTRY(the_extra_of_a_request_goes_on_after_a_snapshot),
    TEST_ENTRY(options_are_copied_sent_and_changed_in_the_next_request),
    TEST_ENTRY(options_set_while_a_request_is_under_way_leave_it_as_it_is),
    TEST_ENTRY(a_bad_option_makes_no_agent), TEST_ENTRY(raw_tools_are_sent_to_their_protocol_alone),
    TEST_ENTRY(a_request_that_names_its_tools_gets_no_raw_ones),
    TEST_ENTRY(a_hosted_tool_is_answered_by_a_function_of_the_host),
    TEST_ENTRY(a_captured_request_shows_raw_tools_and_the_level_of_thinking),
    TEST_ENTRY(a_hosted_tool_is_left_out_for_another_protocol_unless_it_has_a_schema),
    TEST_ENTRY(raw_tools_that_are_no_good_make_no_agent),
    TEST_ENTRY(after_a_failover_the_other_protocol_gets_its_own_raw_tools_and_the_models_extra),
    TEST_ENTRY(a_model_of_the_hosts_own_gets_options_extra_and_raw_tools),
    TEST_ENTRY(preflight_names_what_a_model_does_not_take),
    TEST_ENTRY(what_is_said_survives_every_failed_allocation))
