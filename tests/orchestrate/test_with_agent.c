/* test_with_agent.c - graphs, reviews and choices as an agent's provider: snapshots after each step, each
   allocation failing once, calls that are used up, and an end by the host. */
#include "support/outcome.h"
#include "think.h"

#include "agent/snapshot.h"
#include "agent/agent_info.h"
#include "text/json_in.h"

#include <stdlib.h>

enum { ANSWERS = 6 };

typedef struct story {
    const phi_strategy *(*strategy)(void);
    const void *options;
    const char *prompt;
    const char *answers[ANSWERS]; /* of the model; up to a NULL */
    const char *answer;
    const char *call_id;     /* its place in a snapshot */
    const char *after_three; /* the answer of a run of at most three calls */
} story;

static const story *story_at(size_t i) {
    static const phi_got_options votes = {PHI_GOT_VOTING, 1,    0,    0,    0, 0,     0,   NULL,
                                          NULL,           NULL, NULL, NULL, 0, false, 0.0, 0};
    static const phi_got_options weights = {
        PHI_GOT_WEIGHTED, 1, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, false, 0.0, 0};
    static const story all[] = {
        {phi_strategy_got,
         NULL,
         "24?",
         {"1. a\n2. b", "CONNECTION: [1] -> [2] : c", "1. d", "NONE", "the end", NULL},
         "the end",
         "attached.strategy.state.call_id",
         "b"},
        {phi_strategy_got,
         &votes,
         "24?",
         {"1. a\n2. b", "NONE", "VOTE: [2]", "VOTE: [2]", NULL, NULL},
         "b",
         "attached.strategy.state.call_id",
         "b"},
        {phi_strategy_got,
         &weights,
         "24?",
         {"1. a\n2. b", "NONE", "WEIGHT: [2]: 0.5", "the end", NULL, NULL},
         "the end",
         "attached.strategy.state.call_id",
         "b"},
        {phi_strategy_trm,
         NULL,
         "24?",
         {"Answer: a", "SCORE: 0.2", "notes", "Answer: b", "SCORE: 1.0", NULL},
         "b",
         "attached.strategy.state.calls",
         "a"},
        {phi_strategy_adaptive,
         NULL,
         "A riddle",
         {"Answer: a", "SCORE: 0.2", "notes", "Answer: b", "SCORE: 1.0", NULL},
         "b",
         "attached.strategy.state.state.calls",
         "a"}};
    return i < PHI__COUNT(all) ? &all[i] : NULL;
}

static size_t story_script(const story *s, rig *r, size_t from) {
    size_t i = 0;
    for (; i < ANSWERS && s->answers[i] != NULL; i++)
        if (i >= from) rig_says(r, s->answers[i]);
    return i;
}

/* False: the run was over by then. */
static bool resume_after(const story *s, int steps) {
    think t, u;
    phi_agent agent, other;
    phi_str text;
    phi__json_found made;
    size_t asked = 0, all;
    think_begin(&t, rig_new(), s->strategy(), s->options);
    t.agent_desc.budget.max_requests = 60;
    all = story_script(s, t.r, 0);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, s->prompt), PHI_OK);
    if (rig_run(t.r, steps) == 0) {
        CHECK_EQ_STR(think_answer(agent), s->answer);
        CHECK_EQ_INT(rig_requests(t.r), all);
        think_end(&t);
        return false;
    }
    CHECK_EQ_INT(phi_agent_snapshot(agent, &t.arena, &text), PHI_OK);
    think_begin(&u, rig_new(), s->strategy(), s->options);
    u.provider = phi_strategy_provider(&u.desc);
    u.agent_desc.budget.max_requests = 60;
    if (phi__json_cursor_find(text, s->call_id, &made) == PHI_OK)
        asked = (size_t)atoi(made.raw.at) - 1; /* the call under way is made again */
    (void)story_script(s, u.r, asked);
    other = phi_agent_restore(rig_runtime(u.r), &u.agent_desc, text, PHI_RESTORE_RESUME);
    CHECK(other.rt != NULL);
    CHECK_EQ_INT(rig_run(u.r, 200), 0);
    CHECK_EQ_INT(rig_requests(u.r), all - asked);
    CHECK_EQ_STR(think_answer(other), s->answer);
    CHECK_EQ_INT(phi_agent_get_info(other).spending.reserved_tokens, 0);
    think_end(&u);
    think_end(&t);
    return true;
}

