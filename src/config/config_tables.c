/* config_tables.c - the tables of the top of a file, and of the sections about sessions, tools,
   compaction and runs. The others are in config_tables.c, config_tables.c and
   config_tables.c. */
#include "config/config_tables_in.h"

typedef struct phi__config_context {
    uint64_t set;
    const phi_json *compaction;
} phi__config_context;

/* A section that has nothing but instances: sub_agents, strategy, system_prompt... */
typedef struct phi__config_instances {
    uint64_t set;
    const phi_json *instances;
} phi__config_instances;

typedef struct phi__config_prompt_strategy {
    uint64_t set;
    const char *id, *description;
    const phi_json *blocks;
} phi__config_prompt_strategy;

/* Its other keys are its blocks: texts, or "file:path". */
typedef struct phi__config_prompt {
    uint64_t set;
    const char *id, *description, *type;
} phi__config_prompt;

static const phi__config_table *phi__config_tables_profile_instance(void);
static const phi__config_table *phi__config_tables_context(void);
static const phi__config_table *phi__config_tables_prompt_strategy(void);

/* ======== The tables of what a model is asked with: providers, profiles,
   sub-agents, failover. */

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
    for (size_t i = 0; i < texts->count; i++) {
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
    for (size_t i = 0; i < PHI__COUNT(flags); i++)
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
static const phi__config_table *phi__config_tables_profile_instance(void) {
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
static const phi__config_table *phi__config_tables_profile_inline(void) {
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
static const phi__config_table *phi__config_tables_sub_agents(void) {
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

/* ======== The tables of agents and system prompts. */

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
static const phi__config_table *phi__config_tables_prompt_strategies(void) {
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
static const phi__config_table *phi__config_tables_prompt_strategy(void) {
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
static const phi__config_table *phi__config_tables_prompts(void) {
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

/* ======== The tables of reasoning strategies and their options. */

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
static const phi__config_table *phi__config_tables_strategies(void) {
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

/* ======== The structs that the tables of phi.h's own sections fill.

   Each begins with `set` (config_in.h). A member of a public type has that type's meaning of zero;
   what a file says in another way (has_temperature, keep_no_first, disable) is for the caller to
   fill out of `set`. */

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
static const phi__config_table *phi__config_tables_context(void) {
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
