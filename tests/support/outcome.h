/* outcome.h - what a run with a strategy has come to, in one line. */
#ifndef PHI_TESTS_SUPPORT_OUTCOME_H
#define PHI_TESTS_SUPPORT_OUTCOME_H

#include "orchestrate/machine_in.h"

/* The JSON of the last run; PHI_NOT_FOUND: one is under way, too. */
static inline phi_status strategy_result(phi_agent agent, phi_arena *arena, phi_str *out) {
    phi_strategy_outcome outcome = PHI_ZERO;
    phi_status status = phi_strategy_result(agent, arena, &outcome);
    *out = outcome.result;
    return status == PHI_OK && outcome.running ? PHI_NOT_FOUND : status;
}

/* The best so far; PHI_NOT_FOUND: no run is under way, too. */
static inline phi_status strategy_best(phi_agent agent, phi_arena *arena, phi_strategy_best *out) {
    phi_strategy_outcome outcome = PHI_ZERO;
    phi_status status = phi_strategy_result(agent, arena, &outcome);
    *out = outcome.best;
    return status == PHI_OK && !outcome.running ? PHI_NOT_FOUND : status;
}

/* The bill of a prompt, before it is one: a machine's, and no more calls than the desc allows. */
static inline phi_status strategy_worst(const phi_strategy_desc *desc, uint64_t prompt_tokens,
                                        uint64_t answer_tokens, phi_strategy_bill *out) {
    phi__strategy_bill(desc, desc->strategy, desc->options, prompt_tokens, answer_tokens, out);
    return PHI_OK;
}

#endif
