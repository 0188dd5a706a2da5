/* charge_in.h - what an attempt has cost is counted in its run, its agent and the budgets of all
   above. */
#ifndef PHI_LOOP_CHARGE_IN_H
#define PHI_LOOP_CHARGE_IN_H

#include "loop/types_in.h"
#include "model/message.h"

typedef struct phi__spent {
    phi_usage usage, turn;
    double cost;
} phi__spent;

PHI__FN uint64_t phi__charge_tokens(const phi_usage *usage);
PHI__FN const phi__spent *phi__charge_of(const phi__run *run);
PHI__FN void phi__charge_clear(phi__run *run);                        /* a turn begins */
PHI__FN void phi__charge_turn(phi__run *run, const phi_usage *usage); /* the answer that counts */
PHI__FN void phi__charge(phi__run *run, const phi_usage *usage);

#endif
