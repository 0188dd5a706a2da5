/* effects.h - the tool state of an agent: see log/tool_state.h for effects and their policy.

   The calls of a round see one snapshot of the state, whatever their order. Their effects
   (phi_tool_result.effects) are applied when their results enter the log, in call order, under
   phi_tool_options.effects; the next round sees them. A call that is cancelled, or runs into its
   deadline, has no effects, and of a call that is started again those of the last try count.
   Threads: the pumping thread. */
#ifndef PHI_FEATURES_EFFECTS_H
#define PHI_FEATURES_EFFECTS_H

#include "log/tool_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The snapshot that the call's round sees, a JSON object; valid until the call is over. At NULL:
   stale, or no memory. */
PHI_API phi_str phi_call_tool_state(phi_call call);
/* Replaces the agent's tool state (phi_thread_tool_state); no policy applies. Copied, and noted in
   the log. Allowed during a run: the calls of the round under way still see the state before.
   PHI_EV_TOOL_STATE follows where it is another. PHI_BAD_ARG: no JSON object, or larger than
   max_state_bytes; PHI_STALE, PHI_NO_MEMORY: nothing changed. */
PHI_API phi_status phi_agent_set_tool_state(phi_agent agent, phi_str json);

#ifdef __cplusplus
}
#endif
#endif
