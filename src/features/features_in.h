/* features_in.h - functions and types of features/ for other rooms. */
#ifndef PHI_FEATURES_FEATURES_IN_H
#define PHI_FEATURES_FEATURES_IN_H

#include "base/base_in.h"
#include "features/caching.h"
#include "features/effects.h"
#include "features/facts.h"
#include "features/failover.h"
#include "features/features.h"
#include "loop/agent_desc.h"
#include "loop/compactor.h"
#include "loop/loop_in.h"
#include "text/json.h"

typedef struct phi__ask_model phi__ask_model;

typedef struct phi__attached phi__attached;

struct phi__compacted;

enum {
    PHI__FEATURE_AT_FIELDS,
    PHI__FEATURE_AT_CACHING,
    PHI__FEATURE_AT_FACTS,
    PHI__FEATURE_AT_CAPTURE,
    PHI__FEATURE_AT_EFFECTS,
    PHI__FEATURE_AT_CONTEXT_EDITS,
    PHI__FEATURE_AT_DEFERRED,
    PHI__FEATURE_AT_FAILOVER,
    PHI__FEATURE_AT_ASK_MODEL,
    PHI__FEATURE_AT_COMPACTION,
    PHI__FEATURE_AT_ATTACHED,
    PHI__FEATURE_AT_SUMMARIES,
    /* The features below have no points: the loop reaches them by pointers in phi__features. */
    PHI__FEATURE_AT_FORMATS,
    PHI__FEATURE_AT_DEFERRAL,
    PHI__FEATURE_AT_SOURCES
};

PHI__FN const phi__feature *phi__ask_model_feature(void);

/* Gives an idle agent this model, which was checked before, for the run that begins now. NULL: no
   memory, and nothing changed. */
PHI__FN phi__ask_model *phi__ask_model_begin(phi__agent *agent, const phi_model *model);

/* Called when the run has begun. The end of the run gives the agent its own model back. */
PHI__FN void phi__ask_model_keep(phi__agent *agent, phi__ask_model *ask);

/* Called when no run has begun. Gives the agent its own model back. */
PHI__FN void phi__ask_model_drop(phi__agent *agent, phi__ask_model *ask);

/* If a run has its own model, puts the agent's own model into *out. */
PHI__FN void phi__ask_model_own(const phi__agent *agent, phi_agent_desc *out);

typedef struct phi__attached_ops {
    const char *name; /* the object's name, and its member in a snapshot; unique in the agent */
    /* Writes one JSON value and changes nothing. NULL: the object is not saved. */
    void (*save)(const phi__attached *object, phi__buf *out, phi_arena *scratch);
    /* Called after the agent's log was replaced by a copy of its view or by an empty log. May free
       the agent. NULL: not called. */
    void (*renewed)(phi__attached *object, bool copied);
    /* Called when the agent is freed: frees the detached object's memory. May call the host. */
    void (*freed)(phi__attached *object);
} phi__attached_ops;

struct phi__attached {
    phi__link link;
    const phi__attached_ops *ops; /* a static table */
    phi__agent *agent;            /* NULL while not attached */
};

/* Attaches an object under a name that must be free. An attached object must not move. */
PHI__FN void phi__attached_add(phi__agent *agent, phi__attached *object,
                               const phi__attached_ops *ops);

/* Detaches an object without calling `freed`. Harmless if the object is not attached. */
PHI__FN void phi__attached_remove(phi__attached *object);
/* Returns the attached object of this name, or NULL. */
PHI__FN phi__attached *phi__attached_find(const phi__agent *agent, const char *name);

/* Returns the JSON that a restored snapshot has for an object of this name; len 0: none. The text
   is in the agent's memory until it is dropped or the agent is freed. */
PHI__FN phi_str phi__attached_saved(const phi__agent *agent, const char *name);
/* frees this JSON; harmless if there is none */
PHI__FN void phi__attached_saved_drop(phi__agent *agent, const char *name);
PHI__FN const phi__feature *phi__attached_feature(void);
PHI__FN const phi__feature *phi__compaction_feature(void);

/* Ends the active job of the agent's compactor, if any. May call the host. */
PHI__FN void phi__compaction_forget(phi__agent *agent);

