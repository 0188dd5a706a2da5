/* test_event_json.c - events as the interchange JSON, written out for a whole run with a tool. */
#include "support/rig.h"

#include "text/json.h"

static phi_flow answer_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_update(call, "half", 4);
    (void)phi_call_progress(call, "Looking", 7);
    (void)phi_call_finish(call, "seven", 5, false);
    return PHI_PENDING;
}

/* The JSON of every event of a run, a line each. */
static void lines_of(rig *r, char *out, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_event event;
    size_t at = 0;
    int runs = 1;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_silent(r, true);
    while (runs > 0) {
        runs = rig_run(r, 1);
        while (phi_next_event(rig_runtime(r), &event)) {
            phi_str json;
            phi_json *tree;
            REQUIRE(phi_event_to_json(&event, &arena, &json) == PHI_OK);
            CHECK_EQ_INT(phi_json_parse(&arena, json, 0, &tree, NULL), PHI_OK);
            REQUIRE(at + json.len + 2 < size);
            memcpy(out + at, json.at, json.len);
            at += json.len;
            out[at++] = '\n';
        }
    }
    out[at] = '\0';
    phi_arena_free(&arena);
}

static phi_agent tool_agent(rig *r) {
    static phi_tool tool;
    phi_agent_desc desc = rig_desc();
    memset(&tool, 0, sizeof tool);
    tool.name = "ask";
    tool.description = "Answers";
    tool.start = answer_start;
    desc.tools = &tool;
    desc.tool_count = 1;
    return rig_agent(r, &desc);
}

#define LOOP "\"loop_id\":\"session.anthropic.test-model.1\""
#define USAGE                                                                                      \
    "\"usage\":{\"input\":10,\"output\":5,\"reasoning\":0,\"cache_read\":0,\"cache_write\":0,"     \
    "\"total_tokens\":15}"

TEST(every_event_of_a_run_has_its_interchange_form) {
    static char lines[20000];
    rig *r = rig_new();
    phi_agent agent = tool_agent(r);
    rig_call(r, "toolu_1", "ask", "{\"x\":1}");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "How many?"), PHI_OK);
    lines_of(r, lines, sizeof lines);
    CHECK(strstr(lines,
                 "{\"type\":\"AgentStart\",\"agent_id\":\"agent\",\"session_id\":\"session\"," LOOP
                 ",\"parent_loop_id\":null,\"continuation_kind\":\"Initial\","
                 "\"timestamp\":\"1970-01-01T00:16:40Z\",\"metadata\":null,"
                 "\"config_snapshot\":{\"model\":\"test-model\",\"provider\":\"anthropic\","
                 "\"config_id\":null,") != NULL);
    CHECK(strstr(lines,
                 "{\"type\":\"TurnStart\"," LOOP ",\"turn_index\":0,\"timestamp\":\"1970-01-01"
                 "T00:16:40Z\",\"triggered_by\":\"User\"}\n") != NULL);
    CHECK(strstr(lines, "\"triggered_by\":\"Continuation\"}\n") != NULL);
    CHECK(strstr(lines, "{\"type\":\"MessageUpdate\"," LOOP
                        ",\"message\":{\"role\":\"assistant\"") != NULL);
    CHECK(strstr(lines, "\"delta\":{\"Text\":{\"delta\":\"Seven.\"}}}\n") != NULL);
    CHECK(strstr(lines, "\"delta\":{\"ToolCallDelta\":{\"delta\":\"{\\\"x\\\":1}\"}}}\n") != NULL);
    CHECK(strstr(lines, "{\"type\":\"ToolExecutionStart\"," LOOP ",\"tool_call_id\":\"toolu_1\","
                        "\"tool_name\":\"ask\",\"args\":{\"x\":1}}\n") != NULL);
    CHECK(strstr(lines, "{\"type\":\"ToolExecutionUpdate\"," LOOP ",\"tool_call_id\":\"toolu_1\","
                        "\"tool_name\":\"ask\",\"partial_result\":{\"content\":[{\"type\":\"text\","
                        "\"text\":\"half\"}],\"details\":null}}\n") != NULL);
    CHECK(strstr(lines, "{\"type\":\"ProgressMessage\"," LOOP ",\"tool_call_id\":\"toolu_1\","
                        "\"tool_name\":\"ask\",\"text\":\"Looking\"}\n") != NULL);
    CHECK(strstr(lines,
                 "{\"type\":\"ToolExecutionEnd\"," LOOP ",\"tool_call_id\":\"toolu_1\","
                 "\"tool_name\":\"ask\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
                 "\"seven\"}],\"details\":null},\"is_error\":false,\"child_loop_id\":null}\n") !=
          NULL);
    CHECK(strstr(lines, USAGE ",\"timestamp\":\"1970-01-01T00:16:40") != NULL);
    CHECK(strstr(lines, "\"tool_results\":[{\"role\":\"toolResult\",\"toolCallId\":\"toolu_1\"") !=
          NULL);
    CHECK(strstr(lines, "\"tool_results\":[]}\n") != NULL);
    CHECK(strstr(lines, "{\"type\":\"AgentEnd\"," LOOP ",\"messages\":[{\"role\":\"user\"") !=
          NULL);
    CHECK(strstr(lines, "\"rejection\":null}\n") != NULL);
    rig_free(r);
}

TEST(an_error_says_its_kind_and_delay) {
    static char lines[20000];
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, 429, "retry-after: 21\r\n", "{\"error\":{\"message\":\"Slow down\"}}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    lines_of(r, lines, sizeof lines);
    CHECK(strstr(lines,
                 "{\"type\":\"Error\",\"loop_id\":\"session.anthropic.test-model.1\",\"kind\":"
                 "\"rate_limited\",\"message\":\"Slow down\",\"http_status\":429,"
                 "\"retryable\":true,\"retry_after_ms\":21000,\"timestamp\":") != NULL);
    rig_free(r);
}

TEST(an_event_whose_agent_is_gone_is_stale) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_memory memory;
    phi_arena arena;
    phi_event event;
    phi_str json;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_step(r);
    REQUIRE(phi_next_event(rig_runtime(r), &event));
    CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
    CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_STALE);
    CHECK_EQ_INT(phi_event_to_json(NULL, &arena, &json), PHI_BAD_ARG);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(every_event_of_a_run_has_its_interchange_form),
          TEST_ENTRY(an_error_says_its_kind_and_delay),
          TEST_ENTRY(an_event_whose_agent_is_gone_is_stale))
