/* plan_in.h - which of a view's items leave it: blocks of items that belong together, the oldest
   first, until a caller has enough. Truncating and pruning both plan so.

       for each item: phi__plan_put(&plan, i, from, to, tokens);
       phi__plan_join(&plan, answer, result);       // they stay or go together
       phi__plan_block(&plan, i)->stays = true;
       while (more is wanted && phi__plan_take(&plan, &at, end, false)) ...
       spans = phi__plan_spans(&plan, arena, instead, &count);

   Pure: it knows neither threads nor views. Ownership: `items` is the caller's. */
#ifndef PHI_HISTORY_PLAN_IN_H
#define PHI_HISTORY_PLAN_IN_H

#include "base/arena_in.h"
#include "log/thread.h"

/* An item, and, where it is the first of its block, the whole of that. */
typedef struct phi__plan_item {
    uint64_t from, to; /* entries that it stands for */
    size_t up;         /* towards the block's first item, which points to itself */
    uint64_t tokens;
    size_t count;
    bool stays, goes;
    bool late; /* it goes only when nothing else can */
} phi__plan_item;

typedef struct phi__plan {
    phi__plan_item *items;
    size_t count;
    uint64_t tokens; /* of the entries removed so far */
    size_t removed;  /* items that go so far */
    size_t also;     /* an item that goes besides and is not counted; SIZE_MAX: none */
} phi__plan;

PHI__FN void phi__plan_init(phi__plan *plan, phi__plan_item *items, size_t count);
PHI__FN void phi__plan_put(phi__plan *plan, size_t at, uint64_t from, uint64_t to, uint64_t tokens);
/* Makes the blocks of two items one. */
PHI__FN void phi__plan_join(phi__plan *plan, size_t a, size_t b);
PHI__FN phi__plan_item *phi__plan_block(phi__plan *plan, size_t at);
/* Takes the oldest block that begins in [*at, end) and may go, `late`: also one that goes late.
   False: there is none. */
PHI__FN bool phi__plan_take(phi__plan *plan, size_t *at, size_t end, bool late);
PHI__FN bool phi__plan_goes(phi__plan *plan, size_t at);
/* The removed entries: neighbours are one span, `instead` (NULL: nothing) stands in the first one's
   place. Something goes. NULL: no memory. */
PHI__FN phi_span *phi__plan_spans(phi__plan *plan, phi_arena *arena, const phi_message *instead,
                                  size_t *count);

#endif
