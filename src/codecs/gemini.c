/* gemini.c - requests of Google's Gemini API and of Vertex AI.

   A message's parts are rendered whole, joined by commas, and kept; contents are opened and closed
   by glue around them. All results of a turn share one content, which the user's words after them
   do not join. What differs from one generation of models to the next is decided by the number in
   the model's name; one without a number is new. wire.md parts 6, 7 and 9. */
#include "codecs/gemini_in.h"

#include "codecs/names_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

#define PHI__GEMINI_MOST_OUTPUT 65536u /* tokens: what 2.5 takes, thinking included */

/* ---- contents ---- */

/* The role TOOL_RESULT is a content of results, of the user's as well. */
static void phi__gemini_append(phi__encoder *e, phi_role role, phi_str parts) {
    static const char *const user[] = {"{\"role\":\"user\",\"parts\":[",
                                       "]},{\"role\":\"user\",\"parts\":["};
    static const char *const model[] = {"{\"role\":\"model\",\"parts\":[",
                                        "]},{\"role\":\"model\",\"parts\":["};
    size_t before = e->open_role != (phi_role)0 ? 1 : 0;
    if (parts.len == 0) return;
    if (e->open_role == role)
        phi__encode_glue(e, ",");
    else
        phi__encode_glue(e, role == PHI_ROLE_ASSISTANT ? model[before] : user[before]);
    e->open_role = role;
    phi__encode_piece(e, parts);
}

/* The form of a user's message or a result. */
static uint32_t phi__gemini_form(const phi__encoder *e, phi_role role) {
    uint32_t form = PHI__GEMINI_FORM | e->media << PHI__GEMINI_MEDIA_SHIFT;
    if (role == PHI_ROLE_TOOL_RESULT && phi__gemini_parts_three(e)) form |= PHI__GEMINI_THREE;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__GEMINI_NO_IMAGES;
    if (phi__gemini_parts_titles(e)) form |= PHI__GEMINI_TITLES;
    return form;
}

static void phi__gemini_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    bool own = same || (m->role == PHI_ROLE_ASSISTANT && m->model.len > 0 &&
                        phi__str_is(m->model, e->spec->model->id));
    uint32_t form = PHI__GEMINI_FORM;
    phi_str parts;
    if (own) form |= PHI__GEMINI_OWN;
    if (phi__codec_is(e->codec->names, PHI__LIT(PHI_PROTOCOL_VERTEX))) form |= PHI__GEMINI_VERTEX;
    if (same) form |= PHI__GEMINI_ORIGIN;
    if (m->role == PHI_ROLE_ASSISTANT && phi__gemini_parts_three(e)) form |= PHI__GEMINI_THREE;
    if (m->role != PHI_ROLE_ASSISTANT)
        form = phi__gemini_form(e, m->role) | (form & (uint32_t)PHI__GEMINI_VERTEX);
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &parts)) {
        if (m->role == PHI_ROLE_USER)
            phi__gemini_parts_user(e, m);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__gemini_parts_result(e, m);
        else
            phi__gemini_parts_model(e, m, same, own);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &parts)) return;
    }
    phi__gemini_append(e, m->role, parts);
}

static void phi__gemini_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->spec->items[item].message->content[block];
    phi_str json;
    phi__buf_clear(&e->scratch);
    phi__gemini_parts_result_open(e, call->id, call->name, true);
    phi__render_missing(e);
    phi__buf_text(&e->scratch, "\"}}}");
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &json))
        e->failed = true;
    else
        phi__gemini_append(e, PHI_ROLE_TOOL_RESULT, json);
    phi__buf_clear(&e->scratch);
}

static void phi__gemini_after_results(phi__encoder *e, size_t from, size_t to) {
    size_t i;
    for (i = from; i < to; i++) {
        const phi_message *m = e->spec->items[i].message;
        uint32_t form = phi__gemini_form(e, m->role) | PHI__GEMINI_MEDIA;
        phi_str parts;
        if (m->role != PHI_ROLE_TOOL_RESULT || phi__gemini_parts_blocks(e, m, false, false) == 0)
            continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &parts)) {
            (void)phi__gemini_parts_blocks(e, m, false, true);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &parts)) return;
        }
        phi__gemini_append(e, PHI_ROLE_USER, parts);
    }
}

