/* anthropic.c - requests of the Anthropic Messages API.

   A message's content is rendered whole, blocks joined by commas, and kept; roles are opened and
   closed by glue around it, so that tool results and the user's words after them share one message.
   The cache mark moves from turn to turn: it is put inside of the last brace of the last user
   block, which is why no rendering holds one. wire.md parts 2 and 9. */
#include "codecs/anthropic_in.h"

#include "codecs/claude_in.h"
#include "codecs/registry_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

#ifndef PHI_NO_ANTHROPIC

/* The settings that a rendering depends on: bits of phi__rendered.form. */
enum {
    PHI__ANTHROPIC_FORM = 1 << 28,
    PHI__ANTHROPIC_ORIGIN = 1, /* minted by the same model: thinking goes back */
    PHI__ANTHROPIC_NO_IMAGES = 2,
    PHI__ANTHROPIC_IMAGES = 4 /* the images of an error result */
};

#define PHI__ANTHROPIC_MARK_OPEN ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__ANTHROPIC_MARK PHI__ANTHROPIC_MARK_OPEN "}"

static bool phi__anthropic_no_images(const phi__encoder *e) {
    return (e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0;
}

/* ---- blocks ---- */

static void phi__anthropic_text(phi__encoder *e, phi_str text) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_char(out, '}');
}

static void phi__anthropic_image(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"image\",\"source\":{\"type\":\"base64\"");
    phi__render_member(out, "media_type", c->mime_type);
    phi__buf_text(out, ",\"data\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}");
}

static void phi__anthropic_parts(phi__encoder *e, const phi_message *m, bool images) {
    phi__render_parts(e, m, images, phi__anthropic_text, phi__anthropic_image);
}

static void phi__anthropic_thinking(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    if (c->signature.len == 0) return; /* of a turn that was cut: the API would refuse it */
    phi__json_write_comma(out);
    if (c->redacted) {
        phi__buf_text(out, "{\"type\":\"redacted_thinking\"");
        phi__render_member(out, "data", c->signature);
    } else {
        phi__buf_text(out, "{\"type\":\"thinking\"");
        phi__render_text_member(e, "thinking", c->text);
        phi__render_member(out, "signature", c->signature);
    }
    phi__buf_char(out, '}');
}

static void phi__anthropic_call(phi__encoder *e, phi__buf *out, const phi_content *c) {
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"tool_use\",\"id\":");
    phi__render_id(out, c->id, PHI__ID_ANTHROPIC);
    phi__buf_text(out, ",\"name\":");
    phi__render_name(out, c->name, 128);
    phi__buf_text(out, ",\"input\":");
    phi__buf_add_str(out, phi__render_arguments(e, c->arguments));
    phi__buf_char(out, '}');
}

static void phi__anthropic_assistant(phi__encoder *e, const phi_message *m, bool same) {
    size_t last = phi__claude_last_sent(m), i;
    for (i = 0; last != SIZE_MAX && i <= last; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            phi__anthropic_text(e, i == last ? phi__render_trim_end(c->text) : c->text);
        else if (c->kind == PHI_CONTENT_THINKING && same)
            phi__anthropic_thinking(e, c);
        else if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete)
            phi__anthropic_call(e, &e->scratch, c);
    }
}

/* One text as a string, anything else as blocks. A result that is an error holds text only, and at
   least some. */
static void phi__anthropic_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool images = !m->is_error && phi__render_sends_image(e, m);
    size_t i, texts = 0;
    const phi_content *text = NULL;
    phi__buf_text(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(out, m->tool_call_id, PHI__ID_ANTHROPIC);
    if (m->is_error) phi__buf_text(out, ",\"is_error\":true");
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TEXT && !phi__render_blank(m->content[i].text)) {
            text = &m->content[i];
            texts++;
        }
    if (images || texts > 1 || phi__render_omits_any(e, m)) {
        phi__buf_text(out, ",\"content\":[");
        phi__anthropic_parts(e, m, images);
        phi__buf_char(out, ']');
    } else if (texts == 1)
        phi__render_text_member(e, "content", text->text);
    else if (m->is_error)
        phi__buf_text(out, ",\"content\":\"(no output)\"");
    phi__buf_char(out, '}');
}

/* ---- roles ---- */

static void phi__anthropic_close_role(phi__encoder *e) {
    if (e->open_role == (phi_role)0) return;
    phi__encode_glue(e, "]}");
    e->last_role = e->open_role;
    e->open_role = (phi_role)0;
}

