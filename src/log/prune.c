/* prune.c - plans prunes and reverts, and truncates a view: whole groups leave, oldest first. */

#include "log/thread_in.h"

#include <stdio.h>
#include <stdlib.h>

/* An item of a view. The first item of a block has the block's tokens, count and flags. */
typedef struct phi__plan_item {
    uint64_t from, to; /* the entries that it represents */
    /* the item itself if it is the block's first, else an earlier item of the block */
    size_t up;
    uint64_t tokens;
    size_t count;
    bool stays, goes;
    bool late; /* removed only if no other block can be removed */
} phi__plan_item;

typedef struct phi__plan {
    phi__plan_item *items;
    size_t count;
    uint64_t tokens; /* tokens removed so far */
    size_t removed;  /* number of items removed so far */
    size_t also;     /* another removed item, which these numbers do not count; SIZE_MAX: none */
} phi__plan;

/* ---- blocks: items of a view that leave it together; the oldest leave first ---- */

/* The use of a plan:
       for each item: phi__plan_put(&plan, i, message, from, to, counter);
       phi__plan_join(&plan, answer, result);     they stay or leave together
       phi__plan_block(&plan, i)->stays = true;
       while (more is wanted && phi__plan_take(&plan, &at, end, false)) ...
       spans = phi__plan_spans(&plan, arena, instead, &count);
   The caller owns plan.items. */

static void phi__plan_put(phi__plan *plan, size_t at, const phi_message *message, uint64_t from,
                          uint64_t to, const phi_token_counter *counter) {
    phi__plan_item *item = &plan->items[at];
    memset(item, 0, sizeof *item);
    item->from = from;
    item->to = to;
    item->up = at;
    item->tokens = phi_tokens_of_message(counter, message);
    item->count = 1;
}

static phi__plan_item *phi__plan_block(phi__plan *plan, size_t at) {
    phi__plan_item *items = plan->items;
    while (items[at].up != at) {
        items[at].up = items[items[at].up].up;
        at = items[at].up;
    }
    return &items[at];
}

/* Joins the blocks of two items. */
static void phi__plan_join(phi__plan *plan, size_t a, size_t b) {
    phi__plan_item *x = phi__plan_block(plan, a), *y = phi__plan_block(plan, b);
    phi__plan_item *first = x < y ? x : y, *other = x < y ? y : x;
    if (x == y) return;
    other->up = first->up;
    first->tokens += other->tokens;
    first->count += other->count;
    first->stays = first->stays || other->stays;
    first->late = first->late || other->late;
}

/* Removes the oldest block that begins in [*at, end) and need not stay. `late` allows blocks that
   are removed last. False: there is none. */
