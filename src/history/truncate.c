/* truncate.c - takes the oldest part out of the view, and puts a marker in its place.

   A group is an answer with its results, or any other message. The first user message, the newest
   one, durable messages, and everything from the last group on stay; all other groups up to a point
   go. So one marker, at the place of the first removed message, stands for all that were ever
   removed. It is a rewrite like any other; its meta has their total number. A span cannot cut the
   output of an earlier rewrite, and a late result goes with its call, wherever it stands:
   inseparable items form a block, and blocks go as a whole. */
#include "history/truncate_in.h"

#include "model/tokens.h"
#include "history/rewrite_in.h"
#include "history/thread_in.h"

#include <stdio.h>
#include <stdlib.h>

enum { PHI__TRUNCATE_WORDS = 96 }; /* the marker's, with twenty digits */

#define PHI__TRUNCATE_META "{\"removed\":"

/* Of each item: the block it is of, and, where it is the block's root, the whole of it. */
typedef struct phi__truncate_block {
    size_t up; /* towards the root, which points to itself */
    uint64_t tokens;
    size_t count;
    bool spared, goes;
} phi__truncate_block;

typedef struct phi__truncation {
    phi_thread *thread;
    const phi_token_counter *counter; /* NULL: the estimate */
    phi__truncate_block *blocks;
    size_t first, newest;   /* items: user messages that stay; SIZE_MAX: there is none */
    size_t last;            /* item that begins the last group */
    size_t marker;          /* of an earlier truncation, to be replaced; SIZE_MAX: there is none */
    uint64_t tokens;        /* without markers and what goes */
    uint64_t removed, gone; /* messages, now and all told */
} phi__truncation;

static phi__truncate_block *phi__truncate_root(phi__truncation *t, size_t at) {
    while (t->blocks[at].up != at) {
        t->blocks[at].up = t->blocks[t->blocks[at].up].up;
        at = t->blocks[at].up;
    }
    return &t->blocks[at];
}

/* The earlier one becomes the root. */
static void phi__truncate_join(phi__truncation *t, size_t a, size_t b) {
    size_t x = phi__truncate_root(t, a)->up, y = phi__truncate_root(t, b)->up;
    t->blocks[phi__max(x, y)].up = phi__min(x, y);
}

static uint64_t phi__truncate_before(const phi__truncation *t) {
    return phi__fold_tokens(&t->thread->fold, t->counter);
}

/* The meta of the truncation that an item is the marker of, or NULL. */
static const char *phi__truncate_meta(const phi_thread *thread, const phi__item *item) {
    const phi__op *op;
    if ((item->flags & PHI_ITEM_SYNTHETIC) == 0) return NULL;
    for (op = thread->ops.last; op != NULL; op = op->earlier) {
        const phi_rewrite *r = &op->rewrite;
        if (r->reason == PHI_REWRITE_COMPACTION && r->span_count > 0 && r->meta != NULL &&
            r->spans[0].messages == item->message &&
            phi__str_starts(phi_str_of(r->meta), PHI__TRUNCATE_META))
            return r->meta;
    }
    return NULL;
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
    t->first = t->newest = t->marker = SIZE_MAX;
    t->tokens = phi__truncate_before(t);
    for (at = 0; at < thread->fold.count; at = end) {
        const phi__item *item = &thread->fold.items[at];
        const char *meta = phi__truncate_meta(thread, item);
        end = phi__truncate_group_end(thread, at);
        if (meta != NULL) {
            t->marker = at;
            t->gone = strtoull(meta + sizeof PHI__TRUNCATE_META - 1, NULL, 10);
            t->tokens -= phi_tokens_of_message(t->counter, item->message);
            continue;
        }
        for (i = at + 1; i < end; i++) phi__truncate_join(t, at, i);
        if (item->message->role != PHI_ROLE_EXTENSION) t->last = at;
        if (item->message->role != PHI_ROLE_USER) continue;
        if (t->first == SIZE_MAX) t->first = at;
        t->newest = at;
    }
}

static void phi__truncate_spare(phi__truncation *t, size_t at) {
    if (at < t->thread->fold.count) phi__truncate_root(t, at)->spared = true;
}

/* Blocks, what each comes to, and which must stay. */
static void phi__truncate_weigh(phi__truncation *t, const size_t *askers, const uint8_t *durable) {
    const phi__fold *fold = &t->thread->fold;
    size_t i;
    for (i = 0; i < fold->count; i++) {
        if (askers[i] != SIZE_MAX) phi__truncate_join(t, askers[i], i);
        if (i > 0 && fold->items[i].from == fold->items[i - 1].from &&
            fold->items[i].to == fold->items[i - 1].to)
            phi__truncate_join(t, i - 1, i);
    }
    for (i = 0; i < fold->count; i++) {
        phi__truncate_block *root = phi__truncate_root(t, i);
        root->tokens += phi_tokens_of_message(t->counter, fold->items[i].message);
        root->count++;
        if (durable != NULL && durable[i] != 0) root->spared = true;
    }
    phi__truncate_spare(t, t->first);
    phi__truncate_spare(t, t->newest);
    phi__truncate_spare(t, t->last);
}

static bool phi__truncate_stays(phi__truncation *t, size_t at) {
    return at != t->marker && !phi__truncate_root(t, at)->goes;
}

