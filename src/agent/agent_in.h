/* agent_in.h - shared by the files of this folder: checking, making and freeing agents. */
#ifndef PHI_AGENT_AGENT_IN_H
#define PHI_AGENT_AGENT_IN_H

#include "agent/profile.h"
#include "agent/snapshot.h"
#include "features/failover.h"
#include "loop/loop_in.h"

/* PHI_OK if the agent may begin a run, or else a status and a message that begins with `what`. */
PHI__FN phi_status phi__agent_may_run(phi__agent *agent, const char *what);

/* Returns PHI_NO_MEMORY. The message names the memory limit if that limit stopped phi__run_new. */
PHI__FN phi_status phi__agent_no_memory(phi__agent *agent, const char *what);

/* Returns PHI_NO_MEMORY, for an agent that could not be made. The message names the limit that has
   refused memory: the agent's, or the runtime's, whose count of refusals was `before`. */
PHI__FN phi_status phi__agent_no_room(const phi__agent *agent, const char *what, uint64_t before);

/* Checks a model's base_url. The message begins with `what`. */
PHI__FN phi_status phi__check_url(phi_runtime *rt, const char *what, const char *base_url);

/* Checks a model. The message begins with `what`. own: the provider to use, or NULL. */
PHI__FN phi_status phi__check_model(phi_runtime *rt, const char *what, const phi_provider *own,
                                    const phi_model *model);

PHI__FN phi_status phi__check_format(phi_runtime *rt, const phi_format *format,
                                     const phi_tool *tools, size_t tool_count);

/* Checks a model's `extra`. The message names this field as `what`. own: the host's provider, or
   NULL. */
PHI__FN phi_status phi__said_check_extra(phi_runtime *rt, const char *what, const phi_provider *own,
                                         const phi_model *model, const char *extra);

/* Checks tools together with the model, hooks, failover list and format of a desc. */
PHI__FN phi_status phi__check_tools(phi_runtime *rt, const phi_agent_desc *desc,
                                    const phi_tool *tools, size_t count);

/* Writes a random UUID. */
PHI__FN void phi__take_random_id(const phi__agent *agent, char out[PHI__UUID_SIZE]);

/* Makes an agent that works on the thread `lent`, or on its own thread if `lent` is NULL. Returns
   NULL on failure; phi_last_error says why. */
PHI__FN phi__agent *phi__agent_make(phi_runtime *rt, const phi_agent_desc *desc, phi_thread *lent);
/* Returns NULL if the agent has no profile or is stale. */
PHI__FN const phi_profile *phi__make_profile(phi_agent agent);

/* Returns the desc with its unset fields filled in from its profile. */
PHI__FN phi_agent_desc phi__make_merge(const phi_agent_desc *desc);

/* Fills in the defaults of zero fields of limits. Calling it twice is harmless. */
PHI__FN phi_limits phi__make_limits_of(const phi_limits *given);

/* agent_store.c: phi__stored_check checks store and thread_id of a desc. phi__stored_open_thread
   loads that thread; new loop ids continue the numbers in the thread. */
PHI__FN phi_status phi__stored_check(phi_runtime *rt, const phi_agent_desc *desc);
PHI__FN phi_status phi__stored_open_thread(phi__agent *agent, const phi_agent_desc *desc);

enum { PHI__AGENT_STORE_WORDS = 240 };

/* agent_end.c: exchanges an agent's log. begin moves the log to *before and leaves an empty log to
   fill. It needs no memory. Then the caller calls either undo or done. undo restores the old log.
   done frees the old log, unlocks it in its store, and drops all state that depends on it. If
   before is NULL, the log stays, and done only drops the dependent state. copied: the new log
   begins with copies of the old log's view. done returns false if the host has freed the agent
   meanwhile. */
PHI__FN void phi__exchange_begin(phi__agent *agent, phi_thread *before);
PHI__FN void phi__exchange_undo(phi__agent *agent, phi_thread *before);
PHI__FN bool phi__exchange_done(phi__agent *agent, phi_thread *before, bool copied);

