/* cot.h - phi_strategy_cot as functions without arguments, for tables of strategies. */
#ifndef PHI_TESTS_SUPPORT_COT_H
#define PHI_TESTS_SUPPORT_COT_H

#include "orchestrate/cot.h"

static inline const phi_strategy *strategy_steps(void) { return phi_strategy_cot(PHI_COT_STEPS); }
static inline const phi_strategy *strategy_drafts(void) { return phi_strategy_cot(PHI_COT_DRAFTS); }

#endif
