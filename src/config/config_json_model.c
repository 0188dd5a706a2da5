/* config_json_model.c - a model as JSON, and back. */
#include "config/config_in.h"
#include "config/config_json_in.h"
#include "codecs/presets.h"
#include "wire/codec_in.h"
#include "config/config_tables_in.h"
#include "model/message_in.h"

/* ---- writing ---- */

static phi_json *phi__config_json_model_cost(phi_arena *arena, const phi_cost *cost) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    phi__config_json_put_num(&w, "input_per_million", cost->input);
    phi__config_json_put_num(&w, "output_per_million", cost->output);
    phi__config_json_put_num(&w, "cache_read_per_million", cost->cache_read);
    phi__config_json_put_num(&w, "cache_write_per_million", cost->cache_write);
    return phi__config_json_tree(&w);
}

static phi_json *phi__config_json_model_put_headers(phi_arena *arena, const phi_model *model,
                                                    bool secrets) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    size_t i;
    for (i = 0; i < model->header_count; i++)
        phi__config_json_put_text(&w, model->headers[i].name,
                                  secrets ? model->headers[i].value : "");
    return phi__config_json_tree(&w);
}

/* An object; a text that is none stays a text. NULL: no memory. */
static phi_json *phi__config_json_model_put_extra(phi_arena *arena, const char *extra) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, phi_str_of(extra), 0, &root, NULL);
    if (status == PHI_NO_MEMORY) return NULL;
    return status == PHI_OK ? root : phi__json_edit_text(arena, extra);
}

static const char *phi__config_json_model_format(uint64_t quirks) {
    return (quirks & PHI_QUIRK_REASONING_OBJECT) != 0  ? "OpenRouter"
           : (quirks & PHI_QUIRK_ENABLE_THINKING) != 0 ? "Qwen"
                                                       : "OpenAi";
}

static phi_json *phi__config_json_model_put_compat(phi_arena *arena, uint64_t quirks) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    const phi__config_choice *names = phi__config_tables_quirk_names();
    phi_json *list = phi_json_new_array(arena);
    phi__config_json_put_bool(&w, "supports_store", (quirks & PHI_QUIRK_STORE_FALSE) != 0);
    phi__config_json_put_bool(&w, "supports_developer_role",
                              (quirks & PHI_QUIRK_DEVELOPER_ROLE) != 0);
    phi__config_json_put_bool(&w, "supports_reasoning_effort",
                              (quirks & PHI_QUIRK_REASONING_EFFORT) != 0);
    phi__config_json_put_bool(&w, "supports_usage_in_streaming",
                              (quirks & PHI_QUIRK_NO_STREAM_USAGE) == 0);
    phi__config_json_put_text(
        &w, "max_tokens_field",
        (quirks & PHI_QUIRK_MAX_COMPLETION_TOKENS) != 0 ? "MaxCompletionTokens" : "MaxTokens");
    phi__config_json_put_bool(&w, "requires_tool_result_name",
                              (quirks & PHI_QUIRK_TOOL_NAME_IN_RESULT) != 0);
    phi__config_json_put_bool(&w, "requires_assistant_after_tool_result",
                              (quirks & PHI_QUIRK_ASSISTANT_AFTER_TOOL) != 0);
    phi__config_json_put_text(&w, "thinking_format", phi__config_json_model_format(quirks));
    for (; list != NULL && names->name[0] != '\0'; names++)
        if ((quirks & phi__config_tables_quirk_bit(names)) != 0 &&
            phi_json_add(list, phi__json_edit_text(arena, names->name)) != PHI_OK)
            return NULL;
    phi__config_json_put(&w, "quirks", list);
    return phi__config_json_tree(&w);
}

/* ---- reading ---- */

/* "open_ai_completions", "openai", "gemini": as PHI_PROTOCOL_; a protocol of the host's own stays
   as it is. */
static void phi__config_json_model_api(phi__config_json *r, const phi_json *node, phi_model *out) {
    const phi__config_choice *choice = phi__config_tables_api(), *found;
    phi__config_json_text(r, node, "api", &out->protocol, "api: expected a text");
    if (out->protocol == NULL) return;
    found = phi__config_take_choice(choice, phi_str_of(out->protocol));
    for (; found != NULL && choice->name[0] != '\0'; choice++)
        if (!choice->alias && choice->value == found->value) out->protocol = choice->name;
}

static void phi__config_json_model_read_cost(phi__config_json *r, const phi_json *node,
                                             phi_cost *out) {
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__config_json_fail(r, "cost: expected an object");
    phi__config_json_num(r, node, "input_per_million", 0, 1e9, &out->input,
                         "cost.input_per_million: expected a number of at least 0");
    phi__config_json_num(r, node, "output_per_million", 0, 1e9, &out->output,
                         "cost.output_per_million: expected a number of at least 0");
    phi__config_json_num(r, node, "cache_read_per_million", 0, 1e9, &out->cache_read,
                         "cost.cache_read_per_million: expected a number of at least 0");
    phi__config_json_num(r, node, "cache_write_per_million", 0, 1e9, &out->cache_write,
                         "cost.cache_write_per_million: expected a number of at least 0");
}

