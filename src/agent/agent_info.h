/* agent_info.h - what an agent is, has and does. */
#ifndef PHI_AGENT_AGENT_INFO_H
#define PHI_AGENT_AGENT_INFO_H

#include "agent/agent.h"
#include "features/caching.h"
#include "log/policy.h"
#include "loop/hook.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an agent is, has and does. Strings are owned by the agent and valid until it is freed: the
   session and thread ids until they change, the model id until the model does, the loop id until
   the next run, the rewrite's id and those of `waiting` until the next phi_step. */
typedef struct phi_agent_info {
    phi_str agent_id, session_id;
    phi_str thread_id; /* empty: the thread is in no store */
    phi_str model_id;
    phi_str loop_id; /* of the run that began last; empty: none did */
    /* from phi_prompt until AGENT_END is queued, and until an AFTER_LOOP hook that waits is
       decided */
    bool running;
    /* The first thing that phi_pending lists for the agent, or the model's answer. kind
       PHI_WAITING_NOTHING: all but agent, loop_id and turn_index is zero. */
    phi_pending_item waiting;
    /* Messages in the queues, without those that a run has taken for its next turn, and texts that
       were posted and not yet read by a phi_step. queued: in all of them. */
    size_t steering, follow_ups, injected, queued;
    phi_str deferred_op_id; /* of the rewrite that waits for the run's end; empty: none does */
    /* Tokens, and dollars by the model's rates: of all runs, and of the active or else the last
       run. Failed attempts count as far as the provider reported their usage. The figures of all
       runs include the models that wrote summaries for the agent. */
    phi_usage usage;
    double cost;
    double cache_hit_rate; /* of usage, 0 to 1; 0 without input */
    phi_usage run_usage;
    double run_cost;
    phi_spending spending; /* its own, and of the agents below it */
    /* of the last model call, before the hooks; zero where that had no policy */
    phi_projection_meta projection;
    phi_cache_stats cache;           /* of all runs; zero without phi_feature_cache_stats */
    size_t memory_used, memory_peak; /* bytes of this agent now, and at most so far */
} phi_agent_info;

/* Zero, with empty strings, for a stale agent. Pumping thread. */
PHI_API phi_agent_info phi_agent_get_info(phi_agent agent);

#ifdef __cplusplus
}
#endif
#endif
