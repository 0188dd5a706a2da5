/* test_run_memory.c - runs without enough memory, at every single allocation, for good and within
   a limit; and a run that does everything, with anything done between any two of its states. */
#include "agent/response.h"
#include "loop/echo_x.h"
#include "loop/loop_in.h"
#include "loop/tries.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

static int scenario_prompt_with_tool(rig *r, bool *tripped) {
    phi_agent agent = echo_x_agent(r);
    int ends, runs;
    const char *at;
    *tripped = test_alloc_tripped();
    if (agent.rt == NULL) return -1;
    rig_call(r, "toolu_1", "echo", "{\"x\":7}");
    rig_says(r, "Seven.");
    runs = phi_prompt(agent, "Say 7") == PHI_OK ? rig_run(r, 200) : -1;
    *tripped = test_alloc_tripped();
    if (runs < 0) return -2;
    if (runs > 0) return -3;
    for (ends = 0, at = rig_story(r); (at = strstr(at, "AgentEnd")) != NULL; at++) ends++;
    if (ends != 1) return -4;
    /* Whatever was lost, the agent answers the next prompt. */
    test_alloc_fail_at(-1);
    rig_says(r, "Still here.");
    rig_says(r, "Still here.");
    rig_says(r, "Still here.");
    rig_forget(r);
    if (phi_prompt(agent, "Are you there?") != PHI_OK) return -5;
    if (rig_run(r, 200) != 0) return -6;
    if (strstr(rig_story(r), "AgentEnd ok") == NULL) return -7;
    return 0;
}

TEST(a_run_survives_every_failed_allocation) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 5000; n++) {
        rig *r;
        int how = 0;
        test_alloc_fail_at(n);
        r = rig_new();
        tripped = test_alloc_tripped();
        if (r != NULL) how = scenario_prompt_with_tool(r, &tripped);
        test_alloc_fail_at(-1);
        if (!CHECK(how >= -2)) printf("allocation %d: %d\n%s", n, how, rig_story(r));
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 30);
    CHECK(!tripped);
    printf("  %d allocations failed, one after another\n", n - 1);
}