/* True if the rewrite would make the view smaller. */
PHI__FN bool phi__weigh_gains(const phi__agent *agent, const phi_rewrite *rewrite);

/* Sets *gains to true if a compaction would save something now. Returns PHI_OK or PHI_NO_MEMORY. */
PHI__FN phi_status phi__compaction_gains(const phi__agent *agent, bool *gains);

/* deferred.c: applies or defers a rewrite, like phi_agent_rewrite. must_gain: the outcome is
   PHI_REFUSED if the rewrite would not make the view smaller. */
PHI__FN phi_status phi__deferred_rewrite(phi__agent *agent, const phi_rewrite *rewrite,
                                         bool must_gain);

/* Withdraws the deferred rewrite. PHI_NOT_FOUND: no rewrite is deferred. PHI_NO_MEMORY: nothing
   changed. */
PHI__FN phi_status phi__deferred_withdraw(phi__agent *agent);

/* A fact. Key and value share one block, and both are terminated. */
typedef struct phi__fact {
    phi_str key, value;
    uint64_t version;
} phi__fact;

typedef struct phi__fact_list {
    phi__fact *at;
    size_t count, cap;
    size_t bytes; /* bytes of all keys and values */
} phi__fact_list;

typedef struct phi__fact_group {
    phi_str name; /* separately allocated */
    phi__fact_list list;
} phi__fact_group;

/* The facts of a runtime, for all agents and for groups. */
typedef struct phi__facts {
    phi__fact_list all;
    phi__fact_group *groups; /* sorted by name; each has at least one fact */
    size_t count, cap;
} phi__facts;

/* A copied list that no agent has yet. Pass it to phi__failover_put, or free the arena. */
typedef struct phi__failover_made {
    phi_arena arena;
    const struct phi__failover_list *list; /* NULL: no list */
} phi__failover_made;

/* Checks a model. On failure phi_last_error has a message that begins with `what`. */
typedef phi_status (*phi__model_check_fn)(phi_runtime *rt, const char *what,
                                          const phi_provider *own, const phi_model *model);

/* The type of rt->features.failover. */
typedef struct phi__failover_ops {
    /* Checks a list for an agent with this provider and these tools. */
    phi_status (*check)(phi_runtime *rt, const phi_failover *failover, const phi_provider *own,
                        const phi_tool *tools, size_t tool_count, phi__model_check_fn model_check);
    bool (*make)(phi__agent *agent, const phi_failover *given, phi__failover_made *out);
    void (*put)(phi__agent *agent, const phi__failover_made *made);
    uint32_t (*leave)(phi__agent *agent);
    void (*back)(phi__agent *agent, uint32_t at);
    void (*own)(const phi__agent *agent, phi_agent_desc *out);
    bool (*inherit)(const phi__agent *agent, phi_arena *arena, phi_agent_desc *out);
} phi__failover_ops;

/* Copies a list (NULL: none) into the agent's memory. False: no memory, and nothing to free. */
static inline bool phi__failover_make(phi__agent *agent, const phi_failover *given,
                                      phi__failover_made *out) {
    memset(out, 0, sizeof *out);
    return agent->rt->features.failover == NULL ||
           agent->rt->features.failover->make(agent, given, out);
}

/* Replaces the agent's list. The agent must be at its own model. */
static inline void phi__failover_put(phi__agent *agent, const phi__failover_made *made) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->put(agent, made);
}

/* Returns the agent to its own model. The result is the old seat, for phi__failover_back. */
static inline uint32_t phi__failover_leave(phi__agent *agent) {
    return agent->rt->features.failover != NULL ? agent->rt->features.failover->leave(agent) : 0;
}

static inline void phi__failover_back(phi__agent *agent, uint32_t at) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->back(agent, at);
}

/* Puts the agent's own model and settings into *out, instead of those of the current seat. */
static inline void phi__failover_own(const phi__agent *agent, phi_agent_desc *out) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->own(agent, out);
}

/* Called for a new agent below this agent. Puts the current model and a list of the later models
   into out, in the arena. False: no memory. */
static inline bool phi__failover_inherit(const phi__agent *agent, phi_arena *arena,
                                         phi_agent_desc *out) {
    return agent->rt->features.failover == NULL ||
           agent->rt->features.failover->inherit(agent, arena, out);
}

#endif
