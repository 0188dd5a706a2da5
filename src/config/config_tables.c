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
    PHI__C_NUM_AS(cost, input, "input_per_million", 0, 1000000, "0.0", "Price of input tokens."),
    PHI__C_NUM_AS(cost, output, "output_per_million", 0, 1000000, "0.0", "Price of output tokens."),
    PHI__C_NUM_AS(cost, cache_read, "cache_read_per_million", 0, 1000000, "0.0",
                  "Price of input tokens that are read from the prompt cache."),
    PHI__C_NUM_AS(cost, cache_write, "cache_write_per_million", 0, 1000000, "0.0",
                  "Price of input tokens that are written to the prompt cache.")};
PHI__TABLE_PLAIN(static, cost, "provider.cost", "Prices in dollars per million tokens.")

static const phi__cfg_field phi__provider_base_rows[] = {
    PHI__C_CHOICE(provider, preset, phi__preset_names, "null",
                  "A known server. Sets api, base_url, provider and compat; the file may override "
                  "these fields."),
    PHI__C_PLAIN(provider, model, TEXT, 0, "\"unknown\"", "The model id that the API knows."),
    PHI__C_PLAIN(provider, api_key, TEXT, PHI__CFG_SECRET, "\"\"",
                 "The API key. Write \"${NAME}\" rather than the key itself."),
    PHI__C_CHOICE(provider, api, phi__api_names, "\"anthropic_messages\"",
                  "The protocol of the API; phi does not guess it from the model."),
    PHI__C_ALIAS(provider, base_url, "base_url", "url", TEXT, "null",
                 "The address of the API (default: the address of the preset or of the protocol)."),
    PHI__C_PLAIN(provider, provider, TEXT, 0, "\"anthropic\"",
                 "The name of the provider, for logs and ids."),
    PHI__C_NAMED(provider, name, TEXT, PHI__CFG_NAME, "provider", "null",
                 "The name of the model for people (default: model)."),
    PHI__C_TEXT(provider, description, 0, "A description for people."),
    PHI__C_HAS(provider, reasoning, has_reasoning, "reasoning", BOOL, 0, 0, "false",
               "True if the model can think; otherwise phi does not send thinking_level."),
    PHI__C_U32(provider, context_window, "200000",
               "The size of the model's context window, in tokens."),
    PHI__C_U32(provider, max_tokens, "8192", "Maximum output tokens per model call."),
    PHI__C_PART(provider, cost, cost,
                "Prices in dollars per million tokens; every max_cost needs these prices."),
    PHI__C_PLAIN(provider, headers, MAP, PHI__CFG_SECRET, "{}",
                 "Additional HTTP headers, by name."),
    PHI__C_TEXT(provider, api_version, 0,
                "The header anthropic-version of anthropic_messages (default 2023-06-01)."),
    PHI__C_TABLE(provider, compat, compat, "Differences of the server from OpenAI's own."),
    PHI__C_PLAIN(
        provider, extra, VALUE, 0, "null",
        "Additional members of each request body: a table, or the table's JSON as a text.")};
PHI__TABLE_BASE(provider_base)

static const phi__cfg_field phi__provider_rows[] = {
    PHI__C_TABLES(provider, instances, provider_instance, "Named providers.")};
PHI__TABLE_OF(provider, "provider", "The model of every agent that names no other provider.",
              phi__table_provider_base, false)

static const phi__cfg_field phi__provider_instance_rows[] = {
    PHI__C_NAMED(provider, id, TEXT, PHI__CFG_ID, "provider", "null",
                 "The name for references: \"{{name}}\" or \"{{%name%}}\" (default: name).")};
PHI__TABLE_OF(provider_instance, "provider.instances",
              "A named provider. It inherits nothing from [provider].", phi__table_provider_base,
              false)

static const phi__cfg_field phi__compat_rows[] = {
    PHI__C_BOOL(compat, supports_store, "null",
                "The server knows the member store. phi then sends it as false."),
    PHI__C_BOOL(compat, supports_developer_role, "null",
                "The system prompt has the role developer if the model can think."),
    PHI__C_BOOL(compat, supports_reasoning_effort, "null",
                "phi sends the thinking level as reasoning_effort."),
    PHI__C_BOOL(compat, supports_usage_in_streaming, "null",
                "The server reports usage at the end of a stream (stream_options)."),
    PHI__C_BOOL(compat, requires_tool_result_name, "null",
                "Tool results contain the name of the tool."),
    PHI__C_BOOL(compat, requires_assistant_after_tool_result, "null",
                "No user message may directly follow a tool result."),
    PHI__C_CHOICE(compat, max_tokens_field, phi__max_tokens_field_names, "null",
                  "The request member that limits the output tokens."),
    PHI__C_ROW(compat, reasoning_format, "reasoning_format", CHOICE, 0, "thinking_format",
               phi__reasoning_names, NULL, NULL, 0, 0, "null",
               "The format in which phi sends the thinking level."),
    PHI__C_NAMES(compat, quirks, "quirks", BITS, 0, phi__quirk_names, "[]",
                 "Additional differences: the names of PHI_QUIRK_ constants, in lower case, "
                 "without the prefix."),
    PHI__C_NAMES(compat, without, "without", BITS, 0, phi__quirk_names, "[]",
                 "Differences of the preset that do not apply to this server.")};
PHI__TABLE(compat, "provider.compat",
           "Differences of a server from OpenAI's own. Unset fields have the values of the preset.")

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
    PHI__C_TEXT(profile, description, 0, "A description for people."),
    PHI__C_NAMED(profile, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE, "system_prompt",
                 "null",
                 "The prompt: a text, \"file:path\" relative to the workspace, or "
                 "\"{{system_prompt.name}}\"."),
    PHI__C_NAMES(profile, thinking, "thinking_level", CHOICE, 0, phi__thinking_names, "\"off\"",
                 "The amount of thinking before an answer."),
    PHI__C_TEMPERATURE(profile, "The sampling temperature, 0 to 2 (default: the provider's)."),
    PHI__C_U32(profile, max_tokens, "null",
               "Maximum output tokens per model call (default: max_tokens of the provider)."),
    PHI__C_TEXT(profile, config_id, 0, "A stable part of run ids."),
    PHI__C_LIST(profile, skills, "[]", "Names of skills. Skills are not tools. Needs phi_tools.h."),
    PHI__C_TEXT(profile, workspace, PHI__CFG_PATH,
                "The working directory of tools and the base of \"file:\" paths."),
    PHI__C_REF(profile, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]].")};
