/* feature_in.h - the points of a run, and of its agent, at which features take part.

   A feature is a part that the loop can do without: compaction, request capture, cache statistics.
   It has one function, the points at which that is called, and the sizes of the state that it keeps
   beside each run and each agent: zeroed memory, reserved with the run's and the agent's own. All
   features that a runtime has are named by its desc, or are among those that all have; the loop
   knows features by rt->features alone: none of them by name. At each point the features that want
   it are called in their order.

   Outcomes: at a point of a run, PHI__RUN_ON calls the next feature, and after the last one the run
   continues. Anything else is the run's next state: no other feature is called. PHI__RUN_HELD: the
   feature holds the run; from then on PHI__POINT_HELD is the run's state function, until it returns
   the next state. At a point of an agent the outcome is PHI__RUN_ON, and moment->status is the
   failure.
   Threads: the pumping thread. */
#ifndef PHI_LOOP_FEATURE_IN_H
#define PHI_LOOP_FEATURE_IN_H

#include "loop/loop_in.h"
#include "base/base_in.h"
#include "history/history_in.h"
#include "loop/feature.h"
#include "loop/input.h"
#include "model/failure.h"
#include "text/json.h"

/* A run is about to begin, or goes on out of a snapshot: who takes part in it. */
PHI__FN void phi__feature_begin(phi__run *run);

/* Calls the features at a point of the run; returns the outcome. */
PHI__FN phi__state phi__feature_run(phi__run *run, phi__point point);

/* The same about a tool call. */
PHI__FN phi__state phi__feature_call(phi__toolcall *call, phi__point point);

/* The state HELD: what its holder makes of it; and as which state it is saved. */
PHI__FN phi__state phi__feature_held(phi__run *run, bool *wait);

#endif
