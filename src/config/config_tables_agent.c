/* config_tables_agent.c - the tables of agents and system prompts. */
#include "config/config_tables_in.h"
#include "history/policy.h"

static const phi__config_choice phi__config_tables_keep_choices[] = {
    {"complete", PHI_KEEP_COMPLETE, false}, {"none", PHI_KEEP_NONE, false}, {"", 0, false}};

static const phi__config_choice phi__config_tables_queue_mode_choices[] = {
    {"one_at_a_time", PHI_QUEUE_ONE_AT_A_TIME, false},
    {"all", PHI_QUEUE_ALL, false},
    {"", 0, false}};

static const phi__config_choice phi__config_tables_memory_choices[] = {
    {"compact", PHI_AT_MEMORY_LIMIT_COMPACT, false},
    {"forget", PHI_AT_MEMORY_LIMIT_FORGET, false},
    {"stop", PHI_AT_MEMORY_LIMIT_STOP, false},
    {"", 0, false}};

static const phi__config_field phi__config_tables_agent_base_fields[] = {
    PHI__CONFIG_PLAIN(
        phi__config_agent, system_prompt, "system_prompt", PHI__CONFIG_TEXT,
        PHI__CONFIG_FILE | PHI__CONFIG_REFERENCE, "system_prompt", "null",
        "The prompt, \"file:path\" or \"{{system_prompt.name}}\"; it comes before that "
        "of the profile."),
    PHI__CONFIG_PLAIN(phi__config_agent, workspace, "workspace", PHI__CONFIG_TEXT, PHI__CONFIG_PATH,
                      NULL, "null", "The working directory of tools and of \"file:\" paths."),
    PHI__CONFIG_PLAIN(
        phi__config_agent, provider, "provider", PHI__CONFIG_TEXT, PHI__CONFIG_ONLY_REFERENCE,
        "provider", "null",
        "A provider of [[provider.instances]], or an alias of [models] (default: [provider])."),
    PHI__CONFIG_PLAIN(phi__config_agent, agent_profile, "agent_profile", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ONLY_REFERENCE, "agent_profile", "null",
                      "A profile of [[agent.profile.instances]] (default: [agent.profile])."),
    PHI__CONFIG_PLAIN(
        phi__config_agent, strategy, "strategy", PHI__CONFIG_TEXT, PHI__CONFIG_ONLY_REFERENCE,
        "strategy", "null",
        "A strategy of the file, or cot, cod, aot, tot, got, trm or adaptive with its "
        "defaults."),
    PHI__CONFIG_PLAIN(phi__config_agent, compaction, "compaction", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ONLY_REFERENCE, "compaction", "null",
                      "A compaction of [[compaction.instances]] (default: [compaction])."),
    PHI__CONFIG_PLAIN(
        phi__config_agent, failover, "failover", PHI__CONFIG_TEXTS, PHI__CONFIG_ONLY_REFERENCE,
        "provider", "[]",
        "Providers to go on with when the model fails for good (default: those of [failover])."),
    PHI__CONFIG_PLAIN(phi__config_agent, tools, "tools", PHI__CONFIG_TEXTS, 0, NULL, "null",
                      "Names of tools (default: those of [tools] enabled)."),
    PHI__CONFIG_PLAIN(phi__config_agent, sub_agents, "sub_agents", PHI__CONFIG_TEXTS,
                      PHI__CONFIG_ONLY_REFERENCE, "sub_agent", "null",
                      "Sub-agents that are tools of the agent (default: all)."),
    PHI__CONFIG_PLAIN(phi__config_agent, mcp, "mcp", PHI__CONFIG_TEXTS, PHI__CONFIG_ONLY_REFERENCE,
                      "mcp", "null", "MCP servers of the agent (default: all)."),
    PHI__CONFIG_PLAIN(phi__config_agent, openapi, "openapi", PHI__CONFIG_TEXTS,
                      PHI__CONFIG_ONLY_REFERENCE, "openapi", "null",
                      "OpenAPI specifications of the agent (default: all)."),
    PHI__CONFIG_NEST(phi__config_agent, format, "format", PHI__CONFIG_TABLE,
                     phi__config_tables_format, "The format of its answers."),
    PHI__CONFIG_NEST(phi__config_agent, policy, "policy", PHI__CONFIG_TABLE,
                     phi__config_tables_policy, "Which messages are sent (default: all of them)."),
    PHI__CONFIG_NEST(phi__config_agent, effects, "effects", PHI__CONFIG_TABLE,
                     phi__config_tables_effects,
                     "Which effects its tools may have on the tool state."),
    PHI__CONFIG_NEST(phi__config_agent, options, "options", PHI__CONFIG_TABLE,
                     phi__config_tables_options, "Further settings of its requests."),
    PHI__CONFIG_PLAIN(phi__config_agent, extra, "extra", PHI__CONFIG_VALUE, 0, NULL, "null",
                      "Members added to the body of each request: a table, or its JSON as a text."),
    PHI__CONFIG_NEST(phi__config_agent, raw_tools, "raw_tools", PHI__CONFIG_TABLES,
                     phi__config_tables_raw_tool, "The provider's own tools, as JSON."),
    PHI__CONFIG_PLAIN(phi__config_agent, agent_id, "agent_id", PHI__CONFIG_TEXT, 0, NULL, "null",
                      "Its id (default: random)."),
    PHI__CONFIG_PLAIN(phi__config_agent, session_id, "session_id", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "The id of its session (default: random)."),
    PHI__CONFIG_CHOOSE(phi__config_agent, keep, "keep", phi__config_tables_keep_choices,
                       "\"complete\"",
                       "Messages that a failed run leaves: its complete groups, or none."),
    PHI__CONFIG_CHOOSE(phi__config_agent, steering_mode, "steering_mode",
                       phi__config_tables_queue_mode_choices, "\"one_at_a_time\"",
                       "How many steering messages are taken at a time."),
    PHI__CONFIG_CHOOSE(phi__config_agent, follow_up_mode, "follow_up_mode",
                       phi__config_tables_queue_mode_choices, "\"one_at_a_time\"",
                       "How many follow-up messages are taken at a time."),
    PHI__CONFIG_RANGE(phi__config_agent, queue_limit, "queue_limit", PHI__CONFIG_INTEGER, 0, 1,
                      1000000, "64", "Messages that may wait in a queue."),
    PHI__CONFIG_RANGE(phi__config_agent, repeat_warn_after, "repeat_warn_after",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 1, 4294967295, "3",
                      "Equal calls of a tool in a run before the model is warned."),
    PHI__CONFIG_RANGE(phi__config_agent, repeat_stop_after, "repeat_stop_after",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 1, 4294967295, "5",
                      "Equal calls of a tool in a run before the run ends."),
    PHI__CONFIG_RANGE(phi__config_agent, decision_timeout_ms, "decision_timeout_secs",
                      PHI__CONFIG_SECONDS, PHI__CONFIG_NO_LIMIT, 0.001, 0, "300",
                      "Seconds that a run waits for a decision, as about a permission."),
    PHI__CONFIG_RANGE(phi__config_agent, memory_limit_bytes, "memory_limit_bytes",
                      PHI__CONFIG_INTEGER, 0, 65536, 0, "null",
                      "Memory of the agent at most (default: no limit)."),
    PHI__CONFIG_CHOOSE(phi__config_agent, at_memory_limit, "at_memory_limit",
                       phi__config_tables_memory_choices, "\"compact\"",
                       "What it does near memory_limit_bytes: compact the history, forget the "
                       "oldest turns, or stop."),
    PHI__CONFIG_RANGE(phi__config_agent, event_queue_bytes, "event_queue_bytes",
                      PHI__CONFIG_INTEGER, 0, 1024, 0, "262144",
                      "Events that wait for the program, in bytes, before reading stops."),
    PHI__CONFIG_RANGE(phi__config_agent, max_event_bytes, "max_event_bytes", PHI__CONFIG_INTEGER, 0,
                      1024, 0, "16777216", "Bytes of one event of an answer."),
    PHI__CONFIG_RANGE(phi__config_agent, max_response_bytes, "max_response_bytes",
                      PHI__CONFIG_INTEGER, 0, 1024, 0, "268435456", "Bytes of one answer."),
    PHI__CONFIG_RANGE(phi__config_agent, max_result_bytes, "max_result_bytes", PHI__CONFIG_INTEGER,
                      PHI__CONFIG_NO_LIMIT, 64, 4294967295, "2097152",
                      "Bytes of the texts of one tool result; longer ones are cut."),
    PHI__CONFIG_RANGE(phi__config_agent, max_result_image_bytes, "max_result_image_bytes",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 64, 4294967295, "20971520",
                      "Bytes of one image, document or sound of a tool result."),
    PHI__CONFIG_PLAIN(phi__config_agent, result_directory, "result_directory", PHI__CONFIG_TEXT,
                      PHI__CONFIG_PATH, NULL, "null",
                      "Where results that are cut are kept whole; an absolute path."),
    PHI__CONFIG_PLAIN(phi__config_agent, capture_requests, "capture_requests", PHI__CONFIG_BOOL, 0,
                      NULL, "false", "Emit the request of each turn as an event."),
    PHI__CONFIG_PLAIN(phi__config_agent, disable_facts, "disable_facts", PHI__CONFIG_BOOL, 0, NULL,
                      "false", "Its requests show no facts.")};
