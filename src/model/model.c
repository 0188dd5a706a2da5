/* model.c - the presets as tables: facts about each provider and, by the model's name, about the
   model. Where a row is wrong for a new model, the host sets the field of phi_model itself. Where
   servers and quirks come from: the providers' documentation, as of November 2026. */
#include "model/model_in.h"

typedef struct phi__preset {
    const char *protocol, *provider, *base_url;
    uint64_t quirks;
    uint32_t context_window, max_tokens;
    bool reasoning; /* of a model that no row below names */
} phi__preset;

/* For what a server passes on that has no parser for the model's template. */
#define PHI__PRESET_SMALL (PHI_QUIRK_THINK_TAGS | PHI_QUIRK_TEXT_CALLS | PHI_QUIRK_REPAIR_CALLS)

/* In the order of phi__preset_rows. */
enum {
    PHI__PRESET_ANTHROPIC,
    PHI__PRESET_MINIMAX,
    PHI__PRESET_OPENAI,
    PHI__PRESET_OPENAI_RESPONSES,
    PHI__PRESET_AZURE,
    PHI__PRESET_OPENROUTER,
    PHI__PRESET_XAI,
    PHI__PRESET_GROQ,
    PHI__PRESET_CEREBRAS,
    PHI__PRESET_MISTRAL,
    PHI__PRESET_DEEPSEEK,
    PHI__PRESET_TOGETHER,
    PHI__PRESET_QWEN,
    PHI__PRESET_MOONSHOT,
    PHI__PRESET_ZAI,
    PHI__PRESET_FIREWORKS,
    PHI__PRESET_LOCAL,
    PHI__PRESET_OLLAMA,
    PHI__PRESET_LLAMA_CPP,
    PHI__PRESET_VLLM,
    PHI__PRESET_LM_STUDIO,
    PHI__PRESET_LITELLM,
    PHI__PRESET_GOOGLE,
    PHI__PRESET_VERTEX,
    PHI__PRESET_INTERACTIONS,
    PHI__PRESET_BEDROCK
};

