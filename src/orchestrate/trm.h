/* trm.h - TRM: the loop of Jolicoeur-Martineau 2025, "Less is More: Recursive Reasoning with Tiny
   Networks", with a large model: reason, improve, supervise.

   The first call answers the problem. A supervisor's call scores the answer and lists its strengths
   and issues. Then each turn makes these calls: `reasoning_steps` calls rewrite the notes from the
   problem, the answer, the remarks and the previous notes (the paper's latent recursion, in words);
   one call improves the answer with the notes; and a supervisor's call scores the new answer. Every
   answer is scored, and the result is the answer with the best score. The search ends when a score
   reaches `threshold`, when the last three scores lie within 0.02 of each other, or after
   `max_supervisions` scores. */
#ifndef PHI_ORCHESTRATE_TRM_H
#define PHI_ORCHESTRATE_TRM_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field. Strings must live as long as the desc. */
typedef struct phi_trm_options {
    uint32_t max_supervisions; /* supervisor's calls (default 5, at most 50) */
    uint32_t reasoning_steps;  /* calls that write notes in a turn (default 1, at most 20) */
    double threshold;          /* score that ends the search (default 0.9) */
    /* System prompts in place of phi's. supervise_prompt must ask for the same lines as phi's own
       (default: phi's) */
    const char *reason_prompt, *supervise_prompt, *improve_prompt, *notes_prompt;
    uint32_t max_tokens;  /* output tokens in a call (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* timeout of a call (default: phi_strategy_desc.call_timeout_ms) */
} phi_trm_options;

/* Returns the static strategy "trm". Its options are phi_trm_options. */
PHI_API const phi_strategy *phi_strategy_trm(void);

#ifdef __cplusplus
}
#endif
#endif
