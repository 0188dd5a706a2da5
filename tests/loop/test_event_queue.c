/* test_event_queue.c - events that a host pops late, in part or never: what they hold, what they
   keep, and what waits. */
#include "loop/tries.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/loop_in.h"

TEST(events_nobody_pops_stop_the_reading_and_nothing_is_lost) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char *body = (char *)calloc(1, 600000);
    size_t at, i;
    phi_event event;
    size_t deltas = 0;
    size_t waiting;
    REQUIRE(body != NULL);
    desc.memory.event_queue_bytes = 20000;
    agent = rig_agent(r, &desc);
    at = (size_t)sprintf(body, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"
                               "data: {\"type\":\"content_block_start\",\"index\":0,"
                               "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
    for (i = 0; i < 4000; i++)
        at += (size_t)sprintf(body + at, "data: {\"type\":\"content_block_delta\",\"index\":0,"
                                         "\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n");
    (void)sprintf(body + at, "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                             "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                             "\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n"
                             "data: {\"type\":\"message_stop\"}\n\n");
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n", body);
    rig_chunk(r, 4096);
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2000), 1);
    waiting = phi_memory_used(rig_runtime(r), NULL);
    CHECK_EQ_INT(rig_run(r, 2000), 1);
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), waiting);
    CHECK(waiting < 400000);
    for (i = 0; i < 100000 && phi_step(rig_runtime(r), 0) > 0; i++, rig_pass_ms(r, 1))
        while (phi_next_event(rig_runtime(r), &event)) deltas += event.kind == PHI_EV_TEXT;
    while (phi_next_event(rig_runtime(r), &event)) deltas += event.kind == PHI_EV_TEXT;
    CHECK_EQ_INT(deltas, 4000);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text.len, 4000);
    free(body);
    rig_free(r);
}

TEST(the_partial_text_of_events_popped_late_is_still_right) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_event event;
    size_t i = 0;
    static const char *const parts[] = {"one", "onetwo", "onetwothree"};
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n",
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"
                "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
                "\"text\",\"text\":\"\"}}\n\n"
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\"one\"}}\n\n"
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\"two\"}}\n\n"
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\"three\"}}\n\n"
                "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                "\"usage\":{\"output_tokens\":5}}\n\n"
                "data: {\"type\":\"message_stop\"}\n\n");
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    while (phi_next_event(rig_runtime(r), &event)) {
        if (event.kind != PHI_EV_TEXT) continue;
        REQUIRE(i < 3);
        CHECK_STR(event.partial, parts[i]);
        CHECK_STR(event.text, parts[i] + (i > 0 ? strlen(parts[i - 1]) : 0));
        CHECK_STR(event.message->content[0].text, "onetwothree");
        i++;
    }
    CHECK_EQ_INT(i, 3);
    rig_free(r);
}

/* A call that is pending, of an agent whose events nobody pops. */
static phi_call silent_call(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_tool wait = rig_wait(r);
    phi_agent agent;
    desc.tools = &wait;
    desc.tool_count = 1;
    desc.memory.event_queue_bytes = SIZE_MAX;
    agent = rig_agent(r, &desc);
    rig_silent(r, true);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 10);
    return rig_call_at(r, 0);
}

static void say_much(phi_call call, size_t times) {
    char text[101] = "";
    memset(text, 'x', sizeof text - 1);
    while (times-- > 0) CHECK_EQ_INT(phi_call_progress(call, text), PHI_OK);
}

static size_t pop_all(rig *r) {
    phi_event event;
    size_t n = 0;
    while (phi_next_event(rig_runtime(r), &event)) n++;
    return n;
}

TEST(what_a_host_left_for_long_is_freed_a_part_in_each_step) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t empty, full, before, after, steps = 0;
    (void)pop_all(r);
    (void)rig_step(r);
    empty = phi_memory_used(rig_runtime(r), NULL);
    say_much(call, 20000);
    (void)rig_step(r); /* in which nothing was popped */
    full = phi_memory_used(rig_runtime(r), NULL);
    CHECK_EQ_INT(pop_all(r), 20000);
    for (before = full; before > empty + 16384 && steps < 100; before = after, steps++) {
        (void)rig_step(r);
        after = phi_memory_used(rig_runtime(r), NULL);
        CHECK(before - after < full / 16);
        CHECK((phi_next_timeout(rig_runtime(r)) == 0) == (steps < 19)); /* who sleeps comes again */
    }
    CHECK_EQ_INT(steps, 20); /* 1,024 in each */
    rig_free(r);
}

