/* thread_in.h - the log in memory: entries, lanes, and the fold of the active lane.

   Entries and their messages live in segments and never move. Order is seq, which is also the place in the log. The
   fold of the active lane is kept as a list that grows with the log, so that a turn costs its new entries; other
   lanes, and earlier states, are folded anew when they are asked for.
   Of a log that is in a store, what no view shows leaves memory (segments.c): it is then *away*, and whoever needs
   it has it read back.
   An assistant message that failed or was aborted stays in the log and is not shown.
   Threads: the pumping thread. */
#ifndef PHI_THREAD_THREAD_IN_H
#define PHI_THREAD_THREAD_IN_H

#include "io/io_in.h"
#include "model/tokens.h"
#include "thread/thread.h"
#include "wire/codec_in.h"

enum { PHI__LANE_NONE = 0x7fffffff };

/* Where entries live, and all they point to: what is appended goes to the current one, which is left for a new one
   when it is full. */
typedef struct phi__segment {
    phi_arena arena;
    struct phi__segment *older;
    bool live; /* while something leaves: it stays */
} phi__segment;

/* A rewrite as it is kept. */
typedef struct phi__op {
    phi_rewrite rewrite; /* strings, spans and messages in its segment */
    phi__segment *segment;
    uint32_t lane;
    uint64_t seq;
    bool revoked;
    uint64_t revoked_at;       /* seq of what undid it */
    size_t message_count;      /* of all spans */
    phi__rendered **rendered;  /* of each */
    struct phi__load_op *load; /* load.c: while its thread is being read */
    struct phi__op *earlier;   /* in the log */
    uint64_t id_hash;
} phi__op;

/* A place in the table of rewrites by id; its hash is here, too: most that are looked at need no look at the rewrite. */
typedef struct phi__op_place {
    uint64_t hash;
    phi__op *op; /* NULL: free */
} phi__op_place;

typedef struct phi__child_run {
    phi_str tool_call_id, session_id, loop_id;
} phi__child_run;

typedef struct phi__note {
    phi_str kind, json;
} phi__note;

typedef struct phi__entry {
    uint64_t seq;
    phi__segment *segment;
    size_t
        ordinal; /* MESSAGE: its place among those of its lane, the parents' included; LOOP_END: seq of its run's
                       LOOP_START, and 1 (0: none) */
    int64_t at_ms; /* for display, never for order */
    phi_entry_kind kind : 8;
    phi_trigger trigger : 8; /* TURN_START */
    phi_keep keep : 8;       /* LOOP_END */
    uint32_t flags : 8;
    uint32_t lane;
    uint32_t turn_index;
    phi_status status; /* LOOP_END */
    phi_str loop_id;
    const phi_message *message;     /* MESSAGE */
    const phi_usage *usage;         /* TURN_END, LOOP_END, FORGOTTEN */
    union {                         /* by kind; NULL, where there is nothing of it */
        phi__rendered *rendered;    /* MESSAGE: its blocks in wire formats */
        const phi_loop_info *loop;  /* LOOP_START */
        const phi_failure *failure; /* LOOP_END that failed */
        phi__op *op;                /* REWRITE */
        phi__child_run *spawn;      /* SPAWN */
        phi__note *note;            /* NOTE */
        phi_forgotten *forgotten;   /* FORGOTTEN */
    } of;
} phi__entry;

typedef struct phi__lane {
    phi_str name;    /* in memory of its own */
    uint32_t parent; /* PHI__LANE_NONE: it began empty */
    uint64_t fork_seq;
    uint64_t seq; /* of the entry that began it */
} phi__lane;

/* A compaction that was not undone; it is known also when its rewrite is away. */
typedef struct phi__compaction_mark {
    uint64_t seq;
    uint32_t lane;
} phi__compaction_mark;

/* What a lane shows: each item is a message of the log, or one of a rewrite. */
typedef struct phi__fold {
    phi__item *items; /* extensions included: encoders leave them out */
    size_t count, cap;
    uint64_t tokens;       /* by estimate */
    size_t durable;        /* items that are */
    bool overlaps;         /* a summary may stand before what it left standing of its span */
    size_t linked, groups; /* project_in.h: items so far that it knows, and the groups of them */
    phi_token_counter counted_by; /* phi__fold_tokens: what it counted `counted` items with */
    size_t counted;
    uint64_t counted_tokens;
} phi__fold;

