/* select_in.h - the evaluations that look at figures alone. Pure functions. */
#ifndef PHI_EVALUATE_SELECT_IN_H
#define PHI_EVALUATE_SELECT_IN_H

#include "base/base_in.h"
#include "evaluate/evaluate.h"

/* Whether a branch may win: its run ended as it should, or at one of its limits; or no branch's
   did. */
PHI__FN bool phi__select_may_win(const phi_branch *branches, size_t count, size_t i);
/* The branch that wins by `by`, which is neither JUDGE nor CUSTOM; and the first that may. */
PHI__FN size_t phi__select_by(phi_evaluate_by by, const phi_branch *branches, size_t count);
PHI__FN size_t phi__select_first(const phi_branch *branches, size_t count);

#endif
