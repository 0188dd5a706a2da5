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

/* Its other keys are its blocks: texts, or "file:path". */
typedef struct phi__cfg_prompt {
    uint64_t set;
    const char *id, *description, *type;
} phi__cfg_prompt;

static const phi__cfg_table *phi__table_profile_instance(void);
static const phi__cfg_table *phi__table_context(void);
static const phi__cfg_table *phi__table_prompt_strategy(void);

/* ---- the tables of what a model is asked with: providers, profiles, sub-agents, failover ---- */

static const phi__cfg_choice phi__api_names[] = {
    {"anthropic_messages", PHI__CFG_API_ANTHROPIC, false},
    {"anthropic", PHI__CFG_API_ANTHROPIC, true},
    {"openai_completions", PHI__CFG_API_OPENAI_CHAT, false},
    {"openai", PHI__CFG_API_OPENAI_CHAT, true},
    {"open_ai_completions", PHI__CFG_API_OPENAI_CHAT, true},
    {"openai_responses", PHI__CFG_API_OPENAI_RESPONSES, false},
    {"open_ai_responses", PHI__CFG_API_OPENAI_RESPONSES, true},
    {"azure_openai_responses", PHI__CFG_API_AZURE, false},
    {"azure", PHI__CFG_API_AZURE, true},
    {"azure_open_ai_responses", PHI__CFG_API_AZURE, true},
    {"google_generative_ai", PHI__CFG_API_GOOGLE, false},
    {"google", PHI__CFG_API_GOOGLE, true},
    {"gemini", PHI__CFG_API_GOOGLE, true},
    {"google_vertex", PHI__CFG_API_VERTEX, false},
    {"vertex", PHI__CFG_API_VERTEX, true},
    {"google_interactions", PHI__CFG_API_INTERACTIONS, false},
    {"interactions", PHI__CFG_API_INTERACTIONS, true},
    {"bedrock_converse_stream", PHI__CFG_API_BEDROCK, false},
    {"bedrock", PHI__CFG_API_BEDROCK, true},
    {"", 0, false}};
const phi__cfg_choice *phi__table_api(void) { return phi__api_names; }

static const phi__cfg_choice phi__preset_names[] = {
    {"anthropic", PHI__CFG_PRESET_ANTHROPIC, false},
    {"openai", PHI__CFG_PRESET_OPENAI, false},
    {"openai_responses", PHI__CFG_PRESET_OPENAI_RESPONSES, false},
    {"azure", PHI__CFG_PRESET_AZURE, false},
    {"openrouter", PHI__CFG_PRESET_OPENROUTER, false},
    {"xai", PHI__CFG_PRESET_XAI, false},
    {"groq", PHI__CFG_PRESET_GROQ, false},
    {"cerebras", PHI__CFG_PRESET_CEREBRAS, false},
    {"mistral", PHI__CFG_PRESET_MISTRAL, false},
    {"deepseek", PHI__CFG_PRESET_DEEPSEEK, false},
    {"together", PHI__CFG_PRESET_TOGETHER, false},
    {"qwen", PHI__CFG_PRESET_QWEN, false},
    {"moonshot", PHI__CFG_PRESET_MOONSHOT, false},
    {"zai", PHI__CFG_PRESET_ZAI, false},
    {"google", PHI__CFG_PRESET_GOOGLE, false},
    {"vertex", PHI__CFG_PRESET_VERTEX, false},
    {"interactions", PHI__CFG_PRESET_INTERACTIONS, false},
    {"bedrock", PHI__CFG_PRESET_BEDROCK, false},
    {"fireworks", PHI__CFG_PRESET_FIREWORKS, false},
    {"minimax", PHI__CFG_PRESET_MINIMAX, false},
    {"ollama", PHI__CFG_PRESET_OLLAMA, false},
    {"llama_cpp", PHI__CFG_PRESET_LLAMA_CPP, false},
    {"vllm", PHI__CFG_PRESET_VLLM, false},
    {"lm_studio", PHI__CFG_PRESET_LM_STUDIO, false},
    {"litellm", PHI__CFG_PRESET_LITELLM, false},
    {"local", PHI__CFG_PRESET_LOCAL, false},
    {"", 0, false}};
const phi__cfg_choice *phi__table_preset(void) { return phi__preset_names; }

/* The number of each bit, since an int has no room for the bits themselves. */
static const phi__cfg_choice phi__quirk_names[] = {{"max_completion_tokens", 0, false},
                                                   {"developer_role", 1, false},
                                                   {"store_false", 2, false},
                                                   {"reasoning_effort", 3, false},
                                                   {"reasoning_object", 4, false},
                                                   {"thinking_type", 5, false},
                                                   {"enable_thinking", 6, false},
                                                   {"no_stream_usage", 7, false},
                                                   {"tool_name_in_result", 8, false},
                                                   {"replay_reasoning", 9, false},
                                                   {"reasoning_required", 10, false},
                                                   {"empty_content", 11, false},
                                                   {"id_9", 12, false},
                                                   {"thinking_parts", 13, false},
                                                   {"cache_key", 14, false},
                                                   {"open_key", 15, false},
                                                   {"tool_stream", 16, false},
                                                   {"empty_is_overflow", 17, false},
                                                   {"adaptive_thinking", 18, false},
                                                   {"cache_control", 19, false},
                                                   {"no_images", 20, false},
                                                   {"assistant_after_tool", 21, false},
                                                   {"reasoning_enabled", 22, false},
                                                   {"reasoning_format", 23, false},
                                                   {"tool_choice_any", 24, false},
                                                   {"prompt_mode", 25, false},
                                                   {"template_thinking", 26, false},
                                                   {"keep_thinking", 27, false},
                                                   {"empty_tools", 28, false},
                                                   {"no_json_schema", 29, false},
                                                   {"format_alone", 30, false},
                                                   {"strict_tools", 31, false},
                                                   {"think_tags", 32, false},
                                                   {"think_open", 33, false},
                                                   {"text_calls", 34, false},
                                                   {"repair_calls", 35, false},
                                                   {"", 0, false}};
const phi__cfg_choice *phi__table_quirk_names(void) { return phi__quirk_names; }

static uint64_t phi__table_quirk_bits(const phi__cfg_texts *texts) {
    uint64_t bits = 0;
    for (size_t i = 0; i < texts->count; i++) {
        const phi__cfg_choice *choice =
            phi__cfg_take_choice(phi__quirk_names, phi_str_of(texts->at[i]));
        if (choice != NULL) bits |= phi__table_quirk_bit(choice);
    }
    return bits;
}

static const phi__cfg_choice phi__max_tokens_field_names[] = {
    {"max_tokens", 0, false},
    {"max_completion_tokens", PHI_QUIRK_MAX_COMPLETION_TOKENS, false},
    {"", 0, false}};

static const phi__cfg_choice phi__reasoning_names[] = {
    {"none", 0, false},
    {"openai", PHI_QUIRK_REASONING_EFFORT, false},
    {"open_ai", PHI_QUIRK_REASONING_EFFORT, true},
    {"effort", PHI_QUIRK_REASONING_EFFORT, true},
    {"xai", 0, false},
    {"openrouter", PHI_QUIRK_REASONING_OBJECT, false},
    {"open_router", PHI_QUIRK_REASONING_OBJECT, true},
    {"qwen", PHI_QUIRK_ENABLE_THINKING, false},
    {"zai", PHI_QUIRK_THINKING_TYPE, false},
    {"together", PHI_QUIRK_REASONING_ENABLED, false},
    {"groq", PHI_QUIRK_REASONING_FORMAT, false},
    {"vllm", PHI_QUIRK_TEMPLATE_THINKING, false},
    {"", 0, false}};

static const phi__cfg_field phi__provider_base_rows[] = {
    PHI__C_CHOICE(provider, preset, phi__preset_names, "null",
                  "A server that phi knows: sets api, base_url, provider and compat, which "
                  "may be set as well."),
    PHI__C_PLAIN(provider, model, TEXT, 0, "\"unknown\"", "The model id that the API knows."),
    PHI__C_PLAIN(provider, api_key, TEXT, PHI__CFG_SECRET, "\"\"",
                 "The key; better as \"${NAME}\" than in the file."),
    PHI__C_CHOICE(provider, api, phi__api_names, "\"anthropic_messages\"",
                  "The protocol of the API; it is not guessed from the model."),
    PHI__C_ROW(provider, base_url, "base_url", TEXT, 0, "url", NULL, NULL, NULL, 0, 0, "null",
               "The address of the API (default: that of the protocol or preset)."),
    PHI__C_PLAIN(provider, provider, TEXT, 0, "\"anthropic\"",
                 "The name of the provider, for logs and ids."),
    PHI__C_NAMED(provider, name, TEXT, PHI__CFG_NAME, "provider", "null",
                 "The name of the model, for people (default: model)."),
    PHI__C_TEXT(provider, description, 0, "For people."),
    PHI__C_BOOL(provider, reasoning, "false",
                "The model can think; thinking_level is not sent to one that cannot."),
    PHI__C_INT(provider, context_window, 0, 1, 4294967295, "200000",
               "Tokens that the model can take."),
    PHI__C_INT(provider, max_tokens, 0, 1, 4294967295, "8192",
               "Output tokens of a model call at most."),
    PHI__C_TABLE(provider, cost, phi__table_cost,
                 "Dollars per million tokens; needed by every max_cost."),
    PHI__C_PLAIN(provider, headers, MAP, PHI__CFG_SECRET, "{}", "Further HTTP headers, by name."),
    PHI__C_TEXT(provider, api_version, 0,
                "anthropic_messages: the header anthropic-version (default 2023-06-01)."),
    PHI__C_TABLE(provider, compat, phi__table_compat, "How the server differs from OpenAI's own."),
    PHI__C_PLAIN(provider, extra, VALUE, 0, "null",
                 "Members added to the body of each request: a table, or its JSON as a text.")};
