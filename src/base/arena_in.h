/* arena_in.h - for our own modules: typed and copying forms of phi_arena_alloc. */
#ifndef PHI_BASE_ARENA_IN_H
#define PHI_BASE_ARENA_IN_H

#include "base/arena.h"
#include "base/base_in.h"

/* As phi_arena_alloc, zeroed. */
PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes);

/* As phi_arena_alloc, but of any alignment: for bytes. */
PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes);

/* Frees all memory handed out and keeps the blocks for later use; blocks that were kept before and
   not needed since are freed. For work that begins anew and is about as large as before: a turn
   after a turn. */
PHI__FN void phi__arena_rewind(phi_arena *arena);

/* Bytes of all its blocks. */
PHI__FN size_t phi__arena_taken(const phi_arena *arena);

/* Copies `s`, with a terminator that is not counted. False: no memory, *out untouched. */
PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out);

#endif
