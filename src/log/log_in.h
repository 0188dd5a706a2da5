/* log_in.h - the log of a thread in memory: entries are found by seq and stored in segments.

   An entry and everything it points to live in a segment and never move. Entries are in the order
   of their seq, and seq is also an entry's place in the log. If a log is in a store, segments
   without entries in view may be evicted; then `entries` has gaps. No function here reads or writes
   a store. Threads: the pumping thread. */
#ifndef PHI_LOG_LOG_IN_H
#define PHI_LOG_LOG_IN_H

#include "log/compact.h"
#include "log/policy.h"
#include "log/prune.h"
#include "log/revert.h"
#include "log/thread.h"
#include "log/tool_state.h"
#include "wire/wire_in.h"

/* The reasons for a step to handle a log. */
typedef enum phi__dirty_why {
    PHI__DIRTY_GREW = 0, /* the log has entries that were not given to its store */
    PHI__DIRTY_LEAVES,   /* entries outside of the log's view may be evicted */
    PHI__DIRTY_WHYS
} phi__dirty_why;

/* A log's links in the lists of phi__grown; part of the journal. */
typedef struct phi__dirty {
    phi__link links[PHI__DIRTY_WHYS];
    bool listed[PHI__DIRTY_WHYS];
} phi__dirty;

/* The logs of a runtime that a step must handle: one list for each reason. */
typedef struct phi__grown {
    phi__list of[PHI__DIRTY_WHYS];
} phi__grown;

/* Add a log to a list, or remove it. Adding it twice changes nothing. Both pointers may be NULL. */
PHI__FN void phi__dirty_add(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);
PHI__FN void phi__dirty_remove(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);

/* Removes and returns the oldest log of the list. NULL: the list is empty. */
PHI__FN phi__dirty *phi__dirty_next(phi__grown *grown, phi__dirty_why why);

/* A set of hashes: an open table, at most half full; 0 marks a free slot. */
typedef struct phi__hashes {
    uint64_t *at;
    size_t count, cap;
} phi__hashes;

/* A piece of a log's memory, for entries and everything they point to. New entries go to the
   current segment; when it is full, a new segment begins. */
typedef struct phi__segment {
    phi_arena arena;
    struct phi__segment *older;
    bool live; /* set during an eviction: keep this segment */
} phi__segment;

typedef struct phi__op {
    phi_rewrite rewrite; /* strings, spans and messages of the rewrite are in `segment` */
    phi__segment *segment;
    uint32_t lane;
    uint64_t seq;
    bool revoked;
    uint64_t revoked_at;       /* seq of the entry that revoked it */
    size_t message_count;      /* messages of all spans */
    phi__rendered **rendered;  /* the rendering of each message */
    struct phi__load_op *load; /* used by load.c, only while the thread is being read */
    struct phi__op *earlier;   /* the rewrite before it in the log */
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
    /* MESSAGE: the message's index in its lane, counting the messages of parent lanes too.
       LOOP_END: the seq of the run's LOOP_START plus 1; 0 if there is none. */
    size_t ordinal;
    int64_t at_ms; /* for display, never for order */
    phi_entry_kind kind : 8;
    phi_trigger trigger : 8; /* for TURN_START */
    phi_keep keep : 8;       /* for LOOP_END */
    uint32_t flags : 8;
    uint32_t lane;
    uint32_t turn_index;
    phi_status status; /* for LOOP_END */
    phi_str loop_id;
    const phi_message *message;     /* MESSAGE */
    const phi_usage *usage;         /* for TURN_END, LOOP_END, FORGOTTEN */
    union {                         /* by kind; NULL if there is no detail */
        phi__rendered *rendered;    /* for MESSAGE: the message's blocks in wire formats */
        const phi_loop_info *loop;  /* for LOOP_START */
        const phi_failure *failure; /* for a LOOP_END that failed */
        phi__op *op;
        phi__child_run *spawn;
        phi__note *note;
        phi_forgotten *forgotten;
    } of;
} phi__entry;

/* The segments of a log (log.c). */
typedef struct phi__segments {
    phi__segment first;    /* part of the struct, enough for a short log */
    phi__segment *others;  /* newest first */
    phi__segment *current; /* `first` or one of `others` */
    size_t full_bytes;     /* bytes of a full segment */
    size_t limit_bytes;    /* the agent's memory limit; 0: none */
} phi__segments;

/* The entries of a log by seq (log.c). */
typedef struct phi__log {
    phi_memory *memory;
    phi__io *io;
    phi__segments segments;
    size_t base;  /* seq of the first entry; earlier entries are forgotten */
    size_t count; /* the last entry's seq plus 1; `held` entries are in memory, in order */
    phi__entry **entries;
    size_t held, cap;
    int64_t made_ms, changed_ms; /* as in phi_thread_info */
    bool left;                   /* an entry left the view since the last eviction */
    phi__grown *grown;           /* the lists of the runtime; NULL: no lists */
    phi__dirty *dirty;           /* the links in these lists; NULL: the log is in no store */
} phi__log;

