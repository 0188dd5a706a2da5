/* aot_in.h - what Algorithm-of-Thoughts reads in an answer. */
#ifndef PHI_ORCHESTRATE_AOT_IN_H
#define PHI_ORCHESTRATE_AOT_IN_H

#include "orchestrate/strategy_in.h"
#include "base/base_in.h"
#include "orchestrate/aot.h"

typedef struct phi__aot_parsed {
    phi_str answer; /* part of the text; empty: there is no answer line */
    uint32_t first_operations, backtracking_steps, found_markers;
    bool found_solution;
} phi__aot_parsed;

PHI__FN void phi__aot_parse(phi_str text, phi__aot_parsed *out);

#endif
