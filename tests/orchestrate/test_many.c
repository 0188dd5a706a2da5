/* test_many.c - a hundred sub-agents at once under one parent, three levels deep: cancelled, without
   memory, saved and loaded at moments of chance. Each seed is one story; PHI_SEEDS says how many,
   PHI_SEED picks one. */
#include "agent/snapshot.h"
#include "orchestrate/family.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "base/arena.h"
#include "log/thread.h"
#include "model/message.h"

enum { LEVELS = 3, SEEDS = 4 };

typedef struct world {
    rig *r;
    family f;
    phi_agent_desc desc[LEVELS + 1]; /* 0: the parent's */
    phi_subagent_desc sub[LEVELS];
    phi_tool tool[LEVELS];
    phi_agent lead, spawned;
    uint32_t seed, x;
    int sub_ends, spawns, ends, restores;
    bool lost; /* a snapshot could not be loaded */
} world;

static uint32_t chance(world *w, uint32_t n) {
    w->x ^= w->x << 13;
    w->x ^= w->x >> 17;
    w->x ^= w->x << 5;
    return w->x % n;
}

static void hear(void *user_data, const phi_event *e) {
    world *w = (world *)user_data;
    w->sub_ends += e->kind == PHI_EV_SUBAGENT_END;
    w->ends += e->kind == PHI_EV_AGENT_END;
}

/* 5 children, of which each has 4, of which each has 5: 125 in all. */
static void world_begin(world *w, uint32_t seed, bool shown) {
    static const char *const prompts[] = {"lead 5", "lead 4", "lead 5", "worker"};
    int i;
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->x = seed * 2654435761u + 1;
    w->r = rig_new();
    family_begin(&w->f, w->r);
    for (i = LEVELS; i >= 0; i--) {
        w->desc[i] = family_desc(&w->f, prompts[i]);
        if (i == LEVELS) continue;
        w->sub[i].name = "worker";
        w->sub[i].agent = &w->desc[i + 1];
        w->sub[i].max_depth = LEVELS;
        w->sub[i].keep = i == 0 ? 2 : 0;
        w->sub[i].show_events = shown && i != 1;
        w->tool[i] = phi_subagent_tool(&w->sub[i]);
        w->desc[i].tools = &w->tool[i];
        w->desc[i].tool_count = 1;
    }
    rig_watch(w->r, hear, w);
    w->lead = rig_agent(w->r, &w->desc[0]);
}

static void save_and_load(world *w) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {"", 0};
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_agent_snapshot(w->lead, &arena, &text) == PHI_OK) {
        phi_agent_free(w->lead);
        w->lead = phi_agent_restore(rig_runtime(w->r), &w->desc[0], text, PHI_RESTORE_RESUME);
        w->lost = w->lead.rt == NULL;
        w->restores++;
        if (!w->lost) (void)phi_spawn(w->lead, &w->sub[0], NULL, NULL);
    }
    phi_arena_free(&arena);
}

static void act(world *w) {
    switch (chance(w, 24)) {
    case 0: (void)phi_abort(w->lead); break;
    case 1:
    case 2: save_and_load(w); break;
    case 3: test_alloc_fail_some(w->x, 60 + chance(w, 400)); break;
    case 4: test_alloc_fail_some(0, 0); break;
    case 5:
        if (phi_spawn(w->lead, &w->sub[0], "spawned fail", &w->spawned) == PHI_OK) w->spawns++;
        break;
    case 6:
        if (phi_agent_alive(w->spawned)) phi_agent_free(w->spawned);
        break;
    case 7: (void)phi_prompt(w->lead, chance(w, 3) == 0 ? "part fail" : "part"); break;
    default: break;
    }
}

/* Each call of the log has one result. */
static void one_result_a_call(const world *w) {
    size_t n = phi_thread_message_count(phi_agent_thread(w->lead)), i, j, k;
    for (i = 0; i < n; i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(w->lead), i);
        for (k = 0; m->role == PHI_ROLE_ASSISTANT && k < m->content_count; k++) {
            size_t results = 0;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL || m->content[k].incomplete) continue;
            for (j = i + 1; j < n; j++)
                results +=
                    phi_thread_message_at(phi_agent_thread(w->lead), j)->role ==
                        PHI_ROLE_TOOL_RESULT &&
                    phi_str_equal(phi_thread_message_at(phi_agent_thread(w->lead), j)->tool_call_id,
                                  m->content[k].id);
            CHECK_EQ_INT(results, 1);
        }
    }
}

static void story(uint32_t seed, bool shown) {
    world w;
    int step, failures = test_failures();
    world_begin(&w, seed, shown);
    CHECK_EQ_INT(phi_prompt(w.lead, "part"), PHI_OK);
    for (step = 0; step < 60 && !w.lost; step++) {
        (void)rig_run(w.r, 1);
        act(&w);
    }
    test_alloc_fail_some(0, 0);
    if (!w.lost) {
        phi_spending spent;
        double paid;
        /* again, for those that had no memory */
        CHECK_EQ_INT(phi_spawn(w.lead, &w.sub[0], NULL, NULL), PHI_OK);
        CHECK_EQ_INT(rig_run(w.r, 400), 0);
        CHECK_EQ_INT(phi_prompt(w.lead, "part"), PHI_OK); /* whatever was */
        CHECK_EQ_INT(rig_run(w.r, 400), 0);
        one_result_a_call(&w);
        spent = phi_agent_get_info(w.lead).spending;
        paid = (double)w.f.answers * (FAMILY_INPUT * 0.01 + FAMILY_OUTPUT * 0.1);
        CHECK(spent.cost > paid - 0.005 && spent.cost < paid + 0.005);
        CHECK_EQ_INT(spent.tokens, w.f.answers * (FAMILY_INPUT + FAMILY_OUTPUT));
        CHECK_EQ_INT(spent.reserved_tokens, 0);
        CHECK_EQ_INT(w.sub_ends, w.spawns);
    }
    CHECK_EQ_INT(w.f.open, 0);
    rig_free(w.r);
    if (test_failures() != failures)
        printf("  PHI_SEED=%u%s\n", (unsigned)seed, shown ? ", shown" : "");
}

static void stories(bool shown) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t seeds = more != NULL ? (uint32_t)atoi(more) : (uint32_t)SEEDS, seed;
    if (chosen != NULL) {
        story((uint32_t)atoi(chosen), shown);
        return;
    }
    for (seed = 1; seed <= seeds; seed++) story(seed, shown);
}

TEST(a_hundred_children_are_there_at_once_and_all_is_counted) {
    world w;
    world_begin(&w, 1, false);
    CHECK_EQ_INT(phi_prompt(w.lead, "part"), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 400), 0);
    CHECK_EQ_INT(w.f.most, 100);
    CHECK_EQ_INT(w.f.answers, 100 + 2 * 26);
    CHECK_EQ_INT(w.ends, 1);
    one_result_a_call(&w);
    rig_free(w.r);
}

TEST(hidden_children_leave_nothing_whatever_happens) { stories(false); }
TEST(shown_children_leave_nothing_whatever_happens) { stories(true); }

TEST_MAIN(TEST_ENTRY(a_hundred_children_are_there_at_once_and_all_is_counted),
          TEST_ENTRY(hidden_children_leave_nothing_whatever_happens),
          TEST_ENTRY(shown_children_leave_nothing_whatever_happens))
