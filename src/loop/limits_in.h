/* limits_in.h - limits.c for the other files of this room. */
#ifndef PHI_LOOP_LIMITS_IN_H
#define PHI_LOOP_LIMITS_IN_H

#include "loop/loop_in.h"

PHI__FN uint64_t phi__limits_less(uint64_t a, uint64_t b);
PHI__FN bool phi__limits_line_reserve(phi__run *run, const phi_spending *wanted, char *reason,
                                      size_t size);

#endif
