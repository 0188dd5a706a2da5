/* figures.h - phi_thread_describe's figures of a lane. */
#ifndef PHI_TESTS_SUPPORT_FIGURES_H
#define PHI_TESTS_SUPPORT_FIGURES_H

#include "persist/introspect.h"
#include "log/log_in.h"

/* After entry upto; UINT64_MAX: now. */
static inline phi_status lane_figures(const phi_thread *thread, const char *lane, uint64_t upto,
                                      phi_lane_figures *out) {
    phi_describe what = PHI_ZERO;
    what.lane = lane;
    what.before = upto == UINT64_MAX ? 0 : upto + 1;
    return phi_thread_describe(thread, &what, NULL, NULL, out);
}

#endif