/* Returns an entry. NULL: it is evicted or does not exist. */
PHI__FN phi__entry *phi__log_at(const phi__log *log, uint64_t seq);

/* Sets the time of the last entry. */
PHI__FN void phi__log_set_time(phi__log *log, phi__entry *entry, int64_t at_ms);

/* Called when an entry leaves the view. */
PHI__FN void phi__log_left(phi__log *log);

/* Sets the segment size of an empty log, as a part of the memory limit (0: the usual size). */
PHI__FN void phi__segments_limit(phi__log *log, size_t limit_bytes);

/* Begins a new segment if the current one is full. Call this only while everything in the current
   segment is appended. If `carried` is not NULL, copies *carried into the new segment, because
   later entries will point to it. False: no memory, and nothing changed. */
PHI__FN bool phi__segments_roll(phi__log *log, phi_str *carried);

PHI__FN void phi__segments_pin(phi__segment *segment); /* keeps a segment; NULL is harmless */

/* Returns a static text that says why a message must not be in a thread, and sets *block to the
   index of the faulty block (SIZE_MAX: no block is at fault). NULL: the message is valid. */
PHI__FN const char *phi__check_message(const phi_message *message, size_t *block);

/* Returns which part of an image, a document, audio or an opaque block is missing. NULL: the block
   is complete. The text is static. */
PHI__FN const char *phi__check_media(const phi_content *content);

/* True if an id or name is valid UTF-8, as a thread requires. */
PHI__FN bool phi__check_id_fits(phi_str id);

/* Return the name of an enumerator in stored and printed entries; NULL past the last one. */
PHI__FN const char *phi__entry_trigger_word(int trigger);
PHI__FN const char *phi__entry_continuation_word(int continuation);
PHI__FN const char *phi__entry_reason_word(phi_rewrite_reason reason); /* such as "manual" */

/* A plan of a compaction, with its figures. */
typedef struct phi__compacted {
    phi_rewrite rewrite; /* span_count 0: the plan would save nothing */
    uint64_t tokens_before, tokens_after;
    size_t runs; /* runs in which something is replaced */
} phi__compacted;

/* Resolves zero fields to their defaults. A config without a window gets the default window. */
PHI__FN phi_compaction_config phi__compact_config(const phi_compaction_config *config);

/* Returns the tokens above which a view is compacted. `config` has its defaults filled in. */
PHI__FN uint64_t phi__compact_threshold(const phi_compaction_config *config);

/* Plans a compaction of a view, as phi_thread_plan does (see compact.c). *out points into the
   arena. out->span_count is 0 if the plan would save nothing. config NULL: the defaults; counter
   NULL: the estimate. Returns PHI_BAD_ARG if an argument is missing or the items are out of order.
   May also return PHI_NO_MEMORY. */
PHI__FN phi_status phi__compact_rewrite(const phi_view_item *items, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        phi_rewrite *out);

/* Plans a compaction with its figures. If `again` is set, a writer sums up everything that the plan
   replaces. So the plan also replaces earlier summaries, even those of runs beyond the scope. */
PHI__FN phi_status phi__compact_plan(const phi_view_item *items, size_t count,
                                     const phi_compaction_config *config,
                                     const phi_token_counter *counter, phi_arena *arena, bool again,
                                     phi__compacted *out);

/* Returns a copy of a result in the arena, with each of its texts cut to `lines` lines. Returns the
   message itself if no text is longer, or NULL if there is no memory. If texts is NULL, phi's texts
   are used. */
PHI__FN const phi_message *phi__compact_cut(const phi_message *message, uint32_t lines,
                                            const phi_texts *texts, phi_arena *arena);

/* Returns a user message with one text, which is borrowed. NULL: no memory. */
PHI__FN phi_message *phi__compact_say(phi_str text, phi_arena *arena);

/* A lane's view. Each item is a message of the log or of a rewrite. */
typedef struct phi__fold {
    phi__item *items; /* includes extensions, which encoders leave out */
    size_t count, cap;
    uint64_t tokens; /* tokens by estimate */
    size_t durable;  /* number of durable items */
    bool overlaps;   /* a summary may come before items that it kept */
    bool opaque;     /* an item has an opaque block, or a removed item had one */
    /* set by phi__fold_link: numbers of linked items and of their groups */
    size_t linked, groups;
    phi_token_counter counted_by; /* phi__fold_tokens: the counter for the first `counted` items */
    size_t counted;
    uint64_t counted_tokens;
} phi__fold;

/* Copies a fold into an arena, and appends the message `more` as entry `seq`. more NULL: appends
   none. False: no memory. */
PHI__FN bool phi__fold_foresee(phi_arena *arena, const phi__fold *from, const phi_message *more,
                               uint64_t seq, phi__fold *to);

/* Adds the message of the next entry, if it is shown. False: no memory. */
PHI__FN bool phi__fold_message(phi_memory *memory, phi__fold *fold, phi__entry *entry);

