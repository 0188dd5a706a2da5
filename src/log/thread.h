/* thread.h - the thread: an append-only log of messages, runs and rewrites, and the views of this
   log.

   An appended entry never changes. A model sees the *view* of a *lane*: the messages of the lane in
   order, after all *rewrites* of these messages (compaction, pruning, a replaced history, a
   revert). A lane may begin as a fork of another lane at some entry. Branches and reruns are lanes,
   and share the entries up to their fork. If a rewrite is revoked, the view has the original
   messages again, because no entry is removed from the log, except at an agent's memory limit.

   An agent has a thread (phi_agent_thread), and phi_run runs over a thread that the host owns.
   During a run the host can read the thread but not append to it (PHI_BUSY); phi_agent_rewrite
   defers a rewrite until the run ends. Threads: the pumping thread. */
#ifndef PHI_LOG_THREAD_H
#define PHI_LOG_THREAD_H

#include "base/arena.h"
#include "model/event.h"
#include "model/event_parts.h"
#include "model/failure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_thread phi_thread;

#define PHI_LANE_DEFAULT "default"

/* ---- entries ---- */

typedef enum phi_entry_kind {
    PHI_ENTRY_MESSAGE = 1,
    PHI_ENTRY_REWRITE,
    PHI_ENTRY_LANE,   /* a lane begins */
    PHI_ENTRY_SWITCH, /* `lane` becomes the active lane */
    PHI_ENTRY_LOOP_START,
    PHI_ENTRY_LOOP_END,
    PHI_ENTRY_TURN_START,
    PHI_ENTRY_TURN_END,
    PHI_ENTRY_SPAWN,    /* a tool call ran another agent */
    PHI_ENTRY_NOTE,     /* a note of the host or of phi; no model sees it */
    PHI_ENTRY_FORGOTTEN /* all earlier entries were freed (phi_agent_desc.memory.at_limit) */
} phi_entry_kind;

/* Bits of phi_entry.flags and phi_view_item.flags. Entries have the PHI_ITEM_ bits only if their
   log began with copies of another log's view (phi_agent_new_session, phi_thread_fork). */
enum {
    PHI_ENTRY_DURABLE = 1 << 0, /* a compaction keeps this entry and its whole group */
    /* a message that a rewrite made, not a message entry of the log */
    PHI_ITEM_SYNTHETIC = 1 << 1,
    PHI_ITEM_SUMMARY = 1 << 2, /* a message of a rewrite that sums up the messages it replaces */
    /* an answer whose reported usage counts messages that were rewritten since */
    PHI_ITEM_UNMEASURED = 1 << 3,
    /* a copy from the log of another agent that worked for this agent; the copy's lane was not the
       active lane when the copy was made */
    PHI_ENTRY_GRAFTED = 1 << 4,
    /* a summary with one line for each message, as phi's own plan makes it */
    PHI_ITEM_LINES = 1 << 5
};

/* Why a rewrite was made. */
typedef enum phi_rewrite_reason {
    PHI_REWRITE_MANUAL = 0,
    PHI_REWRITE_COMPACTION,
    PHI_REWRITE_PRUNE,
    PHI_REWRITE_RESTORE,
    PHI_REWRITE_REVERT,
    PHI_REWRITE_SYSTEM
} phi_rewrite_reason;

/* A part of a rewrite: these messages (or nothing) replace everything in view from entry `from` to
   entry `to`, both included. */
typedef struct phi_span {
    uint64_t from, to;
    const phi_message *messages;
    size_t message_count;
    bool summary; /* these messages sum up those that they replace */
    /* a summary with one line for each message; phi's next plan may leave out the oldest lines */
    bool lines;
} phi_span;

/* The model that wrote a rewrite's messages, and its usage, which phi_thread_info.usage
   includes. */
typedef struct phi_written {
    const char *model; /* the model's id (default: not known) */
    phi_usage usage;
    double cost; /* dollars */
} phi_written;

