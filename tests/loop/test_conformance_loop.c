/* test_conformance_loop.c - lines C 1 to 6 of the specification's checklist: how a run begins, goes
   on and ends, and what it returns. docs/conformance.md says
   which test proves which line. */
#include "support/heard.h"

#include "agent/one_shot_run.h"

/* ---- C 1 ---- */

TEST(missing_ids_are_made_and_can_be_read_back) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    heard h;
    char want[160];
    heard_begin(&h, r);
    desc.agent_id = desc.session_id = NULL;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_id(agent).len, 36);
    CHECK_EQ_INT(phi_agent_session_id(agent).len, 36);
    CHECK(memcmp(phi_agent_id(agent).at, phi_agent_session_id(agent).at, 36) != 0);
    CHECK_STR(phi_agent_last_loop_id(agent), "");
    rig_says(r, "a");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_agent_id(agent), h.agent_id);
    CHECK_STR(phi_agent_session_id(agent), h.session_id);
    (void)snprintf(want, sizeof want, "%s.anthropic.test-model.1", h.session_id);
    CHECK_EQ_STR(h.loop_id, want);
    CHECK_STR(phi_agent_last_loop_id(agent), want);
    CHECK_EQ_INT(h.continuation, PHI_CONTINUATION_INITIAL);
    CHECK_EQ_STR(h.parent_loop_id, "");
    rig_free(r);
}

TEST(loop_ids_are_counted_for_each_session_and_model) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent, other;
    phi_model model = phi_model_anthropic("gpt/4.1:x", "key");
    heard h;
    int i;
    heard_begin(&h, r);
    agent = rig_agent(r, &desc);
    for (i = 0; i < 5; i++) rig_says(r, "a");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.loop_id, "session.anthropic.test-model.1");
    CHECK_EQ_INT(phi_agent_set_model(agent, &model), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.loop_id, "session.anthropic.gpt-4-1-x.1");
    CHECK_EQ_INT(phi_prompt(agent, "3"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.loop_id, "session.anthropic.gpt-4-1-x.2");
    other = rig_agent(r, &desc); /* the same session: the counter is shared */
    CHECK_EQ_INT(phi_prompt(other, "4"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.loop_id, "session.anthropic.test-model.2");
    desc.thinking = PHI_THINKING_HIGH;
    other = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(other, "5"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.loop_id, "session.anthropic.test-model.thinking.1");
    rig_free(r);
}

TEST(a_loop_id_that_was_given_is_used_verbatim) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_run_desc run;
    phi_content block;
    phi_message prompt = text_message(PHI_ROLE_USER, &block, "Hi");
    heard h;
    REQUIRE(thread != NULL);
    heard_begin(&h, r);
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    run.loop_id = "my own loop";
    rig_says(r, "a");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.loop_id, "my own loop");
    CHECK_EQ_INT(phi_thread_message_count(thread), 2);
    CHECK_STR(phi_thread_message_at(thread, 0)->loop_id, "my own loop");
    CHECK_STR(phi_thread_message_at(thread, 1)->loop_id, "my own loop");
    (void)rig_step(r);
    CHECK_EQ_INT(phi_thread_free(thread), PHI_OK);
    rig_free(r);
}

TEST(a_run_goes_from_before_loop_over_start_filters_and_turns_to_end_and_after_loop) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.filters = &filter;
    desc.filter_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_LOOP);
    agent = rig_agent(r, &desc);
    rig_says(r, "Hello");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "-> before_loop (0 messages)\n"
                               "AgentStart\n"
                               "-> filter \"Hi\"\n"
                               "-> before_turn 0 (1 messages)\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Hello\" of \"Hello\"\n"
                               "MessageEnd assistant \"Hello\" stop\n"
                               "TurnEnd assistant \"Hello\" stop\n"
                               "AgentEnd ok, 2 messages\n"
                               "-> after_loop (2 messages)\n");
    rig_free(r);
}

typedef struct loop_hooks {
    size_t before, after;
    phi_usage usage;
} loop_hooks;

