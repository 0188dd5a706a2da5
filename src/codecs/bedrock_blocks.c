/* bedrock_blocks.c - messages as blocks of Converse. */
#include "codecs/bedrock_in.h"
#include "wire/render_in.h"

/* Mistral's models take their own ids only. */
PHI__FN phi__id_rule phi__bedrock_blocks_id_rule(const phi_model *model) {
    if ((model->quirks & PHI_QUIRK_ID_9) != 0 ||
        phi__str_find_nocase(phi_str_of(model->id), 0, "mistral") != SIZE_MAX)
        return PHI__ID_9;
    return PHI__ID_ANTHROPIC;
}

/* ---- blocks ---- */

static void phi__bedrock_blocks_text(phi__encoder *e, phi_str text) {
    phi__json_write_comma(&e->scratch);
    phi__buf_char(&e->scratch, '{');
    phi__render_text_member(e, "text", text);
    phi__buf_char(&e->scratch, '}');
}

static void phi__bedrock_blocks_image(phi__encoder *e, const phi_content *c) {
    size_t slash = phi__str_find(c->mime_type, 0, "/") + 1; /* of "image/png" */
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"image\":{");
    phi__render_member(out, "format", phi__str(c->mime_type.at + slash, c->mime_type.len - slash));
    phi__buf_text(out, ",\"source\":{\"bytes\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}}");
}

static void phi__bedrock_blocks_audio(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"audio\":{");
    phi__render_member(out, "format", phi_str_of(phi__render_ending(c->mime_type)));
    phi__buf_text(out, ",\"source\":{\"bytes\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}}");
}

/* A result holds no audio, and an error result holds text only: the rest follows all results. */
PHI__FN bool phi__bedrock_blocks_fits(const phi_message *m, const phi_content *c) {
    return m->role == PHI_ROLE_USER || (!m->is_error && c->kind != PHI_CONTENT_AUDIO);
}

/* A message with documents needs a text: if it has none, one is added. */
PHI__FN void phi__bedrock_blocks_parts(phi__encoder *e, size_t at, phi__bedrock_choice choice) {
    const phi_message *m = e->spec->items[at].message;
    size_t documents = 0, sent = 0, texts = 0, i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi__render_way way = phi__render_way_to(e, c);
        phi_str line = phi__render_stand_in(e, m, i);
        if (way == PHI__RENDER_BLOCK) {
            size_t ordinal = documents;
            if (c->kind == PHI_CONTENT_DOCUMENT) documents++;
            if (phi__bedrock_blocks_fits(m, c) != (choice == PHI__BEDROCK_INSIDE)) continue;
            if (c->kind == PHI_CONTENT_IMAGE)
                phi__bedrock_blocks_image(e, c);
            else if (c->kind == PHI_CONTENT_AUDIO)
                phi__bedrock_blocks_audio(e, c);
            else {
                phi__bedrock_document_put(e, c, at, ordinal);
                sent++;
            }
        } else if (choice == PHI__BEDROCK_INSIDE && (way == PHI__RENDER_WORDS || line.len > 0)) {
            phi__json_write_comma(&e->scratch);
            phi__buf_text(&e->scratch, "{\"text\":\"");
            if (line.len > 0)
                phi__render_text(e, line);
            else
                phi__render_said(e, c);
            phi__buf_text(&e->scratch, "\"}");
            texts++;
        } else if (choice == PHI__BEDROCK_INSIDE &&
                   !(m->role == PHI_ROLE_TOOL_RESULT && m->is_error) &&
                   phi__render_is_opaque(e->codec, c))
            phi__render_opaque(e, c);
    }
    if (sent > 0 && texts == 0)
        phi__bedrock_blocks_text(e, PHI__LIT("(see the attached document)"));
}

/* Claude wants its signature, others refuse one. */
static void phi__bedrock_blocks_thinking(phi__encoder *e, const phi_content *c, bool is_signed) {
    phi__buf *out = &e->scratch;
    if (is_signed || c->redacted ? c->signature.len == 0 : phi__render_blank(c->text)) return;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"reasoningContent\":{");
    if (c->redacted)
        phi__render_member(out, "redactedContent", c->signature);
    else {
        phi__buf_text(out, "\"reasoningText\":{");
        phi__render_text_member(e, "text", c->text);
        if (is_signed) phi__render_member(out, "signature", c->signature);
        phi__buf_char(out, '}');
    }
    phi__buf_text(out, "}}");
}