/* A rewrite: a change of a lane's view. Zero means default for every field. */
typedef struct phi_rewrite {
    /* An id, UTF-8. A second rewrite with the same id changes nothing. Ids of the form "op-" and a
       number are reserved for phi. (default, also if empty: phi makes one) */
    const char *op_id;
    const char *lane; /* (default: the active lane) */
    phi_rewrite_reason reason;
    /* The last entry that was known when the rewrite was made. Spans may not go beyond this entry,
       and later entries stay untouched. (default, if 0 and has_base is false: the last entry) */
    uint64_t base_seq;
    bool has_base;
    const phi_span *spans; /* in order, without overlaps */
    size_t span_count;
    const char *revoke; /* instead of spans: the op_id of a rewrite to undo */
    /* JSON text for the host; checked and kept, but never sent to a model (default: none) */
    const char *meta;
    const phi_written *written; /* (default: no model wrote it) */
    /* The lane to activate; a new lane begins empty. Allowed alone or with spans, but not with
       revoke: revoking a rewrite does not change the active lane. (default: none) */
    const char *switch_to;
} phi_rewrite;

/* An entry. The thread owns the strings and everything that the pointers point to. These are valid
   until the thread is freed, or, if an agent owns the thread, until another log begins in it
   (phi_agent_thread). If the thread is in a store, entries outside of the active lane's view are
   valid only until the next phi_step, which evicts them (persist/store.h). */
typedef struct phi_entry {
    uint64_t seq;  /* from 0, without gaps */
    int64_t at_ms; /* Unix time; for display, never for order */
    phi_entry_kind kind;
    uint32_t flags;
    phi_str lane;
    phi_str loop_id;
    uint32_t turn_index;
    const phi_message *message; /* for MESSAGE */
    const phi_rewrite *rewrite; /* for REWRITE */
    /* for LANE: the lane that was forked; empty: the new lane begins empty */
    phi_str parent_lane;
    uint64_t fork_seq;          /* for LANE: the last entry that both lanes share */
    phi_trigger trigger;        /* for TURN_START */
    phi_status status;          /* for LOOP_END */
    phi_keep keep;              /* for LOOP_END */
    const phi_usage *usage;     /* for TURN_END, LOOP_END, FORGOTTEN (sum of all runs); or NULL */
    const phi_failure *failure; /* for a LOOP_END that failed */
    const phi_loop_info *loop;  /* for LOOP_START */
    phi_str tool_call_id, child_session_id, child_loop_id; /* for SPAWN */
    phi_str note_kind, note;                               /* for NOTE: a name, and JSON text */
    const phi_forgotten *forgotten;                        /* for FORGOTTEN */
} phi_entry;

/* Returns the number of entries: the last seq plus 1. The number also serves as a revision. */
PHI_API uint64_t phi_thread_count(const phi_thread *thread);
/* Gets entry `seq`. PHI_NOT_FOUND: seq is past the end, or the entry is forgotten. If the store
   cannot be read, returns the store's status. */
PHI_API phi_status phi_thread_entry(const phi_thread *thread, uint64_t seq, phi_entry *out);
/* Return the number of original messages in the active lane, and message i, counted from 0, oldest
   first. Messages of the lane's parents up to the fork are included. So are messages that a rewrite
   replaced, but not messages that a rewrite made. A thread that has forgotten entries
   (phi_agent_desc.memory.at_limit) counts from the first message that it kept. The thread owns a
   message, which is valid as long as an entry's strings. NULL: past the end, or the store cannot be
   read (phi_last_error). thread NULL: no messages. */
PHI_API size_t phi_thread_message_count(const phi_thread *thread);
PHI_API const phi_message *phi_thread_message_at(const phi_thread *thread, size_t i);
/* Options of phi_thread_append. Zero means default for every field. */
typedef struct phi_append {
    uint32_t flags; /* PHI_ENTRY_DURABLE (default: none) */
    bool has_expected;
    /* with has_expected: the result is PHI_STALE unless the thread has this number of entries */
    uint64_t expected;
} phi_append;

