/* config_tables.c - the tables of all sections of phi.h: models, agents, strategies, runs. */
#include "config/config_tables_in.h"

typedef struct phi__cfg_context {
    uint64_t set;
    const phi_json *compaction;
} phi__cfg_context;

typedef struct phi__cfg_prompt_strategy {
    uint64_t set;
    const char *id, *description;
    const phi_json *blocks;
} phi__cfg_prompt_strategy;

/* A prompt of blocks. All other keys are blocks: texts, or "file:path". */
typedef struct phi__cfg_prompt {
    uint64_t set;
    const char *id, *description, *type;
} phi__cfg_prompt;

/* ---- models: providers, profiles, sub-agents, failover ---- */

static const char phi__api_names[] =
    "anthropic_messages|anthropic openai_completions|openai|open_ai_completions "
    "openai_responses|open_ai_responses azure_openai_responses|azure|azure_open_ai_responses "
    "google_generative_ai|google|gemini google_vertex|vertex google_interactions|interactions "
    "bedrock_converse_stream|bedrock";
const char *phi__names_api(void) { return phi__api_names; }

static const char phi__preset_names[] =
    "anthropic=1 openai openai_responses azure openrouter xai groq cerebras mistral deepseek "
    "together qwen moonshot zai google vertex interactions bedrock fireworks minimax ollama "
    "llama_cpp vllm lm_studio litellm local";
const char *phi__names_preset(void) { return phi__preset_names; }

/* In the order of the bits. */
static const char phi__quirk_names[] =
    "max_completion_tokens developer_role store_false reasoning_effort reasoning_object "
    "thinking_type enable_thinking no_stream_usage tool_name_in_result replay_reasoning "
    "reasoning_required empty_content id_9 thinking_parts cache_key open_key tool_stream "
    "empty_is_overflow adaptive_thinking cache_control no_images assistant_after_tool "
    "reasoning_enabled reasoning_format tool_choice_any prompt_mode template_thinking "
    "keep_thinking empty_tools no_json_schema format_alone strict_tools think_tags think_open "
    "text_calls repair_calls";
const char *phi__names_quirks(void) { return phi__quirk_names; }

static const char phi__max_tokens_field_names[] = "max_tokens max_completion_tokens";

static const char phi__reasoning_names[] =
    "none openai|open_ai|effort xai openrouter|open_router qwen zai together groq vllm";

static const phi__cfg_field phi__cost_rows[] = {
    PHI__C_NUM_AS(cost, input, "input_per_million", 0, 1000000, "0.0", "Input tokens."),
    PHI__C_NUM_AS(cost, output, "output_per_million", 0, 1000000, "0.0", "Output tokens."),
    PHI__C_NUM_AS(cost, cache_read, "cache_read_per_million", 0, 1000000, "0.0",
                  "Input tokens read from the prompt cache."),
    PHI__C_NUM_AS(cost, cache_write, "cache_write_per_million", 0, 1000000, "0.0",
                  "Input tokens written to the prompt cache.")};
PHI__TABLE_PLAIN(static, cost, "provider.cost", "Dollars per million tokens.")

static const phi__cfg_field phi__provider_base_rows[] = {
    PHI__C_CHOICE(provider, preset, phi__preset_names, "null",
                  "A server that phi knows: sets api, base_url, provider and compat, which may be "
                  "set as well."),
    PHI__C_PLAIN(provider, model, TEXT, 0, "\"unknown\"", "The model id that the API knows."),
    PHI__C_PLAIN(provider, api_key, TEXT, PHI__CFG_SECRET, "\"\"",
                 "The key; better as \"${NAME}\" than in the file."),
    PHI__C_CHOICE(provider, api, phi__api_names, "\"anthropic_messages\"",
                  "The protocol of the API; it is not guessed from the model."),
    PHI__C_ALIAS(provider, base_url, "base_url", "url", TEXT, "null",
                 "The address of the API (default: that of the protocol or preset)."),
    PHI__C_PLAIN(provider, provider, TEXT, 0, "\"anthropic\"",
                 "The name of the provider, for logs and ids."),
    PHI__C_NAMED(provider, name, TEXT, PHI__CFG_NAME, "provider", "null",
                 "The name of the model, for people (default: model)."),
    PHI__C_TEXT(provider, description, 0, "For people."),
    PHI__C_HAS(provider, reasoning, has_reasoning, "reasoning", BOOL, 0, 0, "false",
               "The model can think; thinking_level is not sent to one that cannot."),
    PHI__C_U32(provider, context_window, "200000", "Tokens that the model can take."),
    PHI__C_U32(provider, max_tokens, "8192", "Output tokens of a model call at most."),
    PHI__C_PART(provider, cost, cost, "Dollars per million tokens; needed by every max_cost."),
    PHI__C_PLAIN(provider, headers, MAP, PHI__CFG_SECRET, "{}", "Further HTTP headers, by name."),
    PHI__C_TEXT(provider, api_version, 0,
                "anthropic_messages: the header anthropic-version (default 2023-06-01)."),
    PHI__C_TABLE(provider, compat, compat, "How the server differs from OpenAI's own."),
    PHI__C_PLAIN(provider, extra, VALUE, 0, "null",
                 "Members added to the body of each request: a table, or its JSON as a text.")};
PHI__TABLE_BASE(provider_base)

static const phi__cfg_field phi__provider_rows[] = {
    PHI__C_TABLES(provider, instances, provider_instance, "Named providers.")};
PHI__TABLE_OF(provider, "provider", "The model of every agent that names no other.",
              phi__table_provider_base, false)

static const phi__cfg_field phi__provider_instance_rows[] = {
    PHI__C_NAMED(provider, id, TEXT, PHI__CFG_ID, "provider", "null",
                 "Its name for references: \"{{name}}\" or \"{{%name%}}\" (default: name).")};
PHI__TABLE_OF(provider_instance, "provider.instances",
              "A named provider: it takes nothing of [provider].", phi__table_provider_base, false)

static const phi__cfg_field phi__compat_rows[] = {
    PHI__C_BOOL(compat, supports_store, "null", "It knows the member store, and false is sent."),
    PHI__C_BOOL(compat, supports_developer_role, "null",
                "The system prompt has the role developer, where the model reasons."),
    PHI__C_BOOL(compat, supports_reasoning_effort, "null",
                "The thinking level is sent as reasoning_effort."),
    PHI__C_BOOL(compat, supports_usage_in_streaming, "null",
                "It reports usage at the end of a stream (stream_options)."),
    PHI__C_BOOL(compat, requires_tool_result_name, "null", "Tool results name their tool."),
    PHI__C_BOOL(compat, requires_assistant_after_tool_result, "null",
                "No user message may follow a tool result directly."),
    PHI__C_CHOICE(compat, max_tokens_field, phi__max_tokens_field_names, "null",
                  "The member that bounds the output."),
    PHI__C_ROW(compat, reasoning_format, "reasoning_format", CHOICE, 0, "thinking_format",
               phi__reasoning_names, NULL, NULL, 0, 0, "null", "How the thinking level is sent."),
    PHI__C_NAMES(compat, quirks, "quirks", BITS, 0, phi__quirk_names, "[]",
                 "Further differences, by the names of PHI_QUIRK_ in lower case."),
    PHI__C_NAMES(compat, without, "without", BITS, 0, phi__quirk_names, "[]",
                 "Differences of the preset that do not apply.")};