/* The last beginning of each run, by the hash of its id: an open table, half empty. */
typedef struct phi__loop_start {
    uint64_t hash; /* 0: free */
    uint64_t seq;  /* of its LOOP_START, and 1; 0: it has ended */
} phi__loop_start;

typedef struct phi__loops {
    phi__loop_start *at;
    size_t count, cap;
    bool away;              /* runs whose beginning has left memory are not in it */
    bool keeps_none;        /* the run that goes on may be rolled back */
    uint64_t told, told_to; /* phi__thread_tell_loops: up to which entry, and whom */
    phi__entry *started;    /* the LOOP_START whose end has not come, or NULL */
    phi_usage of_turns;     /* of the run that goes on: its turns that ended, in `usage` already */
    uint64_t prompt_hash;   /* of the last run's system prompt; 0: none was noted */
} phi__loops;

/* What a lane showed before the run that goes on rewrote it: a run that keeps nothing gives it back. Its items may be of
   the run, too. */
typedef struct phi__undo {
    phi__fold fold;
    uint64_t start; /* seq of the run's LOOP_START, and 1; 0: there is nothing */
    uint32_t lane;
} phi__undo;

/* Hashes: an open table, half empty; 0 is free. */
typedef struct phi__hashes {
    uint64_t *at;
    size_t count, cap;
} phi__hashes;

/* Entries, by seq; and where they live. */
typedef struct phi__log {
    phi_memory *memory;
    phi__io *io;
    phi__segment first;     /* in its place: a short log needs no other */
    phi__segment *segments; /* the others */
    phi__segment *current;  /* one of these */
    size_t segment_bytes;   /* of a segment that is full */
    size_t limit_bytes;     /* of the agent's memory, of which that is a part; 0: none */
    size_t base;            /* seq of the first entry; those before it are forgotten */
    size_t count;           /* 1 and the last entry's seq; `held` entries are in memory: by seq */
    phi__entry **entries;
    size_t held, cap;
    int64_t made_ms, changed_ms; /* phi_thread_info */
    bool left; /* something went out of view since the last look at what may leave memory */
    struct phi__grown *grown; /* where it is put when it grows; NULL: nowhere */
} phi__log;

/* MESSAGE entries of the active lane. */
typedef struct phi__messages {
    phi__entry **at;    /* those in memory, in order */
    size_t count, held; /* of all; of those in memory */
    size_t cap;
    uint64_t last_user; /* 1 and the seq of the last user message; 0: none */
} phi__messages;

typedef struct phi__lanes {
    phi__lane *at; /* none: there is only the default one */
    uint32_t count, active, cap;
    uint32_t *table; /* lanes by name, where there are many: an open table, half empty */
    size_t table_cap;
} phi__lanes;

typedef struct phi__ops {
    phi__op *last;        /* the last one in memory */
    uint64_t last_seq;    /* of the last one that changed a view, wherever it is; 0: none */
    phi__op_place *table; /* those in memory by id: an open table, half empty */
    size_t count, cap;
    phi__hashes away;                  /* of the ids of those that are away */
    phi__compaction_mark *compactions; /* in the order of the log */
    size_t compaction_count, compaction_cap;
} phi__ops;

struct phi_thread {
    phi__log log;
    phi__messages messages;
    phi__lanes lanes;
    phi__fold fold; /* of the active lane */
    phi__ops ops;
    phi__loops loops;
    phi__undo undo;
    phi__hashes ids;          /* of the tool call ids so far */
    phi_usage usage;          /* phi_thread_usage */
    phi_str id;               /* in memory of its own, of a thread in no store; NULL: none yet */
    struct phi__about *about; /* about_in.h; NULL: nothing was said */
    struct phi__loading *loading; /* load.c; NULL: it is not being read */
    struct phi__journal *journal; /* journal_in.h; NULL: it is in no store */
    struct phi_runtime *rt;       /* whose it is; NULL: nobody's */
    struct phi__lent *lent; /* what a host's has besides (agent/bare_run.c); NULL: it is none */
    void *user;             /* the run that goes over it, or NULL */
    bool of_agent;          /* it is an agent's own: not to be freed, nor lent to a run */
    bool restored; /* it was read: what no run has answered since was lost with a process */
};

typedef phi_thread phi__thread;

