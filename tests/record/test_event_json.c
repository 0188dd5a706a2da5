/* test_event_json.c - events of living agents as the interchange JSON, written out. What each type looks like
   once it was read is in test_event_read.c; here every event that is popped also goes both ways. */
#include "support/update.h"
#include "support/rig.h"
#include "record/event_json.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"

/* The JSON of every event that was popped, a line each. */
typedef struct lines {
    phi_memory memory;
    phi_arena arena;
    char text[60000];
    size_t len;
} lines;

static void write_line(void *user_data, const phi_event *event) {
    lines *l = (lines *)user_data;
    phi_arena_mark mark = phi_arena_save(&l->arena);
    phi_str json = {NULL, 0}, again = {NULL, 0};
    phi_event back;
    phi_parse_error error;
    memset(&error, 0, sizeof error);
    REQUIRE(phi_event_to_json(event, &l->arena, &json) == PHI_OK);
    CHECK_EQ_INT(phi_event_from_json(json, &l->arena, &back, &error), PHI_OK);
    CHECK_EQ_STR(error.message, "");
    CHECK_EQ_INT(back.kind, event->kind);
    CHECK_EQ_INT(phi_event_to_json(&back, &l->arena, &again), PHI_OK);
    CHECK_STR(again, json.at);
    REQUIRE(l->len + json.len + 2 < sizeof l->text);
    memcpy(l->text + l->len, json.at, json.len);
    l->len += json.len;
    l->text[l->len++] = '\n';
    l->text[l->len] = '\0';
    phi_arena_reset(&l->arena, mark);
}

static lines *lines_of(rig *r) {
    static lines l;
    memset(&l, 0, sizeof l);
    phi_memory_init(&l.memory, NULL, 0);
    phi_arena_init(&l.arena, &l.memory, 0);
    rig_watch(r, write_line, &l);
    return &l;
}

static void over(rig *r, lines *l) {
    rig_free(r);
    phi_arena_free(&l->arena);
}

static void check_has(const lines *l, const char *want) {
    if (!CHECK(strstr(l->text, want) != NULL)) printf("no %s\nin\n%s\n", want, l->text);
}

static size_t count_of(const lines *l, const char *what) {
    const char *at = l->text;
    size_t n = 0;
    while ((at = strstr(at, what)) != NULL) {
        at++;
        n++;
    }
    return n;
}

static phi_flow answer_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)call_update(call, "half");
    (void)phi_call_progress(call, "Looking");
    (void)phi_call_reply(call, "seven");
    return PHI_PENDING;
}

static phi_flow child_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    (void)arguments;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("seven");
    result.content = &content;
    result.content_count = 1;
    result.details = "{ \"turns\" : 3 }";
    result.child_loop_id = "child.sub.1";
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static phi_agent tool_agent(rig *r, phi_agent_desc *desc,
                            phi_flow (*start)(void *, phi_call, phi_str)) {
    static phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "ask";
    tool.description = "Answers";
    tool.start = start;
    desc->tools = &tool;
    desc->tool_count = 1;
    return rig_agent(r, desc);
}

#define LOOP_N(n) "\"loop_id\":\"session.anthropic.test-model." #n "\""
#define LOOP LOOP_N(1)
#define TOOL LOOP ",\"tool_call_id\":\"toolu_1\",\"tool_name\":\"ask\""
#define USAGE                                                                                      \
    "\"usage\":{\"input\":10,\"output\":5,\"reasoning\":0,\"cache_read\":0,\"cache_write\":0,"     \
    "\"total_tokens\":15}"

