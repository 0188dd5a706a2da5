/* introspect_in.h - a view's calls without a result, and its figures. */
#ifndef PHI_PERSIST_INTROSPECT_IN_H
#define PHI_PERSIST_INTROSPECT_IN_H

#include "base/arena_in.h"
#include "persist/introspect.h"

typedef struct phi__open_call {
    uint64_t seq; /* the first entry of its item */
    size_t block;
} phi__open_call;

typedef struct phi__open_calls {
    const phi__open_call *calls; /* the last one first */
    size_t count, all;           /* without a result; of both kinds */
} phi__open_calls;

/* The list is in the arena. False: no memory. */
PHI__FN bool phi__introspect_open_calls_find(const phi_view_item *items, size_t count,
                                             phi_arena *arena, phi__open_calls *out);
PHI__FN phi_lane_figures phi__introspect_figures_of(const phi_view_item *items, size_t count,
                                                    const phi__open_calls *open);

#endif