static phi_verdict note_loop(void *user_data, phi_hook *hook) {
    loop_hooks *n = (loop_hooks *)user_data;
    if (hook->point == PHI_HOOK_BEFORE_LOOP) n->before = hook->message_count;
    if (hook->point == PHI_HOOK_AFTER_LOOP) {
        n->after = hook->message_count;
        if (hook->usage != NULL) n->usage = *hook->usage;
    }
    return PHI_ALLOW;
}

TEST(before_loop_sees_the_history_and_after_loop_the_new_messages_and_their_usage) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    loop_hooks n;
    memset(&n, 0, sizeof n);
    desc.tools = &tool;
    desc.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP | PHI_HOOK_AFTER_LOOP);
    rig_hook_with(r, note_loop, &n);
    agent = rig_agent(r, &desc);
    rig_says(r, "first");
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "second");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(n.before, 0);
    CHECK_EQ_INT(n.after, 2);
    CHECK_EQ_INT(n.usage.input, 10);
    CHECK_EQ_INT(n.usage.output, 5);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(n.before, 2);
    CHECK_EQ_INT(n.after, 4);
    CHECK_EQ_INT(n.usage.input, 20);
    CHECK_EQ_INT(n.usage.output, 10);
    rig_free(r);
}

TEST(before_loop_that_says_no_leaves_agent_end_as_the_only_event) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_DENY, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "-> before_loop (0 messages)\n"
                               "AgentEnd a hook said no, 0 messages\n");
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_free(r);
}

/* ---- C 2 ---- */

TEST(an_empty_history_is_not_continued_and_the_error_says_why) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_MISUSE);
    CHECK(strstr(words_of(r), "messages") != NULL);
    CHECK(!phi_agent_running(agent));
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_STR(rig_story(r), "");
    rig_free(r);
}

TEST(a_history_that_ends_with_an_answer_is_not_continued_and_the_error_says_why) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "answer");
    CHECK_EQ_INT(phi_prompt(agent, "question"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_forget(r);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_RERUN), PHI_MISUSE);
    CHECK(strlen(words_of(r)) > 20);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_STR(rig_story(r), "");
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_free(r);
}

TEST(a_continued_run_tells_no_prompt_and_has_the_last_run_as_its_parent) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    heard h;
    heard_begin(&h, r);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(h.status, PHI_REFUSED);
    rig_forget(r);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart assistant\n"
                               "TextDelta \"fine\" of \"fine\"\n"
                               "MessageEnd assistant \"fine\" stop\n"
                               "TurnEnd assistant \"fine\" stop\n"
                               "AgentEnd ok, 1 messages\n");
    CHECK_EQ_STR(h.loop_id, "session.anthropic.test-model.2");
    CHECK_EQ_STR(h.parent_loop_id, "session.anthropic.test-model.1");
    CHECK_EQ_INT(h.continuation, PHI_CONTINUATION_DEFAULT);
    CHECK(strstr(rig_request(r, 1), "\"go\"") != NULL);
    rig_free(r);
}

TEST(a_bare_run_takes_parent_and_kind_from_its_desc) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_run_desc run;
    phi_content block;
    phi_message question = text_message(PHI_ROLE_USER, &block, "Hi");
    heard h;
    REQUIRE(thread != NULL);
    heard_begin(&h, r);
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = thread;
    run.continuation = PHI_CONTINUATION_BRANCH;
    run.parent_loop_id = "elsewhere.m.7";
    CHECK_EQ_INT(phi_thread_append(thread, &question), PHI_OK);
    rig_says(r, "a");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.parent_loop_id, "elsewhere.m.7");
    CHECK_EQ_INT(h.continuation, PHI_CONTINUATION_BRANCH);
    CHECK_EQ_INT(h.trigger[0], PHI_TRIGGER_BRANCH);
    CHECK_EQ_INT(h.first_message, 1);
    CHECK_EQ_INT(h.message_count, 1);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_thread_free(thread), PHI_OK);
    rig_free(r);
}

/* ---- C 3 ---- */

