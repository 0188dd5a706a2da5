/* plan.c - see plan_in.h. */
#include "history/plan_in.h"

PHI__FN void phi__plan_init(phi__plan *plan, phi__plan_item *items, size_t count) {
    memset(plan, 0, sizeof *plan);
    plan->items = items;
    plan->count = count;
    plan->also = SIZE_MAX;
}

PHI__FN void phi__plan_put(phi__plan *plan, size_t at, uint64_t from, uint64_t to,
                           uint64_t tokens) {
    phi__plan_item *item = &plan->items[at];
    memset(item, 0, sizeof *item);
    item->from = from;
    item->to = to;
    item->up = at;
    item->tokens = tokens;
    item->count = 1;
}

PHI__FN phi__plan_item *phi__plan_block(phi__plan *plan, size_t at) {
    phi__plan_item *items = plan->items;
    while (items[at].up != at) {
        items[at].up = items[items[at].up].up;
        at = items[at].up;
    }
    return &items[at];
}

PHI__FN void phi__plan_join(phi__plan *plan, size_t a, size_t b) {
    phi__plan_item *x = phi__plan_block(plan, a), *y = phi__plan_block(plan, b);
    phi__plan_item *first = x < y ? x : y, *other = x < y ? y : x;
    if (x == y) return;
    other->up = first->up;
    first->tokens += other->tokens;
    first->count += other->count;
    first->stays = first->stays || other->stays;
    first->late = first->late || other->late;
}

PHI__FN bool phi__plan_take(phi__plan *plan, size_t *at, size_t end, bool late) {
    for (; *at < end; (*at)++) {
        phi__plan_item *block = phi__plan_block(plan, *at);
        if (*at == plan->also || block->stays || block->goes || (block->late && !late)) continue;
        block->goes = true;
        plan->tokens += block->tokens;
        plan->removed += block->count;
        return true;
    }
    return false;
}

PHI__FN bool phi__plan_goes(phi__plan *plan, size_t at) {
    return at == plan->also || phi__plan_block(plan, at)->goes;
}

PHI__FN phi_span *phi__plan_spans(phi__plan *plan, phi_arena *arena, const phi_message *instead,
                                  size_t *count) {
    phi_span *spans =
        (phi_span *)phi__arena_zero(arena, phi__mul(plan->removed + 1, sizeof *spans));
    size_t at, n = 0;
    bool open = false;
    for (at = 0; spans != NULL && at < plan->count; at++) {
        if (!phi__plan_goes(plan, at)) {
            open = false;
            continue;
        }
        if (!open) spans[n++].from = plan->items[at].from;
        spans[n - 1].to = plan->items[at].to;
        open = true;
    }
    if (spans == NULL) return NULL;
    spans[0].messages = instead;
    spans[0].message_count = instead != NULL ? 1 : 0;
    *count = n;
    return spans;
}
