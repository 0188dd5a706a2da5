/* config_tables_strategy.c - the tables of reasoning strategies and their options. */
#include "config/config_tables_in.h"

static const phi__config_field phi__config_tables_strategies_fields[] = {
    PHI__CONFIG_NEST(phi__config_instances, instances, "instances", PHI__CONFIG_TABLES,
                     phi__config_tables_strategy, "The strategies.")};
static const phi__config_table phi__config_tables_strategies_table = {
    "strategy",
    phi__config_tables_strategies_fields,
    PHI__COUNT(phi__config_tables_strategies_fields),
    NULL,
    false,
    "Reasoning strategies, by name."};
const phi__config_table *phi__config_tables_strategies(void) {
    return &phi__config_tables_strategies_table;
}

static const phi__config_choice phi__config_tables_strategy_type_choices[] = {
    {"cot", PHI__CONFIG_STRATEGY_COT, false},           {"cod", PHI__CONFIG_STRATEGY_COD, false},
    {"aot", PHI__CONFIG_STRATEGY_AOT, false},           {"tot", PHI__CONFIG_STRATEGY_TOT, false},
    {"got", PHI__CONFIG_STRATEGY_GOT, false},           {"trm", PHI__CONFIG_STRATEGY_TRM, false},
    {"adaptive", PHI__CONFIG_STRATEGY_ADAPTIVE, false}, {"", 0, false}};

static const phi__config_field phi__config_tables_strategy_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_strategy, id, "id", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ID | PHI__CONFIG_REQUIRED, "strategy", "null",
                      "Its name: \"{{name}}\" or \"{{%name%}}\"."),
    PHI__CONFIG_PLAIN(phi__config_strategy, description, "description", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "For people."),
    PHI__CONFIG_ROW(phi__config_strategy, type, "type", PHI__CONFIG_CHOICE, PHI__CONFIG_REQUIRED,
                    NULL, phi__config_tables_strategy_type_choices, NULL, NULL, 0, 0, "null",
                    "The strategy."),
    PHI__CONFIG_RANGE(phi__config_strategy, max_calls, "max_calls", PHI__CONFIG_INTEGER,
                      PHI__CONFIG_NO_LIMIT, 1, 4294967295, "null",
                      "Model calls of a prompt at most (default: as its options allow)."),
    PHI__CONFIG_RANGE(phi__config_strategy, call_timeout_ms, "call_timeout_secs",
                      PHI__CONFIG_SECONDS, PHI__CONFIG_NO_LIMIT, 0.001, 0, "null",
                      "Seconds of one model call (default: no limit)."),
    PHI__CONFIG_NEST(phi__config_strategy, cot, "cot", PHI__CONFIG_TABLE, phi__config_tables_cot,
                     "Options of a chain of thought."),
    PHI__CONFIG_NEST(phi__config_strategy, cod, "cod", PHI__CONFIG_TABLE, phi__config_tables_cot,
                     "Options of a chain of draft."),
    PHI__CONFIG_NEST(phi__config_strategy, aot, "aot", PHI__CONFIG_TABLE, phi__config_tables_aot,
                     "Options of an algorithm of thoughts."),
    PHI__CONFIG_NEST(phi__config_strategy, tot, "tot", PHI__CONFIG_TABLE, phi__config_tables_tot,
                     "Options of a tree of thoughts."),
    PHI__CONFIG_NEST(phi__config_strategy, got, "got", PHI__CONFIG_TABLE, phi__config_tables_got,
                     "Options of a graph of thoughts."),
    PHI__CONFIG_NEST(phi__config_strategy, trm, "trm", PHI__CONFIG_TABLE, phi__config_tables_trm,
                     "Options of recursive refinement."),
    PHI__CONFIG_NEST(phi__config_strategy, adaptive, "adaptive", PHI__CONFIG_TABLE,
                     phi__config_tables_adaptive,
                     "Options of the choice by the prompt; its strategies have theirs beside it.")};
static const phi__config_table phi__config_tables_strategy_table = {
    "strategy.instances",
    phi__config_tables_strategy_fields,
    PHI__COUNT(phi__config_tables_strategy_fields),
    NULL,
    false,
    "A strategy."};
