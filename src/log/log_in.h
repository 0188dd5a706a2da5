/* log_in.h - the log's entries in memory: found by seq, stored in segments.

   Entries, and all they point to, live in segments and never move. Order is seq, which is also the
   place in the log. If a log is in a store, segments to which no view points may be evicted:
   `entries` then has gaps. Nothing here reads or writes a store. Threads: the pumping thread. */
#ifndef PHI_LOG_LOG_IN_H
#define PHI_LOG_LOG_IN_H

#include "log/compact.h"
#include "log/policy.h"
#include "log/prune.h"
#include "log/revert.h"
#include "log/thread.h"
#include "log/tool_state.h"
#include "wire/wire_in.h"

/* Why a step must handle a log. */
typedef enum phi__dirty_why {
    PHI__DIRTY_GREW = 0, /* it has entries which its store has not been given */
    PHI__DIRTY_LEAVES,   /* entries outside of its view may be evicted */
    PHI__DIRTY_WHYS
} phi__dirty_why;

/* A log's place in the lists; it is a part of the journal. */
typedef struct phi__dirty {
    phi__link links[PHI__DIRTY_WHYS];
    bool listed[PHI__DIRTY_WHYS];
} phi__dirty;

/* Logs of a runtime, a list for each reason. */
typedef struct phi__grown {
    phi__list of[PHI__DIRTY_WHYS];
} phi__grown;

/* Puts it into a list, if it is not in it and there are lists. NULL is harmless for each. */
PHI__FN void phi__dirty_add(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);
PHI__FN void phi__dirty_remove(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);

/* Removes and returns the oldest of the list; NULL: none. */
PHI__FN phi__dirty *phi__dirty_next(phi__grown *grown, phi__dirty_why why);

/* Hashes: an open table, half empty; 0 is free. */
typedef struct phi__hashes {
    uint64_t *at;
    size_t count, cap;
} phi__hashes;

/* The memory of entries and of all they point to: new entries go to the current segment; when it is
   full, a new one begins. */
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

typedef struct phi__child_run {
    phi_str tool_call_id, session_id, loop_id;
} phi__child_run;

typedef struct phi__note {
    phi_str kind, json;
} phi__note;

