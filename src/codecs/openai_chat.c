/* openai_chat.c - requests of the OpenAI Chat Completions API, for all servers that speak it.

   Each message is rendered whole and kept; what servers do differently are bits of the model's
   quirks, and those bits that change a message are part of the form it is kept under. wire.md parts
   3 and 9. */
#include "codecs/openai_chat_in.h"

#include "codecs/openai_in.h"
#include "codecs/names_in.h"
#include "wire/format_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

/* The settings that a rendering depends on: bits of phi__rendered.form, above the quirks. The
   PHI__MEDIA_ bits are its lowest, which no quirk of the form has. */
enum {
    PHI__OPENAI_CHAT_FORM = 1 << 30,
    PHI__OPENAI_CHAT_ORIGIN = 1 << 29,   /* minted by the same model: reasoning goes back */
    PHI__OPENAI_CHAT_THINKING = 1 << 28, /* this request thinks */
    PHI__OPENAI_CHAT_MEDIA = 1 << 27,    /* images, documents and audio of a tool result */
    PHI__OPENAI_CHAT_NO_GIF = 1 << 26    /* words in place of GIFs (Ollama) */
};

/* The quirks that change how a message is rendered. */
#define PHI__OPENAI_CHAT_FORM_QUIRKS                                                               \
    (PHI_QUIRK_TOOL_NAME_IN_RESULT | PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED |   \
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_ID_9 | PHI_QUIRK_THINKING_PARTS |                         \
     PHI_QUIRK_CACHE_CONTROL | PHI_QUIRK_NO_IMAGES)

#define PHI__OPENAI_CHAT_OBJECT_LINE "Answer with one JSON object and nothing else."
#define PHI__OPENAI_CHAT_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__OPENAI_CHAT_MARK_HOUR ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}"

static const char *phi__openai_chat_mark(const phi__encoder *e) {
    return e->spec->cache.one_hour ? PHI__OPENAI_CHAT_MARK_HOUR : PHI__OPENAI_CHAT_MARK;
}

/* Claude behind LiteLLM, which hands on what Anthropic then refuses beside thinking: a temperature,
   and a forced call. */
static bool phi__openai_chat_claude_thinks(const phi__request_spec *spec) {
    return phi__openai_chat_thinking_wanted(spec) &&
           (spec->model->quirks & PHI_QUIRK_CACHE_CONTROL) != 0 &&
           phi__str_is(phi_str_of(spec->model->provider), "litellm");
}

/* ---- messages ---- */

/* Before a message: the comma, and what some servers want between a tool and a user. */
static void phi__openai_chat_before(phi__encoder *e, phi_role role) {
    if (role == PHI_ROLE_USER && e->last_role == PHI_ROLE_TOOL_RESULT &&
        phi__openai_chat_quirk(e, PHI_QUIRK_ASSISTANT_AFTER_TOOL))
        phi__encode_glue(e, ",{\"role\":\"assistant\",\"content\":\"I have the results.\"}");
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = role;
}

static uint32_t phi__openai_chat_form(const phi__encoder *e) {
    bool gif = phi__render_takes(e->codec, e->spec->model, PHI__LIT("image/gif"));
    uint32_t form = PHI__OPENAI_CHAT_FORM | e->media;
    return gif ? form : form | (uint32_t)PHI__OPENAI_CHAT_NO_GIF;
}

/* The media of a result follow all results, and rendering cannot be delayed there: they are
   rendered with their result. False: not yet. */
static bool phi__openai_chat_media_ready(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = phi__openai_chat_form(e) | PHI__OPENAI_CHAT_MEDIA;
    phi_str parts;
    if (m->role != PHI_ROLE_TOOL_RESULT || e->spec->items[at].rendered == NULL ||
        !phi__render_sends_media(e, m) || phi__encode_kept(e, at, UINT32_MAX, form, &parts))
        return true;
    phi__openai_chat_message_result_media(e, m);
    return phi__encode_keep(e, at, UINT32_MAX, form, &parts);
}

