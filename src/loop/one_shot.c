/* one_shot.c - the end of a one-shot run.

   Such an agent exists for its one run, and afterwards only until its events are popped: it waits
   for that in a list of its own, so that a step need not check all agents. */
#include "loop/loop_in.h"

PHI__FN void phi__one_shot_make(phi__agent *agent) { agent->one_shot.is = true; }

PHI__FN bool phi__one_shot_is(const phi__agent *agent) { return agent->one_shot.is; }

PHI__FN void phi__one_shot_drop(phi__agent *agent) {
    phi__input_drop_kept(agent, "The run has ended, and no other will follow");
}

PHI__FN void phi__one_shot_over(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    /* retired: it goes anyway */
    if (!agent->one_shot.is || agent->slot == NULL || agent->one_shot.over) return;
    phi__one_shot_drop(agent);
    agent->one_shot.over = true;
    phi__list_push(&rt->one_shot_over, &agent->one_shot.link);
}

PHI__FN void phi__one_shot_forget(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (!agent->one_shot.over) return;
    agent->one_shot.over = false;
    phi__list_take(&rt->one_shot_over, &agent->one_shot.link);
}