TEST(a_host_that_pops_as_much_as_comes_holds_no_more_than_that) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t used = 0, i;
    for (i = 0; i < 8; i++) {
        say_much(call, 5000);
        CHECK(pop_all(r) >= 5000);
        (void)rig_step(r);
        if (i == 1) used = phi_memory_used(rig_runtime(r), NULL);
    }
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), used);
    rig_free(r);
}

TEST(what_is_to_be_freed_makes_room_for_what_comes) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t used;
    say_much(call, 10000);
    (void)rig_step(r);
    CHECK(pop_all(r) >= 10000);
    (void)rig_step(r);
    used = phi_memory_used(rig_runtime(r), NULL);
    say_much(call, 5000);
    CHECK(phi_memory_used(rig_runtime(r), NULL) <= used + 16384);
    rig_free(r);
}

TEST(who_sleeps_in_a_step_frees_all_at_once) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t empty;
    (void)pop_all(r);
    (void)rig_step(r);
    empty = phi_memory_used(rig_runtime(r), NULL);
    say_much(call, 10000);
    (void)pop_all(r);
    CHECK_EQ_INT(phi_step(rig_runtime(r), 1), 1);
    CHECK(phi_memory_used(rig_runtime(r), NULL) <= empty + 16384);
    rig_free(r);
}

/* ---- events that nobody pops ---- */

/* Hypothesis: a retracted answer is gone, or a lie, when its events are popped later; or they keep memory
   of an agent that is freed. */
TEST(a_retracted_answers_events_are_whole_whenever_they_are_popped) {
    int how;
    for (how = 0; how < 4; how++) {
        rig *r = rig_new();
        phi_agent_desc desc = patient();
        phi_agent agent = rig_agent(r, &desc);
        rig_breaks(r, half_stream("first"), PHI_NETWORK, "cut");
        rig_breaks(r, half_stream("second"), PHI_NETWORK, "cut");
        rig_says(r, "third");
        rig_silent(r, true);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run_until(r, how == 3 ? 120 : 60000), how == 3);
        rig_silent(r, false);
        if (how == 1) phi_agent_free(agent);
        if (how == 2) CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
        if (how == 3) phi_agent_free(agent); /* between two attempts */
        CHECK_EQ_INT(rig_run(r, 2), 0);
        if (how > 0) {
            CHECK_EQ_STR(rig_story(r), "");
        } else {
            CHECK(strstr(rig_story(r), "Retract assistant \"first\"") != NULL);
            CHECK(strstr(rig_story(r), "Retract assistant \"second\"") != NULL);
            CHECK(strstr(rig_story(r), "TextDelta \"first\" of \"first\"") != NULL);
            CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd assistant"), 1);
        }
        rig_free(r);
    }
}

/* Hypothesis: an attempt that fails while the event queue is full waits for ever, or loses its RETRY. */
TEST(a_retry_goes_on_behind_a_full_event_queue) {
    rig *r = rig_new();
    phi_agent_desc desc = patient();
    phi_agent agent;
    desc.memory.event_queue_bytes = 1;
    rig_breaks(r, half_stream("first"), PHI_NETWORK, "cut");
    rig_says(r, "second");
    agent = rig_agent(r, &desc);
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 2000), 1); /* nothing is read while nobody listens */
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run_until(r, 20000), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Retry 1/4"), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd assistant \"second\""), 1);
    rig_free(r);
}

/* Hypothesis: events of several runs that were left in the queue show the last run's messages. */
TEST(events_of_many_runs_may_be_popped_at_the_end) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    char line[64];
    int i;
    rig_silent(r, true);
    for (i = 0; i < 40; i++) {
        (void)snprintf(line, sizeof line, "answer %d.", i);
        rig_says(r, line);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
    }
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run(r, 1), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), 40);
    for (i = 0; i < 40; i++) {
        (void)snprintf(line, sizeof line, "TextDelta \"answer %d.\" of \"answer %d.\"", i, i);
        CHECK_EQ_INT(count_of(rig_story(r), line), 1);
        (void)snprintf(line, sizeof line, "TurnEnd assistant \"answer %d.\"", i);
        CHECK_EQ_INT(count_of(rig_story(r), line), 1);
    }
    rig_free(r);
}

/* Pops what there is, and counts the events of either agent. */
static void pop_each(rig *r, phi_agent one, size_t counts[2]) {
    phi_event event;
    while (phi_next_event(rig_runtime(r), &event)) counts[event.agent.index == one.index ? 0 : 1]++;
}

