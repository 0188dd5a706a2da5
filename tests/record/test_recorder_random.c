/* test_recorder_random.c - events in any order, of a handful of loops in three sessions, with checkpoints, drains and
   flushes in between: whatever comes, what stands in the sessions holds together.
   PHI_SEEDS says how many stories, PHI_SEED picks one. */
#include "support/recorded.h"
#include "recorder_support.h"
#include "text/json.h"

enum { SEEDS = 200, STEPS = 120, LOOPS = 12 };

static const char *const ids[LOOPS] = {"s.a.1", "s.a.2", "s.b.1", "t.a.1", "t.a.2",   "t.b.1",
                                       "u",     "u.x.1", "u.y.2", "gone",  "other.1", ""};
static uint32_t state;

static uint32_t pick(uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static const char *some(void) { return ids[pick(LOOPS)]; }

/* ---- what must hold ---- */

static void check_loop(const phi_session *s, const phi_loop_record *loop) {
    size_t i;
    for (i = 1; i < loop->event_count; i++)
        CHECK(loop->events[i - 1].sequence < loop->events[i].sequence);
    for (i = 0; i < loop->child_count; i++) {
        const phi_loop_record *child = session_loop(s, loop->children[i]);
        CHECK(child != NULL);
        CHECK(child != loop);
    }
    for (i = 0; i < loop->spawned_count; i++) CHECK(loop->spawned[i].child_loop_id.len > 0);
    for (i = 0; i < loop->turn_count; i++)
        CHECK(phi_str_equal(loop->turns[i].loop_id, loop->loop_id));
    if (loop->status == PHI_LOOP_COMPLETED || loop->status == PHI_LOOP_REJECTED)
        CHECK(loop->has_ended);
    else
        CHECK(!loop->has_ended && loop->message_count == 0);
    if (loop->status == PHI_LOOP_PENDING) CHECK(loop->event_count == 0 && loop->group != NULL);
    if (loop->status != PHI_LOOP_PENDING && loop->event_count > 0)
        CHECK_EQ_INT(loop->events[0].sequence, 0);
    if (loop->group != NULL && loop->group->is_selected)
        CHECK(phi_str_equal(loop->group->selected_loop_id, loop->loop_id));
    CHECK(phi_session_loops(s, PHI_LOOP_CHAIN, loop->loop_id, NULL, 0) <= s->loop_count);
}

static void check_session(const phi_session *s, bool completed) {
    uint64_t tokens = 0;
    size_t i;
    CHECK(s->session_id.len > 0);
    if (s->rejected) CHECK_EQ_INT(s->loop_count, 0);
    for (i = 0; i < s->loop_count; i++) {
        check_loop(s, s->loops[i]);
        CHECK(phi_str_equal(s->loops[i]->session_id, s->session_id));
        if (completed)
            CHECK(s->loops[i]->status != PHI_LOOP_RUNNING &&
                  s->loops[i]->status != PHI_LOOP_PENDING);
        tokens += s->loops[i]->usage.total_tokens;
    }
    CHECK_EQ_INT(session_usage(s).total_tokens, tokens);
    if (s->parent != NULL) CHECK(!phi_str_equal(s->parent->parent_session_id, s->session_id));
}

static void check_all(void) {
    const phi_session *s;
    size_t i, j, n = recorder_session_count(rec);
    for (i = 0; i < n; i++) {
        s = recorder_session_at(rec, i);
        check_session(s, false);
        for (j = i + 1; j < n; j++)
            CHECK(!phi_str_equal(s->session_id, recorder_session_at(rec, j)->session_id));
    }
    for (i = 0; i < LOOPS; i++) {
        const phi_loop_record *loop = recorder_running(rec, phi_str_of(ids[i]));
        if (loop != NULL) CHECK_EQ_INT(loop->status, PHI_LOOP_RUNNING);
    }
}

static void check_drained(phi_session *s) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_session *back = NULL;
    phi_str first, second;
    check_session(s, true);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_session_to_json(s, PHI_SESSION_OWN_EVENTS, &arena, &first), PHI_OK);
    CHECK_EQ_INT(phi_session_from_json(first, &allocator, 0, &back, NULL), PHI_OK);
    CHECK_EQ_INT(phi_session_to_json(back, PHI_SESSION_OWN_EVENTS, &arena, &second), PHI_OK);
    CHECK(phi_str_equal(first, second));
    phi_session_free(back);
    phi_arena_free(&arena);
}

/* ---- what comes ---- */

static void drain(bool keep) {
    phi_session *s;
    while ((s = phi_recorder_drain(rec)) != NULL) {
        check_drained(s);
        if (keep && phi_recorder_resume(rec, s) == PHI_OK) return;
        phi_session_free(s);
    }
}

static void something(void) {
    const char *loop = some();
    switch (pick(14)) {
    case 0:
    case 1: start(pick(3) == 0 ? "" : pick(2) == 0 ? "s" : "t", loop, NULL, (int)pick(60)); break;
    case 2:
    case 3: start("", loop, some(), (int)pick(60)); break;
    case 4:
    case 5: stop(loop, (int)pick(60)); break;
    case 6: turn_start(loop, (int)pick(4)); break;
    case 7: turn_end(loop); break;
    case 8: feed("{'type':'MessageEnd','loop_id':'%s','message':" QUESTION "}", loop); break;
    case 9: call_end(loop, pick(2) == 0 ? "c1" : "c2", some()); break;
    case 10:
        feed("{'type':'ParallelLoopStart','session_id':'%s','loop_ids':['%s','%s']}",
             pick(2) == 0 ? "s" : "t", loop, some());
        break;
    case 11:
        feed("{'type':'ParallelLoopEnd','session_id':'s','selected_loop_id':'%s',"
             "'selected_config_index':%u}",
             loop, (unsigned)pick(3));
        break;
    case 12:
        feed("{'type':'MessageUpdate','loop_id':'%s','message':" ANSWER
             ",'delta':{'Text':{'delta':'h'}}}",
             loop);
        break;
    default:
        if (pick(3) == 0) (void)phi_recorder_flush(rec, PHI_FLUSH_IDLE);
        if (pick(6) == 0) (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
        if (pick(3) == 0) drain(pick(2) == 0);
    }
}

static bool sometimes(void *user_data, const phi_session *session) {
    (void)user_data;
    CHECK_EQ_INT(session->loop_count == 0 || session->loops[0]->status == PHI_LOOP_PENDING ||
                     session->loops[0]->status == PHI_LOOP_ABORTED,
                 true);
    return pick(8) != 0;
}

static void story(uint32_t seed) {
    phi_recorder_desc desc;
    int i;
    state = seed * 2654435761u + 1;
    memset(&desc, 0, sizeof desc);
    desc.by_inactivity = pick(2) == 0;
    desc.inactivity_s = 10;
    desc.streaming_events = pick(2) == 0;
    desc.before_task_fn = sometimes;
    rec_begin(&desc);
    for (i = 0; i < STEPS; i++) {
        something();
        check_all();
    }
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    drain(false);
    CHECK_EQ_INT(recorder_session_count(rec), 0);
    rec_end();
}

TEST(whatever_comes_sessions_hold_together) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t seed, most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    if (chosen != NULL) {
        story((uint32_t)strtoul(chosen, NULL, 10));
        return;
    }
    for (seed = 1; seed <= most; seed++) {
        story(seed);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) printf("PHI_SEED=%u\n", (unsigned)seed);
    }
}

TEST_MAIN(TEST_ENTRY(whatever_comes_sessions_hold_together))
