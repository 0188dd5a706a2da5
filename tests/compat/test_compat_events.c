/* test_compat_events.c - events as JSON: of scenes, and one of each kind with every field set; read back
   and written again: tests/fixtures/compat/events. PHI_COMPAT_WRITE=1 writes missing ones (compat.h).

   NAME.jsonl: a scene's events, of each kind the first two. every_kind.jsonl: made by hand; Forgotten is
   there alone, since its figures depend on the bytes of structs. */
#include "record/event_json.h"
#include "compat/scenes_crew.h"
#include "persist/file_store.h"
#include "loop/hook.h"

enum { KINDS = PHI_EV_OPAQUE + 1, OF_A_KIND = 2 };

static unsigned seen[KINDS]; /* by scenes, over the program */

typedef struct heard_events {
    compat_text out;
    unsigned count[KINDS];
} heard_events;

static void add_event(compat_text *out, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str json = PHI_ZERO;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK);
    compat_str(out, json);
    compat_add(out, "\n", 1);
    phi_arena_free(&arena);
}

static void hear(void *user_data, const phi_event *event) {
    heard_events *h = (heard_events *)user_data;
    seen[event->kind]++;
    if (h->count[event->kind]++ < OF_A_KIND) add_event(&h->out, event);
}

/* Each line of a stored file, read and written: the same bytes. */
static void read_again(const char *name) {
    phi_memory memory;
    phi_arena arena;
    compat_text out = PHI_ZERO;
    size_t len, at = 0;
    char *stored = compat_stored(name, &len);
    if (stored == NULL) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    while (at < len) {
        size_t end = at + strcspn(stored + at, "\n");
        phi_event event;
        phi_parse_error error;
        if (CHECK_EQ_INT(
                phi_event_from_json(phi__str(stored + at, end - at), &arena, &event, &error),
                PHI_OK))
            add_event(&out, &event);
        at = end + 1;
    }
    (void)compat_same(name, out.at, out.len, stored, len);
    compat_drop(&out);
    phi_arena_free(&arena);
    free(stored);
}

/* ---- of scenes ---- */

static const char *const chosen[] = {
    "request_in_its_stream",   "calls_and_input_pending",    "decision_pending",
    "paused_at_a_limit",       "delay_before_a_retry",       "failures_and_a_call",
    "failover_and_a_call",     "input_refused_and_dropped",  "prompt_and_tools_that_change",
    "tool_state_and_effects",  "compacted_near_its_window",  "pruned_and_reverted",
    "a_policy_with_summaries", "hosted_blocks_and_thinking", "rewritten_and_a_rewrite_that_waits",
    "subagents_at_work",       "evaluation_with_a_judge",    "tree_of_thoughts",
    "limits_reached"};

static bool is_chosen(const scene_kind *kind) {
    size_t i;
    for (i = 0; i < PHI__COUNT(chosen); i++)
        if (strcmp(chosen[i], kind->name) == 0) return true;
    return false;
}

static void live(const scene_kind *kind, const phi_store *store) {
    heard_events *h = (heard_events *)calloc(1, sizeof *h);
    char name[160];
    scene s;
    if (h == NULL) abort();
    scene_begin(&s, kind, NULL);
    rig_watch(s.r, hear, h);
    s.desc.store = store;
    s.desc.thread_id = store != NULL ? "thread" : NULL;
    if (scene_open(&s)) {
        kind->act(&s);
        kind->rest(&s);
    }
    (void)snprintf(name, sizeof name, "events/%s.jsonl", kind->name);
    scene_close(&s);
    (void)compat_done(name, &h->out);
    read_again(name);
    free(h);
}

static void each(const scene_kind *kinds, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        int failures = test_failures();
        if (!is_chosen(&kinds[i])) continue;
        live(&kinds[i], NULL);
        scene_failed(&kinds[i], failures);
    }
}