TEST(a_run_returns_its_prompt_and_everything_that_was_added) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    heard h;
    static const phi_role roles[] = {PHI_ROLE_USER,        PHI_ROLE_USER,        PHI_ROLE_USER,
                                     PHI_ROLE_ASSISTANT,   PHI_ROLE_TOOL_RESULT, PHI_ROLE_ASSISTANT,
                                     PHI_ROLE_TOOL_RESULT, PHI_ROLE_USER};
    size_t i;
    heard_begin(&h, r);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits.max_turns = 2;
    agent = rig_agent(r, &desc);
    rig_says(r, "before");
    rig_call(r, "c1", "echo", "{\"x\":1}");
    rig_call(r, "c2", "echo", "{\"x\":2}");
    CHECK_EQ_INT(phi_prompt(agent, "an earlier run"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_steer(agent, "faster"), PHI_OK);
    CHECK_EQ_INT(phi_inject(agent, "it rains", "sensor"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(h.status, PHI_LIMIT);
    CHECK_EQ_INT(h.first_message, 2);
    REQUIRE(h.message_count == 8);
    REQUIRE(phi_message_count(agent) == 10);
    for (i = 0; i < 8; i++) CHECK_EQ_INT(phi_message_at(agent, 2 + i)->role, roles[i]);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "go");
    CHECK_STR(phi_message_at(agent, 3)->content[0].text, "faster");
    CHECK_STR(phi_message_at(agent, 4)->content[0].text, "it rains");
    CHECK_STR(phi_message_at(agent, 9)->content[0].text,
              "[Agent stopped: Max turns reached (2/2)]");
    rig_free(r);
}

TEST(every_message_of_a_run_carries_its_loop_and_turn) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    static const uint32_t turns[] = {0, 0, 0, 1};
    size_t i;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_message_count(agent) == 4);
    for (i = 0; i < 4; i++) {
        CHECK_STR(phi_message_at(agent, i)->loop_id, "session.anthropic.test-model.1");
        CHECK_EQ_INT(phi_message_at(agent, i)->turn_index, turns[i]);
    }
    rig_free(r);
}

/* ---- C 4 ---- */

static phi_trigger first_trigger_of(phi_continuation kind) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_content block;
    phi_message question = text_message(PHI_ROLE_USER, &block, "Hi");
    heard h;
    heard_begin(&h, r);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.first_turn_trigger = PHI_TRIGGER_SUB_AGENT; /* of prompts only */
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    if (kind == PHI_CONTINUATION_INITIAL) {
        CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    } else {
        CHECK_EQ_INT(phi_append_message(agent, &question), PHI_OK);
        CHECK_EQ_INT(phi_continue(agent, kind), PHI_OK);
    }
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(h.turns, 2);
    CHECK_EQ_INT(h.turn_index[0], 0);
    CHECK_EQ_INT(h.turn_index[1], 1);
    CHECK_EQ_INT(h.trigger[1], PHI_TRIGGER_CONTINUATION);
    CHECK_EQ_INT(h.continuation, kind);
    rig_free(r);
    return h.trigger[0];
}

TEST(the_first_turn_s_trigger_follows_the_kind_of_run_and_later_ones_are_continuations) {
    CHECK_EQ_INT(first_trigger_of(PHI_CONTINUATION_INITIAL), PHI_TRIGGER_SUB_AGENT);
    CHECK_EQ_INT(first_trigger_of(PHI_CONTINUATION_DEFAULT), PHI_TRIGGER_CONTINUATION);
    CHECK_EQ_INT(first_trigger_of(PHI_CONTINUATION_RERUN), PHI_TRIGGER_CONTINUATION);
    CHECK_EQ_INT(first_trigger_of(PHI_CONTINUATION_COMPACTION), PHI_TRIGGER_CONTINUATION);
    CHECK_EQ_INT(first_trigger_of(PHI_CONTINUATION_BRANCH), PHI_TRIGGER_BRANCH);
}

