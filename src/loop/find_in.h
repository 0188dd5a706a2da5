/* find_in.h - agents by their handles. */
#ifndef PHI_LOOP_FIND_IN_H
#define PHI_LOOP_FIND_IN_H

#include "loop/state_in.h"

PHI__FN phi__agent *phi__find_agent(phi_agent handle); /* NULL: stale */
/* PHI_OK, or PHI_BUSY during a run or while the agent is held, with words that begin with
   `what`. */
PHI__FN phi_status phi__find_idle(phi__agent *agent, const char *what);

/* Keeps prompts and changes from an agent that a room above works on, outside of a run: they answer
   PHI_BUSY and quote `what` (static: "an evaluation is going on"). NULL: no longer. */
static inline void phi__find_hold(phi__agent *agent, const char *what) { agent->held = what; }

static inline bool phi__find_hidden(const phi__agent *agent) {
    return agent->tree.watch != NULL && agent->tree.watch->hidden;
}

/* The agent that the host knows: of a hidden one, the nearest above it that is not. */
static inline phi_agent phi__find_seen(const phi__agent *agent) {
    while (phi__find_hidden(agent) && agent->tree.parent != NULL) agent = agent->tree.parent;
    return agent->handle;
}

/* Whether a watcher of a child points into the log of the agent. */
PHI__FN bool phi__find_reader(const phi__agent *agent);

#endif