/* Applies a rewrite to a fold. False: no memory, and nothing changed. */
PHI__FN bool phi__fold_op(const phi_thread *thread, phi__fold *fold, phi__op *op);

/* Returns the index of the first item that begins at entry `from` or later. */
PHI__FN size_t phi__fold_find(const phi__fold *fold, uint64_t from);

/* Removes the items from entry `from` to entry `to`. */
PHI__FN void phi__fold_take_out(phi__fold *fold, uint64_t from, uint64_t to);

/* Links items that are not linked yet; call it before each projection. */
PHI__FN void phi__fold_link(phi__fold *fold);

/* Builds the view of a lane after entry `upto`. All entries must be in memory. Free *fold with
   phi__fold_free. Returns PHI_NOT_FOUND if entry `upto` is forgotten. May also return
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__fold_lane(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                  phi__fold *fold);

/* Gets the view of a lane after entry `upto`. If the thread's own fold is this view, *out points to
   that fold, else to *made. Free *made in any case. */
PHI__FN phi_status phi__fold_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                phi__fold *made, const phi__fold **out);
PHI__FN void phi__fold_free(phi_memory *memory, phi__fold *fold);

/* Returns the tokens of all items; counter NULL: the estimate. The counter is called only for items
   that it did not count yet. */
PHI__FN uint64_t phi__fold_tokens(phi__fold *fold, const phi_token_counter *counter);
PHI__FN void phi__groups_free(phi_memory *memory, size_t count, size_t *callers);

/* Finds the calls of results like phi__groups_make, but in a list whose elements are `stride` bytes
   long and begin with a pointer to a message. Free the result with phi__groups_free. */
PHI__FN size_t *phi__groups_find(phi_memory *memory, const void *at, size_t stride, size_t count);

/* True if a message can replace another one in its group, because both have the same calls or are
   results of the same call. */
PHI__FN bool phi__groups_same_ids(const phi_message *was, const phi_message *now);

/* Begins the reading of a thread. apart: the thread is read for phi__thread_rejoin. */
PHI__FN phi_status phi__load_begin(phi_thread *thread, bool apart);

/* Ends the reading. If `status` is an error of the caller, only frees memory and returns this
   error. */
PHI__FN phi_status phi__load_end(phi_thread *thread, phi_status status);

/* Attaches an entry that was read. The entry is in the current segment. After an error, free the
   thread. */
PHI__FN phi_status phi__load_put(phi_thread *thread, phi__entry *entry);

/* Switches to a lane while a thread is read, like phi__lane_switch. */
PHI__FN phi_status phi__load_switch(phi_thread *thread, uint32_t lane);

/* Plans a prune: removes groups, oldest first, until enough tokens are gone or no group is left.
   The user message "[Pruned context summary: {memo}]" replaces the first removed group. If `pruned`
   is not NULL, *pruned describes the removed groups. out->meta has the same data as JSON. Both
   point into the arena. out->span_count is 0 if there is nothing to remove, or if the memo would be
   larger. counter NULL: the estimate. prune->from_seq is used as it is. Returns PHI_BAD_ARG if an
   argument is missing or prune->tokens is 0. May also return PHI_NO_MEMORY. */
PHI__FN phi_status phi__prune_plan(const phi_view_item *items, size_t count, const phi_prune *prune,
                                   const phi_token_counter *counter, phi_arena *arena,
                                   phi_rewrite *out, phi_pruned *pruned);

/* Returns the first entry of the active lane that a prune may remove. Messages that the last
   compaction kept are never pruned. */
PHI__FN uint64_t phi__prune_from(const phi_thread *thread);

/* Returns "[Pruned context summary: {memo}]" as a user message with the place and time of `first`,
   the first removed message. The message is in the arena, but borrows the loop id. NULL: no
   memory. */
PHI__FN phi_message *phi__prune_memo(phi_str memo, const phi_message *first, const phi_texts *texts,
                                     phi_arena *arena);

/* Removes the oldest whole groups (an answer with its results, or a user message) from the view,
   until the view has at most target_tokens. The first user message, the newest one, and the last
   group stay. The user message "[Context compacted: N messages removed to fit context window]"
   replaces the groups; N includes earlier truncations. All of this is one rewrite. *removed is the
   number of removed messages; 0: there was nothing to remove, and no entry was appended. counter
   NULL: the estimate; texts NULL: phi's texts. False: no memory, and nothing changed. */
PHI__FN bool phi__truncate(phi_thread *thread, uint64_t target_tokens,
                           const phi_token_counter *counter, const phi_texts *texts,
                           phi_str loop_id, uint32_t turn_index, size_t *removed);

/* Returns the name of a category, such as "failure"; empty: the category is invalid. */
PHI__FN const char *phi__revert_word(phi_revert_category category);

