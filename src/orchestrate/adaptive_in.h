/* adaptive_in.h - how Adaptive chooses. */
#ifndef PHI_ORCHESTRATE_ADAPTIVE_IN_H
#define PHI_ORCHESTRATE_ADAPTIVE_IN_H

#include "orchestrate/strategy_in.h"
#include "base/base_in.h"
#include "orchestrate/adaptive.h"

typedef struct phi__adaptive_choice {
    const char *name;   /* static */
    const char *reason; /* static: "puzzle", "synthesis", "tools", "exploration", "complexity",
                           "default", "option" */
    double complexity;  /* 0 to 1 */
} phi__adaptive_choice;

/* Pure: the same prompt, the same choice. */
PHI__FN phi__adaptive_choice phi__adaptive_choose(const phi_adaptive_options *options,
                                                  phi_str prompt, bool has_tools);
PHI__FN double phi__choose_complexity(const phi_adaptive_options *options, phi_str prompt);

/* True when some prompt leads to this strategy. */
PHI__FN bool phi__choose_may(const phi_adaptive_options *options, const char *name);

#endif
