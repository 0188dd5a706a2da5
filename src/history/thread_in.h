/* thread_in.h - a thread: its log, and the state that grows with it.

   The fold of the active lane is kept as a list that grows with the log, so that a turn costs its
   new entries; other lanes, and earlier states, are folded anew when they are needed. An assistant
   message that failed or was aborted stays in the log and is not in view. All of this is in memory,
   and needs no store: journal_in.h recalls a log. Threads: the pumping thread. */
#ifndef PHI_HISTORY_THREAD_IN_H
#define PHI_HISTORY_THREAD_IN_H

#include "history/lane_in.h"
#include "history/rewrite_in.h"
#include "history/tool_state_in.h"
#include "log/log_in.h"
#include "model/event_parts.h"
#include "model/texts.h"
#include "text/json.h"

/* The note that holds it, with its other names and numbers as JSON. */
typedef struct phi__about {
    phi_arena arena;
    phi_thread_info info; /* id and times are the thread's */
} phi__about;

typedef struct phi__messages {
    phi__entry **at;    /* those in memory, in order */
    size_t count, held; /* of all; of those in memory */
    size_t cap;
    uint64_t last_user; /* 1 and the seq of the last user message; 0: none */
} phi__messages;

/* append.c: what it counts of the entries that it attaches. */
typedef struct phi__counted {
    phi__hashes ids;    /* of the tool call ids so far */
    phi_usage usage;    /* phi_thread_info */
    phi_usage of_turns; /* of the active run: its turns that ended, in `usage` already */
} phi__counted;

struct phi_thread {
    phi__log log;             /* log_in.h */
    phi__lanes lanes;         /* lane_in.h */
    phi__messages messages;   /* of the active lane; thread_in.h */
    phi__fold fold;           /* of the active lane; fold_in.h */
    phi__ops ops;             /* rewrite_in.h */
    phi__loops loops;         /* lane_in.h */
    phi__undo undo;           /* lane_in.h */
    phi__counted counted;     /* append.c */
    phi__tool_state state;    /* of the active lane; tool_state_in.h */
    phi_str id;               /* in memory of its own, of a thread in no store; NULL: none yet */
    struct phi__about *about; /* thread_in.h; NULL: nothing is set */
    struct phi__loading *loading; /* load.c; NULL: it is not being read */
    struct phi__journal *journal; /* journal_in.h; NULL: it is in no store */
    struct phi_runtime *rt;       /* its agent; NULL: none */
    struct phi__lent *lent; /* of a host's thread (agent/one_shot_run.c); NULL: it is an agent's */
    void *user;             /* the run that uses it, or NULL */
    bool of_agent;          /* it is an agent's own: not to be freed, nor lent to a run */
};

/* Replaces the thread's id; `id` is in memory of the thread's, its end included. */
PHI__FN void phi__about_name(phi_thread *thread, phi_str id);

/* The same of a copy of it. False: no memory. */
PHI__FN bool phi__about_set_id(phi_thread *thread, phi_str id);

/* Title, metadata and origin. */
PHI__FN phi_thread_info phi__about_info(const phi_thread *thread);

/* Noted in the log, and kept. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__about_set(phi_thread *thread, const phi_thread_info *info);

/* Metadata: a JSON object, or nothing. PHI_BAD_ARG: neither; PHI_NO_MEMORY. */
PHI__FN phi_status phi__about_is_object(const phi_thread *thread, phi_str json);

/* Reads a note of kind PHI_NOTE_THREAD. As phi__about_is_object. */
PHI__FN phi_status phi__about_read(phi_thread *thread, phi_str note);

/* In a new log: that it is made of the one with the id `from`, up to entry `at` (UINT64_MAX: of
   none of its entries). */
PHI__FN phi_status phi__about_forked(phi_thread *thread, phi_str from, uint64_t at);

/* Copies them to a log that replaces `before`: the same thread continues. False: no memory.
   `before` keeps its own until phi__about_move. */
PHI__FN bool phi__about_carry(phi_thread *thread, const phi_thread *before);
PHI__FN void phi__about_move(phi_thread *thread, phi_thread *before);

/* Room for n more. False: no memory. */
PHI__FN bool phi__messages_room(phi_memory *memory, phi__messages *messages, size_t n);

/* One more, which gets its ordinal; there is room. */
PHI__FN void phi__messages_add(phi__messages *messages, phi__entry *entry);

/* Those of another lane, all in memory, in a list with room for `cap`, which is the struct's from
   now on. */
PHI__FN void phi__messages_replace(phi_memory *memory, phi__messages *messages, phi__entry **list,
                                   size_t count, size_t cap);
PHI__FN void phi__messages_clear(phi__messages *messages); /* their room stays */

/* As phi__log_evict and phi__log_shrink. */
PHI__FN void phi__messages_evict(phi__messages *messages);
PHI__FN void phi__messages_shrink(phi_memory *memory, phi__messages *messages);

/* io: gives appended entries their time; NULL: no clock. */
PHI__FN void phi__thread_init(phi_thread *thread, phi_memory *memory, phi__io *io);