PHI__TABLE(
    compat, "provider.compat",
    "How a server differs from OpenAI's own; fields that are not set are as the preset has them.")

uint64_t phi__table_quirks(const phi__cfg_compat *compat, uint64_t quirks) {
    /* in the order of the table's fields */
    static const uint64_t flags[] = {PHI_QUIRK_STORE_FALSE,          PHI_QUIRK_DEVELOPER_ROLE,
                                     PHI_QUIRK_REASONING_EFFORT,     PHI_QUIRK_NO_STREAM_USAGE,
                                     PHI_QUIRK_TOOL_NAME_IN_RESULT,  PHI_QUIRK_ASSISTANT_AFTER_TOOL,
                                     PHI_QUIRK_MAX_COMPLETION_TOKENS};
    const bool values[] = {compat->supports_store,
                           compat->supports_developer_role,
                           compat->supports_reasoning_effort,
                           !compat->supports_usage_in_streaming,
                           compat->requires_tool_result_name,
                           compat->requires_assistant_after_tool_result,
                           compat->max_tokens_field != 0};
    /* In the order of phi__reasoning_names. At most one of these bits is set. */
    static const uint64_t formats[] = {0,
                                       PHI_QUIRK_REASONING_EFFORT,
                                       0,
                                       PHI_QUIRK_REASONING_OBJECT,
                                       PHI_QUIRK_ENABLE_THINKING,
                                       PHI_QUIRK_THINKING_TYPE,
                                       PHI_QUIRK_REASONING_ENABLED,
                                       PHI_QUIRK_REASONING_FORMAT,
                                       PHI_QUIRK_TEMPLATE_THINKING};
    for (size_t i = 0; i < PHI__COUNT(flags); i++)
        if ((compat->set >> i & 1) != 0)
            quirks = values[i] ? quirks | flags[i] : quirks & ~flags[i];
    if (phi__fields_has(phi__table_compat(), compat, "reasoning_format")) {
        for (size_t i = 0; i < PHI__COUNT(formats); i++) quirks &= ~formats[i];
        quirks |= formats[compat->reasoning_format];
    }
    return (quirks | compat->quirks) & ~compat->without;
}

/* ---- profiles ---- */

static const char phi__thinking_names[] = "off minimal low medium high xhigh max";
const char *phi__names_thinking(void) { return phi__thinking_names; }

static const phi__cfg_field phi__profile_base_rows[] = {
    PHI__C_TEXT(profile, name, 0, "A name for people."),
    PHI__C_TEXT(profile, description, 0, "For people."),
    PHI__C_NAMED(
        profile, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE, "system_prompt", "null",
        "The prompt, \"file:path\" relative to the workspace, or \"{{system_prompt.name}}\"."),
    PHI__C_NAMES(profile, thinking, "thinking_level", CHOICE, 0, phi__thinking_names, "\"off\"",
                 "How much the model thinks before it answers."),
    PHI__C_TEMPERATURE(profile, "0 to 2 (default: the provider's)."),
    PHI__C_U32(profile, max_tokens, "null",
               "Output tokens of a model call at most (default: max_tokens of the provider)."),
    PHI__C_TEXT(profile, config_id, 0, "A stable part of the ids of runs."),
    PHI__C_LIST(profile, skills, "[]", "Names of skills; they are no tools. Needs phi_tools.h."),
    PHI__C_TEXT(profile, workspace, PHI__CFG_PATH,
                "The working directory of tools and of \"file:\" paths."),
    PHI__C_REF(profile, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]].")};
PHI__TABLE_BASE(profile_base)

static const phi__cfg_field phi__profile_instance_rows[] = {
    PHI__C_NAMED(profile, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "agent_profile", "null",
                 "Its name: \"{{name}}\" or \"{{%name%}}\".")};
PHI__TABLE_AS(static, profile_instance, "agent.profile.instances",
              "A named profile: what it does not set is as in [agent.profile].",
              phi__table_profile_base, false, false)

static const phi__cfg_field phi__profile_rows[] = {
    PHI__C_TEXT(profile, profile_id, 0, "The id of the profile (default: random)."),
    PHI__C_TABLES(profile, instances, profile_instance, "Named variations of the profile.")};
PHI__TABLE_OF(profile, "agent.profile",
              "What an agent is, apart from its model; a blueprint for all agents of the file.",
              phi__table_profile_base, false)

static const phi__cfg_field phi__profile_inline_rows[] = {
    PHI__C_TEXT(profile, profile_id, 0, "The id of the profile (default: random).")};
PHI__TABLE_AS(static, profile_inline, "agent.instances.profile",
              "A profile of this instance alone.", phi__table_profile_base, false, false)

/* ---- sub-agents ---- */

PHI__TABLE_LIST(static, sub_agents, "sub_agents", "Agents that are tools of agents.", sub_agent,
                "The sub-agents.")

