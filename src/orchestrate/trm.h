/* trm.h - TRM: the loop of Jolicoeur-Martineau 2025, "Less is More: Recursive Reasoning with Tiny
   Networks", over a large model: reason, improve, supervise.

   The first call answers the problem, and a supervisor's call scores the answer and lists its
   strengths and issues. Then, in turns: `reasoning_steps` calls write new notes, each from the
   problem, the answer, the remarks and the notes before it (the paper's latent recursion, in
   words); a call improves the answer by them; a supervisor's call scores it. Every answer is
   scored, the last improvement too; the result is the one with the best score. The search ends when
   a score reaches `threshold`, when the last three scores lie within 0.02 of each other, or after
   `max_supervisions`. */
#ifndef PHI_ORCHESTRATE_TRM_H
#define PHI_ORCHESTRATE_TRM_H

#include "orchestrate/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field. Strings are borrowed as the desc is. */
typedef struct phi_trm_options {
    uint32_t max_supervisions; /* calls that score (default 5, at most 50) */
    uint32_t reasoning_steps;  /* calls that write notes for an improvement (default 1, most 20) */
    double threshold;          /* a score that ends it (default 0.9) */
    /* system prompts in place of phi's; the second one must ask for the same lines (default:
       phi's) */
    const char *reason_prompt, *supervise_prompt, *improve_prompt, *notes_prompt;
    uint32_t max_tokens;  /* output tokens of a call (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* of a call (default: phi_strategy_desc.call_timeout_ms) */
} phi_trm_options;

/* Static. Options: phi_trm_options. */
PHI_API const phi_strategy *phi_strategy_trm(void);

#ifdef __cplusplus
}
#endif
#endif