static const phi__cfg_table phi__provider_base_is = {"", "", PHI__ROWS(phi__provider_base_rows)};
static const phi__cfg_table *phi__table_provider_base(void) { return &phi__provider_base_is; }

static const phi__cfg_field phi__provider_rows[] = {
    PHI__C_TABLES(provider, instances, phi__table_provider_instance, "Named providers.")};
static const phi__cfg_table phi__provider_is = {
    "provider", "The model of every agent that names no other.",
    PHI__ROWS_OF(phi__provider_rows, phi__table_provider_base, false)};
const phi__cfg_table *phi__table_provider(void) { return &phi__provider_is; }

static const phi__cfg_field phi__provider_instance_rows[] = {
    PHI__C_NAMED(provider, id, TEXT, PHI__CFG_ID, "provider", "null",
                 "Its name for references: \"{{name}}\" or \"{{%name%}}\" (default: name).")};
static const phi__cfg_table phi__provider_instance_is = {
    "provider.instances", "A named provider: it takes nothing of [provider].",
    PHI__ROWS_OF(phi__provider_instance_rows, phi__table_provider_base, false)};
const phi__cfg_table *phi__table_provider_instance(void) { return &phi__provider_instance_is; }

static const phi__cfg_field phi__cost_rows[] = {
    PHI__C_NUM_AS(cost, cost.input, "input_per_million", 0, 1000000, "0.0", "Input tokens."),
    PHI__C_NUM_AS(cost, cost.output, "output_per_million", 0, 1000000, "0.0", "Output tokens."),
    PHI__C_NUM_AS(cost, cost.cache_read, "cache_read_per_million", 0, 1000000, "0.0",
                  "Input tokens read from the prompt cache."),
    PHI__C_NUM_AS(cost, cost.cache_write, "cache_write_per_million", 0, 1000000, "0.0",
                  "Input tokens written to the prompt cache.")};
static const phi__cfg_table phi__cost_is = {"provider.cost", "Dollars per million tokens.",
                                            PHI__ROWS(phi__cost_rows)};
const phi__cfg_table *phi__table_cost(void) { return &phi__cost_is; }

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
    PHI__C_CHOICES(compat, quirks, phi__quirk_names, "[]",
                   "Further differences, by the names of PHI_QUIRK_ in lower case."),
    PHI__C_CHOICES(compat, without, phi__quirk_names, "[]",
                   "Differences of the preset that do not apply.")};
static const phi__cfg_table phi__compat_is = {
    "provider.compat",
    "How a server differs from OpenAI's own; fields that are not set are as the preset has them.",
    PHI__ROWS(phi__compat_rows)};
const phi__cfg_table *phi__table_compat(void) { return &phi__compat_is; }

/* Bits that say how a thinking level is sent: one of them at most counts. */
#define PHI__CFG_REASONING                                                                         \
    (PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_REASONING_OBJECT | PHI_QUIRK_ENABLE_THINKING |         \
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REASONING_ENABLED | PHI_QUIRK_REASONING_FORMAT |          \
     PHI_QUIRK_TEMPLATE_THINKING)

uint64_t phi__table_quirks(const phi__cfg_compat *compat, uint64_t quirks) {
    /* in the order of the table's fields; the third one is true where the quirk is not there */
    static const struct {
        uint64_t bit;
        bool inverse;
    } flags[] = {{PHI_QUIRK_STORE_FALSE, false},         {PHI_QUIRK_DEVELOPER_ROLE, false},
                 {PHI_QUIRK_REASONING_EFFORT, false},    {PHI_QUIRK_NO_STREAM_USAGE, true},
                 {PHI_QUIRK_TOOL_NAME_IN_RESULT, false}, {PHI_QUIRK_ASSISTANT_AFTER_TOOL, false}};
    const bool values[] = {compat->supports_store,
                           compat->supports_developer_role,
                           compat->supports_reasoning_effort,
                           compat->supports_usage_in_streaming,
                           compat->requires_tool_result_name,
                           compat->requires_assistant_after_tool_result};
    const phi__cfg_table *table = phi__table_compat();
    for (size_t i = 0; i < PHI__COUNT(flags); i++)
        if ((compat->set >> i & 1) != 0)
            quirks = values[i] != flags[i].inverse ? quirks | flags[i].bit : quirks & ~flags[i].bit;
    if (phi__fields_has(table, compat, "max_tokens_field"))
        quirks = (quirks & ~(uint64_t)PHI_QUIRK_MAX_COMPLETION_TOKENS) |
                 (uint64_t)compat->max_tokens_field;
    if (phi__fields_has(table, compat, "reasoning_format"))
        quirks = (quirks & ~(uint64_t)PHI__CFG_REASONING) | (uint64_t)compat->reasoning_format;
    quirks |= phi__table_quirk_bits(&compat->quirks);
    return quirks & ~phi__table_quirk_bits(&compat->without);
}

/* ---- profiles ---- */

static const phi__cfg_choice phi__thinking_names[] = {
    {"off", PHI_THINKING_OFF, false},   {"minimal", PHI_THINKING_MINIMAL, false},
    {"low", PHI_THINKING_LOW, false},   {"medium", PHI_THINKING_MEDIUM, false},
    {"high", PHI_THINKING_HIGH, false}, {"xhigh", PHI_THINKING_XHIGH, false},
    {"max", PHI_THINKING_MAX, false},   {"", 0, false}};
const phi__cfg_choice *phi__table_thinking(void) { return phi__thinking_names; }

static const phi__cfg_field phi__profile_base_rows[] = {
    PHI__C_TEXT(profile, name, 0, "A name for people."),
    PHI__C_TEXT(profile, description, 0, "For people."),
    PHI__C_NAMED(
        profile, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE, "system_prompt", "null",
        "The prompt, \"file:path\" relative to the workspace, or \"{{system_prompt.name}}\"."),
    PHI__C_CHOICE_AS(profile, thinking, "thinking_level", phi__thinking_names, "\"off\"",
                     "How much the model thinks before it answers."),
    PHI__C_NUM(profile, temperature, 0, 2, "null", "0 to 2 (default: the provider's)."),
    PHI__C_INT(profile, max_tokens, 0, 1, 4294967295, "null",
               "Output tokens of a model call at most (default: max_tokens of the provider)."),
    PHI__C_TEXT(profile, config_id, 0, "A stable part of the ids of runs."),
    PHI__C_PLAIN(profile, skills, TEXTS, 0, "[]",
                 "Names of skills; they are no tools. Needs phi_tools.h."),
    PHI__C_TEXT(profile, workspace, PHI__CFG_PATH,
                "The working directory of tools and of \"file:\" paths."),
    PHI__C_REF(profile, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]].")};
static const phi__cfg_table phi__profile_base_is = {"", "", PHI__ROWS(phi__profile_base_rows)};
static const phi__cfg_table *phi__table_profile_base(void) { return &phi__profile_base_is; }

static const phi__cfg_field phi__profile_rows[] = {
    PHI__C_TEXT(profile, profile_id, 0, "The id of the profile (default: random)."),
    PHI__C_TABLES(profile, instances, phi__table_profile_instance,
                  "Named variations of the profile.")};
static const phi__cfg_table phi__profile_is = {
    "agent.profile",
    "What an agent is, apart from its model; a blueprint for all agents of the file.",
    PHI__ROWS_OF(phi__profile_rows, phi__table_profile_base, false)};
const phi__cfg_table *phi__table_profile(void) { return &phi__profile_is; }

static const phi__cfg_field phi__profile_instance_rows[] = {
    PHI__C_NAMED(profile, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "agent_profile", "null",
                 "Its name: \"{{name}}\" or \"{{%name%}}\".")};
static const phi__cfg_table phi__profile_instance_is = {
    "agent.profile.instances", "A named profile: what it does not set is as in [agent.profile].",
    PHI__ROWS_OF(phi__profile_instance_rows, phi__table_profile_base, false)};
static const phi__cfg_table *phi__table_profile_instance(void) { return &phi__profile_instance_is; }

static const phi__cfg_field phi__profile_inline_rows[] = {
    PHI__C_TEXT(profile, profile_id, 0, "The id of the profile (default: random).")};
static const phi__cfg_table phi__profile_inline_is = {
    "agent.instances.profile", "A profile of this instance alone.",
    PHI__ROWS_OF(phi__profile_inline_rows, phi__table_profile_base, false)};
