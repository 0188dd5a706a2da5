/* anthropic_blocks.c - messages of users, the model and tools as blocks. */
#include "codecs/anthropic_in.h"
#include "codecs/claude_in.h"
#include "wire/render_in.h"

/* ---- blocks ---- */

PHI__FN void phi__anthropic_blocks_text(phi__encoder *e, phi_str text) {
    phi__render_text_part(e, text);
}

static void phi__anthropic_blocks_image(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"image\",\"source\":{\"type\":\"base64\"");
    phi__render_member(out, "media_type", c->mime_type);
    phi__buf_text(out, ",\"data\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}");
}

static void phi__anthropic_blocks_document(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"document\",\"source\":{\"type\":");
    if (c->url.len > 0) {
        phi__buf_text(out, "\"url\"");
        phi__render_member(out, "url", c->url);
    } else if (c->data.len > 0) {
        phi__buf_text(out, "\"base64\"");
        phi__render_member(out, "media_type", c->mime_type);
        phi__buf_text(out, ",\"data\":\"");
        phi__render_base64(e, c->data);
        phi__buf_char(out, '"');
    } else {
        phi__buf_text(out, "\"text\",\"media_type\":\"text/plain\"");
        phi__render_text_member(e, "data", c->text);
    }
    phi__buf_char(out, '}');
    if (c->name.len > 0) phi__render_member(out, "title", c->name);
    phi__buf_char(out, '}');
}

PHI__FN void phi__anthropic_blocks_media_block(phi__encoder *e, const phi_content *c) {
    if (c->kind == PHI_CONTENT_IMAGE)
        phi__anthropic_blocks_image(e, c);
    else
        phi__anthropic_blocks_document(e, c);
}

static void phi__anthropic_blocks_opaque(phi__encoder *e, const phi_content *c) {
    if (phi__render_is_opaque(e->codec, c)) phi__render_opaque(e, c);
}

PHI__FN void phi__anthropic_blocks_parts(phi__encoder *e, const phi_message *m, bool media) {
    phi__render_parts(e, m, media, phi__render_said_part, phi__anthropic_blocks_media_block,
                      phi__anthropic_blocks_opaque);
}

static void phi__anthropic_blocks_thinking(phi__encoder *e, const phi_content *c) {
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

static void phi__anthropic_blocks_cited(phi__encoder *e, phi_str text, phi_str citations) {
    phi__buf *out = &e->scratch;
    if (citations.len == 0 || citations.at[0] != '[' || !phi__render_goes(e, citations)) {
        phi__anthropic_blocks_text(e, text);
        return;
    }
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_text(out, ",\"citations\":");
    phi__buf_add_str(out, citations);
    phi__buf_char(out, '}');
}

/* `whole`: with the members of it that phi does not know, which `replay` has. */
static void phi__anthropic_blocks_call(phi__encoder *e, const phi_content *c, bool whole) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"tool_use\",\"id\":");
    phi__render_id(out, c->id, PHI__ID_ANTHROPIC);
    phi__buf_text(out, ",\"name\":");
    phi__render_name(out, c->name, 128);
    phi__buf_text(out, ",\"input\":");
    phi__buf_add_str(out, phi__render_arguments(e, c->arguments));
    if (whole) phi__render_rest(e, c->replay);
    phi__buf_char(out, '}');
}

/* "server_tool_use", "mcp_tool_use". */
PHI__FN bool phi__anthropic_blocks_is_server_call(phi_str name) {
    return name.len > 9 && memcmp(name.at + name.len - 9, "_tool_use", 9) == 0;
}

/* "web_search_tool_result", "mcp_tool_result". */
PHI__FN bool phi__anthropic_blocks_is_server_result(phi_str name) {
    return name.len > 12 && memcmp(name.at + name.len - 12, "_tool_result", 12) == 0;
}

