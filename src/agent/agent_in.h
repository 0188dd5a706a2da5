/* agent_in.h - for runtime.c: taking agents apart. */
#ifndef PHI_AGENT_AGENT_IN_H
#define PHI_AGENT_AGENT_IN_H

#include "agent/agent.h"
#include "loop/loop_in.h"

/* Takes an agent out of every table: its handle is stale, nothing calls or wakes it. Its memory goes
   with phi__agent_destroy, at the end of the step. */
PHI__FN void phi__agent_doom(phi__agent *agent);
PHI__FN void phi__agent_destroy(phi__agent *agent);
PHI__FN void phi__step_end(phi_runtime *rt);

#endif
