/* test_crowd_tools.c - a thousand agents with ten pending tools each, on one thread: results come in any
   order and stand in call order, and the third time takes no more memory than the second. */
#include "loop/crowd.h"
#include "agent/agent_history.h"
#include "loop/hook.h"

enum { ROUNDS = 3, PATIENCE = 100000 };

/* All calls of all agents, in a mixed order. */
static void finish_all(crowd *c, uint32_t *seed) {
    static uint32_t order[CROWD_MOST * CROWD_CALLS];
    uint32_t n = c->size * CROWD_CALLS, i;
    for (i = 0; i < n; i++) order[i] = i;
    for (i = n - 1; i > 0; i--) {
        uint32_t other = test_random(seed) % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (i = 0; i < n; i++) {
        const member *m = &c->members[order[i] / CROWD_CALLS];
        uint32_t call = order[i] % CROWD_CALLS;
        char words[CROWD_TEXT];
        phi_status status;
        crowd_words(m, call, words);
        while ((status = phi_call_reply(m->calls[call], words)) == PHI_FULL) (void)crowd_step(c, 0);
        CHECK_EQ_INT(status, PHI_OK);
        CHECK_EQ_INT(phi_call_reply(m->calls[call], "again"), PHI_STALE);
    }
}

/* Prompt, ten calls, their results, and the answer to them. */
static void check_history(const member *m) {
    uint32_t call;
    CHECK_EQ_INT(m->ends, 1);
    CHECK_EQ_INT(m->status, PHI_OK);
    CHECK_EQ_INT(m->cancelled, 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(m->agent)), 2 + CROWD_CALLS + 1);
    for (call = 0; call < CROWD_CALLS; call++) {
        CHECK(crowd_result_is(m, 2 + call, call));
        CHECK(!phi_thread_message_at(phi_agent_thread(m->agent), 2 + call)->is_error);
    }
    CHECK_STR(phi_thread_message_at(phi_agent_thread(m->agent), 2 + CROWD_CALLS)->content[0].text,
              "thanks to all");
}

/* Bytes in use when all have ended and their histories are still there. */
static size_t play(crowd *c, uint32_t *seed) {
    uint32_t i, most = PATIENCE;
    size_t used;
    c->started = 0;
    for (i = 0; i < c->size; i++) {
        member *m = &c->members[i];
        m->started = m->ends = m->cancelled = 0;
        CHECK_EQ_INT(phi_prompt(m->agent, "all of you, to work"), PHI_OK);
    }
    while (c->started < c->size * CROWD_CALLS && most-- > 0) (void)crowd_step(c, 0);
    CHECK_EQ_INT(c->started, c->size * CROWD_CALLS);
    CHECK_EQ_INT(phi_pending(c->rt, NULL, 0), c->size * CROWD_CALLS);
    finish_all(c, seed);
    while (crowd_step(c, 0) > 0 && most-- > 0) {}
    CHECK(most > 0);
    for (i = 0; i < c->size; i++) check_history(&c->members[i]);
    (void)crowd_step(c, 0);
    used = phi_memory_used(c->rt, NULL);
    for (i = 0; i < c->size; i++) CHECK_EQ_INT(phi_agent_reset(c->members[i].agent), PHI_OK);
    return used;
}

TEST(a_thousand_agents_with_ten_pending_tools_each_do_not_grow_after_the_second_round) {
    static crowd c;
    size_t used[ROUNDS], idle[ROUNDS];
    uint32_t seed = 3;
    int round;
    if (!crowd_new(&c, CROWD_MOST, NULL)) return;
    for (round = 0; round < ROUNDS; round++) {
        used[round] = play(&c, &seed);
        idle[round] = phi_memory_used(c.rt, NULL);
    }
    CHECK_EQ_INT(used[2], used[1]);
    CHECK_EQ_INT(idle[2], idle[1]);
    phi_runtime_free(c.rt);
}

TEST_MAIN(
    TEST_ENTRY(a_thousand_agents_with_ten_pending_tools_each_do_not_grow_after_the_second_round))