/* Plans to remove everything after the step from the active lane's view, and to put the user
   message "[Reverted to step n12 (failure): {summary}]" there. Also removes the message of an
   earlier failure or tangent, if five turns and three newer messages of its category follow it.
   *reverted describes the change. If there is none, out->span_count is 0, and *reverted says why:
   the step "was not found", or a user message follows it. out->meta has the same data as JSON. Both
   point into the arena. Returns PHI_BAD_ARG if an argument is missing or the category is invalid.
   May also return PHI_NO_MEMORY. */
PHI__FN phi_status phi__revert_plan(const phi_thread *thread, const phi_revert *revert,
                                    phi_arena *arena, phi_rewrite *out, phi_reverted *reverted);

/* The last start of each run, in an open table by the hash of the run's id; at most half full. */
typedef struct phi__loop_start {
    uint64_t hash; /* 0: free slot */
    uint64_t seq;  /* the seq of the run's LOOP_START plus 1; 0: the run has ended */
} phi__loop_start;

typedef struct phi__loops {
    phi__loop_start *at;
    size_t count, cap;
    bool away;              /* runs whose start is evicted are not in the table */
    bool keeps_none;        /* the active run keeps nothing, so it may be rolled back */
    bool restored;          /* missing results were lost with a process; false once a run starts */
    uint64_t told, told_to; /* the log's length at the last visit; the reader of that visit */
    phi__entry *started;    /* the LOOP_START of the active run, or NULL */
    uint64_t prompt_hash;   /* hash of the last run's system prompt; 0: none was recorded */
} phi__loops;

/* Finds a run by its id. NULL: no such run is in memory. */
PHI__FN phi__loop_start *phi__loops_find(const phi_thread *thread, phi_str loop_id);

/* Calls saw_fn for each loop id in entries in memory: the ids of runs, of messages, and of messages
   of rewrites, in view or not. An id may come twice. `reader` is a unique number. Entries that this
   reader saw are skipped, unless another reader has called this function since. False: saw_fn
   returned false. */
PHI__FN bool phi__loops_visit(phi_thread *thread, uint64_t reader,
                              bool (*saw_fn)(void *user_data, phi_str loop_id), void *user_data);

/* Returns a deep copy. NULL: no memory. */
PHI__FN phi_loop_info *phi__loops_copy_info(phi_arena *arena, const phi_loop_info *from);

/* Records a run's system prompt in `info`, copied into the arena. Records nothing if the last run
   had the same prompt, or if the prompt is empty and no earlier one was recorded. False: no
   memory. */
PHI__FN bool phi__loops_info_prompt(const phi_thread *thread, phi_arena *arena, phi_str prompt,
                                    phi_loop_info *info);

/* Makes room for one more run in the table. False: no memory. */
PHI__FN bool phi__loops_room(phi_thread *thread);

/* A lane's view before the active run's first rewrite; it may have items of that run. A run that
   keeps nothing restores this view at its end. */
typedef struct phi__undo {
    phi__fold fold;
    uint64_t start; /* the seq of the run's LOOP_START plus 1; 0: no view is saved */
    uint32_t lane;
} phi__undo;

/* True if the end of this run must fold its lane again; then all entries must be in memory. */
PHI__FN bool phi__runs_end_folds(const phi_thread *thread, const phi__entry *end);

enum { PHI__LANE_NONE = 0x7fffffff };

typedef struct phi__lane {
    phi_str name;    /* separately allocated */
    uint32_t parent; /* PHI__LANE_NONE: the lane began empty */
    uint64_t fork_seq;
    uint64_t seq; /* the entry that began the lane */
} phi__lane;

typedef struct phi__lanes {
    phi__lane *at; /* NULL: there is only the default lane */
    uint32_t count, active, cap;
    phi__map by_name; /* values are lane numbers plus 1 */
} phi__lanes;

/* Finds a lane by its name. PHI__LANE_NONE: there is no such lane. */
PHI__FN uint32_t phi__lane_find(const phi_thread *thread, phi_str name);
PHI__FN phi_str phi__lane_name(const phi_thread *thread, uint32_t lane);

/* Returns message i of the active lane. NULL: it is evicted or does not exist. */
PHI__FN phi__entry *phi__lane_message(const phi_thread *thread, size_t i);

/* Begins a lane and sets *lane to its number. parent PHI__LANE_NONE: the lane begins empty.
   PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__lane_new(phi_thread *thread, phi_str name, uint32_t parent,
                                 uint64_t fork_seq, uint32_t *lane);

/* Activates a lane. All entries must be in memory. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__lane_switch(phi_thread *thread, uint32_t lane);

/* Begins an empty lane and activates it, or changes nothing. */
PHI__FN phi_status phi__lane_switch_new(phi_thread *thread, phi_str name);

/* Sets *out to the end of the last whole group of a lane at entry `at`. If there is no whole group,
   *any is false. If the first group is still open, *out is the entry before this group, or
   UINT64_MAX if there is no such entry. */
PHI__FN phi_status phi__lane_cut(const phi_thread *thread, uint32_t lane, uint64_t at,
                                 uint64_t *out, bool *any);

