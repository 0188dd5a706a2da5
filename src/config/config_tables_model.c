/* config_tables_model.c - the tables of what a model is asked with: providers, profiles,
   sub-agents, failover. */
#include "config/config_tables_in.h"

static const phi__config_choice phi__config_tables_api_choices[] = {
    {"anthropic_messages", PHI__CONFIG_API_ANTHROPIC, false},
    {"anthropic", PHI__CONFIG_API_ANTHROPIC, true},
    {"openai_completions", PHI__CONFIG_API_OPENAI_CHAT, false},
    {"openai", PHI__CONFIG_API_OPENAI_CHAT, true},
    {"open_ai_completions", PHI__CONFIG_API_OPENAI_CHAT, true},
    {"openai_responses", PHI__CONFIG_API_OPENAI_RESPONSES, false},
    {"open_ai_responses", PHI__CONFIG_API_OPENAI_RESPONSES, true},
    {"azure_openai_responses", PHI__CONFIG_API_AZURE, false},
    {"azure", PHI__CONFIG_API_AZURE, true},
    {"azure_open_ai_responses", PHI__CONFIG_API_AZURE, true},
    {"google_generative_ai", PHI__CONFIG_API_GOOGLE, false},
    {"google", PHI__CONFIG_API_GOOGLE, true},
    {"gemini", PHI__CONFIG_API_GOOGLE, true},
    {"google_vertex", PHI__CONFIG_API_VERTEX, false},
    {"vertex", PHI__CONFIG_API_VERTEX, true},
    {"google_interactions", PHI__CONFIG_API_INTERACTIONS, false},
    {"interactions", PHI__CONFIG_API_INTERACTIONS, true},
    {"bedrock_converse_stream", PHI__CONFIG_API_BEDROCK, false},
    {"bedrock", PHI__CONFIG_API_BEDROCK, true},
    {"", 0, false}};
const phi__config_choice *phi__config_tables_api(void) { return phi__config_tables_api_choices; }

static const phi__config_choice phi__config_tables_preset_choices[] = {
    {"anthropic", PHI__CONFIG_PRESET_ANTHROPIC, false},
    {"openai", PHI__CONFIG_PRESET_OPENAI, false},
    {"openai_responses", PHI__CONFIG_PRESET_OPENAI_RESPONSES, false},
    {"azure", PHI__CONFIG_PRESET_AZURE, false},
    {"openrouter", PHI__CONFIG_PRESET_OPENROUTER, false},
    {"xai", PHI__CONFIG_PRESET_XAI, false},
    {"groq", PHI__CONFIG_PRESET_GROQ, false},
    {"cerebras", PHI__CONFIG_PRESET_CEREBRAS, false},
    {"mistral", PHI__CONFIG_PRESET_MISTRAL, false},
    {"deepseek", PHI__CONFIG_PRESET_DEEPSEEK, false},
    {"together", PHI__CONFIG_PRESET_TOGETHER, false},
    {"qwen", PHI__CONFIG_PRESET_QWEN, false},
    {"moonshot", PHI__CONFIG_PRESET_MOONSHOT, false},
    {"zai", PHI__CONFIG_PRESET_ZAI, false},
    {"google", PHI__CONFIG_PRESET_GOOGLE, false},
    {"vertex", PHI__CONFIG_PRESET_VERTEX, false},
    {"interactions", PHI__CONFIG_PRESET_INTERACTIONS, false},
    {"bedrock", PHI__CONFIG_PRESET_BEDROCK, false},
    {"fireworks", PHI__CONFIG_PRESET_FIREWORKS, false},
    {"minimax", PHI__CONFIG_PRESET_MINIMAX, false},
    {"ollama", PHI__CONFIG_PRESET_OLLAMA, false},
    {"llama_cpp", PHI__CONFIG_PRESET_LLAMA_CPP, false},
    {"vllm", PHI__CONFIG_PRESET_VLLM, false},
    {"lm_studio", PHI__CONFIG_PRESET_LM_STUDIO, false},
    {"litellm", PHI__CONFIG_PRESET_LITELLM, false},
    {"local", PHI__CONFIG_PRESET_LOCAL, false},
    {"", 0, false}};
const phi__config_choice *phi__config_tables_preset(void) {
    return phi__config_tables_preset_choices;
}

