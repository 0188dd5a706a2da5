/* snapshot.h - save games: writes an agent as one text, even during a run, and restores it.

   A snapshot contains the agent's identity, its whole thread with all lanes, its queues, its
   spending, and the active run: the turn, the pending tool calls by name and id, the run's own
   policy, and the hooks that are still to be called. It contains no model, key, system prompt, tool
   or function. The program gives these again when it loads the snapshot, best with the function
   that made the first agent's desc.

       phi_arena arena;
       phi_str text;
       phi_arena_init(&arena, NULL, 0);
       if (phi_agent_snapshot(npc, &arena, &text) == PHI_OK) my_write("save.json", text);
       phi_arena_free(&arena);

       phi_agent_desc desc = blacksmith();
       npc = phi_agent_restore(rt, &desc, my_read("save.json"), PHI_RESTORE_RESUME);

   A model call that was streaming is made again after loading; its partial answer is not kept. For
   a pending decision the hook is called again. A tool call that had begun is resumed by the tool of
   the same name, with its `resume`. If the tool has no `resume` and no `step`, the call keeps
   waiting to be finished from outside, and phi_pending lists it. If it has a `step` but no
   `resume`, the call gets an error as its result, for the model to read. A snapshot contains a
   deferred rewrite. It does not contain events that were not popped, nor input that other threads
   posted while the snapshot was made. */
#ifndef PHI_AGENT_SNAPSHOT_H
#define PHI_AGENT_SNAPSHOT_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_SNAPSHOT_VERSION = 1 };

/* Writes the agent as JSON text into the arena. Allowed at any time between two phi_steps. The
   agent continues unchanged. PHI_MISUSE: called inside a callback; PHI_STALE: the agent is gone;
   PHI_BAD_ARG: a pointer is NULL; PHI_NO_MEMORY; or the store's status if evicted entries cannot be
   recalled. */
PHI_API phi_status phi_agent_snapshot(phi_agent agent, phi_arena *arena, phi_str *out);

typedef enum phi_restore_run {
    PHI_RESTORE_RESUME = 0, /* the run continues with the next phi_step */
    /* the next phi_steps end the run like phi_abort: calls get "Cancelled" */
    PHI_RESTORE_INTERRUPT
} phi_restore_run;

/* Makes an agent from a desc, as phi_agent_new does, and fills the agent from a snapshot, which is
   copied. agent_id, session_id and config_id of the desc are used only if the snapshot has none.
   The budget of the desc is not used: the agent has the budget of the snapshot. Limits that
   phi_budget_raise has raised stay raised. If the desc has a store, thread_id must be new to the
   store.

   The saved run continues: the events of its beginning are not emitted again, but TOOL_END and the
   later events follow. On failure the handle's rt is NULL, and phi_last_error says why: PHI_PARSE
   (not a snapshot), PHI_UNSUPPORTED (a snapshot of a later version), PHI_MISUSE (called inside a
   callback, or the store has this thread already), or a status of phi_agent_new. After a failure no
   tool was called, and nothing was written to the store. */
PHI_API phi_agent phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                    phi_restore_run how);

/* ---- all agents of a runtime ---- */

/* Writes all agents of a runtime, and the world facts for all agents and for groups, as one text
   into the arena. The text has one line about the whole, and for each agent one line, as
   phi_agent_snapshot writes it. Sub-agents are in the line of their caller; a `parent` comes before
   the agents below it. Each call works for about step_budget_us. PHI_BUSY: there is more, call
   again. Until the last call the runtime is paused: phi_step does nothing, but events can be
   popped. If the host changes an agent meanwhile, the agent is written as it is when its line ends;
   a freed agent is left out. If arena is NULL, the call gives up the snapshot and returns PHI_OK.
   Otherwise PHI_OK means that the text is complete. PHI_MISUSE: called inside a callback, or during
   phi_runtime_restore. PHI_BAD_ARG: out is NULL. PHI_NO_MEMORY, or a store's status. After any
   failure except PHI_MISUSE the snapshot is given up. */
PHI_API phi_status phi_runtime_snapshot(phi_runtime *rt, phi_arena *arena, phi_str *out);

/* Zero means default for every field but desc_fn. */
typedef struct phi_restore_desc {
    /* Provides the desc of one agent in the text: writes the desc to `out`, which is zeroed.
       agent_id (also terminated) and `index`, counted from 0, identify the agent. Pointers in the
       desc are borrowed as by phi_agent_new. `agents` has the agents of the lines before. False:
       the agent is left out. */
    bool (*desc_fn)(void *user_data, phi_str agent_id, size_t index, const phi_agent *agents,
                    phi_agent_desc *out);
    void *user_data;
    phi_restore_run how;
} phi_restore_desc;

/* Makes the agents of a text from phi_runtime_snapshot, or the one agent of a text from
   phi_agent_snapshot. World facts in the text, for all agents and for groups, replace those of
   the runtime. Agents that the runtime already has stay. On failure the agents made so far are
   freed and facts are as before, but threads that these agents began in stores remain there.
   (Nothing changes if an argument is missing, or after PHI_MISUSE because of a callback, a
   running phi_runtime_snapshot or another text.) Each call makes at least one agent. PHI_BUSY:
   call again with the same arguments; until then the runtime is paused, as during
   phi_runtime_snapshot. To give up, call it with an empty text. *agents, in the arena, has the
   agents by index; rt is NULL for an agent that was left out. PHI_OK: all agents are made.
   PHI_MISUSE, PHI_PARSE, PHI_UNSUPPORTED, PHI_NO_MEMORY and others are as for phi_agent_restore;
   phi_last_error has a message. */
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