static const phi__config_table phi__config_tables_agent_base_table = {
    "",
    phi__config_tables_agent_base_fields,
    PHI__COUNT(phi__config_tables_agent_base_fields),
    NULL,
    false,
    ""};
static const phi__config_table *phi__config_tables_agent_base(void) {
    return &phi__config_tables_agent_base_table;
}

static const phi__config_field phi__config_tables_agent_fields[] = {
    PHI__CONFIG_NEST(phi__config_agent, profile, "profile", PHI__CONFIG_TABLE,
                     phi__config_tables_profile, "The profile of all agents."),
    PHI__CONFIG_NEST(phi__config_agent, instances, "instances", PHI__CONFIG_TABLES,
                     phi__config_tables_agent_instance,
                     "The agents of the file (default: one, named default).")};
static const phi__config_table phi__config_tables_agent_table = {
    "agent",
    phi__config_tables_agent_fields,
    PHI__COUNT(phi__config_tables_agent_fields),
    phi__config_tables_agent_base,
    false,
    "The agent, or what all agents of the file have in common."};
const phi__config_table *phi__config_tables_agent(void) { return &phi__config_tables_agent_table; }

static const phi__config_field phi__config_tables_agent_instance_fields[] = {
    PHI__CONFIG_NEST(phi__config_agent, profile, "profile", PHI__CONFIG_TABLE,
                     phi__config_tables_profile_inline,
                     "A profile of this agent alone, over the one that it refers to."),
    PHI__CONFIG_PLAIN(phi__config_agent, name, "name", PHI__CONFIG_TEXT, PHI__CONFIG_NAME, "agent",
                      "\"unnamed\"", "Its name, by which the program asks for it.")};
