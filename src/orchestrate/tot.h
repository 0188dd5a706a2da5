/* tot.h - Tree-of-Thoughts: a search in which a model proposes and scores the steps.

   The searches are algorithms 1 and 2 of Yao et al. 2023, "Tree of Thoughts". Expanding a thought
   takes one model call that proposes next thoughts, and `evaluations` calls that score them. The
   score of a thought is the mean of these scores. A thought is finished at max_depth, or from
   min_depth on if its score reaches early_success_threshold. The answer is the best finished
   thought. If the search ends without a finished thought, its best thought is reported as
   unfinished. An answer of the model is read as JSON, or else line by line. An unreadable answer is
   sent back to be repaired. */
#ifndef PHI_ORCHESTRATE_TOT_H
#define PHI_ORCHESTRATE_TOT_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_tot_traversal {
    PHI_TOT_BFS = 0, /* level by level; expands the best `beam_width` thoughts of each level */
    PHI_TOT_DFS /* best next thought first; goes back when all scores are below value_threshold */
} phi_tot_traversal;

/* Zero means default for every field. Strings must live as long as the desc. */
typedef struct phi_tot_options {
    phi_tot_traversal traversal;
    uint32_t branching_factor; /* max. new thoughts in a step (default 8) */
    uint32_t evaluations;      /* calls that score the thoughts of a step (default 3) */
    uint32_t beam_width;       /* thoughts of a level that BFS expands (default 5) */
    double value_threshold;    /* DFS skips scores below this (default 0.4; negative: skips none) */
    uint32_t max_depth;        /* depth of the search; first thoughts have depth 1 (default 3) */
    uint32_t min_depth;        /* least depth for an early success (default 2) */
    uint32_t max_nodes;        /* nodes including the problem (default 100) */
    uint32_t max_duration_ms;  /* time limit; then the best thought is the answer (default: none) */
    uint32_t top_k;            /* candidates in the result (default 3) */
    double early_success_threshold; /* score that ends the search (default 1.0) */
    /* Ends the search if the best score improves by less than min_score_improvement over this many
       expansions, counted once the search has reached max_depth (default: never) */
    uint32_t convergence_window;
    double min_score_improvement; /* see convergence_window (default 0.02) */
    uint32_t max_parse_retries;   /* repairs of an unreadable answer (default 1) */
    bool no_repair;               /* an unreadable answer ends the search at once */
    bool tools;                   /* calls may use the agent's tools */
    uint32_t max_tool_rounds;     /* tool rounds in a call (default 3) */
    /* System prompts in place of phi's. They must ask for the same JSON (default: phi's) */
    const char *generation_prompt, *evaluation_prompt;
    uint32_t max_tokens;  /* output tokens in a call (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* timeout of a call (default: phi_strategy_desc.call_timeout_ms) */
} phi_tot_options;

/* Returns the static strategy "tot". Its options are phi_tot_options. */
PHI_API const phi_strategy *phi_strategy_tot(void);

#ifdef __cplusplus
}
#endif
#endif
