/* fold.c - the items of a lane's view: its entries in order, with the rewrites applied.

   A fold depends only on the entries: appending them and rebuilding give the same items. */
#include "log/thread_in.h"

PHI__FN bool phi__groups_ids_make(phi_memory *memory, phi__ids *ids, size_t n) {
    ids->cap = 4;
    while (ids->cap / 2 < n && ids->cap <= SIZE_MAX / 4) ids->cap *= 2;
    ids->at = (phi__id *)phi__alloc(memory, phi__mul(ids->cap, sizeof *ids->at));
    return ids->at != NULL;
}

PHI__FN void phi__groups_ids_free(phi_memory *memory, phi__ids *ids) {
    phi__free(memory, ids->at, ids->at != NULL ? ids->cap * sizeof *ids->at : 0);
    ids->at = NULL;
}

static phi__id *phi__groups_place(const phi__ids *ids, phi_str id, uint64_t hash) {
    size_t at = (size_t)hash & (ids->cap - 1);
    while (ids->at[at].item != 0 &&
           (ids->at[at].hash != hash || !phi_str_equal(ids->at[at].id, id)))
        at = (at + 1) & (ids->cap - 1);
    return &ids->at[at];
}

PHI__FN void phi__groups_ids_put(phi__ids *ids, phi_str id, size_t item) {
    uint64_t hash = phi__hash(id, 0);
    phi__id *place = phi__groups_place(ids, id, hash);
    place->hash = hash;
    place->id = id;
    place->item = item + 1;
}

PHI__FN size_t phi__groups_ids_get(const phi__ids *ids, phi_str id) {
    return phi__groups_place(ids, id, phi__hash(id, 0))->item - 1;
}

static const phi_message *phi__groups_message(const void *list, size_t stride, size_t i) {
    const void *element = (const char *)list + i * stride;
    return *(const phi_message *const *)element;
}

