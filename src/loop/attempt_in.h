/* attempt_in.h - an attempt: a model call, tried once. What all states of it need; what becomes of
   one that has ended is in attempt_end.c. */
#ifndef PHI_LOOP_ATTEMPT_IN_H
#define PHI_LOOP_ATTEMPT_IN_H

#include "loop/types_in.h"
#include "model/failure.h"

/* How an attempt ends, for a state to return: PHI__RUN_ENDED, or PHI__RUN_LOST. Failed: it is
   copied into the thread, without the secrets that the requests carried. */
PHI__FN phi__state phi__attempt_whole(phi__run *run);
PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status);
/* MESSAGE_START, unless it is out; and RETRACT, where it was. False: no memory. */
PHI__FN bool phi__attempt_tell_start(phi__run *run);
PHI__FN bool phi__attempt_retract(phi__run *run);
/* Lets go of an attempt that has ended, or is not to go on; none is harmless. */
PHI__FN void phi__attempt_drop(phi__run *run);
/* The same where the answer is not wanted: it is charged, and what was told of it stays as it was
   told. */
PHI__FN void phi__attempt_abandon(phi__run *run);
PHI__FN void phi__run_rewind(phi__run *run); /* the turn's memory, and what points into it */

/* attempt_end.c: what becomes of one that has ended: run->fault, or NULL. */
PHI__FN phi__state phi__attempt_end(phi__run *run);
/* The same where run->fault is for good, and there may be no attempt any more. */
PHI__FN phi__state phi__attempt_give_up(phi__run *run);

#endif
