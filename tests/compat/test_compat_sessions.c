/* test_compat_sessions.c - sessions as the recorder makes them out of a scene's events, and as they are
   read off its thread; read back, and written again; facts about threads as text:
   tests/fixtures/compat/sessions. PHI_COMPAT_WRITE=1 writes missing ones (compat.h).

   NAME_1.json, NAME_2.json: what the recorder has; NAME_others.json: the first one as the original
   reads it; NAME_thread.json: of the thread; NAME_context.json: the messages that are loaded of it;
   NAME_info.txt: figures, explanation, description; NAME_result.json: of a strategy. */
#include "support/figures.h"
#include "support/outcome.h"
#include "support/recorded.h"
#include "agent/one_shot_run.h"
#include "compat/scenes_crew.h"
#include "persist/introspect.h"
#include "record/recorder.h"
#include "record/session_context.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "features/failover.h"

/* ---- which of them ---- */

enum { RECORDED = 1, OTHERS = 2, THREAD = 4, INFO = 8, RESULT = 16 };

typedef struct choice {
    const char *name;
    int parts; /* of which there are files: sessions as JSON are long */
} choice;

static const choice chosen[] = {{"request_in_its_stream", RECORDED | INFO},
                                {"calls_and_input_pending", INFO},
                                {"failures_and_a_call", INFO},
                                {"input_refused_and_dropped", RECORDED},
                                {"compacted", INFO},
                                {"compacted_near_its_window", THREAD},
                                {"pruned_and_reverted", THREAD | INFO},
                                {"messages_of_every_kind", THREAD | INFO},
                                {"sessions_begun_anew", RECORDED},
                                {"lanes_and_a_branch", INFO},
                                {"subagents_at_work", RECORDED},
                                {"evaluation_with_a_judge", RECORDED},
                                {"tool_state_and_effects", INFO},
                                {"tree_of_thoughts", RESULT},
                                {"graph_of_thoughts", RESULT},
                                {"trm", RESULT},
                                {"algorithm_of_thoughts", RESULT},
                                {"chain_of_thought", RESULT},
                                {"adaptive", RESULT},
                                {"chain_of_draft", RECORDED | OTHERS | THREAD | INFO}};

static int parts_of(const scene_kind *kind) {
    size_t i;
    for (i = 0; i < PHI__COUNT(chosen); i++)
        if (strcmp(chosen[i].name, kind->name) == 0) return chosen[i].parts;
    return 0;
}

static void hear(void *user_data, const phi_event *event) {
    CHECK_EQ_INT(phi_recorder_add((phi_recorder *)user_data, event), PHI_OK);
}

/* ---- sessions ---- */

static void write_session(scene *s, const phi_session *session, uint32_t flags,
                          const char *suffix) {
    char name[160];
    phi_str text = PHI_ZERO;
    (void)snprintf(name, sizeof name, "sessions/%s_%s.json", s->kind->name, suffix);
    CHECK_EQ_INT(phi_session_to_json(session, flags, &s->arena, &text), PHI_OK);
    (void)compat_file(name, text.at, text.len);
}

/* The stored session, read and written: the same bytes. */
static phi_session *read_session(scene *s, uint32_t flags, const char *suffix) {
    phi_allocator allocator = test_allocator();
    char name[160], *stored;
    phi_session *session = NULL;
    phi_parse_error error;
    phi_str text = PHI_ZERO, again = PHI_ZERO;
    (void)snprintf(name, sizeof name, "sessions/%s_%s.json", s->kind->name, suffix);
    stored = compat_stored(name, &text.len);
    if (stored == NULL) return NULL;
    text.at = stored;
    if (CHECK_EQ_INT(phi_session_from_json(text, &allocator, 0, &session, &error), PHI_OK)) {
        CHECK_EQ_INT(phi_session_to_json(session, flags, &s->arena, &again), PHI_OK);
        (void)compat_same(name, again.at, again.len, text.at, text.len);
    }
    free(stored);
    return session;
}

static void one_session(scene *s, const phi_session *session, uint32_t flags, const char *suffix) {
    write_session(s, session, flags, suffix);
    phi_session_free(read_session(s, flags, suffix));
}

/* Blocks for the session of the agent's own thread; files of the first two sessions. */
static void recorded(scene *s, phi_recorder *recorder, int parts) {
    phi_str own = phi_agent_get_info(s->agent).session_id;
    phi_session *session;
    char suffix[20];
    unsigned n = 0;
    (void)phi_recorder_flush(recorder, PHI_FLUSH_ALL);
    while ((session = phi_recorder_drain(recorder)) != NULL) {
        (void)snprintf(suffix, sizeof suffix, "%u", ++n);
        if (phi_str_equal(session->session_id, own))
            CHECK_EQ_INT(compact_from(session, phi_agent_thread(s->agent)), PHI_OK);
        if (n <= 2 && (parts & RECORDED) != 0)
            one_session(s, session, PHI_SESSION_OWN_EVENTS, suffix);
        if (n == 1 && (parts & OTHERS) != 0) one_session(s, session, 0, "others");
        phi_session_free(session);
    }
}

/* ---- the thread's own ---- */

static void of_thread(scene *s) {
    phi_allocator allocator = test_allocator();
    phi_session *session = NULL;
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(s->agent), &allocator, &session), PHI_OK);
    one_session(s, session, PHI_SESSION_OWN_EVENTS, "thread");
    phi_session_free(session);
}

