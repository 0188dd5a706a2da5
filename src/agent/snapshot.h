/* snapshot.h - save games: an agent as one text, also in the midst of a run, and back.

   A snapshot holds the agent's identity, its whole thread with all lanes, its queues, its spending,
   and the active run: its turn, the pending tool calls by name and id, its own policy, and the
   hooks that are still to be called. It holds no model, no key, no system prompt, no tool and no
   function: the program gives them again when it loads the snapshot, best by the function that made
   the desc of the first agent.

       phi_arena arena;
       phi_str text;
       phi_arena_init(&arena, NULL, 0);
       if (phi_agent_snapshot(npc, &arena, &text) == PHI_OK) my_write("save.json", text);
       phi_arena_free(&arena);

       phi_agent_desc desc = blacksmith();
       npc = phi_agent_restore(rt, &desc, my_read("save.json"), PHI_RESTORE_RESUME);

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
   that evicted entries are recalled from. */
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
   snapshot), PHI_UNSUPPORTED (of a later version), PHI_MISUSE (inside a callback, or the store has
   that thread), or as phi_agent_new. Then no tool was called, and the store has nothing of it. */
PHI_API phi_agent phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                    phi_restore_run how);

/* ---- all agents of a runtime ---- */

/* All agents in one text, with the facts of all and of groups: a line about them, and one for each
   agent, which is what phi_agent_snapshot writes; sub-agents are in the line of their caller. An
   agent's `parent` comes before it. In pieces of about step_budget_us. PHI_BUSY: there is more;
   call it again. Until then the runtime is paused: phi_step does nothing, events can be popped. An
   agent that the host changes meanwhile is written as it is when its line ends, or left out where
   it was freed. arena NULL gives up. The text is in the arena. PHI_OK; PHI_MISUSE: inside a
   callback, or during phi_runtime_restore; PHI_BAD_ARG, PHI_NO_MEMORY; the status of a store. Then
   it is given up. */
PHI_API phi_status phi_runtime_snapshot(phi_runtime *rt, phi_arena *arena, phi_str *out);

/* Zero means default for every field but desc_fn. */
typedef struct phi_restore_desc {
    /* The desc of agent `index` of the text, from 0, by its id (as a terminated text too), into
       `out`, which is zeroed; what that points to is borrowed as by phi_agent_new. `agents` are
       those that were made so far, of the lines before. false: the agent is left out. */
    bool (*desc_fn)(void *user_data, phi_str agent_id, size_t index, const phi_agent *agents,
                    phi_agent_desc *out);
    void *user_data;
    phi_restore_run how;
} phi_restore_desc;

/* Makes the agents of a text of phi_runtime_snapshot, or the one of phi_agent_snapshot, and
   replaces the facts of all and of groups where the text has them. Agents that the runtime has
   stay. All or nothing: on failure those made so far are freed, and facts are as they were; but
   threads that they began in stores are there. In pieces, each of an agent at least. PHI_BUSY: call
   it again with the same arguments; until then the runtime is paused, as above. An empty text gives
   up. *agents, in the arena: by index; rt NULL where one was left out. PHI_OK; PHI_MISUSE,
   PHI_PARSE, PHI_UNSUPPORTED, PHI_NO_MEMORY and others, as phi_agent_restore, with words. */
PHI_API phi_status phi_runtime_restore(phi_runtime *rt, phi_str text, const phi_restore_desc *desc,
                                       phi_arena *arena, const phi_agent **agents, size_t *count);

#ifdef __cplusplus
}
inline phi_agent phi_agent_restore(phi_runtime *rt, const phi_agent_desc &desc, phi_str snapshot,
                                   phi_restore_run how) {
    return phi_agent_restore(rt, &desc, snapshot, how);
}
#endif
#endif