static const phi__cfg_field phi__sub_agent_rows[] = {
    PHI__C_NAMED(sub_agent, id, TEXT, PHI__CFG_ID, "sub_agent", "null",
                 "Its name for references: \"{{name}}\" or \"{{%name%}}\" (default: name)."),
    PHI__C_NAMED(sub_agent, name, TEXT, PHI__CFG_NAME | PHI__REQUIRED, "sub_agent", "null",
                 "The name of the tool."),
    PHI__C_TEXT(sub_agent, description, 0, "What it does, for the model that calls it."),
    PHI__C_NAMED(
        sub_agent, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE, "system_prompt", "null",
        "The prompt, \"file:path\" relative to the workspace, or \"{{system_prompt.name}}\"."),
    PHI__C_TEXT(sub_agent, workspace, PHI__CFG_PATH,
                "The working directory of its tools and of \"file:\" paths."),
    PHI__C_REF(
        sub_agent, provider, TEXT, "provider", "null",
        "A provider of [[provider.instances]], or an alias of [models] (default: [provider])."),
    PHI__C_TEXT(sub_agent, model, 0, "Another model id of that provider."),
    PHI__C_TEXT(sub_agent, api_key, PHI__CFG_SECRET,
                "The key, as \"${NAME}\" (default: its provider's, for the same server)."),
    PHI__C_ALIAS(sub_agent, base_url, "base_url", "url", TEXT, "null",
                 "Another address of the API."),
    PHI__C_CHOICE(sub_agent, api, phi__api_names, "null", "Another protocol of the API."),
    PHI__C_REF(sub_agent, strategy, TEXT, "strategy", "null",
               "A strategy of [[strategy.instances]] (default: none)."),
    PHI__C_REF(sub_agent, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]] (default: none)."),
    PHI__C_INT_IN(sub_agent, limits, max_turns, PHI__NO_LIMIT, 1, 4294967295, "10",
                  "Model calls at most."),
    PHI__C_RANGE(sub_agent, limits.max_tokens, "max_total_tokens", INTEGER, PHI__NO_LIMIT, 1, 0,
                 "1000000", "Input and output tokens at most."),
    PHI__C_SECS(sub_agent, limits.max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "300",
                "Seconds that it may take."),
    PHI__C_NUM_IN(sub_agent, limits, max_cost, 1e-06, 1000000000, "null",
                  "Dollars at most; needs cost rates of its provider."),
    PHI__C_NAMES(sub_agent, thinking, "thinking_level", CHOICE, 0, phi__thinking_names, "\"off\"",
                 "How much the model thinks before it answers."),
    PHI__C_TEMPERATURE(sub_agent, "0 to 2 (default: the provider's)."),
    PHI__C_U32(sub_agent, max_tokens, "null",
               "Output tokens of a model call at most (default: max_tokens of the provider)."),
    PHI__C_LIST(sub_agent, tools, "[]", "Names of its tools."),
    PHI__C_REF(sub_agent, sub_agents, TEXTS, "sub_agent", "[]",
               "Sub-agents of its own; max_depth must allow them."),
    PHI__C_REF(sub_agent, mcp, TEXTS, "mcp", "[]", "MCP servers of its own."),
    PHI__C_REF(sub_agent, openapi, TEXTS, "openapi", "[]", "OpenAPI specifications of its own."),
    PHI__C_LIST(sub_agent, skills, "[]", "Names of skills. Needs phi_tools.h."),
    PHI__C_INT_IN(sub_agent, desc, keep, 0, 0, 65536, "0",
                  "Finished children that stay, so that the model can continue one."),
    PHI__C_INT_IN(sub_agent, desc, max_depth, 0, 1, 64, "1",
                  "It gets sub-agents only where it is fewer than so many levels below the top."),
    PHI__C_SECS(sub_agent, desc.timeout_ms, "timeout_secs", PHI__NO_LIMIT, "null",
                "Seconds that a call may take (default: the limits of its run)."),
    PHI__C_FLAG_IN(sub_agent, desc, show_events, "Its events are emitted to the program, too.")};
PHI__TABLE(sub_agent, "sub_agents.instances",
           "A sub-agent. Unset, its workspace is that of the agent that calls it.")

/* ---- failover ---- */

static const char phi__failover_on_names[] =
    "network server rate_limited quota auth no_model overflow content_filter invalid_request";

static const char phi__stay_names[] = "run for ever";

static const phi__cfg_field phi__failover_rows[] = {
    PHI__C_NAMED(failover, models, TEXTS, PHI__ONLY_REFERENCE | PHI__REQUIRED, "provider", "[]",
                 "Providers of [[provider.instances]], or aliases of [models], in this order."),
    PHI__C_NAMES(failover, failover.on, "on", BITS, 0, phi__failover_on_names,
                 "[\"network\", \"server\", \"rate_limited\", \"quota\", \"auth\", \"no_model\", "
                 "\"overflow\"]",
                 "The failures that lead to the next model."),
    PHI__C_INT_IN(failover, failover, max_switches, PHI__NO_LIMIT, 1, 4294967295, "null",
                  "Switches of a run at most (default: as many as there are models)."),
    PHI__C_CHOICE_IN(failover, failover, stay, phi__stay_names, "\"run\"",
                     "How long an agent keeps a model that it went to: for the run, for stay_secs, "
                     "or for ever."),
    PHI__C_SECS(failover, failover.stay_ms, "stay_secs", PHI__NO_LIMIT, "300",
                "Seconds, with stay \"for\".")};
PHI__TABLE(failover, "failover", "Other models to go on with when one fails for good.")

/* ---- the tables of agents and system prompts ---- */

static const char phi__keep_names[] = "complete none";

static const char phi__queue_mode_names[] = "one_at_a_time all";

static const char phi__memory_names[] = "compact forget stop";