TEST(every_event_of_a_run_has_its_interchange_form) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent = tool_agent(r, &desc, answer_start);
    rig_call(r, "toolu_1", "ask", "{\"x\": 1}");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "How many?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    check_has(l, "{\"type\":\"AgentStart\",\"agent_id\":\"agent\",\"session_id\":\"session\"," LOOP
                 ",\"parent_loop_id\":null,\"continuation_kind\":\"Initial\","
                 "\"timestamp\":\"1970-01-01T00:16:40Z\",\"metadata\":null,"
                 "\"config_snapshot\":{\"model\":\"test-model\",\"provider\":\"anthropic\","
                 "\"config_id\":\"anthropic.test-model\",\"name\":\"test-model\",\"api\":"
                 "\"anthropic_messages\",\"base_url\":\"https://api.anthropic.com\",");
    check_has(l, ",\"context_window\":200000,\"max_tokens\":8192,\"thinking_level\":\"off\"}}\n");
    check_has(l, "{\"type\":\"TurnStart\"," LOOP ",\"turn_index\":0,\"timestamp\":\"1970-01-01"
                 "T00:16:40Z\",\"triggered_by\":\"User\"}\n");
    check_has(l, "\"triggered_by\":\"Continuation\"}\n");
    check_has(l, "{\"type\":\"MessageStart\"," LOOP
                 ",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"stop\","
                 "\"model\":\"test-model\",\"provider\":\"anthropic\",");
    check_has(l, "{\"type\":\"MessageUpdate\"," LOOP ",\"message\":{\"role\":\"assistant\"");
    check_has(l, "\"delta\":{\"Text\":{\"delta\":\"Seven.\"}}}\n");
    check_has(l, "\"delta\":{\"ToolCallDelta\":{\"delta\":\"{\\\"x\\\": 1}\"}}}\n");
    check_has(l, "{\"type\":\"ToolExecutionStart\"," TOOL ",\"args\":{\"x\":1}}\n");
    check_has(l, "{\"type\":\"ToolExecutionUpdate\"," TOOL ",\"partial_result\":{\"content\":[{"
                 "\"type\":\"text\",\"text\":\"half\"}],\"details\":null}}\n");
    check_has(l, "{\"type\":\"ProgressMessage\"," TOOL ",\"text\":\"Looking\"}\n");
    check_has(l, "{\"type\":\"ToolExecutionEnd\"," TOOL ",\"result\":{\"content\":[{\"type\":"
                 "\"text\",\"text\":\"seven\"}],\"details\":null},\"is_error\":false,"
                 "\"child_loop_id\":null}\n");
    check_has(l, USAGE ",\"timestamp\":\"1970-01-01T00:16:40");
    check_has(l, "\"tool_results\":[{\"role\":\"toolResult\",\"toolCallId\":\"toolu_1\"");
    check_has(l, "\"tool_results\":[]}\n");
    check_has(l, "{\"type\":\"AgentEnd\"," LOOP ",\"messages\":[{\"role\":\"user\"");
    check_has(l, "\"rejection\":null}\n");
    over(r, l);
}

TEST(a_run_that_goes_on_names_its_parent_and_its_kind) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_message asked;
    phi_content block;
    int kind;
    memset(&asked, 0, sizeof asked);
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of("Again?");
    asked.role = PHI_ROLE_USER;
    asked.content = &block;
    asked.content_count = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "One.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    for (kind = PHI_CONTINUATION_DEFAULT; kind <= PHI_CONTINUATION_COMPACTION; kind++) {
        rig_says(r, "More.");
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &asked, 1, NULL), PHI_OK);
        CHECK_EQ_INT(phi_continue(agent, (phi_continuation)kind), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
    }
    check_has(l, LOOP_N(2) ",\"parent_loop_id\":\"session.anthropic.test-model.1\","
                           "\"continuation_kind\":\"Default\",");
    check_has(l, LOOP_N(3) ",\"parent_loop_id\":\"session.anthropic.test-model.2\","
                           "\"continuation_kind\":{\"Rerun\":{\"tag\":\"1970-01-01T00:16:40.");
    check_has(l, LOOP_N(4) ",\"parent_loop_id\":\"session.anthropic.test-model.3\","
                           "\"continuation_kind\":{\"Branch\":{\"tag\":\"1970-01-01T00:16:40.");
    check_has(l, LOOP_N(5) ",\"parent_loop_id\":\"session.anthropic.test-model.4\","
                           "\"continuation_kind\":\"Compaction\",");
    /* each run's end holds its own messages */
    check_has(l, "{\"type\":\"AgentEnd\"," LOOP_N(2) ",\"messages\":[{\"role\":\"assistant\"");
    over(r, l);
}

TEST(a_configuration_that_was_named_is_in_the_snapshot) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    desc.ids.config_id = "coder";
    desc.options.has_temperature = true;
    desc.options.temperature = 0.25;
    desc.max_tokens = 77;
    desc.model.protocol = PHI_PROTOCOL_OPENAI_CHAT;
    desc.model.reasoning = true;
    desc.thinking = PHI_THINKING_LOW;
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "Hi"), PHI_OK);
    (void)rig_step(r);
    check_has(l, "\"loop_id\":\"session.coder.1\"");
    check_has(l,
              "\"config_id\":\"coder\",\"name\":\"test-model\",\"api\":\"open_ai_completions\",");
    check_has(l, "\"reasoning\":true,\"context_window\":200000,\"max_tokens\":77,"
                 "\"thinking_level\":\"low\",\"temperature\":0.25}}\n");
    over(r, l);
}

TEST(the_run_of_a_child_is_named_with_its_result) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent = tool_agent(r, &desc, child_start);
    rig_call(r, "toolu_1", "ask", "{}");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "How many?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    check_has(l, "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"seven\"}],\"details\":{"
                 "\"turns\":3},\"child_loop_id\":\"child.sub.1\"},\"is_error\":false,"
                 "\"child_loop_id\":\"child.sub.1\"}\n");
    over(r, l);
}

