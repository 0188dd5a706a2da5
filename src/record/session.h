/* session.h - sessions: records of agents' runs (Session > LoopRecord > Turn > events) and their
   JSON.

   A session groups the runs ("loops") with its id. The runs form a tree by parent_loop_id. Sessions
   are made from events (recorder.h), from a thread's log (phi_session_of_thread), or from JSON that
   phi or the Rust original wrote. They are copies, and agents do not use them. A session owns all
   its data, which phi_session_free frees; do not change the data. Times are Unix milliseconds;
   a file's fractions of a millisecond are dropped. An empty string means null, except in
   `rejection`. Threads: one at a time. */
#ifndef PHI_RECORD_SESSION_H
#define PHI_RECORD_SESSION_H

#include "model/event.h"
#include "persist/store.h"
#include "record/event_json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the model ---- */

typedef enum phi_loop_status {
    PHI_LOOP_PENDING = 0, /* announced by a parallel group, not begun */
    PHI_LOOP_RUNNING,
    PHI_LOOP_COMPLETED, /* ended; if the run failed, its last message says so */
    PHI_LOOP_REJECTED,  /* rejected by an input filter */
    PHI_LOOP_ABORTED    /* its end was never recorded */
} phi_loop_status;

/* The settings of a run. */
typedef struct phi_loop_config {
    phi_str model, provider, config_id, name;
    phi_str api; /* such as "open_ai_completions"; empty: unknown or the host's own protocol */
    phi_str base_url;
    phi_str thinking_level; /* such as "off" or "low" */
    bool has_reasoning, has_context_window, has_max_tokens, has_temperature;
    bool reasoning;
    uint32_t context_window, max_tokens;
    double temperature;
} phi_loop_config;

/* One model call and its tool calls. */
typedef struct phi_turn {
    phi_str loop_id;
    uint32_t turn_index;
    phi_trigger trigger;
    phi_usage usage;
    const phi_message *input; /* prompts, steering and follow-ups, but no tool results */
    size_t input_count;
    const phi_message *output; /* the answer; NULL if there is none */
    const phi_message *results;
    size_t result_count;
    int64_t started_ms, ended_ms;
    phi_str request; /* the request as JSON (PHI_EV_TURN_REQUEST); empty if not captured */
} phi_turn;

/* An event as JSON (phi_event_from_json). `sequence` counts from 0 in each loop. A gap in
   `sequence` means that events were left out. */
typedef struct phi_loop_event {
    uint64_t sequence;
    phi_str json;
} phi_loop_event;

/* A run in another session that a tool call of this session began. */
typedef struct phi_child_ref {
    phi_str tool_call_id, tool_name, child_loop_id, child_session_id;
} phi_child_ref;

/* The tool call in another session that began this session. */
typedef struct phi_spawn_ref {
    phi_str parent_session_id, parent_loop_id, tool_call_id, tool_name;
} phi_spawn_ref;

/* Runs of the same prompt in parallel. selected_loop_id is empty until one is selected. */
typedef struct phi_loop_group {
    const phi_str *loop_ids; /* in the order of their configurations */
    size_t loop_count;
    phi_str selected_loop_id;
    size_t selected_index;
    phi_usage evaluation_usage; /* usage of the judge */
    bool is_selected;           /* this loop is the selected run */
} phi_loop_group;

/* The turns from `from` to `to`, both included, and the messages that replace them. */
typedef struct phi_block_section {
    bool present;
    uint32_t from, to;
    const phi_message *messages; /* always empty in keep_first */
    size_t message_count;
} phi_block_section;

/* The sections that replace a loop's messages when a session is loaded (session_context.h). */
typedef struct phi_compaction_block {
    phi_block_section keep_first, keep_compacted, keep_recent;
    int64_t created_ms;
} phi_compaction_block;

typedef struct phi_loop_record {
    phi_str loop_id, session_id, agent_id, parent_loop_id;
    phi_continuation continuation;
    phi_str tag; /* for RERUN and BRANCH */
    int64_t started_ms, ended_ms;
    bool has_ended; /* ended_ms is known */
    phi_loop_status status;
    phi_str rejection;             /* rejection.at is NULL if the loop was not rejected */
    const phi_loop_config *config; /* NULL if unknown */
    const phi_message *messages;   /* all messages that the run added */
    size_t message_count;
    phi_turn *turns; /* finished turns */
    size_t turn_count;
    phi_usage usage;
    phi_str metadata; /* JSON */
    phi_loop_event *events;
    size_t event_count;
    phi_str *children; /* loops of this session that continue the loop */
    size_t child_count;
    phi_child_ref *spawned;
    size_t spawned_count;
    phi_loop_group *group; /* NULL if the loop is in no group */
    const phi_compaction_block *block;
} phi_loop_record;

