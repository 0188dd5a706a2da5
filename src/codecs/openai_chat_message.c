/* openai_chat_message.c - messages of users, the model and tools, as Chat Completions takes them.

   Opaque members go back where a server documents that it takes them: calls of custom tools to all,
   parts of the content to Mistral, annotations of files to OpenRouter. */
#include "codecs/openai_chat_in.h"
#include "codecs/kept_in.h"
#include "codecs/openai_in.h"
#include "wire/render_in.h"

PHI__FN phi__id_rule phi__openai_chat_message_id_rule(const phi_model *model) {
    return (model->quirks & PHI_QUIRK_ID_9) != 0 ? PHI__ID_9 : PHI__ID_40;
}

/* ---- opaque members ---- */

/* The items of a list that is all an opaque block has: `start` is its JSON up to them. Empty: it is
   another block, or broken. Uses and resets e->arena. */
static phi_str phi__openai_chat_message_opaque(phi__encoder *e, const phi_content *c,
                                               const char *start) {
    const phi_str none = {NULL, 0};
    phi_str json = c->replay;
    size_t n = strlen(start);
    if (!phi__kept_is_of(c, e->codec->names, NULL) || !phi__str_starts(json, start)) return none;
    if (json.len < n + 4 || memcmp(json.at + json.len - 2, "]}", 2) != 0) return none;
    if (!phi__render_goes(e, phi__str(json.at + n - 1, json.len - n))) return none;
    return phi__str(json.at + n, json.len - n - 2);
}

#define PHI__OPENAI_CHAT_CALLS "{\"tool_calls\":["
#define PHI__OPENAI_CHAT_PARTS "{\"content\":["

/* The annotations of files that OpenRouter read: with them it does not read a file again, and says
   to send them back ("PDF Inputs", November 2026). */
static void phi__openai_chat_message_put_annotations(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool open = false;
    size_t i;
    if (!phi__str_is(phi_str_of(e->spec->model->provider), "openrouter") ||
        !phi__str_is(m->provider, "openrouter"))
        return;
    for (i = 0; i < m->content_count; i++) {
        phi_str list = m->content[i].citations, one;
        phi__json_cursor c;
        if (phi__str_find(list, 0, "\"file\"") == SIZE_MAX || !phi__render_goes(e, list)) continue;
        phi__json_cursor_init(&c, list);
        if (!phi__json_cursor_enter_array(&c)) continue;
        while (phi__json_cursor_next_item(&c)) {
            phi__json_found found;
            if (!phi__json_cursor_take_raw(&c, &one)) break;
            if (phi__json_cursor_find(one, "type", &found) != PHI_OK ||
                !phi__str_is(found.raw, "file"))
                continue;
            phi__buf_text(out, open ? "," : ",\"annotations\":[");
            phi__buf_add_str(out, one);
            open = true;
        }
    }
    if (open) phi__buf_char(out, ']');
}

/* ---- content ---- */

/* An image, a document or audio. */
static void phi__openai_chat_message_block(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    switch (c->kind) {
    case PHI_CONTENT_DOCUMENT:
        phi__buf_text(out, "{\"type\":\"file\",\"file\":{\"filename\":");
        phi__render_file_name(out, c);
        phi__buf_text(out, ",\"file_data\":");
        if (c->url.len > 0)
            phi__json_write_str(out, c->url);
        else
            phi__openai_data_url(e, c);
        break;
    case PHI_CONTENT_AUDIO:
        phi__buf_text(out, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
        phi__render_base64(e, c->data);
        phi__buf_char(out, '"');
        phi__render_member(out, "format", phi_str_of(phi__render_ending(c->mime_type)));
        break;
    default:
        phi__buf_text(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":");
        phi__openai_data_url(e, c);
        break;
    }
    phi__buf_text(out, "}}");
}

/* A user's opaque block, which a host wrote: a separate message if it has a role (the result of a
   custom tool's call), else a part of the content. Uses and resets e->arena. */
typedef enum phi__openai_chat_place {
    PHI__OPENAI_CHAT_NONE,
    PHI__OPENAI_CHAT_MESSAGE,
    PHI__OPENAI_CHAT_PART
} phi__openai_chat_place;

static phi__openai_chat_place phi__openai_chat_message_user_block(phi__encoder *e,
                                                                  const phi_content *c) {
    phi__openai_chat_place out = PHI__OPENAI_CHAT_NONE;
    phi_arena_mark mark = phi_arena_save(e->arena);
    const phi_json *root;
    if (!phi__kept_is_of(c, e->codec->names, NULL)) return out;
    root = phi__kept_tree(e, c->replay);
    if (phi_json_is(phi_json_get(root, "role"), PHI_JSON_STRING))
        out = PHI__OPENAI_CHAT_MESSAGE;
    else if (phi_json_is(phi_json_get(root, "type"), PHI_JSON_STRING))
        out = PHI__OPENAI_CHAT_PART;
    phi_arena_reset(e->arena, mark);
    return out;
}

static bool phi__openai_chat_message_has_block(phi__encoder *e, const phi_message *m,
                                               phi__openai_chat_place kind) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (phi__openai_chat_message_user_block(e, &m->content[i]) == kind) return true;
    return false;
}

