/* utf8_in.h - checking, cutting and repairing UTF-8. */
#ifndef PHI_BASE_UTF8_IN_H
#define PHI_BASE_UTF8_IN_H

#include "base/arena_in.h"
#include "base/base_in.h"

/* Bytes of the longest valid prefix; s.len when all of it is valid. */
PHI__FN size_t phi__utf8_valid(phi_str s);

/* The greatest length up to `most` that does not end inside a sequence of valid text. */
PHI__FN size_t phi__utf8_cut(phi_str s, size_t most);

/* Where no valid sequence begins at `at` (before end): how many bytes become one U+FFFD. It is the
   maximal subpart of a sequence, as of the WHATWG's decoder: the longest beginning of one, else a
   single byte. */
PHI__FN size_t phi__utf8_bad(const char *at, const char *end);

/* Appends s, each maximal subpart that is not valid UTF-8 as U+FFFD. */
PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s);

/* Writes a code point (a surrogate or one past U+10FFFF becomes U+FFFD); 1 to 4 bytes. */
PHI__FN size_t phi__utf8_put(char out[4], uint32_t code);

enum { PHI__DATE_BYTES = 25 }; /* the longest text, and its terminator */

/* Writes Unix time in milliseconds, terminated, in UTC, with three digits of fraction where there
   is one. Times outside of the years 0 to 9999 become the nearest inside. Returns the length. */
PHI__FN size_t phi__date_put(int64_t ms, char out[PHI__DATE_BYTES]);

/* Reads one, with any fraction (cut to milliseconds) and any offset. False: it is none, *ms is
   untouched. */
PHI__FN bool phi__date_get(phi_str text, int64_t *ms);

#endif
