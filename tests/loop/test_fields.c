/* test_fields.c - what a tool with on_field hears of a call's arguments, and when: a story of lines
   "field block id path=value", "dropped block id", "start block id arguments", and some events between. */
#include "loop/provider.h"
#include "support/rig.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "support/set.h"

#define STREAM "Content-Type: text/event-stream\r\n"
#define JSON "Content-Type: application/json\r\n"

enum act { NOTHING, FREE, ABORT, SET_TOOLS, PROMPT };

typedef struct stage {
    char story[8000];
    size_t len;
    phi_agent agent;
    enum act on_field, on_drop;
    phi_status said;
    bool pends, events;
    phi_call call; /* that was started, or that the hook was asked about, last */
} stage;

static stage s;

static void tell(const char *format, ...) PHI_PRINTF(1, 2);

#include <stdarg.h>

static void tell(const char *format, ...) {
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(s.story + s.len, sizeof s.story - s.len, format, args);
    va_end(args);
    if (n > 0) s.len += (size_t)n;
}

static void do_act(enum act act) {
    if (act == FREE) phi_agent_free(s.agent);
    if (act == ABORT) s.said = phi_abort(s.agent);
    if (act == SET_TOOLS) s.said = set_tools(s.agent, NULL, 0);
    if (act == PROMPT) s.said = phi_prompt(s.agent, "again");
}

static void on_field(void *user_data, const phi_field *f) {
    CHECK(user_data == &s);
    CHECK_EQ_INT(f->agent.index, s.agent.index);
    if (f->dropped) {
        CHECK_STR(f->path, "");
        CHECK_STR(f->value, "");
        CHECK(f->path.at != NULL && f->value.at != NULL); /* for who copies them without a look */
        tell("dropped %u %.*s\n", (unsigned)f->block_index, (int)f->tool_call_id.len,
             f->tool_call_id.len > 0 ? f->tool_call_id.at : "");
        do_act(s.on_drop);
        return;
    }
    tell("field %u %.*s %.*s=%.*s\n", (unsigned)f->block_index, (int)f->tool_call_id.len,
         f->tool_call_id.len > 0 ? f->tool_call_id.at : "", (int)f->path.len, f->path.at,
         (int)f->value.len, f->value.at);
    do_act(s.on_field);
}

static phi_flow start(void *user_data, phi_call call, phi_str arguments) {
    phi_str id = phi_call_get_info(call).id;
    s.call = call;
    tell("start %u %.*s %.*s\n", (unsigned)phi_call_get_info(call).block_index, (int)id.len, id.at,
         (int)arguments.len, arguments.at);
    return ((stage *)user_data)->pends ? PHI_PENDING : PHI_DONE;
}

static void watch(void *user_data, const phi_event *ev) {
    (void)user_data;
    if (!s.events) return;
    if (ev->kind == PHI_EV_TOOL_ARGUMENTS) tell("arguments %.*s\n", (int)ev->text.len, ev->text.at);
    if (ev->kind == PHI_EV_TOOL_START) tell("TOOL_START\n");
    if (ev->kind == PHI_EV_TOOL_END) tell("TOOL_END\n");
    if (ev->kind == PHI_EV_RETRACT) tell("RETRACT\n");
    if (ev->kind == PHI_EV_RETRY) tell("RETRY\n");
    if (ev->kind == PHI_EV_MESSAGE_END && ev->message->role == PHI_ROLE_ASSISTANT)
        tell("MESSAGE_END\n");
}

static phi_tool act_tool(void) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "act";
    tool.description = "Acts";
    tool.start = start;
    tool.on_field = on_field;
    tool.user_data = &s;
    return tool;
}

static phi_agent_desc act_desc(const phi_tool *tool) {
    phi_agent_desc desc = rig_desc();
    memset(&s, 0, sizeof s);
    desc.tools = tool;
    desc.tool_count = 1;
    desc.tool_options.repeat_stop_after = PHI_UNLIMITED;
    desc.tool_options.repeat_warn_after = PHI_UNLIMITED;
    return desc;
}

static void act_agent(rig *r, const phi_agent_desc *desc) {
    s.agent = rig_agent(r, desc);
    rig_watch(r, watch, NULL);
}

/* ---- streams, piece by piece ---- */

