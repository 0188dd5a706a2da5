/* test_overflow.c - what is too long for a model is made shorter, and tried again. */
#include "loop/tries.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"

/* ---- what is too long ---- */
static void a_history(rig *r, phi_agent agent, int answers) {
    char text[64];
    int i;
    for (i = 0; i < answers; i++) {
        (void)snprintf(text, sizeof text, "Answer %d, of some length, so that it counts.", i);
        rig_says(r, text);
    }
    for (i = 0; i < answers; i++) {
        (void)snprintf(text, sizeof text, "Question %d, of some length, so that it counts.", i);
        CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
    }
    rig_forget(r);
}

/* Without summaries, a plain cut is all there is. */
TEST(what_is_too_long_is_compacted_and_tried_again) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    desc.compaction.disable = true;
    agent = rig_agent(r, &desc);
    a_history(r, agent, 4);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "The last question"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"The last question\"\n"
                               "MessageEnd user \"The last question\"\n"
                               "CompactionStarted 133 tokens, 9 messages\n"
                               "CompactionEnded 9 -> 4 messages, 133 -> 60 tokens, 0 loops\n"
                               "MessageStart assistant\n"
                               "TextDelta \"It fits.\" of \"It fits.\"\n"
                               "MessageEnd assistant \"It fits.\" stop\n"
                               "TurnEnd assistant \"It fits.\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    REQUIRE(rig_requests(r) == 6);
    CHECK(strlen(rig_request(r, 5)) < strlen(rig_request(r, 4)));
    CHECK(strstr(rig_request(r, 5), "Question 0") != NULL);
    CHECK(strstr(rig_request(r, 5), "Answer 0") == NULL);
    CHECK(strstr(rig_request(r, 5), "messages removed to fit context window]") != NULL);
    CHECK(strstr(rig_request(r, 5), "Answer 3") != NULL);
    CHECK(strstr(rig_request(r, 5), "The last question") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 10); /* the history is whole */
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text,
              "Answer 0, of some length, so that it counts.");
    rig_free(r);
}

TEST(what_is_too_long_again_and_again_is_compacted_until_nothing_can_be_taken_out) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    size_t i;
    a_history(r, agent, 8);
    for (i = 0; i < 20; i++) rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    CHECK_EQ_INT(h.failure.http_status, 400);
    CHECK_EQ_INT(h.status, PHI_REFUSED);
    CHECK_EQ_INT(h.retries, 0);
    CHECK(rig_requests(r) > 8 + 2 && rig_requests(r) < 8 + 10);
    for (i = 9; i < rig_requests(r); i++)
        CHECK(strlen(rig_request(r, i)) < strlen(rig_request(r, i - 1)));
    CHECK_EQ_INT((int)count_of(rig_story(r), "CompactionStarted"),
                 (int)count_of(rig_story(r), "CompactionEnded"));
    CHECK_EQ_INT((int)count_of(rig_story(r), "Error overflow"), 1);
    CHECK_EQ_INT((int)count_of(rig_story(r), "MessageStart assistant"), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 18);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 17)->error_message,
              "Context overflow: prompt is too long: 9 tokens > 8 maximum");
    rig_free(r);
}

TEST(a_single_prompt_that_is_too_long_is_an_overflow_and_sent_once) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    rig_replies(r, 413, HEARD_JSON, "{}");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    CHECK_EQ_INT(h.failure.http_status, 413);
    CHECK(!h.failure.retryable);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_forget(r); /* the agent goes on */
    CHECK_EQ_INT(phi_prompt(agent, "Shorter"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    rig_free(r);
}

/* One long answer may be all that is in the way: its marker is one message, too. */
TEST(a_single_long_answer_that_goes_is_progress) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    char *text = (char *)malloc(8001);
    desc.compaction.disable = true;
    agent = rig_agent(r, &desc);
    memset(text, 'x', 8000);
    text[8000] = '\0';
    rig_says(r, text);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "Write a lot"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Good. What now?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK(strstr(rig_story(r), "MessageEnd assistant \"It fits.\" stop\n") != NULL);
    CHECK_EQ_INT((int)count_of(rig_story(r), "CompactionStarted"), 1);
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK(strstr(rig_request(r, 2), "xxxxxxxx") == NULL);
    free(text);
    rig_free(r);
}

/* The last group stays, so a result that is too long by itself ends the run; the next prompt makes it an
   older one, which may go. */
TEST(a_result_that_is_too_long_ends_the_run_and_the_next_prompt_gets_rid_of_it) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_tool tool = rig_echo();
    phi_agent agent;
    tries h;
    char arguments[2100];
    (void)snprintf(arguments, sizeof arguments, "{\"x\":\"%02000d\"}", 7);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "toolu_1", "echo", arguments);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    REQUIRE(rig_requests(r) == 4);
    CHECK(strstr(rig_request(r, 2), "00007") != NULL);
    CHECK(strstr(rig_request(r, 3), "00007") == NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 5)->content[0].text, "It fits.");
    rig_free(r);
}