TEST(events_of_scenes_are_written_and_read_as_before) {
    each(scenes_of_loops, PHI__COUNT(scenes_of_loops));
    each(scenes_of_hosts, PHI__COUNT(scenes_of_hosts));
    each(scenes_of_histories, PHI__COUNT(scenes_of_histories));
    each(scenes_of_threads, PHI__COUNT(scenes_of_threads));
    each(scenes_of_crews, PHI__COUNT(scenes_of_crews));
}

static const scene_kind stored_kind = {"stored_thread", scene_plain_make, fresh_act, fresh_rest, 0};

TEST(events_of_a_thread_in_a_store_are_written_and_read_as_before) {
    char directory[400];
    phi_file_store_desc desc = PHI_ZERO;
    phi_store store;
    int kind;
    if (!test_temp_dir(directory, sizeof directory)) return;
    desc.directory = directory;
    desc.allocator = test_allocator();
    CHECK_EQ_INT(phi_file_store_open(&desc, &store), PHI_OK);
    live(&stored_kind, &store);
    phi_file_store_close(&store);
    for (kind = 1; kind < KINDS; kind++) /* the tests before this one, too */
        if (!CHECK(seen[kind] > 0 || kind == PHI_EV_FORGOTTEN))
            printf("  no scene has a %s\n", phi_event_name((phi_event_kind)kind));
}

/* ---- one of each kind, with every field ---- */

typedef struct whole {
    every_kind kinds;
    phi_loop_info loop;
    phi_usage usage;
    phi_failure failure;
    phi_compaction compaction;
    phi_pruned pruned;
    phi_reverted reverted;
    phi_parallel parallel;
    phi_forgotten forgotten;
    phi_context context;
    phi_strategy_progress strategy;
    int64_t timestamps[2];
    phi_str ids[2];
} whole;

static void whole_parts(whole *w) {
    w->timestamps[0] = 1001;
    w->timestamps[1] = 1002;
    w->ids[0] = phi_str_of("n4");
    w->ids[1] = phi_str_of("n5");
    w->usage = w->kinds.messages[1].usage;
    w->failure.kind = PHI_FAILURE_RATE_LIMITED;
    w->failure.retryable = true;
    w->failure.has_retry_after = true;
    w->failure.retry_after_ms = 1500;
    w->failure.http_status = 429;
    w->failure.code = phi_str_of("rate_limit_error");
    w->failure.message = phi_str_of("slow \"down\"");
    w->failure.request_id = phi_str_of("req_1");
    w->compaction.estimated_tokens = 900;
    w->compaction.message_count = 9;
    w->compaction.messages_before = 9;
    w->compaction.messages_after = 3;
    w->compaction.tokens_before = 900;
    w->compaction.tokens_after = 300;
    w->compaction.loops_compacted = 2;
    w->pruned.tokens_removed = 50;
    w->pruned.messages_removed = 2;
    w->pruned.memo = phi_str_of("a memo");
    w->pruned.timestamps = w->timestamps;
    w->pruned.timestamp_count = 2;
    w->reverted.category = phi_str_of("tangent");
    w->reverted.target = phi_str_of("n3");
    w->reverted.abandoned = w->ids;
    w->reverted.abandoned_count = 2;
    w->reverted.summary = phi_str_of("a summary");
    w->reverted.applied = true;
    w->reverted.reason = phi_str_of("");
}

static void more_parts(whole *w) {
    w->loop.agent_id = phi_str_of("agent");
    w->loop.session_id = phi_str_of("session");
    w->loop.loop_id = phi_str_of("session.m.2");
    w->loop.parent_loop_id = phi_str_of("session.m.1");
    w->loop.continuation = PHI_CONTINUATION_RERUN;
    w->loop.tag = phi_str_of("2026-01-01T00:00:00Z");
    w->loop.metadata = phi_str_of("{\"who\":\"ada\"}");
    w->parallel.session_id = phi_str_of("session");
    w->parallel.loop_ids = w->ids;
    w->parallel.loop_count = 2;
    w->parallel.selected_loop_id = w->ids[1];
    w->parallel.selected_index = 1;
    w->parallel.evaluation_usage = w->usage;
    w->forgotten.from = 3;
    w->forgotten.to = 17;
    w->forgotten.messages = 6;
    w->forgotten.bytes = 14000;
    w->forgotten.compacted = true;
    w->forgotten.made_ms = 1000;
    w->context.tokens = 700;
    w->context.limit = 800;
    w->context.messages = 12;
    w->context.shown = 5;
    w->context.need_from = 2;
    w->context.need_to = 8;
    w->strategy.name = phi_str_of("tot");
    w->strategy.phase = phi_str_of("evaluating");
    w->strategy.calls = 3;
    w->strategy.most_calls = 52;
    w->strategy.nodes = 7;
    w->strategy.has_score = true;
    w->strategy.score = 0.625;
}