static char body[8000];

static void line(const char *event, const char *format, ...) PHI_PRINTF(2, 3);
static void line(const char *event, const char *format, ...) {
    size_t at = strlen(body);
    va_list args;
    at += (size_t)snprintf(body + at, sizeof body - at, "event: %s\ndata: {\"type\":\"%s\",", event,
                           event);
    va_start(args, format);
    at += (size_t)vsnprintf(body + at, sizeof body - at, format, args);
    va_end(args);
    (void)snprintf(body + at, sizeof body - at, "}\n\n");
}

static void begin(void) {
    body[0] = '\0';
    line("message_start", "\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"content\":[],\"usage\":"
                          "{\"input_tokens\":1,\"output_tokens\":1}}");
}

static void block(int index, const char *id) {
    line("content_block_start",
         "\"index\":%d,\"content_block\":{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"act\","
         "\"input\":{}}",
         index, id);
}

static void part(int index, const char *escaped) {
    line("content_block_delta",
         "\"index\":%d,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}", index,
         escaped);
}

static void stop(int index) { line("content_block_stop", "\"index\":%d", index); }

static void end(const char *reason) {
    line("message_delta", "\"delta\":{\"stop_reason\":\"%s\"},\"usage\":{\"output_tokens\":9}",
         reason);
    strcat(body, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

#define WALK "{\\\"name\\\":\\\"walk\\\",\\\"to\\\":[1"

/* A call in two deltas, not ended. */
static void half(void) {
    begin();
    block(0, "c1");
    part(0, WALK);
    part(0, ",2");
}

static void whole_call(void) {
    half();
    part(0, "],\\\"run\\\":true}");
    stop(0);
    end("tool_use");
}

#define HALF_STORY "field 0 c1 /name=\"walk\"\nfield 0 c1 /to/0=1\n"
#define REST_STORY "field 0 c1 /to/1=2\nfield 0 c1 /run=true\n"
#define START_STORY "start 0 c1 {\"name\":\"walk\",\"to\":[1,2],\"run\":true}\n"

static void go(rig *r, int most, int left) {
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, (uint32_t)most), left);
}

/* ---- the good way ---- */

TEST(values_are_told_as_they_arrive_and_start_follows) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    s.events = true;
    whole_call();
    rig_replies(r, 200, STREAM, body);
    rig_says(r, "done");
    rig_chunk(r, 40);
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "field 0 c1 /name=\"walk\"\n"
                          "arguments {\"name\":\"walk\",\"to\":[1\n"
                          "field 0 c1 /to/0=1\n"
                          "arguments ,2\n"
                          "field 0 c1 /to/1=2\n"
                          "field 0 c1 /run=true\n"
                          "arguments ],\"run\":true}\n" START_STORY "MESSAGE_END\n"
                          "TOOL_START\n"
                          "TOOL_END\n"
                          "MESSAGE_END\n");
    rig_free(r);
}

TEST(what_is_told_does_not_depend_on_how_the_bytes_come) {
    size_t chunk;
    for (chunk = 1; chunk < 120; chunk += 7) {
        rig *r = rig_new();
        phi_tool tool = act_tool();
        phi_agent_desc desc = act_desc(&tool);
        act_agent(r, &desc);
        whole_call();
        rig_replies(r, 200, STREAM, body);
        rig_says(r, "done");
        rig_chunk(r, chunk);
        go(r, 5000, 0);
        CHECK_EQ_STR(s.story, HALF_STORY REST_STORY START_STORY);
        rig_free(r);
    }
}

TEST(calls_that_come_side_by_side_are_told_apart_by_their_block) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    begin();
    block(0, "c1");
    block(1, "c2");
    part(0, "{\\\"a\\\":1,");
    part(1, "{\\\"a\\\":2,");
    part(0, "\\\"b\\\":3}");
    part(1, "\\\"b\\\":4}");
    stop(1);
    stop(0);
    end("tool_use");
    rig_replies(r, 200, STREAM, body);
    rig_says(r, "done");
    rig_chunk(r, 30);
    go(r, 5000, 0);
    CHECK_EQ_STR(s.story, "field 0 c1 /a=1\nfield 1 c2 /a=2\nfield 0 c1 /b=3\nfield 1 c2 /b=4\n"
                          "start 0 c1 {\"a\":1,\"b\":3}\nstart 1 c2 {\"a\":2,\"b\":4}\n");
    rig_free(r);
}

