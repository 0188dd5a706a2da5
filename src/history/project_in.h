/* project_in.h - projects a fold, for the loop, and explains the projection.

   A fold remembers for each item where the newest summary up to it stands, and how many groups
   there are: so the walk skips the items left out, and the cost of a turn depends only on the items
   sent. */
#ifndef PHI_HISTORY_PROJECT_IN_H
#define PHI_HISTORY_PROJECT_IN_H

#include "history/history_in.h"
#include "base/base_in.h"
#include "history/policy.h"
#include "model/texts.h"
#include "model/tokens.h"

/* An order of a view. PHI_BAD_ARG. */
PHI__FN phi_status phi__proj_of(phi__proj_order *order, const phi_view_item *items, size_t count,
                                const phi_policy *policy, const phi_token_counter *counter,
                                phi_str system_prompt, uint64_t tools_tokens);

/* The whole sum. counter NULL: the estimate. */
PHI__FN uint64_t phi__tracker_tokens(const phi__tracker *tracker,
                                     const phi_message *const *messages, size_t count,
                                     const phi_token_counter *counter);

/* Forgets the last report, so that everything is estimated again. */
PHI__FN void phi__tracker_reset(phi__tracker *tracker);

#endif
