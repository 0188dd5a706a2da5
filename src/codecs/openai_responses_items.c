/* openai_responses_items.c - messages as items of the Responses API.

   Reasoning items go back as they came, directly before the item they produced, and only to the
   model that made them: the server refuses one without its follower, and an item by its id without
   its reasoning. Opaque items go back byte for byte; OpenAI and Azure are two addresses of one
   wire, so each takes the other's, but for encrypted content, which only its maker reads. */
#include "codecs/openai_responses_in.h"
#include "codecs/openai_in.h"

enum { PHI__RESP_ID_MOST = 64 }; /* bytes of an item's id */

/* ---- opaque items ---- */

/* What decides if and how an opaque item goes back. */
typedef struct phi__resp_opaque {
    bool goes;
    bool part;  /* of a message's content: input_text, input_file... */
    bool loose; /* its id may be left out */
} phi__resp_opaque;

/* Reads if a block goes back to this server. An item that its server still worked on does not.
   `loose` lists the types whose id the API does not require: openai 7.57.0, ResponseInputItem,
   November 2026. Uses and resets e->arena. */
static phi__resp_opaque phi__resp_look(phi__encoder *e, const phi_content *c) {
    static const char *const busy[] = {
        "in_progress", "searching", "interpreting", "generating", "calling", "queued", NULL};
    static const char *const loose[] = {"function_call_output",    "custom_tool_call",
                                        "custom_tool_call_output", "shell_call",
                                        "shell_call_output",       "apply_patch_call",
                                        "apply_patch_call_output", "tool_search_call",
                                        "tool_search_output",      "additional_tools",
                                        "mcp_approval_response",   "compaction",
                                        "computer_call_output",    NULL};
    phi__resp_opaque out = {false, false, false};
    if (!phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_OPENAI_RESPONSES) &&
        !phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_AZURE_RESPONSES))
        return out;
    if (!phi__codec_is(e->codec->names, c->protocol) &&
        phi__str_find(c->replay, 0, "\"encrypted_content\"") != SIZE_MAX)
        return out;
    phi_arena_mark mark = phi_arena_save(e->arena);
    const phi_json *root = phi__kept_tree(e, c->replay);
    phi_str type = phi_json_str(phi_json_get(root, "type"), "");
    out.goes =
        type.len > 0 && !phi__codec_among(phi_json_str(phi_json_get(root, "status"), ""), busy);
    out.part = phi__str_starts(type, "input_");
    out.loose = phi__codec_among(type, loose);
    phi_arena_reset(e->arena, mark);
    return out;
}

/* An item byte for byte. `bare`: without its id, which would name reasoning that does not go
   back. */
static void phi__resp_put_opaque(phi__encoder *e, const phi_content *c, bool bare) {
    static const char *const id[] = {"id", NULL};
    phi__json_write_comma(&e->scratch);
    if (!bare) {
        phi__buf_add_str(&e->scratch, c->replay);
        return;
    }
    phi__buf_char(&e->scratch, '{');
    phi__opaque_members(&e->scratch, c->replay, id);
    phi__buf_char(&e->scratch, '}');
}

/* ---- content of users and tools ---- */

/* `before` goes first. */
static void phi__resp_text_part(phi__encoder *e, const char *before, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_item(out, "{\"type\":\"input_text\",\"text\":\"");
    phi__buf_text(out, before);
    phi__render_said(e, c);
    phi__buf_text(out, "\"}");
}

static bool phi__resp_is_part(phi__encoder *e, const phi_content *c) {
    phi__resp_opaque look = phi__resp_look(e, c);
    return look.goes && look.part;
}

/* The blocks in [from, to). `before` precedes the first text, or a line that says there is no
   output. */