static bool phi__config_json_model_headers(phi__config_json *r, const phi_json *node,
                                           phi_arena *arena, phi_model *out) {
    static const char error[] = "headers: expected an object of texts";
    phi_json_iter it = phi_json_each(node);
    phi_model_header *headers;
    const phi_json *value;
    size_t n = phi_json_count(node), i = 0;
    phi_str name;
    if (node == NULL) return true;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__config_json_fail(r, error);
    if (n == 0 || r->error != NULL) return true;
    headers = (phi_model_header *)phi_arena_alloc(arena, phi__mul(n, sizeof *headers));
    if (headers == NULL) return false;
    while ((value = phi_json_next(&it)) != NULL) {
        if (!phi_json_is(value, PHI_JSON_STRING)) phi__config_json_fail(r, error);
        if (!phi__arena_str(arena, it.key, &name)) return false;
        headers[i].name = name.at;
        headers[i++].value = phi_json_str(value, "").at;
    }
    out->headers = headers;
    out->header_count = n;
    return true;
}

/* The flags of the interchange, where there is no list of ours. */
static void phi__config_json_model_flags(phi__config_json *r, const phi_json *node,
                                         uint64_t *quirks) {
    static const struct {
        char key[40], error[68];
        uint64_t bit;
        bool inverse;
    } flags[] = {
        {"supports_store", "compat.supports_store: expected true or false", PHI_QUIRK_STORE_FALSE,
         false},
        {"supports_developer_role", "compat.supports_developer_role: expected true or false",
         PHI_QUIRK_DEVELOPER_ROLE, false},
        {"supports_reasoning_effort", "compat.supports_reasoning_effort: expected true or false",
         PHI_QUIRK_REASONING_EFFORT, false},
        {"supports_usage_in_streaming",
         "compat.supports_usage_in_streaming: expected true or false", PHI_QUIRK_NO_STREAM_USAGE,
         true},
        {"requires_tool_result_name", "compat.requires_tool_result_name: expected true or false",
         PHI_QUIRK_TOOL_NAME_IN_RESULT, false},
        {"requires_assistant_after_tool_result",
         "compat.requires_assistant_after_tool_result: expected true or false",
         PHI_QUIRK_ASSISTANT_AFTER_TOOL, false}};
    phi_str field = phi_json_str(phi_json_get(node, "max_tokens_field"), "");
    phi_str format = phi_json_str(phi_json_get(node, "thinking_format"), "");
    size_t i;
    for (i = 0; i < PHI__COUNT(flags); i++) {
        bool value = flags[i].inverse;
        phi__config_json_bool(r, node, flags[i].key, &value, flags[i].error);
        if (value != flags[i].inverse) *quirks |= flags[i].bit;
    }
    if (phi__str_is_nocase(field, "MaxCompletionTokens") ||
        phi__str_is_nocase(field, "max_completion_tokens"))
        *quirks |= PHI_QUIRK_MAX_COMPLETION_TOKENS;
    if (phi__str_is_nocase(format, "OpenRouter")) *quirks |= PHI_QUIRK_REASONING_OBJECT;
    if (phi__str_is_nocase(format, "Qwen")) *quirks |= PHI_QUIRK_ENABLE_THINKING;
}

static void phi__config_json_model_compat(phi__config_json *r, const phi_json *node,
                                          uint64_t *quirks) {
    const phi_json *list = phi__config_json_get(node, "quirks"), *item;
    phi_json_iter it = phi_json_each(list);
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__config_json_fail(r, "compat: expected an object or null");
    if (list == NULL) {
        phi__config_json_model_flags(r, node, quirks);
        return;
    }
    if (!phi_json_is(list, PHI_JSON_ARRAY))
        phi__config_json_fail(r, "compat.quirks: expected an array");
    while ((item = phi_json_next(&it)) != NULL) {
        const phi__config_choice *choice =
            phi__config_take_choice(phi__config_tables_quirk_names(), phi_json_str(item, ""));
        if (choice == NULL)
            phi__config_json_fail(r, "compat.quirks: expected names of PHI_QUIRK_ in lower case");
        else
            *quirks |= phi__config_tables_quirk_bit(choice);
    }
}