static phi_event whole_event(const whole *w, phi_agent agent, int kind) {
    phi_event e = PHI_ZERO;
    e.kind = (phi_event_kind)kind;
    e.agent = agent;
    e.seq = 77;
    e.timestamp_ms = 1700000000123;
    e.loop_id = phi_str_of("session.m.2");
    e.turn_index = 4;
    e.block_index = 1;
    e.trigger = PHI_TRIGGER_BRANCH;
    e.is_error = true;
    e.tool_call_id = phi_str_of("c9");
    e.tool_name = phi_str_of("echo");
    e.arguments = phi_str_of("{\"n\": [1,2.50]}");
    e.text = phi_str_of(kind == PHI_EV_TURN_REQUEST || kind == PHI_EV_TOOL_STATE ||
                                kind == PHI_EV_EFFECT || kind == PHI_EV_OPAQUE
                            ? "{\"json\":true}"
                            : "some \"text\" \xe2\x82\xac");
    e.partial = phi_str_of("so far some \"text\"");
    e.message = &w->kinds.messages[kind == PHI_EV_TOOL_END || kind == PHI_EV_TOOL_UPDATE ? 2 : 1];
    e.usage = &w->usage;
    e.failure = &w->failure;
    e.loop = &w->loop;
    e.compaction = &w->compaction;
    e.point = PHI_HOOK_QUESTION;
    e.attempt = 2;
    e.attempts = 4;
    e.delay_ms = 1500;
    e.status = PHI_REFUSED;
    e.elapsed_ms = 250;
    e.input = PHI_INPUT_INJECTED;
    e.source = phi_str_of("clock");
    e.rejection = phi_str_of("no");
    e.child_loop_id = phi_str_of("child.m.1");
    e.pruned = &w->pruned;
    e.reverted = &w->reverted;
    e.parallel = &w->parallel;
    e.forgotten = &w->forgotten;
    e.context = &w->context;
    e.strategy = &w->strategy;
    e.question_kind = phi_str_of("elicitation");
    return e;
}

TEST(an_event_of_each_kind_with_every_field_is_written_and_read_as_before) {
    static const char name[] = "events/every_kind.jsonl";
    whole *w = (whole *)calloc(1, sizeof *w);
    compat_text out = PHI_ZERO;
    scene s;
    int kind;
    if (w == NULL) abort();
    kinds_user(&w->kinds);
    kinds_answer(&w->kinds);
    kinds_rest(&w->kinds);
    whole_parts(w);
    more_parts(w);
    scene_begin(&s, &stored_kind, NULL);
    if (scene_open(&s)) {
        scene_talk(&s, "Hello.", "Hello.");
        for (kind = 1; kind < KINDS; kind++) {
            phi_event event = whole_event(w, s.agent, kind);
            event.first_message = 0;
            event.message_count = 2;
            add_event(&out, &event);
        }
    }
    scene_close(&s);
    (void)compat_done(name, &out);
    read_again(name);
    free(w);
}

TEST(the_folder_has_no_other_events) { compat_folder("events"); }

TEST_MAIN(TEST_ENTRY(events_of_scenes_are_written_and_read_as_before),
          TEST_ENTRY(events_of_a_thread_in_a_store_are_written_and_read_as_before),
          TEST_ENTRY(an_event_of_each_kind_with_every_field_is_written_and_read_as_before),
          TEST_ENTRY(the_folder_has_no_other_events))
