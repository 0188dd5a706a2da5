/* compact.h - plans a compaction: which messages of a view it replaces, and by which summaries.

   Pure: from the items of a view (phi_thread_view) to a rewrite, which the caller applies. The
   originals stay in the log. A compaction never makes a view larger: a plan that would is dropped.
   The next compaction leaves the result of the last one as it is, until there is more to sum up.

   A turn is a row of adjacent messages with the same loop_id and turn_index. A message without a
   loop_id is a turn by itself, but for results, which belong to the turn of their call. A run is a
   row of adjacent messages with the same loop_id. The current run is the last one. */
#ifndef PHI_LOG_COMPACT_H
#define PHI_LOG_COMPACT_H

#include "log/compaction_config.h"
#include "model/texts.h"
#include "model/tokens.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The three levels over a list of messages, for hosts that keep their own; each only if the level
   before was not enough for max_context_tokens - system_prompt_tokens:
   - results are cut to tool_output_max_lines;
   - answers before the last keep_recent_messages become a line each, and their results go;
   - all between the first keep_first_messages and the last keep_recent_messages goes, and a
     marker says how many messages went; if that is not enough, the newest that fit after a marker
     stay; if not even the newest one fits with it, the newest that fit, without a marker. A first
     message of the user that begins as a summary ("[Summary] ") stays unless the newest message
     does not fit with it.
   A marker that is removed counts as the messages it replaced. The resulting list is never over
   that budget (it may be empty), and no result is parted from its call. The list is in the arena,
   its messages are the caller's or in the arena. */
PHI_API phi_status phi_compact_messages(const phi_message *const *messages, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        const phi_message *const **out, size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
