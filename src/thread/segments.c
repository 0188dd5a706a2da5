/* segments.c - where entries live, and how they leave memory and come back.

   A log grows into segments. Of one that is in a store, segments to which no view points are freed as a whole, and
   their entries are away: `entries` and `messages` have gaps then, and seq and ordinals say what stands where. Who needs
   what is away has all of it read back. Nothing that is in memory moves, in either direction. */
#include "thread/about_in.h"
#include "thread/entry_in.h"
#include "thread/journal_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

#ifndef PHI__SEGMENT_BYTES
#define PHI__SEGMENT_BYTES                                                                         \
    16384 /* one that has fewer is not full; tests have it smaller, so that more leaves */
#endif

/* Of an agent with a memory limit, so many segments make up the limit. */
enum { PHI__SEGMENTS_IN_LIMIT = 16, PHI__SEGMENT_LEAST = 2048, PHI__SEGMENT_LARGEST = 16384 };

enum { PHI__SEGMENT_LATER = 4 }; /* blocks of a full segment are smaller by that */

/* ---- where entries live ---- */

PHI__FN phi_arena *phi__thread_room(phi_thread *thread) { return &thread->log.current->arena; }

/* Blocks of an agent with a limit do not grow: what is left over of the last one counts there. */
static void phi__segment_arena(const phi_thread *thread, phi_arena *arena) {
    bool limited = thread->log.limit_bytes != 0;
    phi_arena_init(arena, thread->log.memory, limited ? thread->log.segment_bytes / 2 : 0);
    if (limited) arena->most_block_bytes = thread->log.segment_bytes / 2;
}

PHI__FN void phi__thread_limit(phi_thread *thread, size_t limit_bytes) {
    size_t bytes = phi__max(limit_bytes / PHI__SEGMENTS_IN_LIMIT, PHI__SEGMENT_LEAST);
    thread->log.limit_bytes = limit_bytes;
    thread->log.segment_bytes =
        limit_bytes != 0 ? phi__min(bytes, PHI__SEGMENT_LARGEST) : PHI__SEGMENT_BYTES;
    phi__segment_arena(thread, &thread->log.first.arena);
}

PHI__FN size_t phi__thread_bytes(const phi_thread *thread) {
    const phi__segment *segment = thread->log.segments;
    size_t bytes = phi__arena_taken(&thread->log.first.arena);
    for (; segment != NULL; segment = segment->older)
        bytes += sizeof *segment + phi__arena_taken(&segment->arena);
    return bytes + phi__about_bytes(thread) +
           (thread->log.cap + thread->messages.cap) * sizeof *thread->log.entries +
           thread->fold.cap * sizeof *thread->fold.items + thread->ids.cap * sizeof(uint64_t) +
           thread->ops.cap * sizeof *thread->ops.table +
           thread->loops.cap * sizeof *thread->loops.at +
           thread->undo.fold.cap * sizeof *thread->undo.fold.items;
}

static phi__segment *phi__segment_new(phi_thread *thread) {
    phi__segment *segment = (phi__segment *)phi__alloc(thread->log.memory, sizeof *segment);
    if (segment != NULL) phi__segment_arena(thread, &segment->arena);
    return segment;
}

/* What still goes into the one that is left are renderings of its messages, a few at a time. */
static void phi__segment_begin(phi_thread *thread, phi__segment *segment) {
    phi_arena *full = &thread->log.current->arena;
    full->most_block_bytes = thread->log.segment_bytes / PHI__SEGMENT_LATER;
    full->next_block_bytes = phi__min(full->next_block_bytes, full->most_block_bytes);
    segment->older = thread->log.segments;
    thread->log.segments = thread->log.current = segment;
}

static void phi__segment_free(phi_thread *thread, phi__segment *segment) {
    phi_arena_free(&segment->arena);
    phi__free(thread->log.memory, segment, sizeof *segment);
}

/* An eighth of the bytes may be left behind in the last block; one with four times the bytes, or twice where memory is
   limited, is full, however much is left there. */
static bool phi__segment_full(const phi_thread *thread) {
    const phi_arena *arena = &thread->log.current->arena;
    size_t bytes = phi__arena_taken(arena), full = thread->log.segment_bytes;
    return bytes >= (thread->log.limit_bytes != 0 ? 2 : 4) * full ||
           (bytes >= full && (size_t)(arena->end - arena->at) <= full / 8);
}