static void phi__openai_chat_message_opaque_part(phi__encoder *e, const phi_content *c) {
    if (phi__openai_chat_message_user_block(e, c) != PHI__OPENAI_CHAT_PART) return;
    phi__json_write_comma(&e->scratch);
    phi__buf_add_str(&e->scratch, c->replay);
}

/* Writes nothing if no block may be sent. */
PHI__FN void phi__openai_chat_message_user(phi__encoder *e, const phi_message *m) {
    bool parts = phi__render_sends_media(e, m) ||
                 phi__openai_chat_message_has_block(e, m, PHI__OPENAI_CHAT_PART);
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__openai_chat_message_user_block(e, c) != PHI__OPENAI_CHAT_MESSAGE) continue;
        phi__json_write_comma(&e->scratch);
        phi__buf_add_str(&e->scratch, c->replay);
    }
    if (!parts && !phi__openai_says(e, m)) return;
    phi__json_write_comma(&e->scratch);
    phi__buf_text(&e->scratch, "{\"role\":\"user\",\"content\":");
    if (phi__openai_chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) || parts) {
        phi__buf_char(&e->scratch, '[');
        phi__render_parts(e, m, true, phi__render_said_part, phi__openai_chat_message_block,
                          phi__openai_chat_message_opaque_part);
        phi__buf_char(&e->scratch, ']');
    } else {
        phi__buf_char(&e->scratch, '"');
        (void)phi__openai_join_text(e, m);
        phi__buf_char(&e->scratch, '"');
    }
    phi__buf_char(&e->scratch, '}');
}

/* ---- the assistant ---- */

static bool phi__openai_chat_message_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

static bool phi__openai_chat_message_is_thinking(const phi_content *c) {
    return c->kind == PHI_CONTENT_THINKING && !c->redacted && !phi__render_blank(c->text);
}

/* Thinking as a part before the text, as Mistral wants it back. */
static bool phi__openai_chat_message_thinking_parts(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool any = false;
    size_t i;
    for (i = 0; i < m->content_count; i++)
        any = any || phi__openai_chat_message_is_thinking(&m->content[i]) ||
              phi__openai_chat_message_opaque(e, &m->content[i], PHI__OPENAI_CHAT_PARTS).len > 0;
    if (!any) return false;
    phi__buf_char(out, '[');
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__openai_chat_message_is_thinking(c)) {
            phi__json_write_comma(out);
            phi__buf_text(out, "{\"type\":\"thinking\",\"thinking\":[");
            phi__render_text_part(e, c->text);
            phi__buf_text(out, "]}");
        } else if (phi__openai_is_text(c))
            phi__render_text_part(e, c->text);
        else {
            phi_str part = phi__openai_chat_message_opaque(e, c, PHI__OPENAI_CHAT_PARTS);
            if (part.len > 0) phi__json_write_comma(out);
            phi__buf_add_str(out, part);
        }
    }
    phi__buf_char(out, ']');
    return true;
}

static void phi__openai_chat_message_calls(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool open = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str custom = phi__openai_chat_message_opaque(e, c, PHI__OPENAI_CHAT_CALLS);
        if (!phi__openai_chat_message_is_call(c) && custom.len == 0) continue;
        phi__buf_text(out, open ? "," : ",\"tool_calls\":[");
        open = true;
        phi__buf_add_str(out, custom);
        if (custom.len > 0) continue;
        phi__buf_text(out, "{\"id\":");
        phi__render_id(out, c->id, phi__openai_chat_message_id_rule(e->spec->model));
        phi__buf_text(out, ",\"type\":\"function\",\"function\":{\"name\":");
        phi__render_name(out, c->name, 64);
        phi__render_text_member(e, "arguments", phi__render_arguments(e, c->arguments));
        phi__buf_text(out, "}}");
    }
    if (open) phi__buf_char(out, ']');
}

/* What came in reasoning_details, or in thinking_blocks, goes back verbatim in place of the text.
   start: of the replay, "{" and the member with its bracket. */
static bool phi__openai_chat_message_put_details(phi__buf *out, const phi_message *m,
                                                 const char *start) {
    size_t i, n = strlen(start);
    bool any = false;
    for (i = 0; i < m->content_count; i++) {
        phi_str replay = m->content[i].replay;
        if (m->content[i].kind != PHI_CONTENT_THINKING || !phi__str_starts(replay, start)) continue;
        if (replay.len < n + 3 || replay.at[replay.len - 1] != '}') continue;
        phi__buf_char(out, ',');
        if (!any) phi__buf_text(out, start + 1);
        phi__buf_add(out, replay.at + n, replay.len - n - 2);
        any = true;
    }
    if (any) phi__buf_char(out, ']');
    return any;
}

