/* test_trace_spans.c - spans: which there are, their parents, times, usage, failures; sub-agents, evaluations and strategies of
   real agents. */
#include "orchestrate/actors.h"
#include "orchestrate/cot.h"
#include "orchestrate/strategy.h"
#include "orchestrate/family.h"
#include "trace/trace_hostile.h"
#include "trace/trace_read.h"
#include "agent/agent_history.h"

static void traced_story(traced *t, scene *s, scene *helper, bool content) {
    static const phi_thread *children[1];
    phi_trace_desc desc;
    memset(&desc, 0, sizeof desc);
    scene_story(s, helper);
    children[0] = &helper->thread;
    desc.children = children;
    desc.child_count = 1;
    desc.with_content = content;
    traced_make(t, &s->thread, PHI_TRACE_OTEL, &desc);
}

TEST(a_run_is_invoke_agent_a_model_call_chat_and_a_tool_call_execute_tool) {
    scene s, helper;
    traced t;
    const phi_json *run, *chat, *call;
    traced_story(&t, &s, &helper, false);
    CHECK_EQ_INT(phi_json_count(traced_spans(&t)), 23);
    CHECK_EQ_INT(spans_hold(&t), 4);
    run = traced_span(&t, "invoke_agent coder", 0);
    chat = traced_span(&t, "chat claude-sonnet-4-5", 1);
    call = traced_span(&t, "execute_tool bash", 0);
    REQUIRE(run != NULL && chat != NULL && call != NULL);
    CHECK_EQ_INT(phi_json_int(phi_json_get(run, "kind"), 0), 1);
    CHECK_EQ_INT(phi_json_int(phi_json_get(chat, "kind"), 0), 3);
    CHECK(phi_str_equal(traced_id(chat, "parentSpanId"), traced_id(run, "spanId")));
    CHECK(phi_str_equal(traced_id(call, "parentSpanId"), traced_id(run, "spanId")));
    CHECK_STR(traced_attribute(run, "gen_ai.operation.name"), "invoke_agent");
    CHECK_STR(traced_attribute(run, "gen_ai.agent.id"), "coder");
    CHECK_STR(traced_attribute(run, "gen_ai.conversation.id"), "s-81");
    CHECK_STR(traced_attribute(run, "gen_ai.usage.input_tokens"), "10810");
    CHECK_STR(traced_attribute(chat, "gen_ai.operation.name"), "chat");
    CHECK_STR(traced_attribute(chat, "gen_ai.provider.name"), "anthropic");
    CHECK_STR(traced_attribute(chat, "gen_ai.request.model"), "claude-sonnet-4-5");
    CHECK_STR(traced_attribute(chat, "gen_ai.usage.input_tokens"), "2410");
    CHECK_STR(traced_attribute(chat, "gen_ai.usage.output_tokens"), "88");
    CHECK_STR(traced_attribute(chat, "gen_ai.usage.cache_read.input_tokens"), "1620");
    CHECK_STR(traced_attribute(chat, "gen_ai.usage.cache_creation.input_tokens"), "380");
    CHECK_STR(traced_attribute(chat, "gen_ai.response.finish_reasons"), "toolUse");
    CHECK_STR(traced_attribute(call, "gen_ai.tool.name"), "bash");
    CHECK_STR(traced_attribute(call, "gen_ai.tool.call.id"), "call_s-81_1");
    CHECK_STR(traced_attribute(call, "error.type"), "tool_error");
    CHECK_EQ_INT(phi_json_int(phi_json_path(call, "status.code"), 0), 2);
    CHECK_STR(traced_id(call, "startTimeUnixNano"), "1785600002309000000");
    CHECK_STR(traced_id(call, "endTimeUnixNano"), "1785600006909000000");
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
}

TEST(a_call_beside_a_longer_one_ends_when_its_result_was_made_not_when_it_was_logged) {
    const char *const calls[] = {"slow {}", "fast {}"};
    scene s;
    traced t;
    const phi_json *fast;
    scene_open(&s, "s");
    scene_run(&s, NULL, NULL);
    scene_user(&s, "both");
    scene_turn(&s);
    scene_answer(&s, NULL, NULL, calls, 2, 1000); /* at 1785600001009 */
    scene_result(&s, 1, "slow", "done", false, 5000);
    s.early = 4970;
    scene_result(&s, 2, "fast", "done", false, 0);
    s.early = 0;
    scene_turn_end(&s);
    scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, NULL);
    CHECK_STR(traced_id(traced_span(&t, "execute_tool slow", 0), "endTimeUnixNano"),
              "1785600006009000000");
    fast = traced_span(&t, "execute_tool fast", 0);
    CHECK_STR(traced_id(fast, "startTimeUnixNano"), "1785600001009000000");
    CHECK_STR(traced_id(fast, "endTimeUnixNano"), "1785600001039000000");
    traced_free(&t);
    scene_close(&s);
}

