/* test_session_props.c - a thread's log seen as a session, against the log itself: random histories, worked out from the
   entries in the most obvious way. Each seed is one history; PHI_SEEDS says how many, PHI_SEED picks one. */
#include "support/session_list.h"
#include "support/recorded.h"
#include "record/session_context.h"

#include "log_support.h"
#include "log/random_log.h"

enum { SEEDS = 200, STEPS = 80, LOOPS = 128 };

static bool failed;

#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!CHECK(condition)) failed = true;                                                      \
    } while (0)

static phi_str as_json(const phi_message *m, phi_arena *arena) {
    phi_str out = {"", 0};
    HOLDS(phi_message_to_json(m, arena, &out) == PHI_OK);
    return out;
}

/* ---- any log ---- */

/* What the entries say of a loop. */
typedef struct oracle {
    phi_str loop_id;
    size_t messages, turns, ends;
    bool in_turn;
    phi_loop_status status;
    uint64_t tokens;
} oracle;

static oracle *find(oracle *loops, size_t count, phi_str loop_id) {
    while (count-- > 0)
        if (phi_str_equal(loops[count].loop_id, loop_id)) return &loops[count];
    return NULL;
}

static void one_message(const phi_session *s, size_t at, oracle *loop, const phi_message *m,
                        phi_arena *arena) {
    const phi_loop_record *record = s->loops[at];
    HOLDS(loop->messages < record->message_count);
    if (failed) return;
    HOLDS(phi_str_equal(as_json(m, arena), as_json(&record->messages[loop->messages], arena)));
    loop->messages++;
}

/* Each message of the log is in the loop that it is of, in order, and nowhere else. */
static void compare_with_entries(const phi_thread *thread, const phi_session *s, phi_arena *arena) {
    static oracle loops[LOOPS];
    phi_entry e;
    phi_usage usage = phi_thread_get_info(thread).usage, total = session_usage(s);
    size_t n = 0, i, strays = 0, all = 0, held = 0;
    uint64_t seq, sum = 0;
    memset(loops, 0, sizeof loops);
    for (seq = 0; phi_thread_entry(thread, seq, &e) == PHI_OK && !failed; seq++) {
        oracle *loop;
        if (e.kind == PHI_ENTRY_LOOP_START) {
            REQUIRE(n < LOOPS && n < s->loop_count);
            HOLDS(phi_str_equal(s->loops[n]->loop_id, e.loop_id));
            HOLDS(s->loops[n]->started_ms == e.at_ms);
            loops[n].loop_id = e.loop_id;
            loops[n++].status = PHI_LOOP_RUNNING;
            continue;
        }
        loop = e.loop_id.len > 0 ? find(loops, n, e.loop_id) : NULL;
        all += e.kind == PHI_ENTRY_MESSAGE;
        strays += e.kind == PHI_ENTRY_MESSAGE && loop == NULL;
        if (loop == NULL) continue;
        if (e.kind == PHI_ENTRY_MESSAGE)
            one_message(s, (size_t)(loop - loops), loop, e.message, arena);
        if (e.kind == PHI_ENTRY_LOOP_END) {
            loop->ends++;
            loop->status = e.status == PHI_REJECTED ? PHI_LOOP_REJECTED : PHI_LOOP_COMPLETED;
            if (e.usage != NULL) loop->tokens = e.usage->total_tokens;
        }
        if (e.kind == PHI_ENTRY_TURN_END && loop->ends == 0 && e.usage != NULL)
            loop->tokens += e.usage->total_tokens;
    }
    HOLDS(s->loop_count == n);
    for (i = 0; i < n && !failed; i++) {
        HOLDS(loops[i].ends <= 1);
        HOLDS(s->loops[i]->has_ended == (loops[i].ends == 1));
        HOLDS(s->loops[i]->status == loops[i].status);
        HOLDS(s->loops[i]->message_count == loops[i].messages);
        held += s->loops[i]->message_count;
        sum += loops[i].tokens;
    }
    HOLDS(held + strays == all);
    HOLDS(total.total_tokens == sum);
    HOLDS(memcmp(&total, &usage, sizeof total) == 0);
}

static size_t turns_of(const phi_loop_record *loop) {
    size_t i, n = 0;
    for (i = 0; i < loop->message_count; i++) {
        const phi_message *m = &loop->messages[i], *before = i > 0 ? m - 1 : NULL;
        n += before == NULL || m->loop_id.len == 0 || !phi_str_equal(m->loop_id, before->loop_id) ||
             m->turn_index != before->turn_index;
    }
    return n;
}