static const phi__config_table phi__config_tables_agent_instance_table = {
    "agent.instances",
    phi__config_tables_agent_instance_fields,
    PHI__COUNT(phi__config_tables_agent_instance_fields),
    phi__config_tables_agent_base,
    false,
    "An agent: what it does not set is as in [agent]."};
const phi__config_table *phi__config_tables_agent_instance(void) {
    return &phi__config_tables_agent_instance_table;
}

/* ---- parts of an agent ---- */

static const phi__config_choice phi__config_tables_format_choices[] = {
    {"text", PHI_FORMAT_TEXT, false},
    {"json_object", PHI_FORMAT_JSON_OBJECT, false},
    {"json", PHI_FORMAT_JSON_OBJECT, true},
    {"json_schema", PHI_FORMAT_JSON_SCHEMA, false},
    {"", 0, false}};

static const phi__config_field phi__config_tables_format_fields[] = {
    PHI__CONFIG_CHOOSE(
        phi__config_format, kind, "type", phi__config_tables_format_choices, "\"text\"",
        "text; json_object: any JSON object; json_schema: JSON that `schema` describes."),
    PHI__CONFIG_PLAIN(phi__config_format, schema, "schema", PHI__CONFIG_VALUE, 0, NULL, "null",
                      "A JSON Schema of an object: a table, its JSON as a text, or \"file:path\"."),
    PHI__CONFIG_PLAIN(phi__config_format, name, "name", PHI__CONFIG_TEXT, 0, NULL, "\"response\"",
                      "A name for the schema: letters, digits, - and _."),
    PHI__CONFIG_PLAIN(phi__config_format, strict, "strict", PHI__CONFIG_BOOL, 0, NULL, "false",
                      "Adapt the schema so that the provider can enforce it.")};
