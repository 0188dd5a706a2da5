/* find_in.h - agents by their handles. */
#ifndef PHI_LOOP_FIND_IN_H
#define PHI_LOOP_FIND_IN_H

#include "loop/state_in.h"

PHI__FN phi__agent *phi__find_agent(phi_agent handle); /* NULL: stale */
/* PHI_OK, or PHI_BUSY during a run, with words that begin with `what`. */
PHI__FN phi_status phi__find_idle(phi__agent *agent, const char *what);

/* The agent that the host knows: of a hidden one, its parent. */
static inline phi_agent phi__find_seen(const phi__agent *agent) {
    bool hidden = agent->tree.hidden_fn != NULL && agent->tree.parent != NULL;
    return hidden ? agent->tree.parent->handle : agent->handle;
}

#endif
