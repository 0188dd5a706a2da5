/* strategy.h - reasoning strategies over the loop: an agent whose answers a machine works out.

   A strategy is a provider: an agent that has it takes prompts, steering, aborts and snapshots as
   any other. Where a model would be called once, the machine makes as many model calls as it needs
   (machine.h), with the agent's model and options, and its last text is the answer. The calls do
   not appear as turns: they are logged on their own lane, "~name/loop id", and PHI_EV_STRATEGY
   reports progress.

       phi_tot_options options = PHI_ZERO;
       phi_strategy_desc tot = PHI_ZERO;
       tot.strategy = phi_strategy_tot();
       tot.options = &options;
       phi_provider provider = phi_strategy_provider(&tot);
       desc.provider = &provider;

   Usage and cost of the calls are the run's. Before the first call the worst case
   (phi_strategy_bill) is reserved from the budgets of the agent and of those above it; if it does
   not fit, no call is made, and the run fails with PHI_REFUSED, a failure of PHI_FAILURE_QUOTA and
   a message. phi_step counts each call under way as a run. */
#ifndef PHI_ORCHESTRATE_STRATEGY_H
#define PHI_ORCHESTRATE_STRATEGY_H

#include "agent/agent.h"
#include "orchestrate/machine.h"
#include "loop/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but strategy. */
typedef struct phi_strategy_desc {
    const phi_strategy *strategy; /* the machine: phi_strategy_tot()... or the host's own */
    const void *options;          /* the machine's: phi_tot_options... (default: its defaults) */
    /* makes the model calls, another strategy's among them (default: the registered one of the
       model's protocol, or phi's own) */
    const phi_provider *provider;
    /* model calls a prompt: when they are used up, the machine ends with its best so far (default:
       as many as its options allow; PHI_UNLIMITED: the same) */
    uint32_t max_calls;
    uint32_t call_timeout_ms; /* for calls that set none (default: none) */
    /* true leaves a new thought out, before it is scored; called inside phi_step, and must call no
       phi_ function of the agent (default: none is left out) */
    bool (*prune_fn)(void *user_data, const phi_strategy_node *node);
    void *user_data; /* for prune_fn */
} phi_strategy_desc;

/* For phi_agent_desc.provider. A desc that is NULL, or has no strategy yet, gives a provider
   without functions, which phi_agent_new refuses.
   Ownership: desc and its pointers are borrowed until all agents made with it are freed. */
PHI_API phi_provider phi_strategy_provider(const phi_strategy_desc *desc);

/* What a run with a strategy has come to. */
typedef struct phi_strategy_outcome {
    bool running;
    phi_strategy_best best; /* running: the best so far */
    /* else the result: JSON text, an object; each strategy's page in docs/strategies.md has its
       members. A run that failed has one too, if it came to a first call */
    phi_str result;
} phi_strategy_outcome;

/* The outcome of the agent's run under way, or of its last run; texts are in the arena.
   PHI_NOT_FOUND: that was no run with a strategy, or it has not come to a call. PHI_STALE,
   PHI_NO_MEMORY. Pumping thread. */
PHI_API phi_status phi_strategy_result(phi_agent agent, phi_arena *arena,
                                       phi_strategy_outcome *out);

/* Ends the run under way with the best so far as its answer, at the next phi_step; calls under way
   are cancelled. Without a thought yet, the run fails. PHI_NOT_FOUND: no run
   with a strategy is under way. PHI_STALE. Pumping thread. */
PHI_API phi_status phi_strategy_settle(phi_agent agent);

#ifdef __cplusplus
}
#endif
#endif
