/* failover.h - the models that a run goes through when one fails for good.

   A model call that has failed, and is not tried again (phi_retry), would end its run. An agent
   with a phi_failover continues the turn with the next of its models instead: PHI_EV_RETRACT where
   a part of the answer was emitted, PHI_EV_FAILOVER, and the same turn again, rendered for that
   model. After the last of the list comes the agent's own again, if it has not failed in this turn.
   When none is left, the run ends with the last failure, which names the others.

   Each model is tried as phi_retry says. Its attempts are charged by its own rates; budgets and
   limits hold for the sum, and a model for which they leave no room is passed over; where none is
   left, a run with limits.pause waits for phi_budget_raise. Meanwhile phi_agent_info.model_id says
   which model answers; phi_agent_get_desc shows the agent's own. */
#ifndef PHI_FEATURES_FAILOVER_H
#define PHI_FEATURES_FAILOVER_H

#include "loop/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PHI_NOTE_FAILOVER "phi.failover" /* {"from":...,"to":...,"failure":...,"message":...} */

enum { PHI_FAILOVER_MODELS_MOST = 16 }; /* besides the agent's own */

/* A model to go to. Zero means default for every field but model.protocol and model.id. */
typedef struct phi_failover_model {
    phi_model model; /* copied, strings too */
    /* copied (default: phi_agent_desc.provider, and where there is none, that of the protocol) */
    const phi_provider *provider;
    uint32_t max_tokens;   /* output tokens a call (default: the agent's) */
    bool has_thinking;     /* use `thinking` instead of the agent's */
    phi_thinking thinking; /* counts with has_thinking */
} phi_failover_model;

/* Failures that lead to the next model. Never: an aborted call, one that the host has refused, and
   want of memory. A request that a server calls invalid is so only where INVALID_REQUEST is set. */
typedef enum phi_failover_on {
    PHI_FAILOVER_NETWORK = 1,          /* no connection, a broken one, a deadline */
    PHI_FAILOVER_SERVER = 2,           /* the provider's own trouble, and where it is overloaded */
    PHI_FAILOVER_RATE_LIMITED = 4,     /* too many requests, or a delay longer than phi waits */
    PHI_FAILOVER_QUOTA = 8,            /* the account has no credit */
    PHI_FAILOVER_AUTH = 16,            /* the key is refused */
    PHI_FAILOVER_NO_MODEL = 32,        /* HTTP 404: no such model */
    PHI_FAILOVER_OVERFLOW = 64,        /* does not fit the window: to a larger one alone */
    PHI_FAILOVER_CONTENT_FILTER = 128, /* not by default */
    /* not by default: 400 and its like, also a gateway's wrong key or unknown model */
    PHI_FAILOVER_INVALID_REQUEST = 256
} phi_failover_on;

/* How long an agent stays with a model that it went to. */
typedef enum phi_failover_stay {
    PHI_FAILOVER_STAY_RUN = 0, /* until the run ends */
    PHI_FAILOVER_STAY_FOR,     /* runs that begin within stay_ms of the switch, too */
    PHI_FAILOVER_STAY_EVER     /* until phi_agent_set changes the model, the provider or this */
} phi_failover_stay;

/* Zero means default for every field but the models. */
typedef struct phi_failover {
    const phi_failover_model *models; /* copied; tried in this order, after the agent's own */
    size_t model_count;               /* 1 to PHI_FAILOVER_MODELS_MOST */
    uint32_t on;                      /* PHI_FAILOVER_ bits (default: those up to OVERFLOW) */
    uint32_t max_switches;            /* a run (default: model_count; PHI_UNLIMITED) */
    phi_failover_stay stay;           /* (default: until the run ends) */
    uint32_t stay_ms;                 /* of STAY_FOR (default 300,000) */
} phi_failover;

#ifdef __cplusplus
}
#endif
#endif