/* ---- around the messages ---- */

/* Models before 3 have a budget, which goes up to XHIGH's. One later model knows XHIGH. */
static phi_thinking phi__gemini_takes_level(const phi_model *model, phi_thinking wanted) {
    phi_thinking highest =
        phi__gemini_version(model) < 30 || phi__gemini_has(model, "gemini-4-hydrogen")
            ? PHI_THINKING_XHIGH
            : PHI_THINKING_HIGH;
    return (unsigned)wanted > (unsigned)highest ? highest : wanted;
}

/* Pro 3.0 knows two levels; pro, and all from 3.7 on, do not know MINIMAL. What cannot be turned
   off does the least it can. */
static const char *phi__gemini_level(const phi_model *model, phi_thinking level) {
    bool pro = phi__gemini_has(model, "pro"), two = pro && phi__gemini_version(model) == 30;
    switch (phi__gemini_takes_level(model, level)) {
    case PHI_THINKING_OFF:
    case PHI_THINKING_MINIMAL: return pro || phi__gemini_version(model) >= 37 ? "LOW" : "MINIMAL";
    case PHI_THINKING_LOW: return "LOW";
    case PHI_THINKING_MEDIUM: return two ? "HIGH" : "MEDIUM";
    case PHI_THINKING_XHIGH:
    case PHI_THINKING_MAX: return "XHIGH";
    case PHI_THINKING_HIGH: break;
    }
    return "HIGH";
}

/* Models since 3 take no sampling while they think. No model can be kept to one call. */
static uint32_t phi__gemini_takes(const phi__request_spec *spec) {
    bool thinks = spec->model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t takes = PHI__TAKES_STOP | PHI__TAKES_SEED | PHI__TAKES_TIER;
    return thinks && phi__gemini_version(spec->model) >= 30 ? takes : takes | PHI__TAKES_SAMPLING;
}

/* Tokens to think with of a model before 3: pro takes 128 at least, flash 24,576 at most. */
static uint32_t phi__gemini_budget(const phi__request_spec *spec) {
    bool pro = phi__gemini_has(spec->model, "pro");
    uint32_t budget = phi__render_budget(phi__gemini_takes_level(spec->model, spec->thinking));
    return (uint32_t)(pro ? phi__max(budget, 128) : phi__min(budget, 24576));
}

/* The schema as a tool's: `responseSchema` is a dialect that knows less. */
static void phi__gemini_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    if (format->kind == PHI_FORMAT_TEXT) return;
    phi__buf_text(&e->scratch, ",\"responseMimeType\":\"application/json\"");
    if (format->kind != PHI_FORMAT_JSON_SCHEMA) return;
    phi__buf_text(&e->scratch, ",\"responseJsonSchema\":");
    phi__encode_scratch(e);
    phi__encode_piece(e, phi__gemini_schema(e, phi_str_of(format->schema)));
}

static void phi__gemini_put_config(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature",   "topP", "topK",
                                         "stopSequences", "seed", NULL};
    const phi__request_spec *spec = e->spec;
    const phi_model *model = spec->model;
    phi__buf *out = &e->scratch;
    int version = phi__gemini_version(model);
    bool thinks = model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t most = spec->max_tokens != 0 ? spec->max_tokens : model->max_tokens;
    uint32_t budget = 0;
    if (most == 0) most = 8192;
    if (model->reasoning && version < 30) {
        budget = phi__gemini_budget(spec);
        if (most < PHI__GEMINI_MOST_OUTPUT)
            most =
                budget < PHI__GEMINI_MOST_OUTPUT - most ? most + budget : PHI__GEMINI_MOST_OUTPUT;
    }
    phi__buf_text(out, "\"generationConfig\":{\"maxOutputTokens\":");
    phi__buf_u64(out, most);
    phi__takes_put(e, &keys, phi__gemini_takes(spec));
    phi__gemini_put_format(e);
    if (model->reasoning) {
        phi__buf_text(out, ",\"thinkingConfig\":{");
        if (thinks) phi__buf_text(out, "\"includeThoughts\":true,");
        if (version >= 30) {
            phi__buf_text(out, "\"thinkingLevel\":\"");
            phi__buf_text(out, phi__gemini_level(model, spec->thinking));
            phi__buf_text(out, "\"}");
        } else {
            phi__buf_text(out, "\"thinkingBudget\":");
            phi__buf_u64(out, budget);
            phi__buf_char(out, '}');
        }
    }
    phi__buf_char(out, '}');
}

