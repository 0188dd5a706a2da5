/* test_attack_retry.c - attempts that fail while nobody looks at the events, transports that say nonsense,
   and memory that runs out at every single allocation of a run that does everything. */
#include "agent/response.h"
#include "loop/loop_in.h"
#include "support/heard.h"

static phi_agent_desc patient(void) {
    phi_agent_desc desc = rig_desc();
    desc.retry.disable = false;
    desc.retry.initial_delay_ms = 100;
    return desc;
}

/* The beginning of an answer, as far as its first delta. */
static const char *half_stream(const char *text) {
    static char out[4000];
    char *end;
    (void)snprintf(out, sizeof out, "%s", rig_stream_of(text));
    end = strstr(out, "event: content_block_stop");
    if (end != NULL) *end = '\0';
    return out;
}

/* ---- transports ---- */

/* Hypothesis: a transport's status comes out where the library gives it another meaning: a response that
   is "busy" looks for its run. */
TEST(a_transport_may_fail_with_any_status) {
    static const phi_status all[] = {PHI_BAD_ARG, PHI_NO_MEMORY,    PHI_MISUSE,      PHI_BUSY,
                                     PHI_STALE,   PHI_FULL,         PHI_UNSUPPORTED, PHI_NETWORK,
                                     PHI_TIMEOUT, PHI_TLS,          PHI_REFUSED,     PHI_CANCELLED,
                                     PHI_TOO_BIG, PHI_PARSE,        PHI_DENIED,      PHI_REJECTED,
                                     PHI_LIMIT,   (phi_status)-999, (phi_status)7};
    size_t i, how;
    for (how = 0; how < 2; how++)
        for (i = 0; i < PHI__COUNT(all); i++) {
            rig *r = rig_new();
            phi_agent agent = rig_agent(r, NULL);
            phi_response response;
            phi_response_info info;
            if (how == 0)
                rig_refuses(r, all[i]);
            else
                rig_breaks(r, half_stream("half"), all[i], "broken");
            CHECK_EQ_INT(phi_ask(agent, "go", &response), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 50), 0);
            CHECK(phi_response_done(response));
            CHECK_EQ_INT(phi_response_get(response, &info), PHI_OK);
            CHECK_EQ_INT(info.state, PHI_RESPONSE_FAILED);
            CHECK(info.status != PHI_OK && info.status != PHI_BUSY);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            rig_says(r, "well");
            CHECK_EQ_INT(phi_send(agent, "again"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 50), 0);
            rig_free(r);
        }
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
        if (how == 1) CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
        if (how == 2) CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
        if (how == 3) CHECK_EQ_INT(phi_agent_free(agent), PHI_OK); /* between two attempts */
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
    desc.event_queue_bytes = 1;
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
        if (how == 2) CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
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

/* ---- memory ---- */

typedef struct scene {
    rig *r;
    phi_agent parent, child;
    phi_response response;
    size_t asked;
} scene;

/* Waits at every point it may, and has itself answered at once. */
static phi_verdict waits_everywhere(void *user_data, phi_hook *hook) {
    scene *s = (scene *)user_data;
    s->asked++;
    if (hook->point == PHI_HOOK_FOLLOW_UP || hook->point == PHI_HOOK_STEERING) return PHI_ALLOW;
    if (hook->point == PHI_HOOK_FILTER) {
        hook->reply = PHI__LIT("careful");
        return PHI_WARN;
    }
    if (phi_decide(hook->ticket, PHI_ALLOW, NULL) != PHI_OK) return PHI_ALLOW;
    return PHI_WAIT;
}

/* A history, hooks that wait, filters that warn, steering, a tool, an attempt that breaks, one that is too
   long, a child agent, and a handle of the request. */
