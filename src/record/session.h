/* session.h - sessions: a record of agents' runs (Session > LoopRecord > Turn > events), and its
   JSON.

   A session groups the runs ("loops") that have its id; runs form a tree by parent_loop_id. Records
   are built from events (recorder.h), from a thread's log (phi_session_of_thread), or from JSON
   that phi or the Rust original wrote. They are copies: no projection is made from them. A session
   owns all its data, which is freed with it; read it and do not change it. Times are Unix
   milliseconds: finer digits of a file are cut. An empty string means null, except in `rejection`.
   Threads: one at a time. */
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
    PHI_LOOP_PENDING = 0, /* announced by a parallel group, and not begun */
    PHI_LOOP_RUNNING,
    PHI_LOOP_COMPLETED, /* it ended, also when it failed: its last message says so */
    PHI_LOOP_REJECTED,  /* an input filter refused it */
    PHI_LOOP_ABORTED    /* its end was never seen */
} phi_loop_status;

/* The settings of a run. */
typedef struct phi_loop_config {
    phi_str model, provider, config_id, name;
    phi_str api; /* "open_ai_completions"...; empty: a protocol of the host's own, or unknown */
    phi_str base_url;
    phi_str thinking_level; /* "off", "low"... */
    bool has_reasoning, has_context_window, has_max_tokens, has_temperature;
    bool reasoning;
    uint32_t context_window, max_tokens;
    double temperature;
} phi_loop_config;

/* One model call and its tools. */
typedef struct phi_turn {
    phi_str loop_id;
    uint32_t turn_index;
    phi_trigger trigger;
    phi_usage usage;
    const phi_message *input; /* prompts, steering, follow-ups; no tool results */
    size_t input_count;
    const phi_message *output; /* the answer; NULL: there was none */
    const phi_message *results;
    size_t result_count;
    int64_t started_ms, ended_ms;
    phi_str request; /* the request, JSON text (PHI_EV_TURN_REQUEST); empty: not captured */
} phi_turn;

/* An event as JSON text (phi_event_from_json). Gaps in `sequence`, which counts from 0 in each
   loop, are events that were left out. */
typedef struct phi_loop_event {
    uint64_t sequence;
    phi_str json;
} phi_loop_event;

/* A run in another session, that a tool call of this one began. */
typedef struct phi_child_ref {
    phi_str tool_call_id, tool_name, child_loop_id, child_session_id;
} phi_child_ref;

/* The same from the other side. */
typedef struct phi_spawn_ref {
    phi_str parent_session_id, parent_loop_id, tool_call_id, tool_name;
} phi_spawn_ref;

/* Runs that tried the same in parallel. Until one is selected, selected_loop_id is empty. */
typedef struct phi_loop_group {
    const phi_str *loop_ids; /* in the order of their configurations */
    size_t loop_count;
    phi_str selected_loop_id;
    size_t selected_index;
    phi_usage evaluation_usage; /* of the judge */
    bool is_selected;           /* the selected run is this loop */
} phi_loop_group;

/* Turns `from` to `to`, both included, and the messages in their place. */
typedef struct phi_block_section {
    bool present;
    uint32_t from, to;
    const phi_message *messages; /* of keep_first: none */
    size_t message_count;
} phi_block_section;

/* The sections that replace a loop's messages in a context (session_context.h). */
typedef struct phi_compaction_block {
    phi_block_section keep_first, keep_compacted, keep_recent;
    int64_t created_ms;
} phi_compaction_block;

typedef struct phi_loop_record {
    phi_str loop_id, session_id, agent_id, parent_loop_id;
    phi_continuation continuation;
    phi_str tag; /* of RERUN and BRANCH */
    int64_t started_ms, ended_ms;
    bool has_ended; /* ended_ms is known */
    phi_loop_status status;
    phi_str rejection;             /* at NULL: none */
    const phi_loop_config *config; /* NULL: unknown */
    const phi_message *messages;   /* all messages that it added */
    size_t message_count;
    phi_turn *turns; /* finished turns */
    size_t turn_count;
    phi_usage usage;
    phi_str metadata; /* JSON text */
    phi_loop_event *events;
    size_t event_count;
    phi_str *children; /* loops of the same session that continue it */
    size_t child_count;
    phi_child_ref *spawned;
    size_t spawned_count;
    phi_loop_group *group; /* NULL: none */
    const phi_compaction_block *block;
} phi_loop_record;

typedef enum phi_formation_kind {
    PHI_FORMATION_FIRST_LOOP = 0, /* by a run with an id that was new */
    PHI_FORMATION_EXPLICIT,       /* by hand */
    PHI_FORMATION_INACTIVITY      /* the agent had been idle */
} phi_formation_kind;