typedef struct phi__entry {
    uint64_t seq;
    phi__segment *segment;
    /* MESSAGE: its place among those of its lane, the parents' included. LOOP_END: seq of its run's
       LOOP_START, and 1; 0: none. */
    size_t ordinal;
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

/* log.c: where entries live. */
typedef struct phi__segments {
    phi__segment first;    /* in its place: a short log needs no other */
    phi__segment *others;  /* the newest in front */
    phi__segment *current; /* one of these */
    size_t full_bytes;     /* of a segment that is full */
    size_t limit_bytes;    /* of the agent's memory, of which that is a part; 0: none */
} phi__segments;

/* log.c: entries, by seq. */
typedef struct phi__log {
    phi_memory *memory;
    phi__io *io;
    phi__segments segments;
    size_t base;  /* seq of the first entry; those before it are forgotten */
    size_t count; /* 1 and the last entry's seq; `held` entries are in memory: by seq */
    phi__entry **entries;
    size_t held, cap;
    int64_t made_ms, changed_ms; /* phi_thread_info */
    bool left;                   /* an entry went out of view since the last eviction */
    phi__grown *grown;           /* where it is put when it grows; NULL: nowhere */
    phi__dirty *dirty;           /* its place there; NULL: it is in no store */
} phi__log;

/* An entry; NULL: it is evicted, or there is none. */
PHI__FN phi__entry *phi__log_at(const phi__log *log, uint64_t seq);

/* When the last entry was made. */
PHI__FN void phi__log_set_time(phi__log *log, phi__entry *entry, int64_t at_ms);

/* Something went out of view. */
PHI__FN void phi__log_left(phi__log *log);

/* How full segments of an empty log are to be: of an agent with a memory limit, a part of that; 0:
   as usual. */
PHI__FN void phi__segments_limit(phi__log *log, size_t limit_bytes);

/* Leaves the current segment for a new one if it is full, at a moment when nothing is in it that is
   not appended. `carried`, where given, is copied into the new one: what later entries go on
   pointing to. False: no memory, and nothing changed. */
PHI__FN bool phi__segments_roll(phi__log *log, phi_str *carried);

PHI__FN void phi__segments_pin(phi__segment *segment); /* it is live; NULL is harmless */

/* Words about what makes a message unfit for a thread, and the block it is (SIZE_MAX: none); NULL:
   it is fit. Static. */
PHI__FN const char *phi__check_message(const phi_message *message, size_t *block);

/* Words about a missing part of an image, a document, audio or an opaque block; NULL: it is whole.
   Static. */
PHI__FN const char *phi__check_media(const phi_content *content);

/* True if an id is UTF-8, as ids and names in a thread are. */
PHI__FN bool phi__check_id_fits(phi_str id);

/* The names of enumerators in stored and printed entries, by number; NULL past the end. */
PHI__FN const char *phi__entry_trigger_word(int trigger);
PHI__FN const char *phi__entry_continuation_word(int continuation);
PHI__FN const char *phi__entry_reason_word(phi_rewrite_reason reason); /* "manual"... */

/* A plan, and its figures. */
typedef struct phi__compacted {
    phi_rewrite rewrite; /* span_count 0: it would save nothing */
    uint64_t tokens_before, tokens_after;
    size_t runs; /* of which something is replaced */
} phi__compacted;

/* Resolves zero fields to their defaults; a config without a window gets the default window. */
PHI__FN phi_compaction_config phi__compact_config(const phi_compaction_config *config);

/* The tokens above which a view is to be compacted. config: of phi__compact_config. */
PHI__FN uint64_t phi__compact_threshold(const phi_compaction_config *config);

/* The plan for a view, as phi_thread_plan makes it (compact.c says how). `out` and its pointers are
   in the arena; out->span_count 0: the plan would save nothing. config NULL: the defaults; counter
   NULL: the estimate. PHI_NO_MEMORY; PHI_BAD_ARG: also items out of order. */
PHI__FN phi_status phi__compact_rewrite(const phi_view_item *items, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        phi_rewrite *out);

/* The same, with its figures. If `again`, it is for a writer that sums up all that the plan
   replaces: earlier summaries are in it, too, and so are those of runs beyond the scope. */
PHI__FN phi_status phi__compact_plan(const phi_view_item *items, size_t count,
                                     const phi_compaction_config *config,
                                     const phi_token_counter *counter, phi_arena *arena, bool again,
                                     phi__compacted *out);

/* A result with each of its texts cut to `lines` lines, in the arena; the message itself where none
   is longer. texts NULL: phi's. NULL: no memory. */
PHI__FN const phi_message *phi__compact_cut(const phi_message *message, uint32_t lines,
                                            const phi_texts *texts, phi_arena *arena);

/* A user's message with one text, which is borrowed. NULL: no memory. */
PHI__FN phi_message *phi__compact_say(phi_str text, phi_arena *arena);

/* A lane's view: each item is a message of the log, or one of a rewrite. */
typedef struct phi__fold {
    phi__item *items; /* extensions included: encoders leave them out */
    size_t count, cap;
    uint64_t tokens;              /* by estimate */
    size_t durable;               /* items that are */
    bool overlaps;                /* a summary may come before items that it kept */
    bool opaque;                  /* an item holds an opaque block, or one did that is gone */
    size_t linked, groups;        /* phi__fold_link: the linked items, and their groups */
    phi_token_counter counted_by; /* phi__fold_tokens: the counter of the first `counted` items */
    size_t counted;
    uint64_t counted_tokens;
} phi__fold;

/* A copy in an arena, with one more message at its end, of the entry `seq`; more NULL: none. False:
   no memory. */
PHI__FN bool phi__fold_foresee(phi_arena *arena, const phi__fold *from, const phi_message *more,
                               uint64_t seq, phi__fold *to);
PHI__FN bool phi__fold_room(phi_memory *memory, phi__fold *fold, size_t more);
PHI__FN void phi__fold_message(phi__fold *fold, phi__entry *entry);

/* Puts a rewrite into a fold. False: no memory, and nothing changed. */
PHI__FN bool phi__fold_op(const phi_thread *thread, phi__fold *fold, phi__op *op);

/* The first item of entry `from` or a later one. */
PHI__FN size_t phi__fold_find(const phi__fold *fold, uint64_t from);

/* Takes out the items from entry `from` to entry `to`. */
PHI__FN void phi__fold_take_out(phi__fold *fold, uint64_t from, uint64_t to);

/* Links items that were not linked yet; before each use by a projection. */
PHI__FN void phi__fold_link(phi__fold *fold);

/* Rebuilds the view of a lane after entry `upto`; the log must be whole. *fold is freed with
   phi__fold_free. PHI_NOT_FOUND: that entry is forgotten; PHI_NO_MEMORY. */
PHI__FN phi_status phi__fold_lane(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                  phi__fold *fold);

/* The same, where the fold of the active lane is it not: *out is that one, or *made, which is freed
   in any case. */
PHI__FN phi_status phi__fold_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                phi__fold *made, const phi__fold **out);
PHI__FN void phi__fold_free(phi_memory *memory, phi__fold *fold);

