/* thread_in.h - shared by the files of src/log, not for other rooms. */
#ifndef PHI_LOG_THREAD_IN_H
#define PHI_LOG_THREAD_IN_H

#include "log/log_in.h"

/* Returns the hash for a table in which 0 marks a free slot. */
static inline uint64_t phi__hash_filled(uint64_t hash) { return hash != 0 ? hash : 1; }

/* ---- log.c ---- */

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more);
PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash);
PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash); /* room was reserved */
PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set);

/* Initializes an empty log. `io` is the clock for appended entries; NULL: no clock. */
PHI__FN void phi__log_init(phi__log *log, phi_memory *memory, phi__io *io);

/* Frees everything. Call phi__log_init before using the log again. */
PHI__FN void phi__log_free_all(phi__log *log);

/* Makes room for n more entries, so adding them cannot fail. False: no memory. */
PHI__FN bool phi__log_reserve(phi__log *log, size_t n);

/* Adds the next entry, which lives in the current segment. */
PHI__FN void phi__log_add(phi__log *log, phi__entry *entry);
PHI__FN void phi__log_grew(phi__log *log); /* call after entries were added */
PHI__FN size_t phi__segments_bytes(const phi__log *log);

/* Begins a new segment in any case. False: no memory. */
PHI__FN bool phi__segments_open(phi__log *log);

/* Frees segments that are not live. */
PHI__FN void phi__segments_drop_dead(phi__log *log);

/* ---- fold.c ---- */

PHI__FN bool phi__fold_room(phi_memory *memory, phi__fold *fold, size_t more);

/* Adds the entry's message, if it is shown. Room was reserved. */
PHI__FN void phi__fold_put(phi__fold *fold, phi__entry *entry);

/* True if a message can be in a view. */
PHI__FN bool phi__fold_shows(const phi_message *message);
PHI__FN void phi__fold_clear(phi__fold *fold); /* empties a view and keeps its memory */

/* Replaces *to by *from, and empties *from. */
PHI__FN void phi__fold_move(phi_memory *memory, phi__fold *to, phi__fold *from);

/* Copies a fold into an empty one. False: no memory. */
PHI__FN bool phi__fold_copy(phi_memory *memory, phi__fold *to, const phi__fold *from);

/* Makes a fold in an arena with the messages and flags of a view. False: no memory. */
PHI__FN bool phi__fold_of_view(phi_arena *arena, const phi_view_item *items, size_t count,
                               phi__fold *fold);

/* Replaces `gone` items by n others. Room was reserved. The caller updates fold->tokens. */
PHI__FN void phi__fold_splice(phi__fold *fold, size_t at, size_t gone, const phi__item *items,
                              size_t n);

/* The last entry of a lane that counts for a view; if any is false, no entry counts.
   phi__fold_limits returns an array with a limit for each lane, which the caller frees. NULL: no
   memory. */
typedef struct phi__limit {
    uint64_t seq;
    bool any;
} phi__limit;

PHI__FN phi__limit *phi__fold_limits(const phi_thread *thread, uint32_t lane, uint64_t upto);

/* A table of call ids. Each id has the item that was last put for it. The ids are borrowed. */
typedef struct phi__id {
    phi_str id;
    uint64_t hash;
    size_t item; /* the item's index plus 1; 0: free slot */
} phi__id;

typedef struct phi__ids {
    phi__id *at;
    size_t cap;
} phi__ids;

/* Makes an empty table with room for n ids. False: no memory; the table may still be freed. */
PHI__FN bool phi__groups_ids_make(phi_memory *memory, phi__ids *ids, size_t n);
PHI__FN void phi__groups_ids_free(phi_memory *memory, phi__ids *ids);
PHI__FN void phi__groups_ids_put(phi__ids *ids, phi_str id, size_t item);
PHI__FN size_t phi__groups_ids_get(const phi__ids *ids, phi_str id); /* SIZE_MAX: none */

/* Returns an array that has for each result the index of the nearest earlier item with its call, or
   SIZE_MAX if there is none. Free it with phi__groups_free and the present fold->count. NULL: no
   memory. */
PHI__FN size_t *phi__groups_make(phi_memory *memory, const phi__fold *fold);

/* Sets *durable to fold->count bytes, with 1 for each item that a compaction keeps: a durable item,
   or another item of its group. *durable is NULL if there are no such items. False: no memory. */
PHI__FN bool phi__groups_durable(phi_memory *memory, const phi__fold *fold, uint8_t **durable);

/* ---- append.c ---- */

/* Revokes a lane's rewrites from entry `from` to entry `to`. They count as revoked at entry `to`.
   False: there was nothing to revoke. */
