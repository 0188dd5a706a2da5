/* test_effects_random.c - the tool state under random rounds, branches, failures, snapshots and a
   store: it is what a plain map in the test says, now and at every earlier entry, and it does not
   depend on the order in which calls finish (invariant 14). */
#include "support/tool_state.h"
#include "features/effects.h"

#include "agent/snapshot.h"
#include "support/heard.h"
#include "support/store_mem.h"
#include "text/json.h"
#include "agent/agent_history.h"
#include "log/log_in.h"
#include "text/text_in.h"

enum { KEYS = 6, LANES = 5, MARKS = 64, CALLS = 4, ACTIONS = 24, SEEDS = 120 };

/* The expected state: values from 1; 0: the key is missing. */
typedef struct map {
    int value[KEYS];
} map;

typedef struct mark {
    uint64_t seq;
    int lane;
    map state;
} mark;

typedef struct world {
    uint32_t seed;
    rig *r;
    store_mem *store;
    phi_agent_desc desc;
    phi_tool tool;
    phi_agent agent;
    phi_call calls[CALLS];
    char args[CALLS][400];
    size_t started;
    int lane, lanes, next;
    map now[LANES];
    mark marks[MARKS];
    size_t marked;
} world;

static uint32_t draw(world *w, uint32_t below) {
    w->seed = w->seed * 1664525u + 1013904223u;
    return (w->seed >> 8) % below;
}

static phi_flow hold(void *user_data, phi_call call, phi_str arguments) {
    world *w = (world *)user_data;
    size_t i = w->started++ % CALLS;
    w->calls[i] = call;
    (void)snprintf(w->args[i], sizeof w->args[i], "%.*s", (int)arguments.len, arguments.at);
    return PHI_PENDING;
}

/* The arguments are {"fx":[...]}. */
static void finish_call(world *w, size_t i) {
    phi_tool_result result;
    char effects[400];
    memset(&result, 0, sizeof result);
    (void)snprintf(effects, sizeof effects, "%.*s", (int)strlen(w->args[i]) - 7, w->args[i] + 6);
    result.effects = effects;
    CHECK_EQ_INT(phi_call_result(w->calls[i], &result), PHI_OK);
}

static void empty(map *m) { memset(m, 0, sizeof *m); }

/* A random effect on one key, and what it does to the map. */
static void effect(world *w, map *m, char *out, size_t size) {
    int key = (int)draw(w, KEYS), value = (int)draw(w, 1000) + 1;
    switch (draw(w, 5)) {
    case 0:
        (void)snprintf(out, size, "{\"op\":\"merge\",\"value\":{\"k%d\":%d}}", key, value);
        break;
    case 1:
        (void)snprintf(out, size, "{\"op\":\"set_path\",\"path\":\"/k%d\",\"value\":%d}", key,
                       value);
        break;
    case 2:
        (void)snprintf(out, size, "{\"op\":\"replace\",\"value\":{\"k%d\":%d}}", key, value);
        empty(m);
        break;
    case 3:
        (void)snprintf(out, size, "{\"op\":\"delete_keys\",\"keys\":[\"k%d\",\"no\"]}", key);
        value = 0;
        break;
    default:
        (void)snprintf(out, size, "{\"op\":\"delete_path\",\"path\":\"/k%d\"}", key);
        value = 0;
        break;
    }
    m->value[key] = value;
}

static void check_state(phi_str text, const map *want, const char *where) {
    phi_memory memory;
    phi_arena arena;
    phi_json *root = NULL;
    char name[8];
    int i, n = 0;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_json_parse(&arena, text, 0, &root, NULL), PHI_OK);
    for (i = 0; i < KEYS; i++) {
        (void)snprintf(name, sizeof name, "k%d", i);
        if (!CHECK_EQ_INT(phi_json_int(phi_json_get(root, name), 0), want->value[i]))
            printf("%s: %.*s\n", where, (int)text.len, text.at);
        n += want->value[i] != 0;
    }
    CHECK_EQ_INT(phi_json_count(root), n);
    phi_arena_free(&arena);
}

static const char *lane_name(int lane, char out[16]) {
    (void)snprintf(out, 16, "lane%d", lane);
    return lane == 0 ? PHI_LANE_DEFAULT : out;
}

static void check_at(world *w, int lane, uint64_t seq, const map *want, const char *where) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    char name[16];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_tool_state(phi_agent_thread(w->agent), lane_name(lane, name), seq,
                                       &arena, &text),
                 PHI_OK);
    check_state(text, want, where);
    phi_arena_free(&arena);
}

static void remember(world *w) {
    mark *m;
    if (w->marked == MARKS || phi_thread_count(phi_agent_thread(w->agent)) == 0) return;
    m = &w->marks[w->marked++];
    m->seq = phi_thread_count(phi_agent_thread(w->agent)) - 1;
    m->lane = w->lane;
    m->state = w->now[w->lane];
}

static void reload(world *w, bool snapshot) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (snapshot) CHECK_EQ_INT(phi_agent_snapshot(w->agent, &arena, &text), PHI_OK);
    phi_agent_free(w->agent);
    w->started = 0;
    w->agent = snapshot ? phi_agent_restore(rig_runtime(w->r), &w->desc, text, PHI_RESTORE_RESUME)
                        : phi_agent_new(rig_runtime(w->r), &w->desc);
    CHECK(w->agent.rt != NULL);
    phi_arena_free(&arena);
}

