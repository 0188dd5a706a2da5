/* query.h - questions to a provider other than model calls: which models the provider has, and how
   many tokens a request would have.

   A query is one HTTP request over the runtime's transport; a list of several pages needs one
   request for each page. phi_step drives the query. A query is not a run: it has no events, no
   budget pays for it, phi_step does not count it, tapes neither record nor play it, and there are
   no retries. No hook is called, so a host whose keys come from PHI_HOOK_CREDENTIAL sets the key in
   the desc.

       phi_query *query = phi_models(rt, &model, NULL);
       while (phi_query_get(query).status == PHI_BUSY) phi_step(rt, 100);
       info = phi_query_get(query);
       ...
       phi_query_free(query);

   Threads: the pumping thread. */
#ifndef PHI_AGENT_QUERY_H
#define PHI_AGENT_QUERY_H

#include "agent/agent.h"
#include "codecs/queries.h"
#include "model/failure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A query that is under way or finished. Free it before the runtime. */
typedef struct phi_query phi_query;

/* Zero means default for every field. */
typedef struct phi_query_desc {
    const char *api_key; /* replaces the model's key; copied (default: phi_model.api_key) */
    /* deadlines of each request (total_ms defaults to 60,000, the other fields as for an agent) */
    phi_deadlines deadlines;
} phi_query_desc;

/* A query's state and results. The pointers are valid until the query is freed. */
typedef struct phi_query_info {
    phi_status status;          /* PHI_BUSY while the query is under way */
    const phi_failure *failure; /* why the query failed; NULL: it did not fail */
    /* result of phi_models, in the provider's order; NULL while the query is under way */
    const phi_model_info *models;
    size_t model_count;
    /* true: the list has more than phi reads, which is at most 100 pages and 10,000 models */
    bool more;
    uint64_t tokens; /* phi_count_tokens: the input tokens as the provider counts them */
} phi_query_info;

/* Begins to read the list of models that the provider of `model` has. Only protocol, base_url,
   api_key and headers of `model` are used; id may be NULL. Copied. desc NULL: all defaults. On
   failure returns NULL, and phi_last_error has PHI_BAD_ARG (a field of the model is missing or
   wrong), PHI_UNSUPPORTED (there is no list: Vertex, or a host's own model), PHI_MISUSE (the
   runtime is closing, or a tape is played) or PHI_NO_MEMORY. */
PHI_API phi_query *phi_models(phi_runtime *rt, const phi_model *model, const phi_query_desc *desc);

/* Asks the agent's provider to count the tokens of the request that the agent would send now:
   system prompt, tools, and the messages in view that the policy chooses. Messages that hooks and
   world facts would add are not counted. This call renders the whole request, so the agent may run
   or be freed meanwhile. desc NULL: all defaults. On failure returns NULL, and phi_last_error has
   PHI_STALE, PHI_MISUSE (there are no messages, the runtime is closing, or a tape is played),
   PHI_UNSUPPORTED (no endpoint counts tokens: Chat Completions, Azure, or a host's own model),
   PHI_BAD_ARG (the model does not take a tool or the format) or PHI_NO_MEMORY. */
PHI_API phi_query *phi_count_tokens(phi_agent agent, const phi_query_desc *desc);

/* Returns the state of a query. A failure has kind, message and delay as for a model call. status
   PHI_PARSE: the answer does not follow the protocol; PHI_TOO_BIG: the answer is larger than 8 MiB;
   PHI_STALE: query is NULL. */
PHI_API phi_query_info phi_query_get(const phi_query *query);

/* Frees a query, and cancels it if it is under way. NULL is harmless. */
PHI_API void phi_query_free(phi_query *query);

#ifdef __cplusplus
}
#endif
#endif