/* True if the call of a result is an earlier block of the message. */
static bool phi__anthropic_blocks_has_call(const phi_message *m, size_t block) {
    phi__json_found result, call;
    size_t i;
    if (phi__json_cursor_find(m->content[block].replay, "tool_use_id", &result) != PHI_OK)
        return true;
    for (i = 0; i < block; i++)
        if (m->content[i].kind == PHI_CONTENT_OPAQUE && !m->content[i].incomplete &&
            phi__anthropic_blocks_is_server_call(m->content[i].name) &&
            phi__json_cursor_find(m->content[i].replay, "id", &call) == PHI_OK &&
            phi_str_equal(call.raw, result.raw))
            return true;
    return false;
}

static bool phi__anthropic_blocks_sends(const phi__encoder *e, const phi_message *m, size_t block,
                                        uint32_t form) {
    static const char *const refs[] = {"tool_use_id", NULL};
    const phi_content *c = &m->content[block];
    if (!phi__render_is_opaque(e->codec, c)) return false;
    if ((form & PHI__ANTHROPIC_ORPHANS) != 0 && phi__anthropic_blocks_is_server_result(c->name) &&
        !phi__anthropic_blocks_has_call(m, block))
        return false;
    return (form & PHI__ANTHROPIC_ABANDONED) == 0 ||
           !phi__anthropic_blocks_is_server_call(c->name) ||
           phi__render_is_answered(m, block, "id", refs);
}

/* The last block that is sent; SIZE_MAX: none. */
static size_t phi__anthropic_blocks_last(const phi__encoder *e, const phi_message *m,
                                         uint32_t form) {
    phi_message part = *m;
    size_t last = phi__claude_last_sent(e->codec, &part);
    while (last != SIZE_MAX && m->content[last].kind == PHI_CONTENT_OPAQUE &&
           !phi__anthropic_blocks_sends(e, m, last, form)) {
        part.content_count = last;
        last = phi__claude_last_sent(e->codec, &part);
    }
    return last;
}

PHI__FN void phi__anthropic_blocks_assistant(phi__encoder *e, const phi_message *m, uint32_t form) {
    bool whole = (form & PHI__ANTHROPIC_PROTOCOL) != 0;
    bool paused = (form & PHI__ANTHROPIC_PAUSED) != 0;
    size_t last = paused && m->content_count > 0 ? m->content_count - 1
                                                 : phi__anthropic_blocks_last(e, m, form);
    size_t i;
    for (i = 0; last != SIZE_MAX && i <= last; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            phi__anthropic_blocks_cited(
                e, i == last && !paused ? phi__render_trim_end(c->text) : c->text,
                whole ? c->citations : phi__str(NULL, 0));
        else if (c->kind == PHI_CONTENT_THINKING && (form & PHI__ANTHROPIC_ORIGIN) != 0)
            phi__anthropic_blocks_thinking(e, c);
        else if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete)
            phi__anthropic_blocks_call(e, c, whole);
        else if (phi__anthropic_blocks_sends(e, m, i, form))
            phi__render_opaque(e, c);
    }
}

/* One text as a string, anything else as blocks. A result that is an error holds text only, and at
   least some. */
PHI__FN void phi__anthropic_blocks_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool media = !m->is_error && phi__render_sends_media(e, m), opaque;
    size_t i, texts = 0;
    const phi_content *text = NULL;
    phi__buf_text(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(out, m->tool_call_id, PHI__ID_ANTHROPIC);
    if (m->is_error) phi__buf_text(out, ",\"is_error\":true");
    for (i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) == PHI__RENDER_WORDS) {
            text = &m->content[i];
            texts++;
        }
    opaque = !m->is_error && phi__render_any_opaque(e, m);
    if (media || opaque || texts > 1 || phi__render_omits_any(e, m)) {
        phi__buf_text(out, ",\"content\":[");
        phi__anthropic_blocks_parts(e, m, media || opaque);
        phi__buf_char(out, ']');
    } else if (texts == 1) {
        phi__buf_text(out, ",\"content\":\"");
        phi__render_said(e, text);
        phi__buf_char(out, '"');
    } else if (m->is_error)
        phi__buf_text(out, ",\"content\":\"(no output)\"");
    phi__buf_char(out, '}');
}