PHI__FN bool phi__thread_roll(phi_thread *thread, phi_str *carried) {
    phi__segment *segment;
    if (!phi__segment_full(thread)) return true;
    segment = phi__segment_new(thread);
    if (segment == NULL) return false;
    if (carried != NULL && carried->len > 0 &&
        !phi__arena_str(&segment->arena, *carried, carried)) {
        phi__segment_free(thread, segment);
        return false;
    }
    phi__segment_begin(thread, segment);
    return true;
}

/* ---- what stands where ---- */

PHI__FN phi__entry *phi__thread_at(const phi_thread *thread, uint64_t seq) {
    size_t from = 0, to = thread->log.held;
    if (seq >= thread->log.count || seq < thread->log.base) return NULL;
    if (phi__thread_whole(thread)) return thread->log.entries[seq - thread->log.base];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (thread->log.entries[middle]->seq < seq)
            from = middle + 1;
        else
            to = middle;
    }
    return from < thread->log.held && thread->log.entries[from]->seq == seq
               ? thread->log.entries[from]
               : NULL;
}

PHI__FN phi__entry *phi__thread_message(const phi_thread *thread, size_t i) {
    size_t from = 0, to = thread->messages.held;
    if (i >= thread->messages.count) return NULL;
    if (thread->messages.held == thread->messages.count) return thread->messages.at[i];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (thread->messages.at[middle]->ordinal < i)
            from = middle + 1;
        else
            to = middle;
    }
    return from < thread->messages.held && thread->messages.at[from]->ordinal == i
               ? thread->messages.at[from]
               : NULL;
}

/* ---- leaving ---- */

PHI__FN void phi__thread_left(phi_thread *thread) {
    thread->log.left = true;
    if (thread->journal != NULL) phi__journal_list(thread, PHI__JOURNAL_LEAVES);
}

PHI__FN void phi__thread_pin(phi__segment *segment) {
    if (segment != NULL) segment->live = true;
}

PHI__FN bool phi__thread_shed_begin(phi_thread *thread) {
    phi__segment *segment = thread->log.segments;
    size_t i;
    if (!thread->log.left || thread->journal == NULL || thread->journal->stored < thread->log.count)
        return false;
    for (thread->log.first.live = false; segment != NULL; segment = segment->older)
        segment->live = false;
    phi__thread_pin(thread->log.current);
    if (thread->loops.started != NULL) phi__thread_pin(thread->loops.started->segment);
    for (i = 0; i < thread->fold.count; i++)
        phi__thread_pin(PHI__OWNER(thread->fold.items[i].arena, phi__segment, arena));
    for (i = 0; i < thread->undo.fold.count; i++)
        phi__thread_pin(PHI__OWNER(thread->undo.fold.items[i].arena, phi__segment, arena));
    return true;
}

/* Of a rewrite that leaves, whether its id could be given again: not one that phi made of its place in the log. */
static bool phi__segment_keeps_id(const phi__op *op) {
    char made[32];
    (void)snprintf(made, sizeof made, PHI__OP_MADE, (unsigned long long)op->seq);
    return !op->segment->live && strcmp(op->rewrite.op_id, made) != 0;
}

/* The ids of rewrites that leave are known on. False: no memory. */
static bool phi__segment_note_ops(phi_thread *thread) {
    const phi__op *op;
    size_t n = 0;
    for (op = thread->ops.last; op != NULL; op = op->earlier) n += phi__segment_keeps_id(op);
    if (!phi__hashes_room(thread->log.memory, &thread->ops.away, n)) return false;
    for (op = thread->ops.last; op != NULL; op = op->earlier)
        if (phi__segment_keeps_id(op)) phi__hashes_add(&thread->ops.away, op->id_hash);
    return true;
}

static bool phi__segment_claim(phi_thread *thread) {
    size_t i, j, k;
    for (i = 0; i < thread->log.held; i++) {
        const phi__entry *entry = thread->log.entries[i];
        const phi_rewrite *r;
        if (entry->kind == PHI_ENTRY_MESSAGE && !phi__thread_claim_calls(thread, entry->message))
            return false;
        if (entry->kind != PHI_ENTRY_REWRITE) continue;
        r = &entry->of.op->rewrite;
        for (j = 0; j < r->span_count; j++)
            for (k = 0; k < r->spans[j].message_count; k++)
                if (!phi__thread_claim_calls(thread, &r->spans[j].messages[k])) return false;
    }
    return true;
}

/* Where memory is limited, tool call ids are told apart as far as the log is in memory. Without memory for that the old
   list stays. */
static void phi__segment_shed_ids(phi_thread *thread) {
    phi__hashes before = thread->ids;
    if (thread->log.limit_bytes == 0) return;
    memset(&thread->ids, 0, sizeof thread->ids);
    if (phi__segment_claim(thread)) {
        phi__hashes_free(thread->log.memory, &before);
        return;
    }
    phi__hashes_free(thread->log.memory, &thread->ids);
    thread->ids = before;
}