/* Tokens of all items; counter NULL: the estimate. The counter is called for items it did not count
   yet. */
PHI__FN uint64_t phi__fold_tokens(phi__fold *fold, const phi_token_counter *counter);
PHI__FN void phi__groups_free(phi_memory *memory, size_t count, size_t *callers);

/* The same for a list of messages: each element, `stride` bytes apart, begins with a pointer to
   one. */
PHI__FN size_t *phi__groups_find(phi_memory *memory, const void *at, size_t stride, size_t count);

/* True if a message can replace another in its group: its calls, or its result, are the same. */
PHI__FN bool phi__groups_same_ids(const phi_message *was, const phi_message *now);

/* A thread is read between these. apart: it is read for phi__thread_rejoin. */
PHI__FN phi_status phi__load_begin(phi_thread *thread, bool apart);
PHI__FN phi_status phi__load_end(phi_thread *thread);
PHI__FN void phi__load_drop(phi_thread *thread); /* not being read: harmless */

/* Attaches an entry that was read; it lives in the current segment. After anything but PHI_OK the
   thread is to be freed. */
PHI__FN phi_status phi__load_put(phi_thread *thread, phi__entry *entry);

/* As phi__lane_switch. */
PHI__FN phi_status phi__load_switch(phi_thread *thread, uint32_t lane);

/* What to take out of a view, oldest first, until it is enough or there is no more; a user message
   "[Pruned context summary: {memo}]" in the place of the first. *pruned, where given: the groups
   taken. Both, and their pointers, are in the arena; out->meta has the same as JSON.
   out->span_count 0: nothing is taken, since there is nothing to take, or the memo would be larger.
   counter NULL: the estimate. from_seq is taken as it is. PHI_BAD_ARG: no tokens; PHI_NO_MEMORY. */
PHI__FN phi_status phi__prune_plan(const phi_view_item *items, size_t count, const phi_prune *prune,
                                   const phi_token_counter *counter, phi_arena *arena,
                                   phi_rewrite *out, phi_pruned *pruned);

/* The first entry of the active lane that may be taken: messages that the last compaction left
   standing count as the user's. */
PHI__FN uint64_t phi__prune_from(const phi_thread *thread);

/* "[Pruned context summary: {memo}]" as a user message in the place and time of `first`, the first
   message taken; in the arena, but for first's loop id. NULL: no memory. */
