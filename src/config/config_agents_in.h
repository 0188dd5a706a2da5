/* config_agents_in.h - shared by the files that make agents out of a configuration.

   A job is an agent, or the settings of a sub-agent, that is being put together. Jobs are made from
   [agent.instances]; sub-agents add theirs behind. When every job is complete and no problem is an
   error, the agents are made, all or none. */
#ifndef PHI_CONFIG_CONFIG_AGENTS_IN_H
#define PHI_CONFIG_CONFIG_AGENTS_IN_H

#include "config/config_in.h"
#include "config/config_tables_in.h"
#include "loop/provider.h"
#include "orchestrate/subagents.h"
#include "persist/store.h"

enum {
    PHI__CFG_JOBS_MOST = 4096,      /* agents and sub-agents of a file */
    PHI__CFG_DEPTH_MOST = 8,        /* sub-agents of sub-agents */
    PHI__CFG_PROMPT_BYTES = 1 << 20 /* of a file of a system prompt */
};

typedef struct phi__cfg_job {
    struct phi__cfg_job *next;
    phi__cfg_making making;
    phi_agent_desc desc;
    phi__cfg_agent taken; /* [agent], and its instance over it; zero for a sub-agent */
    phi__cfg_sub_agent child;
    uint32_t depth; /* 0: an agent */
    bool begun;
    size_t section; /* that is next */
    phi_agent agent;
    phi_named_agent shown; /* by phi_agents_at */
} phi__cfg_job;

/* A sub-agent that agents may share. */
typedef struct phi__cfg_kept {
    struct phi__cfg_kept *next;
    const phi_json *node;
    const phi__cfg_making *caller; /* that it was made for */
    phi_subagent_desc *sub;
} phi__cfg_kept;

/* What a file says once for all agents. */
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
    phi_store store;    /* of [session]; append NULL: none */
    bool lent;          /* the store is the host's */
    bool is_kept;       /* threads are in a store; of check_only they would be */
    const char *thread; /* NULL or "": agents' names are the ids of their threads */
} phi__cfg_maker;

/* ---- config_settings.c ---- */

/* The model of a [provider] or of one of its instances; NULL: nothing is set. `child`: a sub-agent
   whose own model, key, address and protocol count before, and who gets the provider's key and
   headers where it talks to the same server, as *same says. Both may be NULL together. Strings are
   the config's or in the arena. PHI_NO_MEMORY, PHI_BAD_ARG: a problem says why. */
PHI__FN phi_status phi__cfg_model_make(phi__cfg_ground *ground, const phi_json *node,
                                       const phi__cfg_sub_agent *child, phi_model *out, bool *same);

/* The provider of that name; of NULL: [provider]. NULL: there is none, as where [provider] has
   instances alone and says nothing of a model. */
PHI__FN const phi_json *phi__cfg_model_node(const phi__cfg_maker *maker, const char *name);

/* The quirks of a provider's model, before [provider.compat]. */
PHI__FN uint64_t phi__cfg_model_quirks(const phi__cfg_provider *provider);

/* ---- config_settings.c ---- */

/* A system prompt out of a field: the text, the file that it names, or the prompt that it refers
   to. *out NULL: it is empty. PHI_NO_MEMORY; other faults are problems, and *out is NULL. */
PHI__FN phi_status phi__cfg_prompt_make(phi__cfg_ground *ground, const phi_json *node,
                                        const char *workspace, const char **out);

/* ---- config_settings.c: parts of a desc; what the file does not set stays as it is there ---- */

/* The plain settings of a desc, over which the file's are taken; but for its ids. */
PHI__FN void phi__cfg_agent_begin(phi__cfg_agent *a, const phi_agent_desc *desc);

PHI__FN phi_status phi__settings_whole(phi__cfg_maker *maker, phi_agent_desc *desc);
PHI__FN phi_status phi__settings_agent(phi__cfg_maker *maker, phi__cfg_job *job);

/* [compaction] over *out, with an instance over both; reference NULL: none. */
PHI__FN void phi__settings_compaction(phi__cfg_maker *maker, const char *reference,
                                      phi_compaction_config *out);

/* ---- config_settings.c ---- */

/* The provider of a strategy: of an instance, or of one's name. PHI_NO_MEMORY, PHI_UNSUPPORTED. */
PHI__FN phi_status phi__cfg_strat_make(phi__cfg_ground *ground, const char *name,
                                       phi_provider **out);

#endif