static void phi__truncate_mark(const phi__truncation *t, phi_message *marker, phi_content *block,
                               char words[PHI__TRUNCATE_WORDS]) {
    memset(marker, 0, sizeof *marker);
    memset(block, 0, sizeof *block);
    (void)snprintf(words, PHI__TRUNCATE_WORDS,
                   "[Context compacted: %llu messages removed to fit context window]",
                   (unsigned long long)t->gone);
    block->kind = PHI_CONTENT_TEXT;
    block->text = phi_str_of(words);
    marker->role = PHI_ROLE_USER;
    marker->content = block;
    marker->content_count = 1;
}

/* What the projection would come to, with a marker for what goes so far. */
static uint64_t phi__truncate_tokens(const phi__truncation *t) {
    char words[PHI__TRUNCATE_WORDS];
    phi_message marker;
    phi_content block;
    phi__truncate_mark(t, &marker, &block, words);
    return t->tokens + phi_tokens_of_message(t->counter, &marker);
}

/* Goes over the blocks until enough is gone. False: nothing to take, or less than a marker
   costs. */
static bool phi__truncate_plan(phi__truncation *t, uint64_t target_tokens) {
    uint64_t before = phi__truncate_before(t), now = before;
    size_t at;
    for (at = 0; at < t->last && now > target_tokens; at++) {
        phi__truncate_block *root = phi__truncate_root(t, at);
        if (at == t->marker || root->spared || root->goes) continue;
        root->goes = true;
        t->tokens -= root->tokens;
        t->removed += root->count;
        t->gone += root->count;
        now = phi__truncate_tokens(t);
    }
    return t->removed > 0 && now < before;
}

/* What goes, as spans; the first one leaves the marker. NULL: no memory. */
static phi_span *phi__truncate_spans(phi__truncation *t, const phi_message *marker,
                                     phi_arena *scratch, size_t *count) {
    const phi__fold *fold = &t->thread->fold;
    phi_span *spans = (phi_span *)phi__arena_zero(scratch, phi__mul(fold->count, sizeof *spans));
    size_t at, n = 0;
    bool open = false;
    for (at = 0; spans != NULL && at < fold->count; at++) {
        if (phi__truncate_stays(t, at)) {
            open = false;
            continue;
        }
        if (!open) spans[n++].from = fold->items[at].from;
        spans[n - 1].to = fold->items[at].to;
        open = true;
    }
    if (spans == NULL) return NULL;
    spans[0].messages = marker;
    spans[0].message_count = 1;
    *count = n;
    return spans;
}

static bool phi__truncate_do(phi__truncation *t, phi_str loop_id, uint32_t turn_index) {
    char words[PHI__TRUNCATE_WORDS], meta[48];
    phi_arena scratch;
    phi_rewrite rewrite;
    phi_message marker;
    phi_content block;
    bool done;
    phi__truncate_mark(t, &marker, &block, words);
    marker.timestamp_ms = phi__thread_now(t->thread);
    marker.loop_id = loop_id;
    marker.turn_index = turn_index;
    (void)snprintf(meta, sizeof meta, PHI__TRUNCATE_META "%llu}", (unsigned long long)t->gone);
    memset(&rewrite, 0, sizeof rewrite);
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.meta = meta;
    phi_arena_init(&scratch, t->thread->log.memory, 0);
    rewrite.spans = phi__truncate_spans(t, &marker, &scratch, &rewrite.span_count);
    done = rewrite.spans != NULL &&
           phi__rewrite_make(t->thread, &rewrite, loop_id, turn_index, NULL, NULL, 0) == PHI_OK;
    phi_arena_free(&scratch);
    return done;
}

static bool phi__truncate_blocks(phi__truncation *t) {
    phi_thread *thread = t->thread;
    const phi__fold *fold = &thread->fold;
    size_t *askers = phi__groups_make(thread->log.memory, fold), i;
    uint8_t *durable = NULL;
    bool done = askers != NULL && phi__groups_durable(thread->log.memory, fold, &durable);
    if (done) {
        for (i = 0; i < fold->count; i++) t->blocks[i].up = i;
        phi__truncate_look(t);
        phi__truncate_weigh(t, askers, durable);
    }
    phi__free(thread->log.memory, durable, durable != NULL ? fold->count : 0);
    phi__groups_free(thread->log.memory, fold->count, askers);
    return done;
}

PHI__FN bool phi__thread_truncate(phi_thread *thread, uint64_t target_tokens,
                                  const phi_token_counter *counter, phi_str loop_id,
                                  uint32_t turn_index, size_t *removed) {
    phi__truncation t;
    size_t bytes = phi__mul(phi__max(thread->fold.count, 1), sizeof *t.blocks);
    bool done;
    *removed = 0;
    memset(&t, 0, sizeof t);
    t.thread = thread;
    t.counter = counter;
    t.blocks = (phi__truncate_block *)phi__alloc(thread->log.memory, bytes);
    done = t.blocks != NULL && phi__truncate_blocks(&t);
    if (done && phi__truncate_plan(&t, target_tokens)) {
        done = phi__truncate_do(&t, loop_id, turn_index);
        if (done) *removed = (size_t)t.removed;
    }
    phi__free(thread->log.memory, t.blocks, t.blocks != NULL ? bytes : 0);
    return done;
}
