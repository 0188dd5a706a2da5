/* config_agents.h - makes agents from a configuration, and a configuration from an agent.

       phi_agents_desc with = PHI_ZERO;
       with.base = &desc;                              // hook_fn, user_data... of every agent
       phi_agents *agents = phi_agents_from_config(rt, config, &with);
       while (phi_agents_step(agents) == PHI_BUSY) phi_step(rt, 10);
       phi_prompt(phi_agents_get(agents, "planner"), "...");

   Each [[agent.instances]] is an agent. Without instances there is a single agent "default". The
   phi_agents owns everything that its agents borrow: tools, connections to MCP servers, stores,
   sub-agents, strategies. phi_agents_step can be busy because documents must be read or fetched
   first. An MCP server may still be connecting when the agents are ready; its tools then come with
   a later turn. Servers with required = true are always waited for, and all servers if the host
   sets wait_for_servers.

   A relative workspace starts at the directory of the file. Without a workspace, tools work in the
   working directory, and "file:" paths of prompts start at the directory of the file.

   An agent without its own list (mcp, openapi, sub_agents) gets all that the file declares. If
   references with % name the same connection, document or sub-agent, they share it. A sub-agent is
   shared only by callers with the same workspace and server. Each reference without % makes its own
   connection, document or sub-agent.

   Prompts, skills and rules are read while the agents are made. This waits for the disk, so do it
   at start-up.

   Ownership: a phi_agents borrows the runtime and the config: free it before them. The host may
              free an agent earlier; the agent's handle is then stale.
   Threads:   the pumping thread. */
#ifndef PHI_CONFIG_CONFIG_AGENTS_H
#define PHI_CONFIG_CONFIG_AGENTS_H

#include "agent/agent.h"
#include "config/config.h"
#include "persist/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_agents phi_agents;

/* Zero means default for every field. */
typedef struct phi_agents_desc {
    /* Desc for all agents: fields that no file has (hook_fn, user_data, filters, provider,
       token_counter...), and defaults of other fields. The file's values win, field by field. Only
       failover and model are taken whole, from the file or from here. Compaction is off unless the
       file or base->compaction has max_context_tokens. A limit in the file clears limits.disable.
       base->profile sets fields that base leaves unset; the file's values replace both. The
       profile's `skills` select from the skills of [skills]. Without that section the host loads
       the skills.

       Sub-agents get only hook_fn, at BEFORE_TOOL and AFTER_TOOL. They also get it at CREDENTIAL if
       they use the agent's server without their own provider or api_key: see phi_hook.model.
       phi_agent_set does not change hook_fn for them.

       The desc is borrowed until the agents are made. Its user_data and hook_user_data are borrowed
       as long as the agents live. */
    const phi_agent_desc *base;
    /* The host's own tools. The list tools.enabled and sub-agents may name them. They replace
       built-in tools of the same name. Borrowed as phi_agent_desc.tools (default: none). */
    const phi_tool *tools;
    size_t tool_count;
    /* Decides calls that the [permissions] rules ask about. May return PHI_WAIT (default: deny). */
    phi_hook_fn ask_fn;
    void *ask_user_data;
    /* Keeps threads if [session] has the scope "persistent" and no directory. Copied; its pointers
       are borrowed as long as the phi_agents (default: base->store). If the file names no thread,
       base->thread_id names it; this thread needs a store and is kept even without the scope
       "persistent". Each of several agents has its own thread ("THREAD-AGENT"). */
    const phi_store *store;
    /* "dir/name.jsonl": the thread of the first agent, whatever [session] says. Threads of other
       agents are next to this file ("name-AGENT"). A store must accept the name ([A-Za-z0-9._-]).
       Copied. */
    const char *session_file;
    /* Shows the URL where the user authorizes an MCP server (phi_mcp_oauth_desc.open_browser_fn).
       If NULL, only tokens in `store` are used. */
    phi_status (*open_url_fn)(void *user_data, const char *url);
    void *open_url_user_data;
    /* Checks everything and starts nothing: no file of a store, no process, no connection, no
       agent. phi_agents_step returns PHI_OK if agents could have been made. */
    bool check_only;
    /* phi_agents_step stays busy until each MCP server is ready or has failed, so that the first
       request has the tools of all servers. A failed server is a warning (default: waits only if
       required = true). */
    bool wait_for_servers;
    /* MCP servers' programs get no variable whose name looks like a key, whatever the file says. */
    bool hide_keys;
} phi_agents_desc;