TEST(an_answer_that_comes_whole_tells_its_fields_too) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    rig_replies(
        r, 200, JSON,
        "{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":["
        "{\"type\":\"text\",\"text\":\"I go.\"},{\"type\":\"tool_use\",\"id\":\"c1\","
        "\"name\":\"act\",\"input\":{\"a\":[],\"b\":\"x\"}}],\"stop_reason\":\"tool_use\","
        "\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}");
    rig_says(r, "done");
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "field 1 c1 /a=[]\nfield 1 c1 /b=\"x\"\n"
                          "start 1 c1 {\"a\":[],\"b\":\"x\"}\n");
    rig_free(r);
}

TEST(a_call_without_arguments_is_one_empty_object) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    begin();
    block(0, "c1");
    stop(0);
    end("tool_use");
    rig_replies(r, 200, STREAM, body);
    rig_says(r, "done");
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "field 0 c1 ={}\nstart 0 c1 {}\n");
    rig_free(r);
}

TEST(a_tool_without_on_field_costs_nothing_beside_one_that_has_it) {
    rig *r = rig_new();
    phi_tool tools[2];
    phi_agent_desc desc;
    tools[0] = rig_echo();
    tools[1] = act_tool();
    desc = act_desc(tools);
    desc.tool_count = 2;
    act_agent(r, &desc);
    rig_call(r, "c1", "echo", "{\"a\":1}");
    rig_says(r, "done");
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "");
    rig_free(r);
}

TEST(a_name_that_comes_after_the_first_arguments_is_no_loss) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    desc.model.protocol = PHI_PROTOCOL_OPENAI_CHAT;
    act_agent(r, &desc);
    rig_replies(
        r, 200, STREAM,
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\","
        "\"function\":{\"arguments\":\"{\\\"a\\\":1,\"}}]}}]}\n\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,"
        "\"function\":{\"name\":\"act\",\"arguments\":\"\\\"b\\\":2}\"}}]}}]}\n\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n"
        "data: [DONE]\n\n");
    rig_replies(r, 200, STREAM,
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},"
                "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    rig_chunk(r, 50);
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "field 0 c1 /a=1\nfield 0 c1 /b=2\nstart 0 c1 {\"a\":1,\"b\":2}\n");
    rig_free(r);
}

TEST(other_arguments_at_the_end_than_were_streamed_are_told_anew) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    desc.model.protocol = PHI_PROTOCOL_OPENAI_RESPONSES;
    act_agent(r, &desc);
    rig_replies(
        r, 200, STREAM,
        "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r1\",\"model\":\"m\"}}\n\n"
        "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":"
        "\"function_call\",\"id\":\"f1\",\"call_id\":\"c1\",\"name\":\"act\",\"arguments\":\"\"}}"
        "\n\n"
        "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"item_id\":"
        "\"f1\",\"delta\":\"{\\\"a\\\":1,\"}\n\n"
        "data: {\"type\":\"response.function_call_arguments.done\",\"output_index\":0,\"item_id\":"
        "\"f1\",\"arguments\":\"{\\\"a\\\":2}\"}\n\n"
        "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":"
        "\"function_call\",\"id\":\"f1\",\"call_id\":\"c1\",\"name\":\"act\",\"arguments\":"
        "\"{\\\"a\\\":2}\",\"status\":\"completed\"}}\n\n"
        "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r1\",\"status\":"
        "\"completed\",\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n");
    rig_hangs(r, "");
    rig_chunk(r, 50);
    go(r, 1000, 1);
    CHECK_EQ_STR(s.story, "field 0 c1 /a=1\ndropped 0 c1\nfield 0 c1 /a=2\nstart 0 c1 {\"a\":2}\n");
    rig_free(r);
}