static bool all_of_it_within(scene *s, size_t limit) {
    static phi_tool tool; /* borrowed until the agent is freed */
    phi_agent_desc desc = patient();
    phi_filter filter = rig_filter(s->r);
    char text[400];
    int i;
    memset(text, 'w', sizeof text);
    text[sizeof text - 1] = '\0';
    tool = rig_echo();
    rig_hook_with(s->r, waits_everywhere, s);
    rig_hooks(s->r, &desc, EVERY_POINT);
    desc.budget.max_tokens = 10000000;
    s->parent = rig_agent(s->r, &desc);
    if (s->parent.rt == NULL) return false;
    desc.parent = s->parent;
    desc.filters = &filter;
    desc.filter_count = 1;
    desc.steering_mode = PHI_QUEUE_ALL;
    desc.memory_limit_bytes = limit;
    s->child = agent_with(s->r, &desc, &tool);
    if (s->child.rt == NULL) return false;
    for (i = 0; i < 6; i++) {
        phi_content block;
        phi_message m = text_message(i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT, &block, text);
        if (phi_append_message(s->child, &m) != PHI_OK) return false;
    }
    rig_call(s->r, "c1", "echo", "{\"a\":1}");
    rig_breaks(s->r, half_stream("half"), PHI_NETWORK, "cut");
    rig_replies(s->r, 400, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                "\"prompt is too long\"}}");
    rig_says(s->r, "one");
    rig_replies(s->r, 400, HEARD_JSON, HEARD_BOOM);
    if (phi_ask(s->child, "go", &s->response) != PHI_OK) return false;
    (void)phi_steer(s->child, "S1");
    (void)phi_inject(s->child, "I1", "tag");
    (void)phi_follow_up(s->child, "F1");
    return true;
}

static bool all_of_it(scene *s) { return all_of_it_within(s, 0); }

typedef struct ends {
    uint64_t child[2]; /* starts, ends of the child */
    size_t errors;
    phi_agent who;
} ends;

static void count_ends(void *user_data, const phi_event *e) {
    ends *n = (ends *)user_data;
    if (e->agent.index != n->who.index || e->agent.gen != n->who.gen) return;
    n->child[0] += e->kind == PHI_EV_AGENT_START;
    n->child[1] += e->kind == PHI_EV_AGENT_END;
    n->errors += e->kind == PHI_EV_ERROR;
}

/* Allocation n fails, or all from there on; events are popped as they come, or when all is over. False:
   nothing failed. */
static bool all_of_it_without(int n, bool from, bool silent) {
    scene s;
    ends seen;
    bool tripped, began;
    memset(&s, 0, sizeof s);
    memset(&seen, 0, sizeof seen);
    s.r = rig_new();
    if (from)
        test_alloc_fail_from(n);
    else
        test_alloc_fail_at(n);
    began = all_of_it(&s);
    rig_silent(s.r, silent);
    seen.who = s.child;
    rig_watch(s.r, count_ends, &seen);
    if (began) (void)rig_run_until(s.r, 2000000);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    test_alloc_fail_from(-1);
    rig_silent(s.r, false);
    CHECK_EQ_INT(rig_run_until(s.r, 2000000), 0);
    if (began) {
        bool right = CHECK_EQ_INT(seen.child[1], 1);
        right = CHECK_EQ_INT(seen.child[0], 1) && right;
        right = CHECK(seen.errors <= 1) && right;
        right = CHECK(phi_response_done(s.response)) && right;
        right = CHECK_EQ_INT(phi_agent_spending(s.parent).reserved_tokens, 0) && right;
        right = CHECK_EQ_INT(phi_pending(rig_runtime(s.r), NULL, 0), 0) && right;
        right = CHECK_EQ_INT(rig_open_transfers(s.r), 0) && right;
        (void)phi_queue_clear(s.child, PHI_INPUT_NONE);
        rig_says(s.r, "x"), rig_says(s.r, "x"), rig_says(s.r, "x"), rig_says(s.r, "x");
        rig_says(s.r, "x"), rig_says(s.r, "x"), rig_says(s.r, "x"), rig_says(s.r, "x");
        right = CHECK_EQ_INT(phi_send(s.child, "again"), PHI_OK) && right;
        right = CHECK_EQ_INT(rig_run_until(s.r, 2000000), 0) && right;
        right = CHECK_EQ_INT(seen.child[1], 2) && right;
        if (!right)
            printf("  allocation %d%s%s\n", n, from ? " and on" : "", silent ? ", silent" : "");
    }
    rig_free(s.r);
    return tripped;
}

/* Hypothesis: at some allocation the run ends twice, never, or not at all; or leaves its agent unusable. */
TEST(a_run_that_does_everything_survives_every_failed_allocation) {
    int n;
    for (n = 0; all_of_it_without(n, false, false); n++) {}
    CHECK(n > 100);
    for (n = 0; all_of_it_without(n, false, true); n++) {}
}

/* Hypothesis: the reserve does not cover all that must be told when nothing can be had any more. */
TEST(a_run_that_does_everything_survives_memory_that_is_gone_for_good) {
    int n;
    for (n = 0; all_of_it_without(n, true, false); n++) {}
    for (n = 0; all_of_it_without(n, true, true); n++) {}
}

