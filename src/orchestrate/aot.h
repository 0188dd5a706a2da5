/* aot.h - Algorithm-of-Thoughts: one model call that searches, with worked searches as examples.

   The prompt shows searches that try first operations, work them out, step back and finish with an
   explicit answer line; the model does the same for the problem. The answer is that line's. */
#ifndef PHI_ORCHESTRATE_AOT_H
#define PHI_ORCHESTRATE_AOT_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many of phi's worked examples are shown. */
typedef enum phi_aot_profile {
    PHI_AOT_STANDARD = 0, /* two */
    PHI_AOT_SHORT,        /* one */
    PHI_AOT_LONG          /* three */
} phi_aot_profile;

typedef enum phi_aot_style { PHI_AOT_DFS = 0, PHI_AOT_BFS } phi_aot_style;

/* Zero means default for every field. Pointers are borrowed as the desc is. */
typedef struct phi_aot_options {
    phi_aot_profile profile;
    phi_aot_style style;         /* the search that the prompt asks for */
    const char *system_prompt;   /* in place of phi's role and pattern; markers and examples stay */
    const char *const *examples; /* worked searches in place of phi's (default: phi's) */
    size_t example_count;
    bool implicit_answer;   /* a solution without an answer line is a success, too */
    uint32_t max_tokens;    /* output tokens (default 2,048) */
    bool agent_temperature; /* send the agent's temperature, if it has one, not this one */
    double temperature;     /* (default 0.0) */
    uint32_t timeout_ms;    /* of the call (default: phi_strategy_desc.call_timeout_ms) */
} phi_aot_options;

/* Static. Options: phi_aot_options. */
PHI_API const phi_strategy *phi_strategy_aot(void);

#ifdef __cplusplus
}
#endif
#endif
