/* config_tables.c - the tables of the top of a file, and of the sections about sessions, tools,
   compaction and runs. The others are in config_tables_agent.c, config_tables_model.c and
   config_tables_strategy.c. */
#include "config/config_tables_in.h"

/* ---- the top ---- */

static const phi__config_field phi__config_tables_top_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_top, schema, "$schema", PHI__CONFIG_TEXT, 0, NULL, "null",
                      "The address of a JSON Schema, for editors; phi does not look at it."),
    PHI__CONFIG_PLAIN(phi__config_top, default_workspace, "default_workspace", PHI__CONFIG_TEXT,
                      PHI__CONFIG_PATH, NULL, "\".\"",
                      "The directory of every agent that has none of its own."),
    PHI__CONFIG_NEST(phi__config_top, agent, "agent", PHI__CONFIG_TABLE, phi__config_tables_agent,
                     "The agent, or what all agents of this file have in common."),
    PHI__CONFIG_NEST(phi__config_top, provider, "provider", PHI__CONFIG_TABLE,
                     phi__config_tables_provider, "The model of every agent that names no other."),
    PHI__CONFIG_PLAIN(
        phi__config_top, models, "models", PHI__CONFIG_MAP, PHI__CONFIG_ONLY_REFERENCE, "provider",
        "{}",
        "Short names for providers: with fast = \"{{provider.haiku}}\", \":fast\" means "
        "that provider."),
    PHI__CONFIG_NEST(phi__config_top, failover, "failover", PHI__CONFIG_TABLE,
                     phi__config_tables_failover,
                     "Other models to go on with when one fails for good."),
    PHI__CONFIG_NEST(phi__config_top, session, "session", PHI__CONFIG_TABLE,
                     phi__config_tables_session, "Where threads are kept."),
    PHI__CONFIG_NEST(phi__config_top, tools, "tools", PHI__CONFIG_TABLE, phi__config_tables_tools,
                     "Which tools there are, and how calls run."),
    PHI__CONFIG_NEST(phi__config_top, compaction, "compaction", PHI__CONFIG_TABLE,
                     phi__config_tables_compaction,
                     "How a conversation that nears the window is shortened."),
    PHI__CONFIG_NEST(phi__config_top, context, "context", PHI__CONFIG_TABLE,
                     phi__config_tables_context,
                     "Another place for compaction: [context.compaction]."),
    PHI__CONFIG_NEST(phi__config_top, execution, "execution", PHI__CONFIG_TABLE,
                     phi__config_tables_execution,
                     "Limits of a run, retries, prompt caching, budget and deadlines."),
    PHI__CONFIG_NEST(phi__config_top, sub_agents, "sub_agents", PHI__CONFIG_TABLE,
                     phi__config_tables_sub_agents, "Agents that are tools of agents."),
    PHI__CONFIG_NEST(phi__config_top, strategy, "strategy", PHI__CONFIG_TABLE,
                     phi__config_tables_strategies, "Reasoning strategies, by name."),
    PHI__CONFIG_NEST(phi__config_top, system_prompt_strategy, "system_prompt_strategy",
                     PHI__CONFIG_TABLE, phi__config_tables_prompt_strategies,
                     "Templates of system prompts: their blocks, in order, with lengths."),
    PHI__CONFIG_NEST(phi__config_top, system_prompt, "system_prompt", PHI__CONFIG_TABLE,
                     phi__config_tables_prompts, "System prompts made of blocks.")};
static const phi__config_table phi__config_tables_top_table = {
    "",
    phi__config_tables_top_fields,
    PHI__COUNT(phi__config_tables_top_fields),
    NULL,
    false,
    "A configuration."};
const phi__config_table *phi__config_tables_top(void) { return &phi__config_tables_top_table; }

/* ---- sessions and tools ---- */

static const phi__config_choice phi__config_tables_scope_choices[] = {
    {"ephemeral", 0, false}, {"persistent", 1, false}, {"", 0, false}};

static const phi__config_field phi__config_tables_session_fields[] = {
    PHI__CONFIG_CHOOSE(
        phi__config_session, scope, "scope", phi__config_tables_scope_choices, "\"ephemeral\"",
        "ephemeral: threads live in memory alone; persistent: they are written to a store."),
    PHI__CONFIG_PLAIN(phi__config_session, directory, "directory", PHI__CONFIG_TEXT,
                      PHI__CONFIG_PATH, NULL, "null",
                      "Where a persistent session keeps its files; made when needed."),
    PHI__CONFIG_PLAIN(
        phi__config_session, thread, "thread", PHI__CONFIG_TEXT, 0, NULL, "null",
        "The id of the thread to continue, or to begin where the store has none of that id."),
    PHI__CONFIG_PLAIN(phi__config_session, sync, "sync", PHI__CONFIG_BOOL, 0, NULL, "false",
                      "Wait for the disk at each write, so that a loss of power loses nothing.")};
