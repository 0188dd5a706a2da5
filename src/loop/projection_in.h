/* projection_in.h - the messages to send in a model call, by the effective policy, and their likely
   tokens. */
#ifndef PHI_LOOP_PROJECTION_IN_H
#define PHI_LOOP_PROJECTION_IN_H

#include "loop/loop_in.h"
#include "history/history_in.h"
#include "wire/wire_in.h"

/* Computes the messages of this turn's model call, unless that was done, and emits warnings. False:
   *next is the run's next state. */
PHI__FN bool phi__projection_ensure(phi__run *run, phi__state *next);

/* The policy that holds now: that of the active run, or the agent's. NULL: none. */
PHI__FN const phi_policy *phi__projection_policy(const phi__agent *agent);

/* A policy of the run's own, copied. NULL: none. False: no memory. */
PHI__FN bool phi__projection_take_policy(phi__run *run, const phi_policy *policy);

/* The messages that the policy chose; NULL: the whole view. */
PHI__FN const phi__item *phi__projection_list(const phi__run *run, size_t *count);

#endif
