/* got.h - Graph-of-Thoughts: thoughts, the connections between them, and one answer out of all.

   The operations are those of Besta et al. 2024, "Graph of Thoughts": generate, score, keep the
   best, refine, aggregate. A generation proposes thoughts; a second call names connections between
   thoughts. A thought's score is its support: connections to it that support or complete it, less
   those that contradict it. The next generation refines the thought with most support. After
   `generations` of them the `keep_best` thoughts with most support are aggregated; one with less
   than none is left out, unless all are so:
       SYNTHESIS  one call composes the answer from thoughts and connections
       VOTING     each of `votes` calls names a thought; the one with most votes is the answer
       WEIGHTED   one call weighs the thoughts, a second one composes the answer from those with a
                  weight above 0, the heaviest first
   A composed answer has an edge from each thought that it was composed of.
   Thoughts are read as JSON, else as numbered lines; a text that is neither is one thought. */
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

/* Zero means default for every field. Strings are borrowed as the desc is. */
typedef struct phi_got_options {
    phi_got_aggregation aggregation;
    uint32_t generations;      /* (default 2) */
    uint32_t branching_factor; /* thoughts a generation, at most (default 3) */
    uint32_t max_nodes;        /* with the problem and the answer (default 20, at most 1,000) */
    uint32_t max_depth;        /* of a thought; the first ones have 1 (default 5) */
    uint32_t votes;            /* of VOTING, at most (default 3) */
    uint32_t keep_best;        /* thoughts that are aggregated (default 5) */
    /* system prompts in place of phi's; they must ask for the same lines (default: phi's) */
    const char *generation_prompt, *connection_prompt, *voting_prompt, *weighing_prompt;
    const char *aggregation_prompt;
    uint32_t max_tokens;  /* output tokens of a call (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* of a call (default: phi_strategy_desc.call_timeout_ms) */
} phi_got_options;

/* Static. Options: phi_got_options. */
PHI_API const phi_strategy *phi_strategy_got(void);

#ifdef __cplusplus
}
#endif
#endif