static void range_holds(const phi_block_section *section, size_t turns) {
    HOLDS(!section->present || (section->from <= section->to && section->to < turns));
    HOLDS(section->present || section->message_count == 0);
}

/* The book's invariants of blocks: sections lie in the loop, in order, and only the last loop has more than one. */
static void blocks_hold(const phi_session *s, phi_arena *arena) {
    const phi_message *list = NULL;
    size_t i, count = 0, last = 0, all = 0, held = 0;
    for (i = 0; i < s->loop_count; i++) {
        if (s->loops[i]->message_count > 0) last = i;
        held += s->loops[i]->message_count;
    }
    for (i = 0; i < s->loop_count && !failed; i++) {
        const phi_compaction_block *b = s->loops[i]->block;
        size_t turns = turns_of(s->loops[i]);
        if (b == NULL) continue;
        range_holds(&b->keep_first, turns);
        range_holds(&b->keep_compacted, turns);
        range_holds(&b->keep_recent, turns);
        HOLDS(i <= last && (i == last || b->keep_compacted.present));
        HOLDS(b->keep_first.message_count == 0);
        if (b->keep_first.present) HOLDS(b->keep_first.from == 0);
        if (b->keep_first.present && b->keep_compacted.present)
            HOLDS(b->keep_compacted.from == b->keep_first.to + 1);
        if (b->keep_recent.present) HOLDS(b->keep_recent.to == turns - 1);
        if (b->keep_recent.present && b->keep_compacted.present)
            HOLDS(b->keep_recent.from == b->keep_compacted.to + 1);
        all += b->keep_compacted.message_count + b->keep_recent.message_count;
    }
    HOLDS(session_list(s, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, NULL, NULL, arena, &list,
                       &count) == PHI_OK);
    HOLDS(count <= all + held);
}

static void json_goes_round(const phi_session *s, phi_arena *arena) {
    phi_allocator allocator = test_allocator();
    phi_session *back = NULL;
    phi_str first = {"", 0}, second = {"", 0};
    HOLDS(phi_session_to_json(s, PHI_SESSION_OWN_EVENTS, arena, &first) == PHI_OK);
    HOLDS(phi_session_from_json(first, &allocator, 0, &back, NULL) == PHI_OK);
    if (failed) return;
    HOLDS(phi_session_to_json(back, PHI_SESSION_OWN_EVENTS, arena, &second) == PHI_OK);
    HOLDS(phi_str_equal(first, second));
    phi_session_free(back);
}

/* Ends of any number, of any loop. */
static void compare_messages(const phi_thread *thread, const phi_session *s, phi_arena *arena) {
    size_t i, at;
    for (i = 0; i < s->loop_count && !failed; i++) {
        phi_entry e;
        uint64_t seq;
        bool begun = false;
        for (seq = 0, at = 0; phi_thread_entry(thread, seq, &e) == PHI_OK && !failed; seq++) {
            if (!phi_str_equal(e.loop_id, s->loops[i]->loop_id)) continue;
            begun = begun || e.kind == PHI_ENTRY_LOOP_START;
            if (e.kind != PHI_ENTRY_MESSAGE || !begun) continue;
            HOLDS(at < s->loops[i]->message_count);
            if (failed) return;
            HOLDS(phi_str_equal(as_json(e.message, arena),
                                as_json(&s->loops[i]->messages[at++], arena)));
        }
        HOLDS(at == s->loops[i]->message_count);
    }
}

/* A run ends once; between them, and of none, there is everything else. */
static void step(random_log *g, bool *running) {
    switch (log_below(g, 16)) {
    case 0:
    case 1:
        log_mark(g, *running ? PHI_ENTRY_LOOP_END : PHI_ENTRY_LOOP_START);
        *running = !*running;
        break;
    case 2: log_mark(g, log_chance(g, 50) ? PHI_ENTRY_TURN_START : PHI_ENTRY_TURN_END); break;
    case 3: log_mark(g, PHI_ENTRY_SPAWN); break;
    case 4: log_extension(g); break;
    case 5:
        if (!*running) log_lane(g);
        break;
    case 6: log_revoke(g); break;
    case 7:
    case 8: log_rewrite(g); break;
    case 9:
    case 10:
    case 11: log_user(g); break;
    default: log_answer(g); break;
    }
}

