/* arena.h - arenas: memory that is allocated piece by piece and freed as a whole.

   Blocks are chained and never move, so memory handed out stays where it is until the arena is
   reset past it or freed. Small requests share blocks that grow from first_block_bytes to 64 KiB; a
   request that would fill more than half of such a block gets its own block, of its exact size.
   Under AddressSanitizer, memory not handed out is poisoned.
   Threads: one at a time. */
#ifndef PHI_BASE_ARENA_H
#define PHI_BASE_ARENA_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct phi__block;

struct phi_arena {
    phi_memory *memory; /* borrowed until phi_arena_free */
    struct phi__block *shared, *own;
    struct phi__block *spare; /* taken before the last rewind and not used since */
    char *at, *end;           /* room left in the newest shared block */
    size_t first_block_bytes, next_block_bytes, most_block_bytes;
    bool rewound; /* keep blocks for later use, and round their sizes up for it */
};

/* A place to go back to. Valid until the arena is reset to an earlier mark or freed. */
typedef struct phi_arena_mark {
    struct phi__block *shared, *own;
    char *at;
} phi_arena_mark;

/* Takes no memory yet. `memory` is borrowed until phi_arena_free; NULL: the C library's, without a
   limit. first_block_bytes: 0 means 2048. */
PHI_API void phi_arena_init(phi_arena *arena, phi_memory *memory, size_t first_block_bytes);

/* Memory aligned for any type, not zeroed; NULL when the budget or the allocator says no, which
   changes nothing. Zero bytes give a valid pointer. */
PHI_API void *phi_arena_alloc(phi_arena *arena, size_t bytes);

/* The place up to which phi_arena_reset frees: valid until a reset to an earlier mark. */
PHI_API phi_arena_mark phi_arena_save(const phi_arena *arena);

/* Frees all that was handed out since the mark. */
PHI_API void phi_arena_reset(phi_arena *arena, phi_arena_mark mark);

/* Frees all; the arena is then as after init. Twice is harmless, and so is NULL. */
PHI_API void phi_arena_free(phi_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
