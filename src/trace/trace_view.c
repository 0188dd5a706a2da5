/* trace_view.c - the view that each request was made of: kept as the walk goes on, and written as a
   change of the view that was written before, since most requests add a few messages to the last
   one.

   [n, m, [items]]: the first n items of that view stay, m more go, these come in their place, and
   the rest stays. An item is [from, to, flags], or the entry's number, of a message of the log's
   own. */
#include "text/text_in.h"
#include "trace/trace_in.h"

PHI__FN void phi__trace_view_drop(phi_trace *t) {
    if (t->thread != NULL) phi__fold_free(t->thread->log.memory, &t->view.fold);
    t->view.valid = false;
    t->view.same = 0;
}

PHI__FN void phi__trace_view_free(phi_trace *t) {
    phi__trace_view *v = &t->view;
    phi__trace_view_drop(t);
    phi__free(t->memory, v->seen, v->seen_cap * sizeof *v->seen);
    v->seen = NULL;
    v->seen_count = v->seen_cap = 0;
    v->requested = false;
}

/* ---- keeping it ---- */

/* A request was made if there is an answer, or if a turn ends without one. */
PHI__FN bool phi__trace_view_has_request(phi_trace *t, const phi__entry *e) {
    phi__trace_view *v = &t->view;
    bool was = v->requested;
    switch ((int)e->kind) {
    case PHI_ENTRY_TURN_START:
        v->requested = true;
        v->turn_lane = e->lane;
        return false;
    case PHI_ENTRY_MESSAGE:
        if (e->message->role != PHI_ROLE_ASSISTANT || (e->loop_id.len == 0 && !was)) return false;
        v->requested = false;
        return true;
    case PHI_ENTRY_TURN_END:
    case PHI_ENTRY_LOOP_END: v->requested = false; return was;
    default: return false;
    }
}

/* From item `at` on the fold may differ from the view in `seen`. */
static void phi__trace_view_changed(phi__trace_view *v, size_t at) {
    if (at < v->same) v->same = at;
}

static void phi__trace_view_rewrite(phi_trace *t, phi__op *op) {
    phi__trace_view *v = &t->view;
    if (op->rewrite.revoke != NULL) {
        phi__trace_view_drop(t);
        return;
    }
    if (op->rewrite.span_count == 0) return;
    phi__trace_view_changed(v, phi__fold_find(&v->fold, op->rewrite.spans[0].from));
    v->work += v->fold.count - v->same;
    if (!phi__fold_op(t->thread, &v->fold, op)) phi__trace_view_drop(t);
}

/* If memory is short, the fold is made again when it is needed. */
PHI__FN void phi__trace_view_after(phi_trace *t, phi__entry *e) {
    phi__trace_view *v = &t->view;
    if (!v->valid) return;
    if (e->kind == PHI_ENTRY_REWRITE) {
        if (e->of.op->lane == v->lane) phi__trace_view_rewrite(t, e->of.op);
    } else if (e->lane != v->lane)
        return;
    else if (e->kind == PHI_ENTRY_MESSAGE) {
        if (phi__fold_room(t->thread->log.memory, &v->fold, 1))
            phi__fold_message(&v->fold, e);
        else
            phi__trace_view_drop(t);
    } else if (e->kind == PHI_ENTRY_LOOP_END && e->keep == PHI_KEEP_NONE && e->ordinal > 0) {
        phi__trace_view_changed(v, phi__fold_find(&v->fold, (uint64_t)e->ordinal - 1));
        phi__fold_take_out(&v->fold, (uint64_t)e->ordinal - 1, e->seq);
    }
}

/* The view of that lane before the walk's entry. False: no memory. */
static bool phi__trace_view_make(phi_trace *t, uint32_t lane) {
    phi__trace_view *v = &t->view;
    phi_status status = PHI_OK;
    if (v->valid && v->lane == lane) return true;
    phi__trace_view_drop(t);
    if (t->seq > t->base) status = phi__fold_lane(t->thread, lane, t->seq - 1, &v->fold);
    v->work += t->thread->log.held;
    v->valid = status == PHI_OK;
    v->lane = lane;
    return v->valid;
}

static bool phi__trace_view_is(const phi__trace_seen *seen, const phi__item *item) {
    return seen->from == item->from && seen->to == item->to && seen->flags == item->flags;
}

/* `seen` becomes the fold, of which the first `keep` items are in it already. */
static bool phi__trace_view_see(phi_trace *t, size_t keep) {
    phi__trace_view *v = &t->view;
    if (v->fold.count > v->seen_cap) {
        void *grown = phi__grow(t->memory, v->seen, &v->seen_cap, v->fold.count, sizeof *v->seen);
        if (grown == NULL) return false;
        v->seen = (phi__trace_seen *)grown;
    }
    for (size_t i = keep; i < v->fold.count; i++) {
        v->seen[i].from = v->fold.items[i].from;
        v->seen[i].to = v->fold.items[i].to;
        v->seen[i].flags = v->fold.items[i].flags;
    }
    v->same = v->seen_count = v->fold.count;
    return true;
}