static const phi__preset phi__preset_rows[] = {
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "https://api.anthropic.com", 0, 200000, 8192, false},
    /* its Chat API leaves the stream's end out and hides its thinking; this one does neither */
    {PHI_PROTOCOL_ANTHROPIC, "minimax", "https://api.minimax.io/anthropic", 0, 200000, 8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "openai", "https://api.openai.com/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_DEVELOPER_ROLE | PHI_QUIRK_STORE_FALSE |
         PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_KEY | PHI_QUIRK_STRICT_TOOLS,
     128000, 4096, true},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai_responses", "https://api.openai.com/v1",
     PHI_QUIRK_CACHE_KEY, 128000, 8192, true},
    {PHI_PROTOCOL_AZURE_RESPONSES, "azure_openai", NULL, PHI_QUIRK_CACHE_KEY, 128000, 8192, true},
    {PHI_PROTOCOL_OPENAI_CHAT, "openrouter", "https://openrouter.ai/api/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_REASONING_OBJECT | PHI_QUIRK_REPLAY_REASONING,
     200000, 4096, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "xai", "https://api.x.ai/v1", PHI_QUIRK_MAX_COMPLETION_TOKENS,
     128000, 8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "groq", "https://api.groq.com/openai/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_STRICT_TOOLS | PHI_QUIRK_NO_JSON_SCHEMA |
         PHI_QUIRK_FORMAT_ALONE,
     128000, 8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "cerebras", "https://api.cerebras.ai/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_EMPTY_IS_OVERFLOW | PHI_QUIRK_FORMAT_ALONE, 128000,
     8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "mistral", "https://api.mistral.ai/v1",
     PHI_QUIRK_NO_STREAM_USAGE | PHI_QUIRK_TOOL_NAME_IN_RESULT | PHI_QUIRK_EMPTY_CONTENT |
         PHI_QUIRK_ID_9 | PHI_QUIRK_THINKING_PARTS | PHI_QUIRK_CACHE_KEY |
         PHI_QUIRK_TOOL_CHOICE_ANY,
     128000, 8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "deepseek", "https://api.deepseek.com",
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_REPLAY_REASONING |
         PHI_QUIRK_REASONING_REQUIRED | PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_STRICT_TOOLS |
         PHI_QUIRK_NO_JSON_SCHEMA,
     128000, 8192, true},
    {PHI_PROTOCOL_OPENAI_CHAT, "together", "https://api.together.ai/v1",
     PHI_QUIRK_REASONING_ENABLED | PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_EMPTY_CONTENT, 128000,
     8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
     PHI_QUIRK_ENABLE_THINKING | PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_NO_JSON_SCHEMA, 128000, 8192,
     false},
    {PHI_PROTOCOL_OPENAI_CHAT, "moonshot", "https://api.moonshot.ai/v1",
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_EMPTY_CONTENT |
         PHI_QUIRK_NO_JSON_SCHEMA,
     128000, 8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "zai", "https://api.z.ai/api/paas/v4",
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_KEEP_THINKING | PHI_QUIRK_REPLAY_REASONING |
         PHI_QUIRK_TOOL_STREAM | PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_STRICT_TOOLS |
         PHI_QUIRK_NO_JSON_SCHEMA,
     128000, 8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "fireworks", "https://api.fireworks.ai/inference/v1",
     PHI_QUIRK_EMPTY_CONTENT, 128000, 8192, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "local", NULL,
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false},
    /* its num_ctx, which cannot be set from here, is the window */
    {PHI_PROTOCOL_OPENAI_CHAT, "ollama", "http://localhost:11434/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_REASONING_EFFORT |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     4096, 4096, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "llama_cpp", "http://localhost:8080/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_TEMPLATE_THINKING |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "vllm", "http://localhost:8000/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_TEMPLATE_THINKING |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "lm_studio", "http://localhost:1234/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_REASONING_EFFORT |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false},
    /* empty content beside calls becomes words of its own, so none is sent; a cache key is refused
       for models that are not OpenAI's: the rows below */
    {PHI_PROTOCOL_OPENAI_CHAT, "litellm", "http://localhost:4000/v1",
     PHI_QUIRK_OPEN_KEY | PHI_QUIRK_EMPTY_TOOLS, 128000, 4096, false},
    {PHI_PROTOCOL_GOOGLE, "google", "https://generativelanguage.googleapis.com/v1beta", 0, 1000000,
     8192, false},
    {PHI_PROTOCOL_VERTEX, "google_vertex", NULL, 0, 1000000, 8192, false},
    {PHI_PROTOCOL_INTERACTIONS, "google_interactions",
     "https://generativelanguage.googleapis.com/v1beta", 0, 1000000, 8192, false},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com", 0, 200000,
     8192, false},
};

/* By the start of the model's name; the first row that fits decides. */
typedef struct phi__preset_model {
    const char *provider, *prefix;
    uint64_t add, remove; /* quirks */
    bool reasoning;
} phi__preset_model;

