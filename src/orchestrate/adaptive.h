/* adaptive.h - Adaptive: chooses a strategy for each prompt by its words.

   Words are looked for as whole words, in any case, in this order:
       puzzle, riddle, refine...             trm, tot
       combine, synthesize, graph...         got, tot
       search, fetch, calculate, use...      react
       explore, alternatives, compare...     aot, tot, got
   Without one of them the prompt's complexity decides, a number from 0 to 1:
       0.3 * min(words / 100, 1) + 0.2 * min(sentences / 5, 1) +
       0.3 * min(keywords / 3, 1) + 0.2 * min((questions + constraints) / 5, 1)
   below 0.3: cod, cot; above 0.7: aot, tot, got; else, and where none of those is available,
   `default_strategy`. The first name of a list that is available counts. "react" is one model call
   in the conversation with the agent's tools.
   In a run with tools only "react", and "tot" with `tools`, are chosen: the others could not use
   them. */
#ifndef PHI_ORCHESTRATE_ADAPTIVE_H
#define PHI_ORCHESTRATE_ADAPTIVE_H

#include "orchestrate/aot.h"
#include "orchestrate/cot.h"
#include "orchestrate/got.h"
#include "orchestrate/tot.h"
#include "orchestrate/trm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field. Pointers are borrowed as the desc is. Names: "react", "cot",
   "cod", "aot", "tot", "got", "trm"; others count for nothing. */
typedef struct phi_adaptive_options {
    const char *strategy;         /* always this one (default: chosen by the prompt) */
    const char *default_strategy; /* (default "react") */
    const char *const *available; /* names (default: all but "aot") */
    size_t available_count;
    uint32_t max_tool_rounds; /* of "react" (default 9: ten model calls) */
    double simple_below;      /* complexity (default 0.3; negative: none is simple) */
    double complex_above;     /* complexity (default 0.7; 1: none is complex) */
    /* words in place of phi's, "puzzle|brain teaser", each under 64 bytes; the last ones are those
       of the complexity (default: phi's; "": none) */
    const char *puzzle_words, *synthesis_words, *tool_words, *exploration_words, *complex_words;
    const phi_cot_options *cot, *cod;
    const phi_aot_options *aot;
    const phi_tot_options *tot;
    const phi_got_options *got;
    const phi_trm_options *trm;
} phi_adaptive_options;

/* Static. Options: phi_adaptive_options. The bill of a prompt is that of the chosen strategy;
   its `bill` has the largest of those that it may choose. */
PHI_API const phi_strategy *phi_strategy_adaptive(void);

#ifdef __cplusplus
}
#endif
#endif