/* Makes a thread empty; of_agent, rt, lent, grown, io and memory stay. The thread is in no store:
   for one that may be, call phi__journal_free_thread. */
PHI__FN void phi__thread_destroy(phi_thread *thread);

/* Moves a thread's content to *to, and leaves an empty one, as phi__thread_destroy does. Parts of
   it point to the thread's address: *to is for keeping it aside, or for bringing it back. */
PHI__FN void phi__thread_move(phi_thread *to, phi_thread *from);

/* Whose it is: lent NULL: an agent's own; else a host's. grown: where the runtime lists it. */
PHI__FN void phi__thread_belong(phi_thread *thread, struct phi_runtime *rt, phi__grown *grown,
                                struct phi__lent *lent);
PHI__FN void phi__thread_use(phi_thread *thread, void *run); /* NULL: none any more */

/* Bytes of all its segments and lists. */
PHI__FN size_t phi__thread_bytes(const phi_thread *thread);

static inline int64_t phi__thread_now(const phi_thread *thread) {
    return phi__log_now(&thread->log);
}

static inline phi_arena *phi__thread_room(phi_thread *thread) {
    return phi__log_room(&thread->log);
}

static inline bool phi__thread_whole(const phi_thread *thread) {
    return phi__log_whole(&thread->log);
}

static inline phi__entry *phi__thread_at(const phi_thread *thread, uint64_t seq) {
    return phi__log_at(&thread->log, seq);
}

static inline bool phi__thread_roll(phi_thread *thread, phi_str *carried) {
    return phi__segments_roll(&thread->log, carried);
}

static inline void phi__thread_evictable(phi_thread *thread) { phi__log_left(&thread->log); }

static inline uint64_t phi__thread_first(const phi_thread *thread) { return thread->log.base; }

/* 1 where there is only the default one. */
static inline size_t phi__thread_lanes(const phi_thread *thread) {
    return phi__max(thread->lanes.count, 1);
}

/* Room for n entries, `messages` of them MESSAGEs, so that attaching them cannot fail as long as
   nothing else is appended. False: no memory. */
PHI__FN bool phi__append_reserve(phi_thread *thread, size_t n, size_t messages);

/* Appends entries that live in the current segment already, to the active lane; their room was
   reserved. */
PHI__FN void phi__append_attach(phi_thread *thread, phi__entry *entries, size_t n);

/* What attaching does for every entry, on the active lane. */
PHI__FN void phi__append_put(phi_thread *thread, phi__entry *entry);

/* Appends copies of n entries, all or none, and fills their seq; their pointers must be into the
   current segment. False: no memory, and nothing changed. */
PHI__FN bool phi__append(phi_thread *thread, const phi__entry *entries, size_t n);

/* Copies a message into the current segment without appending it; NULL: no memory. */
PHI__FN phi_message *phi__append_keep(phi_thread *thread, const phi_message *message);

/* Calls of the last answer that have no result, since a run ended without memory, get one: an error
   that says so, in these texts (NULL: phi's). False: no memory; results that are there by then
   stay. */
PHI__FN bool phi__append_answer_orphans(phi_thread *thread, const phi_texts *texts);

/* Takes note of a tool call id. PHI_OK: new; PHI_FULL: the thread has it already, results would be
   ambiguous; PHI_NO_MEMORY. */
PHI__FN phi_status phi__append_claim_id(phi_thread *thread, phi_str id);

/* Takes note of the ids of a message's calls, so that later answers get others. Known ids stay.
   False: no memory. */
PHI__FN bool phi__append_claim_calls(phi_thread *thread, const phi_message *message);

/* The usage of a model that wrote a rewrite. */
PHI__FN void phi__append_count_written(phi_thread *thread, const phi_usage *usage);

/* The usage of a run that was copied, as part of the active run where there is one. */
PHI__FN void phi__append_count_beside(phi_thread *thread, const phi_usage *usage);

/* Where memory is limited, only the tool call ids of entries in memory are kept. Without memory for
   the new list the old one stays. */
PHI__FN void phi__append_shed_ids(phi_thread *thread);
PHI__FN void phi__append_free(phi_thread *thread); /* its counts */

/* Appends a run that was elsewhere, and has no messages here: its beginning and its end. Copied.
   False: no memory, and nothing changed. */
PHI__FN bool phi__append_note_run(phi_thread *thread, const phi_loop_info *info, int64_t started_ms,
                                  int64_t ended_ms, phi_status status);

/* A note; phi's own, too. As phi_thread_note. */
PHI__FN phi_status phi__note_add(phi_thread *thread, const char *kind, phi_str json, uint64_t *seq);

/* During a run it is one of the run's entries: a copy of the run in another log has it, too. */
PHI__FN phi_status phi__note_add_of_run(phi_thread *thread, const char *kind, phi_str json);

/* PHI_PARSE for text that is no JSON, or the reader's status. */
PHI__FN bool phi__note_is_json(const phi_thread *thread, phi_str json, phi_status *status);

#endif
