/* subagents.h - agents as tools of agents: a model delegates a task to a child, which works in its
   own history and hands back its last words.

   A child is an agent below the calling one: phi_abort of that ends it, its budget pays for it, and
   its memory is the runtime's. It has a fresh history, fresh ids, its own limits, and no sub-agents
   unless max_depth allows. Children run at the same time, by the dozen, on the pumping thread. The
   host hears of a child through the calling agent's events: its words, its tools and its progress
   are updates of the call (PHI_EV_TOOL_UPDATE, PHI_EV_TOOL_PROGRESS).

   A result has the texts of the child's last answer that has any, joined by line breaks, or
   "(sub-agent produced no text output)"; its details are JSON: {"sub_agent":name,"turns":messages
   of the run,"id":...}, the id where the child can be continued. A run that fails makes an error
   result of its error message. A run that a limit ends is none: its last words are the result.

   Logs name each other: the caller's has a SPAWN entry, the child's LOOP_START the caller's run as
   its parent. A snapshot of the caller holds the children at work, and those that are kept; the
   calls go on after phi_agent_restore with the same tools.
   Threads: the pumping thread. */
#ifndef PHI_ORCHESTRATE_SUBAGENTS_H
#define PHI_ORCHESTRATE_SUBAGENTS_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but the name. Borrowed, with all it points to, until every
   agent with the tool is freed. */
typedef struct phi_subagent_desc {
    const char *name; /* of the tool */
    /* for the model (default: "Delegate a task to the 'name' sub-agent") */
    const char *description;
    /* The settings of children. A model without a protocol: the calling agent's model and provider.
       Limits default to 10 turns, 1,000,000 tokens, 300 s; ids.config_id to "sub". phi fills
       parent, ids.agent_id, ids.session_id, thread_id and input.first_turn_trigger. (default: all
       defaults) */
    const phi_agent_desc *agent;
    /* A child gets tools that are sub-agents only where it is fewer than so many levels below the
       agent at the top (default 1: none does) */
    uint32_t max_depth;
    /* As many children stay when they have finished, the newest of them, and the model may continue
       one by its id (default 0: a child is freed when it has finished) */
    uint32_t keep;
    /* The children's events are emitted to the host, too, with the child as their agent. Such a
       child is freed once its events were popped, when the next one begins or its caller is freed
       (default: they are not) */
    bool show_events;
    uint32_t timeout_ms; /* of a call (default: none but the limits of the child's run) */
    char own_words[160]; /* phi_subagent_tool writes the default description here */
} phi_subagent_desc;

/* A tool that delegates: for phi_agent_desc.tools. A desc or name that is
   NULL gives a tool without a name, which phi_agent_new refuses. Parameters of the tool: `task`
   (text, required), and where `keep` is set `continue`, the id of a child that has finished: it
   goes on with its history. */
PHI_API phi_tool phi_subagent_tool(phi_subagent_desc *desc);

/* Begins a child by the host: the same as a call of the tool, but its result is an event of the
   parent, PHI_EV_SUBAGENT_END. The parent need not have a run. `child`, where given, is the child's
   handle: phi_abort ends it; it is stale when it was freed.
   task NULL, after phi_agent_restore of a parent and outside of callbacks: children of phi_spawn
   that had not finished, and have that desc's name, go on; `child` stays as it is. The first
   failure is returned; the children that failed are gone, and each has its PHI_EV_SUBAGENT_END.
   PHI_BAD_ARG, PHI_STALE; PHI_MISUSE: the runtime is closing, or the parent is of phi_run;
   PHI_NO_MEMORY, or as phi_agent_new: then nothing has begun. */
PHI_API phi_status phi_spawn(phi_agent parent, phi_subagent_desc *desc, const char *task,
                             phi_agent *child);

#ifdef __cplusplus
}
#endif
#endif
