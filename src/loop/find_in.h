/* find_in.h - agents by their handles. */
#ifndef PHI_LOOP_FIND_IN_H
#define PHI_LOOP_FIND_IN_H

#include "loop/loop_in.h"
#include "loop/state_in.h"

/* Whether a watcher of a child points into the log of the agent. */
PHI__FN bool phi__find_reader(const phi__agent *agent);

#endif