TEST(an_overflow_in_mid_stream_is_retracted_before_it_is_compacted) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    a_history(r, agent, 4);
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n",
                HALF "event: error\ndata: " TOO_LONG "\n\n");
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK(strstr(rig_story(r), "TextDelta \"Half\" of \"Half\"\n"
                               "Retract assistant \"Half\" error error \"prompt is too long: 9 "
                               "tokens > 8 maximum\"\n"
                               "CompactionStarted ") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).run_usage.input, 20);
    rig_free(r);
}

/* A server that is told to be asked again with the very same prompt would be asked in vain. */
TEST(an_overflow_is_not_repeated_unchanged_whatever_the_server_says) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    rig_replies(r, 413, HEARD_JSON "x-should-retry: true\r\nRetry-After: 1\r\n", "{}");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    rig_free(r);
}

TEST(a_host_that_denies_the_compaction_has_the_overflow_at_once) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_ON_ERROR);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_DENY, NULL);
    agent = rig_agent(r, &desc);
    a_history(r, agent, 2);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK_EQ_STR(rig_story(r),
                 "AgentStart\n"
                 "TurnStart 0\n"
                 "MessageStart user \"Hi\"\n"
                 "MessageEnd user \"Hi\"\n"
                 "-> before_compaction 67 tokens, 5 messages\n"
                 "MessageStart assistant\n"
                 "MessageEnd assistant \"\" error error \"Context overflow: prompt is too long: 9 "
                 "tokens > 8 maximum\"\n"
                 "Error overflow \"prompt is too long: 9 tokens > 8 maximum\" 400\n"
                 "-> on_error \"Context overflow: prompt is too long: 9 tokens > 8 maximum\"\n"
                 "TurnEnd assistant \"\" error error \"Context overflow: prompt is too long: 9 "
                 "tokens > 8 maximum\"\n"
                 "AgentEnd the other side refused, 2 messages\n");
    rig_free(r);
}

TEST(after_a_compaction_a_failure_that_may_pass_is_tried_again) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    a_history(r, agent, 4);
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 5\r\n", SLOW_DOWN);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 6\r\n", SLOW_DOWN);
    rig_says(r, "It fits.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    CHECK_EQ_INT(h.retries, 2);
    REQUIRE(rig_requests(r) == 8);
    CHECK_EQ_STR(rig_request(r, 5), rig_request(r, 4));
    CHECK(strlen(rig_request(r, 6)) < strlen(rig_request(r, 5)));
    CHECK_EQ_STR(rig_request(r, 7), rig_request(r, 6));
    rig_free(r);
}

/* ---- and when memory ends ---- */

static void scenario(rig *r) {
    phi_agent_desc desc = trying();
    phi_agent agent;
    desc.retry.initial_delay_ms = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "First.");
    rig_says(r, "Second.");
    rig_breaks(r, HALF, PHI_NETWORK, "cut");
    rig_replies(r, 503, HEARD_JSON "Retry-After-Ms: 3\r\n", "{}");
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "Here.");
    if (agent.rt == NULL) return;
    if (phi_prompt(agent, "one, two, three, four, five, six") == PHI_OK) (void)rig_run(r, 50);
    if (phi_prompt(agent, "one, two, three, four, five, six") == PHI_OK) (void)rig_run(r, 50);
    rig_forget(r);
    if (phi_prompt(agent, "three") != PHI_OK) return;
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK_EQ_INT((int)count_of(rig_story(r), "AgentEnd"), 1);
}

TEST(retries_and_compactions_survive_every_failed_allocation) {
    int n = 0;
    bool tripped = true;
    while (tripped && n < 2000) {
        rig *r;
        test_alloc_fail_at(n);
        r = rig_new_with(NULL);
        if (r != NULL) {
            scenario(r);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            rig_free(r);
        }
        n++;
    }
    test_alloc_fail_at(-1);
    CHECK(n > 50 && n < 2000);
}

TEST_MAIN(TEST_ENTRY(what_is_too_long_is_compacted_and_tried_again),
          TEST_ENTRY(what_is_too_long_again_and_again_is_compacted_until_nothing_can_be_taken_out),
          TEST_ENTRY(a_single_prompt_that_is_too_long_is_an_overflow_and_sent_once),
          TEST_ENTRY(a_single_long_answer_that_goes_is_progress),
          TEST_ENTRY(a_result_that_is_too_long_ends_the_run_and_the_next_prompt_gets_rid_of_it),
          TEST_ENTRY(an_overflow_in_mid_stream_is_retracted_before_it_is_compacted),
          TEST_ENTRY(an_overflow_is_not_repeated_unchanged_whatever_the_server_says),
          TEST_ENTRY(a_host_that_denies_the_compaction_has_the_overflow_at_once),
          TEST_ENTRY(after_a_compaction_a_failure_that_may_pass_is_tried_again),
          TEST_ENTRY(retries_and_compactions_survive_every_failed_allocation))
