/* cot_in.h - what Chain-of-Thought reads in an answer. */
#ifndef PHI_ORCHESTRATE_COT_IN_H
#define PHI_ORCHESTRATE_COT_IN_H

#include "orchestrate/strategy_in.h"
#include "base/base_in.h"
#include "orchestrate/cot.h"

typedef struct phi__cot_parsed {
    phi_str conclusion; /* part of the text; empty: none is marked */
    phi_str *steps;     /* parts of the text */
    size_t step_count;
} phi__cot_parsed;

/* False: no memory. The text is borrowed. */
PHI__FN bool phi__cot_parse(phi_str text, phi_arena *arena, phi__cot_parsed *out);

#endif
