/* thread_in.h - what the files of src/history share and no other room needs. */
#ifndef PHI_LOG_THREAD_IN_H
#define PHI_LOG_THREAD_IN_H

#include "log/log_in.h"

/* ---- fold.c ---- */

/* True if a message can be in a view. */
PHI__FN bool phi__fold_shows(const phi_message *message);
PHI__FN void phi__fold_clear(phi__fold *fold); /* an empty view; its room stays */

/* Replaces a fold by another, which is empty then. */
PHI__FN void phi__fold_move(phi_memory *memory, phi__fold *to, phi__fold *from);

/* A copy, in place of an empty fold. False: no memory. */
PHI__FN bool phi__fold_copy(phi_memory *memory, phi__fold *to, const phi__fold *from);

/* Messages and flags of a view, as a fold in an arena. False: no memory. */
PHI__FN bool phi__fold_of_view(phi_arena *arena, const phi_view_item *items, size_t count,
                               phi__fold *fold);

/* Replaces `gone` items by these n; there is room. The fold's tokens stay as they are: the caller
   updates them, by phi__fold_discount. */
PHI__FN void phi__fold_splice(phi__fold *fold, size_t at, size_t gone, const phi__item *items,
                              size_t n);
PHI__FN void phi__fold_discount(phi__fold *fold, uint64_t tokens);

/* Limits of the lanes that a lane is made of: entries of lane i count up to limits[i], of which
   there are lane_count, UINT64_MAX - 1 for all, and none where any is false. NULL: no memory. Freed
   by the caller. */
typedef struct phi__limit {
    uint64_t seq;
    bool any;
} phi__limit;

PHI__FN phi__limit *phi__fold_limits(const phi_thread *thread, uint32_t lane, uint64_t upto);

/* ---- append.c ---- */

/* Ids of calls, each with the item that was put last for it. The ids are borrowed. */
typedef struct phi__id {
    phi_str id;
    uint64_t hash;
    size_t item; /* and 1; 0: the place is free */
} phi__id;

typedef struct phi__ids {
    phi__id *at;
    size_t cap;
} phi__ids;

/* Room for n ids; none are in it. False: no memory, and freeing it is harmless. */
PHI__FN bool phi__groups_ids_make(phi_memory *memory, phi__ids *ids, size_t n);
PHI__FN void phi__groups_ids_free(phi_memory *memory, phi__ids *ids);
PHI__FN void phi__groups_ids_put(phi__ids *ids, phi_str id, size_t item);
PHI__FN size_t phi__groups_ids_get(const phi__ids *ids, phi_str id); /* SIZE_MAX: none */

/* For each item that is a result, the item with its call, the nearest before it; SIZE_MAX: none.
   NULL: no memory. Freed with phi__groups_free, with the count of the fold when it was made. */
PHI__FN size_t *phi__groups_make(phi_memory *memory, const phi__fold *fold);

/* 1 for each item that a compaction leaves standing: a durable item and the others of its group.
   fold->count bytes; NULL: there is none. False: no memory. */
PHI__FN bool phi__groups_durable(phi_memory *memory, const phi__fold *fold, uint8_t **durable);

/* ---- rewrite.c ---- */
PHI__FN void phi__ops_init(phi__ops *ops, phi_memory *memory);
PHI__FN void phi__ops_free(phi__ops *ops, phi_memory *memory);

/* Revokes the rewrites of a lane between two entries, as if at the second. True if there were
   any. */