static size_t phi__segment_keep(phi__entry **entries, size_t count) {
    size_t i, n = 0;
    for (i = 0; i < count; i++)
        if (entries[i]->segment->live) entries[n++] = entries[i];
    return n;
}

/* Gives back room that is not likely to be needed again. */
static phi__entry **phi__segment_shrink(phi_memory *memory, phi__entry **entries, size_t count,
                                        size_t *cap) {
    size_t fewer = phi__max(count * 2, 16);
    void *smaller;
    if (*cap / 2 < fewer) return entries;
    smaller = phi__realloc(memory, entries, *cap * sizeof *entries, fewer * sizeof *entries);
    if (smaller == NULL) return entries;
    *cap = fewer;
    return (phi__entry **)smaller;
}

static void phi__segment_drop_dead(phi_thread *thread) {
    phi__segment **at = &thread->log.segments, *segment;
    while ((segment = *at) != NULL) {
        if (segment->live) {
            at = &segment->older;
            continue;
        }
        *at = segment->older;
        phi__segment_free(thread, segment);
    }
    if (!thread->log.first.live) phi_arena_free(&thread->log.first.arena);
}

PHI__FN void phi__thread_shed_end(phi_thread *thread) {
    if (!phi__segment_note_ops(thread)) return; /* another time */
    thread->log.left = false;
    thread->log.held = phi__segment_keep(thread->log.entries, thread->log.held);
    thread->messages.held = phi__segment_keep(thread->messages.at, thread->messages.held);
    (void)phi__thread_index_ops(thread); /* of fewer it cannot fail */
    phi__thread_shed_loops(thread);
    phi__segment_shed_ids(thread);
    thread->log.entries = phi__segment_shrink(thread->log.memory, thread->log.entries,
                                              thread->log.held, &thread->log.cap);
    thread->messages.at = phi__segment_shrink(thread->log.memory, thread->messages.at,
                                              thread->messages.held, &thread->messages.cap);
    phi__segment_drop_dead(thread);
}

/* ---- coming back ---- */

typedef struct phi__recalling {
    phi__entry_reader reader;
    uint64_t end;
} phi__recalling;

static phi_status phi__recall_each(void *ctx, uint64_t seq, phi_str entry) {
    phi__recalling *recalling = (phi__recalling *)ctx;
    return seq < recalling->end ? phi__entry_read(&recalling->reader, entry) : PHI_OK;
}

/* Whether what is in memory is what the store has in its place: else somebody has put another log there. */
static bool phi__recall_fits(const phi_thread *thread, const phi_thread *whole) {
    size_t i;
    for (i = 0; i < thread->log.held && thread->log.entries[i]->seq < whole->log.count; i++) {
        const phi__entry *ours = thread->log.entries[i];
        const phi__entry *theirs = whole->log.entries[ours->seq - whole->log.base];
        if (ours->kind != theirs->kind || ours->at_ms != theirs->at_ms ||
            ours->ordinal != theirs->ordinal)
            return false;
    }
    return true;
}

/* The log as the store has it. */
static phi_status phi__recall_read(const phi_thread *thread, phi_thread *whole) {
    const phi__journal *journal = thread->journal;
    phi__recalling recalling;
    phi_status status;
    phi__segment *segment;
    phi__thread_init(whole, thread->log.memory, thread->log.io);
    segment = phi__segment_new(whole); /* one that can be handed over */
    if (segment == NULL) return PHI_NO_MEMORY;
    phi__segment_begin(whole, segment);
    recalling.end = journal->stored - thread->log.base;
    status = phi__load_begin(whole);
    if (status != PHI_OK) return status;
    phi__entry_reader_init(&recalling.reader, whole);
    status = journal->store.read(journal->store.user_data, journal->id, 0, phi__recall_each,
                                 &recalling, NULL, NULL, 0);
    phi__entry_reader_free(&recalling.reader);
    if (status == PHI_OK) status = phi__load_end(whole);
    if (status == PHI_OK &&
        (whole->log.count != journal->stored || whole->log.base != thread->log.base ||
         !phi__recall_fits(thread, whole)))
        status = PHI_PARSE;
    return status;
}

/* What is in memory stays as it is; what is away comes from the other. */
static phi__entry **phi__recall_merge(const phi_thread *thread, const phi_thread *whole) {
    size_t n = thread->log.count - thread->log.base, at = 0, i;
    phi__entry **list = (phi__entry **)phi__alloc(thread->log.memory, phi__mul(n, sizeof *list));
    for (i = 0; list != NULL && i < n; i++)
        list[i] = at < thread->log.held && thread->log.entries[at]->seq == thread->log.base + i
                      ? thread->log.entries[at++]
                      : whole->log.entries[i];
    return list;
}

