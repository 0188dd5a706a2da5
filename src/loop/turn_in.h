/* turn_in.h - all states of a run and their outcomes; only turn.c knows them. */
#ifndef PHI_LOOP_TURN_IN_H
#define PHI_LOOP_TURN_IN_H

#include "loop/loop_in.h"
#include "io/io_in.h"
#include "loop/events_in.h"
#include "loop/run.h"
#include "model/failure.h"
#include "model/model.h"
#include "wire/wire_in.h"

PHI__FN void phi__attempt_init(phi__run *run);

/* It fails before it began: there is nothing to be retracted. */
PHI__FN void phi__attempt_none(phi__run *run);

/* Charges the cost so far, before the answer is discarded. Harmless without an attempt. */
PHI__FN void phi__attempt_charge(phi__run *run);
PHI__FN void phi__attempt_detach(phi__run *run); /* nothing calls the run any more */

/* Hides in a result of a tool what the turn's requests carried, and the agent's key. NULL: NULL. */
PHI__FN phi_message *phi__attempt_hide(phi__run *run, phi_message *result);
PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status);

/* Frees an attempt that has ended, or must not continue; harmless without one. */
PHI__FN void phi__attempt_drop(phi__run *run);

/* The delay before retry number `attempt` (from 1); random in [0, 1). */
PHI__FN uint32_t phi__retry_delay_ms(const phi_retry *retry, uint32_t attempt, double random);

/* Whether this failure of a model call is to be tried again, and after how long. */
PHI__FN bool phi__retry_wanted(const phi_retry *retry, const phi_failure *failure, uint32_t attempt,
                               double random, uint32_t *delay_ms);

#endif
