/* check.c - checks whether a message may be in a thread; makes messages of one text. */
#include "log/thread_in.h"

/* ---- the names of an entry's enumerators ---- */

PHI__FN const char *phi__entry_trigger_word(int trigger) {
    static const char *const words[] = {"", "user", "sub_agent", "continuation", "branch"};
    return trigger >= 0 && (size_t)trigger < PHI__COUNT(words) ? words[trigger] : NULL;
}

PHI__FN const char *phi__entry_continuation_word(int continuation) {
    static const char *const words[] = {"initial", "default", "rerun", "branch", "compaction"};
    return continuation >= 0 && (size_t)continuation < PHI__COUNT(words) ? words[continuation]
                                                                         : NULL;
}

PHI__FN const char *phi__entry_reason_word(phi_rewrite_reason reason) {
    switch (reason) {
    case PHI_REWRITE_MANUAL: return "manual";
    case PHI_REWRITE_COMPACTION: return "compaction";
    case PHI_REWRITE_PRUNE: return "prune";
    case PHI_REWRITE_RESTORE: return "restore";
    case PHI_REWRITE_REVERT: return "revert";
    case PHI_REWRITE_SYSTEM: return "system";
    }
    return "";
}

/* ---- checks whether a message may be in a thread ---- */

/* Two ids that differ only in bytes that are not UTF-8 would become one id in a file. */
PHI__FN bool phi__check_id_fits(phi_str id) { return phi__utf8_valid(id) == id.len; }

static bool phi__check_kind_fits(phi_role role, phi_content_kind kind) {
    switch (kind) {
    case PHI_CONTENT_TEXT: return true;
    case PHI_CONTENT_OPAQUE: return true;
    case PHI_CONTENT_IMAGE:
    case PHI_CONTENT_DOCUMENT:
    case PHI_CONTENT_AUDIO: return role != PHI_ROLE_ASSISTANT;
    case PHI_CONTENT_THINKING:
    case PHI_CONTENT_TOOL_CALL: return role == PHI_ROLE_ASSISTANT;
    }
    return false;
}

/* True if the JSON is one whole object. Replayed data must be whole, or the request is broken. */
static bool phi__check_is_object(phi_str json) {
    phi__json_cursor c;
    phi__json_cursor_init(&c, json);
    return phi__json_cursor_peek(&c) == PHI_JSON_OBJECT && phi__json_cursor_skip(&c) &&
           phi__json_cursor_done(&c);
}

PHI__FN const char *phi__check_media(const phi_content *c) {
    if (c->kind == PHI_CONTENT_IMAGE && (c->data.len == 0 || c->mime_type.len == 0))
        return "an image needs data and mime_type";
    if (c->kind == PHI_CONTENT_AUDIO && (c->data.len == 0 || c->mime_type.len == 0))
        return "audio needs data and mime_type";
    if (c->kind == PHI_CONTENT_DOCUMENT && c->data.len > 0 && c->mime_type.len == 0)
        return "a document's data needs a mime_type";
    if (c->kind == PHI_CONTENT_DOCUMENT &&
        (c->text.len > 0) + (c->data.len > 0) + (c->url.len > 0) != 1)
        return "a document needs one of text, data and url";
    if (c->kind == PHI_CONTENT_OPAQUE && (c->replay.len == 0 || c->protocol.len == 0))
        return "an opaque block needs replay and protocol";
    if (c->kind == PHI_CONTENT_OPAQUE && !c->incomplete && !phi__check_is_object(c->replay))
        return "an opaque block's replay is no JSON object";
    return NULL;
}

static const char *phi__check_content(phi_role role, const phi_content *c) {
    const char *fault = phi__check_media(c);
    if (!phi__check_kind_fits(role, c->kind))
        return role == PHI_ROLE_ASSISTANT
                   ? "expected text, thinking, a tool call or an opaque block"
                   : "expected text, an image, a document or audio";
    if (fault != NULL) return fault;
    if (c->kind == PHI_CONTENT_TOOL_CALL && c->id.len == 0) return "a tool call needs an id";
    if (c->kind == PHI_CONTENT_TOOL_CALL && !phi__check_id_fits(c->id))
        return "a tool call's id is not UTF-8";
    return NULL;
}

static const char *phi__check_whole(const phi_message *m) {
    if ((unsigned)m->role < (unsigned)PHI_ROLE_USER ||
        (unsigned)m->role > (unsigned)PHI_ROLE_EXTENSION)
        return "role is none of its values";
    if ((unsigned)m->stop_reason > (unsigned)PHI_STOP_REASON_PAUSED)
        return "stop_reason is none of its values";
    if (m->content == NULL && m->content_count > 0) return "content is missing";
    if (m->role == PHI_ROLE_TOOL_RESULT && m->tool_call_id.len == 0)
        return "a tool result needs a tool_call_id";
    if (m->role == PHI_ROLE_TOOL_RESULT && !phi__check_id_fits(m->tool_call_id))
        return "tool_call_id is not UTF-8";
    if (m->role == PHI_ROLE_EXTENSION && m->extension_kind.len == 0)
        return "an extension needs an extension_kind";
    if (m->role == PHI_ROLE_EXTENSION && m->extra != NULL &&
        (phi__str_is(m->extra->role, "user") || phi__str_is(m->extra->role, "assistant") ||
         phi__str_is(m->extra->role, "toolResult")))
        return "an extension cannot have the role user, assistant or toolResult";
    return NULL;
}

PHI__FN const char *phi__check_message(const phi_message *m, size_t *block) {
    const char *fault = phi__check_whole(m);
    *block = SIZE_MAX;
    for (size_t i = 0; fault == NULL && m->role != PHI_ROLE_EXTENSION && i < m->content_count;
         i++) {
        fault = phi__check_content(m->role, &m->content[i]);
        *block = i;
    }
    return fault;
}

/* ---- messages of one text ---- */

PHI__FN phi_message *phi__compact_say(phi_str text, phi_arena *arena) {
    phi_message *message = (phi_message *)phi__arena_zero(arena, sizeof *message);
    phi_content *block = (phi_content *)phi__arena_zero(arena, sizeof *block);
    if (message == NULL || block == NULL) return NULL;
    block->kind = PHI_CONTENT_TEXT;
    block->text = text;
    message->role = PHI_ROLE_USER;
    message->content = block;
    message->content_count = 1;
    return message;
}

PHI__FN phi_message *phi__compact_say_at(phi_str text, const phi_message *place, phi_arena *arena) {
    phi_message *message = phi__compact_say(text, arena);
    if (message == NULL) return NULL;
    message->timestamp_ms = place->timestamp_ms;
    message->loop_id = place->loop_id;
    message->turn_index = place->turn_index;
    return message;
}