PHI__TABLE_BASE(profile_base)

static const phi__cfg_field phi__profile_instance_rows[] = {
    PHI__C_NAMED(profile, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "agent_profile", "null",
                 "The name for references: \"{{name}}\" or \"{{%name%}}\".")};
PHI__TABLE_AS(static, profile_instance, "agent.profile.instances",
              "A named profile. Unset fields have the values of [agent.profile].",
              phi__table_profile_base, false, false)

static const phi__cfg_field phi__profile_rows[] = {
    PHI__C_TEXT(profile, profile_id, 0, "The id of the profile (default: random)."),
    PHI__C_TABLES(profile, instances, profile_instance, "Named variations of the profile.")};
PHI__TABLE_OF(profile, "agent.profile",
              "The settings of an agent except its model. They apply to all agents of the file.",
              phi__table_profile_base, false)

static const phi__cfg_field phi__profile_inline_rows[] = {
    PHI__C_TEXT(profile, profile_id, 0, "The id of the profile (default: random).")};
PHI__TABLE_AS(static, profile_inline, "agent.instances.profile", "A profile for this agent only.",
              phi__table_profile_base, false, false)

/* ---- sub-agents ---- */

PHI__TABLE_LIST(static, sub_agents, "sub_agents", "Agents that other agents call as tools.",
                sub_agent, "The sub-agents.")

static const phi__cfg_field phi__sub_agent_rows[] = {
    PHI__C_NAMED(sub_agent, id, TEXT, PHI__CFG_ID, "sub_agent", "null",
                 "The name for references: \"{{name}}\" or \"{{%name%}}\" (default: name)."),
    PHI__C_NAMED(sub_agent, name, TEXT, PHI__CFG_NAME | PHI__REQUIRED, "sub_agent", "null",
                 "The name of the tool."),
    PHI__C_TEXT(sub_agent, description, 0, "Tells the calling model what the sub-agent does."),
    PHI__C_NAMED(sub_agent, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE,
                 "system_prompt", "null",
                 "The prompt: a text, \"file:path\" relative to the workspace, or "
                 "\"{{system_prompt.name}}\"."),
    PHI__C_TEXT(sub_agent, workspace, PHI__CFG_PATH,
                "The working directory of the sub-agent's tools and the base of \"file:\" paths."),
    PHI__C_REF(
        sub_agent, provider, TEXT, "provider", "null",
        "A provider of [[provider.instances]], or an alias of [models] (default: [provider])."),
    PHI__C_TEXT(sub_agent, model, 0, "A model id that replaces the provider's model."),
    PHI__C_TEXT(
        sub_agent, api_key, PHI__CFG_SECRET,
        "The key, as \"${NAME}\" (default: the provider's key, if the server is the same)."),
    PHI__C_ALIAS(sub_agent, base_url, "base_url", "url", TEXT, "null",
                 "An address of the API that replaces the provider's address."),
    PHI__C_CHOICE(sub_agent, api, phi__api_names, "null",
                  "A protocol of the API that replaces the provider's protocol."),
    PHI__C_REF(sub_agent, strategy, TEXT, "strategy", "null",
               "A strategy of [[strategy.instances]] (default: none)."),
    PHI__C_REF(sub_agent, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]] (default: none)."),
    PHI__C_INT_IN(sub_agent, limits, max_turns, PHI__NO_LIMIT, 1, 4294967295, "10",
                  "Maximum number of model calls per run."),
    PHI__C_RANGE(sub_agent, limits.max_tokens, "max_total_tokens", INTEGER, PHI__NO_LIMIT, 1, 0,
                 "1000000", "Maximum number of input and output tokens per run."),
    PHI__C_SECS(sub_agent, limits.max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "300",
                "Maximum number of seconds per run."),
    PHI__C_NUM_IN(
        sub_agent, limits, max_cost, 1e-06, 1000000000, "null",
        "Maximum cost per run in dollars; needs the cost rates of the sub-agent's provider."),
    PHI__C_NAMES(sub_agent, thinking, "thinking_level", CHOICE, 0, phi__thinking_names, "\"off\"",
                 "The amount of thinking before an answer."),
    PHI__C_TEMPERATURE(sub_agent, "The sampling temperature, 0 to 2 (default: the provider's)."),
    PHI__C_U32(sub_agent, max_tokens, "null",
               "Maximum output tokens per model call (default: max_tokens of the provider)."),
    PHI__C_LIST(sub_agent, tools, "[]", "Names of the sub-agent's tools."),
    PHI__C_REF(sub_agent, sub_agents, TEXTS, "sub_agent", "[]",
               "Sub-agents that this sub-agent may call; max_depth must allow them."),
    PHI__C_REF(sub_agent, mcp, TEXTS, "mcp", "[]", "MCP servers of this sub-agent."),
    PHI__C_REF(sub_agent, openapi, TEXTS, "openapi", "[]",
               "OpenAPI specifications of this sub-agent."),
    PHI__C_LIST(sub_agent, skills, "[]", "Names of skills. Needs phi_tools.h."),
    PHI__C_INT_IN(
        sub_agent, desc, keep, 0, 0, 65536, "0",
        "The number of finished children that phi keeps; the model can continue a kept child."),
    PHI__C_INT_IN(
        sub_agent, desc, max_depth, 0, 1, 64, "1",
        "Levels of sub-agents below the agent. Sub-agents at the last level get no sub-agents."),
    PHI__C_SECS(
        sub_agent, desc.timeout_ms, "timeout_secs", PHI__NO_LIMIT, "null",
        "Maximum number of seconds per call (default: only the limits of the sub-agent's run)."),
    PHI__C_FLAG_IN(sub_agent, desc, show_events,
                   "Emits the sub-agent's events to the program, too.")};
PHI__TABLE(sub_agent, "sub_agents.instances",
           "A sub-agent. Its default workspace is the workspace of the agent that calls it.")

/* ---- failover ---- */

static const char phi__failover_on_names[] =
    "network server rate_limited quota auth no_model overflow content_filter invalid_request";

static const char phi__stay_names[] = "run for ever";

