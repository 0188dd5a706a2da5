/* query.h - questions to a provider that are no model calls: which models it has, and how many
   tokens a request would be.

   A query is one HTTP request, or one for each page of a list, over the runtime's transport;
   phi_step drives it. It is no run: it has no events, no budget pays for it, phi_step does not
   count it, a tape neither records nor plays it, and nothing is tried again. No hook is called: a
   host whose keys come by PHI_HOOK_CREDENTIAL gives the key in the desc.

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

/* One query under way, or its outcome. Free it before the runtime. */
typedef struct phi_query phi_query;

/* Zero means default for every field. */
typedef struct phi_query_desc {
    const char *api_key;     /* in place of the model's; copied (default: phi_model.api_key) */
    phi_deadlines deadlines; /* of each request (default total_ms 60,000; else as of an agent) */
} phi_query_desc;

/* Owned by the query, valid until it is freed. */
typedef struct phi_query_info {
    phi_status status;            /* PHI_BUSY while it is under way */
    const phi_failure *failure;   /* why it failed; NULL: it did not */
    const phi_model_info *models; /* of phi_models, in the provider's order; NULL while under way */
    size_t model_count;
    bool more;       /* the list is longer: phi reads 100 pages or 10,000 models at most */
    uint64_t tokens; /* of phi_count_tokens: input tokens, by the provider */
} phi_query_info;

/* Begins to read the list of the models that the provider of a model has. model: protocol,
   base_url, api_key and headers count; its id may be NULL. Copied. desc NULL: all defaults. NULL:
   phi_last_error has PHI_BAD_ARG, PHI_UNSUPPORTED (a protocol without a list: Vertex, a model of
   the host's own), PHI_MISUSE (the runtime is closing, or a tape is played), PHI_NO_MEMORY. */
PHI_API phi_query *phi_models(phi_runtime *rt, const phi_model *model, const phi_query_desc *desc);

/* Begins to count the tokens of the request that the agent would send now, by its provider: system
   prompt, tools, and the messages in view (by its policy), without those that hooks and world facts
   would add. The request is rendered in this call, as a whole. The agent may run, or be freed
   meanwhile. desc NULL: all defaults. NULL: phi_last_error has PHI_STALE, PHI_MISUSE (there are no
   messages, or as above), PHI_UNSUPPORTED (a protocol without such an endpoint: Chat Completions,
   Azure, a model of the host's own), PHI_BAD_ARG (a tool or a format that the model does not take),
   PHI_NO_MEMORY. */
PHI_API phi_query *phi_count_tokens(phi_agent agent, const phi_query_desc *desc);

/* How far it is. A failure's kind, words and delay are as those of a model call; PHI_PARSE: the
   answer is not what the protocol says; PHI_TOO_BIG: an answer of more than 8 MiB. NULL:
   PHI_STALE. */
PHI_API phi_query_info phi_query_get(const phi_query *query);

/* Frees it; one that is under way is cancelled. NULL is harmless. */
PHI_API void phi_query_free(phi_query *query);

#ifdef __cplusplus
}
#endif
#endif
