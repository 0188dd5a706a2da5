/* effects.h - the tool state of an agent: see log/tool_state.h for effects and their policy.

   All calls of a round see the same snapshot of the state, whatever their order. Their effects
   (phi_tool_result.effects) are applied in call order when the results enter the log, as far as
   phi_tool_options.effects allows; the next round sees the new state. A call that is cancelled or
   passes its deadline has no effects. If a call is started again, only the effects of its last try
   are applied.
   Threads: the pumping thread. */
#ifndef PHI_FEATURES_EFFECTS_H
#define PHI_FEATURES_EFFECTS_H

#include "log/tool_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the snapshot of the state that the call's round sees, a JSON object; valid until the call
   is over. If the result's `at` is NULL, the call is stale, there is no memory, or the runtime
   lacks phi_feature_tool_state. */
PHI_API phi_str phi_call_tool_state(phi_call call);
/* Replaces the agent's tool state (phi_thread_tool_state); no policy applies. Copied, and noted in
   the log. Allowed during a run: the calls of the current round still see the old state.
   PHI_EV_TOOL_STATE follows if the state has changed. PHI_BAD_ARG: not a JSON object, or larger
   than max_state_bytes; PHI_UNSUPPORTED: the runtime lacks phi_feature_tool_state; PHI_STALE,
   PHI_NO_MEMORY. After any of these nothing changed. */
PHI_API phi_status phi_agent_set_tool_state(phi_agent agent, phi_str json);

#ifdef __cplusplus
}
#endif
#endif