/* Removes an agent from every table: its handle becomes stale, and nothing calls or wakes the
   agent. At the end of the step, phi__end_destroy frees its memory. */
PHI__FN void phi__end_retire(phi__agent *agent);

/* Retires an agent. Outside of a step, also frees the agent's memory at once. */
PHI__FN void phi__end_drop(phi__agent *agent);

/* Frees the agents that were retired in the step, then ends the step. Freeing can call the host,
   for example to close a host's provider, so in_step is cleared last. */
PHI__FN void phi__end_of_step(phi_runtime *rt);
PHI__FN void phi__end_destroy_retired(phi_runtime *rt); /* frees the agents in rt->retired */

/* Returns the last message that a model would see, or NULL. */
PHI__FN const phi_message *phi__history_last(const phi_thread *thread);

/* PHI_OK if a run may continue this thread, or else PHI_MISUSE and a message that begins with
   `what`. A run cannot continue after an answer, unless the answer has calls without results. In
   this case the run first gives results to these calls. */
PHI__FN phi_status phi__history_goes_on(phi_runtime *rt, const phi_thread *thread,
                                        const char *what);

/* Restores an agent like phi_agent_restore, from a parsed snapshot and inside a step. NULL:
   phi_last_error says why. */
PHI__FN phi__agent *phi__snap_make(phi_runtime *rt, const phi_agent_desc *desc,
                                   const phi_json *root, phi_restore_run how);

/* snapshot.c: true while the runtime is being saved or loaded. Meanwhile phi_step does nothing. */
PHI__FN bool phi__crew_under_way(const phi_runtime *rt);
/* Gives up an active save or load, when the runtime is freed. */
PHI__FN void phi__crew_drop(phi_runtime *rt);

/* Makes the agent's run, which may be over, its last run: the agent is freed after its last
   event. */
PHI__FN void phi__shot_last(phi__agent *agent);

/* Called at the end of a step, after popped events were released. */
PHI__FN void phi__shot_retire(phi_runtime *rt);

/* Called when the runtime is freed and no agents are left. */
PHI__FN void phi__shot_free_threads(phi_runtime *rt);

/* The text for one slot of a system prompt. */
typedef struct phi__profile_block {
    const char *name; /* name of the slot, such as "identity" */
    const char *text;
} phi__profile_block;

/* A place in a system prompt for one block, with the block's maximum length. */
typedef struct phi__profile_slot {
    const char *name;
    int order;         /* slots are sorted by order; slots of equal order stay as listed */
    size_t max_length; /* in characters (code points); 0: no limit */
} phi__profile_slot;

/* Return static slots for two kinds of agent, with these limits in characters. agent: 500 for
   identity, 2,000 for instructions, 1,000 for tools, and 500 for constraints. minimal: 1,000 for
   identity, and 3,000 for task. */
PHI__FN const phi__profile_slot *phi__profile_slots_agent(size_t *count);
PHI__FN const phi__profile_slot *phi__profile_slots_minimal(size_t *count);

/* Puts each block into its slot, cut to the slot's length, with a blank line between blocks. The
   text is in the arena and terminated. Slots without a block and blocks without a slot are left
   out. If blocks share a name, the last one counts. After PHI_BAD_ARG or PHI_NO_MEMORY, *out is
   empty. */
PHI__FN phi_status phi__profile_compose(const phi__profile_slot *slots, size_t slot_count,
                                        const phi__profile_block *blocks, size_t block_count,
                                        phi_arena *arena, phi_str *out);

/* Adds child to parent's children. A NULL parent is harmless. */
PHI__FN void phi__end_adopt(phi__agent *parent, phi__agent *child);

/* Frees the copies in desc.input.filters. */
PHI__FN void phi__take_off_filters(phi__agent *agent);

PHI__FN void phi__take_off_focus(phi__agent *agent);

/* Frees the strings of a copied format and clears the format. */
PHI__FN void phi__take_off_format(phi__agent *agent, phi_format *format);

PHI__FN void phi__end_destroy(phi__agent *agent);

#endif
