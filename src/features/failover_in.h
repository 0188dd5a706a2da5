/* failover_in.h - an agent's list of models to go to, for the functions that make and change it.

   A runtime without the feature has no such list; each agent sits at its own model then. */
#ifndef PHI_FEATURES_FAILOVER_IN_H
#define PHI_FEATURES_FAILOVER_IN_H

#include "features/failover.h"
#include "features/features.h"
#include "features/order_in.h"
#include "loop/agent_desc.h"
#include "loop/feature_in.h"
#include "loop/state_in.h"

/* A list that was copied, and is not an agent's yet: phi__failover_put, or free the arena. */
typedef struct phi__failover_made {
    phi_arena arena;
    const struct phi__failover_list *list; /* NULL: none */
} phi__failover_made;

/* PHI_OK, or phi_last_error has words that begin with `what`. */
typedef phi_status (*phi__model_check_fn)(phi_runtime *rt, const char *what,
                                          const phi_provider *own, const phi_model *model);

/* Of rt->features.failover. */
typedef struct phi__failover_ops {
    /* The list of an agent with that provider and those tools: PHI_OK, or words. */
    phi_status (*check)(phi_runtime *rt, const phi_failover *failover, const phi_provider *own,
                        const phi_tool *tools, size_t tool_count, phi__model_check_fn model_check);
    bool (*make)(phi__agent *agent, const phi_failover *given, phi__failover_made *out);
    void (*put)(phi__agent *agent, const phi__failover_made *made);
    uint32_t (*leave)(phi__agent *agent);
    void (*back)(phi__agent *agent, uint32_t at);
    void (*own)(const phi__agent *agent, phi_agent_desc *out);
    bool (*inherit)(const phi__agent *agent, phi_arena *arena, phi_agent_desc *out);
} phi__failover_ops;

/* Copies a list in the agent's memory; NULL gives none. False: no memory, and nothing to free. */
static inline bool phi__failover_make(phi__agent *agent, const phi_failover *given,
                                      phi__failover_made *out) {
    memset(out, 0, sizeof *out);
    return agent->rt->features.failover == NULL ||
           agent->rt->features.failover->make(agent, given, out);
}

/* It takes the place of the agent's list; the agent sits at its own model. */
static inline void phi__failover_put(phi__agent *agent, const phi__failover_made *made) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->put(agent, made);
}

/* Seats the agent at its own model; returns where it sat, for phi__failover_back. */
static inline uint32_t phi__failover_leave(phi__agent *agent) {
    return agent->rt->features.failover != NULL ? agent->rt->features.failover->leave(agent) : 0;
}

static inline void phi__failover_back(phi__agent *agent, uint32_t at) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->back(agent, at);
}

/* Puts the agent's own model and settings in place of those of the model where it sits. */
static inline void phi__failover_own(const phi__agent *agent, phi_agent_desc *out) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->own(agent, out);
}

/* Of an agent below it, which begins at the model where this one sits: that model, and the list of
   those behind it, in the arena. False: no memory. */
static inline bool phi__failover_inherit(const phi__agent *agent, phi_arena *arena,
                                         phi_agent_desc *out) {
    return agent->rt->features.failover == NULL ||
           agent->rt->features.failover->inherit(agent, arena, out);
}

#endif
