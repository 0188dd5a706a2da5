/* schedule_in.h - the scheduler: the list of ready runs, waking and cancelling runs.

   A run that waits is in no list; the event that ends its wait (a push, a result, a timer, a
   cancel) wakes it. */
#ifndef PHI_LOOP_SCHEDULE_IN_H
#define PHI_LOOP_SCHEDULE_IN_H

#include "base/list_in.h"
#include "io/io_in.h"
#include "io/transport.h"
#include "loop/types_in.h"

/* What ends a run early, or has ended it. */
typedef struct phi__early {
    bool cancelled, over;
    bool stopping;  /* ends when its turn is over */
    bool starved;   /* there was no memory for an input */
    phi_str reason; /* of phi_abort_run, the agent's own; at NULL: none */
} phi__early;

/* The place of a run in the list. */
typedef struct phi__ready {
    phi__link link; /* of rt->ready */
    bool in;
} phi__ready;

/* The clock, for values that are only shown to the host: a tape does not record the reading. */
PHI__FN uint64_t phi__schedule_look_us(const phi_runtime *rt);

PHI__FN void phi__schedule_wake(phi__run *run);
PHI__FN void phi__schedule_unready(phi__run *run); /* not in the list: harmless */
/* The run that was woken first, and out of the list; NULL: none is ready. */
PHI__FN phi__run *phi__schedule_next_ready(phi_runtime *rt);
PHI__FN bool phi__schedule_timer_set(phi__run *run, uint64_t at_us); /* wakes the run */

PHI__FN void phi__schedule_cancel(phi__run *run);
/* The runs of an agent and of those below it. after_turn: when their turns are over. */
PHI__FN void phi__schedule_cancel_tree(phi__agent *agent, bool after_turn);
/* What other threads see of an agent. */
PHI__FN void phi__schedule_publish_state(const phi__agent *agent, bool running);

#endif