static const phi__cfg_field phi__failover_rows[] = {
    PHI__C_NAMED(failover, models, TEXTS, PHI__ONLY_REFERENCE | PHI__REQUIRED, "provider", "[]",
                 "Providers of [[provider.instances]] or aliases of [models]; phi tries them in "
                 "this order."),
    PHI__C_NAMES(failover, failover.on, "on", BITS, 0, phi__failover_on_names,
                 "[\"network\", \"server\", \"rate_limited\", \"quota\", \"auth\", \"no_model\", "
                 "\"overflow\"]",
                 "The failures that lead to the next model."),
    PHI__C_INT_IN(failover, failover, max_switches, PHI__NO_LIMIT, 1, 4294967295, "null",
                  "Maximum number of switches per run (default: the number of `models`)."),
    PHI__C_CHOICE_IN(failover, failover, stay, phi__stay_names, "\"run\"",
                     "run: keeps the new model until the run ends; for: for stay_secs; ever: "
                     "without a time limit."),
    PHI__C_SECS(failover, failover.stay_ms, "stay_secs", PHI__NO_LIMIT, "300",
                "Number of seconds for stay = \"for\".")};
PHI__TABLE(failover, "failover", "Models that take over when a model fails for good.")

/* ---- the tables of agents and system prompts ---- */

static const char phi__keep_names[] = "complete none";

static const char phi__queue_mode_names[] = "one_at_a_time all";

static const char phi__memory_names[] = "compact forget stop";

static const phi__cfg_field phi__agent_base_rows[] = {
    PHI__C_NAMED(agent, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE, "system_prompt",
                 "null",
                 "The prompt: a text, \"file:path\" or \"{{system_prompt.name}}\". Overrides the "
                 "profile's prompt."),
    PHI__C_TEXT(agent, workspace, PHI__CFG_PATH,
                "The working directory of tools and the base of \"file:\" paths."),
    PHI__C_REF(
        agent, provider, TEXT, "provider", "null",
        "A provider of [[provider.instances]], or an alias of [models] (default: [provider])."),
    PHI__C_REF(agent, agent_profile, TEXT, "agent_profile", "null",
               "A profile of [[agent.profile.instances]] (default: [agent.profile])."),
    PHI__C_REF(agent, strategy, TEXT, "strategy", "null",
               "A strategy of the file, or cot, cod, aot, tot, got, trm or adaptive with default "
               "options."),
    PHI__C_REF(agent, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]] (default: [compaction])."),
    PHI__C_REF(
        agent, failover, TEXTS, "provider", "[]",
        "Providers that take over when the model fails for good (default: those of [failover])."),
    PHI__C_LIST(agent, tools, "null", "Names of tools (default: enabled of [tools])."),
    PHI__C_REF(agent, sub_agents, TEXTS, "sub_agent", "null",
               "Sub-agents that are tools of the agent (default: all)."),
    PHI__C_REF(agent, mcp, TEXTS, "mcp", "null", "MCP servers of the agent (default: all)."),
    PHI__C_REF(agent, openapi, TEXTS, "openapi", "null",
               "OpenAPI specifications of the agent (default: all)."),
    PHI__C_TABLE(agent, format, format, "The format of the agent's answers."),
    PHI__C_TABLE(agent, policy, policy,
                 "Selects the messages that are sent (default: all of them)."),
    PHI__C_TABLE(agent, effects, effects,
                 "Selects the effects that the agent's tools may have on the tool state."),
    PHI__C_TABLE(agent, options, options, "Additional settings of the agent's requests."),
    PHI__C_PLAIN(
        agent, extra, VALUE, 0, "null",
        "Additional members of each request body: a table, or the table's JSON as a text."),
    PHI__C_TABLES(agent, raw_tools, raw_tool, "Tools that the provider itself offers, as JSON."),
    PHI__C_TEXT(agent, agent_id, 0, "The agent's id (default: random)."),
    PHI__C_TEXT(agent, session_id, 0, "The id of the agent's session (default: random)."),
    PHI__C_CHOICE_IN(
        agent, desc, keep, phi__keep_names, "\"complete\"",
        "Messages that stay after a failed or cancelled run: those of complete groups, or none."),
    PHI__C_CHOICE_IN(agent, desc.input, steering_mode, phi__queue_mode_names, "\"one_at_a_time\"",
                     "The number of steering messages that are taken at a time: one or all."),
    PHI__C_CHOICE_IN(agent, desc.input, follow_up_mode, phi__queue_mode_names, "\"one_at_a_time\"",
                     "The number of follow-up messages that are taken at a time: one or all."),
    PHI__C_INT_IN(agent, desc.input, queue_limit, 0, 1, 1000000, "64",
                  "Maximum number of messages that wait in one queue."),
    PHI__C_INT_IN(agent, desc.tool_options, repeat_warn_after, PHI__NO_LIMIT, 1, 4294967295, "3",
                  "The number of identical tool calls in a run at which phi warns the model."),
    PHI__C_INT_IN(agent, desc.tool_options, repeat_stop_after, PHI__NO_LIMIT, 1, 4294967295, "5",
                  "The number of identical tool calls in a run at which the run ends."),
    PHI__C_SECS(agent, desc.deadlines.decision_ms, "decision_timeout_secs", PHI__NO_LIMIT, "300",
                "Maximum number of seconds that a run waits for a decision, for example about a "
                "permission."),
    PHI__C_INT(agent, memory_limit_bytes, 0, 65536, 0, "null",
               "Maximum memory of the agent, in bytes (default: no limit)."),
    PHI__C_NAMES(agent, desc.memory.at_limit, "at_memory_limit", CHOICE, 0, phi__memory_names,
                 "\"compact\"",
                 "The action near memory_limit_bytes: compact the history, forget the oldest "
                 "turns, or stop."),
    PHI__C_INT(
        agent, event_queue_bytes, 0, 1024, 0, "262144",
        "Maximum bytes of events that wait for the program; at this size, phi stops reading."),
    PHI__C_INT(agent, max_event_bytes, 0, 1024, 0, "16777216",
               "Maximum size of one event of an answer, in bytes."),
    PHI__C_INT(agent, max_response_bytes, 0, 1024, 0, "268435456",
               "Maximum size of one answer, in bytes."),
    PHI__C_INT_IN(
        agent, desc.tool_options, max_result_bytes, PHI__NO_LIMIT, 64, 4294967295, "2097152",
        "Maximum size of the texts of one tool result, in bytes; phi cuts longer results."),
    PHI__C_INT_IN(agent, desc.tool_options, max_result_image_bytes, PHI__NO_LIMIT, 64, 4294967295,
                  "20971520",
                  "Maximum size of one image, document or sound in a tool result, in bytes."),
    PHI__C_PLAIN_AS(
        agent, desc.tool_options.result_directory, "result_directory", TEXT, PHI__CFG_PATH, "null",
        "A directory (absolute path) where phi keeps the whole text of tool results that it cuts."),
    PHI__C_FLAG_IN(agent, desc.options, capture_requests,
                   "Emits the request of each turn as an event."),
    PHI__C_FLAG_IN(agent, desc.options, disable_facts,
                   "Leaves facts out of the agent's requests.")};
