/* typed.h - lines that somebody types, without waiting for them. Copy what you need of it. */
#ifndef TYPED_H
#define TYPED_H

#ifdef _WIN32
#include "typed_windows.h"
#else
#include "typed_posix.h"
#endif

/* Zero to begin with. */
typedef struct typed {
    char bytes[4096];
    size_t len;
    bool ended;
} typed;

/* The next line, without its end: 1; there is none yet: 0; nor will there be: -1. A NUL is a '?': no line ends early. */
static inline int typed_line(typed *t, char *out, size_t size) {
    for (;;) {
        const char *end = (const char *)memchr(t->bytes, '\n', t->len);
        size_t n = end != NULL ? (size_t)(end - t->bytes) : t->len;
        ptrdiff_t got;
        if (end != NULL || t->len == sizeof t->bytes || (t->ended && t->len > 0)) {
            size_t fits = n < size ? n : size - 1, gone = n + (end != NULL ? 1 : 0);
            memcpy(out, t->bytes, fits);
            for (n = 0; n < fits; n++)
                if (out[n] == '\0') out[n] = '?';
            out[fits] = '\0';
            t->len -= gone;
            memmove(t->bytes, t->bytes + gone, t->len);
            return 1;
        }
        if (t->ended) return -1;
        if (!typed_waits(0)) return 0;
        got = typed_read(t->bytes + t->len, sizeof t->bytes - t->len);
        if (got < 0 && errno == EINTR) return 0;
        if (got <= 0)
            t->ended = true;
        else
            t->len += (size_t)got;
    }
}

#endif