static const phi__preset_model phi__preset_models[] = {
    {"anthropic", "claude-2", 0, 0, false},
    {"anthropic", "claude-3-7", 0, 0, true},
    {"anthropic", "claude-3", 0, 0, false},
    {"anthropic", "claude-instant", 0, 0, false},
    {"anthropic", "claude-", 0, 0, true},
    {"openai", "gpt-5-chat", 0, 0, false},
    {"openai", "gpt-3", 0, 0, false},
    {"openai", "gpt-4", 0, 0, false},
    {"openai", "chatgpt-", 0, 0, false},
    {"openai_responses", "gpt-5-chat", 0, 0, false},
    {"openai_responses", "gpt-3", 0, 0, false},
    {"openai_responses", "gpt-4", 0, 0, false},
    {"openai_responses", "chatgpt-", 0, 0, false},
    {"azure_openai", "gpt-5-chat", 0, 0, false},
    {"azure_openai", "gpt-3", 0, 0, false},
    {"azure_openai", "gpt-4", 0, 0, false},
    {"openrouter", "anthropic/", PHI_QUIRK_DEVELOPER_ROLE | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"openrouter", "openai/gpt-4", PHI_QUIRK_DEVELOPER_ROLE, 0, false},
    {"openrouter", "openai/", PHI_QUIRK_DEVELOPER_ROLE, 0, true},
    {"groq", "openai/gpt-oss", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"groq", "qwen", PHI_QUIRK_REASONING_FORMAT | PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"groq", "deepseek-r1", PHI_QUIRK_REASONING_FORMAT, 0, true},
    {"cerebras", "gpt-oss", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"xai", "grok-3-mini", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"mistral", "magistral", PHI_QUIRK_PROMPT_MODE, 0, true},
    {"deepseek", "deepseek-r1", 0, PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED, true},
    {"litellm", "claude-3-7", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"litellm", "claude-3", PHI_QUIRK_CACHE_CONTROL, 0, false},
    {"litellm", "claude-", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"litellm", "anthropic/claude-3-7", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0,
     true},
    {"litellm", "anthropic/claude-3", PHI_QUIRK_CACHE_CONTROL, 0, false},
    {"litellm", "anthropic/", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"litellm", "gpt-5-chat", PHI_QUIRK_CACHE_KEY, 0, false},
    {"litellm", "gpt-5", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_KEY, 0, true},
    {"litellm", "gpt-", PHI_QUIRK_CACHE_KEY, 0, false},
    {"google", "gemini-1", 0, 0, false},
    {"google", "gemini-2.0", 0, 0, false},
    {"google", "gemini-", 0, 0, true},
    {"google_vertex", "gemini-1", 0, 0, false},
    {"google_vertex", "gemini-2.0", 0, 0, false},
    {"google_vertex", "gemini-", 0, 0, true},
    {"google_interactions", "gemini-1", 0, 0, false},
    {"google_interactions", "gemini-2.0", 0, 0, false},
    {"google_interactions", "gemini-", 0, 0, true},
};

static bool phi__model_preset_is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static phi_model phi__model_preset_make(int which, const char *id, const char *api_key) {
    const phi__preset *preset = &phi__preset_rows[which];
    phi_model model;
    size_t i;
    memset(&model, 0, sizeof model);
    model.protocol = preset->protocol;
    model.id = id;
    model.provider = preset->provider;
    model.base_url = preset->base_url;
    model.api_key = api_key;
    model.quirks = preset->quirks;
    model.context_window = preset->context_window;
    model.max_tokens = preset->max_tokens;
    model.reasoning = preset->reasoning;
    for (i = 0; id != NULL && i < PHI__COUNT(phi__preset_models); i++) {
        const phi__preset_model *row = &phi__preset_models[i];
        if (!phi__model_preset_is(row->provider, preset->provider)) continue;
        if (strncmp(id, row->prefix, strlen(row->prefix)) != 0) continue;
        model.quirks = (model.quirks | row->add) & ~row->remove;
        model.reasoning = row->reasoning;
        break;
    }
    return model;
}

/* At the caller's address. */
static phi_model phi__model_preset_at(int which, const char *base_url, const char *id,
                                      const char *api_key) {
    phi_model model = phi__model_preset_make(which, id, api_key);
    model.base_url = base_url;
    return model;
}

/* A server on this machine, or wherever `base_url` says. */
static phi_model phi__model_preset_own(int which, const char *base_url, const char *id) {
    phi_model model = phi__model_preset_make(which, id, NULL);
    if (base_url != NULL && base_url[0] != '\0') model.base_url = base_url;
    return model;
}

/* ---- public ---- */

PHI_API phi_model phi_model_anthropic(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_ANTHROPIC, id, api_key);
}

PHI_API phi_model phi_model_minimax(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_MINIMAX, id, api_key);
}

PHI_API phi_model phi_model_openai(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_OPENAI, id, api_key);
}

PHI_API phi_model phi_model_openai_responses(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_OPENAI_RESPONSES, id, api_key);
}

PHI_API phi_model phi_model_azure(const char *base_url, const char *deployment,
                                  const char *api_key) {
    return phi__model_preset_at(PHI__PRESET_AZURE, base_url, deployment, api_key);
}

PHI_API phi_model phi_model_openrouter(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_OPENROUTER, id, api_key);
}

