/* truncate.c - takes the oldest part out of the projection, and puts a marker in its place.

   A group is an answer with its results, or any other message. What stays is the first user message,
   the newest one, and everything from the last group on; all other groups up to a point go. So one
   marker, at the place of the first message that went, stands for all that ever did. */
#include "thread/thread_in.h"

#include "model/tokens.h"

#include <stdio.h>

enum { PHI__TRUNCATE_WORDS = 96 }; /* the marker's, with twenty digits */

typedef struct phi__truncation {
    phi__thread *thread;
    size_t first, newest;   /* items: user messages that stay; SIZE_MAX: there is none */
    size_t last;            /* item that begins the last group */
    size_t stop;            /* all before it goes, but what stays; 0: nothing does */
    size_t marker;          /* of an earlier truncation, to be replaced; SIZE_MAX: there is none */
    uint64_t tokens;        /* without markers and what goes */
    uint64_t removed, gone; /* messages, now and all told */
} phi__truncation;

static phi__entry *phi__truncate_entry(const phi__item *item) {
    return PHI__OWNER(item->rendered, phi__entry, rendered);
}

static bool phi__truncate_is_marker(const phi__item *item) {
    return phi__truncate_entry(item)->kind == PHI__ENTRY_TRUNCATE;
}

/* Where the group that begins at an item ends: behind the last result that follows an answer, though
   extensions may stand between. */
static size_t phi__truncate_group_end(const phi__thread *thread, size_t at) {
    size_t end = at + 1, i;
    if (thread->items[at].message->role != PHI_ROLE_ASSISTANT) return end;
    for (i = end; i < thread->item_count; i++) {
        phi_role role = thread->items[i].message->role;
        if (role == PHI_ROLE_TOOL_RESULT)
            end = i + 1;
        else if (role != PHI_ROLE_EXTENSION)
            break;
    }
    return end;
}

/* Extensions at the end are no group to be kept for: no model sees them. */
static void phi__truncate_look(phi__truncation *t) {
    const phi__thread *thread = t->thread;
    size_t at;
    t->first = t->newest = t->marker = SIZE_MAX;
    t->last = t->stop = 0;
    t->tokens = thread->item_tokens;
    t->removed = t->gone = 0;
    for (at = 0; at < thread->item_count; at = phi__truncate_group_end(thread, at)) {
        const phi__item *item = &thread->items[at];
        if (phi__truncate_is_marker(item)) {
            t->marker = at;
            t->gone = phi__truncate_entry(item)->cut->gone;
            t->tokens -= phi_tokens_of_message(NULL, item->message);
            continue;
        }
        if (item->message->role != PHI_ROLE_EXTENSION) t->last = at;
        if (item->message->role != PHI_ROLE_USER) continue;
        if (t->first == SIZE_MAX) t->first = at;
        t->newest = at;
    }
}

static bool phi__truncate_stays(const phi__truncation *t, size_t at) {
    return at != t->marker && (at >= t->stop || at == t->first || at == t->newest);
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
    return t->tokens + phi_tokens_of_message(NULL, &marker);
}

/* Goes over the groups until enough is gone. False: nothing to take, or less than a marker costs. */
static bool phi__truncate_plan(phi__truncation *t, uint64_t target_tokens) {
    const phi__thread *thread = t->thread;
    uint64_t now = thread->item_tokens;
    size_t at, end;
    for (at = 0; at < t->last && now > target_tokens; at = end) {
        end = phi__truncate_group_end(thread, at);
        if (at == t->first || at == t->newest || at == t->marker) continue;
        for (t->stop = at; t->stop < end; t->stop++, t->removed++, t->gone++)
            t->tokens -= phi_tokens_of_message(NULL, thread->items[t->stop].message);
        now = phi__truncate_tokens(t);
    }
    return t->removed > 0 && now < thread->item_tokens;
}

static uint64_t phi__truncate_seq(const phi__truncation *t, size_t at) {
    return phi__truncate_entry(&t->thread->items[at])->seq;
}

/* The span, an earlier one included, and which message in it stays. */
static void phi__truncate_span(const phi__truncation *t, phi__entry *entry) {
    size_t from = 0;
    while (phi__truncate_stays(t, from)) from++;
    entry->cut->from_seq = phi__truncate_seq(t, from);
    entry->cut->to_seq = phi__truncate_seq(t, t->stop - 1);
    if (t->marker != SIZE_MAX) {
        const phi__entry *earlier = phi__truncate_entry(&t->thread->items[t->marker]);
        if (entry->cut->from_seq > earlier->cut->from_seq)
            entry->cut->from_seq = earlier->cut->from_seq;
        if (entry->cut->to_seq < earlier->cut->to_seq) entry->cut->to_seq = earlier->cut->to_seq;
    }
    entry->cut->spared = UINT64_MAX;
    if (t->newest != t->first && phi__truncate_seq(t, t->newest) <= entry->cut->to_seq &&
        phi__truncate_seq(t, t->newest) >= entry->cut->from_seq)
        entry->cut->spared = phi__truncate_seq(t, t->newest);
    entry->cut->gone = t->gone;
}

/* The marker takes the place of the first that goes; the rest moves up. */
static void phi__truncate_apply(const phi__truncation *t, phi__entry *entry) {
    phi__thread *thread = t->thread;
    size_t to = 0, at;
    bool marked = false;
    for (at = 0; at < thread->item_count; at++) {
        if (phi__truncate_stays(t, at)) {
            thread->items[to++] = thread->items[at];
            continue;
        }
        if (marked) continue;
        marked = true;
        thread->items[to].message = entry->message;
        thread->items[to].rendered = &entry->rendered;
        thread->items[to].arena = &thread->arena;
        thread->items[to].origin = 0;
        to++;
    }
    thread->item_count = to;
    thread->item_tokens = t->tokens + phi_tokens_of_message(NULL, entry->message);
}

PHI__FN bool phi__thread_truncate(phi__thread *thread, uint64_t target_tokens, int64_t at_ms,
                                  phi_str loop_id, uint32_t turn_index, size_t *removed) {
    char words[PHI__TRUNCATE_WORDS];
    phi_arena_mark mark = phi_arena_save(&thread->arena);
    phi__truncation t;
    phi__entry *entry;
    phi_message marker;
    phi_content block;
    *removed = 0;
    t.thread = thread;
    phi__truncate_look(&t);
    if (!phi__truncate_plan(&t, target_tokens)) return true;
    phi__truncate_mark(&t, &marker, &block, words);
    marker.timestamp_ms = at_ms;
    marker.loop_id = loop_id;
    marker.turn_index = turn_index;
    if (!phi__thread_reserve(thread, 1, 0)) return false;
    entry = (phi__entry *)phi__arena_zero(&thread->arena, sizeof *entry);
    if (entry != NULL) entry->cut = (phi__cut *)phi__arena_zero(&thread->arena, sizeof *entry->cut);
    if (entry == NULL || entry->cut == NULL) {
        phi_arena_reset(&thread->arena, mark);
        return false;
    }
    entry->message = phi__thread_keep(thread, &marker);
    if (entry->message == NULL) {
        phi_arena_reset(&thread->arena, mark);
        return false;
    }
    entry->kind = PHI__ENTRY_TRUNCATE;
    entry->at_ms = at_ms;
    entry->loop_id = entry->message->loop_id;
    entry->turn_index = turn_index;
    phi__truncate_span(&t, entry);
    phi__thread_attach(thread, entry, 1);
    phi__truncate_apply(&t, entry);
    *removed = (size_t)t.removed;
    return true;
}