/* A compaction that was not revoked. The mark stays when the rewrite is evicted. */
typedef struct phi__compaction_mark {
    uint64_t seq;
    uint32_t lane;
} phi__compaction_mark;

typedef struct phi__ops {
    phi__op *last;     /* the last rewrite in memory */
    uint64_t last_seq; /* the last rewrite that changed a view, evicted or not; 0: none */
    phi__map by_id;    /* rewrites in memory */
    phi__hashes away;  /* hashes of the ids of evicted rewrites */
    phi__compaction_mark *compactions; /* in the order of the log */
    size_t compaction_count, compaction_cap;
} phi__ops;

/* Finds a rewrite in memory by its id. NULL: there is none. */
PHI__FN phi__op *phi__ops_find(const phi_thread *thread, phi_str op_id);

typedef enum phi__rewrite_asked {
    PHI__REWRITE_FORM,  /* check if the rewrite could ever be valid */
    PHI__REWRITE_GIVEN, /* check that the op_id does not have the form of phi's own ids */
    PHI__REWRITE_NOW    /* check if its spans are valid now, in the active lane */
} phi__rewrite_asked;

/* Checks a rewrite without changing anything. Returns PHI_OK or a status of phi_thread_rewrite. */
PHI__FN phi_status phi__rewrite_check(phi_thread *thread, const phi_rewrite *rewrite,
                                      phi__rewrite_asked asked, char *words, size_t words_size);

/* Applies a rewrite as phi_thread_rewrite does, but also during a run. The entries that it needs
   must be in memory. loop_id and turn_index name the run and turn that make the rewrite. */
PHI__FN phi_status phi__rewrite_make(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size);

/* True if the rewrite needs evicted entries. */
PHI__FN bool phi__rewrite_needs(const phi_thread *thread, const phi_rewrite *rewrite);

/* Makes a deep copy of a rewrite whose form is valid. False: no memory. */
PHI__FN bool phi__rewrite_copy(phi_arena *arena, const phi_rewrite *given, phi_rewrite *out);

enum { PHI__OP_MADE_SIZE = 32 }; /* bytes, with the terminator */
PHI__FN void phi__rewrite_name(const phi_thread *thread, char out[PHI__OP_MADE_SIZE]);
PHI__FN const char *phi__effect_word(uint32_t op);

/* Checks that a text is an array of effects. If it is not, returns PHI_BAD_ARG and says why in
   `words`. May also return PHI_NO_MEMORY. */
PHI__FN phi_status phi__effect_check(phi_memory *memory, phi_str effects, char *words,
                                     size_t words_size);

/* A tool state as JSON text; owns its memory. */
typedef struct phi__state_text {
    char *at; /* NULL: the state is {} */
    size_t len;
    uint64_t tail; /* bytes of effects in the notes after the last note with the whole state */
} phi__state_text;

/* The tool state of a thread's active lane. */
typedef struct phi__tool_state {
    phi__state_text now, before;
    /* seq plus 1 of the LOOP_START of the run that began with the state `before`; 0: no run */
    uint64_t run;
    bool known; /* `now` is valid */
} phi__tool_state;

enum {
    PHI__TOOL_STATE_BYTES = 65536,      /* bytes of a state, by default */
    PHI__TOOL_STATE_MOST = 1024 * 1024, /* bytes of a state, at most */
    PHI__TOOL_STATE_EFFECTS = 64        /* effects of one result, at most */
};

typedef struct phi__state_outcome {
    uint32_t op;         /* a PHI_EFFECT_ bit; 0: no valid op */
    phi_str name, value; /* EMIT: the name, and the value as JSON in the arena */
    const char *why;     /* why the effect was not applied, static; NULL: the effect was applied */
} phi__state_outcome;

typedef struct phi__state_order {
    phi_str call_id;
    phi_str effects;  /* a JSON array */
    uint32_t allowed; /* PHI_EFFECT_ bits */
    size_t max_bytes;
} phi__state_order;

/* Gets the current state of the active lane. The text is valid until the state changes.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__state_now(phi_thread *thread, phi_str *out);

/* Applies effects in their order to the active lane, and records them in a note. Each effect is
   applied whole or not at all. *outcomes gets the outcome of each effect, in the arena. *changed is
   true if the state is different now. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__state_apply(phi_thread *thread, const phi__state_order *order,
                                    phi_arena *arena, phi__state_outcome **outcomes, size_t *count,
                                    bool *changed);

/* Sets the state of the active lane. PHI_BAD_ARG: `json` is no object, or larger than max_bytes.
   After PHI_BAD_ARG and PHI_NO_MEMORY nothing changed. */
PHI__FN phi_status phi__state_set(phi_thread *thread, phi_str json, size_t max_bytes);

/* Gets the state of a lane after an entry, as text in the arena. The notes must be in memory.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__state_fold(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                   phi_arena *arena, phi_str *out);

/* Gets the state of a lane after an entry. The text is in the arena, or it belongs to the thread
   and is valid until the state changes. */
PHI__FN phi_status phi__state_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                 phi_arena *arena, phi_str *out);