/* The number of each bit, since an int has no room for the bits themselves. */
static const phi__config_choice phi__config_tables_quirk_choices[] = {
    {"max_completion_tokens", 0, false},
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
const phi__config_choice *phi__config_tables_quirk_names(void) {
    return phi__config_tables_quirk_choices;
}

static uint64_t phi__config_tables_quirk_bits(const phi__config_texts *texts) {
    uint64_t bits = 0;
    size_t i;
    for (i = 0; i < texts->count; i++) {
        const phi__config_choice *choice =
            phi__config_take_choice(phi__config_tables_quirk_choices, phi_str_of(texts->at[i]));
        if (choice != NULL) bits |= phi__config_tables_quirk_bit(choice);
    }
    return bits;
}

static const phi__config_choice phi__config_tables_max_tokens_field_choices[] = {
    {"max_tokens", 0, false},
    {"max_completion_tokens", PHI_QUIRK_MAX_COMPLETION_TOKENS, false},
    {"", 0, false}};

static const phi__config_choice phi__config_tables_reasoning_choices[] = {
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

static const phi__config_field phi__config_tables_provider_base_fields[] = {
    PHI__CONFIG_CHOOSE(phi__config_provider, preset, "preset", phi__config_tables_preset_choices,
                       "null",
                       "A server that phi knows: sets api, base_url, provider and compat, which "
                       "may be set as well."),
    PHI__CONFIG_PLAIN(phi__config_provider, model, "model", PHI__CONFIG_TEXT, 0, NULL,
                      "\"unknown\"", "The model id that the API knows."),
    PHI__CONFIG_PLAIN(phi__config_provider, api_key, "api_key", PHI__CONFIG_TEXT,
                      PHI__CONFIG_SECRET, NULL, "\"\"",
                      "The key; better as \"${NAME}\" than in the file."),
    PHI__CONFIG_CHOOSE(phi__config_provider, api, "api", phi__config_tables_api_choices,
                       "\"anthropic_messages\"",
                       "The protocol of the API; it is not guessed from the model."),
    PHI__CONFIG_ROW(phi__config_provider, base_url, "base_url", PHI__CONFIG_TEXT, 0, "url", NULL,
                    NULL, NULL, 0, 0, "null",
                    "The address of the API (default: that of the protocol or preset)."),
    PHI__CONFIG_PLAIN(phi__config_provider, provider, "provider", PHI__CONFIG_TEXT, 0, NULL,
                      "\"anthropic\"", "The name of the provider, for logs and ids."),
    PHI__CONFIG_PLAIN(phi__config_provider, name, "name", PHI__CONFIG_TEXT, PHI__CONFIG_NAME,
                      "provider", "null", "The name of the model, for people (default: model)."),
    PHI__CONFIG_PLAIN(phi__config_provider, description, "description", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "For people."),
    PHI__CONFIG_PLAIN(phi__config_provider, reasoning, "reasoning", PHI__CONFIG_BOOL, 0, NULL,
                      "false",
                      "The model can think; thinking_level is not sent to one that cannot."),
    PHI__CONFIG_RANGE(phi__config_provider, context_window, "context_window", PHI__CONFIG_INTEGER,
                      0, 1, 4294967295, "200000", "Tokens that the model can take."),
    PHI__CONFIG_RANGE(phi__config_provider, max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "8192", "Output tokens of a model call at most."),
    PHI__CONFIG_NEST(phi__config_provider, cost, "cost", PHI__CONFIG_TABLE, phi__config_tables_cost,
                     "Dollars per million tokens; needed by every max_cost."),
    PHI__CONFIG_PLAIN(phi__config_provider, headers, "headers", PHI__CONFIG_MAP, PHI__CONFIG_SECRET,
                      NULL, "{}", "Further HTTP headers, by name."),
    PHI__CONFIG_PLAIN(phi__config_provider, api_version, "api_version", PHI__CONFIG_TEXT, 0, NULL,
                      "null",
                      "anthropic_messages: the header anthropic-version (default 2023-06-01)."),
    PHI__CONFIG_NEST(phi__config_provider, compat, "compat", PHI__CONFIG_TABLE,
                     phi__config_tables_compat, "How the server differs from OpenAI's own."),
    PHI__CONFIG_PLAIN(
        phi__config_provider, extra, "extra", PHI__CONFIG_VALUE, 0, NULL, "null",
        "Members added to the body of each request: a table, or its JSON as a text.")};
static const phi__config_table phi__config_tables_provider_base_table = {
    "",
    phi__config_tables_provider_base_fields,
    PHI__COUNT(phi__config_tables_provider_base_fields),
    NULL,
    false,
    ""};
static const phi__config_table *phi__config_tables_provider_base(void) {
    return &phi__config_tables_provider_base_table;
}

static const phi__config_field phi__config_tables_provider_fields[] = {
    PHI__CONFIG_NEST(phi__config_provider, instances, "instances", PHI__CONFIG_TABLES,
                     phi__config_tables_provider_instance, "Named providers.")};
static const phi__config_table phi__config_tables_provider_table = {
    "provider",
    phi__config_tables_provider_fields,
    PHI__COUNT(phi__config_tables_provider_fields),
    phi__config_tables_provider_base,
    false,
    "The model of every agent that names no other."};
const phi__config_table *phi__config_tables_provider(void) {
    return &phi__config_tables_provider_table;
}

static const phi__config_field phi__config_tables_provider_instance_fields[] = {PHI__CONFIG_PLAIN(
    phi__config_provider, id, "id", PHI__CONFIG_TEXT, PHI__CONFIG_ID, "provider", "null",
    "Its name for references: \"{{name}}\" or \"{{%name%}}\" (default: name).")};
static const phi__config_table phi__config_tables_provider_instance_table = {
    "provider.instances",
    phi__config_tables_provider_instance_fields,
    PHI__COUNT(phi__config_tables_provider_instance_fields),
    phi__config_tables_provider_base,
    false,
    "A named provider: it takes nothing of [provider]."};
const phi__config_table *phi__config_tables_provider_instance(void) {
    return &phi__config_tables_provider_instance_table;
}

static const phi__config_field phi__config_tables_cost_fields[] = {
    PHI__CONFIG_RANGE(phi__config_cost, cost.input, "input_per_million", PHI__CONFIG_NUMBER, 0, 0,
                      1000000, "0.0", "Input tokens."),
    PHI__CONFIG_RANGE(phi__config_cost, cost.output, "output_per_million", PHI__CONFIG_NUMBER, 0, 0,
                      1000000, "0.0", "Output tokens."),
    PHI__CONFIG_RANGE(phi__config_cost, cost.cache_read, "cache_read_per_million",
                      PHI__CONFIG_NUMBER, 0, 0, 1000000, "0.0",
                      "Input tokens read from the prompt cache."),
    PHI__CONFIG_RANGE(phi__config_cost, cost.cache_write, "cache_write_per_million",
                      PHI__CONFIG_NUMBER, 0, 0, 1000000, "0.0",
                      "Input tokens written to the prompt cache.")};
static const phi__config_table phi__config_tables_cost_table = {
    "provider.cost",
    phi__config_tables_cost_fields,
    PHI__COUNT(phi__config_tables_cost_fields),
    NULL,
    false,
    "Dollars per million tokens."};
const phi__config_table *phi__config_tables_cost(void) { return &phi__config_tables_cost_table; }

static const phi__config_field phi__config_tables_compat_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_compat, supports_store, "supports_store", PHI__CONFIG_BOOL, 0,
                      NULL, "null", "It knows the member store, and false is sent."),
    PHI__CONFIG_PLAIN(phi__config_compat, supports_developer_role, "supports_developer_role",
                      PHI__CONFIG_BOOL, 0, NULL, "null",
                      "The system prompt has the role developer, where the model reasons."),
    PHI__CONFIG_PLAIN(phi__config_compat, supports_reasoning_effort, "supports_reasoning_effort",
                      PHI__CONFIG_BOOL, 0, NULL, "null",
                      "The thinking level is sent as reasoning_effort."),
    PHI__CONFIG_PLAIN(phi__config_compat, supports_usage_in_streaming,
                      "supports_usage_in_streaming", PHI__CONFIG_BOOL, 0, NULL, "null",
                      "It reports usage at the end of a stream (stream_options)."),
    PHI__CONFIG_PLAIN(phi__config_compat, requires_tool_result_name, "requires_tool_result_name",
                      PHI__CONFIG_BOOL, 0, NULL, "null", "Tool results name their tool."),
    PHI__CONFIG_PLAIN(phi__config_compat, requires_assistant_after_tool_result,
                      "requires_assistant_after_tool_result", PHI__CONFIG_BOOL, 0, NULL, "null",
                      "No user message may follow a tool result directly."),
    PHI__CONFIG_CHOOSE(phi__config_compat, max_tokens_field, "max_tokens_field",
                       phi__config_tables_max_tokens_field_choices, "null",
                       "The member that bounds the output."),
    PHI__CONFIG_ROW(phi__config_compat, reasoning_format, "reasoning_format", PHI__CONFIG_CHOICE, 0,
                    "thinking_format", phi__config_tables_reasoning_choices, NULL, NULL, 0, 0,
                    "null", "How the thinking level is sent."),
    PHI__CONFIG_ROW(phi__config_compat, quirks, "quirks", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__config_tables_quirk_choices, NULL, NULL, 0, 0, "[]",
                    "Further differences, by the names of PHI_QUIRK_ in lower case."),
    PHI__CONFIG_ROW(phi__config_compat, without, "without", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__config_tables_quirk_choices, NULL, NULL, 0, 0, "[]",
                    "Differences of the preset that do not apply.")};