static void phi__openai_chat_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    uint32_t form = phi__openai_chat_form(e) |
                    (uint32_t)(e->spec->model->quirks & PHI__OPENAI_CHAT_FORM_QUIRKS);
    phi_str json;
    if (same) form |= PHI__OPENAI_CHAT_ORIGIN;
    if (m->role == PHI_ROLE_ASSISTANT && phi__openai_chat_thinking_on(e))
        form |= PHI__OPENAI_CHAT_THINKING;
    if (!phi__openai_chat_media_ready(e, at)) return;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &json)) {
        if (m->role == PHI_ROLE_USER)
            phi__openai_chat_message_user(e, m);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__openai_chat_message_result(e, m);
        else
            phi__openai_chat_message_assistant(e, m, same);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &json)) return;
    }
    if (json.len == 0) return;
    phi__openai_chat_before(e, m->role);
    phi__encode_piece(e, json);
    /* a mark goes into the last part, which a message that a host wrote may not have */
    if (m->role == PHI_ROLE_USER && e->count > 0 && json.len > 3 &&
        memcmp(json.at + json.len - 3, "}]}", 3) == 0)
        e->mark_piece = e->count - 1;
}

static void phi__openai_chat_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->spec->items[item].message->content[block];
    phi__buf *out = &e->scratch;
    phi__openai_chat_before(e, PHI_ROLE_TOOL_RESULT);
    phi__buf_clear(out);
    phi__buf_text(out, "{\"role\":\"tool\",\"tool_call_id\":");
    phi__render_id(out, call->id, phi__openai_chat_message_id_rule(e->spec->model));
    if (phi__openai_chat_quirk(e, PHI_QUIRK_TOOL_NAME_IN_RESULT)) {
        phi__buf_text(out, ",\"name\":");
        phi__render_name(out, call->name, 64);
    }
    phi__buf_text(out, ",\"content\":\"Error: ");
    phi__render_missing(e);
    phi__buf_text(out, "\"}");
    phi__encode_scratch(e);
}

/* Tool messages hold text alone: images, documents and audio of all results follow in one user
   message. */
static void phi__openai_chat_after_results(phi__encoder *e, size_t from, size_t to) {
    bool open = false;
    size_t i;
    for (i = from; i < to; i++) {
        const phi_message *m = e->spec->items[i].message;
        uint32_t form = phi__openai_chat_form(e) | PHI__OPENAI_CHAT_MEDIA;
        phi_str parts;
        if (m->role != PHI_ROLE_TOOL_RESULT || !phi__render_sends_media(e, m)) continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &parts)) {
            phi__openai_chat_message_result_media(e, m);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &parts)) return;
        }
        if (open)
            phi__encode_glue(e, ",");
        else {
            phi__openai_chat_before(e, PHI_ROLE_USER);
            phi__encode_glue(e, "{\"role\":\"user\",\"content\":[");
        }
        open = true;
        phi__encode_piece(e, parts);
    }
    if (open) phi__encode_glue(e, "]}");
}

/* ---- around the messages ---- */

/* Where one tool alone is offered, "required" means that one: llama.cpp ignores a name, and LM
   Studio answers it with 400. Qwen knows names, and no "required". */
static const char *phi__openai_chat_choice(const phi__encoder *e) {
    if (e->spec->tool_choice == PHI_TOOL_CHOICE_NONE) return "\"none\"";
    if (e->spec->tool_choice == PHI_TOOL_CHOICE_AUTO || phi__openai_chat_claude_thinks(e->spec))
        return "\"auto\"";
    if (e->spec->respond_only && phi__str_is(phi_str_of(e->spec->model->provider), "qwen"))
        return "{\"type\":\"function\",\"function\":{\"name\":\"" PHI_RESPOND_TOOL "\"}}";
    return phi__openai_chat_quirk(e, PHI_QUIRK_TOOL_CHOICE_ANY) ? "\"any\"" : "\"required\"";
}