/* The type of phi__state_carry, which forgetting calls by a pointer (NULL without tool states). */
typedef bool (*phi__carry_fn)(phi_thread *thread, const phi_thread *from, uint32_t lane,
                              uint64_t upto);

/* Records a tool state in the active lane of a new log: the state that a lane of the log `from` had
   after an entry. */
PHI__FN bool phi__state_carry(phi_thread *thread, const phi_thread *from, uint32_t lane,
                              uint64_t upto);

/* Title, metadata and origin of a thread, which a note PHI_NOTE_THREAD holds. */
typedef struct phi__about {
    phi_arena arena;
    phi_thread_info info; /* without id and times, which are fields of the thread */
} phi__about;

typedef struct phi__messages {
    phi__entry **at;    /* the messages in memory, in order */
    size_t count, held; /* count: all messages; held: the messages in memory */
    size_t cap;
    uint64_t last_user; /* seq of the last user message plus 1; 0: none */
} phi__messages;

/* Counts over all attached entries. */
typedef struct phi__counted {
    phi__hashes ids;    /* hashes of all tool call ids so far */
    phi_usage usage;    /* phi_thread_info.usage */
    phi_usage of_turns; /* usage of the active run's ended turns; included in `usage` */
} phi__counted;

struct phi_thread {
    phi__log log; /* see log.c; the fields without a reference belong to append.c */
    phi__lanes lanes;
    phi__messages messages; /* messages of the active lane */
    phi__fold fold;         /* view of the active lane; see fold.c */
    phi__ops ops;
    phi__loops loops;
    phi__undo undo;
    phi__counted counted;
    phi__tool_state state; /* state of the active lane; see tool_state.c */
    /* allocated if the thread is in no store; empty: no id was made yet */
    phi_str id;
    struct phi__about *about;     /* NULL: no title, metadata or origin */
    struct phi__loading *loading; /* see load.c; NULL: the thread is not being read */
    struct phi__journal *journal; /* see journal_in.h; NULL: the thread is in no store */
    struct phi_runtime *rt;       /* runtime of the thread's agent; NULL: no agent */
    /* for a host's thread (agent/one_shot_run.c); NULL: an agent's thread */
    struct phi__lent *lent;
    void *user;    /* the run that uses the thread, or NULL */
    bool of_agent; /* an agent's own thread; must not be freed or lent to a run */
};

/* Replaces the thread's id. The thread owns `id`, which is terminated, from now on. */
PHI__FN void phi__about_name(phi_thread *thread, phi_str id);

/* Replaces the thread's id by a copy. False: no memory. */
PHI__FN bool phi__about_set_id(phi_thread *thread, phi_str id);

PHI__FN phi_thread_info phi__about_info(const phi_thread *thread);

/* Reads a note PHI_NOTE_THREAD. Returns PHI_BAD_ARG if the metadata in it is no object. May also
   return PHI_NO_MEMORY or an error of the JSON parser. */
PHI__FN phi_status phi__about_read(phi_thread *thread, phi_str note);

/* Records that a new log is a copy of the thread `from`, up to entry `at` (UINT64_MAX: none). */
PHI__FN phi_status phi__about_forked(phi_thread *thread, phi_str from, uint64_t at);

/* Keep title, metadata and origin when a new log replaces `before`. phi__about_carry writes them as
   a note (false: no memory). phi__about_move moves them out of `before`. */
PHI__FN bool phi__about_carry(phi_thread *thread, const phi_thread *before);
PHI__FN void phi__about_move(phi_thread *thread, phi_thread *before);

/* Initializes a thread. `io` is the clock for appended entries; NULL: no clock. */
PHI__FN void phi__thread_init(phi_thread *thread, phi_memory *memory, phi__io *io);

/* Makes a thread empty; of_agent, rt, lent, grown, io and memory stay. The thread must not be in a
   store; if it may be, call phi__journal_free_thread. */
PHI__FN void phi__thread_destroy(phi_thread *thread);

/* Moves a thread's content to *to, and leaves *from empty. Some parts point to the thread's
   address, so *to only keeps the content until it is moved back. */
PHI__FN void phi__thread_move(phi_thread *to, phi_thread *from);

/* Sets the owner: the agent if lent is NULL, else the host. `grown` has the runtime's lists. */
PHI__FN void phi__thread_belong(phi_thread *thread, struct phi_runtime *rt, phi__grown *grown,
                                struct phi__lent *lent);

/* Evict segments without entries in view. The store must have the whole log. Between the two calls
   the caller pins the segments that outside pointers need (phi__segments_pin). The current segment
   and the start of an active run stay too. False: no memory. */
PHI__FN bool phi__thread_evict_begin(phi_thread *thread);
PHI__FN void phi__thread_evict_end(phi_thread *thread);

/* Takes the evicted entries back from `whole`, the same log read from its store (phi__load_begin).
   PHI_PARSE: `whole` is another log. After PHI_PARSE and PHI_NO_MEMORY nothing changed. */