static void phi__resp_parts(phi__encoder *e, const phi_message *m, size_t from, size_t to,
                            const char *before) {
    phi_content line = PHI_ZERO;
    phi__buf_char(&e->scratch, '[');
    for (size_t i = from; i < to; i++) {
        const phi_content *c = &m->content[i];
        phi__render_way way = phi__render_way_to(e, c);
        line.text = phi__render_stand_in(e, m, i);
        if (way == PHI__RENDER_WORDS || line.text.len > 0) {
            phi__resp_text_part(e, before, line.text.len > 0 ? &line : c);
            before = "";
        } else if (way == PHI__RENDER_BLOCK) {
            /* An image or a document. */
            phi__buf *out = &e->scratch;
            phi__json_write_comma(out);
            if (c->kind == PHI_CONTENT_IMAGE) {
                phi__buf_text(out, "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":");
                phi__openai_data_url(e, c);
            } else if (c->url.len > 0) {
                phi__buf_text(out, "{\"type\":\"input_file\"");
                phi__records_str(out, "file_url", c->url);
            } else {
                phi__buf_text(out, "{\"type\":\"input_file\",\"filename\":");
                phi__render_file_name(out, c);
                phi__buf_text(out, ",\"file_data\":");
                phi__openai_data_url(e, c);
            }
            phi__buf_char(out, '}');
        } else if (phi__resp_is_part(e, c))
            phi__resp_put_opaque(e, c, false);
    }
    line.text = PHI__LIT("(no output)");
    if (before[0] != '\0') phi__resp_text_part(e, before, &line);
    phi__buf_char(&e->scratch, ']');
}

/* Writes the blocks in [from, to) as a message; nothing if none of them may be sent. */
static void phi__resp_say(phi__encoder *e, const phi_message *m, size_t from, size_t to) {
    bool says = false;
    for (size_t i = from; i < to && !says; i++)
        says = phi__render_way_to(e, &m->content[i]) != PHI__RENDER_SKIP ||
               phi__resp_is_part(e, &m->content[i]);
    if (!says) return;
    phi__json_write_item(&e->scratch, "{\"role\":\"user\",\"content\":");
    phi__resp_parts(e, m, from, to, "");
    phi__buf_char(&e->scratch, '}');
}

/* An opaque item, such as the output of a call that only the host understands, is no part of a
   message: it goes between two. */
PHI__FN void phi__resp_user(phi__encoder *e, const phi_message *m) {
    size_t from = 0;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi__resp_opaque look = phi__resp_look(e, c);
        if (!look.goes || look.part) continue;
        phi__resp_say(e, m, from, i);
        phi__resp_put_opaque(e, c, false);
        from = i + 1;
    }
    phi__resp_say(e, m, from, m->content_count);
}

PHI__FN void phi__resp_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    const char *before = m->is_error ? "Error: " : "";
    bool parts = phi__render_any(e, m, PHI__RENDER_BLOCK);
    for (size_t i = 0; i < m->content_count && !parts; i++)
        parts = phi__resp_is_part(e, &m->content[i]);
    phi__render_id(out, "{\"type\":\"function_call_output\",\"call_id\":", m->tool_call_id,
                   PHI__ID_RESPONSES);
    phi__buf_text(out, ",\"output\":");
    if (parts)
        phi__resp_parts(e, m, 0, m->content_count, before);
    else {
        phi__buf_char(out, '"');
        phi__buf_text(out, before);
        if (!phi__openai_join_text(e, m, false)) phi__buf_text(out, "(no output)");
        phi__buf_char(out, '"');
    }
    phi__buf_char(out, '}');
}

/* ---- the assistant ---- */

/* True if a signature is a reasoning item that the server can read again: with its content,
   encrypted or (open models) in words. Uses and resets e->arena. */
static bool phi__resp_is_reasoning(phi__encoder *e, phi_str item) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    if (item.len == 0 || item.at[0] != '{') return false;
    phi_status status = phi_json_parse(e->arena, item, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) e->failed = true;
    bool good = status == PHI_OK &&
                phi__str_is(phi_json_str(phi_json_get(root, "type"), ""), "reasoning") &&
                phi_json_str(phi_json_get(root, "id"), "").len > 0 &&
                (phi_json_str(phi_json_get(root, "encrypted_content"), "").len > 0 ||
                 phi_json_count(phi_json_get(root, "content")) > 0);
    phi_arena_reset(e->arena, mark);
    return good;
}

/* True if ids and reasoning of a message may go back: the same model made it, and the turn ended
   without an error. */