const phi__config_table *phi__config_tables_strategy(void) {
    return &phi__config_tables_strategy_table;
}

static const phi__config_field phi__config_tables_cot_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_cot, options.system_prompt, "system_prompt", PHI__CONFIG_TEXT, 0,
                      NULL, "null", "How to think, in place of the prompt that phi has."),
    PHI__CONFIG_RANGE(phi__config_cot, options.max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "null", "Output tokens of a call (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_cot, options.temperature, "temperature", PHI__CONFIG_NUMBER, 0, 0,
                      2, "null", "0 to 2 (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_cot, options.timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS, 0,
                      0.001, 0, "null", "Seconds of a call (default: call_timeout_secs).")};
static const phi__config_table phi__config_tables_cot_table = {
    "strategy.instances.cot",
    phi__config_tables_cot_fields,
    PHI__COUNT(phi__config_tables_cot_fields),
    NULL,
    false,
    "Options of cot and cod."};
const phi__config_table *phi__config_tables_cot(void) { return &phi__config_tables_cot_table; }

static const phi__config_choice phi__config_tables_aot_profile_choices[] = {
    {"standard", PHI_AOT_STANDARD, false},
    {"short", PHI_AOT_SHORT, false},
    {"long", PHI_AOT_LONG, false},
    {"", 0, false}};

static const phi__config_choice phi__config_tables_aot_style_choices[] = {
    {"dfs", PHI_AOT_DFS, false}, {"bfs", PHI_AOT_BFS, false}, {"", 0, false}};

static const phi__config_field phi__config_tables_aot_fields[] = {
    PHI__CONFIG_CHOOSE(phi__config_aot, options.profile, "profile",
                       phi__config_tables_aot_profile_choices, "\"standard\"",
                       "How many worked examples the prompt has: two, one or three."),
    PHI__CONFIG_CHOOSE(phi__config_aot, options.style, "style",
                       phi__config_tables_aot_style_choices, "\"dfs\"",
                       "The search that the prompt asks for."),
    PHI__CONFIG_PLAIN(phi__config_aot, options.system_prompt, "system_prompt", PHI__CONFIG_TEXT, 0,
                      NULL, "null", "In place of the role and pattern that phi has."),
    PHI__CONFIG_PLAIN(phi__config_aot, examples, "examples", PHI__CONFIG_TEXTS, 0, NULL, "[]",
                      "Worked searches in place of those that phi has."),
    PHI__CONFIG_PLAIN(phi__config_aot, options.implicit_answer, "implicit_answer", PHI__CONFIG_BOOL,
                      0, NULL, "false", "A solution without an answer line is a success, too."),
    PHI__CONFIG_RANGE(phi__config_aot, options.max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "2048", "Output tokens."),
    PHI__CONFIG_PLAIN(phi__config_aot, options.agent_temperature, "agent_temperature",
                      PHI__CONFIG_BOOL, 0, NULL, "false",
                      "Send the temperature of the agent, not this one."),
    PHI__CONFIG_RANGE(phi__config_aot, options.temperature, "temperature", PHI__CONFIG_NUMBER, 0, 0,
                      2, "0.0", "0 to 2."),
    PHI__CONFIG_RANGE(phi__config_aot, options.timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS, 0,
                      0.001, 0, "null", "Seconds of the call (default: call_timeout_secs).")};
static const phi__config_table phi__config_tables_aot_table = {
    "strategy.instances.aot",
    phi__config_tables_aot_fields,
    PHI__COUNT(phi__config_tables_aot_fields),
    NULL,
    false,
    "Options of aot."};
const phi__config_table *phi__config_tables_aot(void) { return &phi__config_tables_aot_table; }

static const phi__config_choice phi__config_tables_traversal_choices[] = {
    {"bfs", PHI_TOT_BFS, false}, {"dfs", PHI_TOT_DFS, false}, {"", 0, false}};