/* ---- what a policy left out ---- */

/* "g": [n, verdict] for each row of items with the same one; 9: of no group. */
enum { PHI__TRACE_VIEW_NO_GROUP = 9 };

static uint64_t phi__trace_view_less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static void phi__trace_view_project(phi_trace *t, phi_str prompt) {
    phi__proj_order order = PHI_ZERO;
    phi__projection made = PHI_ZERO;
    phi__fold_link(&t->view.fold);
    order.fold = &t->view.fold;
    order.count = t->view.fold.count;
    order.policy = &t->policy;
    order.all = true;
    order.counter = &t->desc.token_counter;
    order.system_prompt = prompt;
    order.tools_tokens = t->desc.tools_tokens;
    uint8_t *all = (uint8_t *)phi_arena_alloc(&t->scratch, phi__max(order.count, 1));
    t->view.work += order.count;
    if (all == NULL || phi__project(&order, &t->scratch, &made) != PHI_OK) {
        t->text.failed = true;
        return;
    }
    size_t i, n, count = t->view.fold.count;
    memset(all, PHI__TRACE_VIEW_NO_GROUP, phi__max(count, 1));
    for (const phi__group *g = made.groups; g != NULL; g = g->newer) {
        all[g->at] = (uint8_t)g->verdict;
        for (i = 0; i < g->result_count; i++)
            if (g->places[i] < count) all[g->places[i]] = (uint8_t)g->verdict;
    }
    phi__records_raw(&t->text, "g", "[");
    for (i = 0; i < count; i += n) {
        for (n = 1; i + n < count && all[i + n] == all[i];) n++;
        phi__json_write_comma(&t->text);
        phi__buf_printf(&t->text, "[%llu,%u]", (unsigned long long)n, (unsigned)all[i]);
    }
    phi__buf_char(&t->text, ']');
    const phi_projection_meta *meta = &made.meta; /* the budget is for messages alone */
    uint64_t sent = phi__trace_view_less(meta->estimated_tokens, meta->system_tokens);
    sent = phi__trace_view_less(sent, meta->tools_tokens);
    phi__records_raw(&t->text, "x", "[");
    phi__buf_printf(&t->text, "%llu,%llu,%llu]", (unsigned long long)sent,
                    (unsigned long long)meta->budget_tokens,
                    (unsigned long long)meta->messages_included);
}

/* By the counter; it counts the items that are new to the fold. */
static uint64_t phi__trace_view_tokens(phi_trace *t) {
    phi__fold *fold = &t->view.fold;
    if (t->desc.token_counter.count_text != NULL)
        t->view.work += fold->count - phi__min(fold->counted, fold->count);
    return phi__fold_tokens(fold, &t->desc.token_counter);
}

PHI__FN void phi__trace_view_put(phi_trace *t, uint32_t lane, phi_str prompt) {
    if (!phi__trace_view_make(t, lane)) {
        t->text.failed = true;
        return;
    }
    phi__records_u64(&t->text, "tokens", phi__trace_view_tokens(t));
    phi__trace_view *v = &t->view;
    size_t keep = phi__min(v->same, v->seen_count), tail = 0;
    while (keep < v->seen_count && keep < v->fold.count &&
           phi__trace_view_is(&v->seen[keep], &v->fold.items[keep]))
        keep++;
    size_t most = phi__min(v->seen_count, v->fold.count) - keep;
    while (tail < most && phi__trace_view_is(&v->seen[v->seen_count - 1 - tail],
                                             &v->fold.items[v->fold.count - 1 - tail]))
        tail++;
    v->work += v->fold.count - phi__min(v->same, v->fold.count);
    phi__records_raw(&t->text, "v", "[");
    phi__buf_printf(&t->text, "%llu,%llu,[", (unsigned long long)keep,
                    (unsigned long long)(v->seen_count - tail - keep));
    for (size_t i = keep; i < v->fold.count - tail && !t->text.failed; i++) {
        const phi__item *item = &v->fold.items[i];
        phi__json_write_comma(&t->text);
        if (item->from == item->to && item->flags == 0)
            phi__json_number_put_u64(&t->text, item->from);
        else
            phi__buf_printf(&t->text, "[%llu,%llu,%u]", (unsigned long long)item->from,
                            (unsigned long long)item->to, (unsigned)item->flags);
    }
    phi__buf_text(&t->text, "]]");
    if (!phi__trace_view_see(t, keep)) t->text.failed = true;
    if (t->desc.policy != NULL) phi__trace_view_project(t, prompt);
}