typedef struct phi_formation {
    phi_formation_kind kind;
    int64_t at_ms;
    uint64_t threshold_s;        /* INACTIVITY */
    phi_str previous_session_id; /* INACTIVITY */
} phi_formation;

typedef enum phi_session_scope {
    PHI_SESSION_EPHEMERAL = 0,
    PHI_SESSION_PERSISTENT
} phi_session_scope;

typedef struct phi_session {
    phi_str session_id, agent_id;
    int64_t created_ms, last_active_ms; /* last_active: when the last loop began */
    phi_formation formation;
    const phi_spawn_ref *parent; /* NULL: no tool call began it */
    phi_session_scope scope;
    phi_loop_record **loops; /* in the order in which they began */
    size_t loop_count;
    bool rejected; /* before_task_fn refused: it has no loops. Not in the JSON */
} phi_session;

/* NULL is harmless. */
PHI_API void phi_session_free(phi_session *session);

/* ---- questions ---- */

typedef enum phi_loop_relation {
    PHI_LOOP_ROOTS = 0, /* loops whose parent is not in the session; loop_id is not looked at */
    PHI_LOOP_ITSELF,    /* the loop of that id, the latest of several */
    PHI_LOOP_CHILDREN,
    /* the loops of its group that are in the session, itself included; without a group none */
    PHI_LOOP_SIBLINGS,
    /* from the root to the loop, by parent_loop_id; ends where a parent is not in the session or
       would come again */
    PHI_LOOP_CHAIN
} phi_loop_relation;

/* The loops related to `loop_id` as `which` says. Fills at most `cap` places of `out` (NULL if cap
   is 0), and returns how many there are. */
PHI_API size_t phi_session_loops(const phi_session *session, phi_loop_relation which,
                                 phi_str loop_id, const phi_loop_record **out, size_t cap);

/* ---- JSON ---- */

/* Events that the original's reader does not know (errors, retries, decisions...) are written as
   well, and so are blocks that it does not know (documents, audio, opaque ones). Without it these
   events are left out, and so are turns without an answer; a text replaces a document or audio, and
   opaque blocks are left out. */
#define PHI_SESSION_OWN_EVENTS 1u

/* The interchange format, indented by two; in the arena. PHI_NO_MEMORY, PHI_BAD_ARG. */
PHI_API phi_status phi_session_to_json(const phi_session *session, uint32_t flags, phi_arena *arena,
                                       phi_str *out);
/* Reads a session. allocator: copied; NULL: the C library's. limit_bytes: of all it takes (0:
   none). A field that is missing or of a wrong type counts as absent, but for session_id, the
   loops' ids and messages; unknown keys are ignored. Caller frees *out with phi_session_free.
   PHI_PARSE, and *error (NULL: not wanted) says why; PHI_NO_MEMORY. */
PHI_API phi_status phi_session_from_json(phi_str json, const phi_allocator *allocator,
                                         size_t limit_bytes, phi_session **out,
                                         phi_parse_error *error);

/* ---- in a store ---- */

/* As a document whose id is the session's, in the interchange format with flags as above; and back,
   read as by phi_session_from_json: caller frees *out with phi_session_free. The store must have
   save and load. Returns the status of its functions; message (may be NULL) is "Session S is locked
   by another writer", "Session not found: S", or the store's own. An id that is invalid in a store
   is
   PHI_BAD_ARG. */
PHI_API phi_status phi_session_save(const phi_store *store, const phi_session *session,
                                    uint32_t flags, char *message, size_t message_size);
PHI_API phi_status phi_session_load(const phi_store *store, const char *session_id,
                                    const phi_allocator *allocator, phi_session **out,
                                    char *message, size_t message_size);

/* ---- from the log ---- */

/* The runs of a thread as a session: turns, messages, usage, spawned runs; of their events only
   PrunApplied, of prunes that were not revoked. It has the id of the first run; each loop has its
   own session's. Messages that belong to no run, such as those that the host appended, are in none.
   A run that is active, or never ended, is RUNNING. Blocks describe what compactions did to runs
   (phi_session_compact). Caller frees with phi_session_free.
   PHI_NO_MEMORY, PHI_BAD_ARG; the store's status, when evicted entries cannot be recalled. */
PHI_API phi_status phi_session_of_thread(const phi_thread *thread, const phi_allocator *allocator,
                                         phi_session **out);

#ifdef __cplusplus
}
#endif
#endif
