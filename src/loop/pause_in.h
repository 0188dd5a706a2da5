/* pause_in.h - runs that wait at a limit or a budget for more. */
#ifndef PHI_LOOP_PAUSE_IN_H
#define PHI_LOOP_PAUSE_IN_H

#include "base/buf_in.h"
#include "loop/run.h"
#include "loop/types_in.h"

typedef struct phi__pause {
    bool on;
    bool over;             /* it has lasted long enough */
    phi__run *next, *prev; /* of those in rt->paused */
    phi__buf reason;
    phi_agent payer; /* whose limit or budget it is */
} phi__pause;

PHI__FN void phi__pause_init(phi__run *run);
PHI__FN void phi__pause_free(phi__run *run);
/* Whose limit or budget is reached: said before it begins. */
PHI__FN void phi__pause_of(phi__run *run, phi_agent payer);
/* Until at_us, in the list of those that pause. False: no memory, and it pauses all the same. */
PHI__FN bool phi__pause_begin(phi__run *run, const char *reason, uint64_t at_us);
PHI__FN void phi__pause_end(phi__run *run); /* not pausing: harmless */
PHI__FN bool phi__pause_on(const phi__run *run);
PHI__FN bool phi__pause_over(const phi__run *run);
/* For phi_pending, of one that pauses. */
PHI__FN void phi__pause_show(const phi__run *run, phi_pending_item *item);
/* All look again. */
PHI__FN void phi__pause_wake_all(phi_runtime *rt);

#endif
