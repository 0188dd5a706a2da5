/* trm.h - TRM, the tiny recursive model's loop: reason, supervise, improve.

   The first call answers the problem. Then a supervisor's call scores the answer and lists its
   strengths and issues, and another call improves the answer, in turns. Every answer is scored, the
   last improvement too; the result is the one with the best score. The search ends when a score
   reaches `threshold`, when the last three scores lie within 0.02 of each other, or after
   `max_supervisions`. */
#ifndef PHI_STRATEGY_TRM_H
#define PHI_STRATEGY_TRM_H

#include "strategy/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field. Strings are borrowed as the desc is. */
typedef struct phi_trm_options {
    uint32_t max_supervisions; /* calls that score (default 5, at most 50): twice as many in all */
    double threshold;          /* a score that ends it (default 0.9) */
    /* system prompts in place of phi's; the second one must ask for the same lines (default:
       phi's) */
    const char *reason_prompt, *supervise_prompt, *improve_prompt;
    uint32_t max_tokens;  /* output tokens of a call (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* of a call (default: phi_strategy_desc.call_timeout_ms) */
} phi_trm_options;

#ifndef PHI_NO_STRATEGIES
/* Static. Options: phi_trm_options. */
PHI_API const phi_strategy *phi_strategy_trm(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
