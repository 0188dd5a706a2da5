/* gemini_interactions.c - requests of Google's Interactions API, also at Vertex AI.

   Nothing is stored at the server: a request has the whole history, as a list of steps. A message
   is rendered whole, as the steps that it becomes, and kept. The model's own steps go back in their
   places: a call is refused unless a signed thought comes before it, and steps of hosted tools
   unless they are whole. Google's documentation and SDKs, November 2026. */
#include "codecs/gemini_interactions_in.h"

#include "codecs/gemini_in.h"
#include "codecs/kept_in.h"
#include "codecs/names_in.h"
#include "wire/render_in.h"
#include "wire/strict_in.h"
#include "wire/takes_in.h"

/* The settings that a rendering depends on: bits of phi__rendered.form. */
#define PHI__INTERACTIONS_FORM 0xb0000000u
#define PHI__INTERACTIONS_ORIGIN 1u      /* minted by the same model: signatures go back */
#define PHI__INTERACTIONS_NO_IMAGES 2u   /* words replace images */
#define PHI__INTERACTIONS_MEDIA 4u       /* the media that follow a result */
#define PHI__INTERACTIONS_THREE 8u       /* signatures are checked, results may hold media */
#define PHI__INTERACTIONS_MEDIA_SHIFT 16 /* of PHI__MEDIA_ bits */

/* The revision of the protocol that has steps; sent as the SDKs do. */
#define PHI__INTERACTIONS_REVISION "2026-05-20"
/* The documented signature of a thought that no model of Google's had. */
#define PHI__INTERACTIONS_UNSIGNED                                                                 \
    "{\"type\":\"thought\",\"signature\":\"skip_thought_signature_validator\"}"

static bool phi__interactions_three(const phi__encoder *e) {
    return phi__gemini_version(e->spec->model) >= 30;
}

/* ---- the user and tools ---- */

/* An image, a document or audio. */
static void phi__interactions_block(phi__encoder *e, const phi_content *c) {
    phi_str type = c->mime_type.len > 0 ? c->mime_type : PHI__LIT("application/pdf");
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, c->kind == PHI_CONTENT_IMAGE      ? "{\"type\":\"image\""
                       : c->kind == PHI_CONTENT_DOCUMENT ? "{\"type\":\"document\""
                                                         : "{\"type\":\"audio\"");
    phi__render_member(out, "mime_type", type);
    if (c->url.len > 0) {
        phi__render_member(out, "uri", c->url);
        phi__buf_char(out, '}');
        return;
    }
    phi__buf_text(out, ",\"data\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}");
}

static void phi__interactions_blocks(phi__encoder *e, const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) == PHI__RENDER_BLOCK)
            phi__interactions_block(e, &m->content[i]);
}

/* A block that phi does not interpret, verbatim. */
static void phi__interactions_opaque(phi__encoder *e, const phi_content *c) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    bool goes = phi__kept_is_of(c, e->codec->names, NULL) && phi__kept_tree(e, c->replay) != NULL;
    phi_arena_reset(e->arena, mark);
    if (!goes) return;
    phi__json_write_comma(&e->scratch);
    phi__buf_add_str(&e->scratch, c->replay);
}

/* Writes nothing if no block may be sent. Opaque blocks of a user are content. */
static void phi__interactions_user(phi__encoder *e, const phi_message *m) {
    size_t at;
    phi__buf_text(&e->scratch, "{\"type\":\"user_input\",\"content\":[");
    at = e->scratch.len;
    phi__render_parts(e, m, true, phi__render_said_part, phi__interactions_block,
                      phi__interactions_opaque);
    if (e->scratch.len > at)
        phi__buf_text(&e->scratch, "]}");
    else
        phi__buf_clear(&e->scratch);
}

static void phi__interactions_result_open(phi__buf *out, phi_str id, phi_str name, bool is_error) {
    phi__buf_text(out, "{\"type\":\"function_result\",\"call_id\":");
    phi__render_id(out, id, PHI__ID_ANTHROPIC);
    phi__buf_text(out, ",\"name\":");
    phi__gemini_name(out, name);
    phi__buf_text(out, is_error ? ",\"is_error\":true,\"result\":" : ",\"result\":");
}