static const phi__cfg_table *phi__table_profile_inline(void) { return &phi__profile_inline_is; }

/* ---- sub-agents ---- */

static const phi__cfg_field phi__sub_agents_rows[] = {
    PHI__C_TABLES(instances, instances, phi__table_sub_agent, "The sub-agents.")};
static const phi__cfg_table phi__sub_agents_is = {"sub_agents", "Agents that are tools of agents.",
                                                  PHI__ROWS(phi__sub_agents_rows)};
static const phi__cfg_table *phi__table_sub_agents(void) { return &phi__sub_agents_is; }

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
    PHI__C_ROW(sub_agent, base_url, "base_url", TEXT, 0, "url", NULL, NULL, NULL, 0, 0, "null",
               "Another address of the API."),
    PHI__C_CHOICE(sub_agent, api, phi__api_names, "null", "Another protocol of the API."),
    PHI__C_REF(sub_agent, strategy, TEXT, "strategy", "null",
               "A strategy of [[strategy.instances]] (default: none)."),
    PHI__C_REF(sub_agent, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]] (default: none)."),
    PHI__C_INT_AS(sub_agent, limits.max_turns, "max_turns", PHI__NO_LIMIT, 1, 4294967295, "10",
                  "Model calls at most."),
    PHI__C_INT_AS(sub_agent, limits.max_tokens, "max_total_tokens", PHI__NO_LIMIT, 1, 0, "1000000",
                  "Input and output tokens at most."),
    PHI__C_SECS(sub_agent, limits.max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "300",
                "Seconds that it may take."),
    PHI__C_NUM_AS(sub_agent, limits.max_cost, "max_cost", 1e-06, 1000000000, "null",
                  "Dollars at most; needs cost rates of its provider."),
    PHI__C_CHOICE_AS(sub_agent, thinking, "thinking_level", phi__thinking_names, "\"off\"",
                     "How much the model thinks before it answers."),
    PHI__C_NUM(sub_agent, temperature, 0, 2, "null", "0 to 2 (default: the provider's)."),
    PHI__C_INT(sub_agent, max_tokens, 0, 1, 4294967295, "null",
               "Output tokens of a model call at most (default: max_tokens of the provider)."),
    PHI__C_PLAIN(sub_agent, tools, TEXTS, 0, "[]", "Names of its tools."),
    PHI__C_REF(sub_agent, sub_agents, TEXTS, "sub_agent", "[]",
               "Sub-agents of its own; max_depth must allow them."),
    PHI__C_REF(sub_agent, mcp, TEXTS, "mcp", "[]", "MCP servers of its own."),
    PHI__C_REF(sub_agent, openapi, TEXTS, "openapi", "[]", "OpenAPI specifications of its own."),
    PHI__C_PLAIN(sub_agent, skills, TEXTS, 0, "[]", "Names of skills. Needs phi_tools.h."),
    PHI__C_INT(sub_agent, keep, 0, 0, 65536, "0",
               "Finished children that stay, so that the model can continue one."),
    PHI__C_INT(sub_agent, max_depth, 0, 1, 64, "1",
               "It gets sub-agents only where it is fewer than so many levels below the top."),
    PHI__C_SECS(sub_agent, timeout_ms, "timeout_secs", PHI__NO_LIMIT, "null",
                "Seconds that a call may take (default: the limits of its run)."),
    PHI__C_BOOL(sub_agent, show_events, "false", "Its events are emitted to the program, too.")};
static const phi__cfg_table phi__sub_agent_is = {
    "sub_agents.instances", "A sub-agent. Unset, its workspace is that of the agent that calls it.",
    PHI__ROWS(phi__sub_agent_rows)};
const phi__cfg_table *phi__table_sub_agent(void) { return &phi__sub_agent_is; }

/* ---- failover ---- */

static const phi__cfg_choice phi__failover_on_names[] = {{"network", 1, false},
                                                         {"server", 2, false},
                                                         {"rate_limited", 4, false},
                                                         {"quota", 8, false},
                                                         {"auth", 16, false},
                                                         {"no_model", 32, false},
                                                         {"overflow", 64, false},
                                                         {"content_filter", 128, false},
                                                         {"invalid_request", 256, false},
                                                         {"", 0, false}};
const phi__cfg_choice *phi__table_failover_on(void) { return phi__failover_on_names; }

static const phi__cfg_choice phi__stay_names[] = {
    {"run", 0, false}, {"for", 1, false}, {"ever", 2, false}, {"", 0, false}};

static const phi__cfg_field phi__failover_rows[] = {
    PHI__C_NAMED(failover, models, TEXTS, PHI__ONLY_REFERENCE | PHI__REQUIRED, "provider", "[]",
                 "Providers of [[provider.instances]], or aliases of [models], in this order."),
    PHI__C_CHOICES(failover, on, phi__failover_on_names,
                   "[\"network\", \"server\", \"rate_limited\", \"quota\", \"auth\", "
                   "\"no_model\", \"overflow\"]",
                   "The failures that lead to the next model."),
    PHI__C_INT(failover, max_switches, PHI__NO_LIMIT, 1, 4294967295, "null",
               "Switches of a run at most (default: as many as there are models)."),
    PHI__C_CHOICE(failover, stay, phi__stay_names, "\"run\"",
                  "How long an agent keeps a model that it went to: for the run, for stay_secs, "
                  "or for ever."),
    PHI__C_SECS(failover, stay_ms, "stay_secs", PHI__NO_LIMIT, "300",
                "Seconds, with stay \"for\".")};
static const phi__cfg_table phi__failover_is = {
    "failover", "Other models to go on with when one fails for good.",
    PHI__ROWS(phi__failover_rows)};
const phi__cfg_table *phi__table_failover(void) { return &phi__failover_is; }

/* ---- the tables of agents and system prompts ---- */

static const phi__cfg_choice phi__keep_names[] = {
    {"complete", PHI_KEEP_COMPLETE, false}, {"none", PHI_KEEP_NONE, false}, {"", 0, false}};

static const phi__cfg_choice phi__queue_mode_names[] = {
    {"one_at_a_time", PHI_QUEUE_ONE_AT_A_TIME, false},
    {"all", PHI_QUEUE_ALL, false},
    {"", 0, false}};

static const phi__cfg_choice phi__memory_names[] = {{"compact", PHI_AT_MEMORY_LIMIT_COMPACT, false},
                                                    {"forget", PHI_AT_MEMORY_LIMIT_FORGET, false},
                                                    {"stop", PHI_AT_MEMORY_LIMIT_STOP, false},
                                                    {"", 0, false}};

static const phi__cfg_field phi__agent_base_rows[] = {
    PHI__C_NAMED(agent, system_prompt, TEXT, PHI__CFG_FILE | PHI__CFG_REFERENCE, "system_prompt",
                 "null",
                 "The prompt, \"file:path\" or \"{{system_prompt.name}}\"; it comes before that "
                 "of the profile."),
    PHI__C_TEXT(agent, workspace, PHI__CFG_PATH,
                "The working directory of tools and of \"file:\" paths."),
    PHI__C_REF(
        agent, provider, TEXT, "provider", "null",
        "A provider of [[provider.instances]], or an alias of [models] (default: [provider])."),
    PHI__C_REF(agent, agent_profile, TEXT, "agent_profile", "null",
               "A profile of [[agent.profile.instances]] (default: [agent.profile])."),
    PHI__C_REF(agent, strategy, TEXT, "strategy", "null",
               "A strategy of the file, or cot, cod, aot, tot, got, trm or adaptive with its "
               "defaults."),
    PHI__C_REF(agent, compaction, TEXT, "compaction", "null",
               "A compaction of [[compaction.instances]] (default: [compaction])."),
    PHI__C_REF(
        agent, failover, TEXTS, "provider", "[]",
        "Providers to go on with when the model fails for good (default: those of [failover])."),
    PHI__C_PLAIN(agent, tools, TEXTS, 0, "null",
                 "Names of tools (default: those of [tools] enabled)."),
    PHI__C_REF(agent, sub_agents, TEXTS, "sub_agent", "null",
               "Sub-agents that are tools of the agent (default: all)."),
    PHI__C_REF(agent, mcp, TEXTS, "mcp", "null", "MCP servers of the agent (default: all)."),
    PHI__C_REF(agent, openapi, TEXTS, "openapi", "null",
               "OpenAPI specifications of the agent (default: all)."),
    PHI__C_TABLE(agent, format, phi__table_format, "The format of its answers."),
    PHI__C_TABLE(agent, policy, phi__table_policy,
                 "Which messages are sent (default: all of them)."),
    PHI__C_TABLE(agent, effects, phi__table_effects,
                 "Which effects its tools may have on the tool state."),
    PHI__C_TABLE(agent, options, phi__table_options, "Further settings of its requests."),
    PHI__C_PLAIN(agent, extra, VALUE, 0, "null",
                 "Members added to the body of each request: a table, or its JSON as a text."),
    PHI__C_TABLES(agent, raw_tools, phi__table_raw_tool, "The provider's own tools, as JSON."),
    PHI__C_TEXT(agent, agent_id, 0, "Its id (default: random)."),
    PHI__C_TEXT(agent, session_id, 0, "The id of its session (default: random)."),
    PHI__C_CHOICE(agent, keep, phi__keep_names, "\"complete\"",
                  "Messages that a failed run leaves: its complete groups, or none."),
    PHI__C_CHOICE(agent, steering_mode, phi__queue_mode_names, "\"one_at_a_time\"",
                  "How many steering messages are taken at a time."),
    PHI__C_CHOICE(agent, follow_up_mode, phi__queue_mode_names, "\"one_at_a_time\"",
                  "How many follow-up messages are taken at a time."),
    PHI__C_INT(agent, queue_limit, 0, 1, 1000000, "64", "Messages that may wait in a queue."),
    PHI__C_INT(agent, repeat_warn_after, PHI__NO_LIMIT, 1, 4294967295, "3",
               "Equal calls of a tool in a run before the model is warned."),
    PHI__C_INT(agent, repeat_stop_after, PHI__NO_LIMIT, 1, 4294967295, "5",
               "Equal calls of a tool in a run before the run ends."),
    PHI__C_SECS(agent, decision_timeout_ms, "decision_timeout_secs", PHI__NO_LIMIT, "300",
                "Seconds that a run waits for a decision, as about a permission."),
    PHI__C_INT(agent, memory_limit_bytes, 0, 65536, 0, "null",
               "Memory of the agent at most (default: no limit)."),
    PHI__C_CHOICE(agent, at_memory_limit, phi__memory_names, "\"compact\"",
                  "What it does near memory_limit_bytes: compact the history, forget the "
                  "oldest turns, or stop."),
    PHI__C_INT(agent, event_queue_bytes, 0, 1024, 0, "262144",
               "Events that wait for the program, in bytes, before reading stops."),
    PHI__C_INT(agent, max_event_bytes, 0, 1024, 0, "16777216", "Bytes of one event of an answer."),
    PHI__C_INT(agent, max_response_bytes, 0, 1024, 0, "268435456", "Bytes of one answer."),
    PHI__C_INT(agent, max_result_bytes, PHI__NO_LIMIT, 64, 4294967295, "2097152",
               "Bytes of the texts of one tool result; longer ones are cut."),
    PHI__C_INT(agent, max_result_image_bytes, PHI__NO_LIMIT, 64, 4294967295, "20971520",
               "Bytes of one image, document or sound of a tool result."),
    PHI__C_TEXT(agent, result_directory, PHI__CFG_PATH,
                "Where results that are cut are kept whole; an absolute path."),
    PHI__C_BOOL(agent, capture_requests, "false", "Emit the request of each turn as an event."),
    PHI__C_BOOL(agent, disable_facts, "false", "Its requests show no facts.")};