/* An object, or its JSON as a text. False: no memory. */
static bool phi__config_json_model_extra(phi__config_json *r, const phi_json *node,
                                         phi_arena *arena, phi_model *out) {
    phi_str text = PHI__LIT("");
    phi_status status;
    if (node == NULL) return true;
    if (phi_json_is(node, PHI_JSON_STRING))
        text = phi_json_str(node, "");
    else if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__config_json_fail(r, "extra: expected an object, or its JSON as a text");
    else {
        status = phi_json_write(arena, node, 0, &text);
        if (status != PHI_OK) return false;
    }
    if (text.len > 0 && !phi__arena_str(arena, text, &text)) return false;
    if (text.len > 0) out->extra = text.at;
    return true;
}

PHI__FN phi_json *phi__config_json_model_write(phi_arena *arena, const phi_model *model,
                                               uint32_t flags) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    bool secrets = (flags & PHI_SETTINGS_SECRETS) != 0;
    phi_model m = PHI_ZERO;
    const char *api;
    if (model != NULL) m = *model;
    if (m.protocol == NULL) m.protocol = PHI_PROTOCOL_ANTHROPIC;
    api = phi__message_read_api(phi_str_of(m.protocol));
    phi__config_json_put_text(&w, "id", m.id != NULL ? m.id : "");
    phi__config_json_put_text(&w, "name", m.name != NULL ? m.name : m.id != NULL ? m.id : "");
    phi__config_json_put_text(&w, "api", api != NULL ? api : m.protocol);
    phi__config_json_put_text(&w, "provider", m.provider != NULL ? m.provider : m.protocol);
    phi__config_json_put_text(&w, "base_url", m.base_url != NULL ? m.base_url : "");
    phi__config_json_put_text(&w, "api_key", secrets && m.api_key != NULL ? m.api_key : "");
    phi__config_json_put_bool(&w, "reasoning", m.reasoning);
    phi__config_json_put_or(&w, "context_window", m.context_window, 128000);
    phi__config_json_put_or(&w, "max_tokens", m.max_tokens, 8192);
    phi__config_json_put(&w, "cost", phi__config_json_model_cost(arena, &m.cost));
    phi__config_json_put(&w, "headers", phi__config_json_model_put_headers(arena, &m, secrets));
    if (m.extra != NULL)
        phi__config_json_put(&w, "extra", phi__config_json_model_put_extra(arena, m.extra));
    if (m.quirks != 0 || strcmp(m.protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0)
        phi__config_json_put(&w, "compat", phi__config_json_model_put_compat(arena, m.quirks));
    else
        phi__config_json_put_text(&w, "compat", NULL);
    if (m.api_version != NULL && m.api_version[0] != '\0')
        phi__config_json_put_text(&w, "api_version", m.api_version);
    return phi__config_json_tree(&w);
}

PHI__FN phi_status phi__config_json_model_read(const phi_json *node, phi_arena *arena,
                                               phi_model *out, const char **error) {
    phi__config_json r = PHI_ZERO;
    phi_model m = PHI_ZERO;
    phi_status status;
    if (error != NULL) *error = NULL;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__config_json_fail(&r, "model: expected an object");
    phi__config_json_text(&r, node, "id", &m.id, "id: expected a text");
    phi__config_json_text(&r, node, "name", &m.name, "name: expected a text");
    phi__config_json_model_api(&r, node, &m);
    phi__config_json_text(&r, node, "provider", &m.provider, "provider: expected a text");
    phi__config_json_text(&r, node, "base_url", &m.base_url, "base_url: expected a text");
    phi__config_json_text(&r, node, "api_key", &m.api_key, "api_key: expected a text");
    phi__config_json_text(&r, node, "api_version", &m.api_version, "api_version: expected a text");
    phi__config_json_bool(&r, node, "reasoning", &m.reasoning, "reasoning: expected true or false");
    (void)phi__config_json_u32(&r, node, "context_window", 1, &m.context_window,
                               "context_window: expected an integer from 1 to 4294967295");
    (void)phi__config_json_u32(&r, node, "max_tokens", 1, &m.max_tokens,
                               "max_tokens: expected an integer from 1 to 4294967295");
    phi__config_json_model_read_cost(&r, phi__config_json_get(node, "cost"), &m.cost);
    phi__config_json_model_compat(&r, phi__config_json_get(node, "compat"), &m.quirks);
    if (!phi__config_json_model_headers(&r, phi__config_json_get(node, "headers"), arena, &m) ||
        !phi__config_json_model_extra(&r, phi__config_json_get(node, "extra"), arena, &m))
        return PHI_NO_MEMORY;
    if (m.base_url != NULL && m.base_url[0] == '\0') m.base_url = NULL;
    if (m.api_key != NULL && m.api_key[0] == '\0') m.api_key = NULL;
    if (m.protocol != NULL) m.codec = phi__codec_named(PHI_ALL_PROTOCOLS, phi_str_of(m.protocol));
    status = phi__config_json_end(&r, error);
    if (status == PHI_OK) *out = m;
    return status;
}
