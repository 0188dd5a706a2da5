/* test_retry_seen.c - what the host sees of a call that is tried again, and how it ends the
   waiting. */
#include "loop/tries.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"

/* ---- C 40: what the host sees ---- */
TEST(a_retry_before_the_first_delta_shows_nothing_but_itself) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 1100\r\n", SLOW_DOWN);
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "Retry 1/4 after 1100 ms\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Here.\" of \"Here.\"\n"
                               "MessageEnd assistant \"Here.\" stop\n"
                               "TurnEnd assistant \"Here.\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(an_answer_that_broke_off_before_its_first_delta_was_not_seen) {
    static const char *const bodies[] = {BEGUN, BEGUN BLOCK,
                                         BEGUN "event: ping\ndata: {\"type\":\"ping\"}\n\n",
                                         BEGUN "event: error\ndata: " OVERLOADED "\n\n",
                                         BEGUN BLOCK "event: error\ndata: " OVERLOADED "\n\n"};
    size_t i;
    for (i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = trying();
        phi_agent agent = rig_agent(r, &desc);
        tries h;
        bool same;
        rig_breaks(r, bodies[i], PHI_NETWORK, "the cable was cut");
        rig_says(r, "Here.");
        run_heard(r, agent, &h);
        same = CHECK_EQ_INT(h.retries, 1);
        same = CHECK_EQ_INT((int)count_of(rig_story(r), "MessageStart assistant"), 1) && same;
        same = CHECK_EQ_INT((int)count_of(rig_story(r), "Retract"), 0) && same;
        CHECK_EQ_INT(h.usage.input, 20);
        if (!same) printf("%s%s", bodies[i], rig_story(r));
        rig_free(r);
    }
}

TEST(an_answer_that_was_seen_is_retracted_and_the_history_holds_one_answer) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    char story[1000];
    rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
    rig_replies(r, 503, HEARD_JSON "Retry-After: 3\r\n", "{}");
    rig_says(r, "Whole.");
    rig_says(r, "Yes.");
    run_heard(r, agent, &h);
    (void)snprintf(story, sizeof story,
                   "AgentStart\n"
                   "TurnStart 0\n"
                   "MessageStart user \"Hi\"\n"
                   "MessageEnd user \"Hi\"\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Half\" of \"Half\"\n"
                   "Retract assistant \"Half\"\n"
                   "Retry 1/4 after %u ms\n"
                   "Retry 2/4 after 3000 ms\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Whole.\" of \"Whole.\"\n"
                   "MessageEnd assistant \"Whole.\" stop\n"
                   "TurnEnd assistant \"Whole.\" stop\n"
                   "AgentEnd ok, 2 messages\n",
                   (unsigned)h.delays[0]);
    CHECK_EQ_STR(rig_story(r), story);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    run_heard(r, agent, &h);
    REQUIRE(rig_requests(r) == 4);
    CHECK(strstr(rig_request(r, 3), "Half") == NULL);
    CHECK(strstr(rig_request(r, 3), "Whole.") != NULL);
    rig_free(r);
}

TEST(an_answer_that_was_retracted_fails_for_good_as_its_last_attempt_left_it) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    char story[1000];
    desc.retry.max_retries = 1;
    agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
    rig_breaks(r, HALF, PHI_NETWORK, "again");
    run_heard(r, agent, &h);
    (void)snprintf(story, sizeof story,
                   "AgentStart\n"
                   "TurnStart 0\n"
                   "MessageStart user \"Hi\"\n"
                   "MessageEnd user \"Hi\"\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Half\" of \"Half\"\n"
                   "Retract assistant \"Half\"\n"
                   "Retry 1/2 after %u ms\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Half\" of \"Half\"\n"
                   "MessageEnd assistant \"Half\" error error \"Network error: again\"\n"
                   "Error network \"again\" 200\n"
                   "TurnEnd assistant \"Half\" error error \"Network error: again\"\n"
                   "AgentEnd the network failed, 2 messages\n",
                   (unsigned)h.delays[0]);
    CHECK_EQ_STR(rig_story(r), story);
    rig_free(r);
}

