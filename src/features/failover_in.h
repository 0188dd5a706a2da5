/* failover_in.h - an agent's list of models to go to, for the functions that make and change it. */
#ifndef PHI_FEATURES_FAILOVER_IN_H
#define PHI_FEATURES_FAILOVER_IN_H

#include "features/failover.h"
#include "loop/agent_desc.h"
#include "loop/feature_in.h"

PHI__FN const phi__feature *phi__failover_feature(void);

/* A list that was copied, and is not an agent's yet: phi__failover_put, or free the arena. */
typedef struct phi__failover_made {
    phi_arena arena;
    const struct phi__failover_list *list; /* NULL: none */
} phi__failover_made;

/* Copies a list in the agent's memory; NULL gives none. False: no memory, and nothing to free. */
PHI__FN bool phi__failover_make(phi__agent *agent, const phi_failover *given,
                                phi__failover_made *out);
/* It takes the place of the agent's list; the agent sits at its own model. */
PHI__FN void phi__failover_put(phi__agent *agent, const phi__failover_made *made);

/* Seats the agent at its own model; returns where it sat, for phi__failover_back. */
PHI__FN uint32_t phi__failover_leave(phi__agent *agent);
PHI__FN void phi__failover_back(phi__agent *agent, uint32_t at);

/* Puts the agent's own model and settings in place of those of the model where it sits. */
PHI__FN void phi__failover_own(const phi__agent *agent, phi_agent_desc *out);

/* Of an agent below it, which begins at the model where this one sits: that model, and the list of
   those behind it, in the arena. False: no memory. */
PHI__FN bool phi__failover_inherit(const phi__agent *agent, phi_arena *arena, phi_agent_desc *out);

#endif
