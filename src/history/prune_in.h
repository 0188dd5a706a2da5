/* prune_in.h - the message that a prune leaves in the place of what it took. */
#ifndef PHI_HISTORY_PRUNE_IN_H
#define PHI_HISTORY_PRUNE_IN_H

#include "base/arena_in.h"
#include "base/base_in.h"
#include "history/prune.h"
#include "history/revert.h"
#include "log/thread.h"
#include "model/texts.h"
#include "model/tokens.h"

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

/* Takes the oldest whole groups (an answer with its results, or a user message) out of the view
   until it is estimated at target_tokens or less; *removed: the messages taken out; the marker's
   text counts those of earlier times, too. counter NULL: the estimate. texts NULL: phi's. The first
   user message, the newest one, and the last group stay. A user message "[Context compacted: N
   messages removed to fit context window]" takes their place. It is one rewrite. False: no
   memory, and nothing changed. *removed 0: there was nothing to take; no entry is appended. */
PHI__FN bool phi__truncate(phi_thread *thread, uint64_t target_tokens,
                           const phi_token_counter *counter, const phi_texts *texts,
                           phi_str loop_id, uint32_t turn_index, size_t *removed);

/* "failure"...; empty: none of them. */
PHI__FN const char *phi__revert_word(phi_revert_category category);

/* Plans to take everything behind the step out of the active lane's view, with a user message
   "[Reverted to step n12 (failure): {summary}]" in its place. A line of an earlier failure or
   tangent goes, too, once five turns and three newer lines of its category follow it.
   *reverted says so, or why not (then out->span_count is 0): the step "was not found", or "a user
   message" follows it. out->meta has the same as JSON. Both, and their pointers, are in the
   arena. PHI_BAD_ARG: no category; PHI_NO_MEMORY. */
PHI__FN phi_status phi__revert_plan(const phi_thread *thread, const phi_revert *revert,
                                    phi_arena *arena, phi_rewrite *out, phi_reverted *reverted);

#endif