static const phi__cfg_table phi__agent_base_is = {"", "", PHI__ROWS(phi__agent_base_rows)};
static const phi__cfg_table *phi__table_agent_base(void) { return &phi__agent_base_is; }

static const phi__cfg_field phi__agent_rows[] = {
    PHI__C_TABLE(agent, profile, phi__table_profile, "The profile of all agents."),
    PHI__C_TABLES(agent, instances, phi__table_agent_instance,
                  "The agents of the file (default: one, named default).")};
static const phi__cfg_table phi__agent_is = {
    "agent", "The agent, or what all agents of the file have in common.",
    PHI__ROWS_OF(phi__agent_rows, phi__table_agent_base, false)};
const phi__cfg_table *phi__table_agent(void) { return &phi__agent_is; }

static const phi__cfg_field phi__agent_instance_rows[] = {
    PHI__C_TABLE(agent, profile, phi__table_profile_inline,
                 "A profile of this agent alone, over the one that it refers to."),
    PHI__C_NAMED(agent, name, TEXT, PHI__CFG_NAME, "agent", "\"unnamed\"",
                 "Its name, by which the program asks for it.")};
static const phi__cfg_table phi__agent_instance_is = {
    "agent.instances", "An agent: what it does not set is as in [agent].",
    PHI__ROWS_OF(phi__agent_instance_rows, phi__table_agent_base, false)};
const phi__cfg_table *phi__table_agent_instance(void) { return &phi__agent_instance_is; }

/* ---- parts of an agent ---- */

static const phi__cfg_choice phi__format_names[] = {{"text", PHI_FORMAT_TEXT, false},
                                                    {"json_object", PHI_FORMAT_JSON_OBJECT, false},
                                                    {"json", PHI_FORMAT_JSON_OBJECT, true},
                                                    {"json_schema", PHI_FORMAT_JSON_SCHEMA, false},
                                                    {"", 0, false}};

static const phi__cfg_field phi__format_rows[] = {
    PHI__C_CHOICE_AS(
        format, kind, "type", phi__format_names, "\"text\"",
        "text; json_object: any JSON object; json_schema: JSON that `schema` describes."),
    PHI__C_PLAIN(format, schema, VALUE, 0, "null",
                 "A JSON Schema of an object: a table, its JSON as a text, or \"file:path\"."),
    PHI__C_PLAIN(format, name, TEXT, 0, "\"response\"",
                 "A name for the schema: letters, digits, - and _."),
    PHI__C_BOOL(format, strict, "false", "Adapt the schema so that the provider can enforce it.")};
static const phi__cfg_table phi__format_is = {"agent.format", "The format of answers.",
                                              PHI__ROWS(phi__format_rows)};
const phi__cfg_table *phi__table_format(void) { return &phi__format_is; }

static const phi__cfg_choice phi__summaries_names[] = {{"use", PHI_SUMMARIES_USE, false},
                                                       {"none", PHI_SUMMARIES_NONE, false},
                                                       {"request", PHI_SUMMARIES_REQUEST, false},
                                                       {"write", PHI_SUMMARIES_WRITE, false},
                                                       {"", 0, false}};

static const phi__cfg_choice phi__role_names[] = {
    {"user", PHI_ROLE_USER, false}, {"assistant", PHI_ROLE_ASSISTANT, false}, {"", 0, false}};

static const phi__cfg_choice phi__include_names[] = {{"messages", PHI_INCLUDE_MESSAGES, false},
                                                     {"tools", PHI_INCLUDE_TOOLS, false},
                                                     {"summaries", PHI_INCLUDE_SUMMARIES, false},
                                                     {"", 0, false}};
const phi__cfg_choice *phi__table_include(void) { return phi__include_names; }

static const phi__cfg_field phi__policy_rows[] = {
    PHI__C_INT_AS(policy, policy.max_input_tokens, "max_input_tokens", PHI__NO_LIMIT, 1, 0, "8000",
                  "Tokens of a request at most."),
    PHI__C_INT_AS(policy, policy.reserve_output_tokens, "reserve_output_tokens", 0, 0, 1000000000,
                  "2000", "Of these, tokens kept free for the answer; 0: none."),
    PHI__C_INT_AS(policy, policy.max_messages, "max_messages", 0, 1, 4294967295, "null",
                  "Messages at most (default: no limit)."),
    PHI__C_INT_AS(policy, policy.max_turns, "max_turns", 0, 1, 4294967295, "null",
                  "The newest turns alone (default: no limit)."),
    PHI__C_INT_AS(policy, policy.keep_last_turns, "keep_last_turns", 0, 0, 1000000, "3",
                  "Newest turns that are sent in any case; 0: none."),
    PHI__C_CHOICE_AS(policy, policy.summaries, "summaries", phi__summaries_names, "\"use\"",
                     "How summaries are made and used."),
    PHI__C_CHOICE_AS(policy, policy.summary_role, "summary_role", phi__role_names, "\"user\"",
                     "The role of a summary."),
    PHI__C_CHOICES(policy, include, phi__include_names, "[\"messages\", \"tools\", \"summaries\"]",
                   "The kinds of messages that are sent.")};
static const phi__cfg_table phi__policy_is = {"agent.policy", "Which messages are sent.",
                                              PHI__ROWS(phi__policy_rows)};
const phi__cfg_table *phi__table_policy(void) { return &phi__policy_is; }

static const phi__cfg_choice phi__effect_mode_names[] = {
    {"allow_all", PHI_EFFECTS_ALLOW_ALL, false},
    {"deny_all", PHI_EFFECTS_DENY_ALL, false},
    {"allow_list", PHI_EFFECTS_ALLOW_LIST, false},
    {"", 0, false}};

static const phi__cfg_choice phi__effect_op_names[] = {
    {"merge", PHI_EFFECT_MERGE, false},
    {"replace", PHI_EFFECT_REPLACE, false},
    {"delete_keys", PHI_EFFECT_DELETE_KEYS, false},
    {"set_path", PHI_EFFECT_SET_PATH, false},
    {"delete_path", PHI_EFFECT_DELETE_PATH, false},
    {"emit", PHI_EFFECT_EMIT, false},
    {"", 0, false}};
const phi__cfg_choice *phi__table_effect_ops(void) { return phi__effect_op_names; }

static const phi__cfg_field phi__effects_rows[] = {
    PHI__C_CHOICE_AS(effects, effects.mode, "mode", phi__effect_mode_names, "\"allow_all\"",
                     "Which effects are applied: all, none, or those in `allow`."),
    PHI__C_CHOICES(effects, allow, phi__effect_op_names, "[]", "With mode \"allow_list\": these."),
    PHI__C_CHOICES(effects, deny, phi__effect_op_names, "[]", "Never these."),
    PHI__C_INT_AS(effects, effects.max_state_bytes, "max_state_bytes", 0, 1, 1048576, "65536",
                  "Bytes of the tool state at most.")};