TEST(a_prompt_s_first_turn_is_triggered_by_the_user_by_default_and_each_run_counts_from_0) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    heard h;
    heard_begin(&h, r);
    rig_says(r, "a");
    rig_says(r, "b");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(h.turns, 2);
    CHECK_EQ_INT(h.trigger[0], PHI_TRIGGER_USER);
    CHECK_EQ_INT(h.trigger[1], PHI_TRIGGER_USER);
    CHECK_EQ_INT(h.turn_index[1], 0);
    rig_free(r);
}

/* ---- C 5 ---- */

TEST(a_run_goes_on_while_tools_are_called_then_with_follow_ups_and_then_ends) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_follow_up(agent, "and then?"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "MessageStart assistant\n"
                               "ToolCallDelta \"{}\" of \"{}\"\n"
                               "MessageEnd assistant echo({}) toolUse\n"
                               "ToolExecutionStart c1 echo({})\n"
                               "ToolExecutionEnd toolResult c1 \"{}\"\n"
                               "MessageStart toolResult c1 \"{}\"\n"
                               "MessageEnd toolResult c1 \"{}\"\n"
                               "TurnEnd assistant echo({}) toolUse\n"
                               "TurnStart 1\n"
                               "MessageStart assistant\n"
                               "TextDelta \"one\" of \"one\"\n"
                               "MessageEnd assistant \"one\" stop\n"
                               "TurnEnd assistant \"one\" stop\n"
                               "TurnStart 2\n"
                               "MessageStart user \"and then?\"\n"
                               "MessageEnd user \"and then?\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"two\" of \"two\"\n"
                               "MessageEnd assistant \"two\" stop\n"
                               "TurnEnd assistant \"two\" stop\n"
                               "AgentEnd ok, 6 messages\n");
    rig_free(r);
}

#define CALL_THAT_STOPS_WITH(reason)                                                               \
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"                            \
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"             \
    "\"tool_use\",\"id\":\"c1\",\"name\":\"echo\",\"input\":{}}}\n\n"                              \
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"                     \
    "\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":1}\"}}\n\n"                                \
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"                                      \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason                       \
    "\"},\"usage\":{\"output_tokens\":5}}\n\n"                                                     \
    "data: {\"type\":\"message_stop\"}\n\n"

static void runs_its_call(const char *stream) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n", stream);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_message_count(agent) == 4);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "{\"x\":1}");
    CHECK(!phi_message_at(agent, 2)->is_error);
    rig_free(r);
}

TEST(calls_are_run_whatever_the_stop_reason_says) {
    runs_its_call(CALL_THAT_STOPS_WITH("tool_use"));
    runs_its_call(CALL_THAT_STOPS_WITH("end_turn"));
    runs_its_call(CALL_THAT_STOPS_WITH("max_tokens"));
    runs_its_call(CALL_THAT_STOPS_WITH("stop_sequence"));
}

TEST(steering_that_comes_while_the_last_answer_streams_makes_another_turn) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_chunk(r, 300);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2), 1);
    CHECK_EQ_INT(phi_steer(agent, "left"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r), "TurnEnd assistant \"one\" stop\n"
                               "TurnStart 1\n"
                               "MessageStart user \"left\"\n"
                               "MessageEnd user \"left\"\n"
                               "MessageStart assistant\n") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 4 messages\n") != NULL);
    rig_free(r);
}

/* ---- C 6 ---- */

TEST(a_failed_answer_is_kept_and_told_and_ends_the_run_without_a_look_at_follow_ups) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc,
              PHI_HOOK_ON_ERROR | PHI_HOOK_AFTER_TURN | PHI_HOOK_FOLLOW_UP | PHI_HOOK_AFTER_LOOP);
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "MessageStart assistant\n"
                               "MessageEnd assistant \"\" error error \"API error: boom\"\n"
                               "Error server \"boom\" 500\n"
                               "-> on_error \"API error: boom\"\n"
                               "TurnEnd assistant \"\" error error \"API error: boom\"\n"
                               "-> after_turn (2 messages)\n"
                               "AgentEnd the other side refused, 2 messages\n"
                               "-> after_loop (2 messages)\n");
    CHECK_EQ_INT(phi_message_count(agent), 2);
    CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_FOLLOW_UP), 1);
    rig_free(r);
}

