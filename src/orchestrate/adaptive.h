/* adaptive.h - Adaptive: chooses a strategy for each prompt by its words.

   Adaptive looks for whole words, in any letter case. The first row that has a word of the
   prompt decides, and Adaptive takes the first available strategy of this row: puzzle, riddle,
   refine...             trm, tot combine, synthesize, graph...         got, tot search, fetch,
   calculate, use...      react explore, alternatives, compare...     aot, tot, got If none of
   these words occurs, the complexity of the prompt decides, a number from 0 to 1: 0.3 *
   min(words / 100, 1) + 0.2 * min(sentences / 5, 1) + 0.3 * min(keywords / 3, 1) + 0.2 *
   min((questions + constraints) / 5, 1) Below 0.3, Adaptive takes cod or cot. Above 0.7,
   Adaptive takes aot, tot or got. In all other cases, and if none of these strategies is
   available, Adaptive takes `default_strategy`. "react" is one model call in the conversation
   with the agent's tools. A run with tools takes only "react", or "tot" with `tools` set,
   because the other strategies cannot use tools. If `strategy` is set, that strategy is taken in
   every case. */
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

/* Zero means default for every field. Pointers must live as long as the desc. Strategy names are
   "react", "cot", "cod", "aot", "tot", "got" and "trm"; other names are ignored. */
typedef struct phi_adaptive_options {
    const char *strategy;         /* always takes this strategy (default: chosen by the prompt) */
    const char *default_strategy; /* taken if no rule chooses one (default "react") */
    const char *const *available; /* names of strategies (default: all but "aot") */
    size_t available_count;
    uint32_t max_tool_rounds; /* tool rounds of "react" (default 9: ten model calls) */
    double simple_below; /* prompts below this are simple (default 0.3; negative: none is simple) */
    double complex_above; /* prompts above this are complex (default 0.7; 1: none is complex) */
    /* Word lists in place of phi's, such as "puzzle|brain teaser", each word under 64 bytes.
       complex_words are the keywords of the complexity (default: phi's; "": no words) */
    const char *puzzle_words, *synthesis_words, *tool_words, *exploration_words, *complex_words;
    const phi_cot_options *cot, *cod;
    const phi_aot_options *aot;
    const phi_tot_options *tot;
    const phi_got_options *got;
    const phi_trm_options *trm;
} phi_adaptive_options;

/* Returns the static strategy "adaptive". Its options are phi_adaptive_options. Once a strategy is
   chosen for a prompt, the cost is estimated by that strategy's `bill` function. Adaptive's own
   `bill` function returns the largest bill of all strategies that may be chosen. */
PHI_API const phi_strategy *phi_strategy_adaptive(void);

#ifdef __cplusplus
}
#endif
#endif
