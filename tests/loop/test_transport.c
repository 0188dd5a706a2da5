/* test_transport.c - a host's transport that pushes at odd moments, says things twice, or says
   them in the wrong order; and deadlines while nobody reads. */
#include "support/rig.h"
#include "log/revert.h"
#include "io/transport.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "io/io_in.h"
#include "loop/loop_in.h"

#define HEAD "Content-Type: text/event-stream\r\n"

typedef enum moment { IN_PUMP, IN_OPEN, IN_CANCEL, IN_RESUME, NEVER } moment;

typedef struct wire {
    phi_runtime *rt;
    uint64_t now_us;
    phi_transfer transfer;
    size_t opens, cancels, resumes;
    moment when;
    const char *body; /* pushed whole at that moment, then the end */
    bool no_head, two_heads, two_ends, push_after_end, open_fails, no_end, null_args, tells_start;
    phi_status said_head, said_push, said_end, said_late;
    char story[4000];
} wire;

static void wire_answer(wire *w) {
    const char *body = w->body;
    if (body == NULL) return;
    w->body = NULL;
    if (w->null_args) {
        CHECK_EQ_INT(phi_transfer_head(w->transfer, 200, NULL, 7), PHI_BAD_ARG);
        CHECK_EQ_INT(phi_transfer_push(w->transfer, NULL, 7), PHI_BAD_ARG);
    }
    if (!w->no_head) w->said_head = phi_transfer_head(w->transfer, 200, HEAD, strlen(HEAD));
    if (w->two_heads) w->said_late = phi_transfer_head(w->transfer, 500, "", 0);
    w->said_push = phi_transfer_push(w->transfer, body, strlen(body));
    if (!w->no_end) w->said_end = phi_transfer_end(w->transfer, PHI_OK, NULL);
    if (w->two_ends) w->said_late = phi_transfer_end(w->transfer, PHI_NETWORK, "again");
    if (w->push_after_end) w->said_late = phi_transfer_push(w->transfer, "x", 1);
}

static phi_status wire_open(void *user_data, phi_transfer transfer, const phi_request *request) {
    wire *w = (wire *)user_data;
    (void)request;
    w->opens++;
    w->transfer = transfer;
    if (w->tells_start)
        CHECK_EQ_INT(phi_transfer_head(transfer, PHI_TRANSFER_STARTED, NULL, 0), PHI_OK);
    if (w->when == IN_OPEN) wire_answer(w);
    return w->open_fails ? PHI_NETWORK : PHI_OK;
}

static void wire_resume(void *user_data, phi_transfer transfer) {
    wire *w = (wire *)user_data;
    (void)transfer;
    w->resumes++;
    if (w->when == IN_RESUME) wire_answer(w);
}

static void wire_cancel(void *user_data, phi_transfer transfer) {
    wire *w = (wire *)user_data;
    (void)transfer;
    w->cancels++;
    if (w->when == IN_CANCEL) wire_answer(w);
}

static void wire_pump(void *user_data) {
    wire *w = (wire *)user_data;
    if (w->when == IN_PUMP && w->opens > 0) wire_answer(w);
}

static uint64_t wire_clock(void *user_data) { return ((wire *)user_data)->now_us; }

static phi_agent wire_agent(wire *w, phi_transport *t, const phi_agent_desc *given) {
    phi_runtime_desc desc;
    phi_agent_desc plain = rig_desc();
    phi_agent agent;
    memset(&desc, 0, sizeof desc);
    memset(t, 0, sizeof *t);
    t->open = wire_open;
    t->resume = wire_resume;
    t->cancel = wire_cancel;
    t->pump = wire_pump;
    t->user_data = w;
    w->now_us = 1000000;
    desc.transport = t;
    desc.allocator = test_allocator();
    desc.clock_us_fn = wire_clock;
    desc.user_data = w;
    w->rt = phi_runtime_new(&desc);
    agent = phi_agent_new(w->rt, given != NULL ? given : &plain);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    return agent;
}

/* Steps of 1 ms; events are named in the story when `pops`. */
static int wire_run(wire *w, int steps, bool pops) {
    int runs = 1;
    phi_event event;
    while (steps-- > 0 && runs > 0) {
        runs = phi_step(w->rt, 0);
        w->now_us += 1000;
        while (pops && phi_next_event(w->rt, &event)) {
            if (event.kind == PHI_EV_TEXT) continue;
            strcat(w->story, phi_event_name(event.kind));
            if (event.kind == PHI_EV_ERROR) {
                strcat(w->story, " ");
                strncat(w->story, event.failure->message.at, event.failure->message.len);
            }
            strcat(w->story, "\n");
        }
    }
    return runs;
}