static const phi__config_table phi__config_tables_compat_table = {
    "provider.compat",
    phi__config_tables_compat_fields,
    PHI__COUNT(phi__config_tables_compat_fields),
    NULL,
    false,
    "How a server differs from OpenAI's own; fields that are not set are as the preset has them."};
const phi__config_table *phi__config_tables_compat(void) {
    return &phi__config_tables_compat_table;
}

/* Bits that say how a thinking level is sent: one of them at most counts. */
#define PHI__CONFIG_REASONING                                                                      \
    (PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_REASONING_OBJECT | PHI_QUIRK_ENABLE_THINKING |         \
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REASONING_ENABLED | PHI_QUIRK_REASONING_FORMAT |          \
     PHI_QUIRK_TEMPLATE_THINKING)

uint64_t phi__config_tables_quirks(const phi__config_compat *compat, uint64_t quirks) {
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
    const phi__config_table *table = phi__config_tables_compat();
    size_t i;
    for (i = 0; i < PHI__COUNT(flags); i++)
        if ((compat->set >> i & 1) != 0)
            quirks = values[i] != flags[i].inverse ? quirks | flags[i].bit : quirks & ~flags[i].bit;
    if (phi__config_fields_has(table, compat, "max_tokens_field"))
        quirks = (quirks & ~(uint64_t)PHI_QUIRK_MAX_COMPLETION_TOKENS) |
                 (uint64_t)compat->max_tokens_field;
    if (phi__config_fields_has(table, compat, "reasoning_format"))
        quirks = (quirks & ~(uint64_t)PHI__CONFIG_REASONING) | (uint64_t)compat->reasoning_format;
    quirks |= phi__config_tables_quirk_bits(&compat->quirks);
    return quirks & ~phi__config_tables_quirk_bits(&compat->without);
}