static const phi__cfg_table phi__effects_is = {
    "agent.effects", "Effects of tools on the tool state.", PHI__ROWS(phi__effects_rows)};
const phi__cfg_table *phi__table_effects(void) { return &phi__effects_is; }

/* ---- options, raw tools ---- */

static const phi__cfg_field phi__options_rows[] = {
    PHI__C_NUM_AS(options, options.top_p, "top_p", 0, 1, "null",
                  "Above 0, to 1 (default: the provider's)."),
    PHI__C_INT_AS(options, options.top_k, "top_k", 0, 1, 4294967295, "null",
                  "Tokens to choose from (default: the provider's)."),
    PHI__C_PLAIN(options, stop, TEXTS, 0, "[]", "Texts that end an answer, 16 at most."),
    PHI__C_INT_AS(options, options.seed, "seed", 0, 0, 9007199254740991, "null",
                  "The seed of the sampling (default: none)."),
    PHI__C_TEXT_AS(options, options.service_tier, "service_tier", 0,
                   "In the provider's words: flex, priority, ..."),
    PHI__C_BOOL_AS(options, options.serial_calls, "serial_calls", "false",
                   "One tool call in an answer at most.")};
static const phi__cfg_table phi__options_is = {
    "agent.options",
    "Settings of requests; one that the protocol or the model does not take is left out.",
    PHI__ROWS(phi__options_rows)};
const phi__cfg_table *phi__table_options(void) { return &phi__options_is; }

static const phi__cfg_field phi__raw_tool_rows[] = {
    PHI__C_TEXT(raw_tool, protocol, PHI__REQUIRED,
                "The protocol whose requests have it, as `api` of a provider."),
    PHI__C_PLAIN(raw_tool, json, VALUE, PHI__REQUIRED, "null",
                 "An element of the list of tools: a table, or its JSON as a text.")};
static const phi__cfg_table phi__raw_tool_is = {
    "agent.raw_tools", "A tool of the provider's own, sent as it is after the agent's tools.",
    PHI__ROWS(phi__raw_tool_rows)};
const phi__cfg_table *phi__table_raw_tool(void) { return &phi__raw_tool_is; }

/* ---- system prompts ---- */

static const phi__cfg_field phi__prompt_strategies_rows[] = {
    PHI__C_TABLES(instances, instances, phi__table_prompt_strategy,
                  "The templates; agent and minimal exist without being written.")};
static const phi__cfg_table phi__prompt_strategies_is = {"system_prompt_strategy",
                                                         "Templates of system prompts.",
                                                         PHI__ROWS(phi__prompt_strategies_rows)};
static const phi__cfg_table *phi__table_prompt_strategies(void) {
    return &phi__prompt_strategies_is;
}

static const phi__cfg_field phi__prompt_strategy_rows[] = {
    PHI__C_NAMED(prompt_strategy, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "system_prompt_strategy",
                 "null", "Its name: \"{{name}}\"."),
    PHI__C_TEXT(prompt_strategy, description, 0, "For people."),
    PHI__C_ROW(prompt_strategy, blocks, "blocks", TABLES, 0, NULL, NULL, phi__table_prompt_block,
               NULL, 0, 0, "[]", "The blocks of a prompt.")};
static const phi__cfg_table phi__prompt_strategy_is = {
    "system_prompt_strategy.instances", "A template.", PHI__ROWS(phi__prompt_strategy_rows)};
static const phi__cfg_table *phi__table_prompt_strategy(void) { return &phi__prompt_strategy_is; }

static const phi__cfg_field phi__prompt_block_rows[] = {
    PHI__C_TEXT(prompt_block, name, PHI__REQUIRED, "The key that a prompt fills it by."),
    PHI__C_INT(prompt_block, order, 0, -2147483647, 2147483647, "0",
               "Blocks stand in this order, equal ones as they are written."),
    PHI__C_INT(prompt_block, max_length, 0, 1, 0, "null",
               "Characters at most; a longer text is cut (default: no limit).")};
static const phi__cfg_table phi__prompt_block_is = {"system_prompt_strategy.instances.blocks",
                                                    "A block.", PHI__ROWS(phi__prompt_block_rows)};
const phi__cfg_table *phi__table_prompt_block(void) { return &phi__prompt_block_is; }

static const phi__cfg_field phi__prompts_rows[] = {
    PHI__C_TABLES(instances, instances, phi__table_prompt, "The prompts.")};
static const phi__cfg_table phi__prompts_is = {"system_prompt", "System prompts made of blocks.",
                                               PHI__ROWS(phi__prompts_rows)};
static const phi__cfg_table *phi__table_prompts(void) { return &phi__prompts_is; }

static const phi__cfg_field phi__prompt_rows[] = {
    PHI__C_NAMED(prompt, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "system_prompt", "null",
                 "Its name: \"{{name}}\"."),
    PHI__C_TEXT(prompt, description, 0, "For people."),
    PHI__C_NAMED(prompt, type, TEXT, PHI__ONLY_REFERENCE | PHI__REQUIRED, "system_prompt_strategy",
                 "null", "Its template: \"{{system_prompt_strategy.name}}\", agent or minimal.")};
static const phi__cfg_table phi__prompt_is = {
    "system_prompt.instances",
    "A prompt: each further key is a block's text, or \"file:path\" relative to the workspace.",
    PHI__ROWS_OF(phi__prompt_rows, NULL, true)};
const phi__cfg_table *phi__table_prompt(void) { return &phi__prompt_is; }

/* ---- the tables of reasoning strategies and their options ---- */

static const phi__cfg_field phi__strategies_rows[] = {
    PHI__C_TABLES(instances, instances, phi__table_strategy, "The strategies.")};
static const phi__cfg_table phi__strategies_is = {"strategy", "Reasoning strategies, by name.",
                                                  PHI__ROWS(phi__strategies_rows)};
static const phi__cfg_table *phi__table_strategies(void) { return &phi__strategies_is; }

static const phi__cfg_choice phi__strategy_type_names[] = {
    {"cot", PHI__CFG_STRATEGY_COT, false},           {"cod", PHI__CFG_STRATEGY_COD, false},
    {"aot", PHI__CFG_STRATEGY_AOT, false},           {"tot", PHI__CFG_STRATEGY_TOT, false},
    {"got", PHI__CFG_STRATEGY_GOT, false},           {"trm", PHI__CFG_STRATEGY_TRM, false},
    {"adaptive", PHI__CFG_STRATEGY_ADAPTIVE, false}, {"", 0, false}};

static const phi__cfg_field phi__strategy_rows[] = {
    PHI__C_NAMED(strategy, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "strategy", "null",
                 "Its name: \"{{name}}\" or \"{{%name%}}\"."),
    PHI__C_TEXT(strategy, description, 0, "For people."),
    PHI__C_ROW(strategy, type, "type", CHOICE, PHI__REQUIRED, NULL, phi__strategy_type_names, NULL,
               NULL, 0, 0, "null", "The strategy."),
    PHI__C_INT(strategy, max_calls, PHI__NO_LIMIT, 1, 4294967295, "null",
               "Model calls of a prompt at most (default: as its options allow)."),
    PHI__C_SECS(strategy, call_timeout_ms, "call_timeout_secs", PHI__NO_LIMIT, "null",
                "Seconds of one model call (default: no limit)."),
    PHI__C_TABLE(strategy, cot, phi__table_cot, "Options of a chain of thought."),
    PHI__C_TABLE(strategy, cod, phi__table_cot, "Options of a chain of draft."),
    PHI__C_TABLE(strategy, aot, phi__table_aot, "Options of an algorithm of thoughts."),
    PHI__C_TABLE(strategy, tot, phi__table_tot, "Options of a tree of thoughts."),
    PHI__C_TABLE(strategy, got, phi__table_got, "Options of a graph of thoughts."),
    PHI__C_TABLE(strategy, trm, phi__table_trm, "Options of recursive refinement."),
    PHI__C_TABLE(strategy, adaptive, phi__table_adaptive,
                 "Options of the choice by the prompt; its strategies have theirs beside it.")};
static const phi__cfg_table phi__strategy_is = {"strategy.instances", "A strategy.",
                                                PHI__ROWS(phi__strategy_rows)};
const phi__cfg_table *phi__table_strategy(void) { return &phi__strategy_is; }

static const phi__cfg_field phi__cot_rows[] = {
    PHI__C_TEXT_AS(cot, options.system_prompt, "system_prompt", 0,
                   "How to think, in place of the prompt that phi has."),
    PHI__C_INT_AS(cot, options.max_tokens, "max_tokens", 0, 1, 4294967295, "null",
                  "Output tokens of a call (default: the agent's)."),
    PHI__C_NUM_AS(cot, options.temperature, "temperature", 0, 2, "null",
                  "0 to 2 (default: the agent's)."),
    PHI__C_SECS(cot, options.timeout_ms, "timeout_secs", 0, "null",
                "Seconds of a call (default: call_timeout_secs).")};