static const phi__config_table phi__config_tables_session_table = {
    "session",
    phi__config_tables_session_fields,
    PHI__COUNT(phi__config_tables_session_fields),
    NULL,
    false,
    "Sessions."};
const phi__config_table *phi__config_tables_session(void) {
    return &phi__config_tables_session_table;
}

static const phi__config_choice phi__config_tables_tool_mode_choices[] = {
    {"sequential", PHI_TOOLS_SEQUENTIAL, false},
    {"parallel", PHI_TOOLS_PARALLEL, false},
    {"batched", PHI_TOOLS_BATCHED, false},
    {"", 0, false}};

static const phi__config_choice phi__config_tables_tool_choice_choices[] = {
    {"auto", PHI_TOOL_CHOICE_AUTO, false},
    {"none", PHI_TOOL_CHOICE_NONE, false},
    {"required", PHI_TOOL_CHOICE_REQUIRED, false},
    {"", 0, false}};

static const phi__config_field phi__config_tables_tools_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_tools, enabled, "enabled", PHI__CONFIG_TEXTS, 0, NULL, "[]",
                      "Names of tools: built-in ones, those of the program, and sub-agents."),
    PHI__CONFIG_ROW(
        phi__config_tools, mode, "tool_strategy", PHI__CONFIG_CHOICE, 0, "strategy",
        phi__config_tables_tool_mode_choices, NULL, NULL, 0, 0, "\"parallel\"",
        "How the calls of one turn run: one after another, all at once, or batch_size at a time."),
    PHI__CONFIG_RANGE(phi__config_tools, batch_size, "batch_size", PHI__CONFIG_INTEGER, 0, 1, 65536,
                      "3", "Calls at a time, with tool_strategy \"batched\"."),
    PHI__CONFIG_RANGE(phi__config_tools, timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS,
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, "120",
                      "Seconds that a call of a tool without a limit of its own may take."),
    PHI__CONFIG_RANGE(
        phi__config_tools, defer_percent, "defer_percent", PHI__CONFIG_INTEGER,
        PHI__CONFIG_NO_LIMIT, 1, 1000, "10",
        "Percent of the window: where tools of servers take more, they are deferred."),
    PHI__CONFIG_CHOOSE(phi__config_tools, choice, "choice", phi__config_tables_tool_choice_choices,
                       "\"auto\"", "Whether the model may, must not, or must call a tool.")};
static const phi__config_table phi__config_tables_tools_table = {
    "tools",
    phi__config_tables_tools_fields,
    PHI__COUNT(phi__config_tables_tools_fields),
    NULL,
    false,
    "Tools."};
const phi__config_table *phi__config_tables_tools(void) { return &phi__config_tables_tools_table; }

/* ---- compaction ---- */

static const phi__config_choice phi__config_tables_compaction_scope_choices[] = {
    {"runs", PHI_COMPACTION_RUNS, false}, {"tokens", PHI_COMPACTION_TOKENS, false}, {"", 0, false}};

