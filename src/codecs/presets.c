/* presets.c - the presets as tables: facts about each provider and, by name, about its models. If a
   row is wrong for a new model, the host sets the field of phi_model itself. Source of URLs and
   quirks: the providers' documentation, November 2026.

   Each protocol has its own tables, so that a preset links only its own codec. */
#include "codecs/presets.h"
#include "codecs/names_in.h"

#include <string.h>

/* Facts by the start of a model's name. The first match is used. The last row has no prefix. */
typedef struct phi__preset_model {
    const char *prefix;
    uint64_t add, remove; /* quirks to add and to remove */
    bool reasoning;
} phi__preset_model;

typedef struct phi__preset {
    const char *provider, *base_url;
    uint64_t quirks;
    uint32_t context_window, max_tokens;
    bool reasoning;                  /* for models that no row of `models` matches */
    const phi__preset_model *models; /* may be NULL */
} phi__preset;

static void phi__presets_name(phi_model *model, const phi__preset_model *row, const char *id) {
    for (; id != NULL && row != NULL && row->prefix != NULL; row++) {
        if (strncmp(id, row->prefix, strlen(row->prefix)) != 0) continue;
        model->quirks = (model->quirks | row->add) & ~row->remove;
        model->reasoning = row->reasoning;
        return;
    }
}

static phi_model phi__presets_make(const char *protocol, phi_codec_fn codec,
                                   const phi__preset *preset, const char *id, const char *api_key) {
    phi_model model = PHI_ZERO;
    model.protocol = protocol;
    model.codec = codec;
    model.id = id;
    model.provider = preset->provider;
    model.base_url = preset->base_url;
    model.api_key = api_key;
    model.quirks = preset->quirks;
    model.context_window = preset->context_window;
    model.max_tokens = preset->max_tokens;
    model.reasoning = preset->reasoning;
    phi__presets_name(&model, preset->models, id);
    return model;
}

/* ---- Anthropic ---- */

static const phi__preset_model phi__preset_claudes[] = {
    {"claude-2", 0, 0, false},       {"claude-3-7", 0, 0, true}, {"claude-3", 0, 0, false},
    {"claude-instant", 0, 0, false}, {"claude-", 0, 0, true},    {NULL, 0, 0, false},
};

static phi_model phi__presets_claude(const phi__preset *preset, const char *id, const char *key) {
    return phi__presets_make(PHI_PROTOCOL_ANTHROPIC, phi__anthropic_codec, preset, id, key);
}

PHI_API phi_model phi_model_anthropic(const char *id, const char *api_key) {
    static const phi__preset preset = {"anthropic", "https://api.anthropic.com", 0, 200000, 8192,
                                       false,       phi__preset_claudes};
    return phi__presets_claude(&preset, id, api_key);
}

PHI_API phi_model phi_model_minimax(const char *id, const char *api_key) {
    /* MiniMax's Chat API leaves out the stream's end and hides its thinking */
    static const phi__preset preset = {
        "minimax", "https://api.minimax.io/anthropic", 0, 200000, 8192, false, NULL};
    return phi__presets_claude(&preset, id, api_key);
}

/* ---- OpenAI, and servers with its Chat protocol ---- */

