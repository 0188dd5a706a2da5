/* test_strategy_random.c - by chance: prompts, aborts, settling, failed memory and snapshots in any
   order; each run ends once, with its own result or none. PHI_SEEDS: how many worlds (default 60). */
#include "support/outcome.h"
#include "think.h"

#include "agent/snapshot.h"
#include "agent/agent_info.h"
#include "text/json_in.h"

#include <stdlib.h>

typedef struct world {
    think t;
    phi_tot_options options;
    phi_agent agent;
    phi_tool echo;
    uint32_t seed;
    size_t begun; /* runs that began, by the return of phi_prompt */
    int prompts;
    size_t sent; /* requests of rigs that are gone */
} world;

static uint32_t dice(world *w) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return w->seed >> 8;
}

static void script(world *w) {
    char text[200];
    switch (dice(w) % 13) {
    case 0: rig_says(w->t.r, "prose"); break;
    case 1: rig_replies(w->t.r, 500, HEARD_JSON, HEARD_BOOM); break;
    case 2: rig_call(w->t.r, "c1", "echo", "{\"n\":1}"); break;
    case 3: rig_says(w->t.r, "1. p\n2. q\n3. r\n4. s"); break;
    case 4:
    case 5:
    case 6:
        (void)snprintf(text, sizeof text, "{\"thoughts\":[\"run %d\",\"b\",\"c\"]}", w->prompts);
        rig_says(w->t.r, text);
        break;
    case 7:
    case 8:
    case 9:
        (void)snprintf(text, sizeof text,
                       "CONNECTION: [1] -> [2] : x\nVOTE: [2]\nSCORE: 0.%u\n1. run %d\n2. b",
                       (unsigned)dice(w) % 100, w->prompts);
        rig_says(w->t.r, text);
        break;
    default:
        (void)snprintf(text, sizeof text, "{\"scores\":{\"t1\":0.%u,\"t2\":%u}}",
                       (unsigned)dice(w) % 100, (unsigned)(dice(w) % 8 == 0));
        rig_says(w->t.r, text);
    }
}

static void make(world *w) {
    static const phi_strategy *(*const kinds[])(void) = {
        phi_strategy_tot, phi_strategy_tot, phi_strategy_aot, strategy_steps,
        phi_strategy_got, phi_strategy_got, phi_strategy_trm, phi_strategy_adaptive};
    static const phi_got_options votes = {PHI_GOT_VOTING, 3,    2,    0,    0, 0,     0,   NULL,
                                          NULL,           NULL, NULL, NULL, 0, false, 0.0, 0};
    uint32_t kind = dice(w) % PHI__COUNT(kinds);
    think_begin(&w->t, rig_new(), kinds[kind](),
                kind < 2    ? (const void *)&w->options
                : kind == 4 ? (const void *)&votes
                            : NULL);
    memset(&w->options, 0, sizeof w->options);
    w->options.tools = dice(w) % 2 == 0;
    w->options.max_tool_rounds = 1 + dice(w) % 2;
    w->options.traversal = (phi_tot_traversal)(dice(w) % 2);
    w->options.convergence_window = PHI_UNLIMITED;
    w->t.desc.max_calls = dice(w) % 3 == 0 ? 1 + dice(w) % 6 : 0;
    w->echo = rig_echo();
    w->t.agent_desc.tools = &w->echo;
    w->t.agent_desc.tool_count = 1;
    if (dice(w) % 3 == 0) w->t.agent_desc.limits.max_tokens = 40 + dice(w) % 60;
    if (dice(w) % 4 == 0) rig_chunk(w->t.r, 37);
    if (dice(w) % 2 == 0) {
        w->t.agent_desc.budget.max_requests = 2000;
        w->t.agent_desc.budget.max_tokens = 50000000;
    }
    w->agent = think_agent(&w->t);
}

