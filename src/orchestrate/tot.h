/* tot.h - Tree-of-Thoughts: a search whose steps a model proposes and scores.

   The searches are those of Yao et al. 2023, "Tree of Thoughts", algorithms 1 and 2. An expansion
   of a thought takes one model call that proposes next thoughts, and `evaluations` calls that score
   them; a thought's score is their mean. The best thought at the full depth, or that is scored as a
   whole solution before, is the answer. A search that ends before there is one says so: its best
   thought is unfinished. Answers are read as JSON, else line by line; an answer that is neither is
   sent back once to be repaired. */
#ifndef PHI_ORCHESTRATE_TOT_H
#define PHI_ORCHESTRATE_TOT_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_tot_traversal {
    PHI_TOT_BFS = 0, /* level by level; the best `beam_width` thoughts of a level are expanded */
    PHI_TOT_DFS      /* the best next thought first, and back where all are below value_threshold */
} phi_tot_traversal;

/* Zero means default for every field. Strings are borrowed as the desc is. */
typedef struct phi_tot_options {
    phi_tot_traversal traversal;
    uint32_t branching_factor;      /* new thoughts a step, at most (default 8) */
    uint32_t evaluations;           /* calls that score the new thoughts of a step (default 3) */
    uint32_t beam_width;            /* thoughts of a level that BFS expands (default 5) */
    double value_threshold;         /* DFS expands none below (default 0.4; negative: all) */
    uint32_t max_depth;             /* of a thought; the first ones have 1 (default 3) */
    uint32_t min_depth;             /* that a thought of early success has at least (default 2) */
    uint32_t max_nodes;             /* the problem counts as one (default 100) */
    uint32_t max_duration_ms;       /* then the best so far is the answer (default: none) */
    uint32_t top_k;                 /* candidates in the result (default 3) */
    double early_success_threshold; /* a score that ends the search (default 1.0) */
    /* ends a search that has been at max_depth, when the best score there improved by less than
       min_score_improvement over so many expansions (default: never) */
    uint32_t convergence_window;
    double min_score_improvement; /* (default 0.02) */
    uint32_t max_parse_retries;   /* repairs of an answer (default 1) */
    bool no_repair;               /* an answer that cannot be read ends the search at once */
    bool tools;                   /* thoughts and scores may call the agent's tools */
    uint32_t max_tool_rounds;     /* of a call (default 3) */
    /* system prompts in place of phi's; they must ask for the same JSON (default: phi's) */
    const char *generation_prompt, *evaluation_prompt;
    uint32_t max_tokens;  /* output tokens a call (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* of a call (default: phi_strategy_desc.call_timeout_ms) */
} phi_tot_options;

/* Static. Options: phi_tot_options. */
PHI_API const phi_strategy *phi_strategy_tot(void);

#ifdef __cplusplus
}
#endif
#endif
