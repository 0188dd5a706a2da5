/* date_in.h - times as interchange formats write them: RFC 3339, "2026-01-01T00:00:00.250Z". */
#ifndef PHI_BASE_DATE_IN_H
#define PHI_BASE_DATE_IN_H

#include "base/base_in.h"

enum { PHI__DATE_BYTES = 25 }; /* the longest text, and its terminator */

/* Writes Unix time in milliseconds, terminated, in UTC, with three digits of fraction where there
   is one. Times outside of the years 0 to 9999 become the nearest inside. Returns the length. */
PHI__FN size_t phi__date_put(int64_t ms, char out[PHI__DATE_BYTES]);

/* Reads one, with any fraction (cut to milliseconds) and any offset. False: it is none, *ms is
   untouched. */
PHI__FN bool phi__date_get(phi_str text, int64_t *ms);

#endif