PHI__FN phi_message *phi__prune_memo(phi_str memo, const phi_message *first, const phi_texts *texts,
                                     phi_arena *arena);

/* Takes the oldest whole groups (an answer with its results, or a user message) out of the view
   until it is estimated at target_tokens or less; *removed: the messages taken out; the marker's
   text counts those of earlier times, too. counter NULL: the estimate. texts NULL: phi's. The first
   user message, the newest one, and the last group stay. A user message "[Context compacted: N
   messages removed to fit context window]" takes their place. It is one rewrite. False: no memory,
   and nothing changed. *removed 0: there was nothing to take; no entry is appended. */
PHI__FN bool phi__truncate(phi_thread *thread, uint64_t target_tokens,
                           const phi_token_counter *counter, const phi_texts *texts,
                           phi_str loop_id, uint32_t turn_index, size_t *removed);

/* "failure"...; empty: none of them. */
PHI__FN const char *phi__revert_word(phi_revert_category category);

/* Plans to take everything after the step out of the active lane's view, with a user message
   "[Reverted to step n12 (failure): {summary}]" in its place. A line of an earlier failure or
   tangent goes, too, once five turns and three newer lines of its category follow it. *reverted
   says so, or why not (then out->span_count is 0): the step "was not found", or "a user message"
   follows it. out->meta has the same as JSON. Both, and their pointers, are in the arena.
   PHI_BAD_ARG: no category; PHI_NO_MEMORY. */
PHI__FN phi_status phi__revert_plan(const phi_thread *thread, const phi_revert *revert,
                                    phi_arena *arena, phi_rewrite *out, phi_reverted *reverted);

/* The last beginning of each run, by the hash of its id: an open table, half empty. */
typedef struct phi__loop_start {
    uint64_t hash; /* 0: free */
    uint64_t seq;  /* of its LOOP_START, and 1; 0: it has ended */
} phi__loop_start;

typedef struct phi__loops {
    phi__loop_start *at;
    size_t count, cap;
    bool away;       /* runs whose beginning has left memory are not in it */
    bool keeps_none; /* the active run keeps nothing: it may be rolled back */
    bool restored;   /* calls without a result were lost with a process; until a run starts */
    uint64_t told, told_to; /* phi__loops_visit: up to which entry, and whom */
    phi__entry *started;    /* the LOOP_START whose end has not come, or NULL */
    uint64_t prompt_hash;   /* of the last run's system prompt; 0: none was noted */
} phi__loops;

/* The run of this id; NULL: none is in memory. */
PHI__FN phi__loop_start *phi__loops_find(const phi_thread *thread, phi_str loop_id);

/* Calls saw_fn for each loop id that entries in memory name: runs, messages, and messages of
   rewrites, in view or not; an id may come more than once. The id that this reader (a unique
   number) got last is left out. False: saw_fn returned false. */
PHI__FN bool phi__loops_visit(phi_thread *thread, uint64_t reader,
                              bool (*saw_fn)(void *user_data, phi_str loop_id), void *user_data);

/* A deep copy; NULL: no memory. */
PHI__FN phi_loop_info *phi__loops_copy_info(phi_arena *arena, const phi_loop_info *from);

/* Notes a run's system prompt, which lives in the arena, unless the run before had the same, or
   none did. False: no memory. */
PHI__FN bool phi__loops_info_prompt(const phi_thread *thread, phi_arena *arena, phi_str prompt,
                                    phi_loop_info *info);

/* Room for the id of one more. False: no memory. */
PHI__FN bool phi__loops_room(phi_thread *thread);

/* A lane's view before the active run rewrote it, restored by a run that keeps nothing. Its items
   may be of the run, too. */
typedef struct phi__undo {
    phi__fold fold;
    uint64_t start; /* seq of the run's LOOP_START, and 1; 0: there is nothing */
    uint32_t lane;
} phi__undo;