static const phi__cfg_field phi__agent_base_rows[] = {
    PHI__C_NAMED(agent, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE, "system_prompt",
                 "null",
                 "The prompt, \"file:path\" or \"{{system_prompt.name}}\"; it comes before that of "
                 "the profile."),
    PHI__C_TEXT(agent, workspace, PHI__CFG_PATH,
                "The working directory of tools and of \"file:\" paths."),
    PHI__C_REF(
        agent, provider, TEXT, "provider", "null",
        "A provider of [[provider.instances]], or an alias of [models] (default: [provider])."),
    PHI__C_REF(agent, agent_profile, TEXT, "agent_profile", "null",
               "A profile of [[agent.profile.instances]] (default: [agent.profile])."),
    PHI__C_REF(
        agent, strategy, TEXT, "strategy", "null",
        "A strategy of the file, or cot, cod, aot, tot, got, trm or adaptive with its defaults."),
    PHI__C_REF(agent, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]] (default: [compaction])."),
    PHI__C_REF(
        agent, failover, TEXTS, "provider", "[]",
        "Providers to go on with when the model fails for good (default: those of [failover])."),
    PHI__C_LIST(agent, tools, "null", "Names of tools (default: those of [tools] enabled)."),
    PHI__C_REF(agent, sub_agents, TEXTS, "sub_agent", "null",
               "Sub-agents that are tools of the agent (default: all)."),
    PHI__C_REF(agent, mcp, TEXTS, "mcp", "null", "MCP servers of the agent (default: all)."),
    PHI__C_REF(agent, openapi, TEXTS, "openapi", "null",
               "OpenAPI specifications of the agent (default: all)."),
    PHI__C_TABLE(agent, format, format, "The format of its answers."),
    PHI__C_TABLE(agent, policy, policy, "Which messages are sent (default: all of them)."),
    PHI__C_TABLE(agent, effects, effects, "Which effects its tools may have on the tool state."),
    PHI__C_TABLE(agent, options, options, "Further settings of its requests."),
    PHI__C_PLAIN(agent, extra, VALUE, 0, "null",
                 "Members added to the body of each request: a table, or its JSON as a text."),
    PHI__C_TABLES(agent, raw_tools, raw_tool, "The provider's own tools, as JSON."),
    PHI__C_TEXT(agent, agent_id, 0, "Its id (default: random)."),
    PHI__C_TEXT(agent, session_id, 0, "The id of its session (default: random)."),
    PHI__C_CHOICE_IN(agent, desc, keep, phi__keep_names, "\"complete\"",
                     "Messages that a failed run leaves: its complete groups, or none."),
    PHI__C_CHOICE_IN(agent, desc.input, steering_mode, phi__queue_mode_names, "\"one_at_a_time\"",
                     "How many steering messages are taken at a time."),
    PHI__C_CHOICE_IN(agent, desc.input, follow_up_mode, phi__queue_mode_names, "\"one_at_a_time\"",
                     "How many follow-up messages are taken at a time."),
    PHI__C_INT_IN(agent, desc.input, queue_limit, 0, 1, 1000000, "64",
                  "Messages that may wait in a queue."),
    PHI__C_INT_IN(agent, desc.tool_options, repeat_warn_after, PHI__NO_LIMIT, 1, 4294967295, "3",
                  "Equal calls of a tool in a run before the model is warned."),
    PHI__C_INT_IN(agent, desc.tool_options, repeat_stop_after, PHI__NO_LIMIT, 1, 4294967295, "5",
                  "Equal calls of a tool in a run before the run ends."),
    PHI__C_SECS(agent, desc.deadlines.decision_ms, "decision_timeout_secs", PHI__NO_LIMIT, "300",
                "Seconds that a run waits for a decision, as about a permission."),
    PHI__C_INT(agent, memory_limit_bytes, 0, 65536, 0, "null",
               "Memory of the agent at most (default: no limit)."),
    PHI__C_NAMES(agent, desc.memory.at_limit, "at_memory_limit", CHOICE, 0, phi__memory_names,
                 "\"compact\"",
                 "What it does near memory_limit_bytes: compact the history, forget the oldest "
                 "turns, or stop."),
    PHI__C_INT(agent, event_queue_bytes, 0, 1024, 0, "262144",
               "Events that wait for the program, in bytes, before reading stops."),
    PHI__C_INT(agent, max_event_bytes, 0, 1024, 0, "16777216", "Bytes of one event of an answer."),
    PHI__C_INT(agent, max_response_bytes, 0, 1024, 0, "268435456", "Bytes of one answer."),
    PHI__C_INT_IN(agent, desc.tool_options, max_result_bytes, PHI__NO_LIMIT, 64, 4294967295,
                  "2097152", "Bytes of the texts of one tool result; longer ones are cut."),
    PHI__C_INT_IN(agent, desc.tool_options, max_result_image_bytes, PHI__NO_LIMIT, 64, 4294967295,
                  "20971520", "Bytes of one image, document or sound of a tool result."),
    PHI__C_PLAIN_AS(agent, desc.tool_options.result_directory, "result_directory", TEXT,
                    PHI__CFG_PATH, "null",
                    "Where results that are cut are kept whole; an absolute path."),
    PHI__C_FLAG_IN(agent, desc.options, capture_requests,
                   "Emit the request of each turn as an event."),
    PHI__C_FLAG_IN(agent, desc.options, disable_facts, "Its requests show no facts.")};
PHI__TABLE_BASE(agent_base)

static const phi__cfg_field phi__agent_rows[] = {
    PHI__C_TABLE(agent, profile, profile, "The profile of all agents."),
    PHI__C_TABLES(agent, instances, agent_instance,
                  "The agents of the file (default: one, named default).")};
PHI__TABLE_OF(agent, "agent", "The agent, or what all agents of the file have in common.",
              phi__table_agent_base, false)

static const phi__cfg_field phi__agent_instance_rows[] = {
    PHI__C_TABLE(agent, profile, profile_inline,
                 "A profile of this agent alone, over the one that it refers to."),
    PHI__C_NAMED(agent, name, TEXT, PHI__CFG_NAME, "agent", "\"unnamed\"",
                 "Its name, by which the program asks for it.")};
PHI__TABLE_OF(agent_instance, "agent.instances", "An agent: what it does not set is as in [agent].",
              phi__table_agent_base, false)

/* ---- parts of an agent ---- */

static const char phi__format_names[] = "text json_object|json json_schema";

static const phi__cfg_field phi__format_rows[] = {
    PHI__C_NAMES(format, format.kind, "type", CHOICE, 0, phi__format_names, "\"text\"",
                 "text; json_object: any JSON object; json_schema: JSON that `schema` describes."),
    PHI__C_PLAIN(format, schema, VALUE, 0, "null",
                 "A JSON Schema of an object: a table, its JSON as a text, or \"file:path\"."),
    PHI__C_PLAIN_AS(format, format.name, "name", TEXT, 0, "\"response\"",
                    "A name for the schema: letters, digits, - and _."),
    PHI__C_FLAG_IN(format, format, strict,
                   "Adapt the schema so that the provider can enforce it.")};
PHI__TABLE(format, "agent.format", "The format of answers.")

static const char phi__summaries_names[] = "use none request write";

static const char phi__role_names[] = "user=1 assistant=2";

static const char phi__include_names[] = "messages tools summaries";

static const phi__cfg_field phi__policy_rows[] = {
    PHI__C_INT(policy, max_input_tokens, PHI__NO_LIMIT, 1, 0, "8000",
               "Tokens of a request at most."),
    PHI__C_NONE(policy, reserve_output_tokens, no_reserve, "reserve_output_tokens", NULL,
                1000000000, "2000", "Tokens of these that are kept free for the answer; 0: none."),
    PHI__C_U32(policy, max_messages, "null", "Messages at most (default: no limit)."),
    PHI__C_U32(policy, max_turns, "null", "The newest turns alone (default: no limit)."),
    PHI__C_NONE(policy, keep_last_turns, keep_no_turns, "keep_last_turns", NULL, 1000000, "3",
                "Newest turns that are sent in any case; 0: none."),
    PHI__C_CHOICE(policy, summaries, phi__summaries_names, "\"use\"",
                  "How summaries are made and used."),
    PHI__C_CHOICE(policy, summary_role, phi__role_names, "\"user\"", "The role of a summary."),
    PHI__C_NAMES(policy, include, "include", BITS, 0, phi__include_names,
                 "[\"messages\", \"tools\", \"summaries\"]",
                 "The kinds of messages that are sent.")};
PHI__TABLE_PLAIN(PHI__FN, policy, "agent.policy", "Which messages are sent.")

static const char phi__effect_mode_names[] = "allow_all deny_all allow_list";

static const char phi__effect_op_names[] = "merge replace delete_keys set_path delete_path emit";

