/* prune_in.h - the message that a prune leaves in the place of what it took. */
#ifndef PHI_HISTORY_PRUNE_IN_H
#define PHI_HISTORY_PRUNE_IN_H

#include "base/arena_in.h"
#include "history/prune.h"

/* What to take out of a view, oldest first, until it is enough or there is no more; a user message
   "[Pruned context summary: {memo}]" in the place of the first. *pruned, where given: the groups
   taken. Both, and their pointers, are in the arena; out->meta has the same as JSON.
   out->span_count 0: nothing is taken, since there is nothing to take, or the memo would be larger.
   counter NULL: the estimate. from_seq is taken as it is. PHI_BAD_ARG: no tokens; PHI_NO_MEMORY. */
PHI__FN phi_status phi__prune_plan(const phi_view_item *items, size_t count, const phi_prune *prune,
                                   const phi_token_counter *counter, phi_arena *arena,
                                   phi_rewrite *out, phi_pruned *pruned);
/* The first entry of the active lane that may be taken: messages that the last compaction left
   standing count as the user's. */
PHI__FN uint64_t phi__prune_from(const phi_thread *thread);

/* "[Pruned context summary: {memo}]" as a user message in the place and time of `first`, the first
   message taken; in the arena, but for first's loop id. NULL: no memory. */
PHI__FN phi_message *phi__prune_memo(phi_str memo, const phi_message *first, const phi_texts *texts,
                                     phi_arena *arena);

#endif
