/* context_edits.h - tools that take messages out of the model's view:
   phi_feature_context_edits. */
#ifndef PHI_FEATURES_CONTEXT_EDITS_H
#define PHI_FEATURES_CONTEXT_EDITS_H

#include "log/prune.h"
#include "log/revert.h"
#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tool takes messages out of the model's view, by a prune (its tokens and memo count) or by a
   revert (its category, step and summary); the other is NULL. Applied when the turn is over: later
   turns see the effect, this turn does not. Copied. Pumping thread only. PHI_STALE; PHI_BAD_ARG:
   both or neither, no tokens, no category; PHI_NO_MEMORY: nothing changed.

   Prune: the model's answers and tool results, the oldest first, whole answers with their results,
   until it is at least so many tokens; `memo`, where given, takes their place. The prunes of one
   turn are added up. Then PHI_EV_PRUNED, if anything was taken out.

   Revert: all after the tool result that is named "[step n12]" (step 12). The last revert of a
   turn counts. PHI_REJECTED: it is not possible; `message`, where given, says why, and nothing is
   noted. PHI_EV_REVERTED reports the outcome in either case. */
PHI_API phi_status phi_call_edit(phi_call call, const phi_prune *prune, const phi_revert *revert,
                                 char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