PHI__FN size_t *phi__groups_find(phi_memory *memory, const void *at, size_t stride, size_t count) {
    size_t *callers = (size_t *)phi__alloc(memory, phi__mul(phi__max(count, 1), sizeof *callers));
    size_t n = 0;
    phi__ids calls;
    for (size_t i = 0; i < count; i++) {
        const phi_message *m = phi__groups_message(at, stride, i);
        for (size_t j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
            n += m->content[j].kind == PHI_CONTENT_TOOL_CALL;
    }
    if (!phi__groups_ids_make(memory, &calls, n) || callers == NULL) {
        phi__groups_free(memory, count, callers);
        phi__groups_ids_free(memory, &calls);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const phi_message *m = phi__groups_message(at, stride, i);
        callers[i] = SIZE_MAX;
        if (m->role == PHI_ROLE_TOOL_RESULT)
            callers[i] = phi__groups_ids_get(&calls, m->tool_call_id);
        for (size_t j = 0; m->role == PHI_ROLE_ASSISTANT && j < m->content_count; j++)
            if (m->content[j].kind == PHI_CONTENT_TOOL_CALL)
                phi__groups_ids_put(&calls, m->content[j].id, i);
    }
    phi__groups_ids_free(memory, &calls);
    return callers;
}

PHI__FN size_t *phi__groups_make(phi_memory *memory, const phi__fold *fold) {
    return phi__groups_find(memory, fold->items, sizeof *fold->items, fold->count);
}

PHI__FN void phi__groups_free(phi_memory *memory, size_t count, size_t *callers) {
    phi__free(memory, callers, callers != NULL ? phi__max(count, 1) * sizeof *callers : 0);
}

PHI__FN bool phi__groups_durable(phi_memory *memory, const phi__fold *fold, uint8_t **durable) {
    size_t i = 0;
    *durable = NULL;
    while (i < fold->count && (fold->items[i].flags & PHI_ENTRY_DURABLE) == 0) i++;
    if (i == fold->count) return true;
    size_t *callers = phi__groups_make(memory, fold);
    *durable = callers != NULL ? (uint8_t *)phi__alloc(memory, fold->count) : NULL;
    for (i = 0; *durable != NULL && i < fold->count; i++) {
        if ((fold->items[i].flags & PHI_ENTRY_DURABLE) == 0) continue;
        (*durable)[i] = 1;
        if (callers[i] != SIZE_MAX) (*durable)[callers[i]] = 1;
    }
    for (i = 0; *durable != NULL && i < fold->count; i++)
        if (callers[i] != SIZE_MAX && (*durable)[callers[i]] != 0) (*durable)[i] = 1;
    phi__groups_free(memory, fold->count, callers);
    return *durable != NULL;
}

PHI__FN bool phi__groups_same_ids(const phi_message *was, const phi_message *now) {
    size_t j = 0;
    if (was->role != now->role) return false;
    if (was->role == PHI_ROLE_TOOL_RESULT)
        return phi_str_equal(was->tool_call_id, now->tool_call_id);
    for (size_t i = 0; i < was->content_count; i++) {
        if (was->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        while (j < now->content_count && now->content[j].kind != PHI_CONTENT_TOOL_CALL) j++;
        if (j == now->content_count || !phi_str_equal(was->content[i].id, now->content[j].id))
            return false;
        j++;
    }
    return true;
}

/* A failed answer may have half a thought or calls that never ran, so the model does not see it. */
PHI__FN bool phi__fold_shows(const phi_message *message) {
    return message->role != PHI_ROLE_ASSISTANT || (message->stop_reason != PHI_STOP_REASON_ERROR &&
                                                   message->stop_reason != PHI_STOP_REASON_ABORTED);
}

PHI__FN bool phi__fold_room(phi_memory *memory, phi__fold *fold, size_t more) {
    if (fold->cap - fold->count >= more) return true;
    void *grown = phi__grow(memory, fold->items, &fold->cap, phi__add(fold->count, more),
                            sizeof *fold->items);
    if (grown == NULL) return false;
    fold->items = (phi__item *)grown;
    return true;
}

PHI__FN void phi__fold_free(phi_memory *memory, phi__fold *fold) {
    phi__free(memory, fold->items, fold->cap * sizeof *fold->items);
    memset(fold, 0, sizeof *fold);
}

PHI__FN void phi__fold_clear(phi__fold *fold) {
    fold->count = fold->linked = fold->groups = fold->counted = 0;
    fold->tokens = 0;
    fold->durable = 0;
    fold->overlaps = fold->opaque = false;
}

PHI__FN void phi__fold_move(phi_memory *memory, phi__fold *to, phi__fold *from) {
    phi__fold_free(memory, to);
    *to = *from;
    memset(from, 0, sizeof *from);
}

PHI__FN bool phi__fold_copy(phi_memory *memory, phi__fold *to, const phi__fold *from) {
    if (!phi__fold_room(memory, to, phi__max(from->count, 1))) return false;
    if (from->count > 0) memcpy(to->items, from->items, from->count * sizeof *from->items);
    to->count = from->count;
    to->tokens = from->tokens;
    to->durable = from->durable;
    to->overlaps = from->overlaps;
    to->opaque = from->opaque;
    return true;
}

PHI__FN bool phi__fold_foresee(phi_arena *arena, const phi__fold *from, const phi_message *more,
                               uint64_t seq, phi__fold *to) {
    *to = *from;
    to->cap = phi__add(from->count, 1);
    to->items = (phi__item *)phi__arena_zero(arena, phi__mul(to->cap, sizeof *to->items));
    if (to->items == NULL) return false;
    if (from->count > 0) memcpy(to->items, from->items, from->count * sizeof *from->items);
    if (more == NULL) return true;
    to->items[to->count].message = more;
    to->items[to->count].from = to->items[to->count].to = seq;
    to->count++;
    return true;
}

PHI__FN bool phi__fold_of_view(phi_arena *arena, const phi_view_item *items, size_t count,
                               phi__fold *fold) {
    memset(fold, 0, sizeof *fold);
    fold->items = (phi__item *)phi__arena_zero(arena, phi__mul(count, sizeof *fold->items));
    if (fold->items == NULL) return false;
    fold->count = count;
    fold->opaque = true;
    for (size_t i = 0; i < count; i++) {
        fold->items[i].message = items[i].message;
        fold->items[i].flags = items[i].flags;
    }
    return true;
}

PHI__FN uint64_t phi__fold_tokens(phi__fold *fold, const phi_token_counter *counter) {
    phi_token_counter *by = &fold->counted_by;
    if (counter == NULL || counter->count_text == NULL) return fold->tokens;
    if (by->count_text != counter->count_text || by->user_data != counter->user_data) {
        *by = *counter;
        fold->counted = 0;
    }
    if (fold->counted == 0) fold->counted_tokens = 0;
    while (fold->counted < fold->count)
        fold->counted_tokens +=
            phi_tokens_of_message(counter, fold->items[fold->counted++].message);
    return fold->counted_tokens;
}

static void phi__fold_note_opaque(phi__fold *fold, const phi_message *message) {
    for (size_t i = 0; !fold->opaque && i < message->content_count; i++)
        fold->opaque = message->content[i].kind == PHI_CONTENT_OPAQUE;
}

static void phi__fold_count_out(phi__fold *fold, const phi__item *item) {
    fold->tokens -= phi_tokens_of_message(NULL, item->message);
    fold->durable -= (item->flags & PHI_ENTRY_DURABLE) != 0;
}

static void phi__fold_add(phi__fold *fold, const phi_message *message, phi__segment *segment,
                          phi__rendered **rendered, const phi_span *range, uint32_t flags) {
    phi__item *item = &fold->items[fold->count++];
    memset(item, 0, sizeof *item);
    item->message = message;
    item->rendered = rendered;
    item->arena = &segment->arena; /* renderings are stored next to the message */
    item->from = range->from;
    item->to = range->to;
    item->flags = flags;
    if (message->role == PHI_ROLE_ASSISTANT)
        item->origin = phi__codec_origin_of(message->model, message->provider, message->protocol);
    phi__fold_note_opaque(fold, item->message);
    fold->tokens += phi_tokens_of_message(NULL, item->message);
    fold->durable += (item->flags & PHI_ENTRY_DURABLE) != 0;
}

PHI__FN void phi__fold_put(phi__fold *fold, phi__entry *entry) {
    if (!phi__fold_shows(entry->message) && (entry->flags & PHI_ITEM_SYNTHETIC) == 0) return;
    phi_span range = PHI_ZERO;
    range.from = range.to = entry->seq;
    phi__fold_add(fold, entry->message, entry->segment, &entry->of.rendered, &range,
                  entry->flags & ~(uint32_t)PHI_ENTRY_GRAFTED);
}

PHI__FN bool phi__fold_message(phi_memory *memory, phi__fold *fold, phi__entry *entry) {
    if (!phi__fold_room(memory, fold, 1)) return false;
    phi__fold_put(fold, entry);
    return true;
}

/* ---- changes in place ---- */

PHI__FN size_t phi__fold_find(const phi__fold *fold, uint64_t from) {
    size_t low = 0, n = fold->count;
    while (n > 1) { /* without a branch, because its direction would be unpredictable */
        size_t half = n / 2;
        low += fold->items[low + half - 1].from < from ? half : 0;
        n -= half;
    }
    return low + (n == 1 && fold->items[low].from < from);
}

PHI__FN void phi__fold_splice(phi__fold *fold, size_t at, size_t gone, const phi__item *items,
                              size_t n) {
    for (size_t i = at; i < at + gone; i++)
        fold->durable -= (fold->items[i].flags & PHI_ENTRY_DURABLE) != 0;
    /* Makes room for n items in place of `gone` items. */
    if (n != gone)
        memmove(&fold->items[at + n], &fold->items[at + gone],
                (fold->count - at - gone) * sizeof *fold->items);
    fold->count = fold->count - gone + n;
    fold->linked = fold->groups = fold->counted = 0;
    for (size_t i = 0; i < n; i++) {
        fold->items[at + i] = items[i];
        phi__fold_note_opaque(fold, items[i].message);
        fold->durable += (items[i].flags & PHI_ENTRY_DURABLE) != 0;
    }
}

/* ---- rewrites ---- */

typedef struct phi__folding {
    const phi__fold *in;
    phi__op *op;
    size_t end;           /* index of the first item after the last span */
    phi__fold out;        /* the result for these items; out.tokens counts the whole view */
    uint8_t *durable;     /* 1 for each item of `in` that stays; NULL: none stays */
    size_t span, message; /* next span; next message, counted over all spans */
    bool open;            /* the messages of the current span were already placed */
} phi__folding;

/* Returns the flags of a span's messages. The messages replace items from `at` on, or no items if
   `at` is SIZE_MAX. */
static uint32_t phi__fold_span_flags(const phi__folding *f, size_t at) {
    const phi_span *span = &f->op->rewrite.spans[f->span];
    uint32_t flags = (uint32_t)PHI_ITEM_SYNTHETIC;
    if (span->summary) flags |= (uint32_t)PHI_ITEM_SUMMARY;
    if (span->summary && span->lines) flags |= (uint32_t)PHI_ITEM_LINES;
    bool alone = at < f->end && (at + 1 == f->end || f->in->items[at + 1].from > span->to);
    return alone &&
                   ((f->in->items[at].flags & PHI_ENTRY_DURABLE) != 0 && span->message_count == 1 &&
                    span->from == f->in->items[at].from && span->to == f->in->items[at].to &&
                    phi__groups_same_ids(f->in->items[at].message, &span->messages[0]))
               ? flags | (uint32_t)PHI_ENTRY_DURABLE
               : flags;
}

static void phi__fold_open_span(phi__folding *f, size_t at, bool place) {
    const phi_span *span = &f->op->rewrite.spans[f->span];
    uint32_t flags = phi__fold_span_flags(f, at);
    f->open = true;
    for (size_t i = 0; i < span->message_count; i++, f->message++)
        if (place)
            phi__fold_add(&f->out, &span->messages[i], f->op->segment, &f->op->rendered[f->message],
                          span, flags);
}

static void phi__fold_close_span(phi__folding *f) {
    if (!f->open) phi__fold_open_span(f, SIZE_MAX, true);
    f->open = false;
    f->span++;
}

/* True if the span removes an item at or after `at`. Otherwise all its items are durable, and the
   messages of the span are left out. */
static bool phi__fold_takes(const phi__folding *f, size_t at) {
    uint64_t to = f->op->rewrite.spans[f->span].to;
    while (at < f->end && f->in->items[at].from <= to && f->durable != NULL && f->durable[at] != 0)
        at++;
    return at < f->end && f->in->items[at].from <= to;
}

static void phi__fold_item(phi__folding *f, size_t at) {
    const phi_rewrite *r = &f->op->rewrite;
    const phi__item *item = &f->in->items[at];
    while (f->span < r->span_count && r->spans[f->span].to < item->from) phi__fold_close_span(f);
    if (f->span < r->span_count && item->from >= r->spans[f->span].from) {
        if (!f->open) phi__fold_open_span(f, at, phi__fold_takes(f, at));
        if (f->durable == NULL || f->durable[at] == 0) {
            phi__fold_count_out(&f->out, item);
            return;
        }
    }
    f->out.items[f->out.count++] = *item;
}

/* Rewrites the items from the first span to the last in one pass. */
static bool phi__fold_rewrite(phi_memory *memory, phi__fold *fold, phi__folding *f) {
    const phi_rewrite *r = &f->op->rewrite;
    size_t from = phi__fold_find(fold, r->spans[0].from);
    f->end = phi__fold_find(fold, r->spans[r->span_count - 1].to + 1);
    if (!phi__fold_room(memory, fold, phi__max(f->op->message_count, 1)) ||
        !phi__fold_room(memory, &f->out,
                        phi__max(phi__add(f->end - from, f->op->message_count), 1)))
        return false;
    f->out.tokens = fold->tokens;
    for (size_t i = from; i < f->end; i++) phi__fold_item(f, i);
    while (f->span < r->span_count) phi__fold_close_span(f);
    phi__fold_splice(fold, from, f->end - from, f->out.items, f->out.count);
    fold->tokens = f->out.tokens;
    return true;
}

PHI__FN bool phi__fold_op(const phi_thread *thread, phi__fold *fold, phi__op *op) {
    phi_memory *memory = thread->log.memory;
    bool overlaps = op->rewrite.reason == PHI_REWRITE_COMPACTION && fold->durable > 0;
    size_t count = fold->count;
    if (op->rewrite.span_count == 0) return true;
    phi__folding f = PHI_ZERO;
    f.in = fold;
    f.op = op;
    if (overlaps && !phi__groups_durable(memory, fold, &f.durable)) return false;
    bool done = phi__fold_rewrite(memory, fold, &f);
    fold->overlaps = fold->overlaps || (done && overlaps);
    phi__free(memory, f.durable, f.durable != NULL ? count : 0);
    phi__fold_free(memory, &f.out);
    return done;
}

/* ---- runs that keep nothing ---- */

PHI__FN void phi__fold_take_out(phi__fold *fold, uint64_t from, uint64_t to) {
    size_t i = phi__fold_find(fold, from), n = i;
    for (; i < fold->count; i++) {
        if (fold->items[i].to <= to)
            phi__fold_count_out(fold, &fold->items[i]);
        else
            fold->items[n++] = fold->items[i];
    }
    fold->count = n;
    fold->linked = fold->groups = fold->counted = 0;
}

/* ---- links for a projection ---- */

PHI__FN void phi__fold_link(phi__fold *fold) {
    for (size_t at = fold->linked; at < fold->count; at++) {
        phi__item *item = &fold->items[at];
        item->summary = at > 0 ? fold->items[at - 1].summary : 0;
        if (phi__items_sums_up(item->message, item->flags) && at < UINT32_MAX)
            item->summary = (uint32_t)at + 1;
        fold->groups += phi__items_is_group(item->message, item->flags) ? 1 : 0;
    }
    fold->linked = fold->count;
}

/* ---- a whole lane ---- */

PHI__FN phi__limit *phi__fold_limits(const phi_thread *thread, uint32_t lane, uint64_t upto) {
    phi__limit *limits = (phi__limit *)phi__alloc(
        thread->log.memory, phi__mul(phi__thread_lanes(thread), sizeof *limits));
    while (limits != NULL && lane != PHI__LANE_NONE) {
        limits[lane].any = true;
        limits[lane].seq = upto;
        if (thread->lanes.at == NULL) break;
        if (thread->lanes.at[lane].parent != PHI__LANE_NONE &&
            upto > thread->lanes.at[lane].fork_seq)
            upto = thread->lanes.at[lane].fork_seq;
        lane = thread->lanes.at[lane].parent;
    }
    return limits;
}

static bool phi__fold_entry(const phi_thread *thread, const phi__limit *limits, phi__fold *fold,
                            phi__entry *entry) {
    if (entry->kind == PHI_ENTRY_MESSAGE) return phi__fold_message(thread->log.memory, fold, entry);
    if (entry->kind == PHI_ENTRY_LOOP_END && entry->keep == PHI_KEEP_NONE && entry->ordinal > 0)
        phi__fold_take_out(fold, (uint64_t)entry->ordinal - 1, entry->seq);
    if (entry->kind != PHI_ENTRY_REWRITE) return true;
    phi__op *op = entry->of.op;
    if (op->rewrite.revoke != NULL) return true; /* the revoked rewrite is skipped */
    if (op->revoked && op->revoked_at <= limits[op->lane].seq) return true;
    return phi__fold_op(thread, fold, op);
}

PHI__FN phi_status phi__fold_lane(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                  phi__fold *fold) {
    memset(fold, 0, sizeof *fold);
    if (upto < thread->log.base) return PHI_NOT_FOUND;
    PHI_ASSERT(phi__thread_whole(thread));
    phi__limit *limits = phi__fold_limits(thread, lane, upto);
    bool done = limits != NULL;
    for (size_t i = 0; done && i < thread->log.held && thread->log.entries[i]->seq <= upto; i++) {
        phi__entry *entry = thread->log.entries[i];
        const phi__limit *limit =
            &limits[(entry->kind == PHI_ENTRY_REWRITE ? entry->of.op->lane : entry->lane)];
        if (limit->any && entry->seq <= limit->seq)
            done = phi__fold_entry(thread, limits, fold, entry);
    }
    phi__free(thread->log.memory, limits,
              limits != NULL ? phi__thread_lanes(thread) * sizeof *limits : 0);
    if (!done) phi__fold_free(thread->log.memory, fold);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__fold_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                phi__fold *made, const phi__fold **out) {
    memset(made, 0, sizeof *made);
    *out = made;
    if (lane != thread->lanes.active || (upto != UINT64_MAX && upto + 1 < thread->log.count))
        return phi__fold_lane(thread, lane, upto, made);
    *out = &thread->fold;
    return PHI_OK;
}
