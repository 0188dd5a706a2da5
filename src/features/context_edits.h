/* context_edits.h - tools that take messages out of the model's view (phi_feature_context_edits).
   */
#ifndef PHI_FEATURES_CONTEXT_EDITS_H
#define PHI_FEATURES_CONTEXT_EDITS_H

#include "history/revert.h"
#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Context edits: a tool takes messages out of the model's view. Applied when the turn is over:
   later turns see the effect, this turn does not. Copied. Pumping thread only. PHI_STALE;
   PHI_BAD_ARG: no tokens, no category; PHI_NO_MEMORY: nothing changed.

   Prune: the model's answers and tool results, the oldest first, whole answers with their results,
   until it is at least so many tokens (phi__prune_plan); `memo`, where given, takes their place.
   The prunes of one turn are added up. Then PHI_EV_PRUNED, if anything was taken out.

   Revert: all behind the tool result that is named "[step n12]" (step 12; phi__revert_plan). The
   last revert of a turn counts. PHI_REJECTED: it is not possible; `words`, where given, say why,
   and nothing is noted. PHI_EV_REVERTED reports the outcome in either case. */
PHI_API phi_status phi_call_prune(phi_call call, uint64_t tokens, phi_str memo);
PHI_API phi_status phi_call_revert(phi_call call, phi_revert_category category, uint64_t step,
                                   phi_str summary, char *words, size_t words_size);

#ifdef __cplusplus
}
#endif
#endif