/* Azure uses the table without its first row. */
static const phi__preset_model phi__preset_gpts[] = {
    {"chatgpt-", 0, 0, false}, {"gpt-5-chat", 0, 0, false}, {"gpt-3", 0, 0, false},
    {"gpt-4", 0, 0, false},    {NULL, 0, 0, false},
};
static const phi__preset_model phi__preset_openrouter_models[] = {
    {"anthropic/", PHI_QUIRK_DEVELOPER_ROLE | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"openai/gpt-4", PHI_QUIRK_DEVELOPER_ROLE, 0, false},
    {"openai/", PHI_QUIRK_DEVELOPER_ROLE, 0, true},
    {NULL, 0, 0, false},
};
static const phi__preset_model phi__preset_xai_models[] = {
    {"grok-3-mini", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {NULL, 0, 0, false},
};
static const phi__preset_model phi__preset_groq_models[] = {
    {"openai/gpt-oss", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"qwen", PHI_QUIRK_REASONING_FORMAT | PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"deepseek-r1", PHI_QUIRK_REASONING_FORMAT, 0, true},
    {NULL, 0, 0, false},
};
static const phi__preset_model phi__preset_cerebras_models[] = {
    {"gpt-oss", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {NULL, 0, 0, false},
};
static const phi__preset_model phi__preset_mistral_models[] = {
    {"magistral", PHI_QUIRK_PROMPT_MODE, 0, true},
    {NULL, 0, 0, false},
};
static const phi__preset_model phi__preset_deepseek_models[] = {
    {"deepseek-r1", 0, PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED, true},
    {NULL, 0, 0, false},
};
static const phi__preset_model phi__preset_litellm_models[] = {
    {"claude-3-7", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"claude-3", PHI_QUIRK_CACHE_CONTROL, 0, false},
    {"claude-", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"anthropic/claude-3-7", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"anthropic/claude-3", PHI_QUIRK_CACHE_CONTROL, 0, false},
    {"anthropic/", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"gpt-5-chat", PHI_QUIRK_CACHE_KEY, 0, false},
    {"gpt-5", PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_KEY, 0, true},
    {"gpt-", PHI_QUIRK_CACHE_KEY, 0, false},
    {NULL, 0, 0, false},
};

/* For servers that have no parser for the model's template. */
#define PHI__PRESET_SMALL (PHI_QUIRK_THINK_TAGS | PHI_QUIRK_TEXT_CALLS | PHI_QUIRK_REPAIR_CALLS)

static const phi__preset phi__preset_chats[] = {
    {"openai", "https://api.openai.com/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_DEVELOPER_ROLE | PHI_QUIRK_STORE_FALSE |
         PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_KEY | PHI_QUIRK_STRICT_TOOLS,
     128000, 4096, true, phi__preset_gpts},
    {"openrouter", "https://openrouter.ai/api/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_REASONING_OBJECT | PHI_QUIRK_REPLAY_REASONING,
     200000, 4096, false, phi__preset_openrouter_models},
    {"xai", "https://api.x.ai/v1", PHI_QUIRK_MAX_COMPLETION_TOKENS, 128000, 8192, false,
     phi__preset_xai_models},
    {"groq", "https://api.groq.com/openai/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_STRICT_TOOLS | PHI_QUIRK_NO_JSON_SCHEMA |
         PHI_QUIRK_FORMAT_ALONE,
     128000, 8192, false, phi__preset_groq_models},
    {"cerebras", "https://api.cerebras.ai/v1",
     PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_EMPTY_IS_OVERFLOW | PHI_QUIRK_FORMAT_ALONE, 128000,
     8192, false, phi__preset_cerebras_models},
    {"mistral", "https://api.mistral.ai/v1",
     PHI_QUIRK_NO_STREAM_USAGE | PHI_QUIRK_TOOL_NAME_IN_RESULT | PHI_QUIRK_EMPTY_CONTENT |
         PHI_QUIRK_ID_9 | PHI_QUIRK_THINKING_PARTS | PHI_QUIRK_CACHE_KEY |
         PHI_QUIRK_TOOL_CHOICE_ANY,
     128000, 8192, false, phi__preset_mistral_models},
    {"deepseek", "https://api.deepseek.com",
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_REPLAY_REASONING |
         PHI_QUIRK_REASONING_REQUIRED | PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_STRICT_TOOLS |
         PHI_QUIRK_NO_JSON_SCHEMA,
     128000, 8192, true, phi__preset_deepseek_models},
    {"together", "https://api.together.ai/v1",
     PHI_QUIRK_REASONING_ENABLED | PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_EMPTY_CONTENT, 128000,
     8192, false, NULL},
    {"qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
     PHI_QUIRK_ENABLE_THINKING | PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_NO_JSON_SCHEMA, 128000, 8192,
     false, NULL},
    {"moonshot", "https://api.moonshot.ai/v1",
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_EMPTY_CONTENT |
         PHI_QUIRK_NO_JSON_SCHEMA,
     128000, 8192, false, NULL},
    {"zai", "https://api.z.ai/api/paas/v4",
     PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_KEEP_THINKING | PHI_QUIRK_REPLAY_REASONING |
         PHI_QUIRK_TOOL_STREAM | PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_STRICT_TOOLS |
         PHI_QUIRK_NO_JSON_SCHEMA,
     128000, 8192, false, NULL},
    {"fireworks", "https://api.fireworks.ai/inference/v1", PHI_QUIRK_EMPTY_CONTENT, 128000, 8192,
     false, NULL},
    {"local", NULL,
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false, NULL},
    /* the window is Ollama's num_ctx, which a request cannot set */
    {"ollama", "http://localhost:11434/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_REASONING_EFFORT |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     4096, 4096, false, NULL},
    {"llama_cpp", "http://localhost:8080/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_TEMPLATE_THINKING |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false, NULL},
    {"vllm", "http://localhost:8000/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_TEMPLATE_THINKING |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false, NULL},
    {"lm_studio", "http://localhost:1234/v1",
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_REASONING_EFFORT |
         PHI_QUIRK_FORMAT_ALONE | PHI__PRESET_SMALL,
     128000, 4096, false, NULL},
    /* LiteLLM puts a made-up sentence in place of an empty text, and the model reads it. So
       messages with calls and no text have null content. LiteLLM refuses a cache key for models
       that are not OpenAI's. */
    {"litellm", "http://localhost:4000/v1", PHI_QUIRK_OPEN_KEY | PHI_QUIRK_EMPTY_TOOLS, 128000,
     4096, false, phi__preset_litellm_models},
};

PHI_API phi_model phi_model_preset(const char *name, const char *id, const char *api_key) {
    for (size_t i = 0; name != NULL && i < PHI__COUNT(phi__preset_chats); i++)
        if (strcmp(phi__preset_chats[i].provider, name) == 0)
            return phi__presets_make(PHI_PROTOCOL_OPENAI_CHAT, phi__chat_codec,
                                     &phi__preset_chats[i], id, api_key);
    phi_model model = PHI_ZERO;
    model.provider = name;
    return model;
}

PHI_API phi_model phi_model_openai(const char *id, const char *api_key) {
    return phi_model_preset("openai", id, api_key);
}

PHI_API phi_model phi_model_local(const char *base_url, const char *id, const char *api_key) {
    phi_model model = phi_model_preset("local", id, api_key);
    model.base_url = base_url;
    model.name = "Local Model";
    return model;
}

PHI_API phi_model phi_model_openai_responses(const char *id, const char *api_key) {
    static const phi__preset preset = {
        "openai_responses", "https://api.openai.com/v1", PHI_QUIRK_CACHE_KEY, 128000, 8192, true,
        phi__preset_gpts};
    return phi__presets_make(PHI_PROTOCOL_OPENAI_RESPONSES, phi__resp_codec, &preset, id, api_key);
}

PHI_API phi_model phi_model_azure(const char *base_url, const char *deployment,
                                  const char *api_key) {
    static const phi__preset preset = {"azure_openai", NULL, PHI_QUIRK_CACHE_KEY, 128000,
                                       8192,           true, &phi__preset_gpts[1]};
    phi_model model = phi__presets_make(PHI_PROTOCOL_AZURE_RESPONSES, phi__resp_codec_azure,
                                        &preset, deployment, api_key);
    model.base_url = base_url;
    return model;
}

/* ---- Google ---- */

#define PHI__PRESET_GOOGLE "https://generativelanguage.googleapis.com/v1beta"

static const phi__preset_model phi__preset_geminis[] = {
    {"gemini-1", 0, 0, false},
    {"gemini-2.0", 0, 0, false},
    {"gemini-", 0, 0, true},
    {NULL, 0, 0, false},
};

PHI_API phi_model phi_model_google(const char *id, const char *api_key) {
    static const phi__preset preset = {"google", PHI__PRESET_GOOGLE, 0, 1000000, 8192,
                                       false,    phi__preset_geminis};
    return phi__presets_make(PHI_PROTOCOL_GOOGLE, phi__gemini_codec, &preset, id, api_key);
}

PHI_API phi_model phi_model_vertex(const char *base_url, const char *id, const char *token) {
    static const phi__preset preset = {"google_vertex",    NULL, 0, 1000000, 8192, false,
                                       phi__preset_geminis};
    phi_model model =
        phi__presets_make(PHI_PROTOCOL_VERTEX, phi__gemini_codec_vertex, &preset, id, token);
    model.base_url = base_url;
    return model;
}

PHI_API phi_model phi_model_interactions(const char *id, const char *api_key) {
    static const phi__preset preset = {
        "google_interactions", PHI__PRESET_GOOGLE, 0, 1000000, 8192, false, phi__preset_geminis};
    return phi__presets_make(PHI_PROTOCOL_INTERACTIONS, phi__interactions_codec, &preset, id,
                             api_key);
}

/* ---- Amazon ---- */

PHI_API phi_model phi_model_bedrock(const char *base_url, const char *id, const char *key) {
    static const phi__preset preset = {
        "bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com", 0, 200000, 8192, false, NULL};
    phi_model model = phi__presets_make(PHI_PROTOCOL_BEDROCK, phi__bedrock_codec, &preset, id, key);
    const char *claude = id != NULL ? strstr(id, "claude-") : NULL;
    if (base_url != NULL) model.base_url = base_url;
    phi__presets_name(&model, phi__preset_claudes, claude);
    if (id != NULL && strstr(id, "gpt-oss") != NULL) model.reasoning = true;
    return model;
}
