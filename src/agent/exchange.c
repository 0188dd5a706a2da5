/* exchange.c - replaces an agent's log by another, with the state that depends on it.

   The new log is made at the old one's address, and the old one is kept aside until nothing can
   fail: parts of a log point to that address, and the new log may be made of the old one's
   messages. Everything that points into a log is dropped with it: events, responses, a compaction
   at work, hidden agents. */
#include "agent/agent_in.h"

PHI__FN void phi__exchange_begin(phi__agent *agent, phi_thread *before) {
    phi__thread_move(before, agent->thread);
}

PHI__FN void phi__exchange_undo(phi__agent *agent, phi_thread *before) {
    phi__journal_close(agent->thread); /* its entries must not be stored */
    phi__journal_free_thread(agent->thread);
    phi__thread_move(agent->thread, before);
}

/* The host's compactor gets `end`, and may free the agent: as inside a step, which it must not
   begin, the agent stays until the end. */
PHI__FN bool phi__exchange_done(phi__agent *agent, phi_thread *before, bool copied) {
    phi_runtime *rt = agent->rt;
    bool inside = rt->in_step, there;
    rt->in_step = true;
    phi__events_purge(rt, agent);
    phi__responses_drop(agent);
    phi__feature_renewed(agent, copied ? &before->fold : NULL, false);
    phi__feature_agent(agent, PHI__POINT_LOG_LEAVES);
    phi__agent_end_drop_hidden(agent);
    if (before != NULL) phi__journal_free_thread(before);
    there = agent->slot != NULL;
    if (!inside) phi__agent_end_of_step(rt);
    return there;
}