/* Begins to make agents. If the config has errors, the first phi_agents_step returns the status of
   the first error. NULL: there is no memory for the object, or rt or config is NULL. */
PHI_API phi_agents *phi_agents_from_config(phi_runtime *rt, const phi_config *config,
                                           const phi_agents_desc *desc);
/* Frees the agents, and then all that they borrowed. NULL is harmless. Inside a callback, nothing
   is freed and phi_last_error says PHI_MISUSE. */
PHI_API void phi_agents_free(phi_agents *agents);

/* Does a bounded amount of work. PHI_BUSY: call phi_step, then phi_agents_step again. PHI_OK:
   all agents exist. PHI_MISUSE: called inside a callback; call it again outside. Any other
   status is final: no agent exists, and the problems say why. */
PHI_API phi_status phi_agents_step(phi_agents *agents);

/* Returns an error or a warning, or NULL past the last. Problems of the config come first, as in
   phi_config_problem_at. Then come problems found while making agents, such as a missing prompt
   file, an unknown tool or an unreadable document. */
PHI_API const phi_config_problem *phi_agents_problem_at(const phi_agents *agents, size_t index);

/* Returns the agent of that name, or the first agent if name is NULL. If there is no such agent, or
   not yet, the result's rt is NULL. */
PHI_API phi_agent phi_agents_get(const phi_agents *agents, const char *name);

typedef struct phi_named_agent {
    phi_str name;
    phi_agent agent;
} phi_named_agent;

/* Returns an agent in the order of the file. NULL past the last, and before the agents exist. Valid
   until the next phi_agents_at, phi_agents_reload or phi_agents_free. */
PHI_API const phi_named_agent *phi_agents_at(const phi_agents *agents, size_t index);

/* Moves conversations to the agents of a changed file, even during a run. Each agent of `to`
   continues the agent of the same name in `from`: its conversation, queues, spending, facts and
   run, in any state, as if by phi_agent_snapshot and phi_agent_restore with the new desc. Handles
   change: call phi_agents_get again. Agents of `from` that were continued are freed. Other agents
   of `from` and new agents of `to` stay as they are. An agent of `to` with a store keeps its own
   thread: for such a file, free the old agents first, then load it again.

   If this fails, nothing changes. PHI_MISUSE: inside a callback, or phi_agents_step(to) has not
   returned PHI_OK. PHI_BAD_ARG: `to` and `from` are the same, belong to two runtimes, or one is
   NULL. Also PHI_NO_MEMORY and the statuses of phi_agent_restore. Except after PHI_BAD_ARG,
   phi_last_error has a message. */
PHI_API phi_status phi_agents_reload(phi_agents *to, phi_agents *from);

/* Sets *out to the model of an alias or a reference, such as ":fast" or "{{provider.openai}}", for
   PHI_SET_MODEL. Its strings belong to `agents`. PHI_NOT_FOUND: no such model. PHI_BAD_ARG: an
   argument is NULL, or the config has errors. */
PHI_API phi_status phi_agents_model(phi_agents *agents, const char *name, phi_model *out);

/* ---- writing an agent as a configuration ---- */

/* Writes an agent's current state as a file that phi_config_load reads: model, prompt, profile,
   limits, retry, cache, compaction, names of tools. The workspace is written absolute if it can be
   resolved; the default "." is left out. Keys, logins, headers, and queries of addresses are
   written as variables, never as values (a query that holds only versions is kept). To load the
   file, set these variables and supply the named tools: phi_config_sections(),
   phi_agents_desc.tools.

   Hooks, callbacks, filters, strategies, failover and stores are not written. Neither are the
   sections skills, sub_agents, mcp, openapi, permissions and callbacks, nor the tools that they
   make (phi_tool.unlisted). The index of skills stays in the prompt. *out is in the arena.
   PHI_STALE: the agent was freed. PHI_UNSUPPORTED: unknown format. PHI_BAD_ARG: arena or out is
   NULL. Also PHI_NO_MEMORY. */
PHI_API phi_status phi_config_write(phi_agent agent, phi_config_format format, phi_arena *arena,
                                    phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
