/* got.h - Graph-of-Thoughts: collects thoughts and the connections between them, and composes one
   answer.

   The operations are those of Besta et al. 2024, "Graph of Thoughts": generate, score, keep the
   best, refine, aggregate. A generation proposes thoughts, and a second call names connections
   between thoughts. The support of a thought is the number of connections that support or complete
   it, less the number that contradict it. The next generation refines the thought with most
   support. After `generations` generations, the `keep_best` thoughts with most support are
   aggregated. Thoughts with negative support are left out, unless all have negative support.
   The aggregation is one of these:
       SYNTHESIS  one call composes the answer from thoughts and connections
       VOTING     each of `votes` calls names a thought; the one with most votes is the answer
       WEIGHTED   one call weighs the thoughts; a second call composes the answer from those
                  with a weight above 0, the heaviest first
   A composed answer has an edge from each of its thoughts. Thoughts are read as JSON, or else as
   numbered lines. Any other text is one thought. */
#ifndef PHI_ORCHESTRATE_GOT_H
#define PHI_ORCHESTRATE_GOT_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_got_aggregation {
    PHI_GOT_SYNTHESIS = 0,
    PHI_GOT_VOTING,
    PHI_GOT_WEIGHTED
} phi_got_aggregation;

/* Zero means default for every field. Strings must live as long as the desc. */
typedef struct phi_got_options {
    phi_got_aggregation aggregation;
    uint32_t generations;      /* generations of thoughts (default 2) */
    uint32_t branching_factor; /* max. thoughts in a generation (default 3) */
    uint32_t max_nodes;        /* nodes including problem and answer (default 20, at most 1,000) */
    uint32_t max_depth; /* greatest depth of a thought; first thoughts have depth 1 (default 5) */
    uint32_t votes;     /* max. voting calls (default 3) */
    uint32_t keep_best; /* thoughts to aggregate (default 5) */
    /* System prompts in place of phi's. They must ask for the same lines (default: phi's) */
    const char *generation_prompt, *connection_prompt, *voting_prompt, *weighing_prompt;
    const char *aggregation_prompt;
    uint32_t max_tokens;  /* output tokens in a call (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* timeout of a call (default: phi_strategy_desc.call_timeout_ms) */
} phi_got_options;

/* Returns the static strategy "got". Its options are phi_got_options. */
PHI_API const phi_strategy *phi_strategy_got(void);

#ifdef __cplusplus
}
#endif
#endif
