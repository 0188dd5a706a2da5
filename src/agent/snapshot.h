/* snapshot.h - an agent as one text, in the midst of whatever it does, and back: save games.

   A snapshot holds who the agent is, its whole thread with all lanes, its queues, what it has
   spent, and the run that is going on: its turn, the tool calls that wait by name and id, a policy
   of its own, and what it still has to be told by hooks. It holds no model, no key, no tool and no
   function: those are the program's, and given again when it is loaded.

   A model call that streams is asked again after loading; a partial answer is not kept. A decision
   that was waited for is asked for again. A tool call that had begun is taken up by the tool of the
   same name: by its `resume`; without one, a call that is finished from outside (no `step`) goes on
   waiting, and is found with phi_pending; any other gets an error as its result, for the model to
   read. A rewrite that was put off until the run ends is in it; events that were not popped, and
   what other threads have posted while the snapshot was made, are not. */
#ifndef PHI_AGENT_SNAPSHOT_H
#define PHI_AGENT_SNAPSHOT_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_SNAPSHOT_VERSION = 1 };

/* The text, JSON, in the arena. Between two phi_steps, at any time. The agent goes on as if nothing
   had been.
   PHI_MISUSE: inside a callback; PHI_STALE, PHI_BAD_ARG, PHI_NO_MEMORY; what the store says from
   which it reads what has left memory; PHI_UNSUPPORTED: built with PHI_NO_SNAPSHOT. */
PHI_API phi_status phi_agent_snapshot(phi_agent agent, phi_arena *arena, phi_str *out);

typedef enum phi_restore_run {
    PHI_RESTORE_RESUME = 0, /* the run goes on with the next phi_step */
    /* it ends with the next phi_steps, as if by phi_abort: calls get "Cancelled" */
    PHI_RESTORE_INTERRUPT
} phi_restore_run;

/* Makes an agent of a desc, as phi_agent_new, and fills it with a snapshot, which is copied.
   agent_id, session_id and config_id of the desc count only where the snapshot has none, its budget
   never; limits that phi_budget_raise had added are kept. Where the desc has a store, thread_id
   must be one that the store has not.

   The run that went on goes on: no event of its beginning is told again, TOOL_END and the rest
   follow. A handle whose rt is NULL: phi_last_error says why: PHI_PARSE (what it is not),
   PHI_UNSUPPORTED (of a later version, or built with PHI_NO_SNAPSHOT), PHI_MISUSE
   (inside a callback, or the store has that thread), or as phi_agent_new. Then no tool was called,
   and the store has nothing of it. */
PHI_API phi_agent phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                    phi_restore_run how);

#ifdef __cplusplus
}
inline phi_agent phi_agent_restore(phi_runtime *rt, const phi_agent_desc &desc, phi_str snapshot,
                                   phi_restore_run how) {
    return phi_agent_restore(rt, &desc, snapshot, how);
}
#endif
#endif