/* io: for the time of what is appended; NULL: none is known. */
PHI__FN void phi__thread_init(phi_thread *thread, phi_memory *memory, phi__io *io);
PHI__FN int64_t phi__thread_now(const phi_thread *thread);
/* It is then empty, and in no store (which gets what it lacks); of_agent, rt, lent, grown, io and memory stay. */
PHI__FN void phi__thread_free(phi_thread *thread);
/* Forgets all without freeing it: somebody has a copy. */
PHI__FN void phi__thread_renew(phi_thread *thread);

/* Room for n entries, `messages` of them MESSAGEs, so that attaching them cannot fail as long as nothing
   else is appended. False: no memory. */
PHI__FN bool phi__thread_reserve(phi_thread *thread, size_t n, size_t messages);
/* Appends entries that live in the current segment already, to the active lane; their room was reserved. */
PHI__FN void phi__thread_attach(phi_thread *thread, phi__entry *entries, size_t n);

/* Appends copies of n entries, all or none, and fills their seq; what they point to must live in the
   current segment. False: no memory, and nothing changed. */
PHI__FN bool phi__thread_append(phi_thread *thread, const phi__entry *entries, size_t n);

/* ---- segments.c ---- */

/* Where the next entries are to live, and all they point to. */
PHI__FN phi_arena *phi__thread_room(phi_thread *thread);
/* Whether every entry from the first one on is in memory. */
static inline bool phi__thread_whole(const phi_thread *thread) {
    return thread->log.held + thread->log.base == thread->log.count;
}
/* How full segments of an empty thread are to be: of an agent with a memory limit, a part of that; 0: as usual. */
PHI__FN void phi__thread_limit(phi_thread *thread, size_t limit_bytes);
/* Bytes of all its segments and lists. */
PHI__FN size_t phi__thread_bytes(const phi_thread *thread);

/* Leaves the current segment for a new one if it is full, at a moment when nothing is in it that is not appended.
   `carried`, where given, is copied into the new one: what later entries go on pointing to. False: no memory, and
   nothing changed. */
PHI__FN bool phi__thread_roll(phi_thread *thread, phi_str *carried);

/* An entry, and message i of the active lane; NULL: it is away, or there is none. */
PHI__FN phi__entry *phi__thread_at(const phi_thread *thread, uint64_t seq);
PHI__FN phi__entry *phi__thread_message(const phi_thread *thread, size_t i);

/* Message i of the active lane, read back where it is away; NULL: there is none, or it cannot be read (*status is not
   PHI_OK then). */
PHI__FN const phi_message *phi__thread_said(const phi_thread *thread, size_t i, phi_status *status);

/* Something went out of view. */
PHI__FN void phi__thread_left(phi_thread *thread);

/* Lets go of what no view shows. Between the two, segments that somebody points into are pinned; what stays besides:
   those of the view, the current one, and of a run that goes on its beginning. Nothing happens where the store has not
   everything. */
PHI__FN bool phi__thread_shed_begin(phi_thread *thread); /* false: there is nothing to do */
PHI__FN void phi__thread_pin(phi__segment *segment);     /* NULL is harmless */
PHI__FN void phi__thread_shed_end(phi_thread *thread);

/* Reads back all that is away; pointers to what is in memory stay good. PHI_OK: the log is whole. Else what the store
   says, or PHI_NO_MEMORY, and nothing changed. */
PHI__FN phi_status phi__thread_recall(const phi_thread *thread);

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more);
PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash);
PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash); /* its room was made */
PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set);

/* ---- rebase.c ---- */

/* What a fold shows, as messages of another log. keep: of each item, whether it is taken (NULL: all). False: no memory,
   and some may be there. */
PHI__FN bool phi__thread_take(phi_thread *thread, const phi_thread *from, const phi__fold *fold,
                              const uint8_t *keep);
/* Which items of a fold are kept when the oldest go: durable ones and their groups, summaries, and as many of the newest
   turns as `target_bytes` have room for; 0: none of them. newest: the last turn is, in any case. What is kept begins with
   the user. `keep`: fold->count bytes. False: no memory; then none is. */
PHI__FN bool phi__rebase_choose(const phi_thread *thread, size_t target_bytes, bool newest,
                                uint8_t *keep);
/* Fills a log that was renewed with what `before` shows in each of its lanes: a FORGOTTEN entry, then copies; of the
   active lane those in `keep` (NULL: all). Its entries count on. *made: the entry's detail, whose bytes are not known yet.
   False: no memory, and the new log is to be freed. */
PHI__FN bool phi__rebase_copy(phi_thread *thread, const phi_thread *before, const uint8_t *keep,
                              phi_forgotten **made);