/* A run of one round, whose calls finish in any order, perhaps with a snapshot in its midst; a run
   that fails afterwards is rolled back where nothing of it is kept. */
static void round_of_calls(world *w) {
    char lines[CALLS][400];
    const char *calls[CALLS];
    size_t n = 1 + draw(w, CALLS), i, k, left[CALLS];
    map after = w->now[w->lane];
    bool fails = draw(w, 4) == 0, saves = w->store == NULL && draw(w, 3) == 0;
    for (i = 0; i < n; i++) {
        char one[100], two[100];
        effect(w, &after, one, sizeof one);
        effect(w, &after, two, sizeof two);
        (void)snprintf(lines[i], sizeof lines[i], "c%d fx {\"fx\":[%s,%s]}", w->next++, one, two);
        calls[i] = lines[i];
        left[i] = i;
    }
    w->started = 0;
    rig_calls(w->r, calls, n);
    if (fails) rig_replies(w->r, 400, HEARD_JSON, HEARD_BOOM);
    if (!fails) rig_says(w->r, "done");
    CHECK_EQ_INT(phi_prompt(w->agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(w->r, 10), 1);
    CHECK_EQ_INT(w->started, n);
    for (k = n; k > 0; k--) {
        size_t at = draw(w, (uint32_t)k);
        finish_call(w, left[at]);
        if (draw(w, 2) == 0) (void)rig_step(w->r);
        for (i = at; i + 1 < k; i++) left[i] = left[i + 1];
        if (!saves || k == 1) continue;
        saves = false; /* once: the calls are then resumed in their order */
        (void)rig_step(w->r);
        reload(w, true);
        (void)rig_run(w->r, 3);
        CHECK_EQ_INT(w->started, k - 1);
        for (i = 0; i + 1 < k; i++) left[i] = i;
    }
    CHECK_EQ_INT(rig_run(w->r, 40), 0);
    if (!fails || w->desc.keep != PHI_KEEP_NONE) w->now[w->lane] = after;
}

static void branch(world *w) {
    phi_thread *thread = phi_agent_thread(w->agent);
    const mark *m = w->marked > 0 ? &w->marks[draw(w, (uint32_t)w->marked)] : NULL;
    char name[16], from[16];
    if (m == NULL || w->lanes == LANES) return;
    CHECK_EQ_INT(
        phi_thread_fork_lane(thread, lane_name(w->lanes, name), lane_name(m->lane, from), m->seq),
        PHI_OK);
    w->now[w->lanes++] = m->state;
}

static void change_lane(world *w) {
    char name[16];
    w->lane = (int)draw(w, (uint32_t)w->lanes);
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(w->agent), lane_name(w->lane, name)), PHI_OK);
    if (draw(w, 2) == 0) (void)rig_step(w->r); /* which may evict */
}

static void set_by_host(world *w) {
    char text[40];
    int key = (int)draw(w, KEYS), value = (int)draw(w, 1000) + 1;
    (void)snprintf(text, sizeof text, "{\"k%d\":%d}", key, value);
    CHECK_EQ_INT(phi_agent_set_tool_state(w->agent, phi_str_of(text)), PHI_OK);
    empty(&w->now[w->lane]);
    w->now[w->lane].value[key] = value;
}

static void act(world *w) {
    switch (draw(w, 8)) {
    case 0: branch(w); break;
    case 1: change_lane(w); break;
    case 2: set_by_host(w); break;
    case 3: reload(w, w->store == NULL); break;
    default: round_of_calls(w); break;
    }
    check_state(tool_state(w->agent), &w->now[w->lane], "now");
    remember(w);
}

static void play(uint32_t seed) {
    static world world_of;
    world *w = &world_of;
    size_t i;
    int failures = test_failures();
    memset(w, 0, sizeof *w);
    w->seed = seed;
    w->lanes = 1;
    w->r = rig_new();
    if (seed % 2 == 0) w->store = store_mem_new();
    w->tool.name = "fx";
    w->tool.description = "Has effects";
    w->tool.start = w->tool.resume = hold;
    w->tool.user_data = w;
    w->tool.may_repeat = true;
    w->desc = rig_desc();
    w->desc.tools = &w->tool;
    w->desc.tool_count = 1;
    w->desc.keep = seed % 3 == 0 ? PHI_KEEP_NONE : PHI_KEEP_COMPLETE;
    w->desc.store = w->store != NULL ? store_mem_store(w->store) : NULL;
    if (w->store != NULL) w->desc.thread_id = "t";
    w->agent = rig_agent(w->r, &w->desc);
    for (i = 0; i < ACTIONS; i++) act(w);
    for (i = 0; i < (size_t)w->lanes; i++)
        check_at(w, (int)i, UINT64_MAX, &w->now[i], "at the end");
    for (i = 0; i < w->marked; i++)
        check_at(w, w->marks[i].lane, w->marks[i].seq, &w->marks[i].state, "at a mark");
    rig_free(w->r);
    if (w->store != NULL) store_mem_free(w->store);
    if (test_failures() > failures) printf("seed %u\n", (unsigned)seed);
}

TEST(the_state_is_that_of_a_plain_map_whatever_happens) {
    const char *given = getenv("PHI_SEED");
    uint32_t seed;
    if (given != NULL) {
        play((uint32_t)strtoul(given, NULL, 10));
        return;
    }
    for (seed = 1; seed <= SEEDS && test_failures() == 0; seed++) play(seed);
}

TEST_MAIN(TEST_ENTRY(the_state_is_that_of_a_plain_map_whatever_happens))