PHI__TABLE_BASE(agent_base)

static const phi__cfg_field phi__agent_rows[] = {
    PHI__C_TABLE(agent, profile, profile, "The profile of all agents."),
    PHI__C_TABLES(agent, instances, agent_instance,
                  "The agents of the file (default: one agent with the name default).")};
PHI__TABLE_OF(agent, "agent", "The agent, or the settings that all agents of the file share.",
              phi__table_agent_base, false)

static const phi__cfg_field phi__agent_instance_rows[] = {
    PHI__C_TABLE(
        agent, profile, profile_inline,
        "A profile for this agent only. It overrides the profile that agent_profile names."),
    PHI__C_NAMED(agent, name, TEXT, PHI__CFG_NAME, "agent", "\"unnamed\"",
                 "The name by which the program finds the agent.")};
PHI__TABLE_OF(agent_instance, "agent.instances",
              "An agent. Unset fields have the values of [agent].", phi__table_agent_base, false)

/* ---- parts of an agent ---- */

static const char phi__format_names[] = "text json_object|json json_schema";

static const phi__cfg_field phi__format_rows[] = {
    PHI__C_NAMES(format, format.kind, "type", CHOICE, 0, phi__format_names, "\"text\"",
                 "text; json_object: any JSON object; json_schema: JSON that matches `schema`."),
    PHI__C_PLAIN(
        format, schema, VALUE, 0, "null",
        "A JSON Schema of an object: a table, the table's JSON as a text, or \"file:path\"."),
    PHI__C_PLAIN_AS(format, format.name, "name", TEXT, 0, "\"response\"",
                    "A name for the schema: letters, digits, - and _."),
    PHI__C_FLAG_IN(format, format, strict,
                   "Adapts the schema so that the provider can enforce it.")};
PHI__TABLE(format, "agent.format", "The format of answers.")

static const char phi__summaries_names[] = "use none request write";

static const char phi__role_names[] = "user=1 assistant=2";

static const char phi__include_names[] = "messages tools summaries";

static const phi__cfg_field phi__policy_rows[] = {
    PHI__C_INT(policy, max_input_tokens, PHI__NO_LIMIT, 1, 0, "8000",
               "Maximum number of tokens per request."),
    PHI__C_NONE(policy, reserve_output_tokens, no_reserve, "reserve_output_tokens", NULL,
                1000000000, "2000",
                "The part of max_input_tokens that stays free for the answer; 0: none."),
    PHI__C_U32(policy, max_messages, "null", "Maximum number of messages (default: no limit)."),
    PHI__C_U32(policy, max_turns, "null",
               "The number of newest turns that are sent (default: no limit)."),
    PHI__C_NONE(policy, keep_last_turns, keep_no_turns, "keep_last_turns", NULL, 1000000, "3",
                "Newest turns that the budget cannot leave out; 0: only the newest turn."),
    PHI__C_CHOICE(policy, summaries, phi__summaries_names, "\"use\"",
                  "use: sends summaries; none: sends none; request: asks the program for one; "
                  "write: writes one."),
    PHI__C_CHOICE(policy, summary_role, phi__role_names, "\"user\"", "The role of a summary."),
    PHI__C_NAMES(policy, include, "include", BITS, 0, phi__include_names,
                 "[\"messages\", \"tools\", \"summaries\"]",
                 "The kinds of messages that are sent.")};
PHI__TABLE_PLAIN(PHI__FN, policy, "agent.policy", "Selects the messages that are sent.")

static const char phi__effect_mode_names[] = "allow_all deny_all allow_list";

static const char phi__effect_op_names[] = "merge replace delete_keys set_path delete_path emit";

static const phi__cfg_field phi__effects_rows[] = {
    PHI__C_CHOICE(effects, mode, phi__effect_mode_names, "\"allow_all\"",
                  "Selects the effects that are applied: all, none, or those in `allow`."),
    PHI__C_NAMES(effects, allow, "allow", BITS, 0, phi__effect_op_names, "[]",
                 "The effects that mode = \"allow_list\" applies."),
    PHI__C_NAMES(effects, deny, "deny", BITS, 0, phi__effect_op_names, "[]",
                 "Effects that are never applied."),
    PHI__C_INT(effects, max_state_bytes, 0, 1, 1048576, "65536",
               "Maximum size of the tool state, in bytes.")};
PHI__TABLE_PLAIN(PHI__FN, effects, "agent.effects",
                 "Effects that tools may have on the tool state.")

/* ---- options, raw tools ---- */

static const phi__cfg_field phi__options_rows[] = {
    PHI__C_NUM(
        options, top_p, 0, 1, "null",
        "The probability mass to sample from, above 0 and at most 1 (default: the provider's)."),
    PHI__C_U32(options, top_k, "null",
               "The number of tokens to choose from (default: the provider's)."),
    PHI__C_COUNTED(options, stop, stop_count, NULL, "[]", "Texts that end an answer; at most 16."),
    PHI__C_HAS(options, seed, has_seed, "seed", INTEGER, 0, 9007199254740991, "null",
               "The seed of the sampling (default: none)."),
    PHI__C_TEXT(options, service_tier, 0,
                "A name that the provider defines, such as flex or priority."),
    PHI__C_FLAG(options, serial_calls, "Allows at most one tool call in an answer.")};
PHI__TABLE_PLAIN(
    PHI__FN, options, "agent.options",
    "Settings of requests. phi leaves out a setting that the protocol or the model does not take.")

static const phi__cfg_field phi__raw_tool_rows[] = {
    PHI__C_TEXT(
        raw_tool, protocol, PHI__REQUIRED,
        "The protocol of the requests that contain the tool, named as in `api` of a provider."),
    PHI__C_PLAIN(
        raw_tool, json, VALUE, PHI__REQUIRED, "null",
        "An element of the request's list of tools: a table, or the table's JSON as a text.")};
PHI__TABLE(
    raw_tool, "agent.raw_tools",
    "A tool that the provider itself offers. phi sends it unchanged after the agent's tools.")

/* ---- system prompts ---- */

static const phi__cfg_field phi__prompt_strategy_rows[] = {
    PHI__C_NAMED(prompt_strategy, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "system_prompt_strategy",
                 "null", "The name for references: \"{{name}}\"."),
    PHI__C_TEXT(prompt_strategy, description, 0, "A description for people."),
    PHI__C_ROW(prompt_strategy, blocks, "blocks", TABLES, 0, NULL, NULL, phi__table_prompt_block,
               NULL, 0, 0, "[]", "The blocks of a prompt.")};