/* Ends the message before, where one is open, and begins one of a role. */
static void phi__anthropic_open_role(phi__encoder *e, phi_role role) {
    static const char *const user[] = {"{\"role\":\"user\",\"content\":[",
                                       ",{\"role\":\"user\",\"content\":[",
                                       "]},{\"role\":\"user\",\"content\":["};
    static const char *const assistant[] = {"{\"role\":\"assistant\",\"content\":[",
                                            ",{\"role\":\"assistant\",\"content\":[",
                                            "]},{\"role\":\"assistant\",\"content\":["};
    size_t before = e->open_role != (phi_role)0 ? 2 : e->last_role != (phi_role)0 ? 1 : 0;
    phi__encode_glue(e, role == PHI_ROLE_USER ? user[before] : assistant[before]);
    if (before == 2) e->last_role = e->open_role;
    e->open_role = role;
}

static void phi__anthropic_append(phi__encoder *e, phi_role role, phi_str blocks) {
    if (blocks.len == 0) return;
    if (e->open_role == role)
        phi__encode_glue(e, ",");
    else
        phi__anthropic_open_role(e, role);
    phi__encode_piece(e, blocks);
    if (role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

static void phi__anthropic_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    uint32_t form = PHI__ANTHROPIC_FORM;
    phi_str blocks;
    if (same) form |= PHI__ANTHROPIC_ORIGIN;
    if (m->role != PHI_ROLE_ASSISTANT && phi__anthropic_no_images(e))
        form |= PHI__ANTHROPIC_NO_IMAGES;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &blocks)) {
        if (m->role == PHI_ROLE_USER)
            phi__anthropic_parts(e, m, true);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__anthropic_result(e, m);
        else
            phi__anthropic_assistant(e, m, same);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &blocks)) return;
    }
    phi__anthropic_append(e, m->role == PHI_ROLE_ASSISTANT ? PHI_ROLE_ASSISTANT : PHI_ROLE_USER,
                          blocks);
}

static void phi__anthropic_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->spec->items[item].message->content[block];
    phi_str json;
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(&e->scratch, call->id, PHI__ID_ANTHROPIC);
    phi__buf_text(&e->scratch, ",\"is_error\":true,\"content\":\"No result provided\"}");
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &json))
        e->failed = true;
    else
        phi__anthropic_append(e, PHI_ROLE_USER, json);
    phi__buf_clear(&e->scratch);
}

/* Images of results that are errors: the API takes them only behind all results. */
static void phi__anthropic_after_results(phi__encoder *e, size_t from, size_t to) {
    size_t i;
    if (phi__anthropic_no_images(e)) return;
    for (i = from; i < to; i++) {
        const phi_message *m = e->spec->items[i].message;
        uint32_t form = PHI__ANTHROPIC_FORM | PHI__ANTHROPIC_IMAGES;
        phi_str blocks;
        size_t j;
        if (m->role != PHI_ROLE_TOOL_RESULT || !m->is_error || !phi__render_sends_image(e, m))
            continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &blocks)) {
            for (j = 0; j < m->content_count; j++)
                if (phi__render_is_image(&m->content[j]) && !phi__render_omits(e, &m->content[j]))
                    phi__anthropic_image(e, &m->content[j]);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &blocks)) return;
        }
        phi__anthropic_append(e, PHI_ROLE_USER, blocks);
    }
}

/* ---- around the messages ---- */

static void phi__anthropic_put_choice(phi__encoder *e, const phi__claude_plan *p) {
    phi_tool_choice choice = e->spec->tool_choice;
    if (choice == PHI_TOOL_CHOICE_REQUIRED && (p->thinks || p->claude.no_forced_tool))
        choice = PHI_TOOL_CHOICE_AUTO; /* the API refuses to force a call then */
    if (e->spec->respond_only) {
        phi__buf_text(&e->scratch,
                      ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"" PHI_RESPOND_TOOL "\"");
    } else {
        phi__buf_text(&e->scratch, ",\"tool_choice\":{\"type\":\"");
        phi__buf_text(&e->scratch, choice == PHI_TOOL_CHOICE_NONE       ? "none\""
                                   : choice == PHI_TOOL_CHOICE_REQUIRED ? "any\""
                                                                        : "auto\"");
    }
    if (phi__takes_serial(e->spec, PHI__TAKES_ALL))
        phi__buf_text(&e->scratch, ",\"disable_parallel_tool_use\":true");
    phi__buf_char(&e->scratch, '}');
}

