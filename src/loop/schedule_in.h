/* schedule_in.h - the scheduler: the list of ready runs, waking and cancelling runs.

   A run that waits is in no list; the event that ends its wait (a push, a result, a timer, a
   cancel) wakes it. */
#ifndef PHI_LOOP_SCHEDULE_IN_H
#define PHI_LOOP_SCHEDULE_IN_H

#include "loop/loop_in.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "io/transport.h"

PHI__FN void phi__schedule_unready(phi__run *run); /* not in the list: harmless */

/* The run that was woken first, and out of the list; NULL: none is ready. */
PHI__FN phi__run *phi__schedule_next_ready(phi_runtime *rt);
PHI__FN bool phi__schedule_timer_set(phi__run *run, uint64_t at_us); /* wakes the run */

/* What other threads see of an agent. */
PHI__FN void phi__schedule_publish_state(const phi__agent *agent, bool running);

#endif
