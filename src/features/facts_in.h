/* facts_in.h - the facts of a runtime and of its agents. */
#ifndef PHI_FEATURES_FACTS_IN_H
#define PHI_FEATURES_FACTS_IN_H

#include "features/order_in.h"
#include "features/features.h"
#include "features/fact_groups_in.h"
#include "loop/feature_in.h"

/* Frees a runtime's; none is harmless. */
/* PHI_OK, or PHI_UNSUPPORTED: the runtime has no facts. */
PHI__FN phi_status phi__facts_need(phi_runtime *rt);
PHI__FN void phi__facts_free(phi_runtime *rt);

PHI__FN phi__facts_own *phi__facts_of(const phi__agent *agent);
/* The facts that an agent knows, by key, as a list in the arena. False: no memory. */
PHI__FN bool phi__facts_known(phi__agent *agent, phi_arena *arena, const phi_fact **out,
                              size_t *count);

#endif