TEST(the_line_for_a_log_says_which_attempt_how_long_and_why) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 1100\r\n", SLOW_DOWN);
    rig_replies(r, 503, HEARD_JSON "Retry-After-Ms: 49\r\n", "{\"error\":{\"message\":\"busy\"}}");
    rig_breaks(r, "", PHI_NETWORK, "the cable was cut");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    REQUIRE(h.retries == 3);
    CHECK_EQ_STR(h.lines[0], "Provider error (attempt 1/4), retrying in 1.1s: Rate limited, retry "
                             "after 1100ms: slow down");
    CHECK_EQ_STR(h.lines[1], "Provider error (attempt 2/4), retrying in 0.0s: API error: busy");
    CHECK(strncmp(h.lines[2], "Provider error (attempt 3/4), retrying in ", 42) == 0);
    CHECK_EQ_STR(strstr(h.lines[2], "s: "), "s: Network error: the cable was cut");
    rig_free(r);
}

TEST(every_attempt_sends_the_same_bytes) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_tool tool = rig_echo();
    phi_agent agent;
    tries h;
    size_t i;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.system_prompt = "You are a test.";
    agent = rig_agent(r, &desc);
    rig_says(r, "First.");
    rig_replies(r, 500, HEARD_JSON, "{}");
    rig_breaks(r, HALF, PHI_NETWORK, "cut");
    rig_replies(r, 429, HEARD_JSON, SLOW_DOWN);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    REQUIRE(rig_requests(r) == 5);
    for (i = 2; i < 5; i++) CHECK_EQ_STR(rig_request(r, i), rig_request(r, 1));
    CHECK(strstr(rig_request(r, 1), "First.") != NULL);
    rig_free(r);
}

TEST(what_a_retracted_attempt_has_used_is_counted) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    phi_usage usage;
    tries h;
    desc.model.cost.input = 1e6; /* a dollar a token */
    desc.model.cost.output = 2e6;
    agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "cut"); /* 10 and 1 */
    rig_says(r, "Whole.");                   /* 10 and 5 */
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.usage.input, 20);
    CHECK_EQ_INT(h.usage.output, 6);
    CHECK_EQ_INT(h.usage.total_tokens, 26);
    usage = phi_agent_get_info(agent).usage;
    CHECK_EQ_INT(usage.input, 20);
    usage = phi_agent_get_info(agent).run_usage;
    CHECK_EQ_INT(usage.output, 6);
    CHECK(phi_agent_get_info(agent).cost == 32.0);
    CHECK(phi_agent_get_info(agent).run_cost == 32.0);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->usage.input, 10);
    rig_free(r);
}

/* ---- C 40: ending it ---- */

static void in_delay(rig *r, phi_agent agent) {
    rig_replies(r, 429, HEARD_JSON "Retry-After: 50\r\n", SLOW_DOWN);
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK(strstr(rig_story(r), "Retry 1/4 after 50000 ms\n") != NULL);
    rig_forget(r);
}

TEST(an_abort_during_the_delay_ends_the_run_at_once) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    in_delay(r, agent);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_STR(rig_story(r), "TurnEnd -\n"
                               "AgentEnd cancelled, 1 messages\n");
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    rig_forget(r);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 1000), 0);
    CHECK(strstr(rig_story(r), "MessageEnd assistant \"Here.\" stop\n") != NULL);
    CHECK_EQ_STR(rig_request(r, 1), rig_request(r, 0));
    rig_free(r);
}

TEST(an_abort_after_a_retraction_leaves_no_half_answer) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "cut");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
    CHECK_EQ_INT((int)count_of(rig_story(r), "Retract"), 1);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.input, 10);
    rig_free(r);
}

TEST(the_delay_is_listed_as_what_the_run_waits_for) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    phi_pending_item item;
    in_delay(r, agent);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    CHECK_EQ_INT(item.kind, PHI_WAITING_RETRY);
    CHECK_EQ_INT(item.agent.index, agent.index);
    CHECK(item.has_deadline && item.left_ms > 49000 && item.left_ms <= 50000);
    rig_pass_ms(r, 50000);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 0);
    rig_free(r);
}

TEST(an_agent_or_a_runtime_may_be_freed_during_the_delay) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    in_delay(r, agent);
    phi_agent_free(agent);
    rig_pass_ms(r, 60000);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_STR(rig_story(r), "");
    CHECK_EQ_INT(rig_requests(r), 1);
    agent = rig_agent(r, &desc);
    rig_replies(r, 503, HEARD_JSON, "{}");
    rig_replies(r, 503, HEARD_JSON, "{}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 3);
    rig_free(r);
}

/* ---- what is too long ---- */

