/* segments.c - the memory of entries: a log grows in segments, each evicted as a whole. */
#include "log/log_in.h"

#ifndef PHI__SEGMENT_BYTES
#define PHI__SEGMENT_BYTES 16384 /* of a full segment; tests set it smaller, to evict more */
#endif

/* Of an agent with a memory limit, so many segments make up the limit. */
enum { PHI__SEGMENTS_IN_LIMIT = 16, PHI__SEGMENT_LEAST = 2048, PHI__SEGMENT_LARGEST = 16384 };

enum { PHI__SEGMENT_LATER = 4 }; /* blocks of a full segment are smaller by that */

/* ---- where entries live ---- */

/* Blocks of an agent with a limit do not grow: the unused rest of the last block counts there. */
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

/* Only renderings of its messages still go into the full segment, a few at a time. */
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

/* An eighth of the bytes may be left behind in the last block; one with four times the bytes, or
   twice where memory is limited, is full, however much is left there. */
static bool phi__segments_full(const phi__log *log) {
    const phi_arena *arena = &log->segments.current->arena;
    size_t bytes = phi__arena_taken(arena), full = log->segments.full_bytes;
    return bytes >= (log->segments.limit_bytes != 0 ? 2 : 4) * full ||
           (bytes >= full && (size_t)(arena->end - arena->at) <= full / 8);
}

PHI__FN bool phi__segments_roll(phi__log *log, phi_str *carried) {
    phi__segment *segment;
    if (!phi__segments_full(log)) return true;
    segment = phi__segments_new(log);
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

/* ---- the end ---- */

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

PHI__FN void phi__segments_unpin(phi__log *log) {
    phi__segment *segment = log->segments.others;
    log->segments.first.live = false;
    for (; segment != NULL; segment = segment->older) segment->live = false;
    phi__segments_pin(log->segments.current);
}

PHI__FN void phi__segments_take(phi__log *log, phi__log *from) {
    phi__segment **end = &log->segments.others;
    while (*end != NULL) end = &(*end)->older;
    *end = from->segments.others;
    from->segments.others = NULL;
}

PHI__FN void phi__segments_init(phi__log *log) {
    phi__segments_limit(log, 0);
    log->segments.current = &log->segments.first;
}

PHI__FN void phi__segments_free_all(phi__log *log) {
    phi__segment *segment;
    phi_arena_free(&log->segments.first.arena);
    while ((segment = log->segments.others) != NULL) {
        log->segments.others = segment->older;
        phi__segments_free(log, segment);
    }
}