PHI__TABLE_AS(static, prompt_strategy, "system_prompt_strategy.instances",
              "A template of a system prompt.", NULL, false, false)

static const phi__cfg_field phi__prompt_block_rows[] = {
    PHI__C_TEXT(prompt_block, name, PHI__REQUIRED,
                "The key that holds the block's text in a prompt."),
    PHI__C_INT(
        prompt_block, order, 0, -2147483647, 2147483647, "0",
        "The position of the block. Blocks of the same order stay in the order of the file."),
    PHI__C_INT(prompt_block, max_length, 0, 1, 0, "null",
               "Maximum number of characters; a longer text is cut (default: no limit).")};
PHI__TABLE(prompt_block, "system_prompt_strategy.instances.blocks", "A block of a system prompt.")

PHI__TABLE_LIST(static, prompt_strategies, "system_prompt_strategy", "Templates of system prompts.",
                prompt_strategy,
                "The templates. The names agent and minimal are built-in templates.")

PHI__TABLE_LIST(static, prompts, "system_prompt", "System prompts made of blocks.", prompt,
                "The prompts.")

static const phi__cfg_field phi__prompt_rows[] = {
    PHI__C_NAMED(prompt, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "system_prompt", "null",
                 "The name for references: \"{{name}}\"."),
    PHI__C_TEXT(prompt, description, 0, "A description for people."),
    PHI__C_NAMED(prompt, type, TEXT, PHI__ONLY_REFERENCE | PHI__REQUIRED, "system_prompt_strategy",
                 "null", "The template: \"{{system_prompt_strategy.name}}\", agent or minimal.")};
PHI__TABLE_OF(
    prompt, "system_prompt.instances",
    "A prompt. Any other key is a block: a text, or \"file:path\" relative to the workspace.", NULL,
    true)

/* ---- the tables of reasoning strategies and their options ---- */

#define PHI__C_PROMPT(of, member)                                                                  \
    PHI__C_TEXT(of, member, 0, "A system prompt that replaces phi's own.")
#define PHI__C_CALL(of)                                                                            \
    PHI__C_U32(of, max_tokens, "null", "Maximum output tokens per call (default: the agent's)."),  \
        PHI__C_TEMPERATURE(of, "The sampling temperature, 0 to 2 (default: the agent's)."),        \
        PHI__C_SECS(of, timeout_ms, "timeout_secs", 0, "null",                                     \
                    "Maximum number of seconds per call (default: call_timeout_secs).")

static const phi__cfg_field phi__cot_rows[] = {
    PHI__C_TEXT(cot, system_prompt, 0, "Tells the model how to think. Replaces phi's own prompt."),
    PHI__C_CALL(cot)};
PHI__TABLE_PLAIN(static, cot, "strategy.instances.cot", "Options of cot and cod.")

static const char phi__aot_profile_names[] = "standard short long";

static const char phi__aot_style_names[] = "dfs bfs";

static const phi__cfg_field phi__aot_rows[] = {
    PHI__C_CHOICE(aot, profile, phi__aot_profile_names, "\"standard\"",
                  "The number of worked examples in the prompt: two (standard), one (short) or "
                  "three (long)."),
    PHI__C_CHOICE(aot, style, phi__aot_style_names, "\"dfs\"",
                  "The search that the prompt asks for."),
    PHI__C_TEXT(
        aot, system_prompt, 0,
        "Replaces the role and the pattern in phi's own prompt, not the markers and the examples."),
    PHI__C_COUNTED(aot, examples, example_count, NULL, "[]",
                   "Worked searches that replace phi's own examples."),
    PHI__C_FLAG(aot, implicit_answer, "Accepts a solution without an answer line, too."),
    PHI__C_U32(aot, max_tokens, "2048", "Maximum output tokens of the call."),
    PHI__C_FLAG(aot, agent_temperature, "Sends the agent's temperature instead of `temperature`."),
    PHI__C_NUM(aot, temperature, 0, 2, "0.0", "The sampling temperature, 0 to 2."),
    PHI__C_SECS(aot, timeout_ms, "timeout_secs", 0, "null",
                "Maximum number of seconds of the call (default: call_timeout_secs).")};
PHI__TABLE_PLAIN(PHI__FN, aot, "strategy.instances.aot", "Options of aot.")

static const char phi__traversal_names[] = "bfs dfs";

static const phi__cfg_field phi__tot_rows[] = {
    PHI__C_CHOICE(tot, traversal, phi__traversal_names, "\"bfs\"",
                  "bfs: searches level by level; dfs: follows the best thought first, and goes "
                  "back if needed."),
    PHI__C_INT(tot, branching_factor, 0, 1, 1000, "8", "Maximum number of new thoughts per step."),
    PHI__C_INT(tot, evaluations, 0, 1, 1000, "3",
               "The number of calls that score the new thoughts of a step."),
    PHI__C_INT(tot, beam_width, 0, 1, 100000, "5",
               "The number of thoughts per level that bfs expands."),
    PHI__C_NUM(tot, value_threshold, 1e-06, 1, "0.4",
               "The lowest score of a thought that dfs expands."),
    PHI__C_INT(tot, max_depth, 0, 1, 1000, "3",
               "Maximum depth of a thought; first thoughts have depth 1."),
    PHI__C_INT(tot, min_depth, 0, 1, 1000, "2",
               "The least depth at which a thought can end the search early."),
    PHI__C_INT(tot, max_nodes, 0, 1, 100000, "100",
               "Maximum number of nodes, including the problem."),
    PHI__C_SECS(
        tot, max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "null",
        "Maximum number of seconds; then the best thought is the answer (default: no limit)."),
    PHI__C_INT(tot, top_k, 0, 1, 1000, "3", "The number of candidates in the result."),
    PHI__C_NUM(tot, early_success_threshold, 1e-06, 1, "1.0",
               "A score that ends the search at min_depth or deeper."),
    PHI__C_INT(tot, convergence_window, PHI__NO_LIMIT, 1, 4294967295, "null",
               "Ends the search after this many expansions without improvement, counted from "
               "max_depth on."),
    PHI__C_NUM(tot, min_score_improvement, 1e-06, 1, "0.02",
               "The least gain of the score that counts as an improvement."),
    PHI__C_INT(tot, max_parse_retries, 0, 1, 100, "1",
               "The number of attempts to repair an unreadable answer."),
    PHI__C_FLAG(tot, no_repair, "Ends the search at once if an answer is unreadable."),
    PHI__C_FLAG(tot, tools, "Lets the calls of the search use the agent's tools."),
    PHI__C_INT(tot, max_tool_rounds, 0, 1, 1000, "3", "Maximum number of tool rounds per call."),
    PHI__C_PROMPT(tot, generation_prompt),
    PHI__C_PROMPT(tot, evaluation_prompt),
    PHI__C_CALL(tot)};