/* True if the end of a run folds its lane again, for which the log must be whole. */
PHI__FN bool phi__runs_end_folds(const phi_thread *thread, const phi__entry *end);

enum { PHI__LANE_NONE = 0x7fffffff };

typedef struct phi__lane {
    phi_str name;    /* separately allocated */
    uint32_t parent; /* PHI__LANE_NONE: it began empty */
    uint64_t fork_seq;
    uint64_t seq; /* of the entry that began it */
} phi__lane;

typedef struct phi__lanes {
    phi__lane *at; /* none: there is only the default one */
    uint32_t count, active, cap;
    phi__map by_name; /* their numbers, from 1 */
} phi__lanes;

PHI__FN uint32_t phi__lane_find(const phi_thread *thread, phi_str name);
PHI__FN phi_str phi__lane_name(const phi_thread *thread, uint32_t lane);

/* Message i of the active lane; NULL: it is evicted, or there is none. */
PHI__FN phi__entry *phi__lane_message(const phi_thread *thread, size_t i);

/* Begins one; parent PHI__LANE_NONE: empty. PHI_NO_MEMORY: nothing changed. *lane: its number. */
PHI__FN phi_status phi__lane_new(phi_thread *thread, phi_str name, uint32_t parent,
                                 uint64_t fork_seq, uint32_t *lane);

/* The log is whole. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__lane_switch(phi_thread *thread, uint32_t lane);

/* To a new lane that begins empty: both, or nothing. */
PHI__FN phi_status phi__lane_switch_new(phi_thread *thread, phi_str name);

/* The end of the last whole group of a lane at `at`: its seq, in *out. *any false: there is none,
   and *out is the last entry before the first group; UINT64_MAX: there is no entry. */
PHI__FN phi_status phi__lane_cut(const phi_thread *thread, uint32_t lane, uint64_t at,
                                 uint64_t *out, bool *any);

/* A compaction that was not revoked; it is known also when its rewrite is evicted. */
typedef struct phi__compaction_mark {
    uint64_t seq;
    uint32_t lane;
} phi__compaction_mark;

typedef struct phi__ops {
    phi__op *last;     /* the last one in memory */
    uint64_t last_seq; /* of the last one that changed a view, evicted or not; 0: none */
    phi__map by_id;    /* those in memory */
    phi__hashes away;  /* of the ids of evicted ones */
    phi__compaction_mark *compactions; /* in the order of the log */
    size_t compaction_count, compaction_cap;
} phi__ops;

PHI__FN phi__op *phi__ops_find(const phi_thread *thread, phi_str op_id); /* in memory */

typedef enum phi__rewrite_asked {
    PHI__REWRITE_FORM,  /* whether it could ever be valid */
    PHI__REWRITE_GIVEN, /* whether a host may give its op_id: none of the form that phi makes */
    PHI__REWRITE_NOW    /* whether its spans would be taken now, in the active lane */
} phi__rewrite_asked;

/* Checks a rewrite; nothing changes. PHI_OK; else as phi_thread_rewrite. */
PHI__FN phi_status phi__rewrite_check(phi_thread *thread, const phi_rewrite *rewrite,
                                      phi__rewrite_asked asked, char *words, size_t words_size);

/* As phi_thread_rewrite, without the check for an active run; the entries that it needs are in
   memory. loop_id, turn_index: who makes it. */
PHI__FN phi_status phi__rewrite_make(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size);

/* True if the log must be whole for it. */
PHI__FN bool phi__rewrite_needs(const phi_thread *thread, const phi_rewrite *rewrite);

/* A deep copy in an arena, of one whose form is right. False: no memory. */
PHI__FN bool phi__rewrite_copy(phi_arena *arena, const phi_rewrite *given, phi_rewrite *out);

enum { PHI__OP_MADE_SIZE = 32 }; /* bytes, its end included */
PHI__FN void phi__rewrite_name(const phi_thread *thread, char out[PHI__OP_MADE_SIZE]);
PHI__FN const char *phi__effect_word(uint32_t op);