static void look(const phi_thread *thread, phi_memory *memory, bool wild) {
    phi_allocator allocator = test_allocator();
    phi_session *s = NULL;
    phi_arena arena;
    phi_arena_init(&arena, memory, 0);
    HOLDS(phi_session_of_thread(thread, &allocator, &s) == PHI_OK);
    if (!failed && wild) compare_messages(thread, s, &arena);
    if (!failed && !wild) compare_with_entries(thread, s, &arena);
    if (!failed) blocks_hold(s, &arena);
    if (!failed) json_goes_round(s, &arena);
    phi_session_free(s);
    phi_arena_free(&arena);
}

static void any_log(uint32_t seed, bool wild) {
    static phi_thread thread;
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    random_log g;
    bool running = false;
    int i;
    memset(&g, 0, sizeof g);
    g.thread = &thread;
    g.state = seed;
    phi_memory_init(&memory, &allocator, 0);
    phi__thread_init(&thread, &memory, NULL);
    for (i = 1; i <= STEPS && !failed; i++) {
        if (wild)
            (void)log_grow(&g, 1);
        else
            step(&g, &running);
        if (i % 20 == 0) look(&thread, &memory, wild);
    }
    HOLDS(!g.failed);
    phi__journal_free_thread(&thread);
    HOLDS(test_alloc_live_bytes() == 0);
}

static void tame_log(uint32_t seed) { any_log(seed, false); }
static void wild_log(uint32_t seed) { any_log(seed, true); }

/* ---- logs that are only compacted ---- */

/* Another thread that takes the session up shows what would be sent of it. */
static void taken_up(const phi_session *s, uint32_t scope_runs, phi_memory *memory) {
    static phi_thread thread;
    phi_compaction_config config;
    const phi_view_item *items = NULL;
    const phi_message *list = NULL;
    phi_arena arena;
    size_t count = 0, shown = 0, i;
    char said[200] = "";
    memset(&config, 0, sizeof config);
    config.scope_runs = scope_runs;
    phi_arena_init(&arena, memory, 0);
    phi__thread_init(&thread, memory, NULL);
    HOLDS(phi_session_to_thread(s, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, &config, NULL, &thread,
                                said, sizeof said) == PHI_OK);
    HOLDS(session_list(s, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, &config, NULL, &arena, &list,
                       &count) == PHI_OK);
    HOLDS(phi_thread_view(&thread, NULL, UINT64_MAX, &arena, &items, &shown) == PHI_OK);
    HOLDS(count == shown);
    for (i = 0; i < count && !failed; i++)
        HOLDS(phi_str_equal(as_json(&list[i], &arena), as_json(items[i].message, &arena)));
    if (failed) printf("  %s\n", said);
    phi__journal_free_thread(&thread);
    phi_arena_free(&arena);
}

/* All loops of the session, as a model would be sent them, are what the thread shows. */
static void blocks_show_the_view(run_log *l) {
    phi_allocator allocator = test_allocator();
    phi_compaction_config config;
    const phi_view_item *items = NULL;
    const phi_message *list = NULL;
    phi_session *s = NULL;
    phi_arena arena;
    size_t count = 0, shown = 0, i;
    memset(&config, 0, sizeof config);
    config.scope_runs = UINT32_MAX;
    phi_arena_init(&arena, &l->memory, 0);
    HOLDS(phi_session_of_thread(runs_thread(l), &allocator, &s) == PHI_OK);
    HOLDS(session_list(s, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, &config, NULL, &arena, &list,
                       &count) == PHI_OK);
    HOLDS(phi_thread_view(runs_thread(l), NULL, UINT64_MAX, &arena, &items, &shown) == PHI_OK);
    HOLDS(count == shown);
    for (i = 0; i < count && !failed; i++)
        HOLDS(phi_str_equal(as_json(&list[i], &arena), as_json(items[i].message, &arena)));
    if (!failed) blocks_hold(s, &arena);
    if (!failed) taken_up(s, UINT32_MAX, &l->memory);
    if (!failed) taken_up(s, 1, &l->memory);
    phi_session_free(s);
    phi_arena_free(&arena);
}

static const char *words(uint32_t *state) {
    static char out[400];
    size_t n = 3 + test_random(state) % 390, i;
    for (i = 0; i < n; i++) out[i] = test_random(state) % 12 == 0 ? '\n' : 'w';
    out[n] = '\0';
    return out;
}