/* The stored session in a new thread: the messages of its view. */
static void loaded(scene *s) {
    phi_session *session = read_session(s, PHI_SESSION_OWN_EVENTS, "thread");
    phi_thread *thread = phi_thread_new(rig_runtime(s->r), 0);
    const phi_view_item *items = NULL;
    compat_text out = PHI_ZERO;
    size_t count = 0, i;
    char name[160], words[300] = "";
    if (CHECK(session != NULL)) {
        CHECK_EQ_INT(phi_session_to_thread(session, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, NULL,
                                           NULL, thread, words, sizeof words),
                     PHI_OK);
        CHECK_EQ_INT(phi_thread_view(thread, NULL, UINT64_MAX, &s->arena, &items, &count), PHI_OK);
    }
    for (i = 0; i < count; i++) {
        phi_str json = PHI_ZERO;
        CHECK_EQ_INT(phi_message_to_json(items[i].message, &s->arena, &json), PHI_OK);
        compat_str(&out, json);
        compat_add(&out, "\n", 1);
    }
    (void)snprintf(name, sizeof name, "sessions/%s_context.jsonl", s->kind->name);
    (void)compat_done(name, &out);
    phi_session_free(session);
    phi_thread_free(thread);
}

static void info(scene *s) {
    const phi_thread *thread = phi_agent_thread(s->agent);
    phi_lane_figures f = PHI_ZERO;
    phi_describe all = PHI_ZERO;
    phi_str text = PHI_ZERO;
    compat_text out = PHI_ZERO;
    char name[160];
    CHECK_EQ_INT(lane_figures(thread, NULL, UINT64_MAX, &f), PHI_OK);
    compat_print(&out, "%u messages: %u user, %u answers, %u results, %u extensions, %u made\n",
                 (unsigned)f.messages, (unsigned)f.user, (unsigned)f.answers, (unsigned)f.results,
                 (unsigned)f.extensions, (unsigned)f.made);
    compat_print(&out, "%u summaries, %u calls, %u open, %u bytes, %u tokens\n",
                 (unsigned)f.summaries, (unsigned)f.calls, (unsigned)f.open_calls,
                 (unsigned)f.text_bytes, (unsigned)f.tokens);
    CHECK_EQ_INT(phi_agent_explain(s->agent, &s->arena, &text), PHI_OK);
    compat_str(&out, text);
    all.last = PHI_UNLIMITED;
    all.text_bytes = 60;
    CHECK_EQ_INT(phi_thread_describe(thread, &all, &s->arena, &text, NULL), PHI_OK);
    compat_str(&out, text);
    (void)snprintf(name, sizeof name, "sessions/%s_info.txt", s->kind->name);
    (void)compat_done(name, &out);
}

/* ---- results of strategies ---- */

static void result(scene *s) {
    phi_str text = PHI_ZERO;
    char name[160];
    if (s->desc.provider == NULL || strategy_result(s->agent, &s->arena, &text) != PHI_OK) return;
    (void)snprintf(name, sizeof name, "sessions/%s_result.json", s->kind->name);
    (void)compat_file(name, text.at, text.len);
}

/* ---- the messages of a history ---- */

/* Saved as JSON, restored, and saved again. */
static void messages(scene *s) {
    phi_str first = PHI_ZERO, again = PHI_ZERO;
    phi_parse_error error;
    CHECK_EQ_INT(phi_agent_messages_to_json(s->agent, &s->arena, &first), PHI_OK);
    CHECK_EQ_INT(phi_agent_messages_from_json(s->agent, first, &error), PHI_OK);
    CHECK_EQ_INT(phi_agent_messages_to_json(s->agent, &s->arena, &again), PHI_OK);
    (void)compat_same("saved messages", again.at, again.len, first.at, first.len);
}

static void record(const scene_kind *kind, int parts) {
    phi_recorder_desc desc = PHI_ZERO;
    phi_recorder *recorder;
    scene s;
    desc.allocator = test_allocator();
    desc.turn_requests = true;
    desc.by_inactivity = true;
    desc.inactivity_s = 2;
    desc.scope = PHI_SESSION_PERSISTENT;
    recorder = phi_recorder_new(&desc);
    scene_begin(&s, kind, NULL);
    rig_watch(s.r, hear, recorder);
    if (CHECK(recorder != NULL) && scene_open(&s)) {
        kind->act(&s);
        kind->rest(&s);
        recorded(&s, recorder, parts);
        if ((parts & THREAD) != 0) of_thread(&s);
        if ((parts & THREAD) != 0) loaded(&s);
        if ((parts & INFO) != 0) info(&s);
        result(&s);
        rig_watch(s.r, NULL, NULL);
        messages(&s);
    }
    scene_close(&s);
    phi_recorder_free(recorder);
}

static void each(const scene_kind *kinds, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        int failures = test_failures();
        if (parts_of(&kinds[i]) == 0) continue;
        record(&kinds[i], parts_of(&kinds[i]));
        scene_failed(&kinds[i], failures);
    }
}

TEST(sessions_are_recorded_written_and_read_as_before) {
    each(scenes_of_loops, PHI__COUNT(scenes_of_loops));
    each(scenes_of_hosts, PHI__COUNT(scenes_of_hosts));
    each(scenes_of_histories, PHI__COUNT(scenes_of_histories));
    each(scenes_of_threads, PHI__COUNT(scenes_of_threads));
    each(scenes_of_crews, PHI__COUNT(scenes_of_crews));
}

TEST(the_folder_has_no_other_sessions) { compat_folder("sessions"); }

TEST_MAIN(TEST_ENTRY(sessions_are_recorded_written_and_read_as_before),
          TEST_ENTRY(the_folder_has_no_other_sessions))
