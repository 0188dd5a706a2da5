/* config_agents_in.h - shared by the files that make agents from a configuration.

   A job puts together an agent, or the settings of a sub-agent. Jobs are made from
   [agent.instances]; jobs of sub-agents are appended. If all jobs are complete without an error,
   all agents are made. */
#ifndef PHI_CONFIG_CONFIG_AGENTS_IN_H
#define PHI_CONFIG_CONFIG_AGENTS_IN_H

#include "config/config_in.h"
#include "config/config_tables_in.h"
#include "loop/provider.h"
#include "orchestrate/subagents.h"
#include "persist/store.h"

enum {
    PHI__CFG_JOBS_MOST = 4096,      /* max. agents and sub-agents of a file */
    PHI__CFG_DEPTH_MOST = 8,        /* max. levels of sub-agents */
    PHI__CFG_PROMPT_BYTES = 1 << 20 /* max. bytes of a system prompt's file */
};

typedef struct phi__cfg_job {
    struct phi__cfg_job *next;
    phi__cfg_making making;
    phi_agent_desc desc;
    phi__cfg_agent taken; /* [agent], overwritten by its instance; zero for a sub-agent */
    phi__cfg_sub_agent child;
    uint32_t depth; /* 0 for an agent */
    bool begun;
    size_t section; /* index of the next section */
    phi_agent agent;
    phi_named_agent shown; /* returned by phi_agents_at */
} phi__cfg_job;

/* A sub-agent that is shared by references with % to the same table, if their callers are alike
   (phi__cfg_child_alike). */
typedef struct phi__cfg_kept {
    struct phi__cfg_kept *next;
    const phi_json *node;
    const phi__cfg_making *caller; /* the caller that it was made for */
    phi_subagent_desc *sub;
} phi__cfg_kept;

/* The parts of a file that hold for all agents. */
typedef struct phi__cfg_whole {
    phi__cfg_top top;
    phi__cfg_tools tools;
    phi__cfg_session session;
} phi__cfg_whole;

typedef struct phi__cfg_maker {
    phi__cfg_ground ground;
    phi__cfg_whole whole;
    phi__cfg_job *first, *last, *at;
    size_t job_count;
    struct phi__cfg_kept *kept;
    phi_store store;    /* the store of [session]; its append is NULL if there is no store */
    bool lent;          /* the store belongs to the host */
    bool is_kept;       /* threads are kept in a store; with check_only, they would be */
    const char *thread; /* NULL or "": thread ids are the agents' names */
} phi__cfg_maker;

/* Fills a model from [provider] or one of its instances (NULL: none). A sub-agent's own model, key,
   address and protocol take precedence. A sub-agent gets the provider's key and headers only if it
   uses the provider's server; *same is then set to true. `child` and `same` may both be NULL.
   Strings belong to the config or the arena. Fails only with PHI_NO_MEMORY. */
PHI__FN phi_status phi__cfg_model_make(phi__cfg_ground *ground, const phi_json *node,
                                       const phi__cfg_sub_agent *child, phi_model *out, bool *same);

/* Returns the provider of that name, or [provider] if name is NULL. Returns NULL if there is no
   such provider, or if [provider] has only instances and no model. */
PHI__FN const phi_json *phi__cfg_model_node(const phi__cfg_maker *maker, const char *name);

/* Returns the quirks of a provider's model, before [provider.compat]. */
PHI__FN uint64_t phi__cfg_model_quirks(const phi__cfg_provider *provider);

/* Reads a system prompt from a field: a text, a file or a reference to a prompt. *out is NULL if
   the prompt is empty. Fails only with PHI_NO_MEMORY. Any other fault is reported as a problem, and
   *out is then NULL. */
PHI__FN phi_status phi__cfg_prompt_make(phi__cfg_ground *ground, const phi_json *node,
                                        const char *workspace, const char **out);

/* The functions below fill parts of a desc. Fields that the file does not set keep their values. */

/* Copies a desc's plain settings, without its ids, before the file's settings are read over
   them. */
PHI__FN void phi__cfg_agent_begin(phi__cfg_agent *a, const phi_agent_desc *desc);

PHI__FN phi_status phi__settings_whole(phi__cfg_maker *maker, phi_agent_desc *desc);
PHI__FN phi_status phi__settings_agent(phi__cfg_maker *maker, phi__cfg_job *job);

/* Reads [compaction] over *out, then the instance that `reference` names (NULL: none). */
PHI__FN void phi__settings_compaction(phi__cfg_maker *maker, const char *reference,
                                      phi_compaction_config *out);

/* Makes the provider of the strategy `name`: an instance of the file, or a built-in strategy. Fails
   only with PHI_NO_MEMORY. */
PHI__FN phi_status phi__cfg_strat_make(phi__cfg_ground *ground, const char *name,
                                       const phi_provider **out);

#endif
