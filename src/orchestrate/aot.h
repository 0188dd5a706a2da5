/* aot.h - Algorithm-of-Thoughts: one model call that searches, with worked searches as examples.

   The examples try first operations, work them out, step back, and finish with an answer line. The
   model solves the problem in the same way. The text of its answer line is the answer. */
#ifndef PHI_ORCHESTRATE_AOT_H
#define PHI_ORCHESTRATE_AOT_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of phi's worked examples in the prompt. */
typedef enum phi_aot_profile {
    PHI_AOT_STANDARD = 0, /* two examples */
    PHI_AOT_SHORT,        /* one example */
    PHI_AOT_LONG          /* three examples */
} phi_aot_profile;

typedef enum phi_aot_style { PHI_AOT_DFS = 0, PHI_AOT_BFS } phi_aot_style;

/* Zero means default for every field. Pointers must live as long as the desc. */
typedef struct phi_aot_options {
    phi_aot_profile profile;
    phi_aot_style style;         /* search that the prompt asks for */
    const char *system_prompt;   /* replaces phi's role and pattern, not the markers and examples */
    const char *const *examples; /* worked searches (default: phi's) */
    size_t example_count;
    bool implicit_answer;   /* also accepts a solution without an answer line */
    uint32_t max_tokens;    /* output tokens (default 2,048) */
    bool agent_temperature; /* send the agent's temperature (or none), not `temperature` */
    double temperature;     /* temperature of the call (default 0.0) */
    uint32_t timeout_ms;    /* timeout of the call (default: phi_strategy_desc.call_timeout_ms) */
} phi_aot_options;

/* Returns the static strategy "aot". Its options are phi_aot_options. */
PHI_API const phi_strategy *phi_strategy_aot(void);

#ifdef __cplusplus
}
#endif
#endif
