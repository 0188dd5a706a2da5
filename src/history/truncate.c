/* truncate.c - takes the oldest part out of the view, and puts a marker in its place.

   A group is an answer with its results, or any other message. The first user message, the newest
   one, durable messages, and everything from the last group on stay; all other groups up to a point
   go, summaries last: a summary stands for all messages before it, the first user message
   included. So one marker, at the place of the first removed message, stands for all that were ever
   removed. It is a rewrite like any other; its meta has their total number. A span cannot cut the
   output of an earlier rewrite, and a late result goes with its call, wherever it stands:
   inseparable items form a block, and blocks go as a whole. */
#include "history/truncate_in.h"

#include "model/texts_in.h"
#include "model/tokens.h"
#include "history/plan_in.h"
#include "history/rewrite_in.h"
#include "history/thread_in.h"

#include <stdio.h>
#include <stdlib.h>

#define PHI__TRUNCATE_META "{\"removed\":"

typedef struct phi__truncation {
    phi_thread *thread;
    const phi_token_counter *counter; /* NULL: the estimate */
    phi__plan plan;                   /* also: the marker of an earlier truncation */
    size_t first, newest;             /* items: user messages that stay; SIZE_MAX: there is none */
    size_t last;                      /* item that begins the last group */
    uint64_t tokens;                  /* of the view, without that marker */
    uint64_t gone;                    /* messages that went at earlier times */
    const phi_texts *texts;           /* NULL: phi's */
    phi__buf words;                   /* the marker's */
} phi__truncation;

static uint64_t phi__truncate_before(const phi__truncation *t) {
    return phi__fold_tokens(&t->thread->fold, t->counter);
}

static bool phi__truncate_is(const phi_rewrite *r) {
    return r->reason == PHI_REWRITE_COMPACTION && r->span_count > 0 &&
           r->spans[0].message_count > 0 && r->meta != NULL &&
           phi__str_starts(phi_str_of(r->meta), PHI__TRUNCATE_META);
}

/* Finds the marker of an earlier truncation: a view has at most one, since each truncation takes
   the one before it out. */
static void phi__truncate_find_marker(phi__truncation *t) {
    const phi__fold *fold = &t->thread->fold;
    const phi__op *op;
    for (op = t->thread->ops.last; op != NULL; op = op->earlier) {
        const phi_rewrite *r = &op->rewrite;
        size_t at;
        if (!phi__truncate_is(r)) continue;
        at = phi__fold_find(fold, r->spans[0].from);
        if (at == fold->count || fold->items[at].message != r->spans[0].messages) continue;
        t->plan.also = at;
        t->gone = strtoull(r->meta + sizeof PHI__TRUNCATE_META - 1, NULL, 10);
        t->tokens -= phi_tokens_of_message(t->counter, fold->items[at].message);
        return;
    }
}

/* Where the group that begins at an item ends: behind the last result that follows an answer,
   though extensions may stand between. */
static size_t phi__truncate_group_end(const phi_thread *thread, size_t at) {
    size_t end = at + 1, i;
    if (thread->fold.items[at].message->role != PHI_ROLE_ASSISTANT) return end;
    for (i = end; i < thread->fold.count; i++) {
        phi_role role = thread->fold.items[i].message->role;
        if (role == PHI_ROLE_TOOL_RESULT)
            end = i + 1;
        else if (role != PHI_ROLE_EXTENSION)
            break;
    }
    return end;
}

/* Extensions at the end are no group to be kept for: no model sees them. */
static void phi__truncate_look(phi__truncation *t) {
    const phi_thread *thread = t->thread;
    size_t at, end, i;
    bool summed_up = false;
    t->first = t->newest = SIZE_MAX;
    t->tokens = phi__truncate_before(t);
    phi__truncate_find_marker(t);
    for (at = 0; at < thread->fold.count; at = end) {
        const phi__item *item = &thread->fold.items[at];
        end = phi__truncate_group_end(thread, at);
        if (at == t->plan.also) continue;
        for (i = at + 1; i < end; i++) phi__plan_join(&t->plan, at, i);
        if ((item->flags & PHI_ITEM_SUMMARY) != 0) {
            phi__plan_block(&t->plan, at)->late = summed_up = true;
            continue;
        }
        if (item->message->role != PHI_ROLE_EXTENSION) t->last = at;
        if (item->message->role != PHI_ROLE_USER || item->message->is_update) continue;
        if (t->first == SIZE_MAX && !summed_up) t->first = at;
        t->newest = at;
    }
}

static void phi__truncate_spare(phi__truncation *t, size_t at) {
    if (at < t->plan.count) phi__plan_block(&t->plan, at)->stays = true;
}

/* Which blocks there are, and which must stay. */
static void phi__truncate_join(phi__truncation *t, const size_t *callers, const uint8_t *durable) {
    const phi__fold *fold = &t->thread->fold;
    size_t i;
    for (i = 0; i < fold->count; i++) {
        if (callers[i] != SIZE_MAX) phi__plan_join(&t->plan, callers[i], i);
        if (i > 0 && fold->items[i].from == fold->items[i - 1].from &&
            fold->items[i].to == fold->items[i - 1].to)
            phi__plan_join(&t->plan, i - 1, i);
    }
    for (i = 0; durable != NULL && i < fold->count; i++)
        if (durable[i] != 0) phi__truncate_spare(t, i);
    phi__truncate_spare(t, t->first);
    phi__truncate_spare(t, t->newest);
    phi__truncate_spare(t, t->last);
}

