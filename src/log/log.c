/* log.c - a log's entries by seq, their memory, and lists of logs. */
#include "log/thread_in.h"

/* ---- lists of the logs that a step must store or evict ---- */

/* A log in a store adds itself to one list when it grows, and to another when an entry leaves the
   view. So a step need not check all logs. A log in no store only tests a pointer. */

PHI__FN void phi__dirty_add(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why) {
    if (dirty == NULL || grown == NULL || dirty->listed[why]) return;
    dirty->listed[why] = true;
    phi__list_push(&grown->of[why], &dirty->links[why]);
}

PHI__FN void phi__dirty_remove(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why) {
    if (dirty == NULL || grown == NULL || !dirty->listed[why]) return;
    dirty->listed[why] = false;
    phi__list_take(&grown->of[why], &dirty->links[why]);
}

PHI__FN phi__dirty *phi__dirty_next(phi__grown *grown, phi__dirty_why why) {
    phi__link *first = grown->of[why].first;
    phi__dirty *dirty = first != NULL ? PHI__OWNER(first - why, phi__dirty, links) : NULL;
    phi__dirty_remove(grown, dirty, why);
    return dirty;
}

/* ---- a set of hashes of ids ---- */

static size_t phi__hashes_place(const uint64_t *at, size_t cap, uint64_t hash) {
    size_t i = (size_t)hash & (cap - 1);
    while (at[i] != 0 && at[i] != hash) i = (i + 1) & (cap - 1);
    return i;
}

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more) {
    size_t cap = phi__max(set->cap, 16);
    while (cap / 2 < phi__add(set->count, more)) {
        if (cap > SIZE_MAX / 2) return false;
        cap *= 2;
    }
    if (cap == set->cap || more == 0) return true;
    uint64_t *at = (uint64_t *)phi__alloc(memory, phi__mul(cap, sizeof *at));
    if (at == NULL) return false;
    for (size_t i = 0; i < set->cap; i++)
        if (set->at[i] != 0) at[phi__hashes_place(at, cap, set->at[i])] = set->at[i];
    phi__free(memory, set->at, set->cap * sizeof *set->at);
    set->at = at;
    set->cap = cap;
    return true;
}

PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash) {
    hash = phi__hash_filled(hash);
    return set->cap > 0 && set->at[phi__hashes_place(set->at, set->cap, hash)] == hash;
}

PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash) {
    hash = phi__hash_filled(hash);
    size_t i = phi__hashes_place(set->at, set->cap, hash);
    set->count += set->at[i] == 0;
    set->at[i] = hash;
}

PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set) {
    phi__free(memory, set->at, set->cap * sizeof *set->at);
    memset(set, 0, sizeof *set);
}

/* ---- the memory of entries: segments, each evicted as a whole ---- */

#ifndef PHI__SEGMENT_BYTES
#define PHI__SEGMENT_BYTES 16384 /* bytes of a full segment; smaller in tests, to evict more */
#endif

/* With a memory limit, a full segment has limit / PHI__SEGMENTS_IN_LIMIT bytes, within these
   bounds. */
enum { PHI__SEGMENTS_IN_LIMIT = 16, PHI__SEGMENT_LEAST = 2048, PHI__SEGMENT_LARGEST = 16384 };

enum { PHI__SEGMENT_LATER = 4 }; /* later blocks of a full segment are smaller by this factor */

/* With a memory limit, blocks do not grow, because the unused rest of the last block counts. */
static void phi__segments_arena(const phi__log *log, phi_arena *arena) {
    bool limited = log->segments.limit_bytes != 0;
    phi_arena_init(arena, log->memory, limited ? log->segments.full_bytes / 2 : 0);
    if (limited) arena->most_block_bytes = log->segments.full_bytes / 2;
}

PHI__FN void phi__segments_limit(phi__log *log, size_t limit_bytes) {
    size_t bytes = phi__max(limit_bytes / PHI__SEGMENTS_IN_LIMIT, PHI__SEGMENT_LEAST);
    log->segments.limit_bytes = limit_bytes;
    log->segments.full_bytes =
        limit_bytes != 0 ? phi__min(bytes, PHI__SEGMENT_LARGEST) : PHI__SEGMENT_BYTES;
    phi__segments_arena(log, &log->segments.first.arena);
}

PHI__FN size_t phi__segments_bytes(const phi__log *log) {
    const phi__segment *segment = log->segments.others;
    size_t bytes = phi__arena_taken(&log->segments.first.arena);
    for (; segment != NULL; segment = segment->older)
        bytes += sizeof *segment + phi__arena_taken(&segment->arena);
    return bytes;
}