PHI__FN bool phi__ops_roll_back(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* Removes the marks of the lane's compactions between two entries. */
PHI__FN void phi__ops_unmark(phi_thread *thread, uint32_t lane, uint64_t from, uint64_t to);

/* Returns the slot of a run's start, or the free slot for it. */
PHI__FN phi__loop_start *phi__loops_place(phi__loop_start *table, size_t cap, uint64_t hash);

/* Saves the view before a rewrite, if the run keeps nothing. False: no memory. */
PHI__FN bool phi__runs_keep_undo(phi_thread *thread);
PHI__FN void phi__runs_drop_undo(phi_thread *thread);

/* Activates a lane after phi__lane_messages. The thread owns the fold; NULL: an empty lane. */
PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, phi__fold *fold);

/* Sets the thread's list of messages to those of a lane. All entries must be in memory. False: no
   memory, and nothing changed. */
PHI__FN bool phi__lane_messages(phi_thread *thread, uint32_t lane);

/* Returns n entries with the current time, and reserves room to attach them. NULL: no memory. */
PHI__FN phi__entry *phi__lane_entries(phi_thread *thread, size_t n);

/* Attaches an entry about a lane, which need not be the active one. */
PHI__FN void phi__lane_append(phi_thread *thread, phi__entry *entry, phi_entry_kind kind,
                              uint32_t lane);

/* Attaches an entry to entry->lane, which is not the active lane. The entry lives in the current
   segment. Room was reserved (phi__append_reserve, and phi__loops_room for a LOOP_START). */
PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry);

/* Does the common part of attaching an entry to the active lane. */
PHI__FN void phi__append_put(phi_thread *thread, phi__entry *entry);
PHI__FN void phi__state_drop(phi_memory *memory, phi__state_text *text);

PHI__FN void phi__append_free(phi_thread *thread);

/* ---- tool_state.c ---- */

/* Returns the fault of an effect as a static text. NULL: it is valid. */
PHI__FN const char *phi__effect_fault(const phi_json *effect);

/* An object that effects change. One tree takes all effects. Each effect costs about as much as it
   changes, however large the object is. */
typedef struct phi__effect_tree {
    phi_arena *arena; /* arena of the tree */
    phi_json *root;
    size_t bytes; /* length of the object as JSON text */
    phi__json_index index;
    phi__buf text;                            /* scratch, to measure values */
    const struct phi__effect_change *changes; /* changes of the current effect, last first */
    phi_status status;                        /* PHI_OK or PHI_NO_MEMORY */
    const char *why;                          /* why the current effect is refused */
} phi__effect_tree;

/* Opens a tree for the text of an object; close it in any case. Every error is PHI_NO_MEMORY. */
PHI__FN phi_status phi__effect_open(phi__effect_tree *tree, phi_memory *memory, phi_arena *arena,
                                    phi_str text);
PHI__FN void phi__effect_close(phi__effect_tree *tree);

/* Applies a valid effect. If it is refused, *why is a static text and the object is unchanged; else
   *why is NULL. After PHI_NO_MEMORY the tree cannot be used. */
PHI__FN phi_status phi__effect_apply(phi__effect_tree *tree, const phi_json *effect,
                                     size_t max_bytes, const char **why);

/* ---- check.c ---- */

PHI__FN phi_message *phi__compact_say_at(phi_str text, const phi_message *place, phi_arena *arena);

/* ---- load.c ---- */

PHI__FN void phi__load_drop(phi_thread *thread); /* harmless if the thread is not being read */

/* Gets the view of a lane, and builds it if it is not known. */
PHI__FN phi_status phi__load_view(phi_thread *thread, uint32_t lane, phi__fold **out);

/* Makes room for all lanes, so that entering one of them cannot fail. False: no memory. */
PHI__FN bool phi__load_room(phi_thread *thread);
PHI__FN void phi__load_enter(phi_thread *thread, uint32_t lane);

/* True if a rewrite surely cuts no item and separates no group. False: the full check is needed. */
PHI__FN bool phi__load_fits(const phi__fold *fold, const phi_rewrite *rewrite);

/* True if surely no later rewrite touches this rewrite. False: all later ones must be checked. */
PHI__FN bool phi__load_untouched(const phi_thread *thread, const phi__op *op);

/* Apply a rewrite to its lane's known view, and revert it. After an error, free the thread. */
PHI__FN bool phi__load_apply(phi_thread *thread, phi__op *op);
PHI__FN phi_status phi__load_unapply(phi_thread *thread, phi__op *op);

PHI__FN bool phi__items_sums_up(const phi_message *m, uint32_t flags);
PHI__FN bool phi__items_is_group(const phi_message *m, uint32_t flags);

/* The form of an id that phi makes for a rewrite; the number is mostly the entry's seq. */
#define PHI__OP_MADE "op-%llu"

#endif
