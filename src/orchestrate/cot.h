/* cot.h - Chain-of-Thought and Chain-of-Draft: one model call that thinks in steps.

   Chain-of-Thought asks for numbered steps and a marked conclusion. Chain-of-Draft asks for drafts
   of a few words and the answer after "####". The model sees the conversation. The answer is the
   conclusion, or the whole text if no conclusion is marked. */
#ifndef PHI_ORCHESTRATE_COT_H
#define PHI_ORCHESTRATE_COT_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options of both kinds. Zero means default for every field. */
typedef struct phi_cot_options {
    const char *system_prompt; /* how to think; must live as long as the desc (default: phi's) */
    uint32_t max_tokens;       /* output tokens (default: the agent's) */
    bool has_temperature;      /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* timeout of the call (default: phi_strategy_desc.call_timeout_ms) */
} phi_cot_options;

typedef enum phi_cot_kind {
    PHI_COT_STEPS = 0, /* Chain-of-Thought, named "cot" */
    PHI_COT_DRAFTS     /* Chain-of-Draft, named "cod" */
} phi_cot_kind;

/* Returns the static strategy of this kind. Its options are phi_cot_options. */
PHI_API const phi_strategy *phi_strategy_cot(phi_cot_kind kind);

#ifdef __cplusplus
}
#endif
#endif
