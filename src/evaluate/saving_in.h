/* saving_in.h - an active evaluation in a snapshot of its agent. */
#ifndef PHI_EVALUATE_SAVING_IN_H
#define PHI_EVALUATE_SAVING_IN_H

#include "evaluate/evaluation_in.h"

/* Writes a JSON object with the snapshots of the children; null where the evaluation is over. */
PHI__FN void phi__saving_put(const phi__evaluation *e, phi__buf *out, phi_arena *scratch);
/* Whether a restored evaluation of so many branches waits for the agent, whose view is still that
   of the snapshot. PHI_OK, or phi_last_error says why not. */
PHI__FN phi_status phi__saving_waits(phi__agent *agent, size_t branch_count);
/* Fills a new evaluation and makes its children again. PHI_PARSE, PHI_NO_MEMORY, or why a child
   could not be made. */
PHI__FN phi_status phi__saving_get(phi__evaluation *e, const phi_evaluate_desc *desc,
                                   const phi__child_watch *watch);

#endif
