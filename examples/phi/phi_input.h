/* phi_input.h - what is piped into the command, as text. Copy what you need of it. */
#ifndef PHI_INPUT_H
#define PHI_INPUT_H

#include "phi_text.h"
#include "../typed.h"

#include <errno.h>

enum { INPUT_BYTES = 16 << 20, INPUT_WAIT_MS = 3000 };

/* As read; it waits for input that the program which began this one has made not to wait. */
static inline ptrdiff_t input_part(char *part, size_t size) {
    ptrdiff_t got;
    while ((got = typed_read(part, size)) < 0 && (errno == EAGAIN || errno == EINTR))
        (void)typed_waits(-1);
    return got;
}

/* Adds standard input to a text that may have a question already. After a question, a pipe to which nobody has written for
   INPUT_WAIT_MS is left alone, unless `waits`. A descriptor that is not open for reading is no input: nohup
   leaves such a one. NULL, or what is wrong; *late: nothing came. */
static inline const char *input_read(text *to, bool waits, bool *late) {
    char part[4096];
    ptrdiff_t got = 0;
    size_t before = to->len;
    *late = before > 0 && !waits && !typed_waits(INPUT_WAIT_MS);
    if (*late) return NULL;
    text_say(to, before > 0 ? "\n\n" : "");
    before = to->len;
    while (to->len < INPUT_BYTES && (got = input_part(part, sizeof part)) > 0)
        text_add(to, part, (size_t)got);
    if (got < 0 && errno != EBADF) return strerror(errno);
    if (got > 0) return "longer than 16 MiB";
    if (to->at != NULL && memchr(to->at, 0, to->len)) return "no text";
    if (to->len == before && before > 0) text_remove(to, before - 2, 2);
    return NULL;
}

#endif
