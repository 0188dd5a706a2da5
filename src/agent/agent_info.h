/* agent_info.h - facts about an agent: ids, queues, usage, memory, and what it waits for. */
#ifndef PHI_AGENT_AGENT_INFO_H
#define PHI_AGENT_AGENT_INFO_H

#include "agent/agent.h"
#include "features/caching.h"
#include "log/policy.h"
#include "loop/hook.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Facts about an agent. The agent owns the strings. They are valid until the agent is freed, with
   these exceptions: the session, thread and model ids are valid until they change, the loop id
   until the next run, and the rewrite's id and the strings in `waiting` until the next phi_step. */
typedef struct phi_agent_info {
    phi_str agent_id, session_id;
    phi_str thread_id; /* empty: the thread is in no store */
    phi_str model_id;
    phi_str loop_id; /* id of the run that began last; empty: no run has begun */
    /* True from phi_prompt until AGENT_END is queued. If an AFTER_LOOP hook delays the end, true
       until that hook is decided. */
    bool running;
    /* The first item that phi_pending lists for the agent, or else the model's answer. If kind is
       PHI_WAITING_NOTHING, all fields but agent, loop_id and turn_index are zero. */
    phi_pending_item waiting;
    /* The number of messages in each queue, and their sum in `queued`. Not counted: messages that a
       run has taken for its next turn, and posted texts that no phi_step has read yet. */
    size_t steering, follow_ups, injected, queued;
    phi_str deferred_op_id; /* the op_id of the deferred rewrite; empty: there is none */
    /* Tokens, and dollars by the model's rates. usage and cost are the sums of all runs; run_usage
       and run_cost belong to the active run, or else to the last run. Failed attempts are included
       if the provider reported their usage. usage and cost also include the models that wrote
       summaries for the agent. */
    phi_usage usage;
    double cost;
    /* cache_read as a part of all input in `usage`, from 0 to 1; 0 without input */
    double cache_hit_rate;
    phi_usage run_usage;
    double run_cost;
    /* of this agent and of all agents below it; phi_spending says when requests are counted */
    phi_spending spending;
    /* figures of the last model call's projection, before hooks; zero if that call had no policy */
    phi_projection_meta projection;
    phi_cache_stats cache;           /* over all runs; zero without phi_feature_cache_stats */
    size_t memory_used, memory_peak; /* bytes of this agent: now, and the most so far */
} phi_agent_info;

/* Returns facts about an agent; for a stale agent all fields are zero or empty strings. Pumping
   thread. */
PHI_API phi_agent_info phi_agent_get_info(phi_agent agent);

#ifdef __cplusplus
}
#endif
#endif
