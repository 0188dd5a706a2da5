/* fold_in.h - the fold: the items of a lane's view.

   A fold depends on nothing but the entries: the same log gives the same list, whether it grew
   entry by entry or was made anew. Making it anew needs the whole log in memory. */
#ifndef PHI_HISTORY_FOLD_IN_H
#define PHI_HISTORY_FOLD_IN_H

#include "model/tokens.h"
#include "log/log_in.h"

/* A lane's view: each item is a message of the log, or one of a rewrite. */
typedef struct phi__fold {
    phi__item *items; /* extensions included: encoders leave them out */
    size_t count, cap;
    uint64_t tokens;       /* by estimate */
    size_t durable;        /* items that are */
    bool overlaps;         /* a summary may stand before items it left standing */
    bool opaque;           /* an item holds an opaque block, or one did that is gone */
    size_t linked, groups; /* project_in.h: items so far that it knows, and the groups of them */
    phi_token_counter counted_by; /* phi__fold_tokens: the counter of the first `counted` items */
    size_t counted;
    uint64_t counted_tokens;
} phi__fold;

/* Whether a message can be in a view */
PHI__FN bool phi__fold_shows(const phi_message *message);

PHI__FN void phi__fold_clear(phi__fold *fold); /* an empty view; its room stays */
/* Replaces a fold by another, which is empty then. */
PHI__FN void phi__fold_move(phi_memory *memory, phi__fold *to, phi__fold *from);
/* A copy, in place of an empty fold. False: no memory. */
PHI__FN bool phi__fold_copy(phi_memory *memory, phi__fold *to, const phi__fold *from);
/* A copy in an arena, with one more message behind it, of the entry `seq`; more NULL: none. False:
   no memory. */
PHI__FN bool phi__fold_foresee(phi_arena *arena, const phi__fold *from, const phi_message *more,
                               uint64_t seq, phi__fold *to);
/* Messages and flags of a view, as a fold in an arena. False: no memory. */
PHI__FN bool phi__fold_of_view(phi_arena *arena, const phi_view_item *items, size_t count,
                               phi__fold *fold);
PHI__FN bool phi__fold_room(phi_memory *memory, phi__fold *fold, size_t more);
PHI__FN void phi__fold_message(phi__fold *fold, phi__entry *entry);
/* Puts a rewrite into a fold. False: no memory, and nothing changed. */
PHI__FN bool phi__fold_op(const phi_thread *thread, phi__fold *fold, phi__op *op);
/* The first item that stands for entry `from` or a later one. */
PHI__FN size_t phi__fold_find(const phi__fold *fold, uint64_t from);
/* Replaces `gone` items by these n; there is room. The fold's tokens stay as they are: the caller
   updates them, by phi__fold_discount. */
PHI__FN void phi__fold_splice(phi__fold *fold, size_t at, size_t gone, const phi__item *items,
                              size_t n);
PHI__FN void phi__fold_discount(phi__fold *fold, uint64_t tokens);
/* Takes out the items from entry `from` to entry `to`. */
PHI__FN void phi__fold_take_out(phi__fold *fold, uint64_t from, uint64_t to);

/* Links items that were not linked yet; before each use by a projection. */
PHI__FN void phi__fold_link(phi__fold *fold);

/* Makes the view of a lane after entry `upto` anew; the log must be whole. *fold is freed with
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
PHI__FN void phi__groups_free(phi_memory *memory, size_t count, size_t *callers);
/* The same for a list of messages: each element, `stride` bytes apart, begins with a pointer to
   one. */
PHI__FN size_t *phi__groups_find(phi_memory *memory, const void *at, size_t stride, size_t count);
/* 1 for each item that a compaction leaves standing: a durable item and the others of its group.
   fold->count bytes; NULL: there is none. False: no memory. */
PHI__FN bool phi__groups_durable(phi_memory *memory, const phi__fold *fold, uint8_t **durable);
/* Whether a message can replace another in its group: its calls, or its result, are the same. */
PHI__FN bool phi__groups_same_ids(const phi_message *was, const phi_message *now);

#endif