PHI__FN bool phi__resp_replays(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    return m->role == PHI_ROLE_ASSISTANT && m->stop_reason != PHI_STOP_REASON_ERROR &&
           m->stop_reason != PHI_STOP_REASON_ABORTED && phi__render_same_origin(e, at);
}

/* True if a model of this wire made the message, at OpenAI or at Azure. */
PHI__FN bool phi__resp_kin(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    return m->role == PHI_ROLE_ASSISTANT &&
           (phi__str_is_nocase(m->protocol, PHI_PROTOCOL_OPENAI_RESPONSES) ||
            phi__str_is_nocase(m->protocol, PHI_PROTOCOL_AZURE_RESPONSES) ||
            phi__codec_is(e->codec->names, m->protocol) || phi__render_same_origin(e, at));
}

/* All of a message's reasoning, or none: an id would name an item that the server does not get. */
static bool phi__resp_whole_reasoning(phi__encoder *e, const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_THINKING &&
            !phi__resp_is_reasoning(e, m->content[i].signature))
            return false;
    return true;
}

/* Writes a string of the block's replay as a member. False: the replay has none that begins with
   the prefix and fits. */
static bool phi__resp_member(phi__encoder *e, const phi_content *c, const char *key,
                             const char *prefix) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    if (c->replay.len == 0) return false;
    if (phi_json_parse(e->arena, c->replay, PHI_JSON_BORROW, &root, NULL) == PHI_NO_MEMORY)
        e->failed = true;
    phi_str text = phi_json_str(phi_json_get(root, key), "");
    bool fits = text.len > 0 && text.len <= PHI__RESP_ID_MOST && phi__str_starts(text, prefix);
    if (fits) phi__records_str(&e->scratch, key, text);
    phi_arena_reset(e->arena, mark);
    return fits;
}

/* JSON that the block's replay has as the text of a member; empty: none. In the arena. `object`:
   it is the inside of one, else an array. */
static phi_str phi__resp_kept(phi__encoder *e, const phi_content *c, const char *key, bool object) {
    const phi_str none = {NULL, 0};
    phi_json *root = NULL;
    phi__buf braces;
    if (c->replay.len == 0 || phi__str_find(c->replay, 0, key) == SIZE_MAX) return none;
    if (phi_json_parse(e->arena, c->replay, PHI_JSON_BORROW, &root, NULL) == PHI_NO_MEMORY)
        e->failed = true;
    phi_str text = phi_json_str(phi_json_get(root, key), "");
    if (text.len == 0) return none;
    if (!object) return text.at[0] == '[' && phi__render_goes(e, text) ? text : none;
    phi__buf_init(&braces, e->arena->memory);
    phi__buf_wrap(&braces, "{", text, "}");
    phi_str whole = phi__buf_str(&braces);
    if (braces.failed) e->failed = true;
    bool good = !braces.failed && phi__render_goes(e, whole);
    phi__buf_free(&braces);
    return good ? text : none;
}

/* True if the texts of content parts together are the block's text: then nobody changed it. */
static bool phi__resp_unchanged(phi__encoder *e, phi_str parts, phi_str text) {
    phi_json *root = NULL, *part;
    size_t at = 0;
    if (phi_json_parse(e->arena, parts, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, NULL) ==
        PHI_NO_MEMORY)
        e->failed = true;
    phi_json_iter it = phi_json_each(root);
    while ((part = phi_json_next(&it)) != NULL) {
        phi_str said = phi_json_str(phi_json_get(part, "text"), "");
        if (said.len == 0) said = phi_json_str(phi_json_get(part, "refusal"), "");
        if (said.len > text.len - at ||
            (said.len > 0 && memcmp(text.at + at, said.at, said.len) != 0))
            return false;
        at += said.len;
    }
    return at == text.len;
}

