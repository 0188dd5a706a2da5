/* failover.h - failover: the models that a run changes to when a model fails for good.

   A failed model call that is not tried again (phi_retry) ends its run. But an agent with a
   phi_failover continues the turn with its next model. PHI_EV_RETRACT comes first if a part of the
   answer was emitted. Then come PHI_EV_FAILOVER and the same turn again, rendered for the next
   model. After the last model of the list comes the agent's own model, if it has not failed in this
   turn. When no model is left, the run ends with the last failure, whose message names the others.

   Each model has the retries of phi_retry, and the attempts are charged by the rates of the model
   that made them. Budgets and limits apply to the sum. A model is skipped if budgets and limits
   leave no room for its call. If no model is left for this reason, a run with limits.pause waits
   for phi_budget_raise. phi_agent_info.model_id says which model answers now; phi_agent_get_desc
   returns the agent's own model. */
#ifndef PHI_FEATURES_FAILOVER_H
#define PHI_FEATURES_FAILOVER_H

#include "loop/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PHI_NOTE_FAILOVER "phi.failover" /* {"from":...,"to":...,"failure":...,"message":...} */

enum { PHI_FAILOVER_MODELS_MOST = 16 }; /* not counting the agent's own model */

/* A model to change to. Zero means default for every field but model.protocol and model.id. */
typedef struct phi_failover_model {
    phi_model model; /* copied with its strings */
    /* copied (default: phi_agent_desc.provider, or else the provider of the protocol) */
    const phi_provider *provider;
    uint32_t max_tokens;   /* output tokens of one call (default: the agent's) */
    bool has_thinking;     /* use `thinking` instead of the agent's */
    phi_thinking thinking; /* used with has_thinking */
} phi_failover_model;

/* The failures that lead to the next model. These failures never lead to another model: an aborted
   call, a call that the host has refused, and a lack of memory. A request that a server calls
   invalid leads to the next model only if INVALID_REQUEST is set. */
typedef enum phi_failover_on {
    PHI_FAILOVER_NETWORK = 1, /* no connection, a broken connection, or a missed deadline */
    /* an error of the provider's server, or an overloaded server */
    PHI_FAILOVER_SERVER = 2,
    /* too many requests, or the server asks for a longer delay than phi waits */
    PHI_FAILOVER_RATE_LIMITED = 4,
    PHI_FAILOVER_QUOTA = 8,     /* the account has no credit */
    PHI_FAILOVER_AUTH = 16,     /* the key is refused */
    PHI_FAILOVER_NO_MODEL = 32, /* HTTP 404: no such model */
    /* the request does not fit the window; leads only to models with a larger window */
    PHI_FAILOVER_OVERFLOW = 64,
    PHI_FAILOVER_CONTENT_FILTER = 128, /* not by default */
    /* not by default: HTTP 400 and similar; some gateways also report a wrong key or an unknown
       model this way */
    PHI_FAILOVER_INVALID_REQUEST = 256
} phi_failover_on;

/* How long an agent stays with the model that it changed to. */
typedef enum phi_failover_stay {
    PHI_FAILOVER_STAY_RUN = 0, /* until the run ends */
    PHI_FAILOVER_STAY_FOR,     /* also for runs that begin within stay_ms after the switch */
    /* until phi_agent_set changes the model, the provider or the failover */
    PHI_FAILOVER_STAY_EVER
} phi_failover_stay;

/* The failover of an agent. Zero means default for every field but models and model_count. */
typedef struct phi_failover {
    const phi_failover_model *models; /* copied; tried in this order, after the agent's own */
    size_t model_count;               /* 1 to PHI_FAILOVER_MODELS_MOST */
    uint32_t on;                      /* PHI_FAILOVER_ bits (default: NETWORK to OVERFLOW) */
    /* switches in one run (default: model_count; PHI_UNLIMITED) */
    uint32_t max_switches;
    phi_failover_stay stay; /* (default: until the run ends) */
    uint32_t stay_ms;       /* for PHI_FAILOVER_STAY_FOR (default 300,000) */
} phi_failover;

#ifdef __cplusplus
}
#endif
#endif