/* Serial calls: OpenAI's oldest reasoning models refuse the member. */
static void phi__openai_chat_put_tools(phi__encoder *e, uint32_t takes) {
    phi__buf *out = &e->scratch;
    size_t i;
    bool strict;
    if (e->spec->tool_count == 0) return;
    phi__buf_text(out, ",\"tool_choice\":");
    phi__buf_text(out, phi__openai_chat_choice(e));
    if (phi__openai_chat_quirk(e, PHI_QUIRK_TOOL_STREAM))
        phi__buf_text(out, ",\"tool_stream\":true");
    if (phi__takes_serial(e->spec, takes)) phi__buf_text(out, ",\"parallel_tool_calls\":false");
    phi__buf_text(out, ",\"tools\":[");
    for (i = 0; i < e->spec->tool_count; i++) {
        phi__buf_text(out, i > 0 ? "," : "");
        if (e->spec->tools[i].is_raw) {
            phi__takes_put_raw(e, &e->spec->tools[i]);
            continue;
        }
        phi__buf_text(out, "{\"type\":\"function\",\"function\":{");
        strict = phi__openai_put_tool(e, &e->spec->tools[i]);
        phi__buf_text(out, strict ? ",\"strict\":true}}" : "}}");
    }
    phi__buf_char(out, ']');
}

static void phi__openai_chat_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__buf *out = &e->scratch;
    if (format->kind == PHI_FORMAT_TEXT) return;
    if (format->kind == PHI_FORMAT_JSON_OBJECT) {
        phi__buf_text(out, ",\"response_format\":{\"type\":\"json_object\"}");
        return;
    }
    phi__buf_text(out, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{");
    phi__openai_put_schema(e);
    phi__buf_text(out, "}}");
}

static void phi__openai_chat_put_system(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    if (phi__render_blank(e->spec->system_prompt)) return;
    phi__buf_text(out,
                  phi__openai_chat_quirk(e, PHI_QUIRK_DEVELOPER_ROLE) && e->spec->model->reasoning
                      ? "{\"role\":\"developer\",\"content\":"
                      : "{\"role\":\"system\",\"content\":");
    if (phi__openai_chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) &&
        phi__codec_marks(e->spec, PHI__MARK_SYSTEM)) {
        phi__buf_text(out, "[{\"type\":\"text\"");
        phi__render_member(out, "text", e->spec->system_prompt);
        phi__buf_text(out, phi__openai_chat_mark(e));
        phi__buf_text(out, "}]}");
    } else {
        phi__json_write_str(out, e->spec->system_prompt);
        phi__buf_char(out, '}');
    }
    e->last_role = PHI_ROLE_ASSISTANT; /* any: a comma comes next */
}

/* top_k is no member of OpenAI's API: it goes to the servers that document it. */
static bool phi__openai_chat_has_top_k(const phi_model *model) {
    static const char *const knows[] = {"openrouter", "together", "fireworks", "qwen",    "ollama",
                                        "llama_cpp",  "vllm",     "lm_studio", "litellm", "local"};
    size_t i;
    for (i = 0; i < PHI__COUNT(knows); i++)
        if (phi__str_is(phi_str_of(model->provider), knows[i])) return true;
    return false;
}

/* OpenAI's reasoning models refuse sampling and stop texts; others that take an effort do not. */
static uint32_t phi__openai_chat_takes(const phi__request_spec *spec) {
    static const char *const parallel[] = {"o1", "o3", "o4"}; /* no parallel_tool_calls */
    const phi_model *model = spec->model;
    const uint32_t reasons = PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_DEVELOPER_ROLE;
    uint32_t takes = PHI__TAKES_ALL;
    size_t i;
    if (phi__openai_chat_claude_thinks(spec)) takes &= ~(uint32_t)PHI__TAKES_SAMPLING;
    if (model->reasoning && (model->quirks & reasons) == reasons)
        takes &= ~(uint32_t)PHI__TAKES_SAMPLING & ~(uint32_t)PHI__TAKES_STOP;
    if (!phi__openai_chat_has_top_k(model)) takes &= ~(uint32_t)PHI__TAKES_TOP_K;
    for (i = 0; i < PHI__COUNT(parallel); i++)
        if (phi__str_is(phi_str_of(model->provider), "openai") &&
            phi__str_starts(phi_str_of(model->id), parallel[i]))
            takes &= ~(uint32_t)PHI__TAKES_SERIAL;
    return takes;
}