PHI__TABLE_PLAIN(PHI__FN, tot, "strategy.instances.tot", "Options of tot.")

static const char phi__aggregation_names[] = "synthesis voting weighted";

static const phi__cfg_field phi__got_rows[] = {
    PHI__C_CHOICE(
        got, aggregation, phi__aggregation_names, "\"synthesis\"",
        "Makes the answer from the thoughts by one composing call, by votes, or by weights."),
    PHI__C_INT(got, generations, 0, 1, 1000, "2", "The number of generations of thoughts."),
    PHI__C_INT(got, branching_factor, 0, 1, 1000, "3",
               "Maximum number of thoughts per generation."),
    PHI__C_INT(got, max_nodes, 0, 1, 1000, "20",
               "Maximum number of nodes, including the problem and the answer."),
    PHI__C_INT(got, max_depth, 0, 1, 1000, "5",
               "Maximum depth of a thought; first thoughts have depth 1."),
    PHI__C_INT(got, votes, 0, 1, 1000, "3",
               "Maximum number of votes, with aggregation = \"voting\"."),
    PHI__C_INT(got, keep_best, 0, 1, 1000, "5",
               "The number of best-supported thoughts that are aggregated."),
    PHI__C_PROMPT(got, generation_prompt),
    PHI__C_PROMPT(got, connection_prompt),
    PHI__C_PROMPT(got, voting_prompt),
    PHI__C_PROMPT(got, weighing_prompt),
    PHI__C_PROMPT(got, aggregation_prompt),
    PHI__C_CALL(got)};
PHI__TABLE_PLAIN(PHI__FN, got, "strategy.instances.got", "Options of got.")

static const phi__cfg_field phi__trm_rows[] = {
    PHI__C_INT(trm, max_supervisions, 0, 1, 50, "5",
               "Maximum number of calls that score an answer."),
    PHI__C_INT(trm, reasoning_steps, 0, 1, 20, "1",
               "The number of calls that write notes before each improvement."),
    PHI__C_NUM(trm, threshold, 1e-06, 1, "0.9", "A score that ends the search."),
    PHI__C_PROMPT(trm, reason_prompt),
    PHI__C_PROMPT(trm, supervise_prompt),
    PHI__C_PROMPT(trm, improve_prompt),
    PHI__C_PROMPT(trm, notes_prompt),
    PHI__C_CALL(trm)};
PHI__TABLE_PLAIN(static, trm, "strategy.instances.trm", "Options of trm.")

static const char phi__adaptive_name_names[] = "react cot cod aot tot got trm";

static const phi__cfg_field phi__adaptive_rows[] = {
    PHI__C_NAMES(adaptive, strategy, "strategy", TEXT, 0, phi__adaptive_name_names, "null",
                 "A fixed strategy for all prompts (default: phi chooses by the prompt)."),
    PHI__C_NAMES(adaptive, default_strategy, "default_strategy", TEXT, 0, phi__adaptive_name_names,
                 "\"react\"", "The strategy if no rule chooses one."),
    PHI__C_COUNTED(adaptive, available, available_count, phi__adaptive_name_names,
                   "[\"react\", \"cot\", \"cod\", \"tot\", \"got\", \"trm\"]",
                   "The strategies that phi may choose."),
    PHI__C_INT(adaptive, max_tool_rounds, 0, 1, 1000, "9",
               "Maximum number of tool rounds of react."),
    PHI__C_NUM(adaptive, simple_below, 1e-06, 1, "0.3",
               "Prompts with a complexity below this number are simple."),
    PHI__C_NUM(adaptive, complex_above, 1e-06, 1, "0.7",
               "Prompts with a complexity above this number are hard."),
    PHI__C_TEXT(adaptive, puzzle_words, 0,
                "Words that mark a puzzle, separated by bars. The list replaces phi's own."),
    PHI__C_TEXT(adaptive, synthesis_words, 0,
                "Words that mark a combination, separated by bars. The list replaces phi's own."),
    PHI__C_TEXT(
        adaptive, tool_words, 0,
        "Words that mark a prompt for tools, separated by bars. The list replaces phi's own."),
    PHI__C_TEXT(adaptive, exploration_words, 0,
                "Words that mark an exploration, separated by bars. The list replaces phi's own."),
    PHI__C_TEXT(
        adaptive, complex_words, 0,
        "Words that raise the complexity, separated by bars. The list replaces phi's own.")};
PHI__TABLE_PLAIN(static, adaptive, "strategy.instances.adaptive", "Options of adaptive.")

static const char phi__strategy_type_names[] = "cot cod aot tot got trm adaptive";

static const phi__cfg_field phi__strategy_rows[] = {
    PHI__C_NAMED(strategy, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "strategy", "null",
                 "The name for references: \"{{name}}\" or \"{{%name%}}\"."),
    PHI__C_TEXT(strategy, description, 0, "A description for people."),
    PHI__C_NAMES(strategy, type, "type", CHOICE, PHI__REQUIRED, phi__strategy_type_names, "null",
                 "The kind of strategy."),
    PHI__C_INT(strategy, max_calls, PHI__NO_LIMIT, 1, 4294967295, "null",
               "Maximum number of model calls per prompt (default: as many as the options allow)."),
    PHI__C_SECS(strategy, call_timeout_ms, "call_timeout_secs", PHI__NO_LIMIT, "null",
                "Maximum number of seconds per model call (default: no limit)."),
    PHI__C_PART(strategy, cot, cot, "Options of a chain of thought."),
    PHI__C_PART(strategy, cod, cot, "Options of a chain of draft."),
    PHI__C_PART(strategy, aot, aot, "Options of an algorithm of thoughts."),
    PHI__C_PART(strategy, tot, tot, "Options of a tree of thoughts."),
    PHI__C_PART(strategy, got, got, "Options of a graph of thoughts."),
    PHI__C_PART(strategy, trm, trm, "Options of recursive refinement."),
    PHI__C_PART(
        strategy, adaptive, adaptive,
        "Options of adaptive. The strategies that adaptive chooses from have separate options.")};
