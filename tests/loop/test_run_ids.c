/* test_run_ids.c - what a run is called, whom it comes from, what begins its turns, and what it
   returns. */
#include "agent/one_shot_run.h"
#include "support/heard.h"
#include "support/set.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/input.h"
#include "log/log_in.h"

TEST(missing_ids_are_made_and_can_be_read_back) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    heard h;
    char want[160];
    heard_begin(&h, r);
    desc.ids.agent_id = desc.ids.session_id = NULL;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_info(agent).agent_id.len, 36);
    CHECK_EQ_INT(phi_agent_get_info(agent).session_id.len, 36);
    CHECK(memcmp(phi_agent_get_info(agent).agent_id.at, phi_agent_get_info(agent).session_id.at,
                 36) != 0);
    CHECK_STR(phi_agent_get_info(agent).loop_id, "");
    rig_says(r, "a");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_agent_get_info(agent).agent_id, h.agent_id);
    CHECK_STR(phi_agent_get_info(agent).session_id, h.session_id);
    (void)snprintf(want, sizeof want, "%s.anthropic.test-model.1", h.session_id);
    CHECK_EQ_STR(h.loop_id, want);
    CHECK_STR(phi_agent_get_info(agent).loop_id, want);
    CHECK_EQ_INT(h.continuation, PHI_CONTINUATION_INITIAL);
    CHECK_EQ_STR(h.parent_loop_id, "");
    rig_free(r);
}

TEST(every_run_of_an_agent_has_its_agent_id_and_its_session_id) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    heard h;
    char agent_id[sizeof h.agent_id], session_id[sizeof h.session_id];
    heard_begin(&h, r);
    desc.ids.agent_id = desc.ids.session_id = NULL;
    agent = rig_agent(r, &desc);
    rig_says(r, "a");
    rig_says(r, "b");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    (void)snprintf(agent_id, sizeof agent_id, "%s", h.agent_id);
    (void)snprintf(session_id, sizeof session_id, "%s", h.session_id);
    CHECK_EQ_INT(strlen(agent_id), 36);
    h.agent_id[0] = h.session_id[0] = '\0';
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.agent_id, agent_id);
    CHECK_EQ_STR(h.session_id, session_id);
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
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
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
    phi_thread_free(thread);
    rig_free(r);
}

TEST(an_empty_history_is_not_continued_and_the_error_says_why) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_MISUSE);
    CHECK(strstr(words_of(r), "messages") != NULL);
    CHECK(!phi_agent_get_info(agent).running);
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
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
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
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 10);
    for (i = 0; i < 8; i++)
        CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 2 + i)->role, roles[i]);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "go");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "faster");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 4)->content[0].text, "it rains");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 9)->content[0].text,
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
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 4);
    for (i = 0; i < 4; i++) {
        CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), i)->loop_id,
                  "session.anthropic.test-model.1");
        CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), i)->turn_index, turns[i]);
    }
    rig_free(r);
}

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
    desc.input.first_turn_trigger = PHI_TRIGGER_SUB_AGENT; /* of prompts only */
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    if (kind == PHI_CONTINUATION_INITIAL) {
        CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    } else {
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &question, 1, NULL), PHI_OK);
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

TEST_MAIN(
    TEST_ENTRY(missing_ids_are_made_and_can_be_read_back),
    TEST_ENTRY(every_run_of_an_agent_has_its_agent_id_and_its_session_id),
    TEST_ENTRY(loop_ids_are_counted_for_each_session_and_model),
    TEST_ENTRY(a_loop_id_that_was_given_is_used_verbatim),
    TEST_ENTRY(an_empty_history_is_not_continued_and_the_error_says_why),
    TEST_ENTRY(a_history_that_ends_with_an_answer_is_not_continued_and_the_error_says_why),
    TEST_ENTRY(a_continued_run_tells_no_prompt_and_has_the_last_run_as_its_parent),
    TEST_ENTRY(a_run_returns_its_prompt_and_everything_that_was_added),
    TEST_ENTRY(every_message_of_a_run_carries_its_loop_and_turn),
    TEST_ENTRY(the_first_turn_s_trigger_follows_the_kind_of_run_and_later_ones_are_continuations),
    TEST_ENTRY(
        a_prompt_s_first_turn_is_triggered_by_the_user_by_default_and_each_run_counts_from_0))
