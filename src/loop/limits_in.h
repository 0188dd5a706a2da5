/* limits_in.h - the spending of a run: limits, budgets, charges for its attempts, and its pause at
   a limit. */
#ifndef PHI_LOOP_LIMITS_IN_H
#define PHI_LOOP_LIMITS_IN_H

#include "loop/loop_in.h"
#include "base/base_in.h"
#include "loop/run.h"
#include "model/message.h"

PHI__FN uint64_t phi__charge_tokens(const phi_usage *usage);
PHI__FN void phi__charge_clear(phi__run *run); /* a turn begins */

/* the answer that counts */
PHI__FN void phi__charge_turn(phi__run *run, const phi_usage *usage);
PHI__FN void phi__charge(phi__run *run, const phi_usage *usage);
PHI__FN void phi__pause_init(phi__run *run);
PHI__FN void phi__pause_free(phi__run *run);
PHI__FN bool phi__pause_on(const phi__run *run);

/* For phi_pending, of a paused run. */
PHI__FN void phi__pause_show(const phi__run *run, phi_pending_item *item);
PHI__FN void phi__budget_release(phi__run *run); /* the reservation; harmless without */

/* The call of a turn that has begun fails, for that reason. */
PHI__FN phi__state phi__reserve_refuse(phi__run *run, const char *reason);

#endif