TEST(an_aborted_answer_is_kept_and_told_and_is_no_error) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char half[2000];
    const char *whole = rig_stream_of("partial");
    (void)snprintf(half, sizeof half, "%.*s",
                   (int)(strstr(whole, "event: content_block_stop") - whole), whole);
    rig_hooks(r, &desc,
              PHI_HOOK_ON_ERROR | PHI_HOOK_AFTER_TURN | PHI_HOOK_FOLLOW_UP | PHI_HOOK_AFTER_LOOP);
    agent = rig_agent(r, &desc);
    rig_hangs(r, half);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_forget(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "MessageEnd assistant \"partial\" aborted error \"Cancelled\"\n"
                               "TurnEnd assistant \"partial\" aborted error \"Cancelled\"\n"
                               "-> after_turn (2 messages)\n"
                               "AgentEnd cancelled, 2 messages\n"
                               "-> after_loop (2 messages)\n");
    CHECK_STR(last_of(agent)->content[0].text, "partial");
    CHECK_EQ_INT(last_of(agent)->stop_reason, PHI_STOP_REASON_ABORTED);
    CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_FOLLOW_UP), 1);
    rig_free(r);
}

static phi_verdict note_words(void *user_data, phi_hook *hook) {
    if (hook->point == PHI_HOOK_ON_ERROR) heard_copy((char *)user_data, 200, hook->text);
    return PHI_ALLOW;
}

TEST(on_error_is_always_told_in_words) {
    static const char *const bodies[] = {
        "", "{}", "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"\"}}"};
    size_t i;
    for (i = 0; i < 3; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        char words[200] = "";
        rig_hooks(r, &desc, PHI_HOOK_ON_ERROR);
        rig_hook_with(r, note_words, words);
        agent = rig_agent(r, &desc);
        rig_replies(r, 500, HEARD_JSON, bodies[i]);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(strncmp(words, "API error: ", 11) == 0 && strlen(words) > 11);
        rig_free(r);
    }
}

TEST_MAIN(
    TEST_ENTRY(missing_ids_are_made_and_can_be_read_back),
    TEST_ENTRY(loop_ids_are_counted_for_each_session_and_model),
    TEST_ENTRY(a_loop_id_that_was_given_is_used_verbatim),
    TEST_ENTRY(a_run_goes_from_before_loop_over_start_filters_and_turns_to_end_and_after_loop),
    TEST_ENTRY(before_loop_sees_the_history_and_after_loop_the_new_messages_and_their_usage),
    TEST_ENTRY(before_loop_that_says_no_leaves_agent_end_as_the_only_event),
    TEST_ENTRY(an_empty_history_is_not_continued_and_the_error_says_why),
    TEST_ENTRY(a_history_that_ends_with_an_answer_is_not_continued_and_the_error_says_why),
    TEST_ENTRY(a_continued_run_tells_no_prompt_and_has_the_last_run_as_its_parent),
    TEST_ENTRY(a_bare_run_takes_parent_and_kind_from_its_desc),
    TEST_ENTRY(a_run_returns_its_prompt_and_everything_that_was_added),
    TEST_ENTRY(every_message_of_a_run_carries_its_loop_and_turn),
    TEST_ENTRY(the_first_turn_s_trigger_follows_the_kind_of_run_and_later_ones_are_continuations),
    TEST_ENTRY(
        a_prompt_s_first_turn_is_triggered_by_the_user_by_default_and_each_run_counts_from_0),
    TEST_ENTRY(a_run_goes_on_while_tools_are_called_then_with_follow_ups_and_then_ends),
    TEST_ENTRY(calls_are_run_whatever_the_stop_reason_says),
    TEST_ENTRY(steering_that_comes_while_the_last_answer_streams_makes_another_turn),
    TEST_ENTRY(a_failed_answer_is_kept_and_told_and_ends_the_run_without_a_look_at_follow_ups),
    TEST_ENTRY(an_aborted_answer_is_kept_and_told_and_is_no_error),
    TEST_ENTRY(on_error_is_always_told_in_words))