/* PHI_OK if a text is an array of effects; else words about the fault. PHI_BAD_ARG,
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__effect_check(phi_memory *memory, phi_str effects, char *words,
                                     size_t words_size);

/* A state as text; it owns its memory. */
typedef struct phi__state_text {
    char *at; /* NULL: {} */
    size_t len;
    uint64_t tail; /* bytes of the effects that were noted since a note with the whole state */
} phi__state_text;

/* The state of a thread's active lane. */
typedef struct phi__tool_state {
    phi__state_text now, before;
    uint64_t run; /* `before` is of the run that began with this entry; seq and 1; 0: none */
    bool known;   /* `now` holds */
} phi__tool_state;

enum {
    PHI__TOOL_STATE_BYTES = 65536,      /* of a state, by default */
    PHI__TOOL_STATE_MOST = 1024 * 1024, /* the same, at most */
    PHI__TOOL_STATE_EFFECTS = 64        /* of one result */
};

/* What became of an effect. */
typedef struct phi__state_outcome {
    uint32_t op;         /* a PHI_EFFECT_ bit; 0: it is none */
    phi_str name, value; /* EMIT: its name, and its value as JSON; in the arena */
    const char *why;     /* why it was not applied, static; NULL: it was */
} phi__state_outcome;

/* An order for phi__state_apply. */
typedef struct phi__state_order {
    phi_str call_id;
    phi_str effects;  /* JSON text, an array */
    uint32_t allowed; /* PHI_EFFECT_ bits */
    size_t max_bytes;
} phi__state_order;

/* The state of the active lane now, valid until it changes. PHI_NO_MEMORY. */
PHI__FN phi_status phi__state_now(phi_thread *thread, phi_str *out);

/* Applies effects in their order to the active lane, each or not at all, and notes them. *outcomes:
   of each, in the arena; *changed: the state is another. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__state_apply(phi_thread *thread, const phi__state_order *order,
                                    phi_arena *arena, phi__state_outcome **outcomes, size_t *count,
                                    bool *changed);

/* The state of the active lane becomes this JSON object. PHI_BAD_ARG: it is none; PHI_NO_MEMORY:
   nothing changed. */
PHI__FN phi_status phi__state_set(phi_thread *thread, phi_str json, size_t max_bytes);

/* The state of a lane after an entry, whose notes are in memory, as text in the arena.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__state_fold(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                   phi_arena *arena, phi_str *out);

/* The same, where the text need not be in the arena: then it is valid until the state changes. */
PHI__FN phi_status phi__state_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                 phi_arena *arena, phi_str *out);

/* phi__state_carry, by pointer: forgetting calls it where the runtime has tool states. */
typedef bool (*phi__carry_fn)(phi_thread *thread, const phi_thread *from, uint32_t lane,
                              uint64_t upto);

/* Notes in the active lane of a new log the state that another log's lane has after an entry.
   False: no memory. */
PHI__FN bool phi__state_carry(phi_thread *thread, const phi_thread *from, uint32_t lane,
                              uint64_t upto);

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

/* The counts of the entries that are attached. */
typedef struct phi__counted {
    phi__hashes ids;    /* of the tool call ids so far */
    phi_usage usage;    /* phi_thread_info */
    phi_usage of_turns; /* of the active run: its turns that ended, in `usage` already */
} phi__counted;

