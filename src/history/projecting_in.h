/* projecting_in.h - the state of a projection under way. */
#ifndef PHI_HISTORY_PROJECTING_IN_H
#define PHI_HISTORY_PROJECTING_IN_H

#include "history/history_in.h"
#include "history/project_in.h"

enum { PHI__PROJECT_BUCKETS = 64 };

/* A result whose answer was not met yet: the walk comes to it later. */
typedef struct phi__found {
    struct phi__found *later; /* in the view */
    size_t at;
    bool spent; /* the nearest answer with such a call had another result */
} phi__found;

typedef struct phi__projecting {
    const phi__proj_order *order;
    phi_policy policy;
    phi_arena *arena;
    phi__found *found[PHI__PROJECT_BUCKETS];
    phi__group *oldest; /* of those so far */
    size_t at;          /* items before it were not reached */
    size_t window;      /* the first item included, pinned summaries apart */
    uint64_t budget, used, newest_tokens;
    uint32_t turn;
    size_t messages; /* included so far, without summaries and extensions */
    size_t groups;   /* considered */
    size_t floor;    /* summaries from here on have their place */
    bool settled; /* the newest and protected turns are whole, older summaries have their place */
    bool full;
    phi__verdict stopped; /* why no more are included, from item stop_at on */
    size_t stop_at;
    bool trimmed;
    phi_projection_meta meta;
    bool failed;
} phi__projecting;

static inline uint64_t phi__projecting_sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- project.c ---- */
PHI__FN const phi_message *phi__items_message(const phi__proj_order *o, size_t at);
PHI__FN uint32_t phi__items_flags(const phi__proj_order *o, size_t at);
PHI__FN uint64_t phi__items_from(const phi__proj_order *o, size_t at);
PHI__FN uint64_t phi__items_to(const phi__proj_order *o, size_t at);
PHI__FN uint64_t phi__items_tokens(const phi__proj_order *o, size_t at);
PHI__FN bool phi__items_is_call(const phi_content *c);
PHI__FN size_t phi__items_calls(const phi_message *m);
PHI__FN bool phi__items_sums_up(const phi_message *m, uint32_t flags);
PHI__FN bool phi__items_is_summary(const phi__proj_order *o, size_t at);
PHI__FN bool phi__items_is_group(const phi_message *m, uint32_t flags);
PHI__FN size_t phi__items_summary_before(const phi__proj_order *o, size_t at);
PHI__FN bool phi__items_opens(const phi__proj_order *o, size_t at);

/* ---- project.c ---- */
PHI__FN void phi__results_find(phi__projecting *p, size_t at);
PHI__FN void phi__proj_results(phi__projecting *p, phi__group *g, size_t calls);

#endif
