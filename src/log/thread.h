/* thread.h - the thread: one append-only log of messages, runs and rewrites, and the views of it.

   An entry, once appended, never changes. What a model sees is a fold of the entries of a *lane*:
   messages in order, with the *rewrites* that were made to them since (compaction, pruning, a
   replaced history, a revert). A lane may begin as a fork of another at some entry; branches and
   reruns are lanes, and share what they have in common. No entry is ever removed from the log: a
   rewrite can be revoked, and the fold has the originals again.

   An agent has a thread (phi_agent_thread), and phi_run runs over a thread that the host owns.
   During a run the host reads the thread and does not append to it (PHI_BUSY); phi_agent_rewrite
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
    PHI_ENTRY_SWITCH, /* `lane` becomes the active one */
    PHI_ENTRY_LOOP_START,
    PHI_ENTRY_LOOP_END,
    PHI_ENTRY_TURN_START,
    PHI_ENTRY_TURN_END,
    PHI_ENTRY_SPAWN,    /* a tool call ran another agent */
    PHI_ENTRY_NOTE,     /* the host's own; no model sees it */
    PHI_ENTRY_FORGOTTEN /* every entry before it was freed (phi_agent_desc.memory.at_limit) */
} phi_entry_kind;

/* Bits of phi_entry.flags and phi_view_item.flags. An entry has the later ones if its log began
   with copies of another log's view: phi_agent_new_session, phi_thread_fork. */
