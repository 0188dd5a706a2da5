/* recorded.h - what a recorder and a session have, for checks in one line. */
#ifndef PHI_TESTS_SUPPORT_RECORDED_H
#define PHI_TESTS_SUPPORT_RECORDED_H

#include "record/event_json.h"
#include "record/session_in.h"
#include "model/model_in.h"
#include "record/session_context.h"
#include "log/log_in.h"

/* An event out of its JSON. */
static inline phi_status add_json(phi_recorder *to, phi_str json) {
    phi_memory memory;
    phi_arena arena;
    phi_event event;
    phi_status status;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = phi_event_from_json(json, &arena, &event, NULL);
    if (status == PHI_OK) status = phi_recorder_add(to, &event);
    phi_arena_free(&arena);
    return status;
}

/* Sessions, completed ones first; NULL past the last. */
static inline const phi_session *recorder_session_at(const phi_recorder *recorder, size_t i) {
    phi__session_box *box = NULL;
    do box = phi__known_each(recorder, box);
    while (box != NULL && i-- > 0);
    return box != NULL ? &box->pub : NULL;
}

static inline const phi_loop_record *session_loop(const phi_session *session, phi_str loop_id) {
    const phi_loop_record *loop = NULL;
    (void)phi_session_loops(session, PHI_LOOP_ITSELF, loop_id, &loop, 1);
    return loop;
}

static inline size_t recorder_session_count(const phi_recorder *recorder) {
    size_t n = 0;
    while (recorder_session_at(recorder, n) != NULL) n++;
    return n;
}

static inline const phi_session *recorder_find(const phi_recorder *recorder, phi_str session_id) {
    const phi_session *session;
    size_t i;
    for (i = 0; (session = recorder_session_at(recorder, i)) != NULL; i++)
        if (phi_str_equal(session->session_id, session_id)) break;
    return session;
}

/* The running loop of that id; NULL: none. */
static inline const phi_loop_record *recorder_running(const phi_recorder *recorder,
                                                      phi_str loop_id) {
    const phi_session *session;
    size_t i;
    for (i = 0; (session = recorder_session_at(recorder, i)) != NULL; i++) {
        const phi_loop_record *loop = session_loop(session, loop_id);
        if (loop != NULL && loop->status == PHI_LOOP_RUNNING) return loop;
    }
    return NULL;
}

static inline phi_usage session_usage(const phi_session *session) {
    phi_usage total = PHI_ZERO;
    size_t i;
    for (i = 0; i < session->loop_count; i++)
        phi__message_add_usage(&total, &session->loops[i]->usage);
    return total;
}

static inline phi_status compact_session(phi_session *session, phi_str loop_id, uint32_t flags,
                                         const phi_compaction_config *config, int64_t at_ms,
                                         size_t *loops) {
    phi_session_compact_desc desc = PHI_ZERO;
    desc.loop_id = loop_id;
    desc.flags = flags;
    desc.config = config;
    desc.at_ms = at_ms;
    return phi_session_compact(session, &desc, loops, NULL, 0);
}

static inline phi_status compact_from(phi_session *session, const phi_thread *thread) {
    phi_session_compact_desc desc = PHI_ZERO;
    desc.thread = thread;
    return phi_session_compact(session, &desc, NULL, NULL, 0);
}

#endif
