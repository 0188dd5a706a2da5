/* thread_in.h - what the files of src/log share and no other room needs. */
#ifndef PHI_LOG_THREAD_IN_H
#define PHI_LOG_THREAD_IN_H

#include "log/log_in.h"

/* ---- log.c ---- */

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more);
PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash);
PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash); /* its room was made */
PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set);

/* Makes an empty log. io: gives appended entries their time; NULL: no clock. */
PHI__FN void phi__log_init(phi__log *log, phi_memory *memory, phi__io *io);

/* Gives back all it has; then it is to be initialised again. */
PHI__FN void phi__log_free_all(phi__log *log);

/* Room for n more entries, so that adding them cannot fail. False: no memory. */
PHI__FN bool phi__log_reserve(phi__log *log, size_t n);

/* The next entry, which lives in the current segment already. */
PHI__FN void phi__log_add(phi__log *log, phi__entry *entry);
PHI__FN void phi__log_grew(phi__log *log); /* after something was added */
PHI__FN size_t phi__segments_bytes(const phi__log *log);

/* Leaves the current segment for a new one in any case. False: no memory. */
PHI__FN bool phi__segments_open(phi__log *log);

/* Frees segments that are not live. */
PHI__FN void phi__segments_drop_dead(phi__log *log);

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

/* Limits of the lanes that a lane is made of: entries of lane i count up to limits[i], of which
   there are lane_count, UINT64_MAX - 1 for all, and none where any is false. NULL: no memory. Freed
   by the caller. */
typedef struct phi__limit {
    uint64_t seq;
    bool any;
} phi__limit;

PHI__FN phi__limit *phi__fold_limits(const phi_thread *thread, uint32_t lane, uint64_t upto);

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

/* ---- append.c ---- */

/* Revokes the rewrites of a lane between two entries, as if at the second. True if there were
   any. */
PHI__FN bool phi__ops_roll_back(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* The marks of its compactions between two entries go. */
PHI__FN void phi__ops_unmark(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* The place of a run's start, or the free place for it. */
PHI__FN phi__loop_start *phi__loops_place(phi__loop_start *table, size_t cap, uint64_t hash);

/* Before a rewrite of the active lane: saves its view, during a run that keeps nothing. False: no
   memory. */
PHI__FN bool phi__runs_keep_undo(phi_thread *thread);
PHI__FN void phi__runs_drop_undo(phi_thread *thread);

/* Activates a lane, with its fold, which is the thread's from then on, where its messages are in
   their place already (phi__lane_messages); NULL: an empty view. */
PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, phi__fold *fold);

/* The MESSAGE entries of a lane, in place of those of the active one; of a log that is whole.
   False: no memory, and nothing changed. */
PHI__FN bool phi__lane_messages(phi_thread *thread, uint32_t lane);

/* n entries of now, and room to attach them; NULL: no memory. */
PHI__FN phi__entry *phi__lane_entries(phi_thread *thread, size_t n);

/* Attaches one on the lane that it is about, which need not be the active one. */
PHI__FN void phi__lane_append(phi_thread *thread, phi__entry *entry, phi_entry_kind kind,
                              uint32_t lane);

/* Attaches an entry to entry->lane, which is not the active one; it lives in the current segment,
   and its room was made (phi__append_reserve, and of a LOOP_START phi__loops_room). */
PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry);

/* What attaching does for every entry, on the active lane. */
PHI__FN void phi__append_put(phi_thread *thread, phi__entry *entry);
PHI__FN void phi__state_drop(phi_memory *memory, phi__state_text *text);

/* Frees all that entries have added to the thread. */
PHI__FN void phi__append_free(phi_thread *thread);

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

/* ---- check.c ---- */

/* As phi__compact_say, with the time, run and turn of `place`. */
PHI__FN phi_message *phi__compact_say_at(phi_str text, const phi_message *place, phi_arena *arena);

/* ---- load.c ---- */

/* The view of a lane, in *out; it is made where it is not known. */
PHI__FN phi_status phi__load_view(phi_thread *thread, uint32_t lane, phi__fold **out);

/* Room for all lanes there are; then entering one of them cannot fail. False: no memory. */
PHI__FN bool phi__load_room(phi_thread *thread);
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

PHI__FN bool phi__items_sums_up(const phi_message *m, uint32_t flags);
PHI__FN bool phi__items_is_group(const phi_message *m, uint32_t flags);

/* The id of a rewrite that has none of its host's: its place in the log, mostly. */
#define PHI__OP_MADE "op-%llu"

#endif