static bool phi__plan_take(phi__plan *plan, size_t *at, size_t end, bool late) {
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

static bool phi__plan_goes(phi__plan *plan, size_t at) {
    return at == plan->also || phi__plan_block(plan, at)->goes;
}

/* Returns the spans of the removed entries; adjacent items are one span. `instead` (NULL: nothing)
   replaces the first span. At least one item must be removed. NULL: no memory. */
static phi_span *phi__plan_spans(phi__plan *plan, phi_arena *arena, const phi_message *instead,
                                 size_t *count) {
    phi_span *spans =
        (phi_span *)phi__arena_zero(arena, phi__mul(plan->removed + 1, sizeof *spans));
    size_t n = 0;
    bool open = false;
    for (size_t at = 0; spans != NULL && at < plan->count; at++) {
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

/* ---- a prune, and the message that replaces the removed messages ---- */

typedef struct phi__pruning {
    const phi_view_item *items;
    const phi_prune *prune;
    const phi_token_counter *counter;
    phi_arena *arena;
    phi__plan plan;
    phi_message *memo;
    phi_pruned pruned;
} phi__pruning;

/* Finishes the JSON report of a rewrite in the arena, and frees the buffer. */
static bool phi__prune_report(phi__buf *out, phi_arena *arena, const char **meta) {
    phi_str kept;
    phi__buf_char(out, '}');
    bool done = !out->failed && phi__arena_str(arena, phi__buf_str(out), &kept);
    phi__buf_free(out);
    if (done) *meta = kept.at;
    return done;
}

PHI__FN phi_message *phi__prune_memo(phi_str memo, const phi_message *first, const phi_texts *texts,
                                     phi_arena *arena) {
    phi_str text;
    phi__texts_args args = PHI_ZERO;
    args.text = memo;
    return phi__texts_make(arena, texts, PHI_TEXT_PRUNED, &args, &text)
               ? phi__compact_say_at(text, first, arena)
               : NULL;
}

static bool phi__prune_remember(phi__pruning *p) {
    size_t first = 0;
    if (p->prune->memo.len == 0) return true;
    while (first + 1 < p->plan.count && !phi__plan_goes(&p->plan, first)) first++;
    p->memo = phi__prune_memo(p->prune->memo, p->items[first].message, p->prune->texts, p->arena);
    return p->memo != NULL && phi__arena_str(p->arena, p->prune->memo, &p->pruned.memo);
}

static bool phi__prune_meta(const phi__pruning *p, const char **meta) {
    phi__buf out;
    phi__buf_init(&out, p->arena->memory);
    phi__buf_char(&out, '{');
    phi__records_u64(&out, "tokens_removed", p->pruned.tokens_removed);
    phi__records_u64(&out, "messages_removed", p->pruned.messages_removed);
    phi__records_option(&out, "memo", p->pruned.memo);
    phi__records_raw(&out, "pruned_timestamps", "[");
    for (size_t i = 0; i < p->pruned.timestamp_count; i++) {
        phi__json_write_comma(&out);
        phi__json_number_put_i64(&out, p->pruned.timestamps[i]);
    }
    phi__buf_char(&out, ']');
    return phi__prune_report(&out, p->arena, meta);
}

static phi_status phi__prune_make(phi__pruning *p, phi_rewrite *out) {
    phi_memory *memory = p->arena->memory;
    size_t *callers = phi__groups_find(memory, p->items, sizeof *p->items, p->plan.count);
    size_t at = 0;
    if (callers == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < p->plan.count; i++) {
        const phi_view_item *item = &p->items[i];
        phi__plan_put(&p->plan, i, item->message, item->from, item->to, p->counter);
        uint32_t kept = (uint32_t)PHI_ITEM_SYNTHETIC | (uint32_t)PHI_ENTRY_DURABLE;
        phi_role role = item->message->role;
        p->plan.items[i].stays = (role != PHI_ROLE_ASSISTANT && role != PHI_ROLE_TOOL_RESULT) ||
                                 (item->flags & kept) != 0 || item->from < p->prune->from_seq ||
                                 (p->prune->end_seq != 0 && item->to >= p->prune->end_seq);
        if (callers[i] != SIZE_MAX) phi__plan_join(&p->plan, callers[i], i);
    }
    phi__groups_free(memory, p->plan.count, callers);
    while (p->plan.tokens < p->prune->tokens &&
           phi__plan_take(&p->plan, &at, p->plan.count, false)) {}
    p->pruned.tokens_removed = p->plan.tokens;
    p->pruned.messages_removed = p->plan.removed;
    if (p->plan.removed > 0 && !phi__prune_remember(p)) return PHI_NO_MEMORY;
    if (p->plan.removed == 0 ||
        (p->memo != NULL && phi_tokens_of_message(p->counter, p->memo) >= p->plan.tokens)) {
        memset(&p->pruned, 0, sizeof p->pruned);
        return PHI_OK;
    }
    int64_t *times = (int64_t *)phi_arena_alloc(p->arena, phi__mul(p->plan.removed, sizeof *times));
    if (times == NULL) return PHI_NO_MEMORY;
    for (size_t j = 0; j < p->plan.count; j++)
        if (phi__plan_goes(&p->plan, j))
            times[p->pruned.timestamp_count++] = p->items[j].message->timestamp_ms;
    p->pruned.timestamps = times;
    if (!phi__prune_meta(p, &out->meta)) return PHI_NO_MEMORY;
    out->spans = phi__plan_spans(&p->plan, p->arena, p->memo, &out->span_count);
    return out->spans != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__prune_plan(const phi_view_item *items, size_t count, const phi_prune *prune,
                                   const phi_token_counter *counter, phi_arena *arena,
                                   phi_rewrite *out, phi_pruned *pruned) {
    if ((items == NULL && count > 0) || prune == NULL || prune->tokens == 0 || arena == NULL ||
        out == NULL)
        return PHI_BAD_ARG;
    phi__pruning p = PHI_ZERO;
    memset(out, 0, sizeof *out);
    if (pruned != NULL) memset(pruned, 0, sizeof *pruned);
    p.items = items;
    p.prune = prune;
    p.counter = counter;
    p.arena = arena;
    phi__plan_item *known =
        (phi__plan_item *)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof *known));
    if (known == NULL) return PHI_NO_MEMORY;
    p.plan.items = known;
    p.plan.count = count;
    p.plan.also = SIZE_MAX;
    out->reason = PHI_REWRITE_PRUNE;
    phi_status status = phi__prune_make(&p, out);
    if (status != PHI_OK) memset(out, 0, sizeof *out);
    if (status == PHI_OK && pruned != NULL) *pruned = p.pruned;
    return status;
}

PHI__FN uint64_t phi__prune_from(const phi_thread *thread) {
    uint64_t limit = UINT64_MAX, from = 0;
    size_t i;
    if (thread == NULL) return 0;
    for (uint32_t lane = thread->lanes.active; lane != PHI__LANE_NONE;
         lane = thread->lanes.at[lane].parent) {
        for (i = 0; i < thread->ops.compaction_count; i++) {
            const phi__compaction_mark *mark = &thread->ops.compactions[i];
            if (mark->lane == lane && mark->seq <= limit && mark->seq >= from) from = mark->seq + 1;
        }
        if (thread->lanes.at == NULL) break;
        if (thread->lanes.at[lane].fork_seq < limit) limit = thread->lanes.at[lane].fork_seq;
    }
    return from;
}

/* ---- truncation: the oldest part leaves the view, and a marker replaces it ---- */

/* A group is an answer with its results, or any other message. The first user message, the newest
   one, durable messages, and everything from the last group on stay. phi removes the oldest of the
   other groups until the view fits. Summaries are removed last, because a summary represents all
   messages before it. So one marker, at the place of the first removed message, represents all
   messages that were ever removed. A truncation is a rewrite, and its meta has the total number. A
   span cannot cut the output of an earlier rewrite, and a late result leaves with its call,
   wherever it is. Inseparable items form a block, which leaves as a whole. */

#define PHI__TRUNCATE_META "{\"removed\":"

typedef struct phi__truncation {
    phi_thread *thread;
    const phi_token_counter *counter; /* NULL: the estimate */
    phi__plan plan;                   /* plan.also is the marker of an earlier truncation */
    size_t last;                      /* the item that begins the last group */
    uint64_t tokens;                  /* tokens of the view, without that marker */
    uint64_t gone;                    /* messages removed by earlier truncations */
    const phi_texts *texts;           /* NULL: phi's texts */
    phi__buf words;                   /* text of the marker */
} phi__truncation;

/* Finds the marker of an earlier truncation. Each truncation removes the marker before it. */
static void phi__trunc_find_marker(phi__truncation *t) {
    const phi__fold *fold = &t->thread->fold;
    for (const phi__op *op = t->thread->ops.last; op != NULL; op = op->earlier) {
        const phi_rewrite *r = &op->rewrite;
        if (r->reason != PHI_REWRITE_COMPACTION || r->span_count == 0 ||
            r->spans[0].message_count == 0 || r->meta == NULL ||
            !phi__str_starts(phi_str_of(r->meta), PHI__TRUNCATE_META))
            continue;
        size_t at = phi__fold_find(fold, r->spans[0].from);
        if (at == fold->count || fold->items[at].message != r->spans[0].messages) continue;
        t->plan.also = at;
        t->gone = strtoull(r->meta + sizeof PHI__TRUNCATE_META - 1, NULL, 10);
        t->tokens -= t->plan.items[at].tokens;
        return;
    }
}

/* Makes a block of an answer's group, or of one message, from item `at` on. Returns the end of the
   block: after the last result of an answer, even with extensions between. */
static size_t phi__trunc_group(phi__truncation *t, size_t at) {
    const phi__fold *fold = &t->thread->fold;
    size_t end = at + 1;
    if (fold->items[at].message->role != PHI_ROLE_ASSISTANT) return end;
    for (size_t i = end; i < fold->count; i++) {
        phi_role role = fold->items[i].message->role;
        if (role == PHI_ROLE_TOOL_RESULT)
            end = i + 1;
        else if (role != PHI_ROLE_EXTENSION)
            break;
    }
    for (size_t i = at + 1; i < end; i++) phi__plan_join(&t->plan, at, i);
    return end;
}

static void phi__trunc_mark(phi__truncation *t, phi_message *marker, phi_content *block) {
    memset(marker, 0, sizeof *marker);
    memset(block, 0, sizeof *block);
    phi__texts_args args = PHI_ZERO;
    args.n = t->gone + t->plan.removed;
    t->words.len = 0;
    phi__texts_put(&t->words, t->texts, PHI_TEXT_REMOVED, &args);
    block->kind = PHI_CONTENT_TEXT;
    block->text = phi__buf_str(&t->words);
    marker->role = PHI_ROLE_USER;
    marker->content = block;
    marker->content_count = 1;
}

/* Removes blocks until the view and a marker fit. False: the result would not be smaller. */
static bool phi__trunc_plan(phi__truncation *t, uint64_t target_tokens) {
    phi_message marker;
    phi_content block;
    uint64_t before = phi__fold_tokens(&t->thread->fold, t->counter), now = before;
    for (int late = 0; late < 2; late++) {
        size_t at = 0;
        while (now > target_tokens && phi__plan_take(&t->plan, &at, t->last, late != 0)) {
            phi__trunc_mark(t, &marker, &block);
            now = t->tokens - t->plan.tokens + phi_tokens_of_message(t->counter, &marker);
        }
    }
    return t->plan.removed > 0 && now < before;
}

static bool phi__trunc_do(phi__truncation *t, phi_str loop_id, uint32_t turn_index) {
    char meta[48];
    phi_arena scratch;
    phi_message marker;
    phi_content block;
    phi__trunc_mark(t, &marker, &block);
    if (t->words.failed) return false;
    marker.timestamp_ms = phi__thread_now(t->thread);
    marker.loop_id = loop_id;
    marker.turn_index = turn_index;
    (void)snprintf(meta, sizeof meta, PHI__TRUNCATE_META "%llu}",
                   (unsigned long long)(t->gone + t->plan.removed));
    phi_rewrite rewrite = PHI_ZERO;
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.meta = meta;
    phi_arena_init(&scratch, t->thread->log.memory, 0);
    rewrite.spans = phi__plan_spans(&t->plan, &scratch, &marker, &rewrite.span_count);
    phi_status status = rewrite.spans != NULL ? phi__rewrite_make(t->thread, &rewrite, loop_id,
                                                                  turn_index, NULL, NULL, 0)
                                              : PHI_NO_MEMORY;
    if (status == PHI_BAD_ARG && rewrite.spans[0].message_count > 0) {
        /* The marker would separate an answer from a result that stays, so it is left out. */
        phi_span *first = (phi_span *)(uintptr_t)rewrite.spans;
        first->message_count = 0;
        status = phi__rewrite_make(t->thread, &rewrite, loop_id, turn_index, NULL, NULL, 0);
    }
    phi_arena_free(&scratch);
    return status == PHI_OK;
}

/* Finds the blocks, and marks those that are removed last and those that stay. */
static void phi__trunc_join(phi__truncation *t, const size_t *callers, const uint8_t *durable) {
    const phi__fold *fold = &t->thread->fold;
    size_t first = SIZE_MAX, newest = SIZE_MAX, end; /* indexes of the user messages that stay */
    bool summed_up = false;
    for (size_t at = 0; at < fold->count; at = end) {
        const phi__item *item = &fold->items[at];
        if (at == t->plan.also) {
            end = at + 1;
            continue;
        }
        end = phi__trunc_group(t, at);
        if ((item->flags & PHI_ITEM_SUMMARY) != 0) {
            phi__plan_block(&t->plan, at)->late = summed_up = true;
            continue;
        }
        if (item->message->role != PHI_ROLE_EXTENSION) t->last = at;
        if (item->message->role != PHI_ROLE_USER || item->message->is_update) continue;
        if (first == SIZE_MAX && !summed_up) first = at;
        newest = at;
    }
    for (size_t i = 0; i < fold->count; i++) {
        if (callers[i] != SIZE_MAX) phi__plan_join(&t->plan, callers[i], i);
        if (i > 0 && fold->items[i].from == fold->items[i - 1].from &&
            fold->items[i].to == fold->items[i - 1].to)
            phi__plan_join(&t->plan, i - 1, i);
    }
    for (size_t i = 0; i < fold->count; i++)
        if ((durable != NULL && durable[i] != 0) || i == first || i == newest || i == t->last)
            phi__plan_block(&t->plan, i)->stays = true;
}

static bool phi__trunc_blocks(phi__truncation *t) {
    phi_memory *memory = t->thread->log.memory;
    const phi__fold *fold = &t->thread->fold;
    size_t *callers = phi__groups_make(memory, fold);
    uint8_t *durable = NULL;
    bool done = callers != NULL && phi__groups_durable(memory, fold, &durable);
    if (done) {
        for (size_t i = 0; i < fold->count; i++)
            phi__plan_put(&t->plan, i, fold->items[i].message, fold->items[i].from,
                          fold->items[i].to, t->counter);
        t->tokens = phi__fold_tokens(&t->thread->fold, t->counter);
        phi__trunc_find_marker(t);
        phi__trunc_join(t, callers, durable);
    }
    phi__free(memory, durable, durable != NULL ? fold->count : 0);
    phi__groups_free(memory, fold->count, callers);
    return done;
}

PHI__FN bool phi__truncate(phi_thread *thread, uint64_t target_tokens,
                           const phi_token_counter *counter, const phi_texts *texts,
                           phi_str loop_id, uint32_t turn_index, size_t *removed) {
    phi__plan_item *items;
    size_t bytes = phi__mul(phi__max(thread->fold.count, 1), sizeof *items);
    *removed = 0;
    phi__truncation t = PHI_ZERO;
    t.thread = thread;
    t.counter = counter;
    t.texts = texts;
    phi__buf_init(&t.words, thread->log.memory);
    items = (phi__plan_item *)phi__alloc(thread->log.memory, bytes);
    t.plan.items = items;
    t.plan.count = thread->fold.count;
    t.plan.also = SIZE_MAX;
    bool done = items != NULL && phi__trunc_blocks(&t);
    if (done && phi__trunc_plan(&t, target_tokens)) {
        done = phi__trunc_do(&t, loop_id, turn_index);
        if (done) *removed = t.plan.removed;
    }
    done = done && !t.words.failed;
    phi__buf_free(&t.words);
    phi__free(thread->log.memory, items, items != NULL ? bytes : 0);
    return done;
}

/* ---- reverts: everything after a step leaves the view, or nothing does ---- */

enum {
    PHI__REVERT_FRESH_TURNS = 5, /* turns for which the message of a failure or tangent stays */
    PHI__REVERT_NEWEST = 3       /* number of newest messages of a category that stay longer */
};

typedef struct phi__reverting {
    const phi_thread *thread;
    const phi_revert *revert;
    phi_arena *arena;
    size_t target, first; /* indexes: the step's item, and the first removed item */
    phi_reverted *told;
} phi__reverting;

static bool phi__revert_text(phi_arena *arena, phi_str *out, const char *format, uint64_t n) {
    char text[64];
    (void)snprintf(text, sizeof text, format, (unsigned long long)n);
    return phi__arena_str(arena, phi_str_of(text), out);
}

PHI__FN size_t phi__step_label(uint64_t seq, char out[PHI__STEP_BYTES]) {
    return (size_t)snprintf(out, PHI__STEP_BYTES, "[step n%llu]", (unsigned long long)seq);
}

PHI__FN bool phi__step_number(phi_str name, uint64_t *seq) {
    size_t from = name.len > 0 && name.at[0] == 'n' ? 1 : 0;
    return name.len > from && phi__str_to_u64(phi__str(name.at + from, name.len - from), seq);
}

PHI__FN void phi__step_put_all(phi__buf *out, const phi_str *names, size_t count) {
    uint64_t seq = 0;
    phi__buf_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (!phi__step_number(names[i], &seq)) continue;
        phi__json_write_comma(out);
        phi__json_number_put_u64(out, seq);
    }
    phi__buf_char(out, ']');
}

/* True if the item is a step. A label with a number of another thread does not count. */
static bool phi__revert_is_step(const phi__item *item) {
    const phi_message *m = item->message;
    char label[PHI__STEP_BYTES];
    if (m->role != PHI_ROLE_TOOL_RESULT || m->content_count == 0 ||
        (item->flags & PHI_ITEM_SYNTHETIC) != 0)
        return false;
    const phi_content *last = &m->content[m->content_count - 1];
    (void)phi__step_label(item->from, label);
    return last->kind == PHI_CONTENT_TEXT && phi__str_is(last->text, label);
}

static bool phi__revert_find(phi__reverting *r) {
    const phi__fold *fold = &r->thread->fold;
    size_t i = fold->count;
    if (r->revert->end_seq != 0 && r->revert->step >= r->revert->end_seq) return false;
    while (i > 0 && fold->items[i - 1].to >= r->revert->step) {
        const phi__item *item = &fold->items[--i];
        if (item->from != r->revert->step || !phi__revert_is_step(item)) continue;
        r->target = i;
        for (r->first = i + 1; r->first < fold->count; r->first++)
            if (fold->items[r->first].message->role != PHI_ROLE_TOOL_RESULT) break;
        return r->first < fold->count;
    }
    return false;
}

static phi_text phi__revert_name(phi_revert_category category) {
    return (phi_text)(PHI_TEXT_REVERT_FAILURE + (category - PHI_REVERT_FAILURE));
}

static bool phi__revert_meta(const phi__reverting *r, const char **meta) {
    phi__buf out;
    phi__buf_init(&out, r->arena->memory);
    phi__buf_char(&out, '{');
    phi__records_str(&out, "category", r->told->category);
    phi__records_u64(&out, "target", r->revert->step);
    phi__json_write_key(&out, PHI__LIT("abandoned_node_ids"));
    phi__step_put_all(&out, r->told->abandoned, r->told->abandoned_count);
    phi__records_option(&out, "summary", r->told->summary);
    return phi__prune_report(&out, r->arena, meta);
}

/* ---- messages of earlier reverts ---- */

/* Returns the category of the failure or tangent whose revert left this message. Returns 0 if no
   revert left the message, or if other messages are in its place too (as in a history that was
   carried over). Also returns 0 for a completion or a step summary, whose messages always stay. */
static phi_revert_category phi__revert_ages(const phi__reverting *r, size_t at) {
    const phi_texts *texts = r->revert->texts;
    const phi__fold *fold = &r->thread->fold;
    const phi__item *item = &fold->items[at];
    uint64_t step;
    if ((item->flags & PHI_ITEM_SYNTHETIC) == 0 || item->message->content_count != 1 ||
        item->message->role != PHI_ROLE_USER ||
        (at > 0 && fold->items[at - 1].from == item->from) ||
        (at + 1 < fold->count && fold->items[at + 1].from == item->from))
        return (phi_revert_category)0;
    for (int c = PHI_REVERT_FAILURE; c <= PHI_REVERT_TANGENT; c++) {
        phi_text name = phi__revert_name((phi_revert_category)c);
        phi_str text = item->message->content[0].text;
        if (phi__texts_is(texts, PHI_TEXT_REVERTED, name, text, &step) ||
            phi__texts_is(texts, PHI_TEXT_REVERTED_SUMMARY, name, text, &step))
            return (phi_revert_category)c;
    }
    return (phi_revert_category)0;
}

static phi_status phi__revert_make(phi__reverting *r, phi_rewrite *out) {
    const phi__fold *fold = &r->thread->fold;
    size_t n = 0;
    for (size_t i = 0; i < r->first; i++) n += phi__revert_ages(r, i) != 0;
    size_t last = n, at = n;
    phi_span *spans = (phi_span *)phi__arena_zero(r->arena, phi__mul(last + 1, sizeof *spans));
    const char *meta = NULL;
    if (spans == NULL) return PHI_NO_MEMORY;
    phi_str *names =
        (phi_str *)phi_arena_alloc(r->arena, phi__mul(fold->count - r->first, sizeof *names));
    if (names == NULL) return PHI_NO_MEMORY;
    for (size_t i = r->first; i < fold->count; i++) {
        if ((fold->items[i].flags & PHI_ITEM_SYNTHETIC) != 0) continue;
        if (!phi__revert_text(r->arena, &names[r->told->abandoned_count++], "n%llu",
                              fold->items[i].from))
            return PHI_NO_MEMORY;
    }
    r->told->abandoned = names;
    if (!phi__revert_meta(r, &meta)) return PHI_NO_MEMORY;
    spans[last].from = fold->items[r->first].from;
    spans[last].to = fold->items[fold->count - 1].to;
    const phi_texts *texts = r->revert->texts;
    phi_str text;
    phi__texts_args args = PHI_ZERO;
    args.n = r->revert->step;
    args.text = r->told->summary;
    args.name = phi_str_of(phi__texts_get(texts, phi__revert_name(r->revert->category)));
    spans[last].messages =
        phi__texts_make(r->arena, texts,
                        args.text.len > 0 ? PHI_TEXT_REVERTED_SUMMARY : PHI_TEXT_REVERTED, &args,
                        &text)
            ? phi__compact_say_at(text, r->thread->fold.items[r->target].message, r->arena)
            : NULL;
    spans[last].message_count = 1;
    if (spans[last].messages == NULL) return PHI_NO_MEMORY;
    size_t seen[PHI_REVERT_STEP_SUMMARY + 1] = {0}, turns = 0; /* count by category */
    seen[r->revert->category] = 1;
    for (size_t j = fold->count; j > 0; j--) {
        turns += fold->items[j - 1].message->role == PHI_ROLE_ASSISTANT;
        if (j - 1 >= r->first) continue;
        phi_revert_category category = phi__revert_ages(r, j - 1);
        if (category == 0 || seen[category]++ < PHI__REVERT_NEWEST ||
            turns <= PHI__REVERT_FRESH_TURNS)
            continue;
        spans[--at].from = fold->items[j - 1].from;
        spans[at].to = fold->items[j - 1].to;
    }
    out->meta = meta;
    out->spans = spans + at;
    out->span_count = last + 1 - at;
    r->told->applied = true;
    return PHI_OK;
}

static phi_status phi__revert_refuse(phi__reverting *r, const char *format) {
    return phi__revert_text(r->arena, &r->told->reason, format, r->revert->step) ? PHI_OK
                                                                                 : PHI_NO_MEMORY;
}

PHI__FN const char *phi__revert_word(phi_revert_category category) {
    switch (category) {
    case PHI_REVERT_FAILURE: return "failure";
    case PHI_REVERT_TANGENT: return "tangent";
    case PHI_REVERT_COMPLETION: return "completion";
    case PHI_REVERT_STEP_SUMMARY: return "step-summary";
    }
    return "";
}

PHI__FN phi_status phi__revert_plan(const phi_thread *thread, const phi_revert *revert,
                                    phi_arena *arena, phi_rewrite *out, phi_reverted *reverted) {
    if (thread == NULL || revert == NULL || arena == NULL || out == NULL || reverted == NULL ||
        *phi__revert_word(revert->category) == '\0')
        return PHI_BAD_ARG;
    phi__reverting r = PHI_ZERO;
    memset(out, 0, sizeof *out);
    memset(reverted, 0, sizeof *reverted);
    r.thread = thread;
    r.revert = revert;
    r.arena = arena;
    r.told = reverted;
    out->reason = PHI_REWRITE_REVERT;
    reverted->category = phi_str_of(phi__revert_word(revert->category));
    if (!phi__revert_text(arena, &reverted->target, "n%llu", revert->step) ||
        !phi__arena_str(arena, revert->summary, &reverted->summary))
        return PHI_NO_MEMORY;
    if (!phi__revert_find(&r)) return phi__revert_refuse(&r, "step n%llu was not found");
    if (r.thread->messages.last_user > 0 && r.thread->messages.last_user - 1 > r.revert->step)
        return phi__revert_refuse(&r, "a user message stands behind step n%llu");
    return phi__revert_make(&r, out);
}
