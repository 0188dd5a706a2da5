/* bare.c - the end of a run over a thread that its agent was lent.

   Such an agent exists for its one run, and afterwards only for the events that nobody has popped:
   it waits for that in a list of its own, so that a step need not look at all agents. */
#include "loop/loop_in.h"

PHI__FN void phi__bare_make(phi__agent *agent) { agent->bare.is = true; }

PHI__FN bool phi__bare_is(const phi__agent *agent) { return agent->bare.is; }

PHI__FN void phi__bare_drop(phi__agent *agent) {
    phi__input_drop(agent, &agent->queues.steering, "The run has ended, and no other will follow");
    phi__input_drop(agent, &agent->queues.follow_ups,
                    "The run has ended, and no other will follow");
}

PHI__FN void phi__bare_over(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    /* doomed: it goes anyway */
    if (!agent->bare.is || agent->slot == NULL || agent->bare.over) return;
    phi__bare_drop(agent);
    agent->bare.over = true;
    agent->bare.next = NULL;
    agent->bare.prev = rt->bare_over.last;
    if (rt->bare_over.last != NULL)
        rt->bare_over.last->bare.next = agent;
    else
        rt->bare_over.first = agent;
    rt->bare_over.last = agent;
}

PHI__FN void phi__bare_forget(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (!agent->bare.over) return;
    agent->bare.over = false;
    if (agent->bare.prev != NULL)
        agent->bare.prev->bare.next = agent->bare.next;
    else
        rt->bare_over.first = agent->bare.next;
    if (agent->bare.next != NULL)
        agent->bare.next->bare.prev = agent->bare.prev;
    else
        rt->bare_over.last = agent->bare.prev;
}