static const phi__cfg_table phi__cot_is = {"strategy.instances.cot", "Options of cot and cod.",
                                           PHI__ROWS(phi__cot_rows)};
const phi__cfg_table *phi__table_cot(void) { return &phi__cot_is; }

static const phi__cfg_choice phi__aot_profile_names[] = {{"standard", PHI_AOT_STANDARD, false},
                                                         {"short", PHI_AOT_SHORT, false},
                                                         {"long", PHI_AOT_LONG, false},
                                                         {"", 0, false}};

static const phi__cfg_choice phi__aot_style_names[] = {
    {"dfs", PHI_AOT_DFS, false}, {"bfs", PHI_AOT_BFS, false}, {"", 0, false}};

static const phi__cfg_field phi__aot_rows[] = {
    PHI__C_CHOICE_AS(aot, options.profile, "profile", phi__aot_profile_names, "\"standard\"",
                     "How many worked examples the prompt has: two, one or three."),
    PHI__C_CHOICE_AS(aot, options.style, "style", phi__aot_style_names, "\"dfs\"",
                     "The search that the prompt asks for."),
    PHI__C_TEXT_AS(aot, options.system_prompt, "system_prompt", 0,
                   "In place of the role and pattern that phi has."),
    PHI__C_PLAIN(aot, examples, TEXTS, 0, "[]", "Worked searches in place of those that phi has."),
    PHI__C_BOOL_AS(aot, options.implicit_answer, "implicit_answer", "false",
                   "A solution without an answer line is a success, too."),
    PHI__C_INT_AS(aot, options.max_tokens, "max_tokens", 0, 1, 4294967295, "2048",
                  "Output tokens."),
    PHI__C_BOOL_AS(aot, options.agent_temperature, "agent_temperature", "false",
                   "Send the temperature of the agent, not this one."),
    PHI__C_NUM_AS(aot, options.temperature, "temperature", 0, 2, "0.0", "0 to 2."),
    PHI__C_SECS(aot, options.timeout_ms, "timeout_secs", 0, "null",
                "Seconds of the call (default: call_timeout_secs).")};
static const phi__cfg_table phi__aot_is = {"strategy.instances.aot", "Options of aot.",
                                           PHI__ROWS(phi__aot_rows)};
const phi__cfg_table *phi__table_aot(void) { return &phi__aot_is; }

static const phi__cfg_choice phi__traversal_names[] = {
    {"bfs", PHI_TOT_BFS, false}, {"dfs", PHI_TOT_DFS, false}, {"", 0, false}};