PHI__FN phi_status phi__thread_rejoin(phi_thread *thread, phi_thread *whole);

PHI__FN size_t phi__thread_bytes(const phi_thread *thread);

static inline int64_t phi__thread_now(const phi_thread *thread) {
    return thread->log.io != NULL ? phi__io_wall_ms(thread->log.io) : 0;
}

/* Returns the arena for new entries and everything they point to. */
static inline phi_arena *phi__thread_room(phi_thread *thread) {
    return &thread->log.segments.current->arena;
}

/* True if all entries since `base` are in memory. */
static inline bool phi__thread_whole(const phi_thread *thread) {
    return thread->log.held + thread->log.base == thread->log.count;
}

/* Finds a lane by its name; NULL: the active lane. PHI__LANE_NONE: there is no such lane. */
static inline uint32_t phi__lane_named(const phi_thread *thread, const char *name) {
    return name != NULL ? phi__lane_find(thread, phi_str_of(name)) : thread->lanes.active;
}

static inline phi__entry *phi__thread_at(const phi_thread *thread, uint64_t seq) {
    return phi__log_at(&thread->log, seq);
}

static inline bool phi__thread_roll(phi_thread *thread, phi_str *carried) {
    return phi__segments_roll(&thread->log, carried);
}

static inline void phi__thread_evictable(phi_thread *thread) { phi__log_left(&thread->log); }

/* Returns the number of lanes; 1 if there is only the default lane. */
static inline size_t phi__thread_lanes(const phi_thread *thread) {
    return phi__max(thread->lanes.count, 1);
}

/* Makes room for n entries, of which `messages` are MESSAGE entries, so attaching them cannot fail
   unless something else is appended before. False: no memory. */
PHI__FN bool phi__append_reserve(phi_thread *thread, size_t n, size_t messages);

/* Appends entries of the current segment to the active lane. Room for them was reserved. */
PHI__FN void phi__append_attach(phi_thread *thread, phi__entry *entries, size_t n);

/* Appends copies of n entries, all or none, and sets their seq. Their pointers must point into the
   current segment. False: no memory, and nothing changed. */
PHI__FN bool phi__append(phi_thread *thread, const phi__entry *entries, size_t n);

/* Copies a message into the current segment without appending it. NULL: no memory. */
PHI__FN phi_message *phi__append_keep(phi_thread *thread, const phi_message *message);

/* Appends an error result for each call without a result in the last answer, because a run ended
   without memory or was lost. texts NULL: phi's texts. False: no memory; some may be appended. */
PHI__FN bool phi__append_answer_orphans(phi_thread *thread, const phi_texts *texts);

/* Registers a tool call id. PHI_OK: the id is new. PHI_FULL: the thread has the id already, so
   results would be ambiguous. PHI_NO_MEMORY: the id was not registered. */
PHI__FN phi_status phi__append_claim_id(phi_thread *thread, phi_str id);

/* Registers the ids of a message's calls, so that later answers get other ids. Registered ids are
   accepted. False: no memory. */
PHI__FN bool phi__append_claim_calls(phi_thread *thread, const phi_message *message);

/* Appends the start and the end of a run that took place elsewhere and has no messages here.
   Everything is copied. False: no memory, and nothing changed. */
PHI__FN bool phi__append_note_run(phi_thread *thread, const phi_loop_info *info, int64_t started_ms,
                                  int64_t ended_ms, phi_status status);

/* Adds a note as phi_thread_note does, also with one of phi's own names. */
PHI__FN phi_status phi__note_add(phi_thread *thread, const char *kind, phi_str json, uint64_t *seq);

/* Adds a note that belongs to the active run, if there is one. Copies of the run have the note
   too. */
PHI__FN phi_status phi__note_add_of_run(phi_thread *thread, const char *kind, phi_str json);

/* True if the text is JSON. Sets *status to the result of the parser, such as PHI_PARSE. */
PHI__FN bool phi__note_is_json(const phi_thread *thread, phi_str json, phi_status *status);

/* Finds the lane of that name, or begins it. A new lane is empty if fork_seq is UINT64_MAX.
   Otherwise it begins with the active lane's view after entry fork_seq. *lane gets the lane's
   number. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__graft_lane(phi_thread *thread, phi_str name, uint64_t fork_seq,
                                   uint32_t *lane);

/* Copies the last run of that id from `from` onto a lane, wholly or not at all. PHI_NOT_FOUND: no
   such run is in memory. PHI_MISUSE: the lane is the active one. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__graft_run(phi_thread *thread, uint32_t lane, const phi_thread *from,
                                  phi_str loop_id);

/* Copies a fold's messages to another log. keep[i]: copy item i (keep NULL: all). False: no memory;
   some messages may be copied. */
PHI__FN bool phi__rebase_take(phi_thread *thread, const phi_thread *from, const phi__fold *fold,
                              const uint8_t *keep);