enum {
    PHI_ENTRY_DURABLE = 1 << 0,   /* a compaction leaves it standing, and all of its group */
    PHI_ITEM_SYNTHETIC = 1 << 1,  /* made by a rewrite; not a message of the log's own */
    PHI_ITEM_SUMMARY = 1 << 2,    /* ... that sums up the messages in its place */
    PHI_ITEM_UNMEASURED = 1 << 3, /* an answer whose usage is of a list rewritten since */
    /* a copy out of the log of another agent, which worked for this one; its lane was not the
       active one at that time */
    PHI_ENTRY_GRAFTED = 1 << 4,
    PHI_ITEM_LINES = 1 << 5 /* a summary of a line a message, as phi's own plan makes it */
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

/* Replaces everything in view from entry `from` to entry `to`, both included, by these messages, or
   by nothing. */
typedef struct phi_span {
    uint64_t from, to;
    const phi_message *messages;
    size_t message_count;
    bool summary; /* they sum up the messages that they replace */
    bool lines;   /* ... in a line each: phi's next plan may leave out the oldest of these */
} phi_span;

/* The model that wrote a rewrite's messages, and its usage, which phi_thread_info.usage counts. */
typedef struct phi_written {
    const char *model; /* its id (default: not known) */
    phi_usage usage;
    double cost; /* dollars */
} phi_written;

/* A change of a lane's view. Zero means default for every field. */
typedef struct phi_rewrite {
    /* UTF-8; a second rewrite of the same id changes nothing; only phi gives ids of "op-" and a
       number (default, also when empty: phi makes one) */
    const char *op_id;
    const char *lane; /* (default: the active one) */
    phi_rewrite_reason reason;
    /* the last entry known when it was made: spans end here at most, and later entries stay
       untouched (default, where 0 and has_base is false: the last entry) */
    uint64_t base_seq;
    bool has_base;
    const phi_span *spans; /* in order, apart from each other */
    size_t span_count;
    const char *revoke; /* instead of spans: undoes the rewrite of that op_id */
    /* JSON text for the host, checked; kept, never sent to a model (default: none) */
    const char *meta;
    const phi_written *written; /* (default: no model wrote it) */
    /* the lane to activate; a new lane begins empty. Alone, or with spans; never with revoke, and a
       revocation leaves the active lane as it is (default: none) */
    const char *switch_to;
} phi_rewrite;

/* An entry. Strings, and what pointers point to, are the thread's, valid until it is freed or, if
   it is an agent's own, restarts (phi_agent_thread). If the thread is in a store, entries outside
   of the active lane's view are valid until the next phi_step, which evicts them
   (persist/store.h). */
typedef struct phi_entry {
    uint64_t seq;  /* dense, from 0 */
    int64_t at_ms; /* Unix time; for display, never for order */
    phi_entry_kind kind;
    uint32_t flags;
    phi_str lane;
    phi_str loop_id;
    uint32_t turn_index;
    const phi_message *message; /* MESSAGE */
    const phi_rewrite *rewrite; /* REWRITE */
    phi_str parent_lane;        /* LANE: the lane it forks; empty: it begins empty */
    uint64_t fork_seq;          /* LANE: of the last entry it shares with that */
    phi_trigger trigger;        /* TURN_START */
    phi_status status;          /* LOOP_END */
    phi_keep keep;              /* LOOP_END */
    const phi_usage *usage;     /* TURN_END, LOOP_END; NULL: none */
    const phi_failure *failure; /* LOOP_END that failed */
    const phi_loop_info *loop;  /* LOOP_START */
    phi_str tool_call_id, child_session_id, child_loop_id; /* SPAWN */
    phi_str note_kind, note;                               /* NOTE: a name, and JSON text */
    const phi_forgotten *forgotten;                        /* FORGOTTEN; then usage is all runs' */
} phi_entry;

/* One more than the last entry's seq; also the revision. */
PHI_API uint64_t phi_thread_count(const phi_thread *thread);
/* Entry `seq`. PHI_NOT_FOUND: past the end, or forgotten; the store's status, when it cannot be
   recalled. */
PHI_API phi_status phi_thread_entry(const phi_thread *thread, uint64_t seq, phi_entry *out);
/* The messages of the active lane, its parents' up to the fork too, as they came: including those
   that a rewrite replaced, without those that it made. Message i, from 0, is the i-th, oldest
   first; NULL past the end. A thread that has forgotten (phi_agent_desc.memory.at_limit) counts
   from the first message it kept. Owned by the thread, valid as an entry's strings; NULL, too,
   where the store cannot be read: phi_last_error. thread NULL: there are none. */
PHI_API size_t phi_thread_message_count(const phi_thread *thread);
PHI_API const phi_message *phi_thread_message_at(const phi_thread *thread, size_t i);
/* Options of phi_thread_append. Zero means default for every field. */
typedef struct phi_append {
    uint32_t flags; /* PHI_ENTRY_DURABLE (default: none) */
    bool has_expected;
    uint64_t expected; /* PHI_STALE unless the thread has so many entries (default: any number) */
} phi_append;

/* Appends copies of messages, all or none; all roles are allowed, extensions too. Calls of a run
   that died get an error result first, which stays, when a user's message or an answer follows.
   options NULL: the defaults. PHI_BUSY: a run uses the thread; PHI_STALE; PHI_BAD_ARG:
   phi_last_error names the message; PHI_NO_MEMORY: nothing was appended. */
PHI_API phi_status phi_thread_append(phi_thread *thread, const phi_message *messages, size_t count,
                                     const phi_append *options);
/* The host's own; also during a run. kind: a name; json: checked to be JSON. Both are copied.
   PHI_BAD_ARG (also a name that begins with "phi.", which are phi's own), PHI_NO_MEMORY: nothing
   changed. */
PHI_API phi_status phi_thread_note(phi_thread *thread, const char *kind, phi_str json,
                                   uint64_t *seq);

/* A note of phi's own: the deferred rewrite, or null when none is deferred any more
   (phi_agent_rewrite). */
#define PHI_NOTE_DEFERRED "phi.deferred_rewrite"
#define PHI_NOTE_ABORT "phi.abort" /* phi_abort_run: {"loop_id":...,"reason":...} */
/* Behind the branches of an evaluation (phi_evaluate), as a group of parallel runs:
   {"session_id":...,"loop_ids":[...],"lanes":[...],"selected_loop_id":...,"selected_index":N,
   "evaluation_usage":{...}}. phi_session_of_thread reads it. */
#define PHI_NOTE_PARALLEL "phi.parallel"
/* {"title":...,"metadata":"{...}","forked_from":...,"forked_at":...,"made":...}: the facts of
   phi_thread_info that no other entry has; each where it is set. The last note counts. */
#define PHI_NOTE_THREAD "phi.thread"

/* ---- a thread's info ---- */

/* Strings are the thread's, valid until its title or metadata or its active lane change, or it goes
   into a store or out of one, or is freed or starts over. */
typedef struct phi_thread_info {
    /* the first entry's seq: 0, but of a log that has forgotten entries
       (phi_agent_desc.memory.at_limit) that of its FORGOTTEN entry */
    uint64_t first;
    uint64_t stored; /* entries that its store has; 0 where it is in none */
    phi_str lane;    /* the active one's name */
    size_t lane_count;
    /* the sum over all ended turns, of killed runs as well, in all lanes; for ended runs also of
       discarded attempts; and of summaries that a model wrote */
    phi_usage usage;
    /* Unix time of its making, or its first entry, and of the last entry; 0: it has no entry. */
    int64_t made_ms, changed_ms;
    phi_str title;       /* empty: none */
    phi_str metadata;    /* JSON text, an object; empty: none */
    phi_str forked_from; /* phi_thread_fork: id of the original thread; empty: it is no fork */
    uint64_t forked_at;  /* the last entry of the original in this thread; UINT64_MAX: none */
} phi_thread_info;

/* Zero, with empty strings, for NULL. */
PHI_API phi_thread_info phi_thread_get_info(const phi_thread *thread);
/* Its id in its store; else a UUID, made at the first use, and kept in snapshots and texts. Valid
   as the info's strings. Empty: NULL, or no memory. */
PHI_API phi_str phi_thread_id(phi_thread *thread);
/* Sets title and metadata, an object of JSON, where given; NULL: it stays, "": none. Copied, and a
   note of the log (PHI_NOTE_THREAD); allowed during a run. A thread that starts over
   (phi_agent_thread) has neither; a thread that forgets entries, or whose messages are replaced,
   keeps both. PHI_BAD_ARG: not UTF-8, or no object; PHI_NO_MEMORY: nothing changed. */
PHI_API phi_status phi_thread_set_info(phi_thread *thread, const char *title, const char *metadata);

/* ---- lanes ---- */

/* The name of lane i, from 0, terminated, valid as long as an entry's strings; NULL past the
   end. */
PHI_API const char *phi_thread_lane_at(const phi_thread *thread, size_t i);

/* Begins a lane with the view that lane `parent` (NULL: the active one) had after entry at_seq, cut
   back to the end of a whole group: an answer and its results stay together. UINT64_MAX, and all
   past the end: all of it. The name is copied. PHI_MISUSE: there is such a lane; PHI_NOT_FOUND: no
   such parent; PHI_BAD_ARG: no name, or not UTF-8; PHI_BUSY, PHI_NO_MEMORY; the store's status. */
PHI_API phi_status phi_thread_fork_lane(phi_thread *thread, const char *name, const char *parent,
                                        uint64_t at_seq);
/* Activates a lane; a new lane begins empty. name NULL: a fresh lane, whose name phi makes
   (phi_thread_info.lane). PHI_BAD_ARG: no name, or not UTF-8; PHI_BUSY, PHI_NO_MEMORY, the store's
   status: nothing changed. */
PHI_API phi_status phi_thread_switch(phi_thread *thread, const char *name);

/* ---- rewrites ---- */

/* Copied. PHI_OK: appended, or there already (then *duplicate, where given). PHI_BUSY: a run uses
   the thread; PHI_BAD_ARG: it is not valid, and `message`, where given, names the fault: spans out
   of order or past base_seq, a span that cuts a group or a synthetic message, a message without
   content, an id that is not UTF-8 or of the form that phi makes; PHI_NOT_FOUND: no such `lane`, or
   nothing to revoke; PHI_MISUSE: a later rewrite touches the same entries as the one to revoke;
   PHI_NO_MEMORY; the store's status. Then nothing changed. */
PHI_API phi_status phi_thread_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                      bool *duplicate, char *message, size_t message_size);