static void phi__openai_chat_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature", "top_p", "top_k",
                                         "stop",        "seed",  "service_tier"};
    static const phi__takes_keys mistral = {"temperature", "top_p",       "top_k",
                                            "stop",        "random_seed", "service_tier"};
    const phi__request_spec *spec = e->spec;
    uint32_t takes = phi__openai_chat_takes(spec);
    phi__buf *out = &e->scratch;
    uint32_t most = spec->max_tokens != 0 ? spec->max_tokens : spec->model->max_tokens;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(spec->model->id));
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__openai_chat_quirk(e, PHI_QUIRK_NO_STREAM_USAGE))
        phi__buf_text(out, ",\"stream_options\":{\"include_usage\":true}");
    if (phi__openai_chat_quirk(e, PHI_QUIRK_STORE_FALSE)) phi__buf_text(out, ",\"store\":false");
    if (most != 0) {
        phi__buf_text(out, phi__openai_chat_quirk(e, PHI_QUIRK_MAX_COMPLETION_TOKENS)
                               ? ",\"max_completion_tokens\":"
                               : ",\"max_tokens\":");
        phi__buf_u64(out, most);
    }
    phi__takes_put(e, phi__str_is(phi_str_of(spec->model->provider), "mistral") ? &mistral : &keys,
                   takes);
    phi__openai_chat_thinking_put(e);
    if (phi__openai_chat_quirk(e, PHI_QUIRK_CACHE_KEY)) phi__openai_put_cache_key(e);
    phi__openai_chat_put_format(e);
    phi__openai_chat_put_tools(e, takes);
    phi__buf_text(out, ",\"messages\":[");
    phi__openai_chat_put_system(e);
    phi__encode_scratch(e);
}

static void phi__openai_chat_tail(phi__encoder *e) {
    if (phi__openai_chat_quirk(e, PHI_QUIRK_EMPTY_TOOLS) && e->spec->tool_count == 0 &&
        e->had_calls)
        phi__encode_glue(e, "],\"tools\":[]}");
    else
        phi__encode_glue(e, "]}");
    if (phi__openai_chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) &&
        phi__codec_marks(e->spec, PHI__MARK_MESSAGES))
        phi__encode_mark(e, 3, phi__openai_chat_mark(e)); /* inside of the "}]}" of its last part */
}

static void phi__openai_chat_address(phi__encoder *e) {
    phi_str key = phi__str_trim(phi_str_of(e->spec->model->api_key));
    phi__encode_url(e, "/v1", true, "/chat/completions");
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream"));
    if (key.len > 0) {
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    }
    phi__encode_model_headers(e);
}

/* ---- abilities ---- */

static phi__strict_form phi__openai_chat_strict_form(const phi_model *model) {
    return (model->quirks & PHI_QUIRK_STRICT_TOOLS) != 0 ? phi__openai_strict_form(model)
                                                         : PHI__STRICT_NONE;
}

