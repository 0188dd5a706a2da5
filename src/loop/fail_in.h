/* fail_in.h - how a run fails: told once, and why, also where memory ran out. */
#ifndef PHI_LOOP_FAIL_IN_H
#define PHI_LOOP_FAIL_IN_H

#include "loop/types_in.h"
#include "model/failure.h"

/* How often the limits of an agent and of its runtime have said no. */
typedef struct phi__refusals {
    uint64_t own, all;
} phi__refusals;
PHI__FN phi__refusals phi__refusals_of(const phi__agent *agent);

/* failure: in the thread, or static. */
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);
/* What PHI__RUN_LOST comes to: all that the run holds of its turn is let go of. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);
PHI__FN const phi_failure *phi__run_limit_failure(const phi__agent *agent,
                                                  const phi__refusals *since);

#endif