/* A model in the process: a piece of a call each time it is polled, then a text. */
static phi_status mind_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll mind_poll(void *user_data, void *call, phi_answer *answer) {
    int *at = (int *)user_data;
    (void)call;
    switch ((*at)++) {
    case 0: phi_answer_call(answer, phi_str_of("c1"), phi_str_of("act")); return PHI_POLL_AGAIN;
    case 1: phi_answer_arguments(answer, phi_str_of("{\"a\":1,"), false); return PHI_POLL_AGAIN;
    case 2:
        tell("polled\n");
        phi_answer_arguments(answer, phi_str_of("\"b\":2}"), false);
        break;
    default: phi_answer_text(answer, phi_str_of("done")); break;
    }
    return PHI_POLL_DONE;
}

static void mind_close(void *user_data, void *call) { CHECK(user_data == call); }

TEST(a_model_of_the_hosts_own_tells_fields_as_it_writes_them) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    phi_provider mind;
    int at = 0, way;
    memset(&mind, 0, sizeof mind);
    mind.protocol = "mind";
    mind.open = mind_open;
    mind.poll = mind_poll;
    mind.close = mind_close;
    mind.user_data = &at;
    desc.provider = &mind;
    act_agent(r, &desc);
    for (way = 0; way < 2; way++) {
        s.on_field = way == 0 ? NOTHING : FREE;
        s.len = 0;
        at = 0;
        go(r, 1000, 0);
        CHECK_EQ_STR(s.story, way == 0 ? "field 0 c1 /a=1\npolled\nfield 0 c1 /b=2\n"
                                         "start 0 c1 {\"a\":1,\"b\":2}\n"
                                       : "field 0 c1 /a=1\n");
    }
    rig_free(r);
}

/* ---- what comes to nothing ---- */

TEST(a_stream_that_breaks_is_dropped_once_and_told_anew_with_the_next_try) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    desc.retry.disable = false;
    act_agent(r, &desc);
    s.events = true;
    half();
    rig_breaks(r, body, PHI_NETWORK, "cut");
    whole_call();
    rig_replies(r, 200, STREAM, body);
    rig_says(r, "done");
    go(r, 10000, 0);
    CHECK_EQ_STR(s.story, HALF_STORY "dropped 0 c1\n"
                                     "arguments {\"name\":\"walk\",\"to\":[1\narguments ,2\n"
                                     "RETRACT\nRETRY\n" HALF_STORY REST_STORY START_STORY
                                     "arguments {\"name\":\"walk\",\"to\":[1\narguments ,2\n"
                                     "arguments ],\"run\":true}\n"
                                     "MESSAGE_END\nTOOL_START\nTOOL_END\nMESSAGE_END\n");
    rig_free(r);
}

TEST(an_answer_that_fails_for_good_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    half();
    rig_breaks(r, body, PHI_NETWORK, "cut");
    rig_chunk(r, 30);
    go(r, 10000, 0);
    CHECK_EQ_STR(s.story, HALF_STORY "dropped 0 c1\n");
    rig_free(r);
}

TEST(an_error_in_the_same_piece_as_a_value_tells_neither) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    half();
    line("error", "\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}");
    rig_replies(r, 200, STREAM, body);
    go(r, 10000, 0);
    CHECK_EQ_STR(s.story, "");
    rig_free(r);
}

TEST(an_aborted_answer_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    half();
    rig_hangs(r, body);
    go(r, 100, 1);
    CHECK_EQ_STR(s.story, HALF_STORY);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(s.story, HALF_STORY "dropped 0 c1\n");
    rig_free(r);
}

/* One call that is told whole, and what then becomes of it. */
static void ends_in(rig *r, const phi_agent_desc *desc, const char *story) {
    act_agent(r, desc);
    whole_call();
    rig_replies(r, 200, STREAM, body);
    rig_says(r, "done");
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, story);
}

TEST(a_call_that_a_hook_denies_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, "no");
    ends_in(r, &desc, HALF_STORY REST_STORY "dropped 0 c1\n");
    rig_free(r);
}

TEST(a_call_that_nobody_approves_in_time_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc;
    tool.needs_approval = true;
    desc = act_desc(&tool);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    desc.deadlines.decision_ms = 20;
    ends_in(r, &desc, HALF_STORY REST_STORY "dropped 0 c1\n");
    rig_free(r);
}

TEST(arguments_against_the_schema_are_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc;
    tool.schema = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"number\"}}}";
    desc = act_desc(&tool);
    ends_in(r, &desc, HALF_STORY REST_STORY "dropped 0 c1\n");
    rig_free(r);
}