static const phi__config_table phi__config_tables_format_table = {
    "agent.format",
    phi__config_tables_format_fields,
    PHI__COUNT(phi__config_tables_format_fields),
    NULL,
    false,
    "The format of answers."};
const phi__config_table *phi__config_tables_format(void) {
    return &phi__config_tables_format_table;
}

static const phi__config_choice phi__config_tables_summaries_choices[] = {
    {"use", PHI_SUMMARIES_USE, false},
    {"none", PHI_SUMMARIES_NONE, false},
    {"request", PHI_SUMMARIES_REQUEST, false},
    {"write", PHI_SUMMARIES_WRITE, false},
    {"", 0, false}};

static const phi__config_choice phi__config_tables_role_choices[] = {
    {"user", PHI_ROLE_USER, false}, {"assistant", PHI_ROLE_ASSISTANT, false}, {"", 0, false}};

static const phi__config_choice phi__config_tables_include_choices[] = {
    {"messages", PHI_INCLUDE_MESSAGES, false},
    {"tools", PHI_INCLUDE_TOOLS, false},
    {"summaries", PHI_INCLUDE_SUMMARIES, false},
    {"", 0, false}};
const phi__config_choice *phi__config_tables_include(void) {
    return phi__config_tables_include_choices;
}

static const phi__config_field phi__config_tables_policy_fields[] = {
    PHI__CONFIG_RANGE(phi__config_policy, policy.max_input_tokens, "max_input_tokens",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 1, 0, "8000",
                      "Tokens of a request at most."),
    PHI__CONFIG_RANGE(phi__config_policy, policy.reserve_output_tokens, "reserve_output_tokens",
                      PHI__CONFIG_INTEGER, 0, 0, 1000000000, "2000",
                      "Of these, tokens kept free for the answer; 0: none."),
    PHI__CONFIG_RANGE(phi__config_policy, policy.max_messages, "max_messages", PHI__CONFIG_INTEGER,
                      0, 1, 4294967295, "null", "Messages at most (default: no limit)."),
    PHI__CONFIG_RANGE(phi__config_policy, policy.max_turns, "max_turns", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "null", "The newest turns alone (default: no limit)."),
    PHI__CONFIG_RANGE(phi__config_policy, policy.keep_last_turns, "keep_last_turns",
                      PHI__CONFIG_INTEGER, 0, 0, 1000000, "3",
                      "Newest turns that are sent in any case; 0: none."),
    PHI__CONFIG_CHOOSE(phi__config_policy, policy.summaries, "summaries",
                       phi__config_tables_summaries_choices, "\"use\"",
                       "How summaries are made and used."),
    PHI__CONFIG_CHOOSE(phi__config_policy, policy.summary_role, "summary_role",
                       phi__config_tables_role_choices, "\"user\"", "The role of a summary."),
    PHI__CONFIG_ROW(phi__config_policy, include, "include", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__config_tables_include_choices, NULL, NULL, 0, 0,
                    "[\"messages\", \"tools\", \"summaries\"]",
                    "The kinds of messages that are sent.")};
static const phi__config_table phi__config_tables_policy_table = {
    "agent.policy",
    phi__config_tables_policy_fields,
    PHI__COUNT(phi__config_tables_policy_fields),
    NULL,
    false,
    "Which messages are sent."};
const phi__config_table *phi__config_tables_policy(void) {
    return &phi__config_tables_policy_table;
}

static const phi__config_choice phi__config_tables_effect_mode_choices[] = {
    {"allow_all", PHI_EFFECTS_ALLOW_ALL, false},
    {"deny_all", PHI_EFFECTS_DENY_ALL, false},
    {"allow_list", PHI_EFFECTS_ALLOW_LIST, false},
    {"", 0, false}};

static const phi__config_choice phi__config_tables_effect_op_choices[] = {
    {"merge", PHI_EFFECT_MERGE, false},
    {"replace", PHI_EFFECT_REPLACE, false},
    {"delete_keys", PHI_EFFECT_DELETE_KEYS, false},
    {"set_path", PHI_EFFECT_SET_PATH, false},
    {"delete_path", PHI_EFFECT_DELETE_PATH, false},
    {"emit", PHI_EFFECT_EMIT, false},
    {"", 0, false}};