TEST(the_run_of_a_sub_agent_is_below_the_call_that_began_it) {
    scene s, helper;
    traced t;
    const phi_json *call, *child;
    traced_story(&t, &s, &helper, false);
    call = traced_span(&t, "execute_tool researcher", 0);
    child = traced_span(&t, "invoke_agent researcher", 0);
    REQUIRE(call != NULL && child != NULL);
    CHECK(phi_str_equal(traced_id(child, "parentSpanId"), traced_id(call, "spanId")));
    CHECK(phi_str_equal(traced_id(child, "traceId"), traced_id(call, "traceId")));
    traced_free(&t);
    /* alone it is a trace of its own */
    traced_make(&t, &helper.thread, PHI_TRACE_OTEL, NULL);
    CHECK_EQ_INT(spans_hold(&t), 1);
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
}

TEST(a_failed_run_says_why_and_its_model_call_has_no_answer) {
    scene s, helper;
    traced t;
    const phi_json *run, *chat;
    traced_story(&t, &s, &helper, false);
    run = traced_span(&t, "invoke_agent coder", 1);
    chat = traced_span(&t, "chat", 0);
    REQUIRE(run != NULL && chat != NULL);
    CHECK_STR(traced_attribute(run, "error.type"), "rate_limited");
    CHECK_STR(phi_json_str(phi_json_path(run, "status.message"), ""),
              "This request would exceed your organization's rate limit");
    CHECK_STR(traced_attribute(chat, "error.type"), "no_answer");
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
}

TEST(messages_are_in_spans_only_where_they_are_wanted) {
    scene s, helper;
    traced t;
    const phi_json *chat;
    phi_json *messages = NULL;
    traced_story(&t, &s, &helper, false);
    CHECK(!traced_has(&t, "time zone") && !traced_has(&t, "careful engineer") &&
          !traced_has(&t, "make test"));
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
    traced_story(&t, &s, &helper, true);
    CHECK(traced_has(&t, "careful engineer"));
    chat = traced_span(&t, "chat claude-sonnet-4-5", 1);
    REQUIRE(phi_json_parse(&t.arena, traced_attribute(chat, "gen_ai.input.messages"), 0, &messages,
                           NULL) == PHI_OK);
    CHECK_EQ_INT(phi_json_count(messages), 2); /* the two results since the answer before */
    CHECK_STR(phi_json_str(phi_json_path(messages, "[0].parts[0].id"), ""), "call_s-81_1");
    REQUIRE(phi_json_parse(&t.arena, traced_attribute(chat, "gen_ai.output.messages"), 0, &messages,
                           NULL) == PHI_OK);
    CHECK_STR(phi_json_str(phi_json_path(messages, "[0].parts[1].name"), ""), "researcher");
    CHECK_STR(
        traced_attribute(traced_span(&t, "execute_tool bash", 0), "gen_ai.tool.call.arguments"),
        "{\"command\":\"make test\"}");
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
}

TEST(a_run_has_the_instructions_of_the_run_before_where_they_did_not_change) {
    static const char *const prompts[] = {"Be kind.", NULL, "Be brief.", NULL, "", NULL};
    static const char *const expected[] = {"kind", "kind", "brief", "brief", "", ""};
    scene s;
    traced t;
    phi_trace_desc desc;
    size_t i;
    memset(&desc, 0, sizeof desc);
    desc.with_content = true;
    scene_open(&s, "s");
    for (i = 0; i < 6; i++) {
        scene_run(&s, NULL, prompts[i]);
        scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
        if (i != 2) continue;
        s.flags = PHI_ENTRY_GRAFTED; /* out of another log: its prompt is not known */
        scene_run_of(&s, "graft", NULL, NULL);
        scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
        s.flags = 0;
    }
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, &desc);
    for (i = 0; i < 6; i++) {
        const phi_json *run = traced_span(&t, "invoke_agent coder", i + (i > 2));
        phi_str words = traced_attribute(run, "gen_ai.system_instructions");
        CHECK(run != NULL && phi__str_find(words, 0, expected[i]) != SIZE_MAX);
        CHECK_EQ_INT(words.len == 0, expected[i][0] == '\0');
    }
    CHECK_STR(
        traced_attribute(traced_span(&t, "invoke_agent coder", 3), "gen_ai.system_instructions"),
        "");
    traced_free(&t);
    scene_close(&s);
}