static void one_call(rig *r, const char *arguments, const char *reason, const char *story) {
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    desc.limits.max_turns = 1;
    act_agent(r, &desc);
    begin();
    block(0, "c1");
    part(0, arguments);
    stop(0);
    end(reason);
    rig_replies(r, 200, STREAM, body);
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, story);
    rig_free(r);
}

TEST(arguments_that_are_no_json_are_dropped_where_a_value_was_told) {
    one_call(rig_new(), "{\\\"a\\\":1,}", "tool_use", "field 0 c1 /a=1\ndropped 0 c1\n");
    one_call(rig_new(), "{a}", "tool_use", "");
    one_call(rig_new(), "[1,2]", "tool_use", "field 0 c1 /0=1\nfield 0 c1 /1=2\ndropped 0 c1\n");
}

TEST(a_call_that_the_length_limit_cut_is_dropped) {
    one_call(rig_new(), "{\\\"a\\\":1,\\\"b", "max_tokens", "field 0 c1 /a=1\ndropped 0 c1\n");
}

TEST(what_is_nested_too_deeply_is_told_up_to_there_and_started) {
    char deep[300], story[300];
    memset(deep, 0, sizeof deep);
    strcpy(deep, "{\\\"a\\\":1,\\\"b\\\":");
    memset(deep + strlen(deep), '[', 70);
    memset(deep + strlen(deep), ']', 70);
    strcat(deep, "}");
    (void)snprintf(story, sizeof story, "field 0 c1 /a=1\nstart 0 c1 {\"a\":1,\"b\":%s\n",
                   strchr(deep, '['));
    one_call(rig_new(), deep, "tool_use", story);
}

static const char *const two[] = {"c1 act {\"a\":1}", "c2 act {\"a\":2}"};

/* Two calls, one after the other: the first runs, the second has not begun. */
static void first_of_two(rig *r, const phi_tool *tool) {
    phi_agent_desc desc = act_desc(tool);
    desc.tool_options.mode = PHI_TOOLS_SEQUENTIAL;
    act_agent(r, &desc);
    s.pends = true;
    rig_calls(r, two, 2);
    rig_says(r, "done");
    go(r, 100, 1);
    CHECK_EQ_STR(s.story, "field 0 c1 /a=1\nfield 1 c2 /a=2\nstart 0 c1 {\"a\":1}\n");
    s.len = 0;
}

TEST(a_call_that_steering_skips_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    first_of_two(r, &tool);
    CHECK_EQ_INT(phi_steer(s.agent, "stop that"), PHI_OK);
    CHECK_EQ_INT(phi_call_reply(s.call, "done"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(s.story, "dropped 1 c2\n");
    rig_free(r);
}

TEST(a_call_that_an_abort_keeps_from_starting_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    first_of_two(r, &tool);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(s.story, "dropped 1 c2\n");
    rig_free(r);
}

TEST(an_agent_that_is_freed_between_two_calls_is_told_nothing_more) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    first_of_two(r, &tool);
    phi_agent_free(s.agent);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_INT(s.len, 0);
    rig_free(r);
}

TEST(a_call_that_repeats_itself_too_often_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    desc.tool_options.repeat_stop_after = 2;
    act_agent(r, &desc);
    rig_call(r, "c1", "act", "{\"a\":1}");
    rig_call(r, "c2", "act", "{\"a\":1}");
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "field 0 c1 /a=1\nstart 0 c1 {\"a\":1}\nfield 0 c2 /a=1\ndropped 0 c2\n");
    rig_free(r);
}

static phi_verdict ask(void *user_data, phi_hook *hook) {
    (void)user_data;
    s.call = hook->call;
    return PHI_WAIT;
}