/* Bytes that what a fold shows takes in a log, by estimate; keep: as above. */
PHI__FN size_t phi__rebase_bytes(const phi__fold *fold, const uint8_t *keep);

/* check.c: words about what makes a message unfit for a thread, and the block it is (SIZE_MAX: none); NULL: it is
   fit. Static. */
PHI__FN const char *phi__message_fault(const phi_message *message, size_t *block);
/* Whether an id is UTF-8, as ids and names in a thread are. */
PHI__FN bool phi__id_fits(phi_str id);

/* Takes note of a tool call id. PHI_OK: new; PHI_FULL: the thread has it already, results would be
   ambiguous; PHI_NO_MEMORY. */
PHI__FN phi_status phi__thread_claim_id(phi_thread *thread, phi_str id);
/* Those of a message's calls, so that the answers to come have others. One that is known already stays what it is.
   False: no memory. */
PHI__FN bool phi__thread_claim_calls(phi_thread *thread, const phi_message *message);

/* ---- load.c: while entries are read into an empty thread ---- */

/* Between the two the thread is of use to its reader alone. After an error it is to be freed. */
PHI__FN phi_status phi__load_begin(phi_thread *thread);
PHI__FN phi_status phi__load_end(phi_thread *thread);
PHI__FN void phi__load_drop(phi_thread *thread); /* not being read: harmless */
PHI__FN phi_status phi__load_view(phi_thread *thread, uint32_t lane, phi__fold **out);
PHI__FN bool phi__load_message_room(phi_thread *thread, size_t n);
PHI__FN void phi__load_message(phi_thread *thread, phi__entry *entry); /* its room was made */
/* False: no memory; after true, entering a lane that there is cannot fail. */
PHI__FN bool phi__load_may_enter(phi_thread *thread);
PHI__FN void phi__load_enter(phi_thread *thread, uint32_t lane);
/* Whether a rewrite is known to cut nothing and to part no group; false: it is to be looked at more closely. */
PHI__FN bool phi__load_fits(const phi__fold *fold, const phi_rewrite *rewrite);
/* Whether no later rewrite is known to touch one; false: look more closely. */
PHI__FN bool phi__load_untouched(const phi_thread *thread, const phi__op *op);
/* A rewrite comes into its lane's view, which is known; and goes again. After an error the thread is to be freed. */
PHI__FN bool phi__load_apply(phi_thread *thread, phi__op *op);
PHI__FN phi_status phi__load_unapply(phi_thread *thread, phi__op *op);
/* The active lane's rewrites from entry `start` on go. */
PHI__FN phi_status phi__load_roll_back(phi_thread *thread, uint64_t start);

/* ---- runs.c ---- */

/* Whether a run of this id is in memory; and in the whole log, which is read back for that. As phi__thread_recall. */
PHI__FN bool phi__thread_has_loop(const phi_thread *thread, phi_str loop_id);
PHI__FN phi_status phi__thread_had_loop(const phi_thread *thread, phi_str loop_id, bool *had);
/* Tells of each loop id that entries in memory name: runs, messages, and messages of rewrites, in
   view or not; one may come again. What this reader (a number of its own) was told of as the last
   one is left out. False: saw_fn said no. */
PHI__FN bool phi__thread_tell_loops(phi_thread *thread, uint64_t reader,
                                    bool (*saw_fn)(void *user_data, phi_str loop_id),
                                    void *user_data);
/* A deep copy; NULL: no memory. */
PHI__FN phi_loop_info *phi__loop_info_copy(phi_arena *arena, const phi_loop_info *from);
/* What a run says of its system prompt, which lives in the arena: nothing where the run before had the same, or none did.
   False: no memory. */
PHI__FN bool phi__loop_info_prompt(const phi_thread *thread, phi_arena *arena, phi_str prompt,
                                   phi_loop_info *info);
/* Appends a run that was elsewhere, and has no messages here: its beginning and its end. Copied.
   False: no memory, and nothing changed. */
PHI__FN bool phi__thread_note_run(phi_thread *thread, const phi_loop_info *info, int64_t started_ms,
                                  int64_t ended_ms, phi_status status);
/* Room for the id of one more. False: no memory. */
PHI__FN bool phi__thread_loop_room(phi_thread *thread);
/* Entries have left memory: so do the ids of their runs. */
PHI__FN void phi__thread_shed_loops(phi_thread *thread);
/* For LOOP_START and LOOP_END, when they are attached. */
PHI__FN void phi__thread_loop_starts(phi_thread *thread, const phi__entry *start);
PHI__FN void phi__thread_loop_ends(phi_thread *thread, phi__entry *end);
/* Before a LOOP_END is attached: what it takes to roll the run back is made, if it must be. PHI_NO_MEMORY, or what the
   store says. */
