/* strategy.h - reasoning strategies: providers that answer a prompt with several model calls.

   A strategy is a provider. An agent with a strategy takes prompts, steering, aborts and snapshots
   as any other agent. In place of one model call, the strategy's machine (machine.h) makes as many
   calls as it needs, with the agent's model and options. The machine's last text is the answer. The
   calls do not appear as turns. They are logged on their own lane, "~name/loop id", and
   PHI_EV_STRATEGY reports progress.

       phi_tot_options options = PHI_ZERO;
       phi_strategy_desc tot = PHI_ZERO;
       tot.strategy = phi_strategy_tot();
       tot.options = &options;
       phi_provider provider = phi_strategy_provider(&tot);
       desc.provider = &provider;

   Usage and cost of the calls count for the run. Before the first call, the worst case
   (phi_strategy_bill) is reserved from the budgets of the agent and its ancestors. If a budget has
   no room, no call is made and the run fails with PHI_REFUSED, PHI_FAILURE_QUOTA and a message.
   phi_step counts each pending call as a run. */
#ifndef PHI_ORCHESTRATE_STRATEGY_H
#define PHI_ORCHESTRATE_STRATEGY_H

#include "agent/agent.h"
#include "orchestrate/machine.h"
#include "loop/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field except strategy. */
typedef struct phi_strategy_desc {
    const phi_strategy *strategy; /* a machine such as phi_strategy_tot(), or the host's own */
    const void *options;          /* such as phi_tot_options (default: the machine's defaults) */
    /* Makes the model calls; may be another strategy (default: the provider registered for the
       model's protocol, or phi's own) */
    const phi_provider *provider;
    /* Most model calls for a prompt. When they are used up, the machine ends with its best answer
       (default and PHI_UNLIMITED: as many as the options allow) */
    uint32_t max_calls;
    uint32_t call_timeout_ms; /* timeout of calls that set none (default: none) */
    /* Returns true to reject a new thought before it is scored. Called inside phi_step; must call
       no phi_ function of the agent (default: rejects none) */
    bool (*prune_fn)(void *user_data, const phi_strategy_node *node);
    void *user_data; /* passed to prune_fn */
} phi_strategy_desc;

/* Returns the provider for phi_agent_desc.provider. If desc or desc->strategy is NULL, the provider
   has no functions and phi_agent_new rejects it.
   Ownership: desc and its pointers are borrowed until every agent with the provider is freed. */
PHI_API phi_provider phi_strategy_provider(const phi_strategy_desc *desc);

/* The state or the result of a run with a strategy. */
typedef struct phi_strategy_outcome {
    bool running;
    phi_strategy_best best; /* if running: the best answer so far */
    /* If not running: the result, a JSON object. docs/strategies.md lists the members for each
       strategy. A failed run has a result if it made a first call */
    phi_str result;
} phi_strategy_outcome;

/* Returns the outcome of the agent's active run, or else of its last run. Texts are in the arena.
   PHI_NOT_FOUND: that run has no strategy, or made no call yet. Also PHI_STALE, PHI_NO_MEMORY, and
   the store's status if the log cannot be read. Threads: the pumping thread. */
PHI_API phi_status phi_strategy_result(phi_agent agent, phi_arena *arena,
                                       phi_strategy_outcome *out);

/* Ends the active run at the next phi_step with the best answer so far, and cancels its pending
   calls. The run fails if there is no thought yet. PHI_NOT_FOUND: no active run has a strategy.
   Also PHI_STALE. Threads: the pumping thread. */
PHI_API phi_status phi_strategy_settle(phi_agent agent);

#ifdef __cplusplus
}
#endif
#endif