static const phi__config_field phi__config_tables_compaction_base_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_compaction, enabled, "enabled", PHI__CONFIG_BOOL, 0, NULL, "true",
                      "false switches compaction off, whatever max_context_tokens says."),
    PHI__CONFIG_RANGE(phi__config_compaction, config.max_context_tokens, "max_context_tokens",
                      PHI__CONFIG_INTEGER, 0, 1000, 1000000000, "null",
                      "Size of the window in tokens; compaction is off where this is not set."),
    PHI__CONFIG_RANGE(phi__config_compaction, config.system_prompt_tokens, "system_prompt_tokens",
                      PHI__CONFIG_INTEGER, 0, 1, 1000000000, "4000",
                      "Tokens reserved for the system prompt."),
    PHI__CONFIG_RANGE(phi__config_compaction, config.compact_at_pct, "compact_at_pct",
                      PHI__CONFIG_NUMBER, 0, 0.01, 1, "0.9",
                      "The part of the window, above 0 to 1, that may fill up."),
    PHI__CONFIG_RANGE(
        phi__config_compaction, config.budget_threshold_pct, "compact_budget_threshold_pct",
        PHI__CONFIG_NUMBER, 0, 0.001, 1, "0.05",
        "Compaction begins when less than this part of the window is left below compact_at_pct."),
    PHI__CONFIG_ROW(phi__config_compaction, config.keep_first_turns, "keep_first_turns",
                    PHI__CONFIG_INTEGER, 0, "keep_first", NULL, NULL, NULL, 0, 1000000, "2",
                    "First turns of a run that stay as they are; 0: none."),
    PHI__CONFIG_ROW(phi__config_compaction, config.keep_recent_turns, "keep_recent_turns",
                    PHI__CONFIG_INTEGER, 0, "keep_recent", NULL, NULL, NULL, 1, 1000000, "10",
                    "Newest turns of a run that stay as they are."),
    PHI__CONFIG_RANGE(phi__config_compaction, config.max_summary_tokens, "max_summary_tokens",
                      PHI__CONFIG_INTEGER, 0, 1, 1000000000, "2000",
                      "Tokens of a summary at most."),
    PHI__CONFIG_RANGE(phi__config_compaction, config.tool_output_max_lines, "tool_output_max_lines",
                      PHI__CONFIG_INTEGER, 0, 1, 1000000000, "50",
                      "Lines that stay of a long tool result."),
    PHI__CONFIG_PLAIN(phi__config_compaction, config.focus_message, "focus_message",
                      PHI__CONFIG_TEXT, 0, NULL, "null",
                      "What summaries have to keep, as a message before them."),
    PHI__CONFIG_CHOOSE(phi__config_compaction, config.scope, "scope",
                       phi__config_tables_compaction_scope_choices, "\"runs\"",
                       "Which earlier runs are summed up: the newest scope_runs, or as many as "
                       "scope_tokens hold."),
    PHI__CONFIG_RANGE(phi__config_compaction, config.scope_runs, "scope_runs", PHI__CONFIG_INTEGER,
                      PHI__CONFIG_NO_LIMIT, 1, 1000000, "3",
                      "Earlier runs that are summed up, with scope \"runs\"."),
    PHI__CONFIG_RANGE(phi__config_compaction, config.scope_tokens, "scope_tokens",
                      PHI__CONFIG_INTEGER, 0, 1, 1000000000, "null",
                      "Tokens of earlier runs that are summed up, with scope \"tokens\" (default: "
                      "max_context_tokens).")};
static const phi__config_table phi__config_tables_compaction_base_table = {
    "",
    phi__config_tables_compaction_base_fields,
    PHI__COUNT(phi__config_tables_compaction_base_fields),
    NULL,
    false,
    ""};
static const phi__config_table *phi__config_tables_compaction_base(void) {
    return &phi__config_tables_compaction_base_table;
}

static const phi__config_field phi__config_tables_compaction_fields[] = {PHI__CONFIG_NEST(
    phi__config_compaction, instances, "instances", PHI__CONFIG_TABLES,
    phi__config_tables_compaction_instance,
    "Named variations, for agents and profiles: compaction = \"{{compaction.name}}\".")};
static const phi__config_table phi__config_tables_compaction_table = {
    "compaction",
    phi__config_tables_compaction_fields,
    PHI__COUNT(phi__config_tables_compaction_fields),
    phi__config_tables_compaction_base,
    false,
    "Compaction."};
const phi__config_table *phi__config_tables_compaction(void) {
    return &phi__config_tables_compaction_table;
}

static const phi__config_field phi__config_tables_compaction_instance_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_compaction, id, "id", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ID | PHI__CONFIG_REQUIRED, "compaction", "null",
                      "Its name: \"{{name}}\", or \"{{%name%}}\" for one that is shared."),
    PHI__CONFIG_PLAIN(phi__config_compaction, description, "description", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "For people.")};
static const phi__config_table phi__config_tables_compaction_instance_table = {
    "compaction.instances",
    phi__config_tables_compaction_instance_fields,
    PHI__COUNT(phi__config_tables_compaction_instance_fields),
    phi__config_tables_compaction_base,
    false,
    "A named compaction: what it does not set is as in [compaction]."};
const phi__config_table *phi__config_tables_compaction_instance(void) {
    return &phi__config_tables_compaction_instance_table;
}

static const phi__config_field phi__config_tables_context_fields[] = {PHI__CONFIG_NEST(
    phi__config_context, compaction, "compaction", PHI__CONFIG_TABLE, phi__config_tables_compaction,
    "As [compaction] at the top; a file has only one of the two.")};
