/* reserve_in.h - room in limits and budgets for a run's next model call. */
#ifndef PHI_LOOP_RESERVE_IN_H
#define PHI_LOOP_RESERVE_IN_H

#include "loop/types_in.h"

/* Reserves what the run's next model call may cost, with so many tokens of input more than are in
   view; its older reservation is given back first. False: there is no room, and `reason` says
   where. */
PHI__FN bool phi__reserve_call(phi__run *run, uint64_t more, char *reason, size_t size);
/* Pauses the run at a limit: then *wait, and the outcome is its state, which looks again when it is
   woken. RUN_ON: it may not pause, or has for long enough. Its caller ends the pause. */
PHI__FN phi__state phi__reserve_pause(phi__run *run, const char *reason, bool *wait);
/* The call of a turn that has begun fails, for that reason. */
PHI__FN phi__state phi__reserve_refuse(phi__run *run, const char *reason);

#endif