static const phi__cfg_field phi__effects_rows[] = {
    PHI__C_CHOICE(effects, mode, phi__effect_mode_names, "\"allow_all\"",
                  "Which effects are applied: all, none, or those in `allow`."),
    PHI__C_NAMES(effects, allow, "allow", BITS, 0, phi__effect_op_names, "[]",
                 "With mode \"allow_list\": these."),
    PHI__C_NAMES(effects, deny, "deny", BITS, 0, phi__effect_op_names, "[]", "Never these."),
    PHI__C_INT(effects, max_state_bytes, 0, 1, 1048576, "65536",
               "Bytes of the tool state at most.")};
PHI__TABLE_PLAIN(PHI__FN, effects, "agent.effects", "Effects of tools on the tool state.")

/* ---- options, raw tools ---- */

static const phi__cfg_field phi__options_rows[] = {
    PHI__C_NUM(options, top_p, 0, 1, "null", "Above 0, to 1 (default: the provider's)."),
    PHI__C_U32(options, top_k, "null", "Tokens to choose from (default: the provider's)."),
    PHI__C_COUNTED(options, stop, stop_count, NULL, "[]", "Texts that end an answer, 16 at most."),
    PHI__C_HAS(options, seed, has_seed, "seed", INTEGER, 0, 9007199254740991, "null",
               "The seed of the sampling (default: none)."),
    PHI__C_TEXT(options, service_tier, 0, "In the provider's words: flex, priority, ..."),
    PHI__C_FLAG(options, serial_calls, "One tool call in an answer at most.")};
PHI__TABLE_PLAIN(
    PHI__FN, options, "agent.options",
    "Settings of requests; one that the protocol or the model does not take is left out.")

static const phi__cfg_field phi__raw_tool_rows[] = {
    PHI__C_TEXT(raw_tool, protocol, PHI__REQUIRED,
                "The protocol whose requests have it, as `api` of a provider."),
    PHI__C_PLAIN(raw_tool, json, VALUE, PHI__REQUIRED, "null",
                 "An element of the list of tools: a table, or its JSON as a text.")};
PHI__TABLE(raw_tool, "agent.raw_tools",
           "A tool of the provider's own, sent as it is after the agent's tools.")

/* ---- system prompts ---- */

static const phi__cfg_field phi__prompt_strategy_rows[] = {
    PHI__C_NAMED(prompt_strategy, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "system_prompt_strategy",
                 "null", "Its name: \"{{name}}\"."),
    PHI__C_TEXT(prompt_strategy, description, 0, "For people."),
    PHI__C_ROW(prompt_strategy, blocks, "blocks", TABLES, 0, NULL, NULL, phi__table_prompt_block,
               NULL, 0, 0, "[]", "The blocks of a prompt.")};
PHI__TABLE_AS(static, prompt_strategy, "system_prompt_strategy.instances", "A template.", NULL,
              false, false)

static const phi__cfg_field phi__prompt_block_rows[] = {
    PHI__C_TEXT(prompt_block, name, PHI__REQUIRED, "The key that a prompt fills it by."),
    PHI__C_INT(prompt_block, order, 0, -2147483647, 2147483647, "0",
               "Blocks stand in this order, equal ones as they are written."),
    PHI__C_INT(prompt_block, max_length, 0, 1, 0, "null",
               "Characters at most; a longer text is cut (default: no limit).")};
PHI__TABLE(prompt_block, "system_prompt_strategy.instances.blocks", "A block.")

PHI__TABLE_LIST(static, prompt_strategies, "system_prompt_strategy", "Templates of system prompts.",
                prompt_strategy, "The templates; agent and minimal exist without being written.")

PHI__TABLE_LIST(static, prompts, "system_prompt", "System prompts made of blocks.", prompt,
                "The prompts.")

static const phi__cfg_field phi__prompt_rows[] = {
    PHI__C_NAMED(prompt, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "system_prompt", "null",
                 "Its name: \"{{name}}\"."),
    PHI__C_TEXT(prompt, description, 0, "For people."),
    PHI__C_NAMED(prompt, type, TEXT, PHI__ONLY_REFERENCE | PHI__REQUIRED, "system_prompt_strategy",
                 "null", "Its template: \"{{system_prompt_strategy.name}}\", agent or minimal.")};
PHI__TABLE_OF(
    prompt, "system_prompt.instances",
    "A prompt: each further key is a block's text, or \"file:path\" relative to the workspace.",
    NULL, true)

/* ---- the tables of reasoning strategies and their options ---- */

#define PHI__C_PROMPT(of, member) PHI__C_TEXT(of, member, 0, "In place of the prompt that phi has.")
#define PHI__C_CALL(of)                                                                            \
    PHI__C_U32(of, max_tokens, "null", "Output tokens of a call (default: the agent's)."),         \
        PHI__C_TEMPERATURE(of, "0 to 2 (default: the agent's)."),                                  \
        PHI__C_SECS(of, timeout_ms, "timeout_secs", 0, "null",                                     \
                    "Seconds of a call (default: call_timeout_secs).")

static const phi__cfg_field phi__cot_rows[] = {
    PHI__C_TEXT(cot, system_prompt, 0, "How to think, in place of the prompt that phi has."),
    PHI__C_CALL(cot)};
PHI__TABLE_PLAIN(static, cot, "strategy.instances.cot", "Options of cot and cod.")

static const char phi__aot_profile_names[] = "standard short long";

static const char phi__aot_style_names[] = "dfs bfs";

static const phi__cfg_field phi__aot_rows[] = {
    PHI__C_CHOICE(aot, profile, phi__aot_profile_names, "\"standard\"",
                  "How many worked examples the prompt has: two, one or three."),
    PHI__C_CHOICE(aot, style, phi__aot_style_names, "\"dfs\"",
                  "The search that the prompt asks for."),
    PHI__C_TEXT(aot, system_prompt, 0, "In place of the role and pattern that phi has."),
    PHI__C_COUNTED(aot, examples, example_count, NULL, "[]",
                   "Worked searches in place of those that phi has."),
    PHI__C_FLAG(aot, implicit_answer, "A solution without an answer line is a success, too."),
    PHI__C_U32(aot, max_tokens, "2048", "Output tokens."),
    PHI__C_FLAG(aot, agent_temperature, "Send the temperature of the agent, not this one."),
    PHI__C_NUM(aot, temperature, 0, 2, "0.0", "0 to 2."),
    PHI__C_SECS(aot, timeout_ms, "timeout_secs", 0, "null",
                "Seconds of the call (default: call_timeout_secs).")};
PHI__TABLE_PLAIN(PHI__FN, aot, "strategy.instances.aot", "Options of aot.")

static const char phi__traversal_names[] = "bfs dfs";

