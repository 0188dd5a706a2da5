/* agent_info.c - what an agent is, has and waits for, for the host. */
#include "agent/agent_in.h"
#include "persist/journal_in.h"
#include "agent/agent.h"
#include "agent/agent_info.h"

static void phi__agent_info_ids(const phi__agent *agent, phi_agent_info *info) {
    const phi__journal *journal = agent->thread->journal;
    info->agent_id = agent->agent_id;
    info->session_id = agent->line.session->id;
    info->model_id = phi_str_of(agent->desc.model.id);
    if (journal != NULL) info->thread_id = phi__str(journal->id, journal->id_len);
    if (agent->line.last_loop_id.at != NULL) info->loop_id = agent->line.last_loop_id;
}

static void phi__agent_info_queues(const phi__agent *agent, phi_agent_info *info) {
    info->steering = agent->queues.steering.count;
    info->follow_ups = agent->queues.follow_ups.count;
    info->injected = agent->queues.injected.count;
    info->queued = info->steering + info->follow_ups + info->injected;
}

/* In doubles: the sum of three counts may not fit. */
static double phi__agent_info_hit_rate(const phi_usage *usage) {
    double read = (double)usage->cache_read;
    double all = (double)usage->input + read + (double)usage->cache_write;
    return all > 0 ? read / all : 0;
}

PHI_API phi_agent_info phi_agent_get_info(phi_agent handle) {
    const phi__agent *agent = phi__find_agent(handle);
    phi_agent_info info;
    memset(&info, 0, sizeof info);
    info.agent_id = info.session_id = info.thread_id = info.model_id = info.loop_id =
        info.deferred_op_id = phi__str("", 0);
    if (agent == NULL) return info;
    phi__agent_info_ids(agent, &info);
    phi__agent_info_queues(agent, &info);
    info.running = agent->run != NULL;
    phi__pending_of(agent, &info.waiting);
    info.usage = agent->spent.usage;
    info.cost = agent->spent.cost;
    info.cache_hit_rate = phi__agent_info_hit_rate(&info.usage);
    info.run_usage = agent->spent.run_usage;
    info.run_cost = agent->spent.run_cost;
    info.spending = agent->budget.seen;
    if (agent->projected != NULL) info.projection = agent->projected->last;
    if (agent->rt->features.deferred_fn != NULL)
        info.deferred_op_id = agent->rt->features.deferred_fn(agent);
    if (agent->rt->features.cache_stats_fn != NULL)
        agent->rt->features.cache_stats_fn(agent, &info.cache);
    info.memory_used = agent->memory.used_bytes;
    info.memory_peak = agent->memory.peak_bytes;
    return info;
}
