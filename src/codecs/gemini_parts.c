/* gemini_parts.c - messages as parts of generateContent. */
#include "codecs/gemini_in.h"
#include "codecs/kept_in.h"
#include "wire/render_in.h"

#define PHI__GEMINI_UNSIGNED "skip_thought_signature_validator"

PHI__FN bool phi__gemini_parts_three(const phi__encoder *e) {
    return phi__gemini_version(e->spec->model) >= 30;
}

/* ---- parts ---- */

/* An id that phi__assembly_finish invented, because the model gave none. */
static bool phi__gemini_parts_invented(phi_str id) {
    size_t i;
    if (id.len != 21 || memcmp(id.at, "call_", 5) != 0) return false;
    for (i = 5; i < id.len; i++)
        if (!((id.at[i] >= '0' && id.at[i] <= '9') || (id.at[i] >= 'a' && id.at[i] <= 'f')))
            return false;
    return true;
}

static void phi__gemini_parts_id(phi__encoder *e, phi__buf *out, phi_str id) {
    if (!phi__gemini_parts_three(e) || phi__gemini_parts_invented(id)) return;
    phi__buf_text(out, "\"id\":");
    phi__render_id(out, id, PHI__ID_ANTHROPIC);
    phi__buf_char(out, ',');
}

static void phi__gemini_parts_sign(phi__encoder *e, phi_str signature) {
    if (signature.len > 0) phi__render_member(&e->scratch, "thoughtSignature", signature);
}

static void phi__gemini_parts_text(phi__encoder *e, phi_str text, bool thought, phi_str signature) {
    phi__json_write_comma(&e->scratch);
    phi__buf_text(&e->scratch, thought ? "{\"thought\":true" : "{");
    phi__render_text_member(e, "text", text);
    phi__gemini_parts_sign(e, signature);
    phi__buf_char(&e->scratch, '}');
}

PHI__FN bool phi__gemini_parts_titles(const phi__encoder *e) {
    return phi__codec_is(e->codec->names, PHI__LIT(PHI_PROTOCOL_VERTEX));
}

/* An image, a document or audio. */
static void phi__gemini_parts_block(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi_str type = c->mime_type.len > 0 ? c->mime_type : PHI__LIT("application/pdf");
    phi__json_write_comma(out);
    phi__buf_text(out, c->url.len > 0 ? "{\"fileData\":{" : "{\"inlineData\":{");
    phi__render_member(out, "mimeType", type);
    if (c->kind == PHI_CONTENT_DOCUMENT && c->name.len > 0 && phi__gemini_parts_titles(e))
        phi__render_member(out, "displayName", c->name);
    if (c->url.len > 0) {
        phi__render_member(out, "fileUri", c->url);
        phi__buf_text(out, "}}");
        return;
    }
    phi__buf_text(out, ",\"data\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}");
}

/* Models from 3 on take images and documents inside of a result; audio, and all media of older
   ones, follows all results. */
static bool phi__gemini_parts_inside(const phi__encoder *e, const phi_content *c) {
    return phi__gemini_parts_three(e) && c->kind != PHI_CONTENT_AUDIO;
}

/* A part of a kind that phi does not read, byte for byte: Google's API and Vertex AI are two
   addresses of one wire. The signature of another model is replaced as that of a call is. Vertex
   has no toolCall and toolResponse (google-genai 3.6.1 refuses them, November 2026). */
static void phi__gemini_parts_opaque(phi__encoder *e, const phi_content *c, bool own) {
    static const char *const signature[] = {"thoughtSignature", NULL};
    phi__buf *out = &e->scratch;
    phi_arena_mark mark;
    if (!phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_GOOGLE) &&
        !phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_VERTEX))
        return;
    if (phi__codec_is(e->codec->names, PHI__LIT(PHI_PROTOCOL_VERTEX)) &&
        (phi__str_is(c->name, "toolCall") || phi__str_is(c->name, "toolResponse")))
        return;
    mark = phi_arena_save(e->arena);
    if (phi__kept_tree(e, c->replay) == NULL) return;
    phi_arena_reset(e->arena, mark);
    phi__json_write_comma(out);
    if (own || phi__str_find(c->replay, 0, "\"thoughtSignature\"") == SIZE_MAX) {
        phi__buf_add_str(out, c->replay);
        return;
    }
    phi__buf_char(out, '{');
    phi__opaque_members(out, c->replay, signature);
    if (phi__gemini_parts_three(e)) phi__gemini_parts_sign(e, PHI__LIT(PHI__GEMINI_UNSIGNED));
    phi__buf_char(out, '}');
}