/* A string, which each model takes; since 3 a list that holds media. */
static void phi__interactions_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool media = phi__interactions_three(e) && phi__render_sends_media(e, m);
    phi__interactions_result_open(out, m->tool_call_id, phi__gemini_result_name(e, m), m->is_error);
    phi__buf_text(out, media ? "[{\"type\":\"text\",\"text\":\"" : "\"");
    phi__gemini_result_text(e, m);
    phi__buf_text(out, media ? "\"}" : "\"");
    if (media) {
        phi__interactions_blocks(e, m);
        phi__buf_char(out, ']');
    }
    phi__buf_char(out, '}');
}

/* ---- the model ---- */

static void phi__interactions_thought(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"thought\"");
    phi__render_member(out, "signature", c->signature);
    if (c->text.len > 0) {
        phi__buf_text(out, ",\"summary\":[{\"type\":\"text\"");
        phi__render_text_member(e, "text", c->text);
        phi__buf_text(out, "}]");
    }
    phi__buf_char(out, '}');
}

static void phi__interactions_said(phi__encoder *e, const phi_content *c, bool same) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\"");
    phi__render_text_member(e, "text", c->text);
    if (same && c->citations.len > 2 && phi__render_goes(e, c->citations)) {
        phi__buf_text(out, ",\"annotations\":");
        phi__buf_add_str(out, c->citations);
    }
    phi__buf_text(out, "}]}");
}

static void phi__interactions_call(phi__encoder *e, const phi_content *c, bool same) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"function_call\",\"id\":");
    phi__render_id(out, c->id, PHI__ID_ANTHROPIC);
    phi__buf_text(out, ",\"name\":");
    phi__gemini_name(out, c->name);
    phi__buf_text(out, ",\"arguments\":");
    phi__buf_add_str(out, phi__render_arguments(e, c->arguments));
    if (same && c->signature.len > 0) phi__render_member(out, "signature", c->signature);
    phi__buf_char(out, '}');
}

/* The call of a hosted tool without its result would be refused: of an answer that broke off no
   hosted step goes back. */
static bool phi__interactions_ended(const phi_message *m) {
    return m->stop_reason != PHI_STOP_REASON_ERROR && m->stop_reason != PHI_STOP_REASON_ABORTED;
}

/* One signed thought is enough for all calls of an answer. Thinking without a signature is of no
   use to the model. */
static void phi__interactions_model(phi__encoder *e, const phi_message *m, bool same) {
    bool is_signed = !phi__interactions_three(e);
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_THINKING && same && c->signature.len > 0 && !c->redacted) {
            phi__interactions_thought(e, c);
            is_signed = true;
        } else if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            phi__interactions_said(e, c, same);
        else if (c->kind == PHI_CONTENT_OPAQUE && phi__interactions_ended(m))
            phi__interactions_opaque(e, c);
        else if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete) {
            if (!is_signed && !(same && c->signature.len > 0)) {
                phi__json_write_comma(&e->scratch);
                phi__buf_text(&e->scratch, PHI__INTERACTIONS_UNSIGNED);
            }
            phi__interactions_call(e, c, same);
            is_signed = true;
        }
    }
}

/* ---- steps ---- */

static void phi__interactions_append(phi__encoder *e, phi_role role, phi_str steps) {
    if (steps.len == 0) return;
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = role;
    phi__encode_piece(e, steps);
}

static uint32_t phi__interactions_form(const phi__encoder *e, phi_role role) {
    uint32_t form = PHI__INTERACTIONS_FORM;
    if (role != PHI_ROLE_USER && phi__interactions_three(e)) form |= PHI__INTERACTIONS_THREE;
    if (role == PHI_ROLE_ASSISTANT) return form;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__INTERACTIONS_NO_IMAGES;
    return form | e->media << PHI__INTERACTIONS_MEDIA_SHIFT;
}

static void phi__interactions_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    uint32_t form = phi__interactions_form(e, m->role);
    phi_str steps;
    if (same) form |= PHI__INTERACTIONS_ORIGIN;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &steps)) {
        if (m->role == PHI_ROLE_USER)
            phi__interactions_user(e, m);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__interactions_result(e, m);
        else
            phi__interactions_model(e, m, same);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &steps)) return;
    }
    phi__interactions_append(e, m->role, steps);
}

static void phi__interactions_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->spec->items[item].message->content[block];
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = PHI_ROLE_TOOL_RESULT;
    phi__buf_clear(&e->scratch);
    phi__interactions_result_open(&e->scratch, call->id, call->name, true);
    phi__buf_text(&e->scratch, "\"");
    phi__render_missing(e);
    phi__buf_text(&e->scratch, "\"}");
    phi__encode_scratch(e);
}