TEST(a_run_that_died_with_its_process_is_ended_by_the_next_and_a_host_s_rewrite_is_no_span) {
    const char *const calls[] = {"echo {}"};
    scene s;
    traced t;
    const phi_json *call;
    scene_open(&s, "s");
    scene_run(&s, NULL, NULL);
    scene_user(&s, "first");
    scene_turn(&s);
    scene_answer(&s, NULL, NULL, calls, 1, 10);
    scene_run(&s, "s.m.1", NULL);
    scene_user(&s, "second");
    scene_turn(&s);
    scene_answer(&s, NULL, "two", NULL, 0, 10);
    scene_rewrite(&s, PHI_REWRITE_PRUNE, 1, 1, NULL, "op");
    scene_turn_end(&s);
    scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    REQUIRE(!s.failed);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, NULL);
    CHECK_EQ_INT(spans_hold(&t), 2);
    call = traced_span(&t, "execute_tool echo", 0);
    CHECK_STR(traced_attribute(call, "error.type"), "no_result");
    CHECK_STR(traced_attribute(traced_span(&t, "invoke_agent coder", 0), "error.type"),
              "not_ended");
    CHECK(traced_span(&t, "rewrite prune", 0) == NULL); /* it belongs to no run */
    /* a run that continues another is a trace of its own, with a link */
    CHECK(phi_str_equal(
        phi_json_str(phi_json_path(traced_span(&t, "invoke_agent coder", 1), "links[0].spanId"),
                     ""),
        traced_id(traced_span(&t, "invoke_agent coder", 0), "spanId")));
    traced_free(&t);
    scene_close(&s);
}

TEST(hostile_texts_are_text) {
    scene s;
    traced t;
    phi_trace_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.with_content = true;
    hostile_scene(&s);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, &desc);
    CHECK_EQ_INT(spans_hold(&t), 2);
    CHECK(traced_span(&t, "execute_tool <img src=x onerror=alert(1)>", 0) != NULL);
    traced_free(&t);
    scene_close(&s);
}

/* ---- real agents ---- */

TEST(children_of_a_real_agent_hang_below_its_calls) {
    rig *r = rig_new();
    family f;
    phi_subagent_desc worker;
    phi_agent_desc worker_desc, lead_desc;
    phi_tool tool;
    phi_agent lead;
    traced t;
    memset(&worker, 0, sizeof worker);
    family_begin(&f, r);
    worker_desc = family_desc(&f, "worker");
    worker.name = "worker";
    worker.agent = &worker_desc;
    lead_desc = family_desc(&f, "lead 2");
    tool = phi_subagent_tool(&worker);
    lead_desc.tools = &tool;
    lead_desc.tool_count = 1;
    lead = rig_agent(r, &lead_desc);
    CHECK_EQ_INT(phi_prompt(lead, "sum"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 300), 0);
    traced_make(&t, phi_agent_thread(lead), PHI_TRACE_OTEL, NULL);
    CHECK_EQ_INT(spans_hold(&t), 1);
    CHECK(traced_span(&t, "execute_tool worker", 1) != NULL);
    traced_free(&t);
    traced_make(&t, phi_agent_thread(lead), PHI_TRACE_HTML, NULL);
    CHECK_EQ_INT(traced_count(&t, "\"child\":"), 2);
    /* a result stands before the entry of its run, as in the scenes that the page is opened with */
    CHECK(phi__str_find(t.json, 0, "\"o\":3") < phi__str_find(t.json, 0, "\"child\":"));
    traced_free(&t);
    rig_free(r);
}

