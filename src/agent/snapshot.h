/* snapshot.h - save games: an agent as one text, also in the midst of a run, and back.

   A snapshot holds the agent's identity, its whole thread with all lanes, its queues, its spending,
   and the active run: its turn, the pending tool calls by name and id, a policy of its own, and the
   hooks that are still to be called. It holds no model, no key, no tool and no function: the
   program gives them again when it loads the snapshot.

   A model call that streams is made again after loading; a partial answer is not kept. A pending
   decision calls its hook again. A tool call that had begun is resumed by the tool of the same
   name: by its `resume`; without one, a call that is finished from outside (no `step`) keeps
   waiting, and is found with phi_pending; any other gets an error as its result, for the model to
   read. A deferred rewrite is in the snapshot; events that were not popped, and input that other
   threads posted while it was made, are not. */
#ifndef PHI_AGENT_SNAPSHOT_H
#define PHI_AGENT_SNAPSHOT_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_SNAPSHOT_VERSION = 1 };

/* The text, JSON, in the arena. Between two phi_steps, at any time. The agent continues unchanged.
   PHI_MISUSE: inside a callback; PHI_STALE, PHI_BAD_ARG, PHI_NO_MEMORY; the status of the store
   that evicted entries are recalled from; PHI_UNSUPPORTED: built with PHI_NO_SNAPSHOT. */
PHI_API phi_status phi_agent_snapshot(phi_agent agent, phi_arena *arena, phi_str *out);

typedef enum phi_restore_run {
    PHI_RESTORE_RESUME = 0, /* the run continues with the next phi_step */
    /* it ends with the next phi_steps, as if by phi_abort: calls get "Cancelled" */
    PHI_RESTORE_INTERRUPT
} phi_restore_run;

/* Makes an agent of a desc, as phi_agent_new, and fills it with a snapshot, which is copied.
   agent_id, session_id and config_id of the desc count only where the snapshot has none, its budget
   never; limits that phi_budget_raise had added are kept. Where the desc has a store, thread_id
   must be new to the store.

   The saved run continues: the events of its beginning are not emitted again, TOOL_END and the rest
   follow. On failure the handle's rt is NULL, and phi_last_error says why: PHI_PARSE (not a
   snapshot), PHI_UNSUPPORTED (of a later version, or built with PHI_NO_SNAPSHOT), PHI_MISUSE
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
