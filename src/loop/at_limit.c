/* at_limit.c - what a run says that a memory limit has ended. */
#include "loop/loop_in.h"

#include <stdio.h>

static bool phi__at_limit_stops(const phi__agent *agent) {
    return agent->desc.memory.at_limit == PHI_AT_MEMORY_LIMIT_STOP;
}

static void phi__at_limit_fill(phi__limit_failure *at_limit) {
    memset(&at_limit->failure, 0, sizeof at_limit->failure);
    at_limit->failure.kind = PHI_FAILURE_NO_MEMORY;
    at_limit->failure.message = phi_str_of(at_limit->words);
    at_limit->failure.code = at_limit->failure.request_id = phi__str("", 0);
}

PHI__FN bool phi__at_limit_name(phi__agent *agent) {
    const char *what =
        phi__at_limit_stops(agent)
            ? "raise it, keep the thread in a store, or call phi_agent_replace_messages"
            : "this run needs more than the older turns had; raise it";
    if (agent->desc.memory.limit_bytes == 0) return true;
    agent->room.at_limit =
        (phi__limit_failure *)phi_arena_alloc(&agent->arena, sizeof *agent->room.at_limit);
    if (agent->room.at_limit == NULL) return false;
    (void)snprintf(agent->room.at_limit->words, sizeof agent->room.at_limit->words,
                   "Out of memory: the agent's memory.limit_bytes, %llu, are used up: %s",
                   (unsigned long long)agent->desc.memory.limit_bytes, what);
    phi__at_limit_fill(agent->room.at_limit);
    return true;
}

PHI__FN const phi_failure *phi__at_limit_of(const phi__agent *agent) {
    return agent->room.at_limit != NULL ? &agent->room.at_limit->failure : NULL;
}

PHI__FN void phi__at_limit_name_all(phi_runtime *rt) {
    (void)snprintf(
        rt->at_limit.words, sizeof rt->at_limit.words,
        "Out of memory: the runtime's memory_limit_bytes, %llu, are used up: raise it, or "
        "free agents or their histories",
        (unsigned long long)rt->memory.limit_bytes);
    phi__at_limit_fill(&rt->at_limit);
}
