/* prune.h - plans a prune: takes the model's oldest answers out of its view.

   A prune never takes a user's message, a message that a compaction left standing, nor a durable
   entry. It takes whole groups: an answer with the results of its calls. They stay in the log.
   Pure: from the items of a view (phi_thread_view) to a rewrite, which the caller applies. */
#ifndef PHI_HISTORY_PRUNE_H
#define PHI_HISTORY_PRUNE_H

#include "model/texts.h"
#include "model/tokens.h"
#include "log/thread.h"
#include "model/event_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but tokens. */
typedef struct phi_prune {
    uint64_t tokens;   /* to be taken, at least: the last group may have more */
    phi_str memo;      /* a message in their place (default: none) */
    uint64_t from_seq; /* entries before this one stay: phi_thread_prunable_from (default: 0) */
    /* entries from this one on stay: those of the current turn (default: none) */
    uint64_t end_seq;
    const phi_texts *texts; /* PHI_TEXT_PRUNED (default: phi's) */
} phi_prune;

/* What to take out of a view, oldest first, until it is enough or there is no more; a user message
   "[Pruned context summary: {memo}]" in the place of the first. *pruned, where given: the groups
   taken. Both, and their pointers, are in the arena; out->meta has the same as JSON.
   out->span_count 0: nothing is taken, since there is nothing to take, or the memo would be larger.
   counter NULL: the estimate. PHI_BAD_ARG: no tokens; PHI_NO_MEMORY. */
PHI_API phi_status phi_prune_plan(const phi_view_item *items, size_t count, const phi_prune *prune,
                                  const phi_token_counter *counter, phi_arena *arena,
                                  phi_rewrite *out, phi_pruned *pruned);

/* The first entry of the active lane that may be taken: messages that the last compaction left
   standing count as the user's. */
PHI_API uint64_t phi_thread_prunable_from(const phi_thread *thread);

#ifdef __cplusplus
}
#endif
#endif