static void one_turn(run_log *l, uint32_t *state, unsigned turn) {
    l->flags = test_random(state) % 12 == 0 ? (uint32_t)PHI_ENTRY_DURABLE : 0u;
    if (turn == 0 || test_random(state) % 4 == 0) runs_text(l, PHI_ROLE_USER, turn, words(state));
    while (test_random(state) % 2 == 0) runs_call(l, turn, words(state));
    runs_text(l, PHI_ROLE_ASSISTANT, turn, words(state));
}

static void compact_by_chance(run_log *l, uint32_t *state, unsigned *ops) {
    phi_compaction_config config;
    char op_id[16];
    memset(&config, 0, sizeof config);
    config.keep_first_turns = test_random(state) % 3;
    config.keep_no_first = config.keep_first_turns == 0;
    config.keep_recent_turns = 1 + test_random(state) % 5;
    config.tool_output_max_lines = 2 + test_random(state) % 4;
    config.scope_runs = 1 + test_random(state) % 3;
    config.max_summary_tokens = 40 + test_random(state) % 400;
    if (test_random(state) % 3 == 0) config.focus_message = "Names.";
    (void)snprintf(op_id, sizeof op_id, "op%u", *ops);
    if (runs_compact(l, &config, op_id)) ++*ops;
}

static void revoke_last(run_log *l, unsigned ops) {
    phi_rewrite r;
    char op_id[16];
    phi_status status;
    memset(&r, 0, sizeof r);
    (void)snprintf(op_id, sizeof op_id, "op%u", ops - 1);
    r.revoke = op_id;
    status = phi_thread_rewrite(runs_thread(l), &r, NULL, NULL, 0);
    HOLDS(status == PHI_OK || status == PHI_NOT_FOUND);
}

static void compacted_log(uint32_t seed) {
    static run_log l;
    uint32_t state = seed;
    unsigned run, ops = 0;
    char name[16];
    runs_open(&l);
    for (run = 0; run < 6 && !failed; run++) {
        unsigned turn, turns = 1 + test_random(&state) % 8;
        runs_begin(&l);
        for (turn = 0; turn < turns && !failed; turn++) {
            one_turn(&l, &state, turn);
            if (test_random(&state) % 8 == 0) compact_by_chance(&l, &state, &ops);
            if (test_random(&state) % 4 == 0) blocks_show_the_view(&l);
        }
        runs_mark_of(&l, PHI_ENTRY_LOOP_END, NULL);
        if (test_random(&state) % 2 == 0) compact_by_chance(&l, &state, &ops);
        if (ops > 0 && test_random(&state) % 4 == 0) revoke_last(&l, ops);
        blocks_show_the_view(&l);
        (void)snprintf(name, sizeof name, "lane %u", run);
        if (test_random(&state) % 4 == 0) {
            HOLDS(phi_thread_fork_lane(runs_thread(&l), name, NULL, UINT64_MAX) == PHI_OK);
            HOLDS(phi_thread_switch(runs_thread(&l), name) == PHI_OK);
        }
    }
    HOLDS(!l.failed);
    runs_close(&l);
    HOLDS(test_alloc_live_bytes() == 0);
}

static void each_seed(void (*history)(uint32_t seed)) {
    const char *chosen = getenv("PHI_SEED");
    const char *more = getenv("PHI_SEEDS");
    uint32_t seed = chosen != NULL ? (uint32_t)strtoul(chosen, NULL, 10) : 1;
    uint32_t most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    failed = false;
    do history(seed);
    while (chosen == NULL && !failed && seed++ < most);
    if (failed) printf("  seed %u\n", (unsigned)seed);
}

TEST(a_random_log_seen_as_a_session_has_each_message_once_all_usage_and_one_end_a_loop) {
    each_seed(tame_log);
}

TEST(a_log_of_anything_seen_as_a_session_has_each_loop_s_messages_in_order) { each_seed(wild_log); }

TEST(a_random_log_s_blocks_show_what_the_thread_shows) { each_seed(compacted_log); }

TEST_MAIN(
    TEST_ENTRY(a_random_log_seen_as_a_session_has_each_message_once_all_usage_and_one_end_a_loop),
    TEST_ENTRY(a_log_of_anything_seen_as_a_session_has_each_loop_s_messages_in_order),
    TEST_ENTRY(a_random_log_s_blocks_show_what_the_thread_shows))