static const phi__cfg_field phi__tot_rows[] = {
    PHI__C_CHOICE_AS(tot, options.traversal, "traversal", phi__traversal_names, "\"bfs\"",
                     "Level by level, or the best thought first and back."),
    PHI__C_INT_AS(tot, options.branching_factor, "branching_factor", 0, 1, 1000, "8",
                  "New thoughts a step at most."),
    PHI__C_INT_AS(tot, options.evaluations, "evaluations", 0, 1, 1000, "3",
                  "Calls that score the new thoughts of a step."),
    PHI__C_INT_AS(tot, options.beam_width, "beam_width", 0, 1, 100000, "5",
                  "Thoughts of a level that bfs expands."),
    PHI__C_NUM_AS(tot, options.value_threshold, "value_threshold", 1e-06, 1, "0.4",
                  "Thoughts with a lower score are not expanded by dfs."),
    PHI__C_INT_AS(tot, options.max_depth, "max_depth", 0, 1, 1000, "3",
                  "Depth of a thought at most."),
    PHI__C_INT_AS(tot, options.min_depth, "min_depth", 0, 1, 1000, "2",
                  "Depth that a thought has at least when it ends the search early."),
    PHI__C_INT_AS(tot, options.max_nodes, "max_nodes", 0, 1, 100000, "100", "Thoughts in all."),
    PHI__C_SECS(tot, options.max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "null",
                "Seconds, then the best so far is the answer (default: no limit)."),
    PHI__C_INT_AS(tot, options.top_k, "top_k", 0, 1, 1000, "3", "Candidates in the result."),
    PHI__C_NUM_AS(tot, options.early_success_threshold, "early_success_threshold", 1e-06, 1, "1.0",
                  "A score that ends the search."),
    PHI__C_INT_AS(tot, options.convergence_window, "convergence_window", PHI__NO_LIMIT, 1,
                  4294967295, "null",
                  "Expansions without an improvement at max_depth that end the search."),
    PHI__C_NUM_AS(tot, options.min_score_improvement, "min_score_improvement", 1e-06, 1, "0.02",
                  "The least gain that is an improvement."),
    PHI__C_INT_AS(tot, options.max_parse_retries, "max_parse_retries", 0, 1, 100, "1",
                  "Repairs of an answer that cannot be read."),
    PHI__C_BOOL_AS(tot, options.no_repair, "no_repair", "false",
                   "An answer that cannot be read ends the search at once."),
    PHI__C_BOOL_AS(tot, options.tools, "tools", "false", "Thoughts and scores may call tools."),
    PHI__C_INT_AS(tot, options.max_tool_rounds, "max_tool_rounds", 0, 1, 1000, "3",
                  "Rounds of tools of a call."),
    PHI__C_TEXT_AS(tot, options.generation_prompt, "generation_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(tot, options.evaluation_prompt, "evaluation_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_INT_AS(tot, options.max_tokens, "max_tokens", 0, 1, 4294967295, "null",
                  "Output tokens of a call (default: the agent's)."),
    PHI__C_NUM_AS(tot, options.temperature, "temperature", 0, 2, "null",
                  "0 to 2 (default: the agent's)."),
    PHI__C_SECS(tot, options.timeout_ms, "timeout_secs", 0, "null",
                "Seconds of a call (default: call_timeout_secs).")};
static const phi__cfg_table phi__tot_is = {"strategy.instances.tot", "Options of tot.",
                                           PHI__ROWS(phi__tot_rows)};
const phi__cfg_table *phi__table_tot(void) { return &phi__tot_is; }

static const phi__cfg_choice phi__aggregation_names[] = {{"synthesis", PHI_GOT_SYNTHESIS, false},
                                                         {"voting", PHI_GOT_VOTING, false},
                                                         {"weighted", PHI_GOT_WEIGHTED, false},
                                                         {"", 0, false}};

static const phi__cfg_field phi__got_rows[] = {
    PHI__C_CHOICE_AS(got, options.aggregation, "aggregation", phi__aggregation_names,
                     "\"synthesis\"", "How thoughts become the answer."),
    PHI__C_INT_AS(got, options.generations, "generations", 0, 1, 1000, "2",
                  "Generations of thoughts."),
    PHI__C_INT_AS(got, options.branching_factor, "branching_factor", 0, 1, 1000, "3",
                  "Thoughts of a generation at most."),
    PHI__C_INT_AS(got, options.max_nodes, "max_nodes", 0, 1, 1000, "20", "Thoughts in all."),
    PHI__C_INT_AS(got, options.max_depth, "max_depth", 0, 1, 1000, "5",
                  "Depth of a thought at most."),
    PHI__C_INT_AS(got, options.votes, "votes", 0, 1, 1000, "3", "Votes at most, with voting."),
    PHI__C_INT_AS(got, options.keep_best, "keep_best", 0, 1, 1000, "5",
                  "Thoughts with most support that are aggregated."),
    PHI__C_TEXT_AS(got, options.generation_prompt, "generation_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(got, options.connection_prompt, "connection_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(got, options.voting_prompt, "voting_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(got, options.weighing_prompt, "weighing_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(got, options.aggregation_prompt, "aggregation_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_INT_AS(got, options.max_tokens, "max_tokens", 0, 1, 4294967295, "null",
                  "Output tokens of a call (default: the agent's)."),
    PHI__C_NUM_AS(got, options.temperature, "temperature", 0, 2, "null",
                  "0 to 2 (default: the agent's)."),
    PHI__C_SECS(got, options.timeout_ms, "timeout_secs", 0, "null",
                "Seconds of a call (default: call_timeout_secs).")};
static const phi__cfg_table phi__got_is = {"strategy.instances.got", "Options of got.",
                                           PHI__ROWS(phi__got_rows)};
const phi__cfg_table *phi__table_got(void) { return &phi__got_is; }

static const phi__cfg_field phi__trm_rows[] = {
    PHI__C_INT_AS(trm, options.max_supervisions, "max_supervisions", 0, 1, 50, "5",
                  "Calls that score a draft."),
    PHI__C_INT_AS(trm, options.reasoning_steps, "reasoning_steps", 0, 1, 20, "1",
                  "Calls that write notes before an improvement."),
    PHI__C_NUM_AS(trm, options.threshold, "threshold", 1e-06, 1, "0.9", "A score that ends it."),
    PHI__C_TEXT_AS(trm, options.reason_prompt, "reason_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(trm, options.supervise_prompt, "supervise_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(trm, options.improve_prompt, "improve_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_TEXT_AS(trm, options.notes_prompt, "notes_prompt", 0,
                   "In place of the prompt that phi has."),
    PHI__C_INT_AS(trm, options.max_tokens, "max_tokens", 0, 1, 4294967295, "null",
                  "Output tokens of a call (default: the agent's)."),
    PHI__C_NUM_AS(trm, options.temperature, "temperature", 0, 2, "null",
                  "0 to 2 (default: the agent's)."),
    PHI__C_SECS(trm, options.timeout_ms, "timeout_secs", 0, "null",
                "Seconds of a call (default: call_timeout_secs).")};
static const phi__cfg_table phi__trm_is = {"strategy.instances.trm", "Options of trm.",
                                           PHI__ROWS(phi__trm_rows)};
const phi__cfg_table *phi__table_trm(void) { return &phi__trm_is; }

static const phi__cfg_choice phi__adaptive_name_names[] = {
    {"react", 1, false}, {"cot", 2, false},  {"cod", 4, false},  {"aot", 8, false},
    {"tot", 16, false},  {"got", 32, false}, {"trm", 64, false}, {"", 0, false}};

static const phi__cfg_field phi__adaptive_rows[] = {
    PHI__C_ROW(adaptive, options.strategy, "strategy", TEXT, 0, NULL, phi__adaptive_name_names,
               NULL, NULL, 0, 0, "null", "Always this one (default: chosen by the prompt)."),
    PHI__C_ROW(adaptive, options.default_strategy, "default_strategy", TEXT, 0, NULL,
               phi__adaptive_name_names, NULL, NULL, 0, 0, "\"react\"",
               "Where the prompt does not decide."),
    PHI__C_CHOICES(adaptive, available, phi__adaptive_name_names,
                   "[\"react\", \"cot\", \"cod\", \"tot\", \"got\", \"trm\"]",
                   "Those that may be chosen."),
    PHI__C_INT_AS(adaptive, options.max_tool_rounds, "max_tool_rounds", 0, 1, 1000, "9",
                  "Rounds of tools of react."),
    PHI__C_NUM_AS(adaptive, options.simple_below, "simple_below", 1e-06, 1, "0.3",
                  "Complexity of a simple prompt."),
    PHI__C_NUM_AS(adaptive, options.complex_above, "complex_above", 1e-06, 1, "0.7",
                  "Complexity of a hard prompt."),
    PHI__C_TEXT_AS(adaptive, options.puzzle_words, "puzzle_words", 0,
                   "Words in place of those that phi has, separated by bars."),
    PHI__C_TEXT_AS(adaptive, options.synthesis_words, "synthesis_words", 0,
                   "The same, of prompts that combine."),
    PHI__C_TEXT_AS(adaptive, options.tool_words, "tool_words", 0,
                   "The same, of prompts for tools."),
    PHI__C_TEXT_AS(adaptive, options.exploration_words, "exploration_words", 0,
                   "The same, of prompts that explore."),
    PHI__C_TEXT_AS(adaptive, options.complex_words, "complex_words", 0,
                   "The same, of the complexity.")};
static const phi__cfg_table phi__adaptive_is = {
    "strategy.instances.adaptive", "Options of adaptive.", PHI__ROWS(phi__adaptive_rows)};
const phi__cfg_table *phi__table_adaptive(void) { return &phi__adaptive_is; }

/* ---- the top ---- */

static const phi__cfg_field phi__top_rows[] = {
    PHI__C_TEXT_AS(top, schema, "$schema", 0,
                   "The address of a JSON Schema, for editors; phi does not look at it."),
    PHI__C_PLAIN(top, default_workspace, TEXT, PHI__CFG_PATH, "\".\"",
                 "The directory of every agent that has none of its own."),
    PHI__C_TABLE(top, agent, phi__table_agent,
                 "The agent, or what all agents of this file have in common."),
    PHI__C_TABLE(top, provider, phi__table_provider,
                 "The model of every agent that names no other."),
    PHI__C_REF(top, models, MAP, "provider", "{}",
               "Short names for providers: with fast = \"{{provider.haiku}}\", \":fast\" means "
               "that provider."),
    PHI__C_TABLE(top, failover, phi__table_failover,
                 "Other models to go on with when one fails for good."),
    PHI__C_TABLE(top, session, phi__table_session, "Where threads are kept."),
    PHI__C_TABLE(top, tools, phi__table_tools, "Which tools there are, and how calls run."),
    PHI__C_TABLE(top, compaction, phi__table_compaction,
                 "How a conversation that nears the window is shortened."),
    PHI__C_TABLE(top, context, phi__table_context,
                 "Another place for compaction: [context.compaction]."),
    PHI__C_TABLE(top, execution, phi__table_execution,
                 "Limits of a run, retries, prompt caching, budget and deadlines."),
    PHI__C_TABLE(top, sub_agents, phi__table_sub_agents, "Agents that are tools of agents."),
    PHI__C_TABLE(top, strategy, phi__table_strategies, "Reasoning strategies, by name."),
    PHI__C_TABLE(top, system_prompt_strategy, phi__table_prompt_strategies,
                 "Templates of system prompts: their blocks, in order, with lengths."),
    PHI__C_TABLE(top, system_prompt, phi__table_prompts, "System prompts made of blocks.")};
static const phi__cfg_table phi__top_is = {"", "A configuration.", PHI__ROWS(phi__top_rows)};
const phi__cfg_table *phi__table_top(void) { return &phi__top_is; }

/* ---- sessions and tools ---- */

static const phi__cfg_choice phi__scope_names[] = {
    {"ephemeral", 0, false}, {"persistent", 1, false}, {"", 0, false}};

static const phi__cfg_field phi__session_rows[] = {
    PHI__C_CHOICE(
        session, scope, phi__scope_names, "\"ephemeral\"",
        "ephemeral: threads live in memory alone; persistent: they are written to a store."),
    PHI__C_TEXT(session, directory, PHI__CFG_PATH,
                "Where a persistent session keeps its files; made when needed."),
    PHI__C_TEXT(
        session, thread, 0,
        "The id of the thread to continue, or to begin where the store has none of that id."),
    PHI__C_BOOL(session, sync, "false",
                "Wait for the disk at each write, so that a loss of power loses nothing.")};
static const phi__cfg_table phi__session_is = {"session", "Sessions.",
                                               PHI__ROWS(phi__session_rows)};
const phi__cfg_table *phi__table_session(void) { return &phi__session_is; }

static const phi__cfg_choice phi__tool_mode_names[] = {{"sequential", PHI_TOOLS_SEQUENTIAL, false},
                                                       {"parallel", PHI_TOOLS_PARALLEL, false},
                                                       {"batched", PHI_TOOLS_BATCHED, false},
                                                       {"", 0, false}};

static const phi__cfg_choice phi__tool_choice_names[] = {
    {"auto", PHI_TOOL_CHOICE_AUTO, false},
    {"none", PHI_TOOL_CHOICE_NONE, false},
    {"required", PHI_TOOL_CHOICE_REQUIRED, false},
    {"", 0, false}};

static const phi__cfg_field phi__tools_rows[] = {
    PHI__C_PLAIN(tools, enabled, TEXTS, 0, "[]",
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
static const phi__cfg_table phi__tools_is = {"tools", "Tools.", PHI__ROWS(phi__tools_rows)};
const phi__cfg_table *phi__table_tools(void) { return &phi__tools_is; }

/* ---- compaction ---- */

static const phi__cfg_choice phi__compaction_scope_names[] = {
    {"runs", PHI_COMPACTION_RUNS, false}, {"tokens", PHI_COMPACTION_TOKENS, false}, {"", 0, false}};

static const phi__cfg_field phi__compaction_base_rows[] = {
    PHI__C_BOOL(compaction, enabled, "true",
                "false switches compaction off, whatever max_context_tokens says."),
    PHI__C_INT_AS(compaction, config.max_context_tokens, "max_context_tokens", 0, 1000, 1000000000,
                  "null", "Size of the window in tokens; compaction is off where this is not set."),
    PHI__C_INT_AS(compaction, config.system_prompt_tokens, "system_prompt_tokens", 0, 1, 1000000000,
                  "4000", "Tokens reserved for the system prompt."),
    PHI__C_NUM_AS(compaction, config.compact_at_pct, "compact_at_pct", 0.01, 1, "0.9",
                  "The part of the window, above 0 to 1, that may fill up."),
    PHI__C_NUM_AS(
        compaction, config.budget_threshold_pct, "compact_budget_threshold_pct", 0.001, 1, "0.05",
        "Compaction begins when less than this part of the window is left below compact_at_pct."),
    PHI__C_ROW(compaction, config.keep_first_turns, "keep_first_turns", INTEGER, 0, "keep_first",
               NULL, NULL, NULL, 0, 1000000, "2",
               "First turns of a run that stay as they are; 0: none."),
    PHI__C_ROW(compaction, config.keep_recent_turns, "keep_recent_turns", INTEGER, 0, "keep_recent",
               NULL, NULL, NULL, 1, 1000000, "10", "Newest turns of a run that stay as they are."),
    PHI__C_INT_AS(compaction, config.max_summary_tokens, "max_summary_tokens", 0, 1, 1000000000,
                  "2000", "Tokens of a summary at most."),
    PHI__C_INT_AS(compaction, config.tool_output_max_lines, "tool_output_max_lines", 0, 1,
                  1000000000, "50", "Lines that stay of a long tool result."),
    PHI__C_TEXT_AS(compaction, config.focus_message, "focus_message", 0,
                   "What summaries have to keep, as a message before them."),
    PHI__C_CHOICE_AS(compaction, config.scope, "scope", phi__compaction_scope_names, "\"runs\"",
                     "Which earlier runs are summed up: the newest scope_runs, or as many as "
                     "scope_tokens hold."),
    PHI__C_INT_AS(compaction, config.scope_runs, "scope_runs", PHI__NO_LIMIT, 1, 1000000, "3",
                  "Earlier runs that are summed up, with scope \"runs\"."),
    PHI__C_INT_AS(compaction, config.scope_tokens, "scope_tokens", 0, 1, 1000000000, "null",
                  "Tokens of earlier runs that are summed up, with scope \"tokens\" (default: "
                  "max_context_tokens).")};
static const phi__cfg_table phi__compaction_base_is = {"", "",
                                                       PHI__ROWS(phi__compaction_base_rows)};
static const phi__cfg_table *phi__table_compaction_base(void) { return &phi__compaction_base_is; }

static const phi__cfg_field phi__compaction_rows[] = {PHI__C_TABLES(
    compaction, instances, phi__table_compaction_instance,
    "Named variations, for agents and profiles: compaction = \"{{compaction.name}}\".")};
static const phi__cfg_table phi__compaction_is = {
    "compaction", "Compaction.",
    PHI__ROWS_OF(phi__compaction_rows, phi__table_compaction_base, false)};
const phi__cfg_table *phi__table_compaction(void) { return &phi__compaction_is; }

static const phi__cfg_field phi__compaction_instance_rows[] = {
    PHI__C_NAMED(compaction, id, TEXT, PHI__CFG_ID | PHI__REQUIRED, "compaction", "null",
                 "Its name: \"{{name}}\", or \"{{%name%}}\" for one that is shared."),
    PHI__C_TEXT(compaction, description, 0, "For people.")};
static const phi__cfg_table phi__compaction_instance_is = {
    "compaction.instances", "A named compaction: what it does not set is as in [compaction].",
    PHI__ROWS_OF(phi__compaction_instance_rows, phi__table_compaction_base, false)};
const phi__cfg_table *phi__table_compaction_instance(void) { return &phi__compaction_instance_is; }

static const phi__cfg_field phi__context_rows[] = {
    PHI__C_TABLE(context, compaction, phi__table_compaction,
                 "As [compaction] at the top; a file has only one of the two.")};
static const phi__cfg_table phi__context_is = {"context", "Another place for compaction.",
                                               PHI__ROWS(phi__context_rows)};
static const phi__cfg_table *phi__table_context(void) { return &phi__context_is; }

/* ---- runs ---- */

static const phi__cfg_field phi__execution_rows[] = {
    PHI__C_INT_AS(execution, limits.max_turns, "max_turns", PHI__NO_LIMIT, 1, 4294967295, "50",
                  "Model calls of a run at most."),
    PHI__C_INT_AS(execution, limits.max_tokens, "max_total_tokens", PHI__NO_LIMIT, 1, 0, "1000000",
                  "Input and output tokens of a run at most."),
    PHI__C_SECS(execution, limits.max_duration_ms, "max_duration_secs", PHI__NO_LIMIT, "600",
                "Seconds that a run may take."),
    PHI__C_NUM_AS(execution, limits.max_cost, "max_cost", 1e-06, 1000000000, "null",
                  "Dollars of a run at most; needs [provider.cost]."),
    PHI__C_BOOL_AS(execution, limits.pause, "pause", "false",
                   "A limit that is reached pauses the run instead of ending it."),
    PHI__C_TABLE(execution, retry, phi__table_retry,
                 "Retries of model calls that failed in a way that may pass."),
    PHI__C_TABLE(execution, cache, phi__table_cache, "Prompt caching."),
    PHI__C_TABLE(execution, budget, phi__table_budget,
                 "What an agent may spend over its life, with its sub-agents."),
    PHI__C_TABLE(execution, deadlines, phi__table_deadlines,
                 "How long the network may be silent.")};
static const phi__cfg_table phi__execution_is = {"execution", "Limits of a run.",
                                                 PHI__ROWS(phi__execution_rows)};
const phi__cfg_table *phi__table_execution(void) { return &phi__execution_is; }

static const phi__cfg_field phi__retry_rows[] = {
    PHI__C_INT_AS(retry, retry.max_retries, "max_retries", 0, 0, 1000, "3",
                  "Attempts beyond the first; 0: none."),
    PHI__C_INT_AS(retry, retry.initial_delay_ms, "initial_delay_ms", 0, 1, 3600000, "1000",
                  "Milliseconds before the first retry."),
    PHI__C_NUM_AS(retry, retry.backoff_multiplier, "backoff_multiplier", 1, 1000, "2.0",
                  "Each delay is so many times the one before."),
    PHI__C_INT_AS(retry, retry.max_delay_ms, "max_delay_ms", 0, 1, 86400000, "30000",
                  "Milliseconds of a delay at most."),
    PHI__C_INT_AS(retry, retry.max_server_delay_ms, "max_server_delay_ms", PHI__NO_LIMIT, 1,
                  4294967295, "60000",
                  "Milliseconds that a server may ask to wait; when it asks for more, the call "
                  "fails at once.")};
static const phi__cfg_table phi__retry_is = {"execution.retry", "Retries.",
                                             PHI__ROWS(phi__retry_rows)};
const phi__cfg_table *phi__table_retry(void) { return &phi__retry_is; }

static const phi__cfg_choice phi__cache_mode_names[] = {{"auto", PHI_CACHE_AUTO, false},
                                                        {"disabled", PHI_CACHE_DISABLED, false},
                                                        {"manual", PHI_CACHE_MANUAL, false},
                                                        {"", 0, false}};

static const phi__cfg_field phi__cache_rows[] = {
    PHI__C_BOOL(cache, enabled, "true", "false: no marks of prompt caching are sent."),
    PHI__C_ROW(cache, cache.mode, "strategy", CHOICE, PHI__CFG_LENIENT, NULL, phi__cache_mode_names,
               NULL, NULL, 0, 0, "\"auto\"",
               "auto: all marks; disabled: none; manual: those that are set here."),
    PHI__C_ROW(cache, cache.system, "system", BOOL, 0, "cache_system", NULL, NULL, NULL, 0, 0,
               "false", "manual: a mark behind the system prompt."),
    PHI__C_ROW(cache, cache.tools, "tools", BOOL, 0, "cache_tools", NULL, NULL, NULL, 0, 0, "false",
               "manual: a mark behind the last tool."),
    PHI__C_ROW(cache, cache.messages, "messages", BOOL, 0, "cache_messages", NULL, NULL, NULL, 0, 0,
               "false", "manual: a mark behind the last user message."),
    PHI__C_BOOL_AS(cache, cache.one_hour, "one_hour", "false",
                   "Marks last an hour, not five minutes (Claude); writing costs "
                   "more.")};
static const phi__cfg_table phi__cache_is = {"execution.cache", "Prompt caching.",
                                             PHI__ROWS(phi__cache_rows)};
const phi__cfg_table *phi__table_cache(void) { return &phi__cache_is; }

static const phi__cfg_field phi__budget_rows[] = {
    PHI__C_INT_AS(budget, budget.max_tokens, "max_tokens", 0, 1, 0, "null",
                  "Tokens of every kind, over all runs."),
    PHI__C_NUM_AS(budget, budget.max_cost, "max_cost", 1e-06, 1000000000, "null",
                  "Dollars over all runs; needs [provider.cost]."),
    PHI__C_INT_AS(budget, budget.max_requests, "max_requests", 0, 1, 0, "null",
                  "Model calls over all runs; retries do not count.")};
static const phi__cfg_table phi__budget_is = {"execution.budget", "A budget over all runs.",
                                              PHI__ROWS(phi__budget_rows)};
const phi__cfg_table *phi__table_budget(void) { return &phi__budget_is; }

static const phi__cfg_field phi__deadlines_rows[] = {
    PHI__C_SECS(deadlines, deadlines.connect_ms, "connect_secs", PHI__NO_LIMIT, "15",
                "Seconds until a connection stands."),
    PHI__C_SECS(deadlines, deadlines.first_event_ms, "first_event_secs", PHI__NO_LIMIT, "300",
                "Seconds from there to the first event of an answer."),
    PHI__C_SECS(deadlines, deadlines.idle_ms, "idle_secs", PHI__NO_LIMIT, "120",
                "Seconds between two events of an answer."),
    PHI__C_SECS(deadlines, deadlines.total_ms, "total_secs", PHI__NO_LIMIT, "null",
                "Seconds of a whole model call (default: the limit of the run).")};
static const phi__cfg_table phi__deadlines_is = {
    "execution.deadlines", "Deadlines of a model call.", PHI__ROWS(phi__deadlines_rows)};
const phi__cfg_table *phi__table_deadlines(void) { return &phi__deadlines_is; }