PHI_API phi_model phi_model_xai(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_XAI, id, api_key);
}

PHI_API phi_model phi_model_groq(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_GROQ, id, api_key);
}

PHI_API phi_model phi_model_cerebras(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_CEREBRAS, id, api_key);
}

PHI_API phi_model phi_model_mistral(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_MISTRAL, id, api_key);
}

PHI_API phi_model phi_model_deepseek(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_DEEPSEEK, id, api_key);
}

PHI_API phi_model phi_model_together(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_TOGETHER, id, api_key);
}

PHI_API phi_model phi_model_qwen(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_QWEN, id, api_key);
}

PHI_API phi_model phi_model_moonshot(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_MOONSHOT, id, api_key);
}

PHI_API phi_model phi_model_zai(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_ZAI, id, api_key);
}

PHI_API phi_model phi_model_fireworks(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_FIREWORKS, id, api_key);
}

PHI_API phi_model phi_model_local(const char *base_url, const char *id, const char *api_key) {
    phi_model model = phi__model_preset_at(PHI__PRESET_LOCAL, base_url, id, api_key);
    model.name = "Local Model";
    return model;
}

PHI_API phi_model phi_model_ollama(const char *base_url, const char *id) {
    return phi__model_preset_own(PHI__PRESET_OLLAMA, base_url, id);
}

PHI_API phi_model phi_model_llama_cpp(const char *base_url, const char *id) {
    return phi__model_preset_own(PHI__PRESET_LLAMA_CPP, base_url, id);
}

PHI_API phi_model phi_model_vllm(const char *base_url, const char *id) {
    return phi__model_preset_own(PHI__PRESET_VLLM, base_url, id);
}

PHI_API phi_model phi_model_lm_studio(const char *base_url, const char *id) {
    return phi__model_preset_own(PHI__PRESET_LM_STUDIO, base_url, id);
}

PHI_API phi_model phi_model_litellm(const char *base_url, const char *id, const char *api_key) {
    phi_model model = phi__model_preset_own(PHI__PRESET_LITELLM, base_url, id);
    model.api_key = api_key;
    return model;
}

PHI_API phi_model phi_model_google(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_GOOGLE, id, api_key);
}

PHI_API phi_model phi_model_vertex(const char *base_url, const char *id, const char *token) {
    return phi__model_preset_at(PHI__PRESET_VERTEX, base_url, id, token);
}

PHI_API phi_model phi_model_interactions(const char *id, const char *api_key) {
    return phi__model_preset_make(PHI__PRESET_INTERACTIONS, id, api_key);
}

PHI_API phi_model phi_model_bedrock(const char *base_url, const char *id, const char *key) {
    phi_model model = phi__model_preset_make(PHI__PRESET_BEDROCK, id, key);
    const char *claude = id != NULL ? strstr(id, "claude-") : NULL;
    if (base_url != NULL) model.base_url = base_url;
    if (claude != NULL) model.reasoning = phi_model_anthropic(claude, key).reasoning;
    if (id != NULL && strstr(id, "gpt-oss") != NULL) model.reasoning = true;
    return model;
}

/* Scheme, host and port. */
static phi_str phi__model_origin(const char *address) {
    phi_str url = phi_str_of(address);
    size_t at = phi__str_find(url, 0, "://");
    for (at = at == SIZE_MAX ? 0 : at + 3; at < url.len; at++)
        if (strchr("/?#", url.at[at]) != NULL) break;
    return phi__str(url.at, at);
}

PHI__FN bool phi__model_same_server(const char *a, const char *b) {
    return phi_str_equal(phi__model_origin(a), phi__model_origin(b));
}

PHI__FN bool phi__model_is_at(const phi_model *model, const char *address) {
    return phi__model_same_server(model->base_url, address);
}

PHI_API double phi_cost_of(const phi_cost *rates, const phi_usage *usage) {
    return ((double)usage->input * rates->input + (double)usage->output * rates->output +
            (double)usage->cache_read * rates->cache_read +
            (double)usage->cache_write * rates->cache_write) /
           1e6;
}
