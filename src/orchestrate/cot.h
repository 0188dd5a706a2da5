/* cot.h - Chain-of-Thought and Chain-of-Draft: one model call that thinks in steps.

   Chain-of-Thought asks for numbered steps and a marked conclusion, Chain-of-Draft for drafts of a
   few words and the answer behind "####". The call sees the conversation. The answer is the
   conclusion, or the whole text where none is marked. */
#ifndef PHI_ORCHESTRATE_COT_H
#define PHI_ORCHESTRATE_COT_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For both. Zero means default for every field. */
typedef struct phi_cot_options {
    const char *system_prompt; /* how to think; borrowed as the desc is (default: phi's) */
    uint32_t max_tokens;       /* output tokens (default: the agent's) */
    bool has_temperature;      /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* of the call (default: phi_strategy_desc.call_timeout_ms) */
} phi_cot_options;

typedef enum phi_cot_kind {
    PHI_COT_STEPS = 0, /* Chain-of-Thought; its name is "cot" */
    PHI_COT_DRAFTS     /* Chain-of-Draft, "cod" */
} phi_cot_kind;

/* Static. Options: phi_cot_options. */
PHI_API const phi_strategy *phi_strategy_cot(phi_cot_kind kind);

#ifdef __cplusplus
}
#endif
#endif
