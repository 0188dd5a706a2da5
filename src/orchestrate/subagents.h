/* subagents.h - agents as tools of agents: a model delegates a task to a child agent, which works
   in its own history and returns its last answer.

   A child belongs to the calling agent: phi_abort of the caller also ends the child, and the
   caller's budget pays for the child. The child's memory belongs to the runtime. A child has a new
   history, new ids and its own limits. It has no sub-agents unless max_depth allows them. Many
   children can run at the same time, on the pumping thread. The host sees a child through the
   caller's events: the child's text, tools and progress are updates of the call
   (PHI_EV_TOOL_UPDATE, PHI_EV_TOOL_PROGRESS).

   A result is the text of the child's last answer that has text, with its blocks joined by line
   breaks, or "(sub-agent produced no text output)". Its details are JSON:
   {"sub_agent":name,"turns":messages of the run,"id":...}, with the id only if the child can be
   continued. If the run fails, the result is an error with the run's message. If a limit or a budget
   ends the run, the result is no error: it has a second text block, such as
   "[Agent stopped: Max turns reached (10/10)]", and the details have "status":"limit".

   The logs refer to each other: the caller's log has a SPAWN entry, and the child's LOOP_START
   entry names the caller's run as its parent. A snapshot of the caller holds its active and its
   kept children. After phi_agent_restore with the same tools, the calls continue.
   Threads: the pumping thread. */
#ifndef PHI_ORCHESTRATE_SUBAGENTS_H
#define PHI_ORCHESTRATE_SUBAGENTS_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field except the name. The desc and its pointers are borrowed until
   every agent with the tool is freed. */
typedef struct phi_subagent_desc {
    const char *name; /* the tool's name */
    /* Tells the model what the tool does (default: "Delegate a task to the 'name' sub-agent") */
    const char *description;
    /* Settings of the children. If the model has no protocol, children use the caller's model and
       provider. Limits default to 10 turns, 1,000,000 tokens and 300 s, ids.config_id to "sub". phi
       sets parent, ids.agent_id, ids.session_id, thread_id and input.first_turn_trigger (default:
       all defaults) */
    const phi_agent_desc *agent;
    /* Levels of children below the topmost agent. Children at the lowest level get no sub-agent
       tools (default 1: no child gets them) */
    uint32_t max_depth;
    /* Keeps this many finished children, the newest ones. The model may continue a kept child by
       its id (default 0: a finished child is freed) */
    uint32_t keep;
    /* Also emits the children's own events to the host, with the child as their agent. A finished
       child is then freed after the host has popped its events, when the next child begins or the
       caller is freed (default: hides the events) */
    bool show_events;
    uint32_t timeout_ms; /* timeout of a call (default: only the limits of the child's run) */
    char own_words[160]; /* holds the default description */
} phi_subagent_desc;

/* Returns the tool for phi_agent_desc.tools. If desc or desc->name is NULL, the tool has no name
   and phi_agent_new rejects it. The parameters are `task` (text, required) and, if `keep` is set,
   `continue`: the id of a finished child, which then continues with its history. */
PHI_API phi_tool phi_subagent_tool(phi_subagent_desc *desc);

/* Begins a child for the host. It works like a call of the tool, but the result is the event
   PHI_EV_SUBAGENT_END of the parent. The parent need not have a run. `child` receives the child's
   handle unless it is NULL. phi_abort of the handle ends the child. The handle is stale once the
   child is freed.

   If task is NULL, phi_spawn resumes the parent's unfinished children that phi_spawn began with a
   desc of the same name. Do this after phi_agent_restore of the parent, not inside a callback. Such
   a call does not set *child, and returns the first failure. Children that fail are freed, and each
   emits PHI_EV_SUBAGENT_END.

   PHI_BAD_ARG: the name is missing or the task is empty. PHI_MISUSE: the runtime is closing, the
   parent is the agent of a phi_run, or task is NULL inside a callback. Also PHI_STALE,
   PHI_NO_MEMORY and the errors of phi_agent_new. If a call with a task fails, no child has
   begun. If a call without a task fails, the children that did not fail continue. */
PHI_API phi_status phi_spawn(phi_agent parent, phi_subagent_desc *desc, const char *task,
                             phi_agent *child);

#ifdef __cplusplus
}
#endif
#endif