static phi_verdict waits_at_the_end(void *user_data, phi_hook *hook) {
    (void)user_data;
    (void)hook;
    test_alloc_fail_from(0);
    return PHI_WAIT;
}

/* Hypothesis: a run that had failed already, and then finds no memory to wait for its hook, tells its error
   twice and has no room left for AGENT_END. */
TEST(a_failed_run_without_memory_for_its_last_hooks_still_ends) {
    static const phi_hook_point points[] = {PHI_HOOK_ON_ERROR, PHI_HOOK_AFTER_TURN,
                                            PHI_HOOK_AFTER_LOOP};
    int fill;
    size_t i;
    for (i = 0; i < PHI__COUNT(points); i++)
        for (fill = 0; fill < 24; fill++) {
            rig *r = rig_new();
            phi_agent_desc desc = rig_desc();
            phi_agent other, agent;
            int n;
            desc.queue_limit = 1;
            other = rig_agent(r, &desc);
            for (n = 0; n <= fill; n++) CHECK_EQ_INT(phi_follow_up(other, "x"), PHI_OK);
            rig_hook_with(r, waits_at_the_end, NULL);
            rig_hooks(r, &desc, (uint32_t)points[i]);
            rig_replies(r, 400, HEARD_JSON, HEARD_BOOM);
            agent = rig_agent(r, &desc);
            rig_silent(r, true);
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            (void)rig_run(r, 20);
            test_alloc_fail_from(-1);
            rig_silent(r, false);
            CHECK_EQ_INT(phi_abort(agent), PHI_OK); /* where there was memory to wait */
            CHECK_EQ_INT(rig_run(r, 20), 0);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            CHECK_EQ_INT(count_of(rig_story(r), "\nError"), 1);
            CHECK_EQ_INT(count_of(rig_story(r), "TurnEnd"), 1);
            rig_free(r);
        }
}

/* Hypothesis: an agent that is at its limit for good ends its run twice, or never, or cannot be emptied. */
TEST(a_run_that_does_everything_ends_once_within_any_limit_of_memory) {
    size_t limit, silent;
    for (silent = 0; silent < 2; silent++)
        for (limit = 2000; limit < 40000; limit += 150) {
            scene s;
            ends seen;
            bool began, right = true;
            int more;
            memset(&s, 0, sizeof s);
            memset(&seen, 0, sizeof seen);
            s.r = rig_new();
            began = all_of_it_within(&s, limit);
            rig_silent(s.r, silent != 0);
            seen.who = s.child;
            rig_watch(s.r, count_ends, &seen);
            if (began) right = CHECK_EQ_INT(rig_run_until(s.r, 2000000), 0);
            rig_silent(s.r, false);
            (void)rig_run(s.r, 2);
            right = CHECK_EQ_INT(seen.child[1], began ? 1 : 0) && right;
            right = CHECK_EQ_INT(phi_agent_spending(s.parent).reserved_tokens, 0) && right;
            more = s.child.rt != NULL ? phi_send(s.child, "again") : PHI_NO_MEMORY;
            right = CHECK(more == PHI_OK || more == PHI_NO_MEMORY) && right;
            (void)rig_run_until(s.r, 2000000);
            if (s.child.rt != NULL) right = CHECK_EQ_INT(phi_agent_reset(s.child), PHI_OK) && right;
            if (!right) printf("  %u bytes\n", (unsigned)limit);
            rig_free(s.r);
        }
}

/* ---- between any two states ---- */

enum { DEEDS = 14 };

static void do_between(scene *s, int deed) {
    phi_content block;
    phi_raise by;
    phi_message m = text_message(PHI_ROLE_USER, &block, "between");
    (void)m;
    memset(&by, 0, sizeof by);
    by.tokens = 5;
    switch (deed) {
    case 0: (void)phi_abort(s->child); break;
    case 1: (void)phi_stop(s->child); break;
    case 2: (void)phi_abort(s->parent); break;
    case 3: (void)phi_agent_free(s->parent); break;
    case 4: (void)phi_agent_free(s->child); break;
    case 5: (void)phi_steer(s->child, "S2"); break;
    case 6: (void)phi_inject(s->child, "I2", NULL); break;
    case 7: (void)phi_enqueue(s->child, PHI_INPUT_INJECTED, &block, 1, "t"); break;
    case 8: (void)phi_queue_clear(s->child, PHI_INPUT_NONE); break;
    case 9: (void)phi_budget_raise(s->child, &by); break;
    case 10: (void)phi_response_free(s->response); break;
    case 11: /* the end of one run, and at once another */
        (void)phi_abort(s->child);
        (void)rig_run(s->r, 1);
        (void)phi_prompt(s->child, "next");
        break;
    case 12: (void)phi_runtime_close(rig_runtime(s->r)); break;
    default:
        (void)phi_agent_reset(s->child);
        (void)phi_clear_messages(s->child);
        (void)phi_append_message(s->child, &m);
        break;
    }
}

