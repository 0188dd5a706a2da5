/* find.c - finds agents by their handles. */
#include "loop/inner_in.h"

PHI__FN phi__agent *phi__find_agent(phi_agent handle) {
    phi__slot *slot =
        handle.rt != NULL ? phi__slots_find(&handle.rt->agents, handle.index, handle.gen) : NULL;
    return slot != NULL ? (phi__agent *)slot->object : NULL;
}

PHI__FN phi_status phi__find_idle(phi__agent *agent, const char *what) {
    const char *busy = agent->run != NULL ? "a run is going on" : agent->held;
    return busy == NULL ? PHI_OK : phi__error(agent->rt, PHI_BUSY, "%s: %s", what, busy);
}

PHI__FN bool phi__find_reader(const phi__agent *agent) {
    const phi__agent *child = agent->tree.first_child;
    for (; child != NULL; child = child->tree.next_child)
        if (child->tree.watch != NULL && child->tree.watch->reads) return true;
    return false;
}
