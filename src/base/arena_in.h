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

typedef struct phi__buf {
    phi_memory *memory; /* borrowed */
    char *at;
    size_t len, cap;
    bool failed; /* an append found no memory */
} phi__buf;

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory);
PHI__FN void phi__buf_free(phi__buf *buf);  /* as after init; twice is harmless */
PHI__FN void phi__buf_clear(phi__buf *buf); /* keeps its memory, forgets a failure */

/* Room for `more` bytes behind the end, or NULL and failed. The bytes count once phi__buf_add_len
   says how many were written. */
PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more);

static inline void phi__buf_add_len(phi__buf *buf, size_t len) { buf->len += len; }
PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len);
PHI__FN void phi__buf_text(phi__buf *buf, const char *text);
PHI__FN void phi__buf_char(phi__buf *buf, char c);
PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) PHI_PRINTF(2, 3);

/* Forgets the first n bytes. */
PHI__FN void phi__buf_drop(phi__buf *buf, size_t n);

static inline void phi__buf_add_str(phi__buf *buf, phi_str s) { phi__buf_add(buf, s.at, s.len); }

static inline phi_str phi__buf_str(const phi__buf *buf) { return phi__str(buf->at, buf->len); }

#endif
