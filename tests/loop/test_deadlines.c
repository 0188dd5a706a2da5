/* test_deadlines.c - troubles of docs/errors.md that need a clock to be exact: deadlines, as they are
   when nothing was set, to the millisecond. */
#include "agent/snapshot.h"
#include "loop/loop_in.h"
#include "support/rig.h"

static int fired;

static void on_timer(phi__timer *timer) {
    (void)timer;
    fired++;
}

/* Lets `before` ms pass, in which nothing may happen, and then two more. */
static void late_after(const phi_agent_desc *desc, const char *body, uint32_t before,
                       const char *want) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, desc);
    rig_hangs(r, body);
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Are you there?"), PHI_OK);
    (void)rig_step(r);
    (void)rig_step(r);
    rig_forget(r);
    rig_pass_stepping_ms(r, before);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_STR(rig_story(r), "");
    rig_pass_ms(r, 1);
    (void)rig_step(r); /* passed: one more look, a millisecond later */
    rig_pass_ms(r, 1);
    (void)rig_step(r);
    CHECK_EQ_INT(rig_step(r), 0);
    if (!CHECK(strstr(rig_story(r), want) != NULL)) printf("%s", rig_story(r));
    CHECK(strstr(rig_story(r), "AgentEnd a deadline passed, 2 messages\n") != NULL);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "And now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    CHECK(strstr(rig_request(r, 1), "Are you there?") != NULL);
    rig_free(r);
}

#define STARTED                                                                                    \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"      \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"                                     \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"   \
    "{\"type\":\"text_delta\",\"text\":\"Yes\"}}\n\n"

TEST(a_server_may_take_five_minutes_to_begin) {
    late_after(NULL, "", 299999, "Error timeout \"no answer within 300000 ms\"");
}

TEST(an_answer_may_be_silent_for_two_minutes) {
    late_after(NULL, STARTED, 119999, "the answer was silent for 120000 ms\" 200\n");
}

TEST(a_deadline_that_was_set_counts_instead) {
    phi_agent_desc desc = rig_desc();
    desc.deadlines.first_event_ms = 5;
    late_after(&desc, "", 4, "Error timeout \"no answer within 5 ms\"");
    desc = rig_desc();
    desc.deadlines.idle_ms = 7;
    late_after(&desc, STARTED, 6, "the answer was silent for 7 ms\" 200\n");
    desc = rig_desc();
    desc.deadlines.total_ms = 1000;
    late_after(&desc, STARTED, 999, "the answer was not whole after 1000 ms\" 200\n");
}

TEST(without_a_deadline_an_answer_may_be_silent_for_hours) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.deadlines.idle_ms = PHI_UNLIMITED;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    rig_hangs(r, STARTED);
    CHECK_EQ_INT(phi_prompt(agent, "Are you there?"), PHI_OK);
    (void)rig_step(r);
    rig_pass_stepping_ms(r, 7200000);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK(strstr(rig_story(r), "Error") == NULL);
    rig_free(r);
}

/* ---- a gap between two steps ---- */

enum { MINUTES_MS = 120000 }; /* a breakpoint, a minimised window */

/* A call of the tool "wait" is under way. */
static rig *with_call(uint32_t timeout_ms, phi_agent *agent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    tool.timeout_ms = timeout_ms;
    desc.tools = &tool;
    desc.tool_count = 1;
    *agent = rig_agent(r, &desc);
    rig_call(r, "a", "wait", "{}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(*agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), 1);
    return r;
}

TEST(a_breakpoint_of_two_minutes_does_not_end_a_call) {
    phi_agent agent;
    rig *r = with_call(0, &agent);
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(rig_cancelled(r), 0);
    rig_finish(r, 0, "here it is");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "here it is") != NULL);
    rig_free(r);
}

TEST(a_gap_between_two_steps_counts_as_one_second_of_a_deadline) {
    phi_agent agent;
    phi_pending_item item;
    rig *r = with_call(5000, &agent);
    int i;
    CHECK_EQ_INT(rig_step(r), 1);
    for (i = 0; i < 3; i++) {
        rig_pass_ms(r, MINUTES_MS);
        CHECK_EQ_INT(rig_step(r), 1);
    }
    CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1);
    CHECK(item.left_ms > 1900 && item.left_ms < 2000); /* the steps before took some, too */
    rig_pass_stepping_ms(r, (uint32_t)item.left_ms - 1);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(rig_cancelled(r), 0);
    rig_pass_ms(r, 1);
    (void)rig_step(r);
    CHECK_EQ_INT(rig_cancelled(r), 1);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "Tool exceeded timeout of 5000ms") != NULL);
    rig_free(r);
}