static void phi__gemini_put_choice(phi__encoder *e) {
    phi_tool_choice choice = e->spec->tool_choice;
    phi__buf *out = &e->scratch;
    phi__buf_text(out, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"");
    phi__buf_text(out, choice == PHI_TOOL_CHOICE_NONE       ? "NONE"
                       : choice == PHI_TOOL_CHOICE_REQUIRED ? "ANY"
                                                            : "AUTO");
    if (e->spec->respond_only)
        phi__buf_text(out, "\",\"allowedFunctionNames\":[\"" PHI_RESPOND_TOOL "\"]");
    else
        phi__buf_char(out, '"');
    phi__buf_text(out, "}}");
}

/* Functions are one element of the list; each raw tool is another. The API refuses a choice without
   functions. */
static void phi__gemini_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i, functions = 0, raws = 0;
    if (e->spec->tool_count == 0) return;
    for (i = 0; i < e->spec->tool_count; i++)
        if (!e->spec->tools[i].is_raw) functions++;
    if (functions > 0) phi__gemini_put_choice(e);
    phi__buf_text(out, functions > 0 ? ",\"tools\":[{\"functionDeclarations\":[" : ",\"tools\":[");
    for (i = 0; i < e->spec->tool_count; i++) {
        if (e->spec->tools[i].is_raw) continue;
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        (void)phi__strict_tools_put_tool(e, &e->spec->tools[i], ",\"parametersJsonSchema\":");
        phi__buf_char(out, '}');
    }
    if (functions > 0) phi__buf_text(out, "]}");
    for (i = 0; i < e->spec->tool_count; i++) {
        if (!e->spec->tools[i].is_raw) continue;
        if (functions + raws++ > 0) phi__buf_char(out, ',');
        phi__takes_put_raw(e, &e->spec->tools[i]);
    }
    phi__buf_char(out, ']');
}

static void phi__gemini_head(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    if (!phi__render_blank(e->spec->system_prompt)) {
        phi__buf_text(out, "\"systemInstruction\":{\"parts\":[{");
        phi__render_member(out, "text", e->spec->system_prompt);
        phi__buf_text(out, "}]},");
    }
    phi__gemini_put_config(e);
    if (e->spec->options.service_tier != NULL)
        phi__render_member(out, "serviceTier", phi_str_of(e->spec->options.service_tier));
    phi__gemini_put_tools(e);
    phi__buf_text(out, ",\"contents\":[");
    phi__encode_scratch(e);
}

static void phi__gemini_tail(phi__encoder *e) {
    phi__encode_glue(e, e->open_role != (phi_role)0 ? "]}]}" : "]}");
}

/* ---- the address ---- */

/* "{before}{id}:streamGenerateContent", terminated; NULL: no memory. */
static const char *phi__gemini_path(phi__encoder *e, const char *before) {
    static const char digits[] = "0123456789ABCDEF";
    phi_str id = phi__str_trim(phi_str_of(e->spec->model->id)), path;
    phi__buf *out = &e->scratch;
    size_t i;
    if (id.len > 7 && memcmp(id.at, "models/", 7) == 0) id = phi__str(id.at + 7, id.len - 7);
    phi__buf_clear(out);
    phi__buf_text(out, before);
    for (i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.at[i];
        if (c > 0x20 && c < 0x7f && strchr("?#%/\\\"", (int)c) == NULL)
            phi__buf_char(out, (char)c);
        else {
            phi__buf_char(out, '%');
            phi__buf_char(out, digits[c >> 4]);
            phi__buf_char(out, digits[c & 15]);
        }
    }
    phi__buf_text(out, ":streamGenerateContent");
    if (out->failed || !phi__arena_str(e->arena, phi__buf_str(out), &path)) {
        e->failed = true;
        return NULL;
    }
    return path.at;
}

