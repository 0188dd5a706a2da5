/* compact.h - making what a model sees smaller: what a compaction replaces, and with what.

   Pure: from the items of a view (phi_thread_view) to a rewrite, which whoever called it applies. The originals stay
   in the log. A compaction never makes a view larger: one that would is none. */
#ifndef PHI_THREAD_COMPACT_H
#define PHI_THREAD_COMPACT_H

#include "model/tokens.h"
#include "thread/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_compaction_scope {
    PHI_COMPACTION_RUNS = 0, /* the newest runs, scope_runs of them; what is older goes */
    PHI_COMPACTION_TOKENS    /* newest runs as far as scope_tokens go */
} phi_compaction_scope;

/* Zero means default for every field; behaviours C 36-37. */
typedef struct phi_compaction_config {
    bool disable;
    uint64_t
        max_context_tokens; /* (default: the model's window; 100,000 where that is not known) */
    uint64_t
        system_prompt_tokens; /* (default: what the agent's prompt is estimated at; else 4,000) */
    double compact_at_pct;    /* of the window, where it is to begin (default 0.9) */
    double budget_threshold_pct; /* ... and the headroom below which it does (default 0.05) */
    phi_compaction_scope scope;
    uint32_t scope_runs; /* (default 3) */
    uint64_t scope_tokens;
    uint32_t keep_first_turns; /* of the current run (default 2) */
    bool keep_no_first;
    uint32_t keep_recent_turns;     /* (default 10) */
    uint64_t max_summary_tokens;    /* of what stands for a section (default 2,000) */
    uint32_t tool_output_max_lines; /* of results that stay (default 50) */
    const char *
        focus_message; /* put before the section that was compacted, as the user's (default: none) */
} phi_compaction_config;

/* Whether a view of so many tokens is to be compacted: 0.9 - system/max - current/max < 0.05 with the defaults. */
PHI_API bool phi_compaction_due(const phi_compaction_config *config, uint64_t current_tokens);

/* What to replace in a view. `out` and what it points to are in the arena; out->span_count 0: nothing would be gained.
   counter NULL: the estimate. PHI_NO_MEMORY, PHI_BAD_ARG. */
PHI_API phi_status phi_compaction_plan(const phi_view_item *items, size_t count,
                                       const phi_compaction_config *config,
                                       const phi_token_counter *counter, phi_arena *arena,
                                       phi_rewrite *out);

/* The three levels over a list of messages, for hosts that keep their own: tool outputs cut, older answers summed up in
   a line, the middle left out; each only as far as is needed for max_context_tokens. The list in the arena. */
PHI_API phi_status phi_compact_messages(const phi_message *const *messages, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        const phi_message *const **out, size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