TEST(a_host_that_sleeps_as_the_next_timeout_says_loses_nothing_of_a_deadline) {
    phi_agent agent;
    rig *r = with_call(60000, &agent);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 1000);
    CHECK_EQ_INT(rig_run_until(r, 59900), 1);
    CHECK_EQ_INT(rig_cancelled(r), 0);
    CHECK_EQ_INT(rig_run_until(r, 200), 0);
    CHECK_EQ_INT(rig_cancelled(r), 1);
    rig_free(r);
}

TEST(a_breakpoint_does_not_decide_for_a_person) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.deadlines.decision_ms = 60000;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    rig_says(r, "hello");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(a_breakpoint_does_not_end_a_request) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.deadlines.total_ms = 60000;
    agent = rig_agent(r, &desc);
    rig_chunk(r, 20);
    rig_says(r, "This takes many steps.");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(rig_run(r, 500), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(hours_of_a_pause_end_no_stream_and_its_silence_counts_on) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.deadlines.idle_ms = 60000;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    rig_hangs(r, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    rig_pass_ms(r, 30 * MINUTES_MS);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    rig_pass_stepping_ms(r, 58900); /* a second of the pause counts */
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(rig_run_until(r, 1000), 0);
    CHECK(strstr(rig_story(r), "timeout") != NULL);
    rig_free(r);
}

TEST(a_breakpoint_does_not_use_up_the_duration_of_a_run) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits.max_duration_ms = 60000;
    rig_call(r, "a", "wait", "{}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_pass_ms(r, MINUTES_MS);
    rig_finish(r, 0, "here it is");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 2);
    rig_free(r);
}

/* A server that asks for 50 seconds each time, and a run of 60. */
static rig *with_retry(void) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    int i;
    desc.retry.disable = false;
    desc.limits.max_duration_ms = 60000;
    for (i = 0; i < 3; i++) rig_replies(r, 429, "retry-after: 50\r\n", "{}");
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(rig_requests(r), 1);
    return r;
}

TEST(a_retry_that_waits_uses_up_the_duration_of_a_run_where_the_host_sleeps_as_told) {
    rig *r = with_retry();
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 1000);
    CHECK_EQ_INT(rig_run_until(r, 200000), 0);
    CHECK_EQ_INT(rig_requests(r), 2);
    rig_free(r);
}

/* The server counts the plain clock. */
TEST(a_retry_is_made_at_once_after_a_pause_that_was_longer) {
    rig *r = with_retry();
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(rig_run(r, 2), 1);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK_EQ_INT(rig_run(r, 3), 1); /* 50 seconds more are left of 60 */
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(rig_requests(r), 3);
    rig_free(r);
}

TEST(what_is_left_of_a_deadline_does_not_shrink_in_a_gap) {
    phi_agent agent;
    phi_pending_item item;
    rig *r = with_call(5000, &agent);
    CHECK_EQ_INT(rig_step(r), 1);
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1);
    CHECK(item.left_ms > 3900 && item.left_ms <= 4000);
    rig_free(r);
}

TEST(a_host_that_steps_every_two_seconds_waits_twice_as_long) {
    phi_agent agent;
    rig *r = with_call(10000, &agent);
    int i;
    CHECK_EQ_INT(rig_step(r), 1);
    for (i = 0; i < 9; i++) {
        rig_pass_ms(r, 2000);
        CHECK_EQ_INT(rig_step(r), 1);
    }
    CHECK_EQ_INT(rig_cancelled(r), 0);
    rig_pass_ms(r, 2000);
    (void)rig_step(r);
    CHECK_EQ_INT(rig_cancelled(r), 1);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

/* The rig's clock stands still: without the cut this would sleep for hours. */
TEST(a_step_sleeps_at_most_a_second_while_a_deadline_counts) {
    phi_agent agent;
    rig *r = with_call(100 * MINUTES_MS, &agent);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_step(rig_runtime(r), -1), 1);
    CHECK_EQ_INT(phi_step(rig_runtime(r), -1), 1);
    rig_free(r);
}

TEST(without_a_run_a_host_may_sleep_as_long_as_it_wants) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.deadlines.decision_ms = PHI_UNLIMITED;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 1000);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    rig_free(r);
}

static uint64_t elapsed_us(phi_agent agent, phi_arena *arena, phi_str *text) {
    static const char name[] = "\"elapsed_us\":";
    const char *at;
    CHECK_EQ_INT(phi_agent_snapshot(agent, arena, text), PHI_OK);
    at = strstr(text->at, name);
    return CHECK(at != NULL) ? strtoull(at + strlen(name), NULL, 10) : UINT64_MAX;
}

