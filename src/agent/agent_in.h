/* agent_in.h - shared by the files of this folder: checking, making and freeing agents. */
#ifndef PHI_AGENT_AGENT_IN_H
#define PHI_AGENT_AGENT_IN_H

#include "agent/profile.h"
#include "agent/snapshot.h"
#include "features/failover.h"
#include "loop/loop_in.h"

/* agent.c: PHI_OK, or words that begin with `what`. */
PHI__FN phi_status phi__agent_may_run(phi__agent *agent, const char *what);

/* PHI_NO_MEMORY, with words about the limit that phi__run_new met. */
PHI__FN phi_status phi__agent_no_memory(phi__agent *agent, const char *what);

/* Words begin with `what`. */
PHI__FN phi_status phi__check_url(phi_runtime *rt, const char *what, const char *base_url);

/* The same, where own is the provider that the agent has in any case, or NULL. */
PHI__FN phi_status phi__check_model(phi_runtime *rt, const char *what, const phi_provider *own,
                                    const phi_model *model);

PHI__FN phi_status phi__check_format(phi_runtime *rt, const phi_format *format,
                                     const phi_tool *tools, size_t tool_count);

/* agent_make.c. Checks of a desc's options, extra and raw tools, and of an extra alone for a model;
   own: the host's provider for it, or NULL; `what` names the field. */
PHI__FN phi_status phi__said_check_extra(phi_runtime *rt, const char *what, const phi_provider *own,
                                         const phi_model *model, const char *extra);

/* Tools, as those of an agent that there is. */
PHI__FN phi_status phi__check_own(const phi__agent *agent, const phi_tool *tools, size_t count);

/* agent_make.c: copies of a desc's values. False: no memory; nothing changes, but for a model with
   its provider and a segment, which are in agent->model_arena. */

PHI__FN void phi__take_random_id(const phi__agent *agent, char out[PHI__UUID_SIZE]);

/* agent_make.c. NULL: phi_last_error says why. lent: the thread it works on, else its own. */
PHI__FN phi__agent *phi__agent_make(phi_runtime *rt, const phi_agent_desc *desc, phi_thread *lent);
PHI__FN const phi_profile *phi__make_profile(phi_agent agent); /* NULL: none, or stale */

/* The desc with its unset fields filled from its profile. */
PHI__FN phi_agent_desc phi__make_merge(const phi_agent_desc *desc);

/* Fills in the defaults of zero fields of limits; twice is harmless. */
PHI__FN phi_limits phi__make_limits_of(const phi_limits *given);

/* agent_store.c: loads the thread of a desc's store and thread_id; loop ids continue behind the
   thread's. Messages begin with the function called. */
PHI__FN phi_status phi__stored_check(phi_runtime *rt, const phi_agent_desc *desc);
PHI__FN phi_status phi__stored_open_thread(phi__agent *agent, const phi_agent_desc *desc);

enum { PHI__AGENT_STORE_WORDS = 240 };

/* agent.c: begin moves an agent's log to *before and leaves an empty one to fill, without memory.
   Then undo brings the old log back, or done frees it, unlocks it in its store, and drops the state
   that depends on it. before NULL: the log stays, only the dependent state is dropped. copied: the
   new log begins with copies of the old one's view. False: the host has freed the agent
   meanwhile. */
PHI__FN void phi__exchange_begin(phi__agent *agent, phi_thread *before);
PHI__FN void phi__exchange_undo(phi__agent *agent, phi_thread *before);
PHI__FN bool phi__exchange_done(phi__agent *agent, phi_thread *before, bool copied);

/* agent.c */

/* Takes an agent out of every table: its handle is stale, nothing calls or wakes it. Its memory
   goes with phi__end_destroy, at the end of the step. */
PHI__FN void phi__end_retire(phi__agent *agent);

/* The same; outside of a step its memory goes at once. */
PHI__FN void phi__end_drop(phi__agent *agent);

/* A model of the host's that freed its agent from within `open` is closed in here: still inside the
   step. */
PHI__FN void phi__end_of_step(phi_runtime *rt);
PHI__FN void phi__end_destroy_retired(phi_runtime *rt); /* those that were freed in it */

/* history.c */
/* The last message that a model would see; NULL: none. */
PHI__FN const phi_message *phi__history_last(const phi_thread *thread);

/* PHI_OK if a run may continue there, else PHI_MISUSE and a message that begins with `what`. It may
   not after the model's own message, except after calls without results: these get them when the
   run begins. */
PHI__FN phi_status phi__history_goes_on(phi_runtime *rt, const phi_thread *thread,
                                        const char *what);

/* snapshot.c */
/* As phi_agent_restore, of a snapshot that was parsed, inside a step. NULL: phi_last_error says
   why. */
PHI__FN phi__agent *phi__snap_make(phi_runtime *rt, const phi_agent_desc *desc,
                                   const phi_json *root, phi_restore_run how);

/* snapshot.c: the runtime is being saved or loaded: phi_step does nothing. */
PHI__FN bool phi__crew_under_way(const phi_runtime *rt);
PHI__FN void phi__crew_drop(phi_runtime *rt); /* the runtime goes */

/* one_shot_run.c */
/* The agent's run, active or over, is its last: it is freed once its events were popped. */
PHI__FN void phi__shot_last(phi__agent *agent);

/* at the end of a step, with popped events released */
PHI__FN void phi__shot_retire(phi_runtime *rt);

/* the runtime goes; there are no agents any more */
PHI__FN void phi__shot_free_threads(phi_runtime *rt);

/* One part of a system prompt, by the name of a slot. */
typedef struct phi__profile_block {
    const char *name; /* "identity"... */
    const char *text;
} phi__profile_block;

/* The place of a block, and its length at most. */
typedef struct phi__profile_slot {
    const char *name;
    int order;         /* slots come in this order, equal ones as listed */
    size_t max_length; /* characters (code points) at most; 0: all */
} phi__profile_slot;

/* The slots of the usual kinds of agent; static. agent: identity 500, instructions 2,000, tools
   1,000, constraints 500. minimal: identity 1,000, task 3,000. The book, part "System prompts". */
PHI__FN const phi__profile_slot *phi__profile_slots_agent(size_t *count);
PHI__FN const phi__profile_slot *phi__profile_slots_minimal(size_t *count);

/* Puts the blocks into their slots, cut to their lengths, with a blank line between them, in the
   arena (terminated). A slot without a block, and a block without a slot, are left out; of two
   blocks with one name the last counts. PHI_BAD_ARG, PHI_NO_MEMORY: *out is empty. */
PHI__FN phi_status phi__profile_compose(const phi__profile_slot *slots, size_t slot_count,
                                        const phi__profile_block *blocks, size_t block_count,
                                        phi_arena *arena, phi_str *out);

/* parent NULL: harmless */
PHI__FN void phi__end_adopt(phi__agent *parent, phi__agent *child);

/* Frees the copies in desc.input.filters. */
PHI__FN void phi__take_off_filters(phi__agent *agent);

PHI__FN void phi__take_off_focus(phi__agent *agent);

/* Frees the copies of a format's texts. */
PHI__FN void phi__take_off_format(phi__agent *agent, phi_format *format);

PHI__FN void phi__end_destroy(phi__agent *agent);

#endif