/* ---- profiles ---- */

static const phi__config_choice phi__config_tables_thinking_choices[] = {
    {"off", PHI_THINKING_OFF, false},   {"minimal", PHI_THINKING_MINIMAL, false},
    {"low", PHI_THINKING_LOW, false},   {"medium", PHI_THINKING_MEDIUM, false},
    {"high", PHI_THINKING_HIGH, false}, {"xhigh", PHI_THINKING_XHIGH, false},
    {"max", PHI_THINKING_MAX, false},   {"", 0, false}};
const phi__config_choice *phi__config_tables_thinking(void) {
    return phi__config_tables_thinking_choices;
}

static const phi__config_field phi__config_tables_profile_base_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_profile, name, "name", PHI__CONFIG_TEXT, 0, NULL, "null",
                      "A name for people."),
    PHI__CONFIG_PLAIN(phi__config_profile, description, "description", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "For people."),
    PHI__CONFIG_PLAIN(
        phi__config_profile, system_prompt, "system_prompt", PHI__CONFIG_TEXT,
        PHI__CONFIG_FILE | PHI__CONFIG_REFERENCE, "system_prompt", "null",
        "The prompt, \"file:path\" relative to the workspace, or \"{{system_prompt.name}}\"."),
    PHI__CONFIG_CHOOSE(phi__config_profile, thinking, "thinking_level",
                       phi__config_tables_thinking_choices, "\"off\"",
                       "How much the model thinks before it answers."),
    PHI__CONFIG_RANGE(phi__config_profile, temperature, "temperature", PHI__CONFIG_NUMBER, 0, 0, 2,
                      "null", "0 to 2 (default: the provider's)."),
    PHI__CONFIG_RANGE(
        phi__config_profile, max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1, 4294967295,
        "null", "Output tokens of a model call at most (default: max_tokens of the provider)."),
    PHI__CONFIG_PLAIN(phi__config_profile, config_id, "config_id", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "A stable part of the ids of runs."),
    PHI__CONFIG_PLAIN(phi__config_profile, skills, "skills", PHI__CONFIG_TEXTS, 0, NULL, "[]",
                      "Names of skills; they are no tools. Needs phi_tools.h."),
    PHI__CONFIG_PLAIN(phi__config_profile, workspace, "workspace", PHI__CONFIG_TEXT,
                      PHI__CONFIG_PATH, NULL, "null",
                      "The working directory of tools and of \"file:\" paths."),
    PHI__CONFIG_PLAIN(phi__config_profile, compaction, "compaction", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ONLY_REFERENCE, "compaction", "null",
                      "A compaction of [[compaction.instances]].")};
