/* buf_in.h - a growing buffer of bytes; after a failed allocation it stays failed.

   Appending to a failed buffer does nothing, so a writer checks `failed` once, at its end.
   What phi__buf_str returns is valid until the next append, take or free. */
#ifndef PHI_BASE_BUF_IN_H
#define PHI_BASE_BUF_IN_H

#include "base/base_in.h"

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