static const phi__config_table phi__config_tables_context_table = {
    "context",
    phi__config_tables_context_fields,
    PHI__COUNT(phi__config_tables_context_fields),
    NULL,
    false,
    "Another place for compaction."};
const phi__config_table *phi__config_tables_context(void) {
    return &phi__config_tables_context_table;
}

/* ---- runs ---- */

static const phi__config_field phi__config_tables_execution_fields[] = {
    PHI__CONFIG_RANGE(phi__config_execution, limits.max_turns, "max_turns", PHI__CONFIG_INTEGER,
                      PHI__CONFIG_NO_LIMIT, 1, 4294967295, "50", "Model calls of a run at most."),
    PHI__CONFIG_RANGE(phi__config_execution, limits.max_tokens, "max_total_tokens",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 1, 0, "1000000",
                      "Input and output tokens of a run at most."),
    PHI__CONFIG_RANGE(phi__config_execution, limits.max_duration_ms, "max_duration_secs",
                      PHI__CONFIG_SECONDS, PHI__CONFIG_NO_LIMIT, 0.001, 0, "600",
                      "Seconds that a run may take."),
    PHI__CONFIG_RANGE(phi__config_execution, limits.max_cost, "max_cost", PHI__CONFIG_NUMBER, 0,
                      1e-06, 1000000000, "null",
                      "Dollars of a run at most; needs [provider.cost]."),
    PHI__CONFIG_PLAIN(phi__config_execution, limits.pause, "pause", PHI__CONFIG_BOOL, 0, NULL,
                      "false", "A limit that is reached pauses the run instead of ending it."),
    PHI__CONFIG_NEST(phi__config_execution, retry, "retry", PHI__CONFIG_TABLE,
                     phi__config_tables_retry,
                     "Retries of model calls that failed in a way that may pass."),
    PHI__CONFIG_NEST(phi__config_execution, cache, "cache", PHI__CONFIG_TABLE,
                     phi__config_tables_cache, "Prompt caching."),
    PHI__CONFIG_NEST(phi__config_execution, budget, "budget", PHI__CONFIG_TABLE,
                     phi__config_tables_budget,
                     "What an agent may spend over its life, with its sub-agents."),
    PHI__CONFIG_NEST(phi__config_execution, deadlines, "deadlines", PHI__CONFIG_TABLE,
                     phi__config_tables_deadlines, "How long the network may be silent.")};
static const phi__config_table phi__config_tables_execution_table = {
    "execution",
    phi__config_tables_execution_fields,
    PHI__COUNT(phi__config_tables_execution_fields),
    NULL,
    false,
    "Limits of a run."};
const phi__config_table *phi__config_tables_execution(void) {
    return &phi__config_tables_execution_table;
}

static const phi__config_field phi__config_tables_retry_fields[] = {
    PHI__CONFIG_RANGE(phi__config_retry, retry.max_retries, "max_retries", PHI__CONFIG_INTEGER, 0,
                      0, 1000, "3", "Attempts beyond the first; 0: none."),
    PHI__CONFIG_RANGE(phi__config_retry, retry.initial_delay_ms, "initial_delay_ms",
                      PHI__CONFIG_INTEGER, 0, 1, 3600000, "1000",
                      "Milliseconds before the first retry."),
    PHI__CONFIG_RANGE(phi__config_retry, retry.backoff_multiplier, "backoff_multiplier",
                      PHI__CONFIG_NUMBER, 0, 1, 1000, "2.0",
                      "Each delay is so many times the one before."),
    PHI__CONFIG_RANGE(phi__config_retry, retry.max_delay_ms, "max_delay_ms", PHI__CONFIG_INTEGER, 0,
                      1, 86400000, "30000", "Milliseconds of a delay at most."),
    PHI__CONFIG_RANGE(phi__config_retry, retry.max_server_delay_ms, "max_server_delay_ms",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 1, 4294967295, "60000",
                      "Milliseconds that a server may ask to wait; when it asks for more, the call "
                      "fails at once.")};
static const phi__config_table phi__config_tables_retry_table = {
    "execution.retry",
    phi__config_tables_retry_fields,
    PHI__COUNT(phi__config_tables_retry_fields),
    NULL,
    false,
    "Retries."};
const phi__config_table *phi__config_tables_retry(void) { return &phi__config_tables_retry_table; }

static const phi__config_choice phi__config_tables_cache_mode_choices[] = {
    {"auto", PHI_CACHE_AUTO, false},
    {"disabled", PHI_CACHE_DISABLED, false},
    {"manual", PHI_CACHE_MANUAL, false},
    {"", 0, false}};