TEST(the_hook_for_errors_hears_of_the_last_attempt_only) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    int i;
    rig_hooks(r, &desc, PHI_HOOK_ON_ERROR);
    agent = rig_agent(r, &desc);
    rig_replies(r, 503, HEARD_JSON, "{}");
    rig_says(r, "Here.");
    for (i = 0; i < 4; i++) rig_replies(r, 503, HEARD_JSON, "{}");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.retries, 1);
    CHECK_EQ_INT((int)count_of(rig_story(r), "-> on_error"), 0);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.retries, 3);
    CHECK_EQ_INT((int)count_of(rig_story(r), "-> on_error"), 1);
    rig_free(r);
}

/* ---- C 41: the words that stand in the history ---- */

static void worded(int status, const char *headers, const char *body, const char *want) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, status, headers, body);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 2);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_ERROR);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->error_message, want);
    rig_free(r);
}

TEST(the_history_says_what_kind_of_error_it_was) {
    worded(400, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "API error: x");
    worded(500, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "API error: x");
    worded(402, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "API error: x");
    worded(401, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "Auth error: x");
    worded(403, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "Auth error: x");
    worded(413, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "Context overflow: x");
    worded(400, HEARD_JSON, TOO_LONG, "Context overflow: prompt is too long: 9 tokens > 8 maximum");
    worded(429, HEARD_JSON, SLOW_DOWN, "Rate limited: slow down");
    worded(429, HEARD_JSON "Retry-After: 5\r\n", SLOW_DOWN,
           "Rate limited, retry after 5000ms: slow down");
    worded(200, "Content-Type: text/event-stream\r\n", "",
           "Network error: the server ended the stream without an answer");
}

TEST(an_answer_that_was_cancelled_says_so_in_the_history) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_hangs(r, HALF);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 2);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_ABORTED);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->error_message, "Cancelled");
    rig_free(r);
}

/* ---- ending it while it waits ---- */

/* Hypothesis: a delay before a retry is slept out, or leaves its timer or its list entry. */
TEST(a_delay_before_a_retry_ends_with_the_run) {
    int how;
    for (how = 0; how < 4; how++) {
        rig *r = rig_new();
        phi_agent_desc desc = patient();
        phi_agent agent;
        phi_pending_item item;
        desc.retry.initial_delay_ms = 20000;
        rig_replies(r, 529, HEARD_JSON, HEARD_BOOM);
        rig_says(r, "after it");
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 1);
        CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1);
        CHECK_EQ_INT(item.kind, PHI_WAITING_RETRY);
        CHECK(item.has_deadline && item.left_ms > 10000);
        if (how == 0) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == 1) CHECK_EQ_INT(phi_stop(agent), PHI_OK);
        if (how == 2) phi_agent_free(agent);
        if (how == 3) CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_BUSY);
        CHECK_EQ_INT(rig_run(r, 2), 0);
        CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 0);
        CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
        CHECK_EQ_INT(count_of(rig_story(r), "TurnEnd -\nAgentEnd cancelled, 1 messages\n"),
                     how == 2 ? 0 : 1);
        CHECK_EQ_INT(rig_requests(r), 1);
        rig_free(r);
    }
}

TEST_MAIN(TEST_ENTRY(a_retry_before_the_first_delta_shows_nothing_but_itself),
          TEST_ENTRY(an_answer_that_broke_off_before_its_first_delta_was_not_seen),
          TEST_ENTRY(an_answer_that_was_seen_is_retracted_and_the_history_holds_one_answer),
          TEST_ENTRY(an_answer_that_was_retracted_fails_for_good_as_its_last_attempt_left_it),
          TEST_ENTRY(the_line_for_a_log_says_which_attempt_how_long_and_why),
          TEST_ENTRY(every_attempt_sends_the_same_bytes),
          TEST_ENTRY(what_a_retracted_attempt_has_used_is_counted),
          TEST_ENTRY(an_abort_during_the_delay_ends_the_run_at_once),
          TEST_ENTRY(an_abort_after_a_retraction_leaves_no_half_answer),
          TEST_ENTRY(the_delay_is_listed_as_what_the_run_waits_for),
          TEST_ENTRY(an_agent_or_a_runtime_may_be_freed_during_the_delay),
          TEST_ENTRY(the_hook_for_errors_hears_of_the_last_attempt_only),
          TEST_ENTRY(the_history_says_what_kind_of_error_it_was),
          TEST_ENTRY(an_answer_that_was_cancelled_says_so_in_the_history),
          TEST_ENTRY(a_delay_before_a_retry_ends_with_the_run))
