/* trm_in.h - what TRM reads in a supervisor's text. */
#ifndef PHI_ORCHESTRATE_TRM_IN_H
#define PHI_ORCHESTRATE_TRM_IN_H

#include "orchestrate/strategy_in.h"
#include "base/base_in.h"
#include "orchestrate/trm.h"

typedef struct phi__trm_parsed {
    bool has_score; /* of a SCORE line, or by the ratio of strengths to issues */
    double score;   /* 0 to 1 */
    uint32_t strengths, issues, suggestions; /* lines of each */
} phi__trm_parsed;

/* Never fails: any bytes are a text. */
PHI__FN void phi__trm_parse(phi_str text, phi__trm_parsed *out);

#endif
