/* compact_in.h - a compaction's defaults, and helpers that both ways to compact share. */
#ifndef PHI_HISTORY_COMPACT_IN_H
#define PHI_HISTORY_COMPACT_IN_H

#include "base/arena_in.h"
#include "history/compact.h"

/* A plan, and its figures. */
typedef struct phi__compacted {
    phi_rewrite rewrite; /* span_count 0: it would save nothing */
    uint64_t tokens_before, tokens_after;
    size_t runs; /* of which something is replaced */
} phi__compacted;

/* Resolves zero fields to their defaults; a config without a window gets the default window. */
PHI__FN phi_compaction_config phi__compact_config(const phi_compaction_config *config);

/* How many earlier runs are in scope, of a config that was filled. */
PHI__FN uint32_t phi__compact_scope_runs(const phi_compaction_config *config);

/* The tokens above which a view is to be compacted. config: of phi__compact_config. */
PHI__FN uint64_t phi__compact_threshold(const phi_compaction_config *config);

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
PHI__FN phi_status phi__compact_rewrite(const phi_view_item *items, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        phi_rewrite *out);

/* The same, with its figures. */
PHI__FN phi_status phi__compact_plan(const phi_view_item *items, size_t count,
                                     const phi_compaction_config *config,
                                     const phi_token_counter *counter, phi_arena *arena,
                                     phi__compacted *out);

/* The same for a writer that sums up whatever the plan replaces: summaries are in it, too, and so
   are those of runs beyond the scope. */
PHI__FN phi_status phi__compact_plan_anew(const phi_view_item *items, size_t count,
                                          const phi_compaction_config *config,
                                          const phi_token_counter *counter, phi_arena *arena,
                                          phi__compacted *out);

/* A result with each of its texts cut to `lines` lines, in the arena; the message itself where none
   is longer. texts NULL: phi's. NULL: no memory. */
PHI__FN const phi_message *phi__compact_cut(const phi_message *message, uint32_t lines,
                                            const phi_texts *texts, phi_arena *arena);

/* A user's message with one text, which is borrowed. NULL: no memory. */
PHI__FN phi_message *phi__compact_say(phi_str text, phi_arena *arena);

/* The same with the time, run and turn of `place`. */
PHI__FN phi_message *phi__compact_say_at(phi_str text, const phi_message *place, phi_arena *arena);

#endif