static phi__format_way phi__openai_chat_format_way(const phi__request_spec *spec) {
    uint64_t quirks = spec->model->quirks;
    if (spec->format.kind == PHI_FORMAT_JSON_SCHEMA && (quirks & PHI_QUIRK_NO_JSON_SCHEMA) != 0)
        return PHI__FORMAT_BY_TOOL;
    if (spec->tool_count > 0 && spec->tool_choice != PHI_TOOL_CHOICE_NONE &&
        (quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        return PHI__FORMAT_BY_TOOL;
    if ((quirks & PHI_QUIRK_ENABLE_THINKING) != 0 && phi__openai_chat_thinking_wanted(spec))
        return PHI__FORMAT_BY_TOOL; /* Qwen refuses both at once */
    return PHI__FORMAT_NATIVE;
}

static bool phi__openai_chat_unforced(const phi__request_spec *spec) {
    static const char *const auto_only[] = {"moonshot", "zai"}; /* know no choice but "auto" */
    size_t i;
    for (i = 0; i < PHI__COUNT(auto_only); i++)
        if (phi__str_is(phi_str_of(spec->model->provider), auto_only[i])) return true;
    return phi__openai_chat_thinking_wanted(spec);
}

/* Chat wants the word in a message. LM Studio knows only schemas. Tools that may not be called are
   in the way of a format that must stand alone. */
static phi_status phi__openai_chat_format_fit(phi__request_spec *spec, phi_arena *arena) {
    if (spec->tool_choice == PHI_TOOL_CHOICE_NONE &&
        (spec->model->quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        spec->tool_count = 0;
    if (spec->format.kind != PHI_FORMAT_JSON_OBJECT) return PHI_OK;
    if (phi__str_is(phi_str_of(spec->model->provider), "lm_studio")) {
        spec->format.kind = PHI_FORMAT_JSON_SCHEMA;
        spec->format.schema = "{\"type\":\"object\"}";
    }
    return phi__format_say(spec, arena, PHI__OPENAI_CHAT_OBJECT_LINE) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- the codec ---- */

/* By provider and by the model's name: other servers refuse a part that they do not know. PDFs go
   to OpenAI, and to the two that pass them on, by their address to OpenRouter alone (its
   announcement "Audio Inputs and PDF URLs for Apps"); audio to models that are named for it, but
   Mistral's, whose part has another form. */
static uint32_t phi__openai_chat_media(const phi_model *model) {
    static const char *const hears[] = {"audio", "omni", "voxtral", "ultravox"};
    phi_str provider = phi_str_of(model->provider), id = phi_str_of(model->id);
    bool passes = phi__str_is(provider, "openrouter") || phi__str_is(provider, "litellm");
    bool sound = passes && phi__str_find_nocase(id, 0, "gemini") != SIZE_MAX;
    uint32_t media = passes || phi__str_is(provider, "openai") ? PHI__MEDIA_PDF : 0;
    size_t i;
    if (phi__str_is(provider, "openrouter")) media |= PHI__MEDIA_URL;
    for (i = 0; i < PHI__COUNT(hears); i++)
        if (phi__str_find_nocase(id, 0, hears[i]) != SIZE_MAX) sound = true;
    if (sound && !phi__str_is(provider, "mistral")) media |= PHI__MEDIA_SOUND;
    return media;
}

static phi_thinking phi__openai_chat_level(const phi_model *model, phi_thinking wanted) {
    bool budget = (model->quirks & PHI_QUIRK_ENABLE_THINKING) != 0; /* Qwen's: tokens */
    if (budget) return wanted == PHI_THINKING_MAX ? PHI_THINKING_XHIGH : wanted;
    return phi__openai_level(model, wanted, phi__str_is(phi_str_of(model->provider), "openai"));
}

static const char *const phi__openai_chat_owned[] = {
    "model", "stream",      "max_tokens",      "max_completion_tokens",        "messages",
    "tools", "tool_choice", "response_format", "stream_options.include_usage", NULL};

static const phi__codec_settings phi__openai_chat_settings = {
    phi__openai_chat_takes, phi__openai_chat_level, phi__openai_chat_owned, NULL};

static const phi__codec_rules phi__openai_chat_rules = {phi__openai_chat_message_id_rule,
                                                        phi__openai_chat_strict_form,
                                                        NULL,
                                                        phi__openai_chat_format_way,
                                                        PHI__SCHEMA_IF_STRICT,
                                                        phi__openai_chat_format_fit,
                                                        phi__openai_chat_unforced,
                                                        NULL,
                                                        0,
                                                        phi__openai_chat_media,
                                                        NULL,
                                                        NULL,
                                                        NULL,
                                                        NULL,
                                                        NULL,
                                                        &phi__openai_chat_settings,
                                                        NULL};

PHI__FN const phi__codec *phi__openai_chat_codec(void) {
    static const phi__codec codec = {PHI__NAMES_OPENAI_CHAT,
                                     &phi__openai_chat_rules,
                                     sizeof(phi__openai_chat_state),
                                     phi__openai_chat_head,
                                     phi__openai_chat_item,
                                     phi__openai_chat_tail,
                                     phi__openai_chat_address,
                                     phi__openai_chat_missing,
                                     phi__openai_chat_after_results,
                                     phi__openai_chat_stream_event,
                                     phi__openai_chat_stream_end,
                                     phi__openai_chat_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}