static uint64_t phi__truncate_gone(const phi__truncation *t) { return t->gone + t->plan.removed; }

static void phi__truncate_mark(phi__truncation *t, phi_message *marker, phi_content *block) {
    phi__texts_args args;
    memset(marker, 0, sizeof *marker);
    memset(block, 0, sizeof *block);
    memset(&args, 0, sizeof args);
    args.n = phi__truncate_gone(t);
    t->words.len = 0;
    phi__texts_put(&t->words, t->texts, PHI_TEXT_REMOVED, &args);
    block->kind = PHI_CONTENT_TEXT;
    block->text = phi__buf_str(&t->words);
    marker->role = PHI_ROLE_USER;
    marker->content = block;
    marker->content_count = 1;
}

/* The tokens of the view, with a marker for the messages removed so far. */
static uint64_t phi__truncate_tokens(phi__truncation *t) {
    phi_message marker;
    phi_content block;
    phi__truncate_mark(t, &marker, &block);
    return t->tokens - t->plan.tokens + phi_tokens_of_message(t->counter, &marker);
}

/* Takes blocks until enough is gone. False: nothing to take, or less than a marker costs. */
static bool phi__truncate_plan(phi__truncation *t, uint64_t target_tokens) {
    uint64_t before = phi__truncate_before(t), now = before;
    int late;
    for (late = 0; late < 2; late++) {
        size_t at = 0;
        while (now > target_tokens && phi__plan_take(&t->plan, &at, t->last, late != 0))
            now = phi__truncate_tokens(t);
    }
    return t->plan.removed > 0 && now < before;
}

static bool phi__truncate_do(phi__truncation *t, phi_str loop_id, uint32_t turn_index) {
    char meta[48];
    phi_arena scratch;
    phi_rewrite rewrite;
    phi_message marker;
    phi_content block;
    phi_status status;
    phi__truncate_mark(t, &marker, &block);
    if (t->words.failed) return false;
    marker.timestamp_ms = phi__thread_now(t->thread);
    marker.loop_id = loop_id;
    marker.turn_index = turn_index;
    (void)snprintf(meta, sizeof meta, PHI__TRUNCATE_META "%llu}",
                   (unsigned long long)phi__truncate_gone(t));
    memset(&rewrite, 0, sizeof rewrite);
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.meta = meta;
    phi_arena_init(&scratch, t->thread->log.memory, 0);
    rewrite.spans = phi__plan_spans(&t->plan, &scratch, &marker, &rewrite.span_count);
    status = rewrite.spans != NULL
                 ? phi__rewrite_make(t->thread, &rewrite, loop_id, turn_index, NULL, NULL, 0)
                 : PHI_NO_MEMORY;
    if (status == PHI_BAD_ARG && rewrite.spans[0].message_count > 0) {
        /* the marker would part an answer from a result that stays: the cut has none */
        phi_span *first = (phi_span *)(uintptr_t)rewrite.spans;
        first->message_count = 0;
        status = phi__rewrite_make(t->thread, &rewrite, loop_id, turn_index, NULL, NULL, 0);
    }
    phi_arena_free(&scratch);
    return status == PHI_OK;
}

static bool phi__truncate_blocks(phi__truncation *t) {
    phi_thread *thread = t->thread;
    const phi__fold *fold = &thread->fold;
    size_t *callers = phi__groups_make(thread->log.memory, fold), i;
    uint8_t *durable = NULL;
    bool done = callers != NULL && phi__groups_durable(thread->log.memory, fold, &durable);
    if (done) {
        for (i = 0; i < fold->count; i++)
            phi__plan_put(&t->plan, i, fold->items[i].from, fold->items[i].to,
                          phi_tokens_of_message(t->counter, fold->items[i].message));
        phi__truncate_look(t);
        phi__truncate_join(t, callers, durable);
    }
    phi__free(thread->log.memory, durable, durable != NULL ? fold->count : 0);
    phi__groups_free(thread->log.memory, fold->count, callers);
    return done;
}

PHI__FN bool phi__truncate(phi_thread *thread, uint64_t target_tokens,
                           const phi_token_counter *counter, const phi_texts *texts,
                           phi_str loop_id, uint32_t turn_index, size_t *removed) {
    phi__truncation t;
    phi__plan_item *items;
    size_t bytes = phi__mul(phi__max(thread->fold.count, 1), sizeof *items);
    bool done;
    *removed = 0;
    memset(&t, 0, sizeof t);
    t.thread = thread;
    t.counter = counter;
    t.texts = texts;
    phi__buf_init(&t.words, thread->log.memory);
    items = (phi__plan_item *)phi__alloc(thread->log.memory, bytes);
    phi__plan_init(&t.plan, items, thread->fold.count);
    done = items != NULL && phi__truncate_blocks(&t);
    if (done && phi__truncate_plan(&t, target_tokens)) {
        done = phi__truncate_do(&t, loop_id, turn_index);
        if (done) *removed = t.plan.removed;
    }
    done = done && !t.words.failed;
    phi__buf_free(&t.words);
    phi__free(thread->log.memory, items, items != NULL ? bytes : 0);
    return done;
}