/* Those that were undone by an entry which the store did not have yet are undone here, too. */
static void phi__recall_revoked(phi_thread *thread) {
    const phi__op *op;
    phi__op *target;
    for (op = thread->ops.last; op != NULL; op = op->earlier) {
        if (op->rewrite.revoke == NULL) continue;
        target = phi__thread_find_op(thread, phi_str_of(op->rewrite.revoke));
        if (target == NULL) continue;
        target->revoked = true;
        target->revoked_at = op->seq;
    }
}

/* Behind the current one, which stays that. */
static void phi__recall_segments(phi_thread *thread, phi_thread *whole) {
    phi__segment **end = &thread->log.segments;
    while (*end != NULL) end = &(*end)->older;
    *end = whole->log.segments;
    whole->log.segments = NULL;
}

static bool phi__recall_take(phi_thread *thread, phi_thread *whole) {
    phi__entry **before = thread->log.entries, **list = phi__recall_merge(thread, whole);
    size_t held = thread->log.held, cap = thread->log.cap;
    bool done;
    if (list == NULL) return false;
    thread->log.entries = list;
    thread->log.held = thread->log.cap = thread->log.count - thread->log.base;
    done = phi__thread_index_ops(thread) && phi__lane_messages(thread, thread->lanes.active);
    if (!done) {
        thread->log.entries = before;
        thread->log.held = held;
        thread->log.cap = cap;
        (void)phi__thread_index_ops(thread);
        phi__free(thread->log.memory, list, (thread->log.count - thread->log.base) * sizeof *list);
        return false;
    }
    phi__free(thread->log.memory, before, cap * sizeof *before);
    phi__hashes_free(thread->log.memory, &thread->ops.away);
    phi__recall_revoked(thread);
    phi__thread_roll_back_again(thread);
    phi__recall_segments(thread, whole);
    return true;
}

PHI__FN phi_status phi__thread_recall(const phi_thread *reading) {
    phi_thread *thread = (phi_thread *)(uintptr_t)reading, whole;
    phi_status status;
    if (phi__thread_whole(thread)) return PHI_OK;
    status = phi__recall_read(thread, &whole);
    if (status == PHI_OK && !phi__recall_take(thread, &whole)) status = PHI_NO_MEMORY;
    phi__thread_free(&whole);
    return status;
}

PHI__FN const phi_message *phi__thread_said(const phi_thread *thread, size_t i,
                                            phi_status *status) {
    *status = PHI_OK;
    if (i >= thread->messages.count) return NULL;
    if (phi__thread_message(thread, i) == NULL) *status = phi__thread_recall(thread);
    return *status == PHI_OK ? phi__thread_message(thread, i)->message : NULL;
}

/* ---- hashes ---- */

static size_t phi__hashes_place(const uint64_t *at, size_t cap, uint64_t hash) {
    size_t i = (size_t)hash & (cap - 1);
    while (at[i] != 0 && at[i] != hash) i = (i + 1) & (cap - 1);
    return i;
}

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more) {
    size_t cap = phi__max(set->cap, 16), i;
    uint64_t *at;
    while (cap / 2 < phi__add(set->count, more)) {
        if (cap > SIZE_MAX / 2) return false;
        cap *= 2;
    }
    if (cap == set->cap || more == 0) return true;
    at = (uint64_t *)phi__alloc(memory, phi__mul(cap, sizeof *at));
    if (at == NULL) return false;
    for (i = 0; i < set->cap; i++)
        if (set->at[i] != 0) at[phi__hashes_place(at, cap, set->at[i])] = set->at[i];
    phi__free(memory, set->at, set->cap * sizeof *set->at);
    set->at = at;
    set->cap = cap;
    return true;
}

static uint64_t phi__hashes_filled(uint64_t hash) { return hash != 0 ? hash : 1; }

PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash) {
    hash = phi__hashes_filled(hash);
    return set->cap > 0 && set->at[phi__hashes_place(set->at, set->cap, hash)] == hash;
}

PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash) {
    size_t i;
    hash = phi__hashes_filled(hash);
    i = phi__hashes_place(set->at, set->cap, hash);
    set->count += set->at[i] == 0;
    set->at[i] = hash;
}

PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set) {
    phi__free(memory, set->at, set->cap * sizeof *set->at);
    memset(set, 0, sizeof *set);
}