static const phi__config_table phi__config_tables_profile_base_table = {
    "",
    phi__config_tables_profile_base_fields,
    PHI__COUNT(phi__config_tables_profile_base_fields),
    NULL,
    false,
    ""};
static const phi__config_table *phi__config_tables_profile_base(void) {
    return &phi__config_tables_profile_base_table;
}

static const phi__config_field phi__config_tables_profile_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_profile, profile_id, "profile_id", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "The id of the profile (default: random)."),
    PHI__CONFIG_NEST(phi__config_profile, instances, "instances", PHI__CONFIG_TABLES,
                     phi__config_tables_profile_instance, "Named variations of the profile.")};
static const phi__config_table phi__config_tables_profile_table = {
    "agent.profile",
    phi__config_tables_profile_fields,
    PHI__COUNT(phi__config_tables_profile_fields),
    phi__config_tables_profile_base,
    false,
    "What an agent is, apart from its model; a blueprint for all agents of the file."};
const phi__config_table *phi__config_tables_profile(void) {
    return &phi__config_tables_profile_table;
}

static const phi__config_field phi__config_tables_profile_instance_fields[] = {PHI__CONFIG_PLAIN(
    phi__config_profile, id, "id", PHI__CONFIG_TEXT, PHI__CONFIG_ID | PHI__CONFIG_REQUIRED,
    "agent_profile", "null", "Its name: \"{{name}}\" or \"{{%name%}}\".")};
static const phi__config_table phi__config_tables_profile_instance_table = {
    "agent.profile.instances",
    phi__config_tables_profile_instance_fields,
    PHI__COUNT(phi__config_tables_profile_instance_fields),
    phi__config_tables_profile_base,
    false,
    "A named profile: what it does not set is as in [agent.profile]."};
const phi__config_table *phi__config_tables_profile_instance(void) {
    return &phi__config_tables_profile_instance_table;
}

static const phi__config_field phi__config_tables_profile_inline_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_profile, profile_id, "profile_id", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "The id of the profile (default: random).")};
static const phi__config_table phi__config_tables_profile_inline_table = {
    "agent.instances.profile",
    phi__config_tables_profile_inline_fields,
    PHI__COUNT(phi__config_tables_profile_inline_fields),
    phi__config_tables_profile_base,
    false,
    "A profile of this instance alone."};
const phi__config_table *phi__config_tables_profile_inline(void) {
    return &phi__config_tables_profile_inline_table;
}

/* ---- sub-agents ---- */

static const phi__config_field phi__config_tables_sub_agents_fields[] = {
    PHI__CONFIG_NEST(phi__config_instances, instances, "instances", PHI__CONFIG_TABLES,
                     phi__config_tables_sub_agent, "The sub-agents.")};
static const phi__config_table phi__config_tables_sub_agents_table = {
    "sub_agents",
    phi__config_tables_sub_agents_fields,
    PHI__COUNT(phi__config_tables_sub_agents_fields),
    NULL,
    false,
    "Agents that are tools of agents."};
const phi__config_table *phi__config_tables_sub_agents(void) {
    return &phi__config_tables_sub_agents_table;
}

