/* config_agents.h - agents out of a configuration, and a configuration out of an agent.

       phi_agents_desc with = PHI_ZERO;
       with.base = &desc;                              // hook_fn, user_data... of every agent
       phi_agents *agents = phi_agents_from_config(rt, config, &with);
       while (phi_agents_step(agents) == PHI_BUSY) phi_step(rt, 10);
       phi_prompt(phi_agents_get(agents, "planner"), "...");

   Each [[agent.instances]] is an agent; without one there is a single agent "default". What agents
   borrow (tools, connections to MCP servers, stores, sub-agents, strategies) belongs to the
   phi_agents. Documents that must be read or fetched first are why phi_agents_step may be busy; an
   MCP server may still be connecting when the agents are ready, but for one with required = true
   and where the host sets wait_for_servers: its tools come with a later turn.

   A relative workspace starts at the directory of the file. Without a workspace tools work in the
   working directory, and "file:" paths of prompts start at the directory of the file.
   An agent without its own list (mcp, openapi, sub_agents) has all that the file declares. A
   reference with % shares one connection, document or sub-agent with all that refer to it so (a
   sub-agent with those in the same workspace and at the same server); without % each reference
   makes its own.
   Prompts, skills and rules are read while the agents are made, which waits for the disk: it is for
   start-up.
   Ownership: it borrows the runtime and the config: free it before them. An agent may be freed by
   the host before; its handle is stale then.
   Threads: the pumping thread. */
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
    /* Fields that no file has (hook_fn, user_data, filters, provider, token_counter...), and
       others, of every agent: what the file sets, each limit by itself, is the file's. Compaction
       is off until the file or base.compaction has max_context_tokens, and a limit of the file ends
       limits.disable. failover, model: whole, of one or the other. base.profile fills
       what base leaves unset, and then the file is read over both; its skills choose those of
       [skills], and without that section the host loads them. For sub-agents only hook_fn at
       BEFORE_TOOL and AFTER_TOOL, and at CREDENTIAL if they use the agent's server without their
       own provider or api_key: see phi_hook.model. phi_agent_set does not change it for them.
       Borrowed until the agents are made; user_data and hook_user_data as long as them. */
    const phi_agent_desc *base;
    /* The host's own tools, for [tools] enabled and the tools of sub-agents, by name; they come
       before built-in tools of the same name. As phi_agent_desc.tools (default: none) */
    const phi_tool *tools;
    size_t tool_count;
    /* Asked about calls that the [permissions] rules ask about; it may say PHI_WAIT (default: such
       calls are denied) */
    phi_hook_fn ask_fn;
    void *ask_user_data;
    /* Keeps threads where [session] scope is "persistent" and names no directory; copied, its
       pointers borrowed as long as the phi_agents (default: base->store). base->thread_id is the
       thread where the file has none, and needs a store: it is kept whatever scope says. Each of
       several agents has its own ("THREAD-AGENT") */
    const phi_store *store;
    /* "dir/name.jsonl": the thread of the first agent, whatever [session] says; others have theirs
       next to it ("name-AGENT"). The name is one that a store takes ([A-Za-z0-9._-]); copied */
    const char *session_file;
    /* Shows the URL of an authorization of an MCP server (phi_mcp_oauth_desc.open_browser_fn);
       NULL: only tokens that `store` has are used */
    phi_status (*open_url_fn)(void *user_data, const char *url);
    void *open_url_user_data;
    /* Everything is checked and nothing is begun: no file of a store, no process, no connection, no
       agent. phi_agents_step says PHI_OK where agents could have been made. */
    bool check_only;
    /* phi_agents_step stays busy until each MCP server is ready or has failed, so that the first
       request has their tools; one that has failed is a warning (default: only for those with
       required = true) */
    bool wait_for_servers;
    /* MCP servers' programs get no variable whose name looks like a key, whatever the file says */
    bool hide_keys;
} phi_agents_desc;

/* Begins. A config with errors gives an object with the first one's status.
   NULL: no memory for the object, or rt or config is NULL. */
PHI_API phi_agents *phi_agents_from_config(phi_runtime *rt, const phi_config *config,
                                           const phi_agents_desc *desc);
/* Frees the agents, and then all that they borrowed. NULL is harmless. Inside a callback nothing is
   freed, and phi_last_error says PHI_MISUSE. */
PHI_API void phi_agents_free(phi_agents *agents);

/* Does a bounded amount of work. PHI_BUSY: call phi_step, then this again. PHI_OK: all agents
   exist. All else stays: none exists, and the problems say why. */
PHI_API phi_status phi_agents_step(phi_agents *agents);

/* Problems of the config, as phi_config_problem_at, and after them those that show only now (files
   of prompts, names of tools, documents that cannot be read); errors and warnings. NULL past the
   last. */
PHI_API const phi_config_problem *phi_agents_problem_at(const phi_agents *agents, size_t index);

/* The agent of that name, NULL: the first. rt NULL: there is none, or not yet. */
PHI_API phi_agent phi_agents_get(const phi_agents *agents, const char *name);

typedef struct phi_named_agent {
    phi_str name;
    phi_agent agent;
} phi_named_agent;

/* The agents in the order of the file; NULL past the last, and before they exist. Valid until the
   next call of this, phi_agents_reload or phi_agents_free. */
PHI_API const phi_named_agent *phi_agents_at(const phi_agents *agents, size_t index);

/* Each agent of `to` goes on with what the agent of the same name in `from` has: its conversation,
   queues, spending, facts and run, in whatever state, as by phi_agent_snapshot and
   phi_agent_restore with the desc of the new one. So a changed file takes effect in the midst of a
   game. Handles are others then: phi_agents_get. Agents of `from` that went over are freed; those
   without a namesake stay, and so do new ones of `to`. An agent of `to` with a store keeps its
   thread: free the agents of such a file first, then load it again.
   All or nothing, with words in phi_last_error: PHI_NO_MEMORY, PHI_MISUSE (inside a callback, or
   `to` has not been stepped to PHI_OK), PHI_BAD_ARG, or as phi_agent_restore. */
PHI_API phi_status phi_agents_reload(phi_agents *to, phi_agents *from);

/* The model that an alias or a reference of the file means, ":fast" or "{{provider.openai}}", for
   PHI_SET_MODEL; its strings are the object's. PHI_NOT_FOUND, PHI_BAD_ARG. */
PHI_API phi_status phi_agents_model(phi_agents *agents, const char *name, phi_model *out);

/* ---- an agent as a configuration ---- */

/* What an agent is now, as a file that phi_config_load reads: model, prompt, profile, limits,
   retry, cache, compaction, names of tools; the workspace is absolute (as it is where it cannot be
   resolved), and the default "." is left out. Keys, logins, queries of addresses (but versions)
   and headers are variables and never their values.
   The reader sets these variables, and brings the tools that are named: phi_config_sections(),
   phi_agents_desc.tools. Not written: hooks, callbacks, filters, strategies, failover, stores, and
   the sections skills, sub_agents, mcp, openapi, permissions, callbacks with the tools that they
   bring (phi_tool.unlisted); the index of skills stays in the prompt.
   In the arena. PHI_STALE, PHI_UNSUPPORTED (a format that is left out), PHI_NO_MEMORY. */
PHI_API phi_status phi_config_write(phi_agent agent, phi_config_format format, phi_arena *arena,
                                    phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