/* Before 3, results hold no media: they follow as the user's. */
static void phi__interactions_after_results(phi__encoder *e, size_t from, size_t to) {
    size_t i;
    if (phi__interactions_three(e)) return;
    for (i = from; i < to; i++) {
        const phi_message *m = e->spec->items[i].message;
        uint32_t form = phi__interactions_form(e, m->role) | PHI__INTERACTIONS_MEDIA;
        phi_str step;
        if (m->role != PHI_ROLE_TOOL_RESULT || !phi__render_sends_media(e, m)) continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &step)) {
            phi__buf_text(&e->scratch, "{\"type\":\"user_input\",\"content\":[");
            phi__interactions_blocks(e, m);
            phi__buf_text(&e->scratch, "]}");
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &step)) return;
        }
        phi__interactions_append(e, PHI_ROLE_USER, step);
    }
}

/* ---- around the messages ---- */

/* Sampling is taken by models before 3.7; those since 3 want their own while they think. */
static uint32_t phi__interactions_takes(const phi__request_spec *spec) {
    int version = phi__gemini_version(spec->model);
    bool thinks = spec->model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t takes = PHI__TAKES_STOP | PHI__TAKES_SEED | PHI__TAKES_TIER;
    if (version < 37 && !(thinks && version >= 30))
        takes |= PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P;
    return takes;
}

static phi_thinking phi__interactions_takes_level(const phi_model *model, phi_thinking wanted) {
    phi_thinking highest =
        phi__gemini_has(model, "gemini-4-hydrogen") ? PHI_THINKING_XHIGH : PHI_THINKING_HIGH;
    return (unsigned)wanted > (unsigned)highest ? highest : wanted;
}

/* There are no budgets, and no model can be kept from thinking: off is the least it takes. Pro 3.0
   has two levels; "minimal" is of the Flash models from 3 on, until 3.7. */
static const char *phi__interactions_level(const phi_model *model, phi_thinking level) {
    int version = phi__gemini_version(model);
    bool pro = phi__gemini_has(model, "pro");
    level = phi__interactions_takes_level(model, level);
    if (level == PHI_THINKING_XHIGH) return "xhigh";
    if (level <= PHI_THINKING_MINIMAL)
        return !pro && version >= 30 && version < 37 ? "minimal" : "low";
    if (level == PHI_THINKING_LOW) return "low";
    return level == PHI_THINKING_MEDIUM && !(pro && version == 30) ? "medium" : "high";
}

static void phi__interactions_put_choice(phi__encoder *e) {
    phi_tool_choice choice = e->spec->tool_choice;
    phi__buf *out = &e->scratch;
    if (e->spec->tool_count == 0) return;
    if (e->spec->respond_only)
        phi__buf_text(out, ",\"tool_choice\":{\"allowed_tools\":{\"mode\":\"any\",\"tools\":"
                           "[\"" PHI_RESPOND_TOOL "\"]}}");
    else
        phi__buf_text(out, choice == PHI_TOOL_CHOICE_NONE       ? ",\"tool_choice\":\"none\""
                           : choice == PHI_TOOL_CHOICE_REQUIRED ? ",\"tool_choice\":\"any\""
                                                                : ",\"tool_choice\":\"auto\"");
}

static void phi__interactions_put_config(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature",    "top_p", NULL,
                                         "stop_sequences", "seed",  NULL};
    const phi__request_spec *spec = e->spec;
    const phi_model *model = spec->model;
    phi__buf *out = &e->scratch;
    bool thinks = model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t most = spec->max_tokens != 0 ? spec->max_tokens : model->max_tokens;
    phi__buf_text(out, ",\"generation_config\":{\"max_output_tokens\":");
    phi__buf_u64(out, most != 0 ? most : 8192);
    phi__takes_put(e, &keys, phi__interactions_takes(spec));
    if (model->reasoning) {
        phi__buf_text(out, ",\"thinking_level\":\"");
        phi__buf_text(out, phi__interactions_level(model, spec->thinking));
        phi__buf_text(out, thinks ? "\",\"thinking_summaries\":\"auto\"" : "\"");
    }
    phi__interactions_put_choice(e);
    phi__buf_char(out, '}');
}