/* The content of a message: its parts as they came, where they are more than its text. */
static void phi__resp_content(phi__encoder *e, const phi_content *c, bool kin) {
    phi__buf *out = &e->scratch;
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_str parts = {NULL, 0};
    if (kin) parts = phi__resp_kept(e, c, "parts", false);
    if (parts.len > 0 && phi__resp_unchanged(e, parts, c->text))
        phi__buf_add_str(out, parts);
    else {
        bool cites = kin && parts.len == 0 && c->citations.len > 0 && c->citations.at[0] == '[' &&
                     phi__render_goes(e, c->citations);
        phi__buf_text(out, "[{\"type\":\"output_text\"");
        phi__render_text_member(e, "text", c->text);
        phi__buf_wrap(out, ",\"annotations\":", cites ? c->citations : PHI__LIT("[]"), "}]");
    }
    phi_arena_reset(e->arena, mark);
}

/* Members of the item that phi does not read; `kin`: this wire made them. */
static void phi__resp_more(phi__encoder *e, const phi_content *c, bool kin) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_str more = {NULL, 0};
    if (kin) more = phi__resp_kept(e, c, "more", true);
    if (more.len > 0) phi__buf_wrap(&e->scratch, ",", more, "");
    phi_arena_reset(e->arena, mark);
}

/* True if a block becomes an item of the request. bare: reasoning of the message does not go back.
   */
static bool phi__resp_sends(phi__encoder *e, const phi_content *c, bool kin, bool bare) {
    phi__resp_opaque look;
    switch (c->kind) {
    case PHI_CONTENT_TOOL_CALL: return !c->incomplete;
    case PHI_CONTENT_TEXT: {
        phi_arena_mark mark = phi_arena_save(e->arena);
        bool sends = phi__openai_is_text(c) ||
                     (kin && c->text.len == 0 && phi__resp_kept(e, c, "parts", false).len > 0);
        phi_arena_reset(e->arena, mark);
        return sends;
    }
    case PHI_CONTENT_OPAQUE:
        look = phi__resp_look(e, c);
        return look.goes && !look.part && (!bare || look.loose);
    default: return false;
    }
}

/* `kin`: a model of this wire made the message, and `same`: this very one. */
PHI__FN void phi__resp_assistant(phi__encoder *e, const phi_message *m, bool same, bool kin) {
    bool bare = false;
    size_t from = 0;
    same = same && phi__resp_whole_reasoning(e, m);
    for (size_t i = 0; i < m->content_count && !same && !bare; i++)
        bare = m->content[i].kind == PHI_CONTENT_THINKING;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (!phi__resp_sends(e, c, kin, bare)) {
            /* the reasoning before it has no follower */
            if (c->kind == PHI_CONTENT_TOOL_CALL || c->kind == PHI_CONTENT_OPAQUE) from = i + 1;
            continue;
        }
        if (same) {
            /* the reasoning items that produced the item that is written next */
            for (; from < i; from++) {
                if (m->content[from].kind != PHI_CONTENT_THINKING) continue;
                phi__json_write_comma(&e->scratch);
                phi__buf_add_str(&e->scratch, m->content[from].signature);
            }
        }
        phi__json_write_comma(&e->scratch);
        if (c->kind == PHI_CONTENT_TOOL_CALL) {
            phi__buf *out = &e->scratch;
            phi__buf_text(out, "{\"type\":\"function_call\"");
            if (same) (void)phi__resp_member(e, c, "id", "fc_");
            phi__render_id(out, ",\"call_id\":", c->id, PHI__ID_RESPONSES);
            phi__render_name(out, ",\"name\":", c->name, 64);
            phi__render_text_member(e, "arguments", phi__render_arguments(e, c->arguments));
            phi__resp_more(e, c, kin);
            phi__buf_char(out, '}');
        } else if (c->kind == PHI_CONTENT_TEXT) {
            phi__buf *out = &e->scratch;
            phi__buf_text(out, "{\"type\":\"message\"");
            if (same && phi__resp_member(e, c, "id", ""))
                phi__buf_text(out, ",\"status\":\"completed\"");
            phi__buf_text(out, ",\"role\":\"assistant\",\"content\":");
            phi__resp_content(e, c, kin);
            if (same) (void)phi__resp_member(e, c, "phase", "");
            phi__resp_more(e, c, kin);
            phi__buf_char(out, '}');
        } else
            phi__resp_put_opaque(e, c, bare);
        from = i + 1;
    }
}