TEST(a_snapshot_in_a_pause_has_the_duration_that_counted_also_where_the_clock_begins_again) {
    phi_agent agent;
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    rig *r = with_call(PHI_UNLIMITED, &agent), *other = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(other);
    phi_allocator allocator = test_allocator();
    uint64_t before;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_pass_stepping_ms(r, 1200000); /* more than the other rig's clock shows */
    CHECK_EQ_INT(rig_step(r), 1);
    before = elapsed_us(agent, &arena, &text);
    CHECK(before >= 1200000000 && before < 1200100000);
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(elapsed_us(agent, &arena, &text), before + 1000000);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(elapsed_us(agent, &arena, &text), before + 1000000);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(CHECK(agent.rt != NULL));
    CHECK_EQ_INT(elapsed_us(agent, &arena, &text), before + 1000000);
    phi_arena_free(&arena);
    rig_free(other);
    rig_free(r);
}

/* What a host sets before it steps again begins then, and not when the gap began. */
TEST(a_deadline_that_is_set_in_a_gap_does_not_grow_by_it) {
    phi_agent agent;
    rig *r = with_call(PHI_UNLIMITED, &agent);
    phi__timer timer;
    phi__io *io = rig_runtime(r)->io;
    memset(&timer, 0, sizeof timer);
    CHECK_EQ_INT(rig_step(r), 1);
    timer.fire = on_timer;
    fired = 0;
    rig_pass_ms(r, MINUTES_MS);
    CHECK_EQ_INT(phi__io_deadline_set(io, &timer, 500000), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(fired, 0);
    rig_pass_ms(r, 499);
    (void)rig_step(r);
    CHECK_EQ_INT(fired, 0);
    rig_pass_ms(r, 1);
    (void)rig_step(r);
    CHECK_EQ_INT(fired, 1);
    CHECK_EQ_INT(phi__io_deadlines(io), false);
    rig_free(r);
}

TEST(a_run_that_waits_for_a_call_without_a_deadline_uses_up_its_duration) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    int i;
    tool.timeout_ms = PHI_UNLIMITED;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits.max_duration_ms = 10000;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 20);
    for (i = 0; i < 11; i++) { /* the host sleeps as it is told */
        int ms = phi_next_timeout(rig_runtime(r));
        CHECK(ms > 0 && ms <= 1000);
        rig_pass_ms(r, (uint32_t)ms);
        (void)rig_step(r);
    }
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r), "AgentEnd a limit of the run was reached") != NULL);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(a_run_that_waits_for_a_call_without_a_deadline_uses_up_its_duration),
    TEST_ENTRY(a_server_may_take_five_minutes_to_begin),
    TEST_ENTRY(an_answer_may_be_silent_for_two_minutes),
    TEST_ENTRY(a_deadline_that_was_set_counts_instead),
    TEST_ENTRY(without_a_deadline_an_answer_may_be_silent_for_hours),
    TEST_ENTRY(a_breakpoint_of_two_minutes_does_not_end_a_call),
    TEST_ENTRY(a_gap_between_two_steps_counts_as_one_second_of_a_deadline),
    TEST_ENTRY(a_host_that_sleeps_as_the_next_timeout_says_loses_nothing_of_a_deadline),
    TEST_ENTRY(a_breakpoint_does_not_decide_for_a_person),
    TEST_ENTRY(a_breakpoint_does_not_end_a_request),
    TEST_ENTRY(hours_of_a_pause_end_no_stream_and_its_silence_counts_on),
    TEST_ENTRY(a_breakpoint_does_not_use_up_the_duration_of_a_run),
    TEST_ENTRY(a_retry_that_waits_uses_up_the_duration_of_a_run_where_the_host_sleeps_as_told),
    TEST_ENTRY(a_retry_is_made_at_once_after_a_pause_that_was_longer),
    TEST_ENTRY(what_is_left_of_a_deadline_does_not_shrink_in_a_gap),
    TEST_ENTRY(a_host_that_steps_every_two_seconds_waits_twice_as_long),
    TEST_ENTRY(a_step_sleeps_at_most_a_second_while_a_deadline_counts),
    TEST_ENTRY(without_a_run_a_host_may_sleep_as_long_as_it_wants),
    TEST_ENTRY(
        a_snapshot_in_a_pause_has_the_duration_that_counted_also_where_the_clock_begins_again),
    TEST_ENTRY(a_deadline_that_is_set_in_a_gap_does_not_grow_by_it))
