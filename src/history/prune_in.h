/* prune_in.h - the message that a prune leaves in the place of what it took. */
#ifndef PHI_HISTORY_PRUNE_IN_H
#define PHI_HISTORY_PRUNE_IN_H

#include "base/arena_in.h"
#include "history/prune.h"

/* "[Pruned context summary: {memo}]" as a user message in the place and time of `first`, the first
   message taken; in the arena, but for first's loop id. NULL: no memory. */
PHI__FN phi_message *phi__prune_memo(phi_str memo, const phi_message *first, const phi_texts *texts,
                                     phi_arena *arena);

#endif
