/* weigh_in.h - estimates the tokens that a rewrite would take out of an agent's view. */
#ifndef PHI_LOOP_WEIGH_IN_H
#define PHI_LOOP_WEIGH_IN_H

#include "loop/types_in.h"
#include "history/compact_in.h"
#include "history/thread_in.h"

/* Whether an item is in a span, from *span on. Items and spans both ascend; spans that do not are
   refused later. */
PHI__FN bool phi__weigh_in(const phi_rewrite *rewrite, size_t *span, const phi__item *item);
/* What plan->rewrite would come to, and of how many runs something goes. */
PHI__FN void phi__weigh_rewrite(const phi__agent *agent, phi__compacted *plan);
/* Whether less would be in view afterwards. */
PHI__FN bool phi__weigh_gains(const phi__agent *agent, const phi_rewrite *rewrite);

#endif