PHI__FN bool phi__ops_roll_back(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* The marks of its compactions between two entries go. */
PHI__FN void phi__ops_unmark(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* ---- lane.c ---- */

/* NULL: there is no run of this id in memory. */
PHI__FN const phi__loop_start *phi__loops_find(const phi_thread *thread, phi_str loop_id);

/* Where a run began, by its LOOP_START, whose seq is known; there is room. */
PHI__FN void phi__loops_note(phi_thread *thread, const phi__entry *start);

/* For a LOOP_START, when it is attached. */
PHI__FN void phi__loops_starts(phi_thread *thread, const phi__entry *start);
PHI__FN void phi__loops_ends_beside(phi_thread *thread, phi__entry *end);
PHI__FN void phi__loops_free(phi__loops *loops, phi_memory *memory);

/* For a LOOP_END, when it is attached. */
PHI__FN void phi__runs_loop_ends(phi_thread *thread, phi__entry *end);

/* Before a LOOP_END is attached: prepares the rollback of the run, if it needs one.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__runs_may_end(phi_thread *thread, const phi__entry *end);

/* Before a rewrite of the active lane: saves its view, during a run that keeps nothing. False: no
   memory. */
PHI__FN bool phi__runs_keep_undo(phi_thread *thread);
PHI__FN void phi__runs_drop_undo(phi_thread *thread);

/* Activates a lane, with its fold, which is the thread's from then on, where its messages are in
   their place already (phi__lane_messages); NULL: an empty view. */
PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, phi__fold *fold);

/* The same without its view and its messages: a reader has them. */
PHI__FN void phi__lane_activate(phi_thread *thread, uint32_t lane);
PHI__FN void phi__lane_free_all(phi_thread *thread);

/* n entries of now, and room to attach them; NULL: no memory. */
PHI__FN phi__entry *phi__lane_entries(phi_thread *thread, size_t n);

/* Attaches one on the lane that it is about, which need not be the active one. */
PHI__FN void phi__lane_append(phi_thread *thread, phi__entry *entry, phi_entry_kind kind,
                              uint32_t lane);

/* ---- tool_state.c ---- */

/* The fault of an effect; NULL: it has none. Static. */
PHI__FN const char *phi__effect_fault(const phi_json *effect);

/* An object that effects change. One tree takes all of them: each costs about what it changes,
   however large the object is. */
typedef struct phi__effect_tree {
    phi_arena *arena; /* of the tree */
    phi_json *root;
    size_t bytes; /* of its text */
    phi__json_index index;
    phi__buf text;                            /* to measure values in */
    const struct phi__effect_change *changes; /* of the effect under way, last first */
    phi_status status;                        /* of memory */
    const char *why;                          /* the effect under way is refused */
} phi__effect_tree;

/* The text is an object. PHI_NO_MEMORY, also where it is none. Close it in any case. */
PHI__FN phi_status phi__effect_open(phi__effect_tree *tree, phi_memory *memory, phi_arena *arena,
                                    phi_str text);
PHI__FN void phi__effect_close(phi__effect_tree *tree);

/* Applies an effect without fault. *why: it is refused, static, and the object is as before; NULL:
   it was applied. PHI_NO_MEMORY: the tree is of no use. */
PHI__FN phi_status phi__effect_apply(phi__effect_tree *tree, const phi_json *effect,
                                     size_t max_bytes, const char **why);

/* Another lane is active. */
PHI__FN void phi__state_unknown(phi_thread *thread);

/* A run has ended that began with this entry; none: it keeps nothing. */
PHI__FN void phi__state_run_ended(phi_thread *thread, uint64_t start, bool none);
PHI__FN void phi__state_free(phi_thread *thread);
PHI__FN size_t phi__state_bytes(const phi_thread *thread);

/* ---- compact.c ---- */

/* The same with the time, run and turn of `place`. */
PHI__FN phi_message *phi__compact_say_at(phi_str text, const phi_message *place, phi_arena *arena);

/* ---- load.c ---- */
PHI__FN phi_status phi__load_view(phi_thread *thread, uint32_t lane, phi__fold **out);

/* False: no memory; after true, entering a lane that there is cannot fail. */
PHI__FN bool phi__load_may_enter(phi_thread *thread);
PHI__FN void phi__load_enter(phi_thread *thread, uint32_t lane);

/* True if a rewrite is known to cut nothing and to part no group; false: it needs the full
   check. */
PHI__FN bool phi__load_fits(const phi__fold *fold, const phi_rewrite *rewrite);

/* True if no later rewrite is known to touch one; false: look more closely. */
PHI__FN bool phi__load_untouched(const phi_thread *thread, const phi__op *op);

/* A rewrite comes into its lane's view, which is known; and goes again. After an error the thread
   is to be freed. */
PHI__FN bool phi__load_apply(phi_thread *thread, phi__op *op);
PHI__FN phi_status phi__load_unapply(phi_thread *thread, phi__op *op);

/* ---- project.c ---- */

/* An order of a view. PHI_BAD_ARG. */
PHI__FN phi_status phi__proj_of(phi__proj_order *order, const phi_view_item *items, size_t count,
                                const phi_policy *policy, const phi_token_counter *counter,
                                phi_str system_prompt, uint64_t tools_tokens);

/* The whole sum. counter NULL: the estimate. */
PHI__FN uint64_t phi__tracker_tokens(const phi__tracker *tracker,
                                     const phi_message *const *messages, size_t count,
                                     const phi_token_counter *counter);

/* Forgets the last report, so that everything is estimated again. */
PHI__FN void phi__tracker_reset(phi__tracker *tracker);

/* ---- rebase.c ---- */

/* Attaches an entry to entry->lane, which is not the active one; it lives in the current segment,
   and its room was made (phi__append_reserve, and of a LOOP_START phi__loops_room). */
PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry);

/* ---- thread.c ---- */

/* Room for n more. False: no memory. */
PHI__FN bool phi__messages_room(phi_memory *memory, phi__messages *messages, size_t n);

/* One more, which gets its ordinal; there is room. */
PHI__FN void phi__messages_add(phi__messages *messages, phi__entry *entry);

/* Those of another lane, all in memory, in a list with room for `cap`, which is the struct's from
   now on. */
PHI__FN void phi__messages_replace(phi_memory *memory, phi__messages *messages, phi__entry **list,
                                   size_t count, size_t cap);
PHI__FN void phi__messages_clear(phi__messages *messages); /* their room stays */

/* What attaching does for every entry, on the active lane. */
PHI__FN void phi__append_put(phi_thread *thread, phi__entry *entry);

/* The usage of a model that wrote a rewrite. */
PHI__FN void phi__append_count_written(phi_thread *thread, const phi_usage *usage);

/* The usage of a run that was copied, as part of the active run where there is one. */
PHI__FN void phi__append_count_beside(phi_thread *thread, const phi_usage *usage);
PHI__FN void phi__append_free(phi_thread *thread); /* its counts */

/* ---- project.c, for append.c and fold.c ---- */
PHI__FN bool phi__items_sums_up(const phi_message *m, uint32_t flags);
PHI__FN bool phi__items_is_group(const phi_message *m, uint32_t flags);

/* ---- parts.c ---- */

/* The id of a rewrite that has none of its host's: its place in the log, mostly. */
#define PHI__OP_MADE "op-%llu"
PHI__FN bool phi__ops_compacts(const phi__op *op);
PHI__FN bool phi__ops_mark_room(phi_thread *thread);
PHI__FN void phi__messages_free(phi_memory *memory, phi__messages *messages);
PHI__FN void phi__state_drop(phi_thread *thread, phi__state_text *text);
PHI__FN bool phi__state_copy(phi_thread *thread, phi_str from, phi__state_text *out);
PHI__FN void phi__state_take(phi_thread *thread, const phi__state_text *made);

/* ---- about.c ---- */

PHI__FN void phi__about_free(phi_thread *thread);
PHI__FN size_t phi__about_bytes(const phi_thread *thread);

#endif