PHI__TABLE(strategy, "strategy.instances", "A reasoning strategy.")

PHI__TABLE_LIST(static, strategies, "strategy", "Reasoning strategies, by name.", strategy,
                "The strategies.")

/* ---- sessions and tools ---- */

static const char phi__scope_names[] = "ephemeral persistent";

static const phi__cfg_field phi__session_rows[] = {
    PHI__C_CHOICE(
        session, scope, phi__scope_names, "\"ephemeral\"",
        "ephemeral: keeps threads in memory only; persistent: writes threads to a store."),
    PHI__C_TEXT(
        session, directory, PHI__CFG_PATH,
        "The directory of a persistent session's files. phi creates the directory if needed."),
    PHI__C_TEXT(session, thread, 0,
                "The id of the thread to continue. If the store has no such thread, phi creates "
                "the thread."),
    PHI__C_FLAG(session, sync,
                "Waits for the disk after each write. A loss of power then loses nothing.")};
PHI__TABLE(session, "session", "The storage of threads.")

static const char phi__tool_mode_names[] = "sequential=1 parallel=0 batched=2";

static const char phi__tool_choice_names[] = "auto none required";

static const phi__cfg_field phi__tools_rows[] = {
    PHI__C_LIST(tools, enabled, "[]",
                "Names of tools: built-in tools, tools of the program, and sub-agents."),
    PHI__C_ROW(
        tools, mode, "tool_strategy", CHOICE, 0, "strategy", phi__tool_mode_names, NULL, NULL, 0, 0,
        "\"parallel\"",
        "The order of a turn's calls: one after another, all at once, or batch_size at a time."),
    PHI__C_INT(tools, batch_size, 0, 1, 65536, "3",
               "The number of calls that run at a time, with tool_strategy = \"batched\"."),
    PHI__C_SECS(tools, timeout_ms, "timeout_secs", PHI__NO_LIMIT, "120",
                "Maximum number of seconds per call, for tools that set no limit."),
    PHI__C_INT(
        tools, defer_percent, PHI__NO_LIMIT, 1, 1000, "10",
        "MCP and OpenAPI tools are deferred if they take more than this percentage of the window."),
    PHI__C_CHOICE(
        tools, choice, phi__tool_choice_names, "\"auto\"",
        "auto: allows tool calls; none: forbids tool calls; required: demands a tool call.")};
PHI__TABLE(tools, "tools", "The tools of agents, and the order of tool calls.")

/* ---- compaction ---- */

static const char phi__compaction_scope_names[] = "runs tokens";

static const phi__cfg_field phi__compaction_base_rows[] = {
    PHI__C_BOOL(compaction, enabled, "true",
                "False turns compaction off, even if max_context_tokens is set."),
    PHI__C_INT_IN(compaction, config, max_context_tokens, 0, 1000, 1000000000, "null",
                  "The size of the window in tokens. Without this field, compaction is off."),
    PHI__C_INT_IN(compaction, config, system_prompt_tokens, 0, 1, 1000000000, "4000",
                  "Tokens reserved for the system prompt."),
    PHI__C_NUM_IN(compaction, config, compact_at_pct, 0.01, 1, "0.9",
                  "The part of the window that the conversation may fill, above 0 and at most 1."),
    PHI__C_NUM_AS(
        compaction, config.budget_threshold_pct, "compact_budget_threshold_pct", 0.001, 1, "0.05",
        "Compaction begins when less than this part of the window is left below compact_at_pct."),
    PHI__C_NONE(compaction, config.keep_first_turns, config.keep_no_first, "keep_first_turns",
                "keep_first", 1000000, "2",
                "The number of first turns of a run that stay unchanged; 0: none."),
    PHI__C_ROW(
        compaction, config.keep_recent_turns, "keep_recent_turns", INTEGER, 0, "keep_recent", NULL,
        NULL, NULL, 1, 1000000, "10",
        "The number of newest turns of a run that stay. Only their long tool results are cut."),
    PHI__C_INT_IN(compaction, config, max_summary_tokens, 0, 1, 1000000000, "2000",
                  "Maximum number of tokens per summary."),
    PHI__C_INT_IN(compaction, config, tool_output_max_lines, 0, 1, 1000000000, "50",
                  "The number of lines that a long tool result keeps."),
    PHI__C_TEXT_IN(
        compaction, config, focus_message,
        "A user message before each part that is summarized. It says what a summary must keep."),
    PHI__C_CHOICE_IN(compaction, config, scope, phi__compaction_scope_names, "\"runs\"",
                     "The earlier runs that get a summary each: the newest scope_runs, or those "
                     "within scope_tokens."),
    PHI__C_INT_IN(compaction, config, scope_runs, PHI__NO_LIMIT, 1, 1000000, "3",
                  "The number of earlier runs that get a summary each, with scope = \"runs\"."),
    PHI__C_INT_IN(compaction, config, scope_tokens, 0, 1, 1000000000, "null",
                  "Tokens of earlier runs that get a summary each; scope = \"tokens\" (default: "
                  "max_context_tokens).")};
PHI__TABLE_BASE(compaction_base)

static const phi__cfg_field phi__compaction_rows[] = {PHI__C_TABLES(
    compaction, instances, compaction_instance,
    "Named variations for agents and profiles: compaction = \"{{compaction.name}}\".")};
PHI__TABLE_OF(compaction, "compaction",
              "Shortens a conversation that nears the end of the context window.",
              phi__table_compaction_base, false)

static const phi__cfg_field phi__compaction_instance_rows[] = {
    PHI__C_NAMED(compaction, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "compaction", "null",
                 "The name for references: \"{{name}}\" or \"{{%name%}}\"."),
    PHI__C_TEXT(compaction, description, 0, "A description for people.")};
PHI__TABLE_OF(compaction_instance, "compaction.instances",
              "A named compaction. Unset fields have the values of [compaction].",
              phi__table_compaction_base, false)

static const phi__cfg_field phi__context_rows[] = {
    PHI__C_TABLE(context, compaction, compaction,
                 "The same as [compaction] at the top. A file may have only one of the two.")};
PHI__TABLE_AS(static, context, "context", "Another place for compaction.", NULL, false, false)

/* ---- runs ---- */