TEST(a_call_that_is_finished_while_it_is_asked_about_is_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    desc.hook_fn = ask;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    act_agent(r, &desc);
    whole_call();
    rig_replies(r, 200, STREAM, body);
    rig_says(r, "done");
    go(r, 100, 1);
    CHECK_EQ_STR(s.story, HALF_STORY REST_STORY);
    CHECK_EQ_INT(phi_call_get_info(s.call).block_index, 0);
    CHECK_EQ_INT(phi_call_reply(s.call, "done"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(s.story, HALF_STORY REST_STORY "dropped 0 c1\n");
    CHECK(phi_call_get_info(s.call).agent.rt == NULL);
    rig_free(r);
}

TEST(a_call_that_is_aborted_while_it_runs_is_not_dropped) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    s.pends = true;
    whole_call();
    rig_replies(r, 200, STREAM, body);
    go(r, 100, 1);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(s.story, HALF_STORY REST_STORY START_STORY);
    rig_free(r);
}

/* ---- what a tool does in there ---- */

TEST(the_agent_may_be_freed_in_on_field_and_hears_no_more) {
    size_t chunk;
    for (chunk = 0; chunk < 100; chunk += 33) {
        rig *r = rig_new();
        phi_tool tool = act_tool();
        phi_agent_desc desc = act_desc(&tool);
        act_agent(r, &desc);
        s.on_field = FREE;
        whole_call();
        rig_replies(r, 200, STREAM, body);
        rig_chunk(r, chunk);
        go(r, 1000, 0);
        CHECK_EQ_INT(s.said, PHI_OK);
        CHECK_EQ_STR(s.story, "field 0 c1 /name=\"walk\"\n");
        CHECK(!phi_agent_alive(s.agent));
        CHECK_EQ_INT(rig_open_transfers(r), 0);
        rig_free(r);
    }
}

TEST(the_agent_may_be_freed_where_fields_of_a_whole_answer_are_told) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    s.on_field = FREE;
    rig_replies(
        r, 200, JSON,
        "{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":["
        "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"act\",\"input\":{\"a\":1,\"b\":2}}],"
        "\"stop_reason\":\"tool_use\"}");
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "field 0 c1 /a=1\n");
    rig_free(r);
}

TEST(the_agent_may_be_freed_when_it_hears_that_all_is_dropped) {
    int way;
    for (way = 0; way < 4; way++) {
        rig *r = rig_new();
        phi_tool tool = act_tool();
        phi_agent_desc desc;
        desc = act_desc(&tool);
        if (way == 1) rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
        if (way == 1) rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, NULL);
        if (way == 2) desc.retry.disable = false;
        act_agent(r, &desc);
        s.on_drop = FREE;
        if (way == 1)
            whole_call();
        else
            half();
        if (way == 1)
            rig_replies(r, 200, STREAM, body);
        else if (way == 3)
            rig_hangs(r, body);
        else
            rig_breaks(r, body, PHI_NETWORK, "cut");
        go(r, 1000, way == 3 ? 1 : 0);
        if (way == 3) {
            CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 10), 0);
        }
        CHECK_EQ_INT(s.said, PHI_OK);
        CHECK_EQ_STR(s.story, way == 1 ? HALF_STORY REST_STORY "dropped 0 c1\n"
                                       : HALF_STORY "dropped 0 c1\n");
        CHECK(!phi_agent_alive(s.agent));
        rig_free(r);
    }
}

TEST(an_abort_from_on_field_drops_what_was_told) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    act_agent(r, &desc);
    s.on_field = ABORT;
    whole_call();
    rig_replies(r, 200, STREAM, body);
    rig_chunk(r, 20);
    go(r, 1000, 0);
    CHECK_EQ_STR(s.story, "field 0 c1 /name=\"walk\"\ndropped 0 c1\n");
    rig_free(r);
}

TEST(tools_cannot_be_replaced_nor_prompts_made_from_on_field) {
    rig *r = rig_new();
    phi_tool tool = act_tool();
    phi_agent_desc desc = act_desc(&tool);
    desc.tool_options.repeat_stop_after = PHI_UNLIMITED;
    act_agent(r, &desc);
    s.on_field = SET_TOOLS;
    whole_call();
    rig_replies(r, 200, STREAM, body);
    rig_says(r, "done");
    go(r, 1000, 0);
    CHECK_EQ_INT(s.said, PHI_BUSY);
    s.on_field = PROMPT;
    s.said = PHI_OK;
    rig_call(r, "c9", "act", "{\"a\":1}");
    rig_says(r, "done");
    go(r, 1000, 0);
    CHECK_EQ_INT(s.said, PHI_BUSY);
    rig_free(r);
}

/* ---- memory ---- */