PHI__FN phi_status phi__thread_may_end(phi_thread *thread, const phi__entry *end);
/* Before a rewrite of the active lane: keeps what it shows, where a run goes on that keeps nothing. False: no memory. */
PHI__FN bool phi__thread_keep_undo(phi_thread *thread);
PHI__FN void phi__thread_drop_undo(phi_thread *thread);
/* Rewrites that were rolled back by ends which the store did not have yet are so here, too. */
PHI__FN void phi__thread_roll_back_again(phi_thread *thread);

/* Takes the oldest whole groups (an answer with its results, or a user message) out of the view until it is
   estimated at target_tokens or less; *removed messages went, all told: those of earlier times are counted in the
   marker's words, too. counter NULL: the estimate. What stays: the first user message, the newest one, and the last
   group. A user message
   "[Context compacted: N messages removed to fit context window]" stands in their place. It is one rewrite. False:
   no memory, and nothing changed. *removed 0: there was nothing to take; no entry is appended. */
PHI__FN bool phi__thread_truncate(phi_thread *thread, uint64_t target_tokens,
                                  const phi_token_counter *counter, phi_str loop_id,
                                  uint32_t turn_index, size_t *removed);

/* Calls of the last answer that have no result, since a run ended without memory, get one: an error that says
   so. False: no memory; results that are there by then stay. */
PHI__FN bool phi__thread_answer_orphans(phi_thread *thread);

/* Copies a message into the current segment without appending it; NULL: no memory. */
PHI__FN phi_message *phi__thread_keep(phi_thread *thread, const phi_message *message);

/* views.c: a note; phi's own, too. As phi_thread_note. */
PHI__FN phi_status phi__thread_note(phi_thread *thread, const char *kind, phi_str json,
                                    uint64_t *seq);
/* views.c: an entry as the public struct shows it. */
PHI__FN void phi__thread_show(const phi_thread *thread, const phi__entry *entry, phi_entry *out);

/* lane.c */
PHI__FN uint32_t phi__thread_find_lane(const phi_thread *thread, phi_str name);
PHI__FN phi_str phi__thread_lane_name(const phi_thread *thread, uint32_t lane);
/* Begins one; parent PHI__LANE_NONE: empty. PHI_NO_MEMORY: nothing changed. *lane: its number. */
PHI__FN phi_status phi__thread_new_lane(phi_thread *thread, phi_str name, uint32_t parent,
                                        uint64_t fork_seq, uint32_t *lane);
PHI__FN phi_status phi__thread_switch(phi_thread *thread, uint32_t lane);
/* Makes a lane the active one: with what it shows, where its messages are in their place already (phi__lane_messages);
   NULL: nothing. */
PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, const phi__fold *fold);
/* The MESSAGE entries of a lane, in place of those of the active one; of a log that is whole. False: no memory, and
   nothing changed. */
PHI__FN bool phi__lane_messages(phi_thread *thread, uint32_t lane);
/* The end of the last whole group of a lane at `at`: its seq, in *out. False: there is none. */
PHI__FN phi_status phi__thread_cut(const phi_thread *thread, uint32_t lane, uint64_t at,
                                   uint64_t *out, bool *any);

/* fold.c: whether a message is shown at all */
PHI__FN bool phi__fold_shows(const phi_message *message);
PHI__FN bool phi__fold_room(phi_memory *memory, phi__fold *fold, size_t more);
PHI__FN void phi__fold_message(phi__fold *fold, phi__entry *entry);
/* Puts a rewrite into a fold. False: no memory, and nothing changed. */
PHI__FN bool phi__fold_op(const phi_thread *thread, phi__fold *fold, phi__op *op);
/* The first item that stands for entry `from` or a later one. */
PHI__FN size_t phi__fold_find(const phi__fold *fold, uint64_t from);
/* These n items in the place of `gone` ones; there is room. The fold's tokens stay as they are: the caller knows. */
PHI__FN void phi__fold_splice(phi__fold *fold, size_t at, size_t gone, const phi__item *items,
                              size_t n);
