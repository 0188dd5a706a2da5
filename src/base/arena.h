/* arena.h - arenas: memory is allocated piece by piece and freed as a whole.

   Blocks are chained and never move. So allocated memory stays in place until the arena is freed or
   reset to an earlier mark. Small requests share blocks, whose sizes grow from first_block_bytes to
   64 KiB. A request that would fill more than half of such a block gets a block of its exact size.
   Under AddressSanitizer, memory of the arena that is not allocated is poisoned.
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
    struct phi__block *spare; /* allocated before the last rewind and not used since */
    char *at, *end;           /* room left in the newest shared block */
    size_t first_block_bytes, next_block_bytes, most_block_bytes;
    bool rewound; /* keep blocks for later use, and round up their sizes */
};

/* A mark for phi_arena_reset. Valid until the arena is reset to an earlier mark or freed. */
typedef struct phi_arena_mark {
    struct phi__block *shared, *own;
    char *at;
} phi_arena_mark;

/* Prepares an arena without allocating. `memory` is borrowed until phi_arena_free; NULL: the C
   library's memory, without a limit. first_block_bytes: 0 means 2048. */
PHI_API void phi_arena_init(phi_arena *arena, phi_memory *memory, size_t first_block_bytes);

/* Returns memory that is aligned for any type and not zeroed. Returns NULL if the budget or the
   allocator refuses; then nothing changed. For zero bytes the pointer is valid. */
PHI_API void *phi_arena_alloc(phi_arena *arena, size_t bytes);

/* Returns a mark of the current place, for phi_arena_reset. */
PHI_API phi_arena_mark phi_arena_save(const phi_arena *arena);

/* Frees all memory that was allocated since the mark. */
PHI_API void phi_arena_reset(phi_arena *arena, phi_arena_mark mark);

/* Frees all memory; the arena is then as after phi_arena_init. It may be called twice, and with
   NULL. */
PHI_API void phi_arena_free(phi_arena *arena);

#ifdef __cplusplus
}
#endif
#endif