static void phi__anthropic_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i, last = e->spec->tool_count; /* the mark follows the last tool with a schema */
    while (last > 0 && e->spec->tools[last - 1].is_raw) last--;
    phi__buf_text(out, ",\"tools\":[");
    for (i = 0; i < e->spec->tool_count; i++) {
        if (i > 0) phi__buf_char(out, ',');
        if (e->spec->tools[i].is_raw) {
            phi__takes_put_raw(e, &e->spec->tools[i]);
            continue;
        }
        phi__buf_char(out, '{');
        if (phi__strict_tools_put_tool(e, &e->spec->tools[i], ",\"input_schema\":"))
            phi__buf_text(out, ",\"strict\":true");
        phi__buf_text(out, i + 1 == last && phi__codec_marks(e->spec, PHI__MARK_TOOLS)
                               ? PHI__ANTHROPIC_MARK
                               : "}");
    }
    phi__buf_char(out, ']');
}

static void phi__anthropic_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature",    "top_p", "top_k",
                                         "stop_sequences", NULL,    "service_tier"};
    const phi__request_spec *spec = e->spec;
    phi__claude_plan plan = phi__claude_plan_now(e);
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(spec->model->id));
    phi__buf_text(out, ",\"max_tokens\":");
    phi__buf_u64(out, plan.max_tokens);
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__render_blank(spec->system_prompt)) {
        phi__buf_text(out, ",\"system\":[{\"type\":\"text\"");
        phi__render_member(out, "text", spec->system_prompt);
        phi__buf_text(out, phi__codec_marks(spec, PHI__MARK_SYSTEM) ? PHI__ANTHROPIC_MARK : "}");
        phi__buf_char(out, ']');
    }
    phi__claude_put_thinking(e, &plan);
    phi__claude_put_config(e, &plan, true);
    phi__takes_put(e, &keys, phi__claude_takes_of(&plan));
    if (spec->tool_count > 0) {
        phi__anthropic_put_choice(e, &plan);
        phi__anthropic_put_tools(e);
    }
    phi__buf_text(out, ",\"messages\":[");
    phi__encode_scratch(e);
}

static void phi__anthropic_tail(phi__encoder *e) {
    phi__anthropic_close_role(e);
    phi__encode_glue(e, "]}");
    if (phi__codec_marks(e->spec, PHI__MARK_MESSAGES))
        phi__encode_mark(e, 1, PHI__ANTHROPIC_MARK_OPEN);
}

static void phi__anthropic_address(phi__encoder *e) {
    const phi_model *model = e->spec->model;
    phi_str key = phi__str_trim(phi_str_of(model->api_key));
    phi__encode_url(e, "/v1", false, "/messages");
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream, application/json"));
    phi__encode_header(e, "anthropic-version", PHI__LIT("2023-06-01"));
    if (phi__str_find(key, 0, "sk-ant-oat") != SIZE_MAX) { /* an OAuth token */
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    } else if (key.len > 0)
        phi__encode_header(e, "x-api-key", key);
    phi__encode_model_headers(e);
}

/* ---- the codec ---- */

static uint32_t phi__anthropic_takes(const phi__request_spec *spec) {
    phi__claude_plan plan = phi__claude_plan_of(spec);
    return phi__claude_takes_of(&plan);
}

static const char *const phi__anthropic_owned[] = {
    "model",       "max_tokens",           "stream", "system", "messages", "tools",
    "tool_choice", "output_config.format", NULL};

static const phi__codec_settings phi__anthropic_settings = {phi__anthropic_takes, phi__claude_level,
                                                            phi__anthropic_owned, NULL};

static const phi__codec_rules phi__anthropic_rules = {NULL,
                                                      phi__claude_strict_form,
                                                      NULL,
                                                      phi__claude_format_way,
                                                      PHI__SCHEMA_STRICT,
                                                      NULL,
                                                      phi__claude_unforced,
                                                      phi__claude_user_last,
                                                      PHI__RULE_USER_FIRST,
                                                      &phi__anthropic_settings};

PHI__FN const phi__codec *phi__anthropic_codec(void) {
    static const phi__codec codec = {PHI__NAMES_ANTHROPIC,
                                     &phi__anthropic_rules,
                                     sizeof(phi__anthropic_state),
                                     phi__anthropic_head,
                                     phi__anthropic_item,
                                     phi__anthropic_tail,
                                     phi__anthropic_address,
                                     phi__anthropic_missing,
                                     phi__anthropic_after_results,
                                     phi__anthropic_stream_event,
                                     phi__anthropic_stream_end,
                                     phi__anthropic_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}

#endif