/* ---- views ---- */

/* A message of a lane's view, and the entries it covers. */
typedef struct phi_view_item {
    const phi_message *message;
    uint64_t from, to; /* the same for a message of the log's own */
    uint32_t flags;
    uint64_t tokens; /* by estimate */
} phi_view_item;

/* The view of a lane (NULL: the active one) after entry upto (UINT64_MAX, and all past the end:
   now). The list is in the arena; its messages are the thread's, valid as an entry's.
   PHI_NOT_FOUND: no such lane; PHI_NO_MEMORY, PHI_BAD_ARG; the store's status. */
PHI_API phi_status phi_thread_view(const phi_thread *thread, const char *lane, uint64_t upto,
                                   phi_arena *arena, const phi_view_item **out, size_t *count);

/* A new thread in the same runtime. Its messages are the active lane's view after entry at_seq (as
   phi_thread_fork_lane cuts it; UINT64_MAX, and all past the end: all of it); a note behind them
   names its origin (phi_thread_info). Shares nothing; runs, rewrites, lanes, title and notes are
   not copied. Allowed during a run. NULL: no memory, or a failure of the store: phi_last_error.
   Caller frees with phi_thread_free. */
PHI_API phi_thread *phi_thread_fork(const phi_thread *thread, uint64_t at_seq);

#ifdef __cplusplus
}
#endif
#endif
