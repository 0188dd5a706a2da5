/* clock_in.h - the system's clocks and random source. */
#ifndef PHI_IO_CLOCK_IN_H
#define PHI_IO_CLOCK_IN_H

#include "base/base_in.h"

PHI__FN uint64_t phi__clock_us(void);     /* monotonic, from any start */
PHI__FN int64_t phi__clock_wall_ms(void); /* Unix time */

/* Fills `out` from the kernel. Where no kernel source can be reached (no file descriptor left on a
   system without a call for it), from clocks and addresses: unique enough for ids, not secret. */
PHI__FN void phi__clock_random(void *out, size_t len);

#endif