/* While a run is under way nothing of an earlier one is to be had; afterwards its own. */
static void look(world *w, bool busy) {
    phi_str text;
    phi__json_found found;
    phi_strategy_best best;
    phi_status status = strategy_result(w->agent, &w->t.arena, &text);
    char mine[32];
    CHECK(w->t.h.ends <= w->begun && w->t.h.starts <= w->begun);
    if (busy) {
        CHECK_EQ_INT(status, PHI_NOT_FOUND);
        CHECK_EQ_INT(phi_prompt(w->agent, "Too early"), PHI_BUSY);
        return;
    }
    CHECK_EQ_INT(w->t.h.ends, w->begun);
    CHECK_EQ_INT(strategy_best(w->agent, &w->t.arena, &best), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_agent_get_info(w->agent).spending.reserved_tokens, 0);
    CHECK(phi_agent_get_info(w->agent).spending.requests <=
          w->sent + rig_requests(w->t.r) + w->begun);
    if (status != PHI_OK || phi__json_cursor_find(text, "best.path_text[0]", &found) != PHI_OK)
        return;
    (void)snprintf(mine, sizeof mine, "run %d", w->prompts);
    if (phi__str_starts(found.raw, "run ")) CHECK_STR(found.raw, mine);
}

static void move_on(world *w) {
    rig *before = w->t.r;
    phi_str text;
    phi_agent other;
    if (phi_agent_snapshot(w->agent, &w->t.arena, &text) != PHI_OK) {
        CHECK(false && "a snapshot between two steps");
        return;
    }
    w->t.r = rig_new();
    rig_watch(w->t.r, heard_event, &w->t.h);
    w->t.h.starts = w->t.h.ends; /* the run's beginning is not emitted again */
    other = phi_agent_restore(rig_runtime(w->t.r), &w->t.agent_desc, text, PHI_RESTORE_RESUME);
    CHECK(other.rt != NULL);
    w->agent = other;
    w->sent += rig_requests(before);
    rig_free(before);
}

static void live(uint32_t seed) {
    world w;
    int act, steps, left;
    memset(&w, 0, sizeof w);
    w.seed = seed;
    make(&w);
    for (act = 0; act < 6 && test_failures() == 0; act++) {
        int i;
        rig_drop_answers(w.t.r);
        w.prompts++;
        for (i = 0; i < 12; i++) script(&w);
        if (CHECK_EQ_INT(phi_prompt(w.agent, "24?"), PHI_OK)) w.begun++;
        steps = (int)(dice(&w) % 60);
        left = rig_run(w.t.r, steps);
        look(&w, left > 0);
        switch (left > 0 ? dice(&w) % 4 : 9) {
        case 0: CHECK_EQ_INT(phi_abort(w.agent), PHI_OK); break;
        case 1: (void)phi_strategy_settle(w.agent); break;
        case 2:
            move_on(&w);
            for (i = 0; i < 12; i++) script(&w);
            break;
        default: break;
        }
        for (i = 0; i < 20 && rig_run(w.t.r, 100) > 0; i++) script(&w);
        CHECK_EQ_INT(rig_run(w.t.r, 1), 0);
        look(&w, false);
        CHECK_EQ_INT(rig_open_transfers(w.t.r), 0);
    }
    think_end(&w.t);
}

TEST(each_run_ends_once_with_its_own_result_whatever_happens) {
    const char *given = getenv("PHI_SEEDS");
    uint32_t seeds = given != NULL ? (uint32_t)atoi(given) : 60, seed;
    for (seed = 1; seed <= seeds; seed++) {
        live(seed);
        if (test_failures() == 0) continue;
        printf("seed %u\n", (unsigned)seed);
        return;
    }
}

/* Memory fails by chance; the agent stays usable. */
TEST(with_memory_failing_by_chance_each_run_still_ends_once) {
    uint32_t seed;
    for (seed = 1; seed <= 60; seed++) {
        think t;
        phi_agent agent;
        think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
        think_script_tree(t.r);
        agent = think_agent(&t);
        test_alloc_fail_some(seed, 5 + seed % 60);
        if (phi_prompt(agent, "24?") == PHI_OK) {
            CHECK_EQ_INT(rig_run(t.r, 300), 0);
            test_alloc_fail_some(0, 0);
            CHECK_EQ_INT(t.h.ends, 1);
        }
        test_alloc_fail_some(0, 0);
        rig_drop_answers(t.r);
        think_script_tree(t.r);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 300), 0);
        CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
        think_end(&t);
        if (test_failures() == 0) continue;
        printf("seed %u\n", (unsigned)seed);
        return;
    }
}

TEST_MAIN(TEST_ENTRY(each_run_ends_once_with_its_own_result_whatever_happens),
          TEST_ENTRY(with_memory_failing_by_chance_each_run_still_ends_once))