TEST(a_snapshot_after_each_step_comes_to_the_same_answer) {
    size_t i;
    int steps;
    for (i = 0; story_at(i) != NULL; i++) {
        for (steps = 0; resume_after(story_at(i), steps); steps++)
            if (!CHECK(steps < 30) || test_failures() > 0) {
                printf("story %u, after %d steps\n", (unsigned)i, steps);
                return;
            }
        CHECK(steps > 3);
    }
}

static void scenario(const story *s) {
    think t;
    phi_agent agent;
    rig *r = rig_new_with(NULL);
    if (r == NULL) return;
    think_begin(&t, r, s->strategy(), s->options);
    (void)story_script(s, t.r, 0);
    agent = think_agent(&t);
    if (agent.rt != NULL && phi_prompt(agent, s->prompt) == PHI_OK) {
        CHECK_EQ_INT(rig_run(t.r, 300), 0);
        CHECK_EQ_INT(t.h.ends, 1);
        if (t.h.status == PHI_OK) CHECK_EQ_STR(think_answer(agent), s->answer);
    }
    think_end(&t);
}

TEST(each_allocation_may_fail) {
    size_t i;
    for (i = 0; story_at(i) != NULL; i++) {
        int n = 0;
        bool tripped;
        do {
            test_alloc_fail_at(n);
            scenario(story_at(i));
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            if (test_failures() > 0) {
                printf("story %u, allocation %d\n", (unsigned)i, n);
                return;
            }
            n++;
        } while (tripped);
        CHECK(n > 50);
    }
}

TEST(when_the_calls_are_used_up_the_best_so_far_is_the_answer) {
    size_t i;
    for (i = 0; story_at(i) != NULL; i++) {
        const story *s = story_at(i);
        think t;
        phi_agent agent;
        think_begin(&t, rig_new(), s->strategy(), s->options);
        t.desc.max_calls = 3;
        (void)story_script(s, t.r, 0);
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, s->prompt), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 200), 0);
        CHECK_EQ_INT(rig_requests(t.r), 3);
        CHECK_EQ_STR(think_answer(agent), s->after_three);
        CHECK(strstr(think_result(&t, agent, "termination.reason"), "max_calls") != NULL ||
              strstr(think_result(&t, agent, "result.termination.reason"), "max_calls") != NULL);
        think_end(&t);
    }
}

TEST(the_host_settles_for_what_there_is) {
    size_t i;
    for (i = 0; story_at(i) != NULL; i++) {
        const story *s = story_at(i);
        think t;
        phi_agent agent;
        phi_strategy_best best;
        think_begin(&t, rig_new(), s->strategy(), s->options);
        rig_says(t.r, s->answers[0]);
        rig_hangs(t.r, "");
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, s->prompt), PHI_OK);
        CHECK(rig_run(t.r, 60) > 0);
        CHECK_EQ_INT(strategy_best(agent, &t.arena, &best), PHI_OK);
        CHECK(best.text.len > 0);
        CHECK_EQ_INT(phi_strategy_settle(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 60), 0);
        CHECK_EQ_STR(think_answer(agent), "a");
        CHECK_EQ_INT(t.h.status, PHI_OK);
        CHECK_EQ_INT(rig_open_transfers(t.r), 0);
        think_end(&t);
    }
}

TEST_MAIN(TEST_ENTRY(a_snapshot_after_each_step_comes_to_the_same_answer),
          TEST_ENTRY(each_allocation_may_fail),
          TEST_ENTRY(when_the_calls_are_used_up_the_best_so_far_is_the_answer),
          TEST_ENTRY(the_host_settles_for_what_there_is))
