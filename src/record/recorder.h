/* recorder.h - makes sessions from events.

       phi_recorder *recorder = phi_recorder_new(NULL);
       while (phi_next_event(rt, &event)) phi_recorder_add(recorder, &event);
       ...
       phi_recorder_flush(recorder, PHI_FLUSH_ALL);
       while ((session = phi_recorder_drain(recorder)) != NULL) {
           phi_session_save(&store, session, 0, NULL, 0);
           phi_session_free(session);
       }

   Pass every popped event of one or more agents to the recorder, in the order of the queue. The
   recorder uses neither the runtime nor its memory. A session is open while one of its loops runs.
   phi_recorder_flush completes sessions, and phi_recorder_drain returns completed ones. A new run
   opens a completed session again. Links between a run and its sub-agents' runs do not depend on
   the order of events.
   Threads: one at a time. */
#ifndef PHI_RECORD_RECORDER_H
#define PHI_RECORD_RECORDER_H

#include "record/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_recorder phi_recorder;

/* Zero means default for every field. */
typedef struct phi_recorder_desc {
    phi_allocator allocator;   /* copied (default: the C library's) */
    size_t memory_limit_bytes; /* limit for the recorder and its sessions (default: none) */
    bool streaming_events;     /* keep the deltas of answers (most events are deltas) */
    /* Keep requests in the turn and as events (needs phi_agent_desc.options.capture_requests) */
    bool turn_requests;
    /* Records PHI_FORMATION_INACTIVITY for a new session if its agent was idle for inactivity_s
       since its previous session (default: PHI_FORMATION_FIRST_LOOP) */
    bool by_inactivity;
    uint32_t inactivity_s; /* idle time (default 1,800; PHI_RECORDER_AT_ONCE means 0) */
    phi_session_scope scope;
    /* Called once, when the first run of a session begins. False rejects the session: the recorder
       keeps it without events and loops */
    bool (*before_task_fn)(void *user_data, const phi_session *session);
    /* Called in phi_recorder_flush(PHI_FLUSH_ALL) for each session that was not rejected */
    void (*after_task_fn)(void *user_data, const phi_session *session);
    void *user_data;
} phi_recorder_desc;

#define PHI_RECORDER_AT_ONCE UINT32_MAX

/* Makes a recorder. If desc is NULL, all fields are defaults. Returns NULL without memory.
   Callbacks must not call the recorder: its functions return PHI_MISUSE or do nothing. Caller frees
   with phi_recorder_free. */
PHI_API phi_recorder *phi_recorder_new(const phi_recorder_desc *desc);
/* Frees a recorder and all sessions that were not drained. NULL is allowed. */
PHI_API void phi_recorder_free(phi_recorder *recorder);

/* Records a copy of an event, as popped or as read by phi_event_from_json. Ignores events of
   unknown and ended loops, with one exception: the end of a call that ran another agent links both
   runs even after its loop has ended.
   PHI_NO_MEMORY: the event is lost, but `sequence` counts it. If the event announced a parallel
   group, some of its loops may be recorded all the same. If the event began a run, the run is not
   recorded. PHI_STALE: the agent was freed, and the event is lost in the same way. Also PHI_BAD_ARG
   and PHI_MISUSE. */
PHI_API phi_status phi_recorder_add(phi_recorder *recorder, const phi_event *event);

/* Passes a loaded or drained session to the recorder, to continue it. The recorder then owns the
   session, and counts it as completed. The session's memory counts towards the recorder's limit,
   and the session keeps its allocator. PHI_MISUSE: the recorder already has a session with this id.
   The caller then still owns `session`. */
PHI_API phi_status phi_recorder_resume(phi_recorder *recorder, phi_session *session);

/* Begins an open session without loops, with PHI_FORMATION_EXPLICIT. Runs with this session id
   belong to it. Without this call, a session begins with its first run. PHI_FLUSH_IDLE does not
   complete the session before its first run, and before_task_fn is called when that run begins.
   Strings are copied. If agent_id is empty, the first run sets it.
   PHI_MISUSE: the recorder has a session with this id. PHI_BAD_ARG: session_id is empty. Also
   PHI_NO_MEMORY. */
PHI_API phi_status phi_recorder_begin(phi_recorder *recorder, phi_str session_id, phi_str agent_id,
                                      int64_t at_ms);

/* The sessions that phi_recorder_flush completes. */
typedef enum phi_flush {
    PHI_FLUSH_ALL = 0, /* all sessions; running and pending loops become ABORTED */
    /* Sessions without running or pending loops, except those of phi_recorder_begin that wait for
       their first loop. after_task_fn is not called. For servers, which flush now and then */
    PHI_FLUSH_IDLE
} phi_flush;

/* Completes sessions and returns how many. */
PHI_API size_t phi_recorder_flush(phi_recorder *recorder, phi_flush which);
/* Returns the next completed session. Caller frees with phi_session_free. NULL if there is none. */
PHI_API phi_session *phi_recorder_drain(phi_recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