struct phi_thread {
    phi__log log; /* log.c; what follows is append.c's */
    phi__lanes lanes;
    phi__messages messages; /* of the active lane */
    phi__fold fold;         /* of the active lane; fold.c */
    phi__ops ops;
    phi__loops loops;
    phi__undo undo;
    phi__counted counted;
    phi__tool_state state;        /* of the active lane; tool_state.c */
    phi_str id;                   /* separately allocated, if in no store; NULL: none yet */
    struct phi__about *about;     /* NULL: nothing is set */
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

/* Reads a note of kind PHI_NOTE_THREAD. PHI_BAD_ARG: its metadata is no object; PHI_NO_MEMORY. */
PHI__FN phi_status phi__about_read(phi_thread *thread, phi_str note);

/* In a new log: that it is made of the one with the id `from`, up to entry `at` (UINT64_MAX: of
   none of its entries). */
PHI__FN phi_status phi__about_forked(phi_thread *thread, phi_str from, uint64_t at);

/* Copies them to a log that replaces `before`: the same thread continues. False: no memory.
   `before` keeps its own until phi__about_move. */
PHI__FN bool phi__about_carry(phi_thread *thread, const phi_thread *before);
PHI__FN void phi__about_move(phi_thread *thread, phi_thread *before);

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

/* Evicts the segments that no view has, of a log that its store has whole. Between the two calls
   the caller pins segments that pointers outside need (phi__segments_pin). The current segment and
   the beginning of an active run stay as well. False: no memory. */
PHI__FN bool phi__thread_evict_begin(phi_thread *thread);
PHI__FN void phi__thread_evict_end(phi_thread *thread);

/* Takes the evicted entries back from the same log, read whole from its store (phi__load_begin).
   PHI_PARSE: it is another log; PHI_NO_MEMORY; then nothing changed. */
PHI__FN phi_status phi__thread_rejoin(phi_thread *thread, phi_thread *whole);

/* Bytes of all its segments and lists. */
PHI__FN size_t phi__thread_bytes(const phi_thread *thread);

static inline int64_t phi__thread_now(const phi_thread *thread) {
    return thread->log.io != NULL ? phi__io_wall_ms(thread->log.io) : 0;
}

/* Where the next entries are to live, and all they point to. */
static inline phi_arena *phi__thread_room(phi_thread *thread) {
    return &thread->log.segments.current->arena;
}

/* True if every entry from the first one on is in memory. */
static inline bool phi__thread_whole(const phi_thread *thread) {
    return thread->log.held + thread->log.base == thread->log.count;
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

/* The lane of that name, in *lane; where there is none it begins: empty (fork_seq UINT64_MAX), or
   with the view that the active lane has after that entry. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__graft_lane(phi_thread *thread, phi_str name, uint64_t fork_seq,
                                   uint32_t *lane);

/* Copies the last run of that id out of `from` onto a lane. All or nothing. PHI_NOT_FOUND: there is
   none in memory; PHI_MISUSE: the lane is the active one; PHI_NO_MEMORY. */
PHI__FN phi_status phi__graft_run(phi_thread *thread, uint32_t lane, const phi_thread *from,
                                  phi_str loop_id);

/* Copies a fold's messages to another log. keep: of each item, whether it is copied (NULL: all).
   False: no memory, and some may be there. */
PHI__FN bool phi__rebase_take(phi_thread *thread, const phi_thread *from, const phi__fold *fold,
                              const uint8_t *keep);

/* Which items of a fold are kept when the oldest go: durable ones and their groups, summaries, and
   as many of the newest turns as `target_bytes` have room for; 0: none of them. newest: the last
   turn is, in any case. The kept items begin with a user's message. `keep`: fold->count bytes.
   False: no memory; then none is. */
PHI__FN bool phi__rebase_choose(const phi_thread *thread, size_t target_bytes, bool newest,
                                uint8_t *keep);

/* Fills a renewed log with the views of all lanes of `before`: a FORGOTTEN entry, then copies; of
   the active lane those in `keep` (NULL: all), of scratch lanes ("~...") none. Entry numbers
   continue. carry: phi__state_carry; NULL: no lane has a tool state. *made: the entry's
   detail, whose bytes are not known yet. False: no memory, and the caller must free the new log. */
PHI__FN bool phi__rebase_copy(phi_thread *thread, const phi_thread *before, const uint8_t *keep,
                              phi__carry_fn carry, phi_forgotten **made);

/* Bytes that a fold's messages take in a log, by estimate; keep: as above. */
PHI__FN size_t phi__rebase_bytes(const phi__fold *fold, const uint8_t *keep);

/* The items to project, and the policy and tokens to do it by. */
typedef struct phi__proj_order {
    const phi_view_item *items; /* NULL: they are those of `fold` */
    const phi__fold *fold;      /* linked */
    size_t count;
    const phi_policy *policy;
    const phi_token_counter *counter; /* NULL: the estimate */
    phi_str system_prompt;
    uint64_t tools_tokens;
    const phi_texts *texts; /* NULL: phi's */
    bool extensions;        /* those of the window are in the list, too; they cost nothing */
    bool all;               /* groups holds the groups left out, too */
} phi__proj_order;

typedef enum phi__verdict {
    PHI__VERDICT_SHOWN = 0,
    PHI__VERDICT_CUT,      /* sent, its results shortened */
    PHI__VERDICT_KIND,     /* the policy does not include it */
    PHI__VERDICT_TURNS,    /* max_turns */
    PHI__VERDICT_MESSAGES, /* max_messages */
    PHI__VERDICT_BUDGET,
    PHI__VERDICT_START /* no user message before it is sent */
} phi__verdict;

/* An answer and its results, or a message of another kind. */
typedef struct phi__group {
    struct phi__group *newer;
    size_t at; /* its item */
    const phi_message *message;
    const phi_message **results; /* in call order, all of them; made ones where there was none */
    size_t *places;              /* their items; SIZE_MAX: made */
    size_t result_count, made;
    uint64_t tokens;
    uint32_t turn; /* 1: the newest */
    bool is_summary, opens;
    bool starts; /* the list may begin with it */
    phi__verdict verdict;
} phi__group;

typedef struct phi__projection {
    const phi_message **messages;
    size_t *places; /* the item each is of, unchanged; SIZE_MAX: it is a copy, or made */
    size_t count;
    const phi__group *groups; /* oldest first */
    phi_projection_meta meta;
} phi__projection;

/* As phi_project. */
PHI__FN phi_status phi__project(const phi__proj_order *order, phi_arena *arena,
                                phi__projection *out);
PHI__FN phi_status phi__explain(phi__proj_order *order, phi_arena *arena, phi_str *out);

/* project.c: with every default in it; and words about a field that is none of its values, or NULL.
   Static. */
PHI__FN phi_policy phi__policy_filled(const phi_policy *policy);
PHI__FN const char *phi__policy_fault(const phi_policy *policy);

/* PHI_ZERO is a tracker that knows nothing. It owns nothing. */
typedef struct phi__tracker {
    uint64_t reported; /* tokens up to and with message `index`; 0: none are known */
    size_t index;
} phi__tracker;

/* Records the usage of the answer at messages[index]: input, output, cache reads and writes. A sum
   of 0 is ignored. */
PHI__FN void phi__tracker_record(phi__tracker *tracker, const phi_usage *usage, size_t index);

/* The known tokens of a list of `count` messages, and in *from the first message to estimate and
   add. Where nothing is known, or the list is too short to hold the recorded message: 0, and *from
   is 0. */
PHI__FN uint64_t phi__tracker_known(const phi__tracker *tracker, size_t count, size_t *from);

enum { PHI__STEP_BYTES = 32 };

/* "[step n12]", terminated; its length. */
PHI__FN size_t phi__step_label(uint64_t seq, char out[PHI__STEP_BYTES]);

/* The number of "n12" or "12". False: the name has none, and *seq stays as it is. */
PHI__FN bool phi__step_number(phi_str name, uint64_t *seq);

/* The value of "abandoned_node_ids": an array of numbers. Names without a number are left out. */
PHI__FN void phi__step_put_all(phi__buf *out, const phi_str *names, size_t count);

#endif
