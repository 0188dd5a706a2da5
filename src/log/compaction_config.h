/* compaction_config.h - when a view is compacted, and which messages of it stay. */
#ifndef PHI_LOG_COMPACTION_CONFIG_H
#define PHI_LOG_COMPACTION_CONFIG_H

#include "base/base.h"

typedef enum phi_compaction_scope {
    PHI_COMPACTION_RUNS = 0, /* the newest scope_runs runs before the current one */
    PHI_COMPACTION_TOKENS    /* as many of the newest runs as fit into scope_tokens */
} phi_compaction_scope;

/* A value for scope_runs: no earlier run is in scope. (0 means the default.) */
#define PHI_COMPACTION_NO_RUNS (UINT32_MAX - 1)

/* Zero means default for every field. */
typedef struct phi_compaction_config {
    /* Runs do not compact by themselves. Used only in phi_agent_desc. A prompt that is too long for
       the provider is still cut. */
    bool disable;
    uint64_t max_context_tokens; /* (default: the model's window; without an agent 100,000) */
    /* (default: an estimate of the agent's prompt, tools and format; without an agent 4,000) */
    uint64_t system_prompt_tokens;
    /* the part of the window that the view may fill (0 to 1; default 0.9) */
    double compact_at_pct;
    /* a compaction begins when less than this part of the window is left below compact_at_pct, so
       by default at 0.85 of the window (0 to 1; default 0.05) */
    double budget_threshold_pct;
    phi_compaction_scope scope;
    uint32_t scope_runs;       /* (default 3; UINT32_MAX: all; PHI_COMPACTION_NO_RUNS) */
    uint64_t scope_tokens;     /* (default: max_context_tokens) */
    uint32_t keep_first_turns; /* first turns of the current run that stay unchanged (default 2) */
    bool keep_no_first;        /* keep no first turns, whatever keep_first_turns says */
    /* last turns of the current run, in which only long results are cut (default 10) */
    uint32_t keep_recent_turns;
    /* for phi_compact_messages: how many of the first messages are kept (default 2) */
    uint32_t keep_first_messages;
    bool keep_no_first_messages; /* keep no first messages, whatever keep_first_messages says */
    /* for phi_compact_messages: how many of the last messages are kept (default 10) */
    uint32_t keep_recent_messages;
    uint64_t max_summary_tokens;    /* limit for the summary of one section (default 2,000) */
    uint32_t tool_output_max_lines; /* limit for each result that stays (default 50) */
    /* a user message that is put before each summed-up section (default: none) */
    const char *focus_message;
    /* ignored in phi_agent_desc, which has its own texts (default: phi's) */
    const struct phi_texts *texts;
} phi_compaction_config;

#endif