static void phi__bedrock_blocks_cited(phi__encoder *e, phi_str text, phi_str citations) {
    phi__buf *out = &e->scratch;
    if (citations.len == 0 || citations.at[0] != '[' || !phi__render_goes(e, citations)) {
        phi__bedrock_blocks_text(e, text);
        return;
    }
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"citationsContent\":{\"content\":[{");
    phi__render_text_member(e, "text", text);
    phi__buf_text(out, "}],\"citations\":");
    phi__buf_add_str(out, citations);
    phi__buf_text(out, "}}");
}

/* `whole`: with the members of it that phi does not know, which `replay` has. */
static void phi__bedrock_blocks_call(phi__encoder *e, const phi_content *c, bool whole) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"toolUse\":{\"toolUseId\":");
    phi__render_id(out, c->id, phi__bedrock_blocks_id_rule(e->spec->model));
    phi__buf_text(out, ",\"name\":");
    phi__render_name(out, c->name, 64);
    phi__buf_text(out, ",\"input\":");
    phi__buf_add_str(out, phi__render_arguments(e, c->arguments));
    if (whole) phi__render_rest(e, c->replay);
    phi__buf_char(out, '}');
    phi__buf_char(out, '}');
}

PHI__FN bool phi__bedrock_blocks_is_server_call(phi_str name) {
    return phi__str_is(name, "toolUse");
}

static bool phi__bedrock_blocks_sends(const phi__encoder *e, const phi_message *m, size_t block,
                                      uint32_t form) {
    static const char *const refs[] = {"toolResult.toolUseId", NULL};
    const phi_content *c = &m->content[block];
    if (!phi__render_is_opaque(e->codec, c)) return false;
    return (form & PHI__BEDROCK_ABANDONED) == 0 || !phi__bedrock_blocks_is_server_call(c->name) ||
           phi__render_is_answered(m, block, "toolUse.toolUseId", refs);
}

static bool phi__bedrock_blocks_says(const phi__encoder *e, const phi_message *m, size_t block,
                                     uint32_t form) {
    const phi_content *c = &m->content[block];
    return (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text)) ||
           (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete) ||
           phi__bedrock_blocks_sends(e, m, block, form);
}

/* Up to the last block that says something: reasoning may not end a message. */
PHI__FN void phi__bedrock_blocks_assistant(phi__encoder *e, const phi_message *m, uint32_t form) {
    bool whole = (form & PHI__BEDROCK_PROTOCOL) != 0;
    size_t end = m->content_count, i;
    while (end > 0 && !phi__bedrock_blocks_says(e, m, end - 1, form)) end--;
    for (i = 0; i < end; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_THINKING && (form & PHI__BEDROCK_ORIGIN) != 0)
            phi__bedrock_blocks_thinking(e, c, (form & PHI__BEDROCK_SIGNED) != 0);
        else if (!phi__bedrock_blocks_says(e, m, i, form))
            continue;
        else if (c->kind == PHI_CONTENT_TEXT)
            phi__bedrock_blocks_cited(e, i + 1 == end ? phi__render_trim_end(c->text) : c->text,
                                      whole ? c->citations : phi__str(NULL, 0));
        else if (c->kind == PHI_CONTENT_TOOL_CALL)
            phi__bedrock_blocks_call(e, c, whole);
        else if (c->kind == PHI_CONTENT_OPAQUE)
            phi__render_opaque(e, c);
    }
}

PHI__FN void phi__bedrock_blocks_result_open(phi__encoder *e, phi_str id, bool is_error) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"toolResult\":{\"toolUseId\":");
    phi__render_id(out, id, phi__bedrock_blocks_id_rule(e->spec->model));
    phi__buf_text(out, is_error ? ",\"status\":\"error\"" : ",\"status\":\"success\"");
    phi__buf_text(out, ",\"content\":[");
}

/* A result that is an error holds text only; none is empty. */
PHI__FN void phi__bedrock_blocks_result(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    size_t empty;
    phi__bedrock_blocks_result_open(e, m->tool_call_id, m->is_error);
    empty = e->scratch.len;
    phi__bedrock_blocks_parts(e, at, PHI__BEDROCK_INSIDE);
    if (e->scratch.len == empty) phi__bedrock_blocks_text(e, PHI__LIT("(no output)"));
    phi__buf_text(&e->scratch, "]}}");
}