static phi__segment *phi__segments_new(phi__log *log) {
    phi__segment *segment = (phi__segment *)phi__alloc(log->memory, sizeof *segment);
    if (segment != NULL) phi__segments_arena(log, &segment->arena);
    return segment;
}

/* A full segment gets only renderings of its messages, so its new blocks are small. */
static void phi__segments_begin(phi__log *log, phi__segment *segment) {
    phi_arena *full = &log->segments.current->arena;
    full->most_block_bytes = log->segments.full_bytes / PHI__SEGMENT_LATER;
    full->next_block_bytes = phi__min(full->next_block_bytes, full->most_block_bytes);
    segment->older = log->segments.others;
    log->segments.others = log->segments.current = segment;
}

static void phi__segments_free(phi__log *log, phi__segment *segment) {
    phi_arena_free(&segment->arena);
    phi__free(log->memory, segment, sizeof *segment);
}

PHI__FN bool phi__segments_roll(phi__log *log, phi_str *carried) {
    /* A segment is full if it has the bytes of a full segment, and at most an eighth of these bytes
       is unused in its last block. A segment with four times these bytes (twice with a memory
       limit) is full in any case. */
    const phi_arena *arena = &log->segments.current->arena;
    size_t bytes = phi__arena_taken(arena), full = log->segments.full_bytes;
    if (bytes < (log->segments.limit_bytes != 0 ? 2 : 4) * full &&
        (bytes < full || (size_t)(arena->end - arena->at) > full / 8))
        return true;
    phi__segment *segment = phi__segments_new(log);
    if (segment == NULL) return false;
    if (carried != NULL && carried->len > 0 &&
        !phi__arena_str(&segment->arena, *carried, carried)) {
        phi__segments_free(log, segment);
        return false;
    }
    phi__segments_begin(log, segment);
    return true;
}

PHI__FN bool phi__segments_open(phi__log *log) {
    phi__segment *segment = phi__segments_new(log);
    if (segment != NULL) phi__segments_begin(log, segment);
    return segment != NULL;
}

PHI__FN void phi__segments_pin(phi__segment *segment) {
    if (segment != NULL) segment->live = true;
}

PHI__FN void phi__segments_drop_dead(phi__log *log) {
    phi__segment **at = &log->segments.others, *segment;
    while ((segment = *at) != NULL) {
        if (segment->live) {
            at = &segment->older;
            continue;
        }
        *at = segment->older;
        phi__segments_free(log, segment);
    }
    if (!log->segments.first.live) phi_arena_free(&log->segments.first.arena);
}

/* ---- entries in memory by seq ---- */

PHI__FN void phi__log_init(phi__log *log, phi_memory *memory, phi__io *io) {
    memset(log, 0, sizeof *log);
    log->memory = memory;
    log->io = io;
    phi__segments_limit(log, 0);
    log->segments.current = &log->segments.first;
}

PHI__FN void phi__log_free_all(phi__log *log) {
    phi__free(log->memory, log->entries, log->cap * sizeof *log->entries);
    phi__segment *segment;
    phi_arena_free(&log->segments.first.arena);
    while ((segment = log->segments.others) != NULL) {
        log->segments.others = segment->older;
        phi__segments_free(log, segment);
    }
}

PHI__FN phi__entry *phi__log_at(const phi__log *log, uint64_t seq) {
    size_t from = 0, to = log->held;
    if (seq >= log->count || seq < log->base) return NULL;
    if (log->held + log->base == log->count) return log->entries[seq - log->base];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (log->entries[middle]->seq < seq)
            from = middle + 1;
        else
            to = middle;
    }
    return from < log->held && log->entries[from]->seq == seq ? log->entries[from] : NULL;
}

PHI__FN bool phi__log_reserve(phi__log *log, size_t n) {
    void *grown = phi__grow(log->memory, log->entries, &log->cap, phi__add(log->held, n),
                            sizeof *log->entries);
    if (grown != NULL) log->entries = (phi__entry **)grown;
    return grown != NULL;
}

PHI__FN void phi__log_set_time(phi__log *log, phi__entry *entry, int64_t at_ms) {
    entry->at_ms = at_ms;
    if (log->made_ms == 0) log->made_ms = at_ms;
    log->changed_ms = at_ms;
}

PHI__FN void phi__log_add(phi__log *log, phi__entry *entry) {
    entry->seq = log->count++;
    entry->segment = log->segments.current;
    log->entries[log->held++] = entry;
    phi__log_set_time(log, entry, entry->at_ms);
}

PHI__FN void phi__log_grew(phi__log *log) {
    phi__dirty_add(log->grown, log->dirty, PHI__DIRTY_GREW);
}

PHI__FN void phi__log_left(phi__log *log) {
    log->left = true;
    phi__dirty_add(log->grown, log->dirty, PHI__DIRTY_LEAVES);
}
