/* config_queue.c - the jobs of agents and sub-agents, in the order in which they came. */
#include "config/config_agents_in.h"

#ifndef PHI_NO_CONFIG

/* ---- for other modules ---- */

PHI__FN phi__config_job *phi__config_queue_add(phi__config_maker *maker, const phi_json *node,
                                               uint32_t depth) {
    phi__config_job *job = (phi__config_job *)phi__arena_zero(maker->ground.arena, sizeof *job);
    if (job == NULL) return NULL;
    job->depth = depth;
    job->making.ground = &maker->ground;
    job->making.node = node;
    job->making.base = depth == 0 ? maker->whole.top.agent : NULL;
    job->making.is_child = depth > 0;
    job->making.desc = &job->desc;
    if (depth == 0 && maker->ground.desc.base != NULL) job->desc = *maker->ground.desc.base;
    if (maker->last != NULL)
        maker->last->next = job;
    else
        maker->first = job;
    maker->last = job;
    maker->job_count++;
    return job;
}

#endif
