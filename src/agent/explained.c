/* explained.c - sets an agent's policy, and explains what it (or the active request's own policy)
   sends, as text and in figures. */
#include "agent/agent_in.h"

#include <stdio.h>

#ifndef PHI_NO_EXPLAIN
static phi_status phi__explained_all(const phi__agent *agent, phi_arena *arena, phi_str *out) {
    char words[120];
    (void)snprintf(words, sizeof words, "no policy: all of %llu messages, %llu tokens\n",
                   (unsigned long long)agent->thread->fold.count,
                   (unsigned long long)phi__projection_view_tokens(agent));
    return phi__arena_str(arena, phi_str_of(words), out) ? PHI_OK : PHI_NO_MEMORY;
}
#endif

/* ---- public ---- */

PHI_API phi_status phi_agent_set_policy(phi_agent handle, const phi_policy *policy) {
    phi__agent *agent = phi__find_agent(handle);
    const char *fault = policy != NULL ? phi__policy_fault(policy) : NULL;
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    status = phi__find_idle(agent, "phi_agent_set_policy");
    if (status != PHI_OK) return status;
    if (fault != NULL) return phi__error(handle.rt, PHI_BAD_ARG, "%s", fault);
    return phi__agent_take_policy(agent, policy, NULL)
               ? PHI_OK
               : phi__error(handle.rt, PHI_NO_MEMORY, "phi_agent_set_policy: out of memory");
}

PHI_API phi_status phi_agent_explain(phi_agent handle, phi_arena *arena, phi_str *out) {
#ifndef PHI_NO_EXPLAIN
    phi__agent *agent = phi__find_agent(handle);
    phi__project_order order;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    return phi__projection_order_of(agent, &order) ? phi__explain(&order, arena, out)
                                                   : phi__explained_all(agent, arena, out);
#else
    (void)arena;
    (void)out;
    return handle.rt == NULL ? PHI_BAD_ARG : PHI_UNSUPPORTED;
#endif
}

PHI_API phi_projection_meta phi_agent_projection(phi_agent handle) {
    const phi__agent *agent = phi__find_agent(handle);
    phi_projection_meta none;
    memset(&none, 0, sizeof none);
    return agent != NULL && agent->projected != NULL ? agent->projected->last : none;
}
