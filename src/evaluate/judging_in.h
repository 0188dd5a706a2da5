/* judging_in.h - lets a judge compare the branches of an evaluation. */
#ifndef PHI_EVALUATE_JUDGING_IN_H
#define PHI_EVALUATE_JUDGING_IN_H

#include "evaluate/evaluation_in.h"

/* The text of the query, in the arena of the evaluation: of the prompt, or of the last user message
   in view. False: no memory. */
PHI__FN bool phi__judging_query(phi__evaluation *e, const phi_content *content, size_t count);
/* Starts the judge's run. PHI_NO_MEMORY, PHI_STALE (there is no judge): it does not run. */
PHI__FN phi_status phi__judging_begin(phi__evaluation *e);
/* The branch that the judge has named; the first that may win, where the judge has failed. */
PHI__FN size_t phi__judging_selected(const phi__evaluation *e);
PHI__FN size_t phi__judging_candidates(const phi__evaluation *e); /* how many may win */

#endif
