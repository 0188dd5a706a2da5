/* buf.c - the growing buffer. */
#include "base/buf_in.h"

#include <stdarg.h>
#include <stdio.h>

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory) {
    memset(buf, 0, sizeof *buf);
    buf->memory = memory;
}

PHI__FN void phi__buf_free(phi__buf *buf) {
    phi__free(buf->memory, buf->at, buf->cap);
    phi__buf_init(buf, buf->memory);
}

PHI__FN void phi__buf_clear(phi__buf *buf) {
    buf->len = 0;
    buf->failed = false;
}

PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more) {
    if (buf->failed) return NULL;
    if (buf->at == NULL || more > buf->cap - buf->len) {
        size_t need = phi__add(buf->len, more);
        char *at = NULL;
        if (need != SIZE_MAX)
            at = (char *)phi__grow(buf->memory, buf->at, &buf->cap, phi__max(need, 64), 1);
        if (at == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->at = at;
    }
    return buf->at + buf->len;
}

PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len) {
    char *to = len > 0 ? phi__buf_reserve(buf, len) : NULL;
    if (to == NULL) return;
    memcpy(to, at, len);
    buf->len += len;
}

PHI__FN void phi__buf_text(phi__buf *buf, const char *text) {
    phi__buf_add(buf, text, strlen(text));
}

PHI__FN void phi__buf_char(phi__buf *buf, char c) {
    char *to = buf->len < buf->cap && !buf->failed ? buf->at + buf->len : phi__buf_reserve(buf, 1);
    if (to == NULL) return;
    *to = c;
    buf->len++;
}

PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    phi__buf_add(buf, digits + at, sizeof digits - at);
}

PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) {
    va_list args;
    int n;
    char *to;
    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    to = n < 0 ? NULL : phi__buf_reserve(buf, (size_t)n + 1);
    if (to == NULL) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    (void)vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    buf->len += (size_t)n;
}

PHI__FN void phi__buf_drop(phi__buf *buf, size_t n) {
    PHI_ASSERT(n <= buf->len);
    buf->len -= n;
    if (n > 0 && buf->len > 0) memmove(buf->at, buf->at + n, buf->len);
}