/* Takes out what stands from entry `from` to entry `to`. */
PHI__FN void phi__fold_take_out(phi__fold *fold, uint64_t from, uint64_t to);
/* What a lane shows after entry `upto`, made anew, of the whole log: what is away is read back. *fold is freed with
   phi__fold_free. As phi__thread_recall else. */
PHI__FN phi_status phi__fold_lane(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                  phi__fold *fold);
/* The same, where the fold of the active lane is it not: *out is that one, or *made, which is freed in any case. */
PHI__FN phi_status phi__fold_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                phi__fold *made, const phi__fold **out);
PHI__FN void phi__fold_free(phi_memory *memory, phi__fold *fold);
/* Tokens of all items; counter NULL: the estimate. The counter is called for items it did not count yet. */
PHI__FN uint64_t phi__fold_tokens(phi__fold *fold, const phi_token_counter *counter);
/* Limits of the lanes that a lane is made of: entries of lane i count up to limits[i], of which there are lane_count,
   UINT64_MAX - 1 for all, and none where any is false. NULL: no memory. Freed by the caller. */
typedef struct phi__limit {
    uint64_t seq;
    bool any;
} phi__limit;
PHI__FN phi__limit *phi__fold_limits(const phi_thread *thread, uint32_t lane, uint64_t upto);
PHI__FN size_t
phi__thread_lanes(const phi_thread *thread); /* 1 where there is only the default one */

/* groups.c: for each item that is a result, the item that asked for it, the nearest before it; SIZE_MAX: none.
   NULL: no memory. Freed with phi__groups_free, with the count of the fold when it was made. */
PHI__FN size_t *phi__groups_make(phi_memory *memory, const phi__fold *fold);
PHI__FN void phi__groups_free(phi_memory *memory, size_t count, size_t *askers);
/* Whether an answer made the call of this id. */
PHI__FN bool phi__group_calls(const phi_message *message, phi_str id);
/* 1 for each item that a compaction leaves standing: a durable one, and what is of its group. fold->count bytes; NULL:
   there is none. False: no memory. */
PHI__FN bool phi__groups_durable(phi_memory *memory, const phi__fold *fold, uint8_t **durable);

/* Whether a message can take the place of another in its group: its calls, or its result, are the same. */
PHI__FN bool phi__rewrite_same_ids(const phi_message *was, const phi_message *now);

/* rewrite.c: as phi_thread_rewrite, without looking whether a run goes on. loop_id, turn_index: who makes it. */
PHI__FN phi_status phi__thread_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                       phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                       char *words, size_t words_size);
/* Whether spans would be taken now, in the active lane; else what phi__thread_rewrite says. Nothing changes. */
PHI__FN phi_status phi__thread_rewrite_check(phi_thread *thread, const phi_rewrite *rewrite,
                                             char *words, size_t words_size);
/* What can be said of a rewrite without a log: whether it could be valid at some time. As phi__thread_rewrite_check. */
PHI__FN phi_status phi__rewrite_form(phi_thread *thread, const phi_rewrite *rewrite, char *words,
                                     size_t words_size);
/* What a log may hold and a host may not give: an op_id that phi could make. As phi__thread_rewrite_check. */
PHI__FN phi_status phi__rewrite_given(phi_thread *thread, const phi_rewrite *rewrite, char *words,
                                      size_t words_size);
/* A deep copy in an arena, of one whose form is right. False: no memory. */
PHI__FN bool phi__rewrite_copy(phi_arena *arena, const phi_rewrite *given, phi_rewrite *out);
/* The id of a rewrite that has none of its host's: its place in the log, mostly. */
#define PHI__OP_MADE "op-%llu"
enum { PHI__OP_MADE_SIZE = 32 }; /* bytes, its end included */
PHI__FN void phi__rewrite_name(const phi_thread *thread, char out[PHI__OP_MADE_SIZE]);
PHI__FN phi__op *phi__thread_find_op(const phi_thread *thread, phi_str op_id); /* in memory */
/* As if the rewrites of a lane between two entries had been revoked at the second. Whether there were any. */
PHI__FN bool phi__thread_roll_back_ops(phi_thread *thread, uint32_t lane, uint64_t from,
                                       uint64_t to);
/* The marks of its compactions between two entries go. */
PHI__FN void phi__thread_unmark_ops(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);
/* Chains the rewrites of the entries in memory anew, and puts them into the table. False: no memory, and nothing
   changed; never, where there are not more than before. */
PHI__FN bool phi__thread_index_ops(phi_thread *thread);

#endif