static void phi__gemini_url(phi__encoder *e, const char *version, const char *before) {
    const char *path = phi__gemini_path(e, before);
    phi__buf *out = &e->scratch;
    phi_str url;
    if (path == NULL) return;
    phi__encode_url(e, version, true, path);
    if (e->failed) return;
    url = e->request.url;
    phi__buf_add_str(out, url);
    if (phi__str_find(url, 0, "alt=sse") == SIZE_MAX)
        phi__buf_text(out, phi__str_find(url, 0, "?") == SIZE_MAX ? "?alt=sse" : "&alt=sse");
    if (out->failed || !phi__arena_str(e->arena, phi__buf_str(out), &e->request.url))
        e->failed = true;
    phi__buf_clear(out);
}

/* ---- the codecs ---- */

/* Other families (Gemma) take text and images only. */
static uint32_t phi__gemini_media(const phi_model *model) {
    if (phi__gemini_version(model) == 0) return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_TEXT_FILE | PHI__MEDIA_SOUND |
           PHI__MEDIA_MORE_SOUND;
}

static const char *const phi__gemini_owned[] = {"systemInstruction",
                                                "contents",
                                                "tools",
                                                "toolConfig.functionCallingConfig",
                                                "generationConfig.maxOutputTokens",
                                                "generationConfig.responseMimeType",
                                                "generationConfig.responseJsonSchema",
                                                NULL};

static const phi__codec_settings phi__gemini_settings = {phi__gemini_takes, phi__gemini_takes_level,
                                                         phi__gemini_owned, NULL};

/* Images as its guide to them says, November 2026. */
static const char *const phi__gemini_kin[] = {PHI_PROTOCOL_GOOGLE, PHI_PROTOCOL_VERTEX, NULL};

static const phi__codec_rules phi__gemini_rules = {NULL,
                                                   phi__gemini_strict_form,
                                                   phi__gemini_schema_adapt,
                                                   phi__gemini_format_way,
                                                   PHI__SCHEMA_AS_IS,
                                                   NULL,
                                                   NULL,
                                                   NULL,
                                                   PHI__RULE_HEIF | PHI__RULE_LETTER_FIRST |
                                                       PHI__RULE_USER_FIRST | PHI__RULE_USER_LAST,
                                                   phi__gemini_media,
                                                   phi__gemini_kin,
                                                   NULL,
                                                   NULL,
                                                   NULL,
                                                   NULL,
                                                   &phi__gemini_settings,
                                                   NULL};

static void phi__gemini_address(phi__encoder *e) {
    phi__gemini_url(e, "/v1beta", "/models/");
    phi__gemini_headers(e, false);
}

PHI__FN const phi__codec *phi__gemini_codec(void) {
    static const phi__codec codec = {PHI__NAMES_GEMINI,
                                     &phi__gemini_rules,
                                     sizeof(phi__gemini_state),
                                     phi__gemini_head,
                                     phi__gemini_item,
                                     phi__gemini_tail,
                                     phi__gemini_address,
                                     phi__gemini_missing,
                                     phi__gemini_after_results,
                                     phi__gemini_stream_event,
                                     phi__gemini_stream_end,
                                     phi__gemini_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}

/* An address without a project is that of express mode, which has a key and no token. */
static void phi__gemini_vertex_address(phi__encoder *e) {
    phi_str base = phi_str_of(e->spec->model->base_url);
    phi__gemini_url(e, "/v1", "/publishers/google/models/");
    phi__gemini_headers(e, phi__str_find(base, 0, "/projects/") != SIZE_MAX);
}

PHI__FN const phi__codec *phi__gemini_codec_vertex(void) {
    static const phi__codec codec = {PHI__NAMES_VERTEX,
                                     &phi__gemini_rules,
                                     sizeof(phi__gemini_state),
                                     phi__gemini_head,
                                     phi__gemini_item,
                                     phi__gemini_tail,
                                     phi__gemini_vertex_address,
                                     phi__gemini_missing,
                                     phi__gemini_after_results,
                                     phi__gemini_stream_event,
                                     phi__gemini_stream_end,
                                     phi__gemini_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}
