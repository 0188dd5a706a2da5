/* context_edits.h - tools that remove messages from the model's view: phi_feature_context_edits. */
#ifndef PHI_FEATURES_CONTEXT_EDITS_H
#define PHI_FEATURES_CONTEXT_EDITS_H

#include "log/prune.h"
#include "log/revert.h"
#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Removes messages from the model's view; for tools. Give either a prune or a revert; the other is
   NULL. phi uses tokens and memo of a prune; category, step and summary of a revert. The edit is
   applied when the turn is over, so only later turns see its effect. Copied. Pumping thread only.
   PHI_STALE; PHI_UNSUPPORTED: the runtime lacks phi_feature_context_edits; PHI_BAD_ARG: both or
   neither is given, the prune has no tokens, or the revert has no category; PHI_NO_MEMORY. After
   any of these nothing changed.

   Prune: removes the oldest answers of the model, each with all its results, until at least
   prune->tokens tokens are removed. The memo, if given, takes their place. The prunes of one turn
   are added up. PHI_EV_PRUNED follows if anything was removed.

   Revert: removes everything after the tool result that is named "[step n12]" (step 12). If a turn
   has several reverts, the last one is applied. PHI_REJECTED: the revert is not possible; `message`
   (if not NULL) says why, and nothing is applied. PHI_EV_REVERTED reports the outcome in both
   cases. */
PHI_API phi_status phi_call_edit(phi_call call, const phi_prune *prune, const phi_revert *revert,
                                 char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