const phi__config_choice *phi__config_tables_effect_ops(void) {
    return phi__config_tables_effect_op_choices;
}

static const phi__config_field phi__config_tables_effects_fields[] = {
    PHI__CONFIG_CHOOSE(phi__config_effects, effects.mode, "mode",
                       phi__config_tables_effect_mode_choices, "\"allow_all\"",
                       "Which effects are applied: all, none, or those in `allow`."),
    PHI__CONFIG_ROW(phi__config_effects, allow, "allow", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__config_tables_effect_op_choices, NULL, NULL, 0, 0, "[]",
                    "With mode \"allow_list\": these."),
    PHI__CONFIG_ROW(phi__config_effects, deny, "deny", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__config_tables_effect_op_choices, NULL, NULL, 0, 0, "[]", "Never these."),
    PHI__CONFIG_RANGE(phi__config_effects, effects.max_state_bytes, "max_state_bytes",
                      PHI__CONFIG_INTEGER, 0, 1, 1048576, "65536",
                      "Bytes of the tool state at most.")};
static const phi__config_table phi__config_tables_effects_table = {
    "agent.effects",
    phi__config_tables_effects_fields,
    PHI__COUNT(phi__config_tables_effects_fields),
    NULL,
    false,
    "Effects of tools on the tool state."};
const phi__config_table *phi__config_tables_effects(void) {
    return &phi__config_tables_effects_table;
}

/* ---- options, raw tools ---- */

static const phi__config_field phi__config_tables_options_fields[] = {
    PHI__CONFIG_RANGE(phi__config_options, options.top_p, "top_p", PHI__CONFIG_NUMBER, 0, 0, 1,
                      "null", "Above 0, to 1 (default: the provider's)."),
    PHI__CONFIG_RANGE(phi__config_options, options.top_k, "top_k", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "null", "Tokens to choose from (default: the provider's)."),
    PHI__CONFIG_PLAIN(phi__config_options, stop, "stop", PHI__CONFIG_TEXTS, 0, NULL, "[]",
                      "Texts that end an answer, 16 at most."),
    PHI__CONFIG_RANGE(phi__config_options, options.seed, "seed", PHI__CONFIG_INTEGER, 0, 0,
                      9007199254740991, "null", "The seed of the sampling (default: none)."),
    PHI__CONFIG_PLAIN(phi__config_options, options.service_tier, "service_tier", PHI__CONFIG_TEXT,
                      0, NULL, "null", "In the provider's words: flex, priority, ..."),
    PHI__CONFIG_PLAIN(phi__config_options, options.serial_calls, "serial_calls", PHI__CONFIG_BOOL,
                      0, NULL, "false", "One tool call in an answer at most.")};
static const phi__config_table phi__config_tables_options_table = {
    "agent.options",
    phi__config_tables_options_fields,
    PHI__COUNT(phi__config_tables_options_fields),
    NULL,
    false,
    "Settings of requests; one that the protocol or the model does not take is left out."};
const phi__config_table *phi__config_tables_options(void) {
    return &phi__config_tables_options_table;
}

static const phi__config_field phi__config_tables_raw_tool_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_raw_tool, protocol, "protocol", PHI__CONFIG_TEXT,
                      PHI__CONFIG_REQUIRED, NULL, "null",
                      "The protocol whose requests have it, as `api` of a provider."),
    PHI__CONFIG_PLAIN(phi__config_raw_tool, json, "json", PHI__CONFIG_VALUE, PHI__CONFIG_REQUIRED,
                      NULL, "null",
                      "An element of the list of tools: a table, or its JSON as a text.")};
static const phi__config_table phi__config_tables_raw_tool_table = {
    "agent.raw_tools",
    phi__config_tables_raw_tool_fields,
    PHI__COUNT(phi__config_tables_raw_tool_fields),
    NULL,
    false,
    "A tool of the provider's own, sent as it is after the agent's tools."};
const phi__config_table *phi__config_tables_raw_tool(void) {
    return &phi__config_tables_raw_tool_table;
}

/* ---- system prompts ---- */

static const phi__config_field phi__config_tables_prompt_strategies_fields[] = {
    PHI__CONFIG_NEST(phi__config_instances, instances, "instances", PHI__CONFIG_TABLES,
                     phi__config_tables_prompt_strategy,
                     "The templates; agent and minimal exist without being written.")};