static const phi__cfg_field phi__tot_rows[] = {
    PHI__C_CHOICE(tot, traversal, phi__traversal_names, "\"bfs\"",
                  "Level by level, or the best thought first and back."),
    PHI__C_INT(tot, branching_factor, 0, 1, 1000, "8", "New thoughts a step at most."),
    PHI__C_INT(tot, evaluations, 0, 1, 1000, "3", "Calls that score the new thoughts of a step."),
    PHI__C_INT(tot, beam_width, 0, 1, 100000, "5", "Thoughts of a level that bfs expands."),
    PHI__C_NUM(tot, value_threshold, 1e-06, 1, "0.4",
               "Thoughts with a lower score are not expanded by dfs."),
    PHI__C_INT(tot, max_depth, 0, 1, 1000, "3", "Depth of a thought at most."),
    PHI__C_INT(tot, min_depth, 0, 1, 1000, "2",
               "Depth that a thought has at least when it ends the search early."),
    PHI__C_INT(tot, max_nodes, 0, 1, 100000, "100", "Thoughts in all."),
    PHI__C_SECS(tot, max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "null",
                "Seconds, then the best so far is the answer (default: no limit)."),
    PHI__C_INT(tot, top_k, 0, 1, 1000, "3", "Candidates in the result."),
    PHI__C_NUM(tot, early_success_threshold, 1e-06, 1, "1.0", "A score that ends the search."),
    PHI__C_INT(tot, convergence_window, PHI__NO_LIMIT, 1, 4294967295, "null",
               "Expansions without an improvement at max_depth that end the search."),
    PHI__C_NUM(tot, min_score_improvement, 1e-06, 1, "0.02",
               "The least gain that is an improvement."),
    PHI__C_INT(tot, max_parse_retries, 0, 1, 100, "1", "Repairs of an answer that cannot be read."),
    PHI__C_FLAG(tot, no_repair, "An answer that cannot be read ends the search at once."),
    PHI__C_FLAG(tot, tools, "Thoughts and scores may call tools."),
    PHI__C_INT(tot, max_tool_rounds, 0, 1, 1000, "3", "Rounds of tools of a call."),
    PHI__C_PROMPT(tot, generation_prompt),
    PHI__C_PROMPT(tot, evaluation_prompt),
    PHI__C_CALL(tot)};
PHI__TABLE_PLAIN(PHI__FN, tot, "strategy.instances.tot", "Options of tot.")

static const char phi__aggregation_names[] = "synthesis voting weighted";

static const phi__cfg_field phi__got_rows[] = {
    PHI__C_CHOICE(got, aggregation, phi__aggregation_names, "\"synthesis\"",
                  "How thoughts become the answer."),
    PHI__C_INT(got, generations, 0, 1, 1000, "2", "Generations of thoughts."),
    PHI__C_INT(got, branching_factor, 0, 1, 1000, "3", "Thoughts of a generation at most."),
    PHI__C_INT(got, max_nodes, 0, 1, 1000, "20", "Thoughts in all."),
    PHI__C_INT(got, max_depth, 0, 1, 1000, "5", "Depth of a thought at most."),
    PHI__C_INT(got, votes, 0, 1, 1000, "3", "Votes at most, with voting."),
    PHI__C_INT(got, keep_best, 0, 1, 1000, "5", "Thoughts with most support that are aggregated."),
    PHI__C_PROMPT(got, generation_prompt),
    PHI__C_PROMPT(got, connection_prompt),
    PHI__C_PROMPT(got, voting_prompt),
    PHI__C_PROMPT(got, weighing_prompt),
    PHI__C_PROMPT(got, aggregation_prompt),
    PHI__C_CALL(got)};
PHI__TABLE_PLAIN(PHI__FN, got, "strategy.instances.got", "Options of got.")

static const phi__cfg_field phi__trm_rows[] = {
    PHI__C_INT(trm, max_supervisions, 0, 1, 50, "5", "Calls that score a draft."),
    PHI__C_INT(trm, reasoning_steps, 0, 1, 20, "1",
               "Calls that write notes before an improvement."),
    PHI__C_NUM(trm, threshold, 1e-06, 1, "0.9", "A score that ends it."),
    PHI__C_PROMPT(trm, reason_prompt),
    PHI__C_PROMPT(trm, supervise_prompt),
    PHI__C_PROMPT(trm, improve_prompt),
    PHI__C_PROMPT(trm, notes_prompt),
    PHI__C_CALL(trm)};
PHI__TABLE_PLAIN(static, trm, "strategy.instances.trm", "Options of trm.")

static const char phi__adaptive_name_names[] = "react cot cod aot tot got trm";

static const phi__cfg_field phi__adaptive_rows[] = {
    PHI__C_NAMES(adaptive, strategy, "strategy", TEXT, 0, phi__adaptive_name_names, "null",
                 "Always this one (default: chosen by the prompt)."),
    PHI__C_NAMES(adaptive, default_strategy, "default_strategy", TEXT, 0, phi__adaptive_name_names,
                 "\"react\"", "Where the prompt does not decide."),
    PHI__C_COUNTED(adaptive, available, available_count, phi__adaptive_name_names,
                   "[\"react\", \"cot\", \"cod\", \"tot\", \"got\", \"trm\"]",
                   "Those that may be chosen."),
    PHI__C_INT(adaptive, max_tool_rounds, 0, 1, 1000, "9", "Rounds of tools of react."),
    PHI__C_NUM(adaptive, simple_below, 1e-06, 1, "0.3", "Complexity of a simple prompt."),
    PHI__C_NUM(adaptive, complex_above, 1e-06, 1, "0.7", "Complexity of a hard prompt."),
    PHI__C_TEXT(adaptive, puzzle_words, 0,
                "Words in place of those that phi has, separated by bars."),
    PHI__C_TEXT(adaptive, synthesis_words, 0, "The same, of prompts that combine."),
    PHI__C_TEXT(adaptive, tool_words, 0, "The same, of prompts for tools."),
    PHI__C_TEXT(adaptive, exploration_words, 0, "The same, of prompts that explore."),
    PHI__C_TEXT(adaptive, complex_words, 0, "The same, of the complexity.")};
PHI__TABLE_PLAIN(static, adaptive, "strategy.instances.adaptive", "Options of adaptive.")

static const char phi__strategy_type_names[] = "cot cod aot tot got trm adaptive";