#define PHI__OPENAI_CHAT_DETAILS "{\"reasoning_details\":["
#define PHI__OPENAI_CHAT_BLOCKS "{\"thinking_blocks\":["

/* The reasoning text, in the field it came in. The signatures of Claude at LiteLLM always go back:
   without them the second request of a tool loop is refused. */
static void phi__openai_chat_message_put_reasoning(phi__encoder *e, const phi_message *m,
                                                   bool same) {
    static const char *const fields[] = {"reasoning_content", "reasoning", "reasoning_text"};
    phi__buf *out = &e->scratch;
    bool required =
        phi__openai_chat_quirk(e, PHI_QUIRK_REASONING_REQUIRED) && phi__openai_chat_thinking_on(e);
    bool any = false;
    size_t i, field = 0;
    if (same && phi__openai_chat_message_put_details(out, m, PHI__OPENAI_CHAT_BLOCKS)) return;
    if (same && phi__openai_chat_quirk(e, PHI_QUIRK_REPLAY_REASONING)) {
        if (phi__openai_chat_message_put_details(out, m, PHI__OPENAI_CHAT_DETAILS)) return;
        for (i = 0; i < m->content_count; i++) {
            const phi_content *c = &m->content[i];
            if (!phi__openai_chat_message_is_thinking(c)) continue;
            if (any)
                phi__buf_text(out, "\\n");
            else {
                for (field = PHI__COUNT(fields) - 1; field > 0; field--)
                    if (phi__str_is(c->signature, fields[field])) break;
                phi__json_write_key(out, phi_str_of(fields[field]));
                phi__buf_char(out, '"');
            }
            phi__render_text(e, c->text);
            any = true;
        }
        if (any) phi__buf_char(out, '"');
    }
    if (required && !any) phi__buf_text(out, ",\"reasoning_content\":\"\"");
}

PHI__FN void phi__openai_chat_message_assistant(phi__encoder *e, const phi_message *m, bool same) {
    phi__buf *out = &e->scratch;
    bool text = false, calls = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        text = text || phi__openai_is_text(&m->content[i]);
        calls = calls || phi__openai_chat_message_is_call(&m->content[i]) ||
                phi__openai_chat_message_opaque(e, &m->content[i], PHI__OPENAI_CHAT_CALLS).len > 0;
    }
    if (!text && !calls) return;
    phi__buf_text(out, "{\"role\":\"assistant\",\"content\":");
    if (same && phi__openai_chat_quirk(e, PHI_QUIRK_THINKING_PARTS) &&
        phi__openai_chat_message_thinking_parts(e, m)) {
        /* written */
    } else if (text) {
        phi__buf_char(out, '"');
        (void)phi__openai_join_text(e, m);
        phi__buf_char(out, '"');
    } else
        phi__buf_text(out, phi__openai_chat_quirk(e, PHI_QUIRK_EMPTY_CONTENT) ? "\"\"" : "null");
    phi__openai_chat_message_put_annotations(e, m);
    phi__openai_chat_message_put_reasoning(e, m, same);
    phi__openai_chat_message_calls(e, m);
    phi__buf_char(out, '}');
}

/* ---- tool results ---- */

PHI__FN void phi__openai_chat_message_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"role\":\"tool\",\"tool_call_id\":");
    phi__render_id(out, m->tool_call_id, phi__openai_chat_message_id_rule(e->spec->model));
    if (phi__openai_chat_quirk(e, PHI_QUIRK_TOOL_NAME_IN_RESULT)) {
        phi__buf_text(out, ",\"name\":");
        phi__render_name(out, m->tool_name, 64);
    }
    phi__buf_text(out, ",\"content\":\"");
    if (m->is_error) phi__buf_text(out, "Error: ");
    if (phi__openai_join_text(e, m)) {
        /* written */
    } else if (phi__render_sends_media(e, m)) {
        phi__buf_text(out, "(see the ");
        phi__buf_text(out, phi__render_media_word(e, m));
        phi__buf_text(out, " below)");
    } else
        phi__buf_text(out, "(no output)");
    phi__buf_text(out, "\"}");
}

/* "Image returned by tool x:", and what it returned. */
PHI__FN void phi__openai_chat_message_result_media(phi__encoder *e, const phi_message *m) {
    const char *word = phi__render_media_word(e, m);
    phi__buf *out = &e->scratch;
    size_t i;
    phi__buf_text(out, "{\"type\":\"text\",\"text\":\"");
    phi__buf_char(out, (char)(word[0] - 'a' + 'A'));
    phi__buf_text(out, word + 1);
    phi__buf_text(out, " returned by tool ");
    phi__json_write_part(out, m->tool_name);
    phi__buf_text(out, ":\"}");
    for (i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) == PHI__RENDER_BLOCK)
            phi__openai_chat_message_block(e, &m->content[i]);
}