/* A host that steps each second, so that deadlines count all of it, and pops nothing. */
static void wire_pass_s(wire *w, int s) {
    while (s-- > 0) {
        w->now_us += 1000000;
        (void)phi_step(w->rt, 0);
    }
}

TEST(an_answer_that_arrives_whole_inside_open_is_an_answer) {
    wire w;
    phi_transport t;
    phi_agent agent;
    memset(&w, 0, sizeof w);
    w.when = IN_OPEN;
    w.body = rig_stream_of("at once");
    agent = wire_agent(&w, &t, NULL);
    CHECK_EQ_INT(wire_run(&w, 10, true), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "at once");
    CHECK_EQ_INT(w.cancels, 0);
    phi_runtime_free(w.rt);
}

TEST(an_open_that_pushes_and_then_fails_is_a_failure) {
    wire w;
    phi_transport t;
    phi_agent agent;
    memset(&w, 0, sizeof w);
    w.when = IN_OPEN;
    w.open_fails = true;
    w.body = rig_stream_of("not so");
    agent = wire_agent(&w, &t, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "busy"), PHI_BUSY); /* its words are not the network's */
    CHECK_EQ_INT(wire_run(&w, 10, true), 0);
    CHECK(strstr(w.story, "Error the network failed\n") != NULL);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, "x", 1), PHI_STALE);
    CHECK_EQ_INT(w.cancels, 0);
    phi_runtime_free(w.rt);
}

TEST(what_is_said_twice_or_too_late_is_refused_and_changes_nothing) {
    int i;
    for (i = 0; i < 3; i++) {
        wire w;
        phi_transport t;
        phi_agent agent;
        memset(&w, 0, sizeof w);
        w.two_heads = i == 0;
        w.two_ends = i == 1;
        w.push_after_end = i == 2;
        w.body = rig_stream_of("once");
        agent = wire_agent(&w, &t, NULL);
        CHECK_EQ_INT(wire_run(&w, 10, true), 0);
        CHECK_EQ_INT(w.said_late, i == 0 ? PHI_MISUSE : PHI_STALE);
        CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "once");
        CHECK(strstr(w.story, "Error") == NULL);
        CHECK_EQ_INT(w.cancels, 0);
        phi_runtime_free(w.rt);
    }
}

TEST(a_body_without_a_head_is_misuse_and_the_run_fails) {
    wire w;
    phi_transport t;
    memset(&w, 0, sizeof w);
    w.no_head = true;
    w.body = rig_stream_of("headless");
    (void)wire_agent(&w, &t, NULL);
    CHECK_EQ_INT(wire_run(&w, 10, true), 0);
    CHECK_EQ_INT(w.said_push, PHI_MISUSE);
    CHECK(strstr(w.story, "Error the transport gave no answer\n") != NULL);
    phi_runtime_free(w.rt);
}

TEST(a_transport_with_bad_arguments_is_told_so) {
    wire w;
    phi_transport t;
    phi_agent agent;
    memset(&w, 0, sizeof w);
    w.null_args = true;
    w.body = rig_stream_of("fine");
    agent = wire_agent(&w, &t, NULL);
    CHECK_EQ_INT(wire_run(&w, 10, true), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "fine");
    memset(&w.transfer, 0, sizeof w.transfer);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, "x", 1), PHI_STALE);
    CHECK_EQ_INT(phi_transfer_head(w.transfer, 200, "", 0), PHI_STALE);
    CHECK_EQ_INT(phi_transfer_end(w.transfer, PHI_OK, NULL), PHI_STALE);
    CHECK_EQ_INT(phi_transfer_head(w.transfer, PHI_TRANSFER_STARTED, NULL, 0), PHI_STALE);
    phi_runtime_free(w.rt);
}

TEST(an_answer_pushed_inside_cancel_harms_nothing) {
    int how;
    for (how = 0; how < 3; how++) {
        wire w;
        phi_transport t;
        phi_agent agent;
        memset(&w, 0, sizeof w);
        w.when = IN_CANCEL;
        w.body = rig_stream_of("too late");
        agent = wire_agent(&w, &t, NULL);
        CHECK_EQ_INT(wire_run(&w, 5, true), 1);
        if (how == 0) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == 1) phi_agent_free(agent);
        if (how == 2) wire_pass_s(&w, 301); /* the first-event deadline */
        CHECK_EQ_INT(wire_run(&w, 5, true), 0);
        CHECK_EQ_INT(w.cancels, 1);
        if (how != 1) CHECK(strstr(w.story, "AgentEnd\n") != NULL);
        phi_runtime_free(w.rt);
    }
}

