/* features_in.h - what features/ offers to other rooms. */
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
    /* these want no point: they are reached by a pointer in phi__features */
    PHI__FEATURE_AT_FORMATS,
    PHI__FEATURE_AT_DEFERRAL,
    PHI__FEATURE_AT_SOURCES
};

PHI__FN const phi__feature *phi__ask_model_feature(void);

/* Gives an idle agent the model, checked before, for the run that begins now. NULL: no memory, and
   nothing changed. */
PHI__FN phi__ask_model *phi__ask_model_begin(phi__agent *agent, const phi_model *model);

/* The agent's run has begun with it: its end gives the agent its own model back. */
PHI__FN void phi__ask_model_keep(phi__agent *agent, phi__ask_model *ask);

/* No run has begun. */
PHI__FN void phi__ask_model_drop(phi__agent *agent, phi__ask_model *ask);

/* Puts the agent's own model in place of that of its run. */
PHI__FN void phi__ask_model_own(const phi__agent *agent, phi_agent_desc *out);

typedef struct phi__attached_ops {
    const char *name; /* of the object, and of its member in a snapshot: one an agent */
    /* Writes one JSON value; NULL: the object is not saved. Changes nothing. */
    void (*save)(const phi__attached *object, phi__buf *out, phi_arena *scratch);
    /* The agent's log is another one: a copy of its view, or empty. NULL: no matter. It may
       free the agent. */
    void (*renewed)(phi__attached *object, bool copied);
    /* The agent goes, and has forgotten the object: frees its memory. It may call the host. */
    void (*freed)(phi__attached *object);
} phi__attached_ops;

struct phi__attached {
    phi__link link;
    const phi__attached_ops *ops; /* static */
    phi__agent *agent;            /* NULL: not attached */
};

/* An object of that name must not be attached yet. It must not move while it is attached. */
PHI__FN void phi__attached_add(phi__agent *agent, phi__attached *object,
                               const phi__attached_ops *ops);

/* Without `freed`; not attached: harmless. */
PHI__FN void phi__attached_remove(phi__attached *object);
PHI__FN phi__attached *phi__attached_find(const phi__agent *agent, const char *name); /* or NULL */

/* The JSON that a restored snapshot holds for an object of that name, in the agent's memory until
   it is dropped or the agent freed; len 0: none. */
PHI__FN phi_str phi__attached_saved(const phi__agent *agent, const char *name);
PHI__FN void phi__attached_saved_drop(phi__agent *agent, const char *name); /* none: harmless */
PHI__FN const phi__feature *phi__attached_feature(void);
PHI__FN const phi__feature *phi__compaction_feature(void);

/* Ends the job of the agent's compactor, if there is one; it may call the host. */
PHI__FN void phi__compaction_forget(phi__agent *agent);

/* True if less would be in view afterwards. */
PHI__FN bool phi__weigh_gains(const phi__agent *agent, const phi_rewrite *rewrite);

/* *gains: a compaction now would do something. PHI_NO_MEMORY; PHI_UNSUPPORTED. */
PHI__FN phi_status phi__compaction_gains(const phi__agent *agent, bool *gains);

/* deferred.c: as phi_agent_rewrite. must_gain: PHI_REFUSED, when it is done, where no less would be
   in view. */
PHI__FN phi_status phi__deferred_rewrite(phi__agent *agent, const phi_rewrite *rewrite,
                                         bool must_gain);

/* PHI_NOT_FOUND: none is deferred; PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__deferred_withdraw(phi__agent *agent);

/* Key and value share one block, each terminated. */
typedef struct phi__fact {
    phi_str key, value;
    uint64_t version;
} phi__fact;

typedef struct phi__fact_list {
    phi__fact *at;
    size_t count, cap;
    size_t bytes; /* of keys and values */
} phi__fact_list;

typedef struct phi__fact_group {
    phi_str name; /* separately allocated */
    phi__fact_list list;
} phi__fact_group;

/* The state of a runtime. */
typedef struct phi__facts {
    phi__fact_list all;
    phi__fact_group *groups; /* by name; none without facts */
    size_t count, cap;
} phi__facts;

/* A list that was copied, and is not an agent's yet: phi__failover_put, or free the arena. */
typedef struct phi__failover_made {
    phi_arena arena;
    const struct phi__failover_list *list; /* NULL: none */
} phi__failover_made;

/* PHI_OK, or phi_last_error has words that begin with `what`. */
typedef phi_status (*phi__model_check_fn)(phi_runtime *rt, const char *what,
                                          const phi_provider *own, const phi_model *model);

/* The type of rt->features.failover. */
typedef struct phi__failover_ops {
    /* The list of an agent with that provider and those tools: PHI_OK, or words. */
    phi_status (*check)(phi_runtime *rt, const phi_failover *failover, const phi_provider *own,
                        const phi_tool *tools, size_t tool_count, phi__model_check_fn model_check);
    bool (*make)(phi__agent *agent, const phi_failover *given, phi__failover_made *out);
    void (*put)(phi__agent *agent, const phi__failover_made *made);
    uint32_t (*leave)(phi__agent *agent);
    void (*back)(phi__agent *agent, uint32_t at);
    void (*own)(const phi__agent *agent, phi_agent_desc *out);
    bool (*inherit)(const phi__agent *agent, phi_arena *arena, phi_agent_desc *out);
} phi__failover_ops;

/* Copies a list in the agent's memory; NULL gives none. False: no memory, and nothing to free. */
static inline bool phi__failover_make(phi__agent *agent, const phi_failover *given,
                                      phi__failover_made *out) {
    memset(out, 0, sizeof *out);
    return agent->rt->features.failover == NULL ||
           agent->rt->features.failover->make(agent, given, out);
}

/* It takes the place of the agent's list; the agent sits at its own model. */
static inline void phi__failover_put(phi__agent *agent, const phi__failover_made *made) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->put(agent, made);
}

/* Seats the agent at its own model; returns where it sat, for phi__failover_back. */
static inline uint32_t phi__failover_leave(phi__agent *agent) {
    return agent->rt->features.failover != NULL ? agent->rt->features.failover->leave(agent) : 0;
}

static inline void phi__failover_back(phi__agent *agent, uint32_t at) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->back(agent, at);
}

/* Puts the agent's own model and settings in place of those of the model where it sits. */
static inline void phi__failover_own(const phi__agent *agent, phi_agent_desc *out) {
    if (agent->rt->features.failover != NULL) agent->rt->features.failover->own(agent, out);
}

/* For an agent below it, which begins at this one's current model: that model, and the list of
   later ones, in the arena. False: no memory. */
static inline bool phi__failover_inherit(const phi__agent *agent, phi_arena *arena,
                                         phi_agent_desc *out) {
    return agent->rt->features.failover == NULL ||
           agent->rt->features.failover->inherit(agent, arena, out);
}

#endif