/* Appends copies of messages, either all or none. All roles are allowed, including extensions. If a
   run was interrupted and left calls without a result, and a user message or an answer follows,
   these calls first get an error result, which stays even if the append then fails. options NULL:
   the defaults. PHI_BUSY: a run uses the thread; PHI_STALE: see phi_append; PHI_BAD_ARG: a message
   is not valid, and phi_last_error names it; PHI_NO_MEMORY. After any of these no message was
   appended. */
PHI_API phi_status phi_thread_append(phi_thread *thread, const phi_message *messages, size_t count,
                                     const phi_append *options);
/* Appends a note of the host; allowed during a run. kind is a name, json must be JSON; both are
   copied. *seq gets the entry's number. Names that begin with "phi." are reserved for phi.
   PHI_BAD_ARG (for example a reserved name), PHI_NO_MEMORY: nothing changed. */
PHI_API phi_status phi_thread_note(phi_thread *thread, const char *kind, phi_str json,
                                   uint64_t *seq);

/* A note by phi: the deferred rewrite, or null if none is deferred now (phi_agent_rewrite). */
#define PHI_NOTE_DEFERRED "phi.deferred_rewrite"
#define PHI_NOTE_ABORT "phi.abort" /* phi_abort_run: {"loop_id":...,"reason":...} */
/* A note by phi after the branches of an evaluation (phi_evaluate): the group of its parallel runs.
   {"session_id":...,"loop_ids":[...],"lanes":[...],"selected_loop_id":...,"selected_index":N,
   "evaluation_usage":{...}}. phi_session_of_thread reads this note. */
#define PHI_NOTE_PARALLEL "phi.parallel"
/* {"title":...,"metadata":"{...}","forked_from":...,"forked_at":...,"made":...}: the facts of
   phi_thread_info that no other entry has. Facts that are not set are missing. Only the last such
   note counts. */
#define PHI_NOTE_THREAD "phi.thread"

/* ---- a thread's info ---- */

/* Facts about a thread. The thread owns the strings. They are valid until the title, the metadata
   or the active lane changes, or until the thread enters or leaves a store, begins another log or
   is freed, whichever comes first. */
typedef struct phi_thread_info {
    /* the first entry's seq: 0, or the seq of the FORGOTTEN entry if the log has forgotten entries
       (phi_agent_desc.memory.at_limit) */
    uint64_t first;
    uint64_t stored; /* the number of entries in the store; 0 if the thread is in no store */
    phi_str lane;    /* the name of the active lane */
    size_t lane_count;
    /* Sum of all ended turns in all lanes, also of interrupted runs. Ended runs also add their
       discarded attempts. The usage of summaries that a model wrote is included. */
    phi_usage usage;
    /* Unix time. made_ms: when the thread or its first entry was made. changed_ms: when the last
       entry was made. 0: no entry. */
    int64_t made_ms, changed_ms;
    phi_str title;    /* empty: none */
    phi_str metadata; /* JSON text, an object; empty: none */
    /* the id of the thread that phi_thread_fork copied; empty: this is not a fork */
    phi_str forked_from;
    /* the last entry of the original that is in this thread; UINT64_MAX: none */
    uint64_t forked_at;
} phi_thread_info;

/* Returns facts about a thread; for NULL all fields are zero or empty strings. */
PHI_API phi_thread_info phi_thread_get_info(const phi_thread *thread);
/* Returns the thread's id in its store. Without a store the id is a UUID, which is made at the
   first use and kept in snapshots and texts. Valid as long as the strings of phi_thread_info.
   Empty: thread is NULL, or there is no memory. */
PHI_API phi_str phi_thread_id(phi_thread *thread);
/* Sets the title, and the metadata, which is JSON text of an object. NULL leaves a value unchanged,
   "" removes it. Copied, and kept as a note of the log (PHI_NOTE_THREAD). Allowed during a run. If
   another log begins in the thread (phi_agent_thread), both are gone; a thread that forgets entries
   or whose messages are replaced keeps both. PHI_BAD_ARG: a text is not UTF-8, or the metadata is
   no object. After PHI_BAD_ARG and PHI_NO_MEMORY nothing changed. */
