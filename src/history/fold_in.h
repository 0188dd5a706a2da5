/* fold_in.h - the fold: the items of a lane's view.

   A fold depends on nothing but the entries: the same log gives the same list, whether it grew
   entry by entry or was made anew. Making it anew needs the whole log in memory. */
#ifndef PHI_HISTORY_FOLD_IN_H
#define PHI_HISTORY_FOLD_IN_H

#include "history/history_in.h"
#include "log/log_in.h"
#include "model/tokens.h"

/* Whether a message can be in a view */
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

#endif
