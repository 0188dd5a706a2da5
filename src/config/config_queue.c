/* config_queue.c - the jobs of agents and sub-agents, in the order in which they came. */
#include "config/config_agents_in.h"

#include "agent/agent_in.h"

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_queue_add(phi__config_maker *maker, const phi_json *node,
                                         const phi_json *from, uint32_t depth,
                                         phi__config_job **out) {
    phi__config_job *job;
    *out = NULL;
    if (maker->job_count >= PHI__CONFIG_JOBS_MOST || depth > PHI__CONFIG_DEPTH_MOST) {
        phi__config_words_error(&maker->ground, from, PHI_TOO_BIG, NULL,
                                "agents and their sub-agents: at most %d in all, and %d levels of "
                                "sub-agents",
                                PHI__CONFIG_JOBS_MOST, PHI__CONFIG_DEPTH_MOST);
        return PHI_TOO_BIG;
    }
    job = (phi__config_job *)phi__arena_zero(maker->ground.arena, sizeof *job);
    if (job == NULL) return PHI_NO_MEMORY;
    job->depth = depth;
    job->making.ground = &maker->ground;
    job->making.node = node;
    job->making.base = depth == 0 ? maker->whole.top.agent : NULL;
    job->making.is_child = depth > 0;
    job->making.desc = &job->desc;
    job->making.top = &job->desc;
    if (depth == 0 && maker->ground.desc.base != NULL)
        job->desc = phi__agent_make_merge(maker->ground.desc.base);
    if (maker->last != NULL)
        maker->last->next = job;
    else
        maker->first = job;
    maker->last = job;
    maker->job_count++;
    *out = job;
    return PHI_OK;
}
