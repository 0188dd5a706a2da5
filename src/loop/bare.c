/* bare.c - the end of a run over a thread that its agent was lent.

   Such an agent exists for its one run, and afterwards only for the events that nobody has popped: it
   waits for that in a list of its own, so that a step need not look at all agents. */
#include "loop/loop_in.h"

PHI__FN void phi__bare_drop(phi__agent *agent) {
    phi__input_drop(agent, &agent->steering, "The run has ended, and no other will follow");
    phi__input_drop(agent, &agent->follow_ups, "The run has ended, and no other will follow");
}

PHI__FN void phi__bare_over(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (!agent->bare || agent->slot == NULL || agent->bare_over)
        return; /* doomed: it goes anyway */
    phi__bare_drop(agent);
    agent->bare_over = true;
    agent->next_over = NULL;
    agent->prev_over = rt->bare_over_last;
    if (rt->bare_over_last != NULL)
        rt->bare_over_last->next_over = agent;
    else
        rt->bare_over = agent;
    rt->bare_over_last = agent;
}

PHI__FN void phi__bare_forget(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (!agent->bare_over) return;
    agent->bare_over = false;
    if (agent->prev_over != NULL)
        agent->prev_over->next_over = agent->next_over;
    else
        rt->bare_over = agent->next_over;
    if (agent->next_over != NULL)
        agent->next_over->prev_over = agent->prev_over;
    else
        rt->bare_over_last = agent->prev_over;
}
