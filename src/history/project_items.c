/* project_items.c - the items of a projection: a view's, or a fold's. */
#include "history/projecting_in.h"

PHI__FN const phi_message *phi__project_items_message(const phi__project_order *o, size_t at) {
    return o->items != NULL ? o->items[at].message : o->fold->items[at].message;
}

PHI__FN uint32_t phi__project_items_flags(const phi__project_order *o, size_t at) {
    return o->items != NULL ? o->items[at].flags : o->fold->items[at].flags;
}

PHI__FN uint64_t phi__project_items_from(const phi__project_order *o, size_t at) {
    return o->items != NULL ? o->items[at].from : o->fold->items[at].from;
}

PHI__FN uint64_t phi__project_items_to(const phi__project_order *o, size_t at) {
    return o->items != NULL ? o->items[at].to : o->fold->items[at].to;
}

PHI__FN uint64_t phi__project_items_tokens(const phi__project_order *o, size_t at) {
    bool counted = o->counter != NULL && o->counter->count_text != NULL;
    if (o->items != NULL && !counted) return o->items[at].tokens;
    return phi_tokens_of_message(o->counter, phi__project_items_message(o, at));
}

PHI__FN bool phi__project_items_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

PHI__FN size_t phi__project_items_calls(const phi_message *m) {
    size_t n = 0, i;
    for (i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++)
        n += phi__project_items_is_call(&m->content[i]) ? 1 : 0;
    return n;
}

/* A summary with calls in it is an answer like any other. */
PHI__FN bool phi__project_items_sums_up(const phi_message *m, uint32_t flags) {
    return (flags & PHI_ITEM_SUMMARY) != 0 &&
           (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT) &&
           phi__project_items_calls(m) == 0;
}

PHI__FN bool phi__project_items_is_summary(const phi__project_order *o, size_t at) {
    uint32_t flags = phi__project_items_flags(o, at);
    return (flags & PHI_ITEM_SUMMARY) != 0 &&
           phi__project_items_sums_up(phi__project_items_message(o, at), flags);
}

PHI__FN bool phi__project_items_is_group(const phi_message *m, uint32_t flags) {
    return (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT) &&
           !phi__project_items_sums_up(m, flags);
}

/* The newest summary before an item; SIZE_MAX: none. */
PHI__FN size_t phi__project_items_summary_before(const phi__project_order *o, size_t at) {
    if (at == 0) return SIZE_MAX;
    if (o->items == NULL) {
        uint32_t place = o->fold->items[at - 1].summary;
        return place > 0 ? place - 1 : SIZE_MAX;
    }
    while (at > 0 && !phi__project_items_is_summary(o, at - 1)) at--;
    return at > 0 ? at - 1 : SIZE_MAX;
}

/* A user's message opens a turn, unless it was steered into a run: steering belongs to that run's
   turn. */
PHI__FN bool phi__project_items_opens(const phi__project_order *o, size_t at) {
    const phi_message *m = phi__project_items_message(o, at), *before;
    if (m->role != PHI_ROLE_USER) return false;
    if (m->loop_id.len == 0) return true;
    for (; at > 0; at--) {
        before = phi__project_items_message(o, at - 1);
        if (before->role == PHI_ROLE_EXTENSION || phi__project_items_is_summary(o, at - 1))
            continue;
        return !phi_str_equal(before->loop_id, m->loop_id);
    }
    return true;
}