/* Chooses the items of a fold to keep when the oldest are removed: durable items and their groups,
   summaries, and the newest turns that fit into `target_bytes`. If target_bytes is 0, none of these
   is kept. newest: the last turn is kept in any case. The kept items begin with a user's message.
   `keep` has fold->count bytes. False: no memory, and nothing is kept. */
PHI__FN bool phi__rebase_choose(const phi_thread *thread, size_t target_bytes, bool newest,
                                uint8_t *keep);

/* Fills a new log with the views of all lanes of `before`: a FORGOTTEN entry, then copies of
   messages. From the active lane it copies the items in `keep` (NULL: all). Scratch lanes ("~...")
   are not copied. Entry numbers continue. carry: phi__state_carry; NULL: no lane has a tool state.
   *made is the detail of the FORGOTTEN entry; the caller sets its bytes. False: no memory, and the
   caller must free the new log. */
PHI__FN bool phi__rebase_copy(phi_thread *thread, const phi_thread *before, const uint8_t *keep,
                              phi__carry_fn carry, phi_forgotten **made);

/* Estimates the bytes of a fold's messages in a log. keep[i]: count item i; keep NULL: all. */
PHI__FN size_t phi__rebase_bytes(const phi__fold *fold, const uint8_t *keep);

typedef struct phi__proj_order {
    const phi_view_item *items; /* NULL: use the items of `fold` */
    const phi__fold *fold;      /* must be linked */
    size_t count;
    const phi_policy *policy;
    const phi_token_counter *counter; /* NULL: the estimate */
    phi_str system_prompt;
    uint64_t tools_tokens;
    const phi_texts *texts; /* NULL: phi's texts */
    bool extensions;        /* also list the extensions of the window; they cost no tokens */
    bool all;               /* `groups` also has the groups that are left out */
} phi__proj_order;

typedef enum phi__verdict {
    PHI__VERDICT_SHOWN = 0,
    PHI__VERDICT_CUT,      /* sent, with shortened results */
    PHI__VERDICT_KIND,     /* of a kind that the policy does not include */
    PHI__VERDICT_TURNS,    /* left out by max_turns */
    PHI__VERDICT_MESSAGES, /* left out by max_messages */
    PHI__VERDICT_BUDGET,
    PHI__VERDICT_START /* left out, because no user message comes before it */
} phi__verdict;

/* An answer and its results, or another message. */
typedef struct phi__group {
    struct phi__group *newer;
    size_t at; /* index of the message's item */
    const phi_message *message;
    /* in the order of the calls; phi makes a result for each call without one */
    const phi_message **results;
    size_t *places; /* indexes of the results' items; SIZE_MAX: made by phi */
    size_t result_count, made;
    uint64_t tokens;
    uint32_t turn; /* 1: the newest turn */
    bool is_summary, opens;
    bool starts; /* the list may begin with this group */
    phi__verdict verdict;
} phi__group;

typedef struct phi__projection {
    const phi_message **messages;
    size_t *places; /* item of each message; SIZE_MAX: the message is a copy or made by phi */
    size_t count;
    const phi__group *groups; /* oldest first */
    phi_projection_meta meta;
} phi__projection;

/* Chooses the messages to send, as phi_project does. */
PHI__FN phi_status phi__project(const phi__proj_order *order, phi_arena *arena,
                                phi__projection *out);
PHI__FN phi_status phi__explain(phi__proj_order *order, phi_arena *arena, phi_str *out);

/* phi__policy_filled returns a policy with all defaults set. phi__policy_fault returns a static
   text that says which field has an invalid value; NULL: no field has. */
PHI__FN phi_policy phi__policy_filled(const phi_policy *policy);
PHI__FN const char *phi__policy_fault(const phi_policy *policy);

/* The reported tokens of a context. PHI_ZERO: nothing was reported. Owns no memory. */
typedef struct phi__tracker {
    uint64_t reported; /* tokens up to and including message `index`; 0: not known */
    size_t index;
} phi__tracker;

/* Records the usage of the answer at messages[index]: the sum of input, output, cache reads and
   cache writes. A sum of 0 is ignored. */
PHI__FN void phi__tracker_record(phi__tracker *tracker, const phi_usage *usage, size_t index);

/* Returns the known tokens of a list of `count` messages, and sets *from to the first message that
   must be estimated and added. If nothing is known, or the list is too short to have the recorded
   message, returns 0 and sets *from to 0. */
PHI__FN uint64_t phi__tracker_known(const phi__tracker *tracker, size_t count, size_t *from);

enum { PHI__STEP_BYTES = 32 };

/* Writes "[step n12]", terminated. Returns its length. */
PHI__FN size_t phi__step_label(uint64_t seq, char out[PHI__STEP_BYTES]);

/* Reads the number of "n12" or "12". False: the name has no number, and *seq is unchanged. */
PHI__FN bool phi__step_number(phi_str name, uint64_t *seq);

/* Writes the value of "abandoned_node_ids", an array of numbers; skips names without a number. */
PHI__FN void phi__step_put_all(phi__buf *out, const phi_str *names, size_t count);

#endif