static char *deltas(size_t n) {
    char *body = (char *)calloc(1, 400 + n * 120);
    size_t at = 0, i;
    if (body == NULL) abort();
    at +=
        (size_t)sprintf(body, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n");
    for (i = 0; i < n; i++)
        at += (size_t)sprintf(body + at, "data: {\"type\":\"content_block_delta\",\"index\":0,"
                                         "\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n");
    (void)sprintf(body + at, "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                             "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                             "\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
    return body;
}

TEST(a_megabyte_pushed_at_once_is_taken_once) {
    wire w;
    phi_transport t;
    phi_agent agent;
    char *body = deltas(10000);
    memset(&w, 0, sizeof w);
    w.body = body;
    agent = wire_agent(&w, &t, NULL);
    CHECK(strlen(body) > 800000);
    CHECK_EQ_INT(wire_run(&w, 1000, true), 0);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text.len, 10000);
    free(body);
    phi_runtime_free(w.rt);
}

/* More comes in a step than one decodes: the transport is held back, and what was decoded is not
   kept. Lines that mean nothing fill four megabytes. */
TEST(an_answer_of_any_length_takes_as_much_memory_as_waits_for_the_decoder) {
    static char filler[100000];
    wire w;
    phi_transport t;
    phi_agent agent;
    const char *said = rig_stream_of("Here.");
    size_t i, pushed = 0, refused = 0, peak = 0;
    memset(&w, 0, sizeof w);
    w.when = NEVER;
    for (i = 0; i < sizeof filler; i++) filler[i] = i % 80 == 0 ? ':' : i % 80 == 79 ? '\n' : ' ';
    agent = wire_agent(&w, &t, NULL);
    CHECK_EQ_INT(wire_run(&w, 2, true), 1);
    CHECK_EQ_INT(phi_transfer_head(w.transfer, 200, HEAD, strlen(HEAD)), PHI_OK);
    while (pushed < 40 && refused < 400) {
        phi_status status = phi_transfer_push(w.transfer, filler, sizeof filler);
        CHECK(status == PHI_OK || status == PHI_FULL);
        pushed += status == PHI_OK;
        refused += status == PHI_FULL;
        CHECK_EQ_INT(wire_run(&w, 1, true), 1);
    }
    CHECK(pushed == 40 && refused > 10);
    CHECK_EQ_INT(wire_run(&w, 5, true), 1);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, said, strlen(said)), PHI_OK);
    CHECK_EQ_INT(phi_transfer_end(w.transfer, PHI_OK, NULL), PHI_OK);
    CHECK_EQ_INT(wire_run(&w, 20, true), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Here.");
    (void)phi_memory_used(w.rt, &peak);
    CHECK(peak < 600000);
    phi_runtime_free(w.rt);
}

/* Told of at open: the request has left the transport's queue. 0 ms: it is not told of (again). */
static void hears_of_stages(uint32_t again_ms, uint32_t connected_ms, uint32_t lasts_ms,
                            const char *want) {
    wire w;
    phi_transport t;
    phi_agent_desc desc = rig_desc();
    uint32_t ms = 0;
    memset(&w, 0, sizeof w);
    w.when = NEVER;
    w.tells_start = true;
    desc.deadlines.connect_ms = 50;
    desc.deadlines.first_event_ms = 200;
    (void)wire_agent(&w, &t, &desc);
    while (wire_run(&w, 1, true) > 0 && ms < 1000) {
        ms++;
        if (ms == again_ms)
            CHECK_EQ_INT(phi_transfer_head(w.transfer, PHI_TRANSFER_STARTED, NULL, 0), PHI_OK);
        if (ms == connected_ms)
            CHECK_EQ_INT(phi_transfer_head(w.transfer, PHI_TRANSFER_CONNECTED, NULL, 0), PHI_OK);
    }
    if (!CHECK(ms >= lasts_ms && ms <= lasts_ms + 3)) printf("  %u ms\n", (unsigned)ms);
    CHECK(strstr(w.story, want) != NULL);
    phi_runtime_free(w.rt);
}

TEST(deadlines_count_from_the_stage_that_the_transport_has_reached) {
    hears_of_stages(0, 0, 50, "Error no connection within 50 ms\n");
    hears_of_stages(30, 0, 80, "Error no connection within 50 ms\n"); /* in its queue again */
    hears_of_stages(0, 40, 240, "Error no answer within 200 ms\n");
}