typedef enum phi_formation_kind {
    PHI_FORMATION_FIRST_LOOP = 0, /* begun by the first run with a new id */
    PHI_FORMATION_EXPLICIT,       /* begun by phi_recorder_begin */
    PHI_FORMATION_INACTIVITY      /* begun by a run after the agent was idle */
} phi_formation_kind;

typedef struct phi_formation {
    phi_formation_kind kind;
    int64_t at_ms;
    uint64_t threshold_s;        /* for INACTIVITY */
    phi_str previous_session_id; /* for INACTIVITY */
} phi_formation;

typedef enum phi_session_scope {
    PHI_SESSION_EPHEMERAL = 0,
    PHI_SESSION_PERSISTENT
} phi_session_scope;

typedef struct phi_session {
    phi_str session_id, agent_id;
    int64_t created_ms, last_active_ms; /* last_active_ms: start of the last loop */
    phi_formation formation;
    const phi_spawn_ref *parent; /* NULL if no tool call began the session */
    phi_session_scope scope;
    phi_loop_record **loops; /* in the order of their starts */
    size_t loop_count;
    bool rejected; /* before_task_fn rejected the session, so it has no loops; not in the JSON */
} phi_session;

/* Frees a session. NULL is allowed. */
PHI_API void phi_session_free(phi_session *session);

/* ---- finding loops ---- */

typedef enum phi_loop_relation {
    PHI_LOOP_ROOTS = 0, /* loops whose parent is not in the session; ignores loop_id */
    PHI_LOOP_ITSELF,    /* the loop with this id; the latest if there are several */
    PHI_LOOP_CHILDREN,
    /* The session's loops in this loop's group, with the loop itself. None if there is no group. */
    PHI_LOOP_SIBLINGS,
    /* The loops from the root to this loop, by parent_loop_id. If a parent is not in the session,
       or is in the chain already, the chain begins after that parent. */
    PHI_LOOP_CHAIN
} phi_loop_relation;

/* Finds the loops with the relation `which` to `loop_id`. Writes at most `cap` of them to `out`
   (may be NULL if cap is 0). Returns the number of loops found, which may exceed `cap`. */
PHI_API size_t phi_session_loops(const phi_session *session, phi_loop_relation which,
                                 phi_str loop_id, const phi_loop_record **out, size_t cap);

/* ---- JSON ---- */

/* Also writes three things that the Rust original does not know: events such as errors, retries and
   decisions; turns without an answer; and document, audio and opaque blocks. Without this flag, a
   text replaces a document or audio block, and the other things are left out. */
#define PHI_SESSION_OWN_EVENTS 1u

/* Writes a session in the interchange format, indented by two, into the arena. Returns
   PHI_NO_MEMORY, or PHI_BAD_ARG if a pointer is NULL. */
PHI_API phi_status phi_session_to_json(const phi_session *session, uint32_t flags, phi_arena *arena,
                                       phi_str *out);
/* Reads a session. The allocator is copied (NULL: the C library's). limit_bytes limits the
   session's memory (0: no limit). Unknown keys are ignored. A field of a wrong type counts as
   absent. Caller frees *out with phi_session_free. PHI_PARSE: the text is not JSON, session_id or a
   loop_id is no string, or a message is malformed; *error (may be NULL) has the reason. Also
   PHI_NO_MEMORY. */
PHI_API phi_status phi_session_from_json(phi_str json, const phi_allocator *allocator,
                                         size_t limit_bytes, phi_session **out,
                                         phi_parse_error *error);

/* ---- in a store ---- */

/* Save a session as a document of the store, under the session's id, and load it. The store must
   have save and load functions, else PHI_UNSUPPORTED. The format and `flags` are those of
   phi_session_to_json. Caller frees *out with phi_session_free. Both return the status of the
   store's function, or PHI_BAD_ARG for an id that is invalid in a store. `message` (may be NULL) is
   "Session S is locked by another writer", "Session not found: S", or the store's message. */
PHI_API phi_status phi_session_save(const phi_store *store, const phi_session *session,
                                    uint32_t flags, char *message, size_t message_size);
PHI_API phi_status phi_session_load(const phi_store *store, const char *session_id,
                                    const phi_allocator *allocator, phi_session **out,
                                    char *message, size_t message_size);

/* ---- from the log ---- */

/* Makes a session from the runs of a thread: turns, messages, usage and spawned runs. The only
   events in it are the PrunApplied events of prunes that were not revoked. The session has the id
   of the first run, and each loop keeps its own session's id. Messages that belong to no run,
   such as those that the host appended, are left out. A run without an end is RUNNING. Blocks
   describe how compactions changed the runs (phi_session_compact). Caller frees *out with
   phi_session_free. PHI_BAD_ARG: thread or out is NULL. Also PHI_NO_MEMORY, and the store's status
   if evicted entries cannot be recalled. */
PHI_API phi_status phi_session_of_thread(const phi_thread *thread, const phi_allocator *allocator,
                                         phi_session **out);

#ifdef __cplusplus
}
#endif
#endif