static const phi__config_table phi__config_tables_prompt_strategies_table = {
    "system_prompt_strategy",
    phi__config_tables_prompt_strategies_fields,
    PHI__COUNT(phi__config_tables_prompt_strategies_fields),
    NULL,
    false,
    "Templates of system prompts."};
const phi__config_table *phi__config_tables_prompt_strategies(void) {
    return &phi__config_tables_prompt_strategies_table;
}

static const phi__config_field phi__config_tables_prompt_strategy_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_prompt_strategy, id, "id", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ID | PHI__CONFIG_REQUIRED, "system_prompt_strategy", "null",
                      "Its name: \"{{name}}\"."),
    PHI__CONFIG_PLAIN(phi__config_prompt_strategy, description, "description", PHI__CONFIG_TEXT, 0,
                      NULL, "null", "For people."),
    PHI__CONFIG_ROW(phi__config_prompt_strategy, blocks, "blocks", PHI__CONFIG_TABLES, 0, NULL,
                    NULL, phi__config_tables_prompt_block, NULL, 0, 0, "[]",
                    "The blocks of a prompt.")};
static const phi__config_table phi__config_tables_prompt_strategy_table = {
    "system_prompt_strategy.instances",
    phi__config_tables_prompt_strategy_fields,
    PHI__COUNT(phi__config_tables_prompt_strategy_fields),
    NULL,
    false,
    "A template."};
const phi__config_table *phi__config_tables_prompt_strategy(void) {
    return &phi__config_tables_prompt_strategy_table;
}

static const phi__config_field phi__config_tables_prompt_block_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_prompt_block, name, "name", PHI__CONFIG_TEXT,
                      PHI__CONFIG_REQUIRED, NULL, "null", "The key that a prompt fills it by."),
    PHI__CONFIG_RANGE(phi__config_prompt_block, order, "order", PHI__CONFIG_INTEGER, 0, -2147483647,
                      2147483647, "0",
                      "Blocks stand in this order, equal ones as they are written."),
    PHI__CONFIG_RANGE(phi__config_prompt_block, max_length, "max_length", PHI__CONFIG_INTEGER, 0, 1,
                      0, "null", "Characters at most; a longer text is cut (default: no limit).")};
static const phi__config_table phi__config_tables_prompt_block_table = {
    "system_prompt_strategy.instances.blocks",
    phi__config_tables_prompt_block_fields,
    PHI__COUNT(phi__config_tables_prompt_block_fields),
    NULL,
    false,
    "A block."};
const phi__config_table *phi__config_tables_prompt_block(void) {
    return &phi__config_tables_prompt_block_table;
}

static const phi__config_field phi__config_tables_prompts_fields[] = {
    PHI__CONFIG_NEST(phi__config_instances, instances, "instances", PHI__CONFIG_TABLES,
                     phi__config_tables_prompt, "The prompts.")};
static const phi__config_table phi__config_tables_prompts_table = {
    "system_prompt",
    phi__config_tables_prompts_fields,
    PHI__COUNT(phi__config_tables_prompts_fields),
    NULL,
    false,
    "System prompts made of blocks."};
const phi__config_table *phi__config_tables_prompts(void) {
    return &phi__config_tables_prompts_table;
}

static const phi__config_field phi__config_tables_prompt_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_prompt, id, "id", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ID | PHI__CONFIG_REQUIRED, "system_prompt", "null",
                      "Its name: \"{{name}}\"."),
    PHI__CONFIG_PLAIN(phi__config_prompt, description, "description", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "For people."),
    PHI__CONFIG_PLAIN(phi__config_prompt, type, "type", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ONLY_REFERENCE | PHI__CONFIG_REQUIRED, "system_prompt_strategy",
                      "null",
                      "Its template: \"{{system_prompt_strategy.name}}\", agent or minimal.")};
static const phi__config_table phi__config_tables_prompt_table = {
    "system_prompt.instances",
    phi__config_tables_prompt_fields,
    PHI__COUNT(phi__config_tables_prompt_fields),
    NULL,
    true,
    "A prompt: each further key is a block's text, or \"file:path\" relative to the workspace."};
const phi__config_table *phi__config_tables_prompt(void) {
    return &phi__config_tables_prompt_table;
}