static const phi__config_field phi__config_tables_tot_fields[] = {
    PHI__CONFIG_CHOOSE(phi__config_tot, options.traversal, "traversal",
                       phi__config_tables_traversal_choices, "\"bfs\"",
                       "Level by level, or the best thought first and back."),
    PHI__CONFIG_RANGE(phi__config_tot, options.branching_factor, "branching_factor",
                      PHI__CONFIG_INTEGER, 0, 1, 1000, "8", "New thoughts a step at most."),
    PHI__CONFIG_RANGE(phi__config_tot, options.evaluations, "evaluations", PHI__CONFIG_INTEGER, 0,
                      1, 1000, "3", "Calls that score the new thoughts of a step."),
    PHI__CONFIG_RANGE(phi__config_tot, options.beam_width, "beam_width", PHI__CONFIG_INTEGER, 0, 1,
                      100000, "5", "Thoughts of a level that bfs expands."),
    PHI__CONFIG_RANGE(phi__config_tot, options.value_threshold, "value_threshold",
                      PHI__CONFIG_NUMBER, 0, 1e-06, 1, "0.4",
                      "Thoughts with a lower score are not expanded by dfs."),
    PHI__CONFIG_RANGE(phi__config_tot, options.max_depth, "max_depth", PHI__CONFIG_INTEGER, 0, 1,
                      1000, "3", "Depth of a thought at most."),
    PHI__CONFIG_RANGE(phi__config_tot, options.min_depth, "min_depth", PHI__CONFIG_INTEGER, 0, 1,
                      1000, "2",
                      "Depth that a thought has at least when it ends the search early."),
    PHI__CONFIG_RANGE(phi__config_tot, options.max_nodes, "max_nodes", PHI__CONFIG_INTEGER, 0, 1,
                      100000, "100", "Thoughts in all."),
    PHI__CONFIG_RANGE(phi__config_tot, options.max_duration_ms, "max_duration_secs",
                      PHI__CONFIG_SECONDS, PHI__CONFIG_NO_LIMIT, 0.001, 0, "null",
                      "Seconds, then the best so far is the answer (default: no limit)."),
    PHI__CONFIG_RANGE(phi__config_tot, options.top_k, "top_k", PHI__CONFIG_INTEGER, 0, 1, 1000, "3",
                      "Candidates in the result."),
    PHI__CONFIG_RANGE(phi__config_tot, options.early_success_threshold, "early_success_threshold",
                      PHI__CONFIG_NUMBER, 0, 1e-06, 1, "1.0", "A score that ends the search."),
    PHI__CONFIG_RANGE(phi__config_tot, options.convergence_window, "convergence_window",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 1, 4294967295, "null",
                      "Expansions without an improvement at max_depth that end the search."),
    PHI__CONFIG_RANGE(phi__config_tot, options.min_score_improvement, "min_score_improvement",
                      PHI__CONFIG_NUMBER, 0, 1e-06, 1, "0.02",
                      "The least gain that is an improvement."),
    PHI__CONFIG_RANGE(phi__config_tot, options.max_parse_retries, "max_parse_retries",
                      PHI__CONFIG_INTEGER, 0, 1, 100, "1",
                      "Repairs of an answer that cannot be read."),
    PHI__CONFIG_PLAIN(phi__config_tot, options.no_repair, "no_repair", PHI__CONFIG_BOOL, 0, NULL,
                      "false", "An answer that cannot be read ends the search at once."),
    PHI__CONFIG_PLAIN(phi__config_tot, options.tools, "tools", PHI__CONFIG_BOOL, 0, NULL, "false",
                      "Thoughts and scores may call tools."),
    PHI__CONFIG_RANGE(phi__config_tot, options.max_tool_rounds, "max_tool_rounds",
                      PHI__CONFIG_INTEGER, 0, 1, 1000, "3", "Rounds of tools of a call."),
    PHI__CONFIG_PLAIN(phi__config_tot, options.generation_prompt, "generation_prompt",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_tot, options.evaluation_prompt, "evaluation_prompt",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_RANGE(phi__config_tot, options.max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "null", "Output tokens of a call (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_tot, options.temperature, "temperature", PHI__CONFIG_NUMBER, 0, 0,
                      2, "null", "0 to 2 (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_tot, options.timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS, 0,
                      0.001, 0, "null", "Seconds of a call (default: call_timeout_secs).")};
static const phi__config_table phi__config_tables_tot_table = {
    "strategy.instances.tot",
    phi__config_tables_tot_fields,
    PHI__COUNT(phi__config_tables_tot_fields),
    NULL,
    false,
    "Options of tot."};
const phi__config_table *phi__config_tables_tot(void) { return &phi__config_tables_tot_table; }

static const phi__config_choice phi__config_tables_aggregation_choices[] = {
    {"synthesis", PHI_GOT_SYNTHESIS, false},
    {"voting", PHI_GOT_VOTING, false},
    {"weighted", PHI_GOT_WEIGHTED, false},
    {"", 0, false}};

static const phi__config_field phi__config_tables_got_fields[] = {
    PHI__CONFIG_CHOOSE(phi__config_got, options.aggregation, "aggregation",
                       phi__config_tables_aggregation_choices, "\"synthesis\"",
                       "How thoughts become the answer."),
    PHI__CONFIG_RANGE(phi__config_got, options.generations, "generations", PHI__CONFIG_INTEGER, 0,
                      1, 1000, "2", "Generations of thoughts."),
    PHI__CONFIG_RANGE(phi__config_got, options.branching_factor, "branching_factor",
                      PHI__CONFIG_INTEGER, 0, 1, 1000, "3", "Thoughts of a generation at most."),
    PHI__CONFIG_RANGE(phi__config_got, options.max_nodes, "max_nodes", PHI__CONFIG_INTEGER, 0, 1,
                      1000, "20", "Thoughts in all."),
    PHI__CONFIG_RANGE(phi__config_got, options.max_depth, "max_depth", PHI__CONFIG_INTEGER, 0, 1,
                      1000, "5", "Depth of a thought at most."),
    PHI__CONFIG_RANGE(phi__config_got, options.votes, "votes", PHI__CONFIG_INTEGER, 0, 1, 1000, "3",
                      "Votes at most, with voting."),
    PHI__CONFIG_RANGE(phi__config_got, options.keep_best, "keep_best", PHI__CONFIG_INTEGER, 0, 1,
                      1000, "5", "Thoughts with most support that are aggregated."),
    PHI__CONFIG_PLAIN(phi__config_got, options.generation_prompt, "generation_prompt",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_got, options.connection_prompt, "connection_prompt",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_got, options.voting_prompt, "voting_prompt", PHI__CONFIG_TEXT, 0,
                      NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_got, options.weighing_prompt, "weighing_prompt", PHI__CONFIG_TEXT,
                      0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_got, options.aggregation_prompt, "aggregation_prompt",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_RANGE(phi__config_got, options.max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "null", "Output tokens of a call (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_got, options.temperature, "temperature", PHI__CONFIG_NUMBER, 0, 0,
                      2, "null", "0 to 2 (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_got, options.timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS, 0,
                      0.001, 0, "null", "Seconds of a call (default: call_timeout_secs).")};
static const phi__config_table phi__config_tables_got_table = {
    "strategy.instances.got",
    phi__config_tables_got_fields,
    PHI__COUNT(phi__config_tables_got_fields),
    NULL,
    false,
    "Options of got."};
const phi__config_table *phi__config_tables_got(void) { return &phi__config_tables_got_table; }

static const phi__config_field phi__config_tables_trm_fields[] = {
    PHI__CONFIG_RANGE(phi__config_trm, options.max_supervisions, "max_supervisions",
                      PHI__CONFIG_INTEGER, 0, 1, 50, "5", "Calls that score a draft."),
    PHI__CONFIG_RANGE(phi__config_trm, options.reasoning_steps, "reasoning_steps",
                      PHI__CONFIG_INTEGER, 0, 1, 20, "1",
                      "Calls that write notes before an improvement."),
    PHI__CONFIG_RANGE(phi__config_trm, options.threshold, "threshold", PHI__CONFIG_NUMBER, 0, 1e-06,
                      1, "0.9", "A score that ends it."),
    PHI__CONFIG_PLAIN(phi__config_trm, options.reason_prompt, "reason_prompt", PHI__CONFIG_TEXT, 0,
                      NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_trm, options.supervise_prompt, "supervise_prompt",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_trm, options.improve_prompt, "improve_prompt", PHI__CONFIG_TEXT,
                      0, NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_PLAIN(phi__config_trm, options.notes_prompt, "notes_prompt", PHI__CONFIG_TEXT, 0,
                      NULL, "null", "In place of the prompt that phi has."),
    PHI__CONFIG_RANGE(phi__config_trm, options.max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "null", "Output tokens of a call (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_trm, options.temperature, "temperature", PHI__CONFIG_NUMBER, 0, 0,
                      2, "null", "0 to 2 (default: the agent's)."),
    PHI__CONFIG_RANGE(phi__config_trm, options.timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS, 0,
                      0.001, 0, "null", "Seconds of a call (default: call_timeout_secs).")};
static const phi__config_table phi__config_tables_trm_table = {
    "strategy.instances.trm",
    phi__config_tables_trm_fields,
    PHI__COUNT(phi__config_tables_trm_fields),
    NULL,
    false,
    "Options of trm."};
const phi__config_table *phi__config_tables_trm(void) { return &phi__config_tables_trm_table; }

static const phi__config_choice phi__config_tables_adaptive_name_choices[] = {
    {"react", 1, false}, {"cot", 2, false},  {"cod", 4, false},  {"aot", 8, false},
    {"tot", 16, false},  {"got", 32, false}, {"trm", 64, false}, {"", 0, false}};

static const phi__config_field phi__config_tables_adaptive_fields[] = {
    PHI__CONFIG_ROW(phi__config_adaptive, options.strategy, "strategy", PHI__CONFIG_TEXT, 0, NULL,
                    phi__config_tables_adaptive_name_choices, NULL, NULL, 0, 0, "null",
                    "Always this one (default: chosen by the prompt)."),
    PHI__CONFIG_ROW(phi__config_adaptive, options.default_strategy, "default_strategy",
                    PHI__CONFIG_TEXT, 0, NULL, phi__config_tables_adaptive_name_choices, NULL, NULL,
                    0, 0, "\"react\"", "Where the prompt does not decide."),
    PHI__CONFIG_ROW(phi__config_adaptive, available, "available", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__config_tables_adaptive_name_choices, NULL, NULL, 0, 0,
                    "[\"react\", \"cot\", \"cod\", \"tot\", \"got\", \"trm\"]",
                    "Those that may be chosen."),
    PHI__CONFIG_RANGE(phi__config_adaptive, options.max_tool_rounds, "max_tool_rounds",
                      PHI__CONFIG_INTEGER, 0, 1, 1000, "9", "Rounds of tools of react."),
    PHI__CONFIG_RANGE(phi__config_adaptive, options.simple_below, "simple_below",
                      PHI__CONFIG_NUMBER, 0, 1e-06, 1, "0.3", "Complexity of a simple prompt."),
    PHI__CONFIG_RANGE(phi__config_adaptive, options.complex_above, "complex_above",
                      PHI__CONFIG_NUMBER, 0, 1e-06, 1, "0.7", "Complexity of a hard prompt."),
    PHI__CONFIG_PLAIN(phi__config_adaptive, options.puzzle_words, "puzzle_words", PHI__CONFIG_TEXT,
                      0, NULL, "null", "Words in place of those that phi has, separated by bars."),
    PHI__CONFIG_PLAIN(phi__config_adaptive, options.synthesis_words, "synthesis_words",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "The same, of prompts that combine."),
    PHI__CONFIG_PLAIN(phi__config_adaptive, options.tool_words, "tool_words", PHI__CONFIG_TEXT, 0,
                      NULL, "null", "The same, of prompts for tools."),
    PHI__CONFIG_PLAIN(phi__config_adaptive, options.exploration_words, "exploration_words",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "The same, of prompts that explore."),
    PHI__CONFIG_PLAIN(phi__config_adaptive, options.complex_words, "complex_words",
                      PHI__CONFIG_TEXT, 0, NULL, "null", "The same, of the complexity.")};
static const phi__config_table phi__config_tables_adaptive_table = {
    "strategy.instances.adaptive",
    phi__config_tables_adaptive_fields,
    PHI__COUNT(phi__config_tables_adaptive_fields),
    NULL,
    false,
    "Options of adaptive."};
const phi__config_table *phi__config_tables_adaptive(void) {
    return &phi__config_tables_adaptive_table;
}