static const phi__cfg_field phi__strategy_rows[] = {
    PHI__C_NAMED(strategy, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "strategy", "null",
                 "Its name: \"{{name}}\" or \"{{%name%}}\"."),
    PHI__C_TEXT(strategy, description, 0, "For people."),
    PHI__C_NAMES(strategy, type, "type", CHOICE, PHI__REQUIRED, phi__strategy_type_names, "null",
                 "The strategy."),
    PHI__C_INT(strategy, max_calls, PHI__NO_LIMIT, 1, 4294967295, "null",
               "Model calls of a prompt at most (default: as its options allow)."),
    PHI__C_SECS(strategy, call_timeout_ms, "call_timeout_secs", PHI__NO_LIMIT, "null",
                "Seconds of one model call (default: no limit)."),
    PHI__C_PART(strategy, cot, cot, "Options of a chain of thought."),
    PHI__C_PART(strategy, cod, cot, "Options of a chain of draft."),
    PHI__C_PART(strategy, aot, aot, "Options of an algorithm of thoughts."),
    PHI__C_PART(strategy, tot, tot, "Options of a tree of thoughts."),
    PHI__C_PART(strategy, got, got, "Options of a graph of thoughts."),
    PHI__C_PART(strategy, trm, trm, "Options of recursive refinement."),
    PHI__C_PART(
        strategy, adaptive, adaptive,
        "Options of the choice by the prompt; the strategies it chooses from have their own.")};
PHI__TABLE(strategy, "strategy.instances", "A strategy.")

PHI__TABLE_LIST(static, strategies, "strategy", "Reasoning strategies, by name.", strategy,
                "The strategies.")

/* ---- sessions and tools ---- */

static const char phi__scope_names[] = "ephemeral persistent";

static const phi__cfg_field phi__session_rows[] = {
    PHI__C_CHOICE(
        session, scope, phi__scope_names, "\"ephemeral\"",
        "ephemeral: threads live in memory alone; persistent: they are written to a store."),
    PHI__C_TEXT(session, directory, PHI__CFG_PATH,
                "Where a persistent session keeps its files; made when needed."),
    PHI__C_TEXT(
        session, thread, 0,
        "The id of the thread to continue, or to begin where the store has none of that id."),
    PHI__C_FLAG(session, sync,
                "Wait for the disk at each write, so that a loss of power loses nothing.")};
PHI__TABLE(session, "session", "Sessions.")

static const char phi__tool_mode_names[] = "sequential=1 parallel=0 batched=2";

static const char phi__tool_choice_names[] = "auto none required";

static const phi__cfg_field phi__tools_rows[] = {
    PHI__C_LIST(tools, enabled, "[]",
                "Names of tools: built-in ones, those of the program, and sub-agents."),
    PHI__C_ROW(
        tools, mode, "tool_strategy", CHOICE, 0, "strategy", phi__tool_mode_names, NULL, NULL, 0, 0,
        "\"parallel\"",
        "How the calls of one turn run: one after another, all at once, or batch_size at a time."),
    PHI__C_INT(tools, batch_size, 0, 1, 65536, "3",
               "Calls at a time, with tool_strategy \"batched\"."),
    PHI__C_SECS(tools, timeout_ms, "timeout_secs", PHI__NO_LIMIT, "120",
                "Seconds that a call of a tool without a limit of its own may take."),
    PHI__C_INT(tools, defer_percent, PHI__NO_LIMIT, 1, 1000, "10",
               "Percent of the window: where tools of servers take more, they are deferred."),
    PHI__C_CHOICE(tools, choice, phi__tool_choice_names, "\"auto\"",
                  "Whether the model may, must not, or must call a tool.")};
PHI__TABLE(tools, "tools", "Tools.")

/* ---- compaction ---- */

static const char phi__compaction_scope_names[] = "runs tokens";

static const phi__cfg_field phi__compaction_base_rows[] = {
    PHI__C_BOOL(compaction, enabled, "true",
                "false switches compaction off, whatever max_context_tokens says."),
    PHI__C_INT_IN(compaction, config, max_context_tokens, 0, 1000, 1000000000, "null",
                  "Size of the window in tokens; compaction is off where this is not set."),
    PHI__C_INT_IN(compaction, config, system_prompt_tokens, 0, 1, 1000000000, "4000",
                  "Tokens reserved for the system prompt."),
    PHI__C_NUM_IN(compaction, config, compact_at_pct, 0.01, 1, "0.9",
                  "The part of the window, above 0 to 1, that may fill up."),
    PHI__C_NUM_AS(
        compaction, config.budget_threshold_pct, "compact_budget_threshold_pct", 0.001, 1, "0.05",
        "Compaction begins when less than this part of the window is left below compact_at_pct."),
    PHI__C_NONE(compaction, config.keep_first_turns, config.keep_no_first, "keep_first_turns",
                "keep_first", 1000000, "2", "First turns of a run that stay as they are; 0: none."),
    PHI__C_ROW(compaction, config.keep_recent_turns, "keep_recent_turns", INTEGER, 0, "keep_recent",
               NULL, NULL, NULL, 1, 1000000, "10", "Newest turns of a run that stay as they are."),
    PHI__C_INT_IN(compaction, config, max_summary_tokens, 0, 1, 1000000000, "2000",
                  "Tokens of a summary at most."),
    PHI__C_INT_IN(compaction, config, tool_output_max_lines, 0, 1, 1000000000, "50",
                  "Lines that stay of a long tool result."),
    PHI__C_TEXT_IN(compaction, config, focus_message,
                   "What summaries have to keep, as a message before them."),
    PHI__C_CHOICE_IN(compaction, config, scope, phi__compaction_scope_names, "\"runs\"",
                     "Which earlier runs are summed up: the newest scope_runs, or as many as "
                     "scope_tokens hold."),
    PHI__C_INT_IN(compaction, config, scope_runs, PHI__NO_LIMIT, 1, 1000000, "3",
                  "Earlier runs that are summed up, with scope \"runs\"."),
    PHI__C_INT_IN(compaction, config, scope_tokens, 0, 1, 1000000000, "null",
                  "Tokens of earlier runs that are summed up, with scope \"tokens\" (default: "
                  "max_context_tokens).")};
PHI__TABLE_BASE(compaction_base)

static const phi__cfg_field phi__compaction_rows[] = {PHI__C_TABLES(
    compaction, instances, compaction_instance,
    "Named variations, for agents and profiles: compaction = \"{{compaction.name}}\".")};
PHI__TABLE_OF(compaction, "compaction", "Compaction.", phi__table_compaction_base, false)

static const phi__cfg_field phi__compaction_instance_rows[] = {
    PHI__C_NAMED(compaction, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "compaction", "null",
                 "Its name: \"{{name}}\", or \"{{%name%}}\" for one that is shared."),
    PHI__C_TEXT(compaction, description, 0, "For people.")};
PHI__TABLE_OF(compaction_instance, "compaction.instances",
              "A named compaction: what it does not set is as in [compaction].",
              phi__table_compaction_base, false)

static const phi__cfg_field phi__context_rows[] = {
    PHI__C_TABLE(context, compaction, compaction,
                 "As [compaction] at the top; a file has only one of the two.")};