TEST(a_run_survives_memory_that_ends_for_good) {
    int n;
    for (n = 0; n < 400; n++) {
        rig *r;
        int how = 0;
        test_alloc_fail_at(-1);
        r = rig_new();
        REQUIRE(r != NULL);
        {
            phi_agent agent = echo_x_agent(r);
            int ends = 0;
            const char *at;
            rig_call(r, "toolu_1", "echo", "{\"x\":7}");
            rig_says(r, "Seven.");
            test_alloc_fail_from(n);
            if (phi_prompt(agent, "Say 7") == PHI_OK) {
                how = rig_run(r, 200);
                for (at = rig_story(r); (at = strstr(at, "AgentEnd")) != NULL; at++) ends++;
                if (ends != 1) how = -4;
            }
            test_alloc_fail_at(-1);
            if (!CHECK_EQ_INT(how, 0)) printf("from %d:\n%s", n, rig_story(r));
        }
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
}

/* What a host adds up: the answers that had begun, and what the run's end says of them. */
typedef struct bill {
    uint64_t begun;
    bool errored;
    phi_status status; /* AGENT_END's */
    phi_usage usage;
    bool told;
} bill;

static void adds_up(void *user_data, const phi_event *e) {
    bill *b = (bill *)user_data;
    if (e->kind == PHI_EV_MESSAGE_START && e->message->role == PHI_ROLE_ASSISTANT) b->begun++;
    if (e->kind == PHI_EV_ERROR) b->errored = true;
    if (e->kind == PHI_EV_TURN_END && b->errored) CHECK(e->message == NULL && e->usage == NULL);
    if (e->kind != PHI_EV_AGENT_END) return;
    b->status = e->status;
    b->told = e->usage != NULL;
    if (b->told) b->usage = *e->usage;
}

/* Each answer of the rig took 10 tokens of input, of which its beginning tells. */
static bool a_bill_without(int n, int *lost) {
    rig *r = rig_new();
    phi_agent agent = echo_x_agent(r);
    bill b;
    bool tripped;
    memset(&b, 0, sizeof b);
    rig_watch(r, adds_up, &b);
    rig_chunk(r, 60);
    rig_call(r, "toolu_1", "echo", "{\"x\":7}");
    rig_says(r, "Seven, and that is all there is to say of it.");
    test_alloc_fail_at(n);
    if (phi_prompt(agent, "Say 7") == PHI_OK) {
        CHECK_EQ_INT(rig_run(r, 200), 0);
        CHECK_EQ_INT(b.errored, b.status == PHI_NO_MEMORY);
        CHECK(phi_agent_get_info(agent).usage.input >= 10 * b.begun);
        if (b.told) CHECK_EQ_INT(b.usage.input, phi_agent_get_info(agent).usage.input);
        *lost += b.errored && b.begun > 0;
    }
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    if (!tripped) CHECK_EQ_INT(b.usage.input, 20);
    rig_free(r);
    return tripped;
}

TEST(an_answer_that_was_lost_is_paid_for) {
    int n = 0, lost = 0;
    while (a_bill_without(n, &lost)) n++;
    CHECK(n > 20 && lost > 5);
}

TEST(a_memory_limit_of_the_agent_is_an_error_event) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char text[8000];
    desc.memory.limit_bytes = 12000;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    rig_says(r, text);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r),
                 "Error no_memory \"Out of memory: the agent's memory.limit_bytes, 12000, are "
                 "used up: nothing more could be forgotten; pop every event of the agent, or raise "
                 "it\"\n") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd the allocator or a memory limit said no") != NULL);
    rig_free(r);
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
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    desc.input.steering_mode = PHI_QUEUE_ALL;
    desc.memory.limit_bytes = limit;
    s->child = agent_with(s->r, &desc, &tool);
    if (s->child.rt == NULL) return false;
    for (i = 0; i < 6; i++) {
        phi_content block;
        phi_message m = text_message(i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT, &block, text);
        if (phi_thread_append(phi_agent_thread(s->child), &m, 1, NULL) != PHI_OK) return false;
    }
    rig_call(s->r, "c1", "echo", "{\"a\":1}");
    rig_breaks(s->r, half_stream("half"), PHI_NETWORK, "cut");
    rig_replies(s->r, 400, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                "\"prompt is too long\"}}");
    rig_says(s->r, "one");
    rig_replies(s->r, 400, HEARD_JSON, HEARD_BOOM);
    if (prompt_for(s->child, "go", &s->response) != PHI_OK) return false;
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
        right = CHECK(phi_response_get(s.response).done) && right;
        right = CHECK_EQ_INT(phi_agent_get_info(s.parent).spending.reserved_tokens, 0) && right;
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

/* What a run's end says is of one piece. */
static void ends_whole(void *user_data, const phi_event *e) {
    int *without = (int *)user_data;
    if (e->kind != PHI_EV_AGENT_END || !CHECK(e->failure != NULL)) return;
    CHECK_EQ_INT(e->status == PHI_NO_MEMORY, e->failure->kind == PHI_FAILURE_NO_MEMORY);
    *without += e->status == PHI_NO_MEMORY;
}

/* Hypothesis: a run that had failed already, and then finds no memory to wait for its hook, tells its error
   twice and has no room left for AGENT_END. */
