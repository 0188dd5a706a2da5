/* words.c - puts '?' in place of characters that a terminal would act on, as ls does. */
#include "base/words_in.h"

#include "base/utf8_in.h"

/* Length of the valid sequence at `at`, or 0. */
static size_t phi__words_sequence(const char *at, size_t left) {
    unsigned char lead = (unsigned char)*at;
    size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return n <= left && phi__utf8_valid(phi__str(at, n)) == n ? n : 0;
}

/* Controls of one byte; C1 (C2 80 to C2 9F); U+202A to U+202E, U+2066 to U+2069 (E2 80 AA.., E2 81
   A6..). */
static bool phi__words_bad(const char *at, size_t n) {
    unsigned char a = (unsigned char)at[0], b = n > 1 ? (unsigned char)at[1] : 0;
    unsigned char c = n > 2 ? (unsigned char)at[2] : 0;
    if (n == 1) return a < 0x20 || a == 0x7F;
    if (n == 2) return a == 0xC2 && b < 0xA0;
    return n == 3 && a == 0xE2 &&
           ((b == 0x80 && c >= 0xAA && c <= 0xAE) || (b == 0x81 && c >= 0xA6 && c <= 0xA9));
}

static size_t phi__words_put(char *at, size_t len, bool line) {
    size_t i = 0, out = 0, n;
    while (i < len) {
        bool stays = !line && (at[i] == '\n' || at[i] == '\t');
        if (!line && at[i] == '\r' && i + 1 < len && at[i + 1] == '\n') {
            i++;
            continue;
        }
        n = phi__words_sequence(at + i, len - i);
        if (n == 0 || (!stays && phi__words_bad(at + i, n))) {
            at[out++] = '?';
            i += n > 0 ? n : 1;
            continue;
        }
        memmove(at + out, at + i, n);
        out += n;
        i += n;
    }
    return out;
}

/* ---- for makers of messages ---- */

PHI__FN size_t phi__words_clean(char *at, size_t len) { return phi__words_put(at, len, false); }

PHI__FN size_t phi__words_clean_line(char *at, size_t len) { return phi__words_put(at, len, true); }