/* Told values, and then exactly one of start and dropped for them. */
static void check_one_end(int n) {
    const char *at = s.story;
    bool open = false;
    while (*at != '\0') {
        if (strncmp(at, "field", 5) == 0)
            open = true;
        else if (!CHECK(open || strncmp(at, "start", 5) == 0))
            break;
        else
            open = false;
        at = strchr(at, '\n') + 1;
    }
    if (!CHECK(!open)) printf("  allocation %d:\n%s", n, s.story);
}

TEST(when_memory_ends_anywhere_what_was_told_is_dropped_or_started) {
    int n = 0;
    bool tripped = true;
    for (; tripped; n++) {
        rig *r = rig_new();
        phi_tool tool = act_tool();
        phi_agent_desc desc = act_desc(&tool);
        act_agent(r, &desc);
        whole_call();
        rig_replies(r, 200, STREAM, body);
        rig_says(r, "done");
        rig_chunk(r, 60);
        test_alloc_fail_from(n);
        if (phi_prompt(s.agent, "go") == PHI_OK) {
            (void)rig_run_until(r, 5000);
            check_one_end(n);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_from(-1);
        rig_free(r);
        if (n > 2000) break;
    }
    CHECK(n > 20 && n < 2000);
    CHECK_EQ_STR(s.story, HALF_STORY REST_STORY START_STORY);
}

TEST_MAIN(TEST_ENTRY(a_model_of_the_hosts_own_tells_fields_as_it_writes_them),
          TEST_ENTRY(values_are_told_as_they_arrive_and_start_follows),
          TEST_ENTRY(what_is_told_does_not_depend_on_how_the_bytes_come),
          TEST_ENTRY(calls_that_come_side_by_side_are_told_apart_by_their_block),
          TEST_ENTRY(an_answer_that_comes_whole_tells_its_fields_too),
          TEST_ENTRY(a_call_without_arguments_is_one_empty_object),
          TEST_ENTRY(a_tool_without_on_field_costs_nothing_beside_one_that_has_it),
          TEST_ENTRY(a_name_that_comes_after_the_first_arguments_is_no_loss),
          TEST_ENTRY(other_arguments_at_the_end_than_were_streamed_are_told_anew),
          TEST_ENTRY(a_stream_that_breaks_is_dropped_once_and_told_anew_with_the_next_try),
          TEST_ENTRY(an_answer_that_fails_for_good_is_dropped),
          TEST_ENTRY(an_error_in_the_same_piece_as_a_value_tells_neither),
          TEST_ENTRY(an_aborted_answer_is_dropped),
          TEST_ENTRY(a_call_that_a_hook_denies_is_dropped),
          TEST_ENTRY(a_call_that_nobody_approves_in_time_is_dropped),
          TEST_ENTRY(arguments_against_the_schema_are_dropped),
          TEST_ENTRY(arguments_that_are_no_json_are_dropped_where_a_value_was_told),
          TEST_ENTRY(a_call_that_the_length_limit_cut_is_dropped),
          TEST_ENTRY(what_is_nested_too_deeply_is_told_up_to_there_and_started),
          TEST_ENTRY(a_call_that_steering_skips_is_dropped),
          TEST_ENTRY(a_call_that_an_abort_keeps_from_starting_is_dropped),
          TEST_ENTRY(an_agent_that_is_freed_between_two_calls_is_told_nothing_more),
          TEST_ENTRY(a_call_that_repeats_itself_too_often_is_dropped),
          TEST_ENTRY(a_call_that_is_finished_while_it_is_asked_about_is_dropped),
          TEST_ENTRY(a_call_that_is_aborted_while_it_runs_is_not_dropped),
          TEST_ENTRY(the_agent_may_be_freed_in_on_field_and_hears_no_more),
          TEST_ENTRY(the_agent_may_be_freed_where_fields_of_a_whole_answer_are_told),
          TEST_ENTRY(the_agent_may_be_freed_when_it_hears_that_all_is_dropped),
          TEST_ENTRY(an_abort_from_on_field_drops_what_was_told),
          TEST_ENTRY(tools_cannot_be_replaced_nor_prompts_made_from_on_field),
          TEST_ENTRY(when_memory_ends_anywhere_what_was_told_is_dropped_or_started))