static const phi__config_field phi__config_tables_sub_agent_fields[] = {
    PHI__CONFIG_PLAIN(phi__config_sub_agent, id, "id", PHI__CONFIG_TEXT, PHI__CONFIG_ID,
                      "sub_agent", "null",
                      "Its name for references: \"{{name}}\" or \"{{%name%}}\" (default: name)."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, name, "name", PHI__CONFIG_TEXT,
                      PHI__CONFIG_NAME | PHI__CONFIG_REQUIRED, "sub_agent", "null",
                      "The name of the tool."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, description, "description", PHI__CONFIG_TEXT, 0, NULL,
                      "null", "What it does, for the model that calls it."),
    PHI__CONFIG_PLAIN(
        phi__config_sub_agent, system_prompt, "system_prompt", PHI__CONFIG_TEXT,
        PHI__CONFIG_FILE | PHI__CONFIG_REFERENCE, "system_prompt", "null",
        "The prompt, \"file:path\" relative to the workspace, or \"{{system_prompt.name}}\"."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, workspace, "workspace", PHI__CONFIG_TEXT,
                      PHI__CONFIG_PATH, NULL, "null",
                      "The working directory of its tools and of \"file:\" paths."),
    PHI__CONFIG_PLAIN(
        phi__config_sub_agent, provider, "provider", PHI__CONFIG_TEXT, PHI__CONFIG_ONLY_REFERENCE,
        "provider", "null",
        "A provider of [[provider.instances]], or an alias of [models] (default: [provider])."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, model, "model", PHI__CONFIG_TEXT, 0, NULL, "null",
                      "Another model id of that provider."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, api_key, "api_key", PHI__CONFIG_TEXT,
                      PHI__CONFIG_SECRET, NULL, "null",
                      "The key, as \"${NAME}\" (default: its provider's, for the same server)."),
    PHI__CONFIG_ROW(phi__config_sub_agent, base_url, "base_url", PHI__CONFIG_TEXT, 0, "url", NULL,
                    NULL, NULL, 0, 0, "null", "Another address of the API."),
    PHI__CONFIG_CHOOSE(phi__config_sub_agent, api, "api", phi__config_tables_api_choices, "null",
                       "Another protocol of the API."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, strategy, "strategy", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ONLY_REFERENCE, "strategy", "null",
                      "A strategy of [[strategy.instances]] (default: none)."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, compaction, "compaction", PHI__CONFIG_TEXT,
                      PHI__CONFIG_ONLY_REFERENCE, "compaction", "null",
                      "A compaction of [[compaction.instances]] (default: none)."),
    PHI__CONFIG_RANGE(phi__config_sub_agent, limits.max_turns, "max_turns", PHI__CONFIG_INTEGER,
                      PHI__CONFIG_NO_LIMIT, 1, 4294967295, "10", "Model calls at most."),
    PHI__CONFIG_RANGE(phi__config_sub_agent, limits.max_tokens, "max_total_tokens",
                      PHI__CONFIG_INTEGER, PHI__CONFIG_NO_LIMIT, 1, 0, "1000000",
                      "Input and output tokens at most."),
    PHI__CONFIG_RANGE(phi__config_sub_agent, limits.max_duration_ms, "max_duration_secs",
                      PHI__CONFIG_SECONDS, PHI__CONFIG_NO_LIMIT, 0.001, 0, "300",
                      "Seconds that it may take."),
    PHI__CONFIG_RANGE(phi__config_sub_agent, limits.max_cost, "max_cost", PHI__CONFIG_NUMBER, 0,
                      1e-06, 1000000000, "null",
                      "Dollars at most; needs cost rates of its provider."),
    PHI__CONFIG_CHOOSE(phi__config_sub_agent, thinking, "thinking_level",
                       phi__config_tables_thinking_choices, "\"off\"",
                       "How much the model thinks before it answers."),
    PHI__CONFIG_RANGE(phi__config_sub_agent, temperature, "temperature", PHI__CONFIG_NUMBER, 0, 0,
                      2, "null", "0 to 2 (default: the provider's)."),
    PHI__CONFIG_RANGE(
        phi__config_sub_agent, max_tokens, "max_tokens", PHI__CONFIG_INTEGER, 0, 1, 4294967295,
        "null", "Output tokens of a model call at most (default: max_tokens of the provider)."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, tools, "tools", PHI__CONFIG_TEXTS, 0, NULL, "[]",
                      "Names of its tools."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, sub_agents, "sub_agents", PHI__CONFIG_TEXTS,
                      PHI__CONFIG_ONLY_REFERENCE, "sub_agent", "[]",
                      "Sub-agents of its own; max_depth must allow them."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, mcp, "mcp", PHI__CONFIG_TEXTS,
                      PHI__CONFIG_ONLY_REFERENCE, "mcp", "[]", "MCP servers of its own."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, openapi, "openapi", PHI__CONFIG_TEXTS,
                      PHI__CONFIG_ONLY_REFERENCE, "openapi", "[]",
                      "OpenAPI specifications of its own."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, skills, "skills", PHI__CONFIG_TEXTS, 0, NULL, "[]",
                      "Names of skills. Needs phi_tools.h."),
    PHI__CONFIG_RANGE(phi__config_sub_agent, keep, "keep", PHI__CONFIG_INTEGER, 0, 0, 65536, "0",
                      "Finished children that stay, so that the model can continue one."),
    PHI__CONFIG_RANGE(
        phi__config_sub_agent, max_depth, "max_depth", PHI__CONFIG_INTEGER, 0, 1, 64, "1",
        "It gets sub-agents only where it is fewer than so many levels below the top."),
    PHI__CONFIG_RANGE(phi__config_sub_agent, timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS,
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, "null",
                      "Seconds that a call may take (default: the limits of its run)."),
    PHI__CONFIG_PLAIN(phi__config_sub_agent, show_events, "show_events", PHI__CONFIG_BOOL, 0, NULL,
                      "false", "Its events are emitted to the program, too.")};