static void phi__interactions_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__buf *out = &e->scratch;
    if (format->kind == PHI_FORMAT_TEXT) return;
    phi__buf_text(out,
                  ",\"response_format\":{\"type\":\"text\",\"mime_type\":\"application/json\"");
    if (format->kind == PHI_FORMAT_JSON_SCHEMA) {
        phi__buf_text(out, ",\"schema\":");
        phi__encode_scratch(e);
        phi__encode_piece(e, phi__gemini_schema(e, phi_str_of(format->schema)));
    }
    phi__buf_char(out, '}');
}

static void phi__interactions_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i;
    if (e->spec->tool_count == 0) return;
    phi__buf_text(out, ",\"tools\":[");
    for (i = 0; i < e->spec->tool_count; i++) {
        if (i > 0) phi__buf_char(out, ',');
        if (e->spec->tools[i].is_raw) {
            phi__takes_put_raw(e, &e->spec->tools[i]);
            continue;
        }
        phi__buf_text(out, "{\"type\":\"function\",");
        (void)phi__strict_tools_put_tool(e, &e->spec->tools[i], ",\"parameters\":");
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

static void phi__interactions_head(phi__encoder *e) {
    phi_str id = phi__str_trim(phi_str_of(e->spec->model->id));
    phi__buf *out = &e->scratch;
    if (phi__str_starts(id, "models/")) id = phi__str(id.at + 7, id.len - 7);
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", id);
    phi__buf_text(out, ",\"stream\":true,\"store\":false");
    phi__interactions_put_config(e);
    if (e->spec->options.service_tier != NULL)
        phi__render_member(out, "service_tier", phi_str_of(e->spec->options.service_tier));
    phi__interactions_put_format(e);
    phi__interactions_put_tools(e);
    if (!phi__render_blank(e->spec->system_prompt))
        phi__render_member(out, "system_instruction", e->spec->system_prompt);
    phi__buf_text(out, ",\"input\":[");
    phi__encode_scratch(e);
}

static void phi__interactions_tail(phi__encoder *e) { phi__encode_glue(e, "]}"); }

/* At Vertex AI the address names a project, and the key is an OAuth token. */
static void phi__interactions_address(phi__encoder *e) {
    phi_str base = phi_str_of(e->spec->model->base_url);
    bool vertex = phi__str_find(base, 0, "/projects/") != SIZE_MAX;
    phi__encode_url(e, "/v1beta", true, "/interactions");
    phi__encode_header(e, "api-revision", PHI__LIT(PHI__INTERACTIONS_REVISION));
    phi__gemini_headers(e, vertex);
}

/* ---- the codec ---- */

/* Google's type of content "document" names no plain texts. Other families take text and images. */
static uint32_t phi__interactions_media(const phi_model *model) {
    if (phi__gemini_version(model) == 0) return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_OFFICE | PHI__MEDIA_SOUND |
           PHI__MEDIA_MORE_SOUND;
}

static const char *const phi__interactions_owned[] = {"model",
                                                      "stream",
                                                      "store",
                                                      "input",
                                                      "system_instruction",
                                                      "tools",
                                                      "response_format",
                                                      "generation_config.max_output_tokens",
                                                      "generation_config.tool_choice",
                                                      NULL};

static const phi__codec_settings phi__interactions_settings = {
    phi__interactions_takes, phi__interactions_takes_level, phi__interactions_owned, NULL};

PHI__FN const phi__codec *phi__interactions_codec(void) {
    static const phi__codec_rules rules = {NULL,
                                           phi__gemini_strict_form,
                                           phi__gemini_schema_adapt,
                                           phi__gemini_format_way,
                                           PHI__SCHEMA_AS_IS,
                                           NULL,
                                           NULL,
                                           NULL,
                                           PHI__RULE_HEIF | PHI__RULE_GIF | PHI__RULE_LETTER_FIRST |
                                               PHI__RULE_USER_FIRST | PHI__RULE_USER_LAST,
                                           phi__interactions_media,
                                           NULL,
                                           NULL,
                                           NULL,
                                           NULL,
                                           NULL,
                                           &phi__interactions_settings,
                                           NULL};
    static const phi__codec codec = {PHI__NAMES_INTERACTIONS,
                                     &rules,
                                     sizeof(phi__interactions_state),
                                     phi__interactions_head,
                                     phi__interactions_item,
                                     phi__interactions_tail,
                                     phi__interactions_address,
                                     phi__interactions_missing,
                                     phi__interactions_after_results,
                                     phi__interactions_stream_event,
                                     phi__interactions_stream_end,
                                     phi__interactions_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}
