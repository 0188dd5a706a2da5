/* conclude_in.h - the end of an evaluation: its branches become lanes, and one of them the active
   lane. */
#ifndef PHI_EVALUATE_CONCLUDE_IN_H
#define PHI_EVALUATE_CONCLUDE_IN_H

#include "evaluate/evaluation_in.h"

/* Emits PHI_EV_PARALLEL_START. False: no memory. */
PHI__FN bool phi__conclude_emit_start(const phi__evaluation *e);
/* Ends an evaluation whose children run no longer. status PHI_OK: `selected` wins; else no branch
   does. What the branches did is in the log in any case, as far as memory goes. */
PHI__FN void phi__conclude(phi__evaluation *e, phi_status status, size_t selected);

#endif
