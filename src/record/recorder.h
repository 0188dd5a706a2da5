/* recorder.h - makes sessions out of events.

       phi_recorder *recorder = phi_recorder_new(NULL);
       while (phi_next_event(rt, &event)) phi_recorder_add(recorder, &event);
       ...
       phi_recorder_flush(recorder, PHI_FLUSH_ALL);
       while ((session = phi_recorder_drain(recorder)) != NULL) {
           phi_session_save(&store, session, 0, NULL, 0);
           phi_session_free(session);
       }

   Give it every event as it is popped: of one agent or of many, in the order of the queue. It knows
   no runtime and takes no memory of one. A session is open while one of its loops runs, else
   phi_recorder_flush makes it a completed one, and phi_recorder_drain
   hands it over. A completed session that continues is open again. Links to the runs of sub-agents
   do not depend on the order of the events.
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
    size_t memory_limit_bytes; /* of the recorder and its sessions (default: none) */
    bool streaming_events;     /* keep each delta of an answer, which are most events */
    /* keep requests (phi_agent_desc.options.capture_requests): in the turn and as an event */
    bool turn_requests;
    /* Marks a session as begun after inactivity, where its agent was idle for inactivity_s (and
       the host has begun another session); else it begins by its first loop. */
    bool by_inactivity;
    uint32_t inactivity_s; /* (default 1,800; PHI_RECORDER_AT_ONCE for 0) */
    phi_session_scope scope;
    /* When the first run of a session begins; once. False: the session is kept, rejected, and its
       events are not. */
    bool (*before_task_fn)(void *user_data, const phi_session *session);
    /* In phi_recorder_flush, for each session it completes that was not rejected. */
    void (*after_task_fn)(void *user_data, const phi_session *session);
    void *user_data;
} phi_recorder_desc;

#define PHI_RECORDER_AT_ONCE UINT32_MAX

/* desc NULL: defaults. NULL: no memory. Its callbacks must not call the recorder: PHI_MISUSE, or
   nothing. Caller frees with phi_recorder_free. */
PHI_API phi_recorder *phi_recorder_new(const phi_recorder_desc *desc);
/* With all sessions that were not drained. NULL is harmless. */
PHI_API void phi_recorder_free(phi_recorder *recorder);

/* Takes note of an event, which is copied: as it was popped, or as phi_event_from_json read it.
   Events of unknown or ended loops are ignored, except that the end of a call that ran another
   agent links both runs even after the loop's end.
   PHI_NO_MEMORY: nothing of this event is kept except its number in `sequence` (of a group: the
   loops that found room); a run whose beginning is lost is not recorded. PHI_STALE: the agent was
   freed meanwhile: the same. PHI_BAD_ARG, PHI_MISUSE. */
PHI_API phi_status phi_recorder_add(phi_recorder *recorder, const phi_event *event);

/* Gives the recorder a loaded or drained session, to continue it. The recorder owns it from then
   on, as a completed session.
   PHI_MISUSE: it has one of that id already; then the session stays the caller's. Its memory counts
   as the recorder's, and its allocator stays. */
PHI_API phi_status phi_recorder_resume(phi_recorder *recorder, phi_session *session);

/* Begins a session by hand, before any run of it: it is open, without loops, and its formation is
   EXPLICIT; the runs that have its id are its own. It stays open until the first of them, or
   phi_recorder_flush; before_task_fn is called when that begins. Without this call a session begins
   by its first run. Strings are copied; agent_id may be empty: then it is the first run's.
   PHI_MISUSE: there is one of that id; PHI_BAD_ARG: no id; PHI_NO_MEMORY. */
PHI_API phi_status phi_recorder_begin(phi_recorder *recorder, phi_str session_id, phi_str agent_id,
                                      int64_t at_ms);

/* PHI_FLUSH_IDLE: now and then, on a server. */
typedef enum phi_flush {
    PHI_FLUSH_ALL = 0, /* all sessions: loops that run or are pending become ABORTED */
    /* sessions of which no loop runs or is pending, but for those begun by hand that wait for their
       first loop; after_task_fn is not called */
    PHI_FLUSH_IDLE
} phi_flush;

/* Completes sessions; returns how many. */
PHI_API size_t phi_recorder_flush(phi_recorder *recorder, phi_flush which);
/* The next completed session, which is the caller's from now on: phi_session_free. NULL: there is
   none. */
PHI_API phi_session *phi_recorder_drain(phi_recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