TEST(branches_of_an_evaluation_are_lanes_of_the_page_and_runs_of_the_spans) {
    stage s;
    traced t;
    stage_set(&s, rig_new(), 3);
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    stage_evaluate(&s);
    CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    traced_make(&t, phi_agent_thread(s.agent), PHI_TRACE_HTML, NULL);
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.root, "threads[0].lanes")),
                 phi_thread_get_info(phi_agent_thread(s.agent)).lane_count);
    CHECK(traced_has(&t, PHI_NOTE_PARALLEL));
    traced_free(&t);
    traced_make(&t, phi_agent_thread(s.agent), PHI_TRACE_OTEL, NULL);
    CHECK(spans_hold(&t) > 0);
    CHECK(traced_span(&t, "chat a", 0) != NULL && traced_span(&t, "chat b", 0) != NULL &&
          traced_span(&t, "chat own", 0) != NULL);
    traced_free(&t);
    rig_free(s.r);
}

TEST(model_calls_of_a_strategy_are_spans) {
    rig *r = rig_new();
    phi_strategy_desc strategy;
    phi_provider provider;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    traced t;
    memset(&strategy, 0, sizeof strategy);
    strategy.strategy = phi_strategy_cot(PHI_COT_STEPS);
    provider = phi_strategy_provider(&strategy);
    desc.provider = &provider;
    agent = rig_agent(r, &desc);
    rig_says(r, "1. Think\nAnswer: 4");
    rig_says(r, "Answer: 4");
    CHECK_EQ_INT(phi_prompt(agent, "2 + 2?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    traced_make(&t, phi_agent_thread(agent), PHI_TRACE_OTEL, NULL);
    (void)spans_hold(&t);
    CHECK(phi_json_count(traced_spans(&t)) >= 3);
    traced_free(&t);
    traced_make(&t, phi_agent_thread(agent), PHI_TRACE_HTML, NULL);
    traced_free(&t);
    rig_free(r);
}

TEST(a_compaction_in_the_midst_of_a_run_is_a_span_of_the_run) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool echo = rig_echo();
    phi_agent agent;
    traced t;
    const phi_json *run, *rewrite;
    char arguments[400];
    rig_mock(r);
    desc.tools = &echo;
    desc.tool_count = 1;
    desc.tool_options.repeat_warn_after = desc.tool_options.repeat_stop_after = PHI_UNLIMITED;
    desc.compaction.max_context_tokens = 1000;
    desc.compaction.system_prompt_tokens = 10;
    desc.compaction.keep_first_turns = 1;
    desc.compaction.keep_recent_turns = 2;
    agent = rig_agent(r, &desc);
    for (int i = 0; i < 20; i++) {
        (void)snprintf(arguments, sizeof arguments, "{\"n\":%d,\"x\":\"%0200d\"}", i, 0);
        rig_call(r, "-", "echo", arguments);
    }
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 1000), 0);
    traced_make(&t, phi_agent_thread(agent), PHI_TRACE_OTEL, NULL);
    CHECK_EQ_INT(spans_hold(&t), 1);
    run = traced_span(&t, "invoke_agent agent", 0);
    rewrite = traced_span(&t, "rewrite compaction", 0);
    REQUIRE(run != NULL && rewrite != NULL);
    CHECK(phi_str_equal(traced_id(rewrite, "parentSpanId"), traced_id(run, "spanId")));
    CHECK_STR(traced_attribute(rewrite, "phi.rewrite.spans"), "1");
    traced_free(&t);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(a_run_is_invoke_agent_a_model_call_chat_and_a_tool_call_execute_tool),
    TEST_ENTRY(a_call_beside_a_longer_one_ends_when_its_result_was_made_not_when_it_was_logged),
    TEST_ENTRY(the_run_of_a_sub_agent_is_below_the_call_that_began_it),
    TEST_ENTRY(a_failed_run_says_why_and_its_model_call_has_no_answer),
    TEST_ENTRY(messages_are_in_spans_only_where_they_are_wanted),
    TEST_ENTRY(a_run_has_the_instructions_of_the_run_before_where_they_did_not_change),
    TEST_ENTRY(
        a_run_that_died_with_its_process_is_ended_by_the_next_and_a_host_s_rewrite_is_no_span),
    TEST_ENTRY(hostile_texts_are_text), TEST_ENTRY(children_of_a_real_agent_hang_below_its_calls),
    TEST_ENTRY(branches_of_an_evaluation_are_lanes_of_the_page_and_runs_of_the_spans),
    TEST_ENTRY(model_calls_of_a_strategy_are_spans),
    TEST_ENTRY(a_compaction_in_the_midst_of_a_run_is_a_span_of_the_run))