PHI_API phi_status phi_thread_set_info(phi_thread *thread, const char *title, const char *metadata);

/* ---- lanes ---- */

/* Returns the name of lane i, from 0, terminated; NULL past the end. The name is valid as long as
   an entry's strings. */
PHI_API const char *phi_thread_lane_at(const phi_thread *thread, size_t i);

/* Begins a lane with the view that lane `parent` (NULL: the active lane) had after entry at_seq.
   The view is cut back to the end of a group, so an answer and its results stay together. If at_seq
   is past the end, for example UINT64_MAX, the lane begins with the whole current view. The name is
   copied. PHI_MISUSE: a lane of this name exists; PHI_NOT_FOUND: no such parent; PHI_BAD_ARG: the
   name is missing or not UTF-8; PHI_BUSY: a run uses the thread; PHI_NO_MEMORY, or the store's
   status. */
PHI_API phi_status phi_thread_fork_lane(phi_thread *thread, const char *name, const char *parent,
                                        uint64_t at_seq);
/* Activates a lane; a new lane begins empty. name NULL: a fresh lane, whose name phi makes
   (phi_thread_info.lane). PHI_BAD_ARG: the name is empty or not UTF-8; PHI_BUSY: a run uses the
   thread; PHI_NO_MEMORY, or the store's status. After any of these nothing changed. */
PHI_API phi_status phi_thread_switch(phi_thread *thread, const char *name);

/* ---- rewrites ---- */

/* Appends a rewrite, which is copied. PHI_OK: the rewrite was appended, or the log has this op_id
   already. In the second case *duplicate (if duplicate is not NULL) is true. PHI_BUSY: a run uses
   the thread. PHI_BAD_ARG: the rewrite is not valid, and `message` (if not NULL) names the fault:
   spans out of order or past base_seq, a span that cuts a group or a synthetic message, a message
   without content, or an id that is not UTF-8 or is reserved for phi. PHI_NOT_FOUND: no such
   `lane`, or nothing to revoke. PHI_MISUSE: a later rewrite touches the same entries as the one to
   revoke. PHI_NO_MEMORY; the store's status. After any of these failures nothing changed. */
PHI_API phi_status phi_thread_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                      bool *duplicate, char *message, size_t message_size);

/* ---- views ---- */

/* A message of a lane's view, and the entries that it represents. */
typedef struct phi_view_item {
    const phi_message *message;
    uint64_t from, to; /* equal for a message entry of the log */
    uint32_t flags;
    uint64_t tokens; /* by estimate */
} phi_view_item;

/* Gets the view of a lane (NULL: the active lane) after entry `upto`, or the current view if upto
   is past the end, for example UINT64_MAX. The list is in the arena; the thread owns the messages,
   which are valid as long as an entry's strings. PHI_NOT_FOUND: there is no such lane. PHI_BAD_ARG:
   a pointer is NULL. Otherwise PHI_NO_MEMORY or the store's status. */
PHI_API phi_status phi_thread_view(const phi_thread *thread, const char *lane, uint64_t upto,
                                   phi_arena *arena, const phi_view_item **out, size_t *count);

/* Makes a new thread in the same runtime with copies of the messages that the active lane's view
   had after entry at_seq, cut as by phi_thread_fork_lane. If at_seq is past the end, for example
   UINT64_MAX, the current view is copied. A note after the messages names the origin
   (phi_thread_info). The two threads share nothing; runs, rewrites, lanes, title and notes are not
   copied. Allowed during a run. NULL: no memory, or a failure of the store (phi_last_error). The
   caller frees the thread with phi_thread_free. */
PHI_API phi_thread *phi_thread_fork(const phi_thread *thread, uint64_t at_seq);

#ifdef __cplusplus
}
#endif
#endif