TEST(a_failed_run_without_memory_for_its_last_hooks_still_ends) {
    static const phi_hook_point points[] = {PHI_HOOK_ON_ERROR, PHI_HOOK_AFTER_TURN,
                                            PHI_HOOK_AFTER_LOOP};
    int fill, without = 0;
    size_t i;
    for (i = 0; i < PHI__COUNT(points); i++)
        for (fill = 0; fill < 24; fill++) {
            rig *r = rig_new();
            phi_agent_desc desc = rig_desc();
            phi_agent other, agent;
            int n;
            desc.input.queue_limit = 1;
            other = rig_agent(r, &desc);
            for (n = 0; n <= fill; n++) CHECK_EQ_INT(phi_follow_up(other, "x"), PHI_OK);
            rig_hook_with(r, waits_at_the_end, NULL);
            rig_hooks(r, &desc, (uint32_t)points[i]);
            rig_replies(r, 400, HEARD_JSON, HEARD_BOOM);
            agent = rig_agent(r, &desc);
            rig_silent(r, true);
            rig_watch(r, ends_whole, &without);
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
    CHECK(without > 0);
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
            right = CHECK_EQ_INT(phi_agent_get_info(s.parent).spending.reserved_tokens, 0) && right;
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
    case 3: phi_agent_free(s->parent); break;
    case 4: phi_agent_free(s->child); break;
    case 5: (void)phi_steer(s->child, "S2"); break;
    case 6: (void)phi_inject(s->child, "I2", NULL); break;
    case 7: (void)enqueue_blocks(s->child, PHI_INPUT_INJECTED, &block, 1, "t"); break;
    case 8: (void)phi_queue_clear(s->child, PHI_INPUT_NONE); break;
    case 9: (void)phi_budget_raise(s->child, &by); break;
    case 10: phi_response_free(s->response); break;
    case 11: /* the end of one run, and at once another */
        (void)phi_abort(s->child);
        (void)rig_run(s->r, 1);
        (void)phi_prompt(s->child, "next");
        break;
    case 12: (void)phi_runtime_close(rig_runtime(s->r)); break;
    default:
        (void)phi_agent_reset(s->child);
        (void)phi_agent_replace_messages(s->child, NULL, 0);
        (void)phi_thread_append(phi_agent_thread(s->child), &m, 1, NULL);
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
            right = CHECK(phi_response_get(s.response).done) && right;
            right = CHECK_EQ_INT(phi_agent_get_info(s.parent).spending.reserved_tokens, 0) && right;
            right = CHECK_EQ_INT(phi_agent_get_info(s.child).spending.reserved_tokens, 0) && right;
            right = CHECK_EQ_INT(phi_pending(rig_runtime(s.r), NULL, 0), 0) && right;
            right = CHECK_EQ_INT(rig_open_transfers(s.r), 0) && right;
            right = CHECK_EQ_INT(phi_next_timeout(rig_runtime(s.r)), -1) && right;
            right = CHECK_EQ_INT(phi_agent_get_info(s.child).injected, 0) && right;
            if (deed != 12 && phi_agent_alive(s.child)) {
                for (i = 0; i < 8; i++) rig_says(s.r, "x");
                right = CHECK_EQ_INT(phi_send(s.child, "again"), PHI_OK) && right;
                right = CHECK_EQ_INT(rig_run_until(s.r, 2000000), 0) && right;
            }
            if (!right) printf("  deed %d, state %d\n", deed, at);
            rig_free(s.r);
        }
}

TEST_MAIN(TEST_ENTRY(a_run_survives_every_failed_allocation),
          TEST_ENTRY(a_run_survives_memory_that_ends_for_good),
          TEST_ENTRY(an_answer_that_was_lost_is_paid_for),
          TEST_ENTRY(a_memory_limit_of_the_agent_is_an_error_event),
          TEST_ENTRY(a_run_that_does_everything_survives_every_failed_allocation),
          TEST_ENTRY(a_run_that_does_everything_survives_memory_that_is_gone_for_good),
          TEST_ENTRY(a_failed_run_without_memory_for_its_last_hooks_still_ends),
          TEST_ENTRY(a_run_that_does_everything_ends_once_within_any_limit_of_memory),
          TEST_ENTRY(anything_may_be_done_between_any_two_states))
