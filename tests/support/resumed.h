/* resumed.h - goes on with an evaluation after a restore. */
#ifndef PHI_TESTS_SUPPORT_RESUMED_H
#define PHI_TESTS_SUPPORT_RESUMED_H

#include "orchestrate/evaluate.h"

static inline phi_status evaluate_resume(phi_agent agent, const phi_evaluate_desc *desc) {
    phi_evaluate_desc again = PHI_ZERO;
    if (desc == NULL) return phi_evaluate(agent, NULL);
    again = *desc;
    again.resume = true;
    return phi_evaluate(agent, &again);
}

#endif