static void phi__gemini_parts_opaque_user(phi__encoder *e, const phi_content *c) {
    phi__gemini_parts_opaque(e, c, true);
}

/* Writes the blocks that go inside of a result, or those that follow it, and counts them. write
   false: only counts. */
PHI__FN size_t phi__gemini_parts_blocks(phi__encoder *e, const phi_message *m, bool inside,
                                        bool write) {
    size_t i, n = 0;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__render_way_to(e, c) != PHI__RENDER_BLOCK ||
            phi__gemini_parts_inside(e, c) != inside)
            continue;
        if (write) phi__gemini_parts_block(e, c);
        n++;
    }
    return n;
}

static void phi__gemini_parts_said(phi__encoder *e, const phi_content *c) {
    phi__json_write_comma(&e->scratch);
    phi__buf_text(&e->scratch, "{\"text\":\"");
    phi__render_said(e, c);
    phi__buf_text(&e->scratch, "\"}");
}

PHI__FN void phi__gemini_parts_user(phi__encoder *e, const phi_message *m) {
    phi__render_parts(e, m, true, phi__gemini_parts_said, phi__gemini_parts_block,
                      phi__gemini_parts_opaque_user);
}

static void phi__gemini_parts_call(phi__encoder *e, const phi_content *c, phi_str signature) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"functionCall\":{");
    phi__gemini_parts_id(e, out, c->id);
    phi__buf_text(out, "\"name\":");
    phi__gemini_name(out, c->name);
    phi__buf_text(out, ",\"args\":");
    phi__buf_add_str(out, phi__render_arguments(e, c->arguments));
    phi__buf_char(out, '}');
    phi__gemini_parts_sign(e, signature);
    phi__buf_char(out, '}');
}

/* Every part keeps its own signature; thinking without one does not help the model. The first of
   parallel calls has a signature, and models since 3 require it: a call of another model gets the
   documented signature for such calls. */
PHI__FN void phi__gemini_parts_model(phi__encoder *e, const phi_message *m, bool same, bool own) {
    const phi_str none = {NULL, 0};
    bool first = true;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str signature = same ? c->signature : none;
        if (c->kind == PHI_CONTENT_THINKING && signature.len > 0 && !c->redacted)
            phi__gemini_parts_text(e, c->text, true, signature);
        else if (c->kind == PHI_CONTENT_TEXT && (!phi__render_blank(c->text) || signature.len > 0))
            phi__gemini_parts_text(e, c->text, false, signature);
        else if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete) {
            if (first && signature.len == 0 && phi__gemini_parts_three(e))
                signature = PHI__LIT(PHI__GEMINI_UNSIGNED);
            phi__gemini_parts_call(e, c, signature);
            first = false;
        } else
            phi__gemini_parts_opaque(e, c, own);
    }
}

PHI__FN void phi__gemini_parts_result_open(phi__encoder *e, phi_str id, phi_str name,
                                           bool is_error) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"functionResponse\":{");
    phi__gemini_parts_id(e, out, id);
    phi__buf_text(out, "\"name\":");
    phi__gemini_name(out, name);
    phi__buf_text(out, is_error ? ",\"response\":{\"error\":\"" : ",\"response\":{\"output\":\"");
}

PHI__FN void phi__gemini_parts_result(phi__encoder *e, const phi_message *m) {
    phi__gemini_parts_result_open(e, m->tool_call_id, phi__gemini_result_name(e, m), m->is_error);
    phi__gemini_result_text(e, m);
    phi__buf_text(&e->scratch, "\"}");
    if (phi__gemini_parts_blocks(e, m, true, false) > 0) {
        phi__buf_text(&e->scratch, ",\"parts\":[");
        (void)phi__gemini_parts_blocks(e, m, true, true);
        phi__buf_char(&e->scratch, ']');
    }
    phi__buf_text(&e->scratch, "}}");
}