TEST(an_error_says_its_kind_and_delay) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, 429, "retry-after: 21\r\n", "{\"error\":{\"message\":\"Slow down\"}}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    check_has(l, "{\"type\":\"Error\"," LOOP ",\"kind\":\"rate_limited\",\"message\":\"Slow down\","
                 "\"http_status\":429,\"retryable\":true,\"retry_after_ms\":21000,\"status\":-16,"
                 "\"timestamp\":");
    over(r, l);
}

TEST(another_attempt_and_what_it_takes_back_are_told) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.retry.disable = false;
    agent = rig_agent(r, &desc);
    rig_breaks(r,
               "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\","
               "\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":10}}}\n\n"
               "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
               "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
               "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
               "\"delta\":{\"type\":\"text_delta\",\"text\":\"Sev\"}}\n\n",
               PHI_NETWORK, "reset");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "How many?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    check_has(l, "{\"type\":\"Retract\"," LOOP ",\"message\":{\"role\":\"assistant\",\"content\":[{"
                 "\"type\":\"text\",\"text\":\"Sev\"}]");
    check_has(l, "{\"type\":\"Retry\"," LOOP ",\"attempt\":1,\"attempts\":4,\"delay_ms\":");
    check_has(l, "\"kind\":\"network\",\"message\":");
    CHECK_EQ_INT(count_of(l, "\"type\":\"AgentEnd\""), 1);
    over(r, l);
}

TEST(what_a_filter_refuses_ends_the_run_with_its_reason) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "no secrets");
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "The key is 7"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    check_has(l, "{\"type\":\"InputRejected\"," LOOP ",\"reason\":\"no secrets\"}\n");
    check_has(l, ",\"rejection\":\"no secrets\"}\n");
    over(r, l);
}

TEST(decisions_that_are_waited_for_are_told) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    agent = tool_agent(r, &desc, answer_start);
    rig_answers(r, PHI_HOOK_FILTER, PHI_WAIT, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    rig_call(r, "toolu_1", "ask", "{\"x\":1}");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "How many?"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 1), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    check_has(l, "{\"type\":\"Decision\"," LOOP ",\"point\":\"filter\",\"tool_call_id\":null,"
                 "\"tool_name\":null,\"args\":null,\"text\":\"How many?\",\"input\":\"prompt\"}\n");
    check_has(l, "{\"type\":\"Decision\"," LOOP ",\"point\":\"before_tool_execution\","
                 "\"tool_call_id\":\"toolu_1\",\"tool_name\":\"ask\",\"args\":{\"x\":1},"
                 "\"text\":\"\"}\n");
    over(r, l);
}

TEST(a_pause_says_which_limit) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.limits.max_turns = 1;
    desc.limits.pause = true;
    agent = tool_agent(r, &desc, answer_start);
    rig_call(r, "toolu_1", "ask", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "How many?"), PHI_OK);
    (void)rig_run(r, 100);
    check_has(l, "{\"type\":\"Paused\"," LOOP ",\"reason\":\"");
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    over(r, l);
}

TEST(what_nobody_will_see_is_told_with_the_reason) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent agent = rig_agent(r, NULL);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_inject(agent, "And this", "radio"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    check_has(l, "{\"type\":\"InputDropped\"," LOOP
                 ",\"input\":\"injected\",\"text\":\"And this\",\"reason\":\"");
    over(r, l);
}

TEST(the_same_call_again_is_warned_of) {
    rig *r = rig_new();
    lines *l = lines_of(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent = tool_agent(r, &desc, answer_start);
    rig_call(r, "toolu_1", "ask", "{}");
    rig_call(r, "toolu_2", "ask", "{}");
    rig_call(r, "toolu_3", "ask", "{}");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "How many?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    check_has(l,
              "{\"type\":\"Warning\"," LOOP ",\"tool_call_id\":\"toolu_3\",\"tool_name\":\"ask\","
              "\"text\":\"");
    over(r, l);
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
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_STALE);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(every_event_of_a_run_has_its_interchange_form),
          TEST_ENTRY(a_run_that_goes_on_names_its_parent_and_its_kind),
          TEST_ENTRY(a_configuration_that_was_named_is_in_the_snapshot),
          TEST_ENTRY(the_run_of_a_child_is_named_with_its_result),
          TEST_ENTRY(an_error_says_its_kind_and_delay),
          TEST_ENTRY(another_attempt_and_what_it_takes_back_are_told),
          TEST_ENTRY(what_a_filter_refuses_ends_the_run_with_its_reason),
          TEST_ENTRY(decisions_that_are_waited_for_are_told), TEST_ENTRY(a_pause_says_which_limit),
          TEST_ENTRY(what_nobody_will_see_is_told_with_the_reason),
          TEST_ENTRY(the_same_call_again_is_warned_of),
          TEST_ENTRY(an_event_whose_agent_is_gone_is_stale))
