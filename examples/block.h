/* block.h - an allocator over one fixed block: first fit, and freed neighbours merge. Copy it if
   you need one.

   A program on a console or a small board gives phi such a block, and phi never asks the system
   for more. */
#ifndef BLOCK_H
#define BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The header before each part of the block. Its size keeps every part aligned for any type. */
typedef union block_part {
    struct {
        size_t bytes; /* of the memory after this header */
        bool used;
    } is;
    long double aligned;
    void *aligned_too;
} block_part;

typedef struct block {
    block_part *parts;
    size_t bytes, highest; /* the size, and the highest offset that was ever in use */
} block;

static block_part *block_next(const block *b, block_part *part) {
    char *next = (char *)(part + 1) + part->is.bytes;
    return next < (char *)b->parts + b->bytes ? (block_part *)(void *)next : NULL;
}

/* `memory` is aligned as malloc's, and `bytes` is a multiple of sizeof(block_part). */
static void block_init(block *b, void *memory, size_t bytes) {
    b->parts = (block_part *)memory;
    b->bytes = bytes;
    b->highest = 0;
    b->parts->is.bytes = bytes - sizeof(block_part);
    b->parts->is.used = false;
}

static void *block_take(block *b, size_t bytes) {
    block_part *part, *next;
    bytes = (bytes + sizeof *part - 1) / sizeof *part * sizeof *part;
    for (part = b->parts; part != NULL; part = next) {
        while ((next = block_next(b, part)) != NULL && !part->is.used && !next->is.used)
            part->is.bytes += sizeof *next + next->is.bytes;
        if (part->is.used || part->is.bytes < bytes) continue;
        if (part->is.bytes > bytes) { /* the rest has room for a header at least */
            block_part *rest = part + 1 + bytes / sizeof *part;
            rest->is.bytes = part->is.bytes - bytes - sizeof *rest;
            rest->is.used = false;
            part->is.bytes = bytes;
        }
        part->is.used = true;
        size_t end = (size_t)((char *)(part + 1) - (char *)b->parts) + bytes;
        if (end > b->highest) b->highest = end;
        return part + 1;
    }
    return NULL;
}

/* phi_allocator.realloc_fn; user_data is the block. */
static void *block_realloc(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes) {
    block_part *part = ptr != NULL ? (block_part *)ptr - 1 : NULL;
    void *moved = ptr;
    if (new_bytes > 0 && (part == NULL || part->is.bytes < new_bytes)) {
        moved = block_take((block *)user_data, new_bytes);
        if (moved == NULL) return NULL; /* ptr is as it was */
        if (part != NULL) memcpy(moved, ptr, old_bytes);
    }
    if (part != NULL && (new_bytes == 0 || moved != ptr)) part->is.used = false;
    return new_bytes > 0 ? moved : NULL;
}

#endif