static const phi__cfg_field phi__retry_rows[] = {
    PHI__C_NONE(retry, max_retries, disable, "max_retries", NULL, 1000, "3",
                "The number of retries after the first attempt; 0: none."),
    PHI__C_INT(retry, initial_delay_ms, 0, 1, 3600000, "1000",
               "Milliseconds before the first retry."),
    PHI__C_NUM(retry, backoff_multiplier, 1, 1000, "2.0",
               "Each delay is the previous delay times this number."),
    PHI__C_INT(retry, max_delay_ms, 0, 1, 86400000, "30000",
               "The longest delay that phi itself computes, in milliseconds."),
    PHI__C_INT(retry, max_server_delay_ms, PHI__NO_LIMIT, 1, 4294967295, "60000",
               "The longest delay in milliseconds that a server may ask for; otherwise the call "
               "fails at once.")};
PHI__TABLE_PLAIN(PHI__FN, retry, "execution.retry", "Retries of failed model calls.")

static const char phi__cache_mode_names[] = "auto disabled manual";

static const phi__cfg_field phi__cache_rows[] = {
    PHI__C_BOOL(cache, enabled, "true", "False turns off all marks of prompt caching."),
    PHI__C_NAMES(
        cache, cache.mode, "strategy", CHOICE, PHI__CFG_LENIENT, phi__cache_mode_names, "\"auto\"",
        "auto: sends all marks; disabled: sends none; manual: sends the marks that are set here."),
    PHI__C_ALIAS(cache, cache.system, "system", "cache_system", BOOL, "false",
                 "With strategy = \"manual\": sends a mark after the system prompt."),
    PHI__C_ALIAS(cache, cache.tools, "tools", "cache_tools", BOOL, "false",
                 "With strategy = \"manual\": sends a mark after the last tool."),
    PHI__C_ALIAS(cache, cache.messages, "messages", "cache_messages", BOOL, "false",
                 "With strategy = \"manual\": sends a mark after the last user message."),
    PHI__C_FLAG_IN(
        cache, cache, one_hour,
        "Marks last one hour instead of five minutes (Claude). Writing then costs more.")};
PHI__TABLE(cache, "execution.cache", "Prompt caching.")

static const phi__cfg_field phi__budget_rows[] = {
    PHI__C_INT(budget, max_tokens, 0, 1, 0, "null",
               "Maximum number of tokens of every kind, over all runs."),
    PHI__C_NUM(budget, max_cost, 1e-06, 1000000000, "null",
               "Maximum cost in dollars, over all runs; needs [provider.cost]."),
    PHI__C_INT(budget, max_requests, 0, 1, 0, "null",
               "Maximum number of model calls, over all runs; retries do not count.")};
PHI__TABLE_PLAIN(static, budget, "execution.budget", "A budget over all runs.")

static const phi__cfg_field phi__deadlines_rows[] = {
    PHI__C_SECS(deadlines, connect_ms, "connect_secs", PHI__NO_LIMIT, "15",
                "Maximum number of seconds until the connection is made."),
    PHI__C_SECS(deadlines, first_event_ms, "first_event_secs", PHI__NO_LIMIT, "300",
                "Maximum number of seconds from the connection to the first event of an answer."),
    PHI__C_SECS(deadlines, idle_ms, "idle_secs", PHI__NO_LIMIT, "120",
                "Maximum number of seconds between two events of an answer."),
    PHI__C_SECS(deadlines, total_ms, "total_secs", PHI__NO_LIMIT, "null",
                "Maximum number of seconds per model call (default: only the limit of the run).")};
PHI__TABLE_PLAIN(static, deadlines, "execution.deadlines", "Time limits of a model call.")

static const phi__cfg_field phi__execution_rows[] = {
    PHI__C_INT_IN(execution, desc.limits, max_turns, PHI__NO_LIMIT, 1, 4294967295, "50",
                  "Maximum number of model calls per run."),
    PHI__C_RANGE(execution, desc.limits.max_tokens, "max_total_tokens", INTEGER, PHI__NO_LIMIT, 1,
                 0, "1000000", "Maximum number of input and output tokens per run."),
    PHI__C_SECS(execution, desc.limits.max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "600",
                "Maximum number of seconds per run."),
    PHI__C_NUM_IN(execution, desc.limits, max_cost, 1e-06, 1000000000, "null",
                  "Maximum cost per run in dollars; needs [provider.cost]."),
    PHI__C_FLAG_IN(execution, desc.limits, pause,
                   "Pauses a run at a limit instead of ending the run."),
    PHI__C_PART_IN(execution, desc, retry, retry,
                   "Retries of model calls after a temporary failure."),
    PHI__C_PART(execution, cache, cache, "Prompt caching."),
    PHI__C_PART_IN(execution, desc, budget, budget,
                   "Limits the spending of an agent and its sub-agents over all runs."),
    PHI__C_PART_IN(execution, desc, deadlines, deadlines, "Time limits of a model call.")};
PHI__TABLE(execution, "execution",
           "Limits of a run, retries, prompt caching, budget and deadlines.")

/* ---- the top ---- */

static const phi__cfg_field phi__top_rows[] = {
    PHI__C_PLAIN_AS(top, schema, "$schema", TEXT, 0, "null",
                    "The address of a JSON Schema for editors. phi ignores this field."),
    PHI__C_PLAIN(top, default_workspace, TEXT, PHI__CFG_PATH, "\".\"",
                 "The workspace of every agent that sets no other."),
    PHI__C_TABLE(top, agent, agent,
                 "The agent, or the settings that all agents of the file share."),
    PHI__C_TABLE(top, provider, provider, "The model of every agent that names no other provider."),
    PHI__C_REF(top, models, MAP, "provider", "{}",
               "Short names for providers: fast = \"{{provider.haiku}}\" makes \":fast\" a name of "
               "that provider."),
    PHI__C_TABLE(top, failover, failover, "Models that take over when a model fails for good."),
    PHI__C_TABLE(top, session, session, "The storage of threads."),
    PHI__C_TABLE(top, tools, tools, "The tools of agents, and the order of tool calls."),
    PHI__C_TABLE(top, compaction, compaction,
                 "Shortens a conversation that nears the end of the context window."),
    PHI__C_TABLE(top, context, context, "Another place for compaction: [context.compaction]."),
    PHI__C_TABLE(top, execution, execution,
                 "Limits of a run, retries, prompt caching, budget and deadlines."),
    PHI__C_TABLE(top, sub_agents, sub_agents, "Agents that other agents call as tools."),
    PHI__C_TABLE(top, strategy, strategies, "Reasoning strategies, by name."),
    PHI__C_TABLE(top, system_prompt_strategy, prompt_strategies,
                 "Templates of system prompts: the order and the lengths of the blocks."),
    PHI__C_TABLE(top, system_prompt, prompts, "System prompts made of blocks.")};
PHI__TABLE(top, "", "A configuration file.")