TEST(a_slow_clients_agent_is_held_and_others_go_on) {
    rig *r = rig_new();
    phi_agent slow = rig_agent(r, NULL), other = rig_agent(r, NULL);
    phi_runtime *rt = rig_runtime(r);
    size_t counts[2] = {0, 0};
    phi_event event;
    uint64_t seq = 0;
    rig_silent(r, true);
    rig_says(r, "first.");
    CHECK_EQ_INT(phi_prompt(slow, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 1), 1);
    CHECK_EQ_INT(phi_agent_hold(slow, true), PHI_OK); /* events that wait already, too */
    CHECK_EQ_INT(phi_agent_hold(slow, true), PHI_OK);
    CHECK(!phi_next_event(rt, &event));
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(!phi_next_event(rt, &event));
    rig_says(r, "second.");
    CHECK_EQ_INT(phi_prompt(other, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    pop_each(r, slow, counts);
    CHECK_EQ_INT(counts[0], 0);
    CHECK(counts[1] > 5);
    CHECK_EQ_INT(phi_agent_hold(slow, false), PHI_OK);
    CHECK(phi_next_event(rt, &event));
    CHECK_EQ_INT(event.kind, PHI_EV_AGENT_START);
    for (counts[0] = 1; phi_next_event(rt, &event); counts[0]++) {
        CHECK_EQ_INT(event.agent.index, slow.index);
        CHECK(event.seq > seq);
        seq = event.seq;
    }
    CHECK_EQ_INT(event.kind, PHI_EV_AGENT_END);
    CHECK_EQ_INT(counts[0], counts[1]);
    rig_free(r);
}

/* Hypothesis: held events do not count against the queue, so that a slow client costs memory without end. */
TEST(a_held_agents_stream_stops_at_its_queue_and_goes_on_when_it_is_let_out) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent slow;
    size_t counts[2] = {0, 0};
    desc.memory.event_queue_bytes = 1;
    rig_says(r, "a long answer.");
    slow = rig_agent(r, &desc);
    rig_silent(r, true);
    CHECK_EQ_INT(phi_agent_hold(slow, true), PHI_OK);
    CHECK_EQ_INT(phi_prompt(slow, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2000), 1);
    pop_each(r, slow, counts);
    CHECK_EQ_INT(counts[0] + counts[1], 0);
    CHECK_EQ_INT(phi_agent_hold(slow, false), PHI_OK);
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run(r, 2000), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd assistant \"a long answer.\""), 1);
    rig_free(r);
}

TEST(a_held_agent_is_freed_reset_and_closed_with_its_events) {
    rig *r = rig_new();
    phi_agent freed = rig_agent(r, NULL), reset = rig_agent(r, NULL), kept = rig_agent(r, NULL);
    phi_agent none = PHI_ZERO;
    phi_event event;
    rig_silent(r, true);
    rig_says(r, "one.");
    rig_says(r, "two.");
    rig_says(r, "three.");
    CHECK_EQ_INT(phi_agent_hold(freed, true), PHI_OK);
    CHECK_EQ_INT(phi_agent_hold(reset, true), PHI_OK);
    CHECK_EQ_INT(phi_agent_hold(kept, true), PHI_OK);
    CHECK_EQ_INT(phi_prompt(freed, "go"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(reset, "go"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(kept, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    phi_agent_free(freed);
    CHECK_EQ_INT(phi_agent_reset(reset), PHI_OK);
    CHECK_EQ_INT(phi_agent_hold(freed, false), PHI_STALE);
    CHECK_EQ_INT(phi_agent_hold(none, false), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_hold(reset, false), PHI_OK);
    CHECK(!phi_next_event(rig_runtime(r), &event));
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_OK);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_slow_clients_agent_is_held_and_others_go_on),
          TEST_ENTRY(a_held_agents_stream_stops_at_its_queue_and_goes_on_when_it_is_let_out),
          TEST_ENTRY(a_held_agent_is_freed_reset_and_closed_with_its_events),
          TEST_ENTRY(events_nobody_pops_stop_the_reading_and_nothing_is_lost),
          TEST_ENTRY(the_partial_text_of_events_popped_late_is_still_right),
          TEST_ENTRY(what_a_host_left_for_long_is_freed_a_part_in_each_step),
          TEST_ENTRY(a_host_that_pops_as_much_as_comes_holds_no_more_than_that),
          TEST_ENTRY(what_is_to_be_freed_makes_room_for_what_comes),
          TEST_ENTRY(who_sleeps_in_a_step_frees_all_at_once),
          TEST_ENTRY(a_retracted_answers_events_are_whole_whenever_they_are_popped),
          TEST_ENTRY(a_retry_goes_on_behind_a_full_event_queue),
          TEST_ENTRY(events_of_many_runs_may_be_popped_at_the_end))
