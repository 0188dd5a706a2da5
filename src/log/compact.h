/* compact.h - plans a compaction: which messages of a view are replaced, and by which summaries.

   A plan is pure: it makes a rewrite from the items of a view (phi_thread_view), and the caller
   applies the rewrite. The original messages stay in the log. A plan that would make the view
   larger is dropped. The next compaction does not change the result of the last one until there is
   more to sum up.

   A turn is a sequence of adjacent messages with the same loop_id and turn_index. A message without
   a loop_id is a turn by itself, except that a result belongs to the turn of its call. A run is a
   sequence of adjacent messages with the same loop_id. The current run is the last one. */
#ifndef PHI_LOG_COMPACT_H
#define PHI_LOG_COMPACT_H

#include "log/compaction_config.h"
#include "model/texts.h"
#include "model/tokens.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Compacts a list of messages, for hosts that keep their own lists. The budget is
   max_context_tokens - system_prompt_tokens. There are three levels; each is used only if the list
   does not fit into the budget after the level before:
   - Results are cut to tool_output_max_lines.
   - Each answer before the last keep_recent_messages becomes one line, and its results are removed.
   - Everything between the first keep_first_messages and the last keep_recent_messages is removed,
     and a marker says how many messages were removed. If the list still does not fit, only a marker
     and the newest messages that fit after it stay. If not even the newest message fits with a
     marker, the newest messages that fit stay, without a marker. If the first message is a user
     message that begins as a summary ("[Summary] "), it stays, unless the newest message does not
     fit with it.
   If an earlier marker is among the removed messages, the new marker adds the number that the
   earlier one names. The resulting list never exceeds the budget (it may be empty), and a result is
   never separated from its call. The list is in the arena; its messages belong to the caller or are
   in the arena. */
PHI_API phi_status phi_compact_messages(const phi_message *const *messages, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        const phi_message *const **out, size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
