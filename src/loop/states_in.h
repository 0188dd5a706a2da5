/* states_in.h - the runs that are ready go on, from state to state. */
#ifndef PHI_LOOP_STATES_IN_H
#define PHI_LOOP_STATES_IN_H

#include "loop/types_in.h"

/* Each until it waits or is over, as far as the step's budget goes. */
PHI__FN void phi__runs_advance(phi_runtime *rt);

#endif