/* The host does not pop for an hour while the provider is still sending: nobody was silent. */
TEST(the_deadline_of_silence_stands_still_while_the_host_does_not_drain) {
    wire w;
    phi_transport t;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char *body = deltas(200);
    size_t cut = strlen(body) - 200;
    memset(&w, 0, sizeof w);
    desc.memory.event_queue_bytes = 2000;
    w.when = NEVER;
    agent = wire_agent(&w, &t, &desc);
    CHECK_EQ_INT(wire_run(&w, 2, false), 1);
    CHECK_EQ_INT(phi_transfer_head(w.transfer, 200, HEAD, strlen(HEAD)), PHI_OK);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, body, cut), PHI_OK);
    CHECK_EQ_INT(wire_run(&w, 5, false), 1);
    wire_pass_s(&w, 3600);
    CHECK_EQ_INT(wire_run(&w, 1, false), 1);
    CHECK_EQ_INT(w.cancels, 0);
    CHECK_EQ_INT(wire_run(&w, 50, true), 1);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, body + cut, strlen(body) - cut), PHI_OK);
    CHECK_EQ_INT(phi_transfer_end(w.transfer, PHI_OK, NULL), PHI_OK);
    CHECK_EQ_INT(wire_run(&w, 50, true), 0);
    CHECK(strstr(w.story, "Error") == NULL);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text.len, 200);
    free(body);
    phi_runtime_free(w.rt);
}

TEST(silence_after_the_host_has_drained_is_still_cut_off) {
    wire w;
    phi_transport t;
    phi_agent_desc desc = rig_desc();
    char *body = deltas(200);
    memset(&w, 0, sizeof w);
    desc.memory.event_queue_bytes = 2000;
    w.when = NEVER;
    (void)wire_agent(&w, &t, &desc);
    CHECK_EQ_INT(wire_run(&w, 2, false), 1);
    CHECK_EQ_INT(phi_transfer_head(w.transfer, 200, HEAD, strlen(HEAD)), PHI_OK);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, body, strlen(body) - 200), PHI_OK);
    wire_pass_s(&w, 600);
    CHECK_EQ_INT(wire_run(&w, 5, false), 1);
    CHECK_EQ_INT(wire_run(&w, 50, true), 1);
    wire_pass_s(&w, 120);
    CHECK_EQ_INT(wire_run(&w, 5, true), 0);
    CHECK(strstr(w.story, "Error the answer was silent for 120000 ms\n") != NULL);
    CHECK_EQ_INT(w.cancels, 1);
    free(body);
    phi_runtime_free(w.rt);
}

/* The transport was held back once, and an hour of the run was a gap, which no deadline counts. */
TEST(silence_after_a_resume_is_cut_off_also_where_the_run_had_a_gap) {
    static char filler[100000];
    wire w;
    phi_transport t;
    size_t i;
    memset(&w, 0, sizeof w);
    w.when = NEVER;
    for (i = 0; i < sizeof filler; i++) filler[i] = i % 80 == 0 ? ':' : i % 80 == 79 ? '\n' : ' ';
    (void)wire_agent(&w, &t, NULL);
    CHECK_EQ_INT(wire_run(&w, 2, true), 1);
    w.now_us += UINT64_C(3600000000);
    CHECK_EQ_INT(wire_run(&w, 2, true), 1);
    CHECK_EQ_INT(phi_transfer_head(w.transfer, 200, HEAD, strlen(HEAD)), PHI_OK);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, filler, sizeof filler), PHI_OK);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, filler, sizeof filler), PHI_FULL);
    CHECK_EQ_INT(wire_run(&w, 20, true), 1);
    CHECK_EQ_INT(w.resumes, 1);
    wire_pass_s(&w, 301);
    CHECK_EQ_INT(wire_run(&w, 5, true), 0);
    CHECK(strstr(w.story, "Error no answer within 300000 ms\n") != NULL);
    phi_runtime_free(w.rt);
}

TEST(deadlines_of_every_size_do_not_wrap) {
    static const uint32_t values[] = {1, 2, UINT32_MAX - 1, PHI_UNLIMITED};
    size_t i;
    for (i = 0; i < 4; i++) {
        wire w;
        phi_transport t;
        phi_agent_desc desc = rig_desc();
        memset(&w, 0, sizeof w);
        desc.deadlines.connect_ms = desc.deadlines.first_event_ms = values[i];
        desc.deadlines.idle_ms = desc.deadlines.total_ms = values[i];
        desc.limits.max_duration_ms = PHI_UNLIMITED;
        desc.limits.max_turns = PHI_UNLIMITED;
        desc.limits.max_tokens = UINT64_MAX;
        desc.memory.max_response_bytes = UINT64_MAX;
        desc.memory.event_queue_bytes = desc.memory.max_event_bytes = SIZE_MAX;
        w.when = NEVER;
        (void)wire_agent(&w, &t, &desc);
        CHECK_EQ_INT(wire_run(&w, 20, true), i < 2 ? 0 : 1);
        phi_runtime_free(w.rt);
    }
}