PHI__TABLE_AS(static, context, "context", "Another place for compaction.", NULL, false, false)

/* ---- runs ---- */

static const phi__cfg_field phi__retry_rows[] = {
    PHI__C_NONE(retry, max_retries, disable, "max_retries", NULL, 1000, "3",
                "Attempts beyond the first; 0: none."),
    PHI__C_INT(retry, initial_delay_ms, 0, 1, 3600000, "1000",
               "Milliseconds before the first retry."),
    PHI__C_NUM(retry, backoff_multiplier, 1, 1000, "2.0",
               "Each delay is so many times the one before."),
    PHI__C_INT(retry, max_delay_ms, 0, 1, 86400000, "30000", "Milliseconds of a delay at most."),
    PHI__C_INT(retry, max_server_delay_ms, PHI__NO_LIMIT, 1, 4294967295, "60000",
               "Milliseconds that a server may ask to wait; when it asks for more, the call "
               "fails at once.")};
PHI__TABLE_PLAIN(PHI__FN, retry, "execution.retry", "Retries.")

static const char phi__cache_mode_names[] = "auto disabled manual";

static const phi__cfg_field phi__cache_rows[] = {
    PHI__C_BOOL(cache, enabled, "true", "false: no marks of prompt caching are sent."),
    PHI__C_NAMES(cache, cache.mode, "strategy", CHOICE, PHI__CFG_LENIENT, phi__cache_mode_names,
                 "\"auto\"", "auto: all marks; disabled: none; manual: those that are set here."),
    PHI__C_ALIAS(cache, cache.system, "system", "cache_system", BOOL, "false",
                 "manual: a mark behind the system prompt."),
    PHI__C_ALIAS(cache, cache.tools, "tools", "cache_tools", BOOL, "false",
                 "manual: a mark behind the last tool."),
    PHI__C_ALIAS(cache, cache.messages, "messages", "cache_messages", BOOL, "false",
                 "manual: a mark behind the last user message."),
    PHI__C_FLAG_IN(cache, cache, one_hour,
                   "Marks last an hour, not five minutes (Claude); writing costs more.")};
PHI__TABLE(cache, "execution.cache", "Prompt caching.")

static const phi__cfg_field phi__budget_rows[] = {
    PHI__C_INT(budget, max_tokens, 0, 1, 0, "null", "Tokens of every kind, over all runs."),
    PHI__C_NUM(budget, max_cost, 1e-06, 1000000000, "null",
               "Dollars over all runs; needs [provider.cost]."),
    PHI__C_INT(budget, max_requests, 0, 1, 0, "null",
               "Model calls over all runs; retries do not count.")};
PHI__TABLE_PLAIN(static, budget, "execution.budget", "A budget over all runs.")

static const phi__cfg_field phi__deadlines_rows[] = {
    PHI__C_SECS(deadlines, connect_ms, "connect_secs", PHI__NO_LIMIT, "15",
                "Seconds until a connection stands."),
    PHI__C_SECS(deadlines, first_event_ms, "first_event_secs", PHI__NO_LIMIT, "300",
                "Seconds from there to the first event of an answer."),
    PHI__C_SECS(deadlines, idle_ms, "idle_secs", PHI__NO_LIMIT, "120",
                "Seconds between two events of an answer."),
    PHI__C_SECS(deadlines, total_ms, "total_secs", PHI__NO_LIMIT, "null",
                "Seconds of a whole model call (default: the limit of the run).")};
PHI__TABLE_PLAIN(static, deadlines, "execution.deadlines", "Deadlines of a model call.")

static const phi__cfg_field phi__execution_rows[] = {
    PHI__C_INT_IN(execution, desc.limits, max_turns, PHI__NO_LIMIT, 1, 4294967295, "50",
                  "Model calls of a run at most."),
    PHI__C_RANGE(execution, desc.limits.max_tokens, "max_total_tokens", INTEGER, PHI__NO_LIMIT, 1,
                 0, "1000000", "Input and output tokens of a run at most."),
    PHI__C_SECS(execution, desc.limits.max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "600",
                "Seconds that a run may take."),
    PHI__C_NUM_IN(execution, desc.limits, max_cost, 1e-06, 1000000000, "null",
                  "Dollars of a run at most; needs [provider.cost]."),
    PHI__C_FLAG_IN(execution, desc.limits, pause,
                   "A limit that is reached pauses the run instead of ending it."),
    PHI__C_PART_IN(execution, desc, retry, retry,
                   "Retries of model calls that failed in a way that may pass."),
    PHI__C_PART(execution, cache, cache, "Prompt caching."),
    PHI__C_PART_IN(execution, desc, budget, budget,
                   "What an agent may spend over its life, with its sub-agents."),
    PHI__C_PART_IN(execution, desc, deadlines, deadlines, "How long the network may be silent.")};
PHI__TABLE(execution, "execution", "Limits of a run.")

/* ---- the top ---- */

static const phi__cfg_field phi__top_rows[] = {
    PHI__C_PLAIN_AS(top, schema, "$schema", TEXT, 0, "null",
                    "The address of a JSON Schema, for editors; phi does not look at it."),
    PHI__C_PLAIN(top, default_workspace, TEXT, PHI__CFG_PATH, "\".\"",
                 "The directory of every agent that has none of its own."),
    PHI__C_TABLE(top, agent, agent, "The agent, or what all agents of this file have in common."),
    PHI__C_TABLE(top, provider, provider, "The model of every agent that names no other."),
    PHI__C_REF(top, models, MAP, "provider", "{}",
               "Short names for providers: with fast = \"{{provider.haiku}}\", \":fast\" means "
               "that provider."),
    PHI__C_TABLE(top, failover, failover, "Other models to go on with when one fails for good."),
    PHI__C_TABLE(top, session, session, "Where threads are kept."),
    PHI__C_TABLE(top, tools, tools, "Which tools there are, and how calls run."),
    PHI__C_TABLE(top, compaction, compaction,
                 "How a conversation that nears the window is shortened."),
    PHI__C_TABLE(top, context, context, "Another place for compaction: [context.compaction]."),
    PHI__C_TABLE(top, execution, execution,
                 "Limits of a run, retries, prompt caching, budget and deadlines."),
    PHI__C_TABLE(top, sub_agents, sub_agents, "Agents that are tools of agents."),
    PHI__C_TABLE(top, strategy, strategies, "Reasoning strategies, by name."),
    PHI__C_TABLE(top, system_prompt_strategy, prompt_strategies,
                 "Templates of system prompts: their blocks, in order, with lengths."),
    PHI__C_TABLE(top, system_prompt, prompts, "System prompts made of blocks.")};
PHI__TABLE(top, "", "A configuration.")