/* Hypothesis: somewhere between two states a run can be ended, freed or talked to in a way that it does not
   survive. A step without a budget does one state. */
TEST(anything_may_be_done_between_any_two_states) {
    int deed, at, states = 0;
    scene whole;
    memset(&whole, 0, sizeof whole);
    whole.r = rig_new();
    rig_runtime(whole.r)->slice.budget_us = 0;
    CHECK(all_of_it(&whole));
    while (rig_run(whole.r, 1) > 0) states++;
    rig_free(whole.r);
    CHECK(states > 50);
    for (deed = 0; deed < DEEDS; deed++)
        for (at = 0; at < states + 3; at++) {
            scene s;
            ends seen;
            int i;
            bool right = true;
            memset(&s, 0, sizeof s);
            memset(&seen, 0, sizeof seen);
            s.r = rig_new();
            rig_runtime(s.r)->slice.budget_us = 0;
            CHECK(all_of_it(&s));
            seen.who = s.child;
            rig_watch(s.r, count_ends, &seen);
            for (i = 0; i < at; i++) (void)rig_run(s.r, 1);
            do_between(&s, deed);
            right = CHECK_EQ_INT(rig_run_until(s.r, 2000000), 0) && right;
            right = CHECK_EQ_INT(rig_run(s.r, 1), 0) && right; /* decisions that came too late */
            if (phi_agent_alive(s.child)) {
                right = CHECK(seen.child[1] >= 1) && right;
                right = CHECK_EQ_INT(seen.child[0], seen.child[1]) && right;
                if (deed != 11 && deed != 13) right = CHECK_EQ_INT(seen.child[1], 1) && right;
            } else
                right = CHECK(seen.child[1] <= 1) && right;
            right = CHECK(phi_response_done(s.response)) && right;
            right = CHECK_EQ_INT(phi_agent_spending(s.parent).reserved_tokens, 0) && right;
            right = CHECK_EQ_INT(phi_agent_spending(s.child).reserved_tokens, 0) && right;
            right = CHECK_EQ_INT(phi_pending(rig_runtime(s.r), NULL, 0), 0) && right;
            right = CHECK_EQ_INT(rig_open_transfers(s.r), 0) && right;
            right = CHECK_EQ_INT(phi_next_timeout(rig_runtime(s.r)), -1) && right;
            right = CHECK_EQ_INT(phi_queue_count(s.child, PHI_INPUT_INJECTED), 0) && right;
            if (deed != 12 && phi_agent_alive(s.child)) {
                for (i = 0; i < 8; i++) rig_says(s.r, "x");
                right = CHECK_EQ_INT(phi_send(s.child, "again"), PHI_OK) && right;
                right = CHECK_EQ_INT(rig_run_until(s.r, 2000000), 0) && right;
            }
            if (!right) printf("  deed %d, state %d\n", deed, at);
            rig_free(s.r);
        }
}

TEST_MAIN(TEST_ENTRY(a_transport_may_fail_with_any_status),
          TEST_ENTRY(a_retracted_answers_events_are_whole_whenever_they_are_popped),
          TEST_ENTRY(a_retry_goes_on_behind_a_full_event_queue),
          TEST_ENTRY(events_of_many_runs_may_be_popped_at_the_end),
          TEST_ENTRY(a_delay_before_a_retry_ends_with_the_run),
          TEST_ENTRY(a_run_that_does_everything_survives_every_failed_allocation),
          TEST_ENTRY(a_run_that_does_everything_survives_memory_that_is_gone_for_good),
          TEST_ENTRY(a_failed_run_without_memory_for_its_last_hooks_still_ends),
          TEST_ENTRY(a_run_that_does_everything_ends_once_within_any_limit_of_memory),
          TEST_ENTRY(anything_may_be_done_between_any_two_states))
