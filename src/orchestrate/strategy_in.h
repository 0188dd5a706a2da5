/* strategy_in.h - a strategy at work: its machine, and the model calls under way.

   A job begins and ends with the provider's call of a run. It owns its machine, whose memory is an
   arena in the agent's budget, and the hidden agents below the agent that make the model calls: one
   each, for one run. Answers go to the machine in the order in which their calls were made,
   whichever came first, so that a run does not depend on the network's timing. */
#ifndef PHI_ORCHESTRATE_STRATEGY_IN_H
#define PHI_ORCHESTRATE_STRATEGY_IN_H

#include "agent/agent_in.h"
#include "base/base_in.h"
#include "features/features_in.h"
#include "orchestrate/machine.h"
#include "orchestrate/strategy.h"
#include "text/json.h"

/* strategy.c: the worst case of a prompt of so many tokens, with desc->max_calls; answer_tokens: of
   one model call. */
PHI__FN void phi__strategy_bill(const phi_strategy_desc *desc, const phi_strategy *strategy,
                                const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                                phi_strategy_bill *out);

#endif
