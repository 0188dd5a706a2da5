/* compaction_config.h - when the view is compacted, and what stays of it. */
#ifndef PHI_LOG_COMPACTION_CONFIG_H
#define PHI_LOG_COMPACTION_CONFIG_H

#include "base/base.h"

typedef enum phi_compaction_scope {
    PHI_COMPACTION_RUNS = 0, /* the newest runs before the current one, scope_runs of them */
    PHI_COMPACTION_TOKENS    /* the newest ones as far as scope_tokens go */
} phi_compaction_scope;

#define PHI_COMPACTION_NO_RUNS (UINT32_MAX - 1) /* scope_runs: no earlier run; 0 is the default */

/* Zero means default for every field. */
typedef struct phi_compaction_config {
    /* of phi_agent_desc: runs do not compact by themselves; a prompt that the provider finds too
       long is cut all the same */
    bool disable;
    uint64_t max_context_tokens; /* (default: the model's window; without an agent 100,000) */
    /* (default: an estimate of the agent's prompt, tools and format; without an agent 4,000) */
    uint64_t system_prompt_tokens;
    /* the part of the window (0 to 1) at which the headroom ends (default 0.9) */
    double compact_at_pct;
    double budget_threshold_pct; /* ... and the headroom below which it begins (default 0.05) */
    phi_compaction_scope scope;
    uint32_t scope_runs;        /* (default 3; UINT32_MAX: all; PHI_COMPACTION_NO_RUNS) */
    uint64_t scope_tokens;      /* (default: max_context_tokens) */
    uint32_t keep_first_turns;  /* of the current run, as they are (default 2) */
    bool keep_no_first;         /* none, whatever keep_first_turns says */
    uint32_t keep_recent_turns; /* of the current run; long results in them are cut (default 10) */
    /* of phi_compact_messages, which counts messages: the first ones (default 2) */
    uint32_t keep_first_messages;
    bool keep_no_first_messages;    /* none, whatever keep_first_messages says */
    uint32_t keep_recent_messages;  /* ... and the last ones (default 10) */
    uint64_t max_summary_tokens;    /* of a section's replacement (default 2,000) */
    uint32_t tool_output_max_lines; /* of results that stay (default 50) */
    /* put before each summed-up section, as a user's message (default: none) */
    const char *focus_message;
    const struct phi_texts *texts; /* of phi_agent_desc: its own texts count (default: phi's) */
} phi_compaction_config;

#endif