static const phi__config_table phi__config_tables_sub_agent_table = {
    "sub_agents.instances",
    phi__config_tables_sub_agent_fields,
    PHI__COUNT(phi__config_tables_sub_agent_fields),
    NULL,
    false,
    "A sub-agent. Unset, its workspace is that of the agent that calls it."};
const phi__config_table *phi__config_tables_sub_agent(void) {
    return &phi__config_tables_sub_agent_table;
}

/* ---- failover ---- */

static const phi__config_choice phi__config_tables_failover_on_choices[] = {
    {"network", 1, false},
    {"server", 2, false},
    {"rate_limited", 4, false},
    {"quota", 8, false},
    {"auth", 16, false},
    {"no_model", 32, false},
    {"overflow", 64, false},
    {"content_filter", 128, false},
    {"invalid_request", 256, false},
    {"", 0, false}};
const phi__config_choice *phi__config_tables_failover_on(void) {
    return phi__config_tables_failover_on_choices;
}

static const phi__config_choice phi__config_tables_stay_choices[] = {
    {"run", 0, false}, {"for", 1, false}, {"ever", 2, false}, {"", 0, false}};

static const phi__config_field phi__config_tables_failover_fields[] = {
    PHI__CONFIG_PLAIN(
        phi__config_failover, models, "models", PHI__CONFIG_TEXTS,
        PHI__CONFIG_ONLY_REFERENCE | PHI__CONFIG_REQUIRED, "provider", "[]",
        "Providers of [[provider.instances]], or aliases of [models], in this order."),
    PHI__CONFIG_ROW(phi__config_failover, on, "on", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__config_tables_failover_on_choices, NULL, NULL, 0, 0,
                    "[\"network\", \"server\", \"rate_limited\", \"quota\", \"auth\", "
                    "\"no_model\", \"overflow\"]",
                    "The failures that lead to the next model."),
    PHI__CONFIG_RANGE(phi__config_failover, max_switches, "max_switches", PHI__CONFIG_INTEGER,
                      PHI__CONFIG_NO_LIMIT, 1, 4294967295, "null",
                      "Switches of a run at most (default: as many as there are models)."),
    PHI__CONFIG_CHOOSE(
        phi__config_failover, stay, "stay", phi__config_tables_stay_choices, "\"run\"",
        "How long an agent keeps a model that it went to: for the run, for stay_secs, "
        "or for ever."),
    PHI__CONFIG_RANGE(phi__config_failover, stay_ms, "stay_secs", PHI__CONFIG_SECONDS,
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, "300", "Seconds, with stay \"for\".")};
static const phi__config_table phi__config_tables_failover_table = {
    "failover",
    phi__config_tables_failover_fields,
    PHI__COUNT(phi__config_tables_failover_fields),
    NULL,
    false,
    "Other models to go on with when one fails for good."};
const phi__config_table *phi__config_tables_failover(void) {
    return &phi__config_tables_failover_table;
}
