/* evaluate_in.h - lets a judge compare the branches of an evaluation. */
#ifndef PHI_ORCHESTRATE_EVALUATE_IN_H
#define PHI_ORCHESTRATE_EVALUATE_IN_H

#include "agent/agent_in.h"
#include "base/base_in.h"
#include "orchestrate/evaluate.h"
#include "features/features_in.h"

/* The branch that wins by `by`, which is neither JUDGE nor CUSTOM; and the first that may. */
PHI__FN size_t phi__select_by(phi_evaluate_by by, const phi_branch *branches, size_t count);
PHI__FN size_t phi__select_first(const phi_branch *branches, size_t count);

#endif