TEST(a_large_event_is_not_kept_when_it_was_popped) {
    wire w;
    phi_transport t;
    phi_agent agent;
    size_t n = 4000000, before;
    char *body = (char *)calloc(1, n + 1000);
    REQUIRE(body != NULL);
    strcpy(body,
           "data: {\"type\":\"message_start\",\"message\":{}}\n\ndata: {\"type\":"
           "\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"");
    memset(body + strlen(body), 'y', n);
    strcat(body, "\"}}\n\n");
    memset(&w, 0, sizeof w);
    w.when = NEVER;
    agent = wire_agent(&w, &t, NULL);
    CHECK_EQ_INT(wire_run(&w, 2, true), 1);
    before = phi_memory_used(w.rt, NULL);
    CHECK_EQ_INT(phi_transfer_head(w.transfer, 200, HEAD, strlen(HEAD)), PHI_OK);
    CHECK_EQ_INT(phi_transfer_push(w.transfer, body, strlen(body)), PHI_OK);
    CHECK_EQ_INT(wire_run(&w, 100, true), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(wire_run(&w, 5, true), 0);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    (void)phi_step(w.rt, 0);
    CHECK(phi_memory_used(w.rt, NULL) < before + 20000);
    free(body);
    phi_runtime_free(w.rt);
}

TEST(an_answer_of_more_than_1024_blocks_is_cut_off_with_words) {
    wire w;
    phi_transport t;
    phi_agent agent;
    char *body = (char *)calloc(1, 10000 * 160 + 1000);
    size_t at, i;
    REQUIRE(body != NULL);
    at = (size_t)sprintf(body, "data: {\"type\":\"message_start\",\"message\":{}}\n\n");
    for (i = 0; i < 10000; i++)
        at += (size_t)sprintf(body + at,
                              "data: {\"type\":\"content_block_delta\",\"index\":%u,"
                              "\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n"
                              "data: {\"type\":\"content_block_stop\",\"index\":%u}\n\n",
                              (unsigned)i, (unsigned)i);
    (void)sprintf(body + at, "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                             "\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
    memset(&w, 0, sizeof w);
    w.body = body;
    agent = wire_agent(&w, &t, NULL);
    for (i = 0; i < 3000 && phi_step(w.rt, 0) > 0; i++) {
        phi_event event;
        while (phi_next_event(w.rt, &event))
            if (event.kind == PHI_EV_TEXT) CHECK_STR(event.partial, "x");
    }
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->content_count, 1024);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->error_message,
              "API error: the answer has more than 1024 blocks");
    free(body);
    phi_runtime_free(w.rt);
}

TEST_MAIN(TEST_ENTRY(an_answer_that_arrives_whole_inside_open_is_an_answer),
          TEST_ENTRY(an_open_that_pushes_and_then_fails_is_a_failure),
          TEST_ENTRY(what_is_said_twice_or_too_late_is_refused_and_changes_nothing),
          TEST_ENTRY(a_body_without_a_head_is_misuse_and_the_run_fails),
          TEST_ENTRY(a_transport_with_bad_arguments_is_told_so),
          TEST_ENTRY(an_answer_pushed_inside_cancel_harms_nothing),
          TEST_ENTRY(a_megabyte_pushed_at_once_is_taken_once),
          TEST_ENTRY(an_answer_of_any_length_takes_as_much_memory_as_waits_for_the_decoder),
          TEST_ENTRY(deadlines_count_from_the_stage_that_the_transport_has_reached),
          TEST_ENTRY(the_deadline_of_silence_stands_still_while_the_host_does_not_drain),
          TEST_ENTRY(silence_after_the_host_has_drained_is_still_cut_off),
          TEST_ENTRY(silence_after_a_resume_is_cut_off_also_where_the_run_had_a_gap),
          TEST_ENTRY(deadlines_of_every_size_do_not_wrap),
          TEST_ENTRY(a_large_event_is_not_kept_when_it_was_popped),
          TEST_ENTRY(an_answer_of_more_than_1024_blocks_is_cut_off_with_words))
