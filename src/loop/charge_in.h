/* charge_in.h - what an attempt has cost is counted in its run, its agent and the budgets of all
   above. */
#ifndef PHI_LOOP_CHARGE_IN_H
#define PHI_LOOP_CHARGE_IN_H

#include "loop/types_in.h"
#include "model/message.h"

PHI__FN void phi__charge(phi__run *run, const phi_usage *usage);
/* Counts what an answer that will not be logged has cost so far; without one it is harmless. */
PHI__FN void phi__charge_open(phi__run *run);

#endif
