/* compact.h - plans a compaction: which messages of a view it replaces, and by which summaries.

   Pure: from the items of a view (phi_thread_view) to a rewrite, which the caller applies. The
   originals stay in the log. A compaction never makes a view larger: a plan that would is dropped.
   The next compaction leaves the result of the last one as it is, until there is more to sum up.

   A turn is a row of adjacent messages with the same loop_id and turn_index. A message without a
   loop_id is a turn by itself, but for results, which belong to the turn of their call. A run is a
   row of adjacent messages with the same loop_id. The current run is the last one. */
#ifndef PHI_HISTORY_COMPACT_H
#define PHI_HISTORY_COMPACT_H

#include "history/compaction_config.h"
#include "model/texts.h"
#include "model/tokens.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a view of so many tokens is to be compacted: compact_at - system / max - current / max <
   threshold. With the defaults and a window of 100,000 that is above 81,000. config NULL: the
   defaults. */
PHI_API bool phi_compaction_due(const phi_compaction_config *config, uint64_t current_tokens);

/* The plan for a view:
   - of the current run, the turns between the first and the recent ones: by one summary. Long
     results of the recent ones: by themselves, cut to their first and last lines;
   - earlier runs in scope: each by a summary of its own; runs before those: by the lines
     of their summaries, in one, or by nothing;
   - summaries without PHI_ITEM_LINES, such as a model's, stay;
   - DURABLE entries stay, behind the summary.
   A summary is a user's message of one line for each message of the user or the model, as far as
   max_summary_tokens go; else the oldest lines are left out, and a first line says how many. Lines
   of an earlier summary are taken over as they are. A section whose summary would not be smaller
   stays.
   `out` and its pointers are in the arena; out->span_count 0: the plan would save nothing. config
   NULL: the defaults; counter NULL: the estimate. PHI_NO_MEMORY; PHI_BAD_ARG: also items out of
   order. */
PHI_API phi_status phi_compaction_plan(const phi_view_item *items, size_t count,
                                       const phi_compaction_config *config,
                                       const phi_token_counter *counter, phi_arena *arena,
                                       phi_rewrite *out);

/* The three levels over a list of messages, for hosts that keep their own; each only if the level
   before was not enough for max_context_tokens - system_prompt_tokens:
   - results are cut to tool_output_max_lines;
   - answers before the last keep_recent_messages become a line each, and their results go;
   - all between the first keep_first_messages and the last keep_recent_messages goes, and a
     marker says how many messages went; where that is not enough, the newest that fit behind a
     marker stay; where not even the newest one fits beside it, the newest that fit, without a
     marker. A first message of the user that begins as a summary ("[Summary] ") stays unless the
     newest message does not fit with it.
   A marker that is removed counts as the messages it stands for. The resulting list is never over
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