static const phi__config_field phi__config_tables_cache_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_cache, enabled, "enabled", PHI__CONFIG_BOOL, 0, NULL, "true",
                      "false: no marks of prompt caching are sent."),
    PHI__CONFIG_ROW(phi__config_cache, cache.mode, "strategy", PHI__CONFIG_CHOICE,
                    PHI__CONFIG_LENIENT, NULL, phi__config_tables_cache_mode_choices, NULL, NULL, 0,
                    0, "\"auto\"",
                    "auto: all marks; disabled: none; manual: those that are set here."),
    PHI__CONFIG_ROW(phi__config_cache, cache.system, "system", PHI__CONFIG_BOOL, 0, "cache_system",
                    NULL, NULL, NULL, 0, 0, "false", "manual: a mark behind the system prompt."),
    PHI__CONFIG_ROW(phi__config_cache, cache.tools, "tools", PHI__CONFIG_BOOL, 0, "cache_tools",
                    NULL, NULL, NULL, 0, 0, "false", "manual: a mark behind the last tool."),
    PHI__CONFIG_ROW(phi__config_cache, cache.messages, "messages", PHI__CONFIG_BOOL, 0,
                    "cache_messages", NULL, NULL, NULL, 0, 0, "false",
                    "manual: a mark behind the last user message."),
    PHI__CONFIG_PLAIN(phi__config_cache, cache.one_hour, "one_hour", PHI__CONFIG_BOOL, 0, NULL,
                      "false",
                      "Marks last an hour, not five minutes (Claude); writing costs "
                      "more.")};
static const phi__config_table phi__config_tables_cache_table = {
    "execution.cache",
    phi__config_tables_cache_fields,
    PHI__COUNT(phi__config_tables_cache_fields),
    NULL,
    false,
    "Prompt caching."};
const phi__config_table *phi__config_tables_cache(void) { return &phi__config_tables_cache_table; }

static const phi__config_field phi__config_tables_budget_fields[] = {
    PHI__CONFIG_RANGE(phi__config_budget, budget.max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0,
                      1, 0, "null", "Tokens of every kind, over all runs."),
    PHI__CONFIG_RANGE(phi__config_budget, budget.max_cost, "max_cost", PHI__CONFIG_NUMBER, 0, 1e-06,
                      1000000000, "null", "Dollars over all runs; needs [provider.cost]."),
    PHI__CONFIG_RANGE(phi__config_budget, budget.max_requests, "max_requests", PHI__CONFIG_INTEGER,
                      0, 1, 0, "null", "Model calls over all runs; retries do not count.")};
static const phi__config_table phi__config_tables_budget_table = {
    "execution.budget",
    phi__config_tables_budget_fields,
    PHI__COUNT(phi__config_tables_budget_fields),
    NULL,
    false,
    "A budget over all runs."};
const phi__config_table *phi__config_tables_budget(void) {
    return &phi__config_tables_budget_table;
}

static const phi__config_field phi__config_tables_deadlines_fields[] = {
    PHI__CONFIG_RANGE(phi__config_deadlines, deadlines.connect_ms, "connect_secs",
                      PHI__CONFIG_SECONDS, PHI__CONFIG_NO_LIMIT, 0.001, 0, "15",
                      "Seconds until a connection stands."),
    PHI__CONFIG_RANGE(phi__config_deadlines, deadlines.first_event_ms, "first_event_secs",
                      PHI__CONFIG_SECONDS, PHI__CONFIG_NO_LIMIT, 0.001, 0, "300",
                      "Seconds from there to the first event of an answer."),
    PHI__CONFIG_RANGE(phi__config_deadlines, deadlines.idle_ms, "idle_secs", PHI__CONFIG_SECONDS,
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, "120",
                      "Seconds between two events of an answer."),
    PHI__CONFIG_RANGE(phi__config_deadlines, deadlines.total_ms, "total_secs", PHI__CONFIG_SECONDS,
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, "null",
                      "Seconds of a whole model call (default: the limit of the run).")};
static const phi__config_table phi__config_tables_deadlines_table = {
    "execution.deadlines",
    phi__config_tables_deadlines_fields,
    PHI__COUNT(phi__config_tables_deadlines_fields),
    NULL,
    false,
    "Deadlines of a model call."};
const phi__config_table *phi__config_tables_deadlines(void) {
    return &phi__config_tables_deadlines_table;
}
