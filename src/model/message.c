/* message.c - messages as data: copying, joining text, writing the interchange JSON. Reading it is
   in message_read.c. */
#include "model/message_in.h"

#include "text/json_in.h"

PHI__FN const char *phi__message_role_word(size_t role) {
    static const char *const words[] = {"", "user", "assistant", "toolResult", "extension"};
    return role < PHI__COUNT(words) ? words[role] : NULL;
}

/* ---- copying ---- */

/* Most are empty. */
static inline bool phi__message_copy_str(phi_arena *arena, phi_str from, phi_str *to) {
    *to = PHI__LIT("");
    return from.len == 0 || phi__arena_str(arena, from, to);
}

static bool phi__message_copy_content(const phi_content *from, phi_content *to, phi_arena *arena) {
    *to = *from;
    return phi__message_copy_str(arena, from->text, &to->text) &&
           phi__message_copy_str(arena, from->data, &to->data) &&
           phi__message_copy_str(arena, from->mime_type, &to->mime_type) &&
           phi__message_copy_str(arena, from->id, &to->id) &&
           phi__message_copy_str(arena, from->name, &to->name) &&
           phi__message_copy_str(arena, from->arguments, &to->arguments) &&
           phi__message_copy_str(arena, from->signature, &to->signature) &&
           phi__message_copy_str(arena, from->replay, &to->replay) &&
           phi__message_copy_str(arena, from->url, &to->url) &&
           phi__message_copy_str(arena, from->protocol, &to->protocol) &&
           phi__message_copy_str(arena, from->citations, &to->citations);
}

static bool phi__message_copy_strings(const phi_message *from, phi_message *to, phi_arena *arena) {
    return phi__message_copy_str(arena, from->loop_id, &to->loop_id) &&
           phi__message_copy_str(arena, from->raw_stop_reason, &to->raw_stop_reason) &&
           phi__message_copy_str(arena, from->model, &to->model) &&
           phi__message_copy_str(arena, from->provider, &to->provider) &&
           phi__message_copy_str(arena, from->protocol, &to->protocol) &&
           phi__message_copy_str(arena, from->error_message, &to->error_message) &&
           phi__message_copy_str(arena, from->tool_call_id, &to->tool_call_id) &&
           phi__message_copy_str(arena, from->tool_name, &to->tool_name) &&
           phi__message_copy_str(arena, from->details, &to->details) &&
           phi__message_copy_str(arena, from->extension_kind, &to->extension_kind) &&
           phi__message_copy_str(arena, from->extension_data, &to->extension_data);
}

static const phi_message_extra *phi__message_copy_extra(const phi_message_extra *from,
                                                        phi_arena *arena) {
    phi_message_extra *to = (phi_message_extra *)phi_arena_alloc(arena, sizeof *to);
    return to != NULL && phi__message_copy_str(arena, from->node_id, &to->node_id) &&
                   phi__message_copy_str(arena, from->parent_id, &to->parent_id) &&
                   phi__message_copy_str(arena, from->tags, &to->tags) &&
                   phi__message_copy_str(arena, from->provenance_hint, &to->provenance_hint) &&
                   phi__message_copy_str(arena, from->role, &to->role)
               ? to
               : NULL;
}

PHI__FN bool phi__message_copy(const phi_message *message, phi_arena *arena, phi_message *out) {
    phi_content *content = NULL;
    size_t i;
    *out = *message;
    if (message->content_count > 0) {
        content = (phi_content *)phi_arena_alloc(arena,
                                                 phi__mul(message->content_count, sizeof *content));
        if (content == NULL) return false;
    }
    out->content = content;
    for (i = 0; i < message->content_count; i++)
        if (!phi__message_copy_content(&message->content[i], &content[i], arena)) return false;
    if (message->extra != NULL) {
        out->extra = phi__message_copy_extra(message->extra, arena);
        if (out->extra == NULL) return false;
    }
    return phi__message_copy_strings(message, out, arena);
}

/* ---- writing ---- */

/* The nesting limit of a value leaves room for the objects around it: readers take 512 levels by
   default. */
enum { PHI__MESSAGE_DEPTH = 448 };

/* A JSON text as a value, with its key where one is given: read and written anew, so that it is one
   line of UTF-8, and the same each time. False, and nothing written: it is no JSON (or a string,
   where those do not count). When memory runs out before that is known, the writer fails. */
PHI__FN bool phi__message_put_json(phi__buf *out, const char *key, phi_str text, bool strings_too,
                                   phi_arena *scratch) {
    phi_arena_mark mark = phi_arena_save(scratch);
    phi__json_reader reader;
    phi_json *root = NULL;
    phi_status status = PHI_BUSY;
    bool is;
    phi__json_read_begin(&reader, scratch, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8,
                         PHI__MESSAGE_DEPTH);
    while (status == PHI_BUSY) status = phi__json_read_advance(&reader, SIZE_MAX);
    (void)phi__json_read_result(&reader, &root, NULL);
    is = status == PHI_OK && (strings_too || !phi_json_is(root, PHI_JSON_STRING));
    if (is && key != NULL) phi__json_write_key(out, phi_str_of(key));
    if (is) status = phi__json_write(out, root, 0);
    if (status == PHI_NO_MEMORY) out->failed = true;
    phi_arena_reset(scratch, mark);
    return is;
}

PHI__FN bool phi__message_is_quotable(phi_str text, phi_arena *scratch, bool *no_memory) {
    phi_arena_mark mark = phi_arena_save(scratch);
    bool is = text.len == 0, more = !is;
    while (more) {
        phi__json_reader reader;
        phi_json *root = NULL;
        phi_status status = PHI_BUSY;
        phi__json_read_begin(&reader, scratch, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8,
                             PHI__MESSAGE_DEPTH);
        while (status == PHI_BUSY) status = phi__json_read_advance(&reader, SIZE_MAX);
        (void)phi__json_read_result(&reader, &root, NULL);
        if (status == PHI_NO_MEMORY) *no_memory = true;
        more = status == PHI_OK && phi_json_is(root, PHI_JSON_STRING);
        if (more) text = phi_json_str(root, "");
        if (more && text.len == 0) more = false;
        is = status == PHI_OK && !more;
    }
    phi_arena_reset(scratch, mark);
    return is;
}

/* Text that is no JSON becomes a string, so that nothing is lost. A text that is a JSON string is
   quoted once more, and reading takes one layer off again; a string whose content would then read
   as other JSON keeps its quotes. */
PHI__FN void phi__message_put_value(phi__buf *out, phi_str text, phi_arena *scratch) {
    bool no_memory = false;
    if (text.len == 0)
        phi__buf_text(out, "{}");
    else if (phi__message_put_json(out, NULL, text, false, scratch))
        return;
    else if (!phi__message_is_quotable(text, scratch, &no_memory) ||
             !phi__message_put_json(out, NULL, text, true, scratch))
        phi__json_write_str(out, text);
    if (no_memory) out->failed = true;
}

static void phi__message_put_member(phi__buf *out, const char *key, phi_str value) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, value);
}

static void phi__message_put_optional(phi__buf *out, const char *key, phi_str value) {
    if (value.len > 0) phi__message_put_member(out, key, value);
}

static void phi__message_put_content(phi__buf *out, const phi_content *c, phi_arena *scratch) {
    phi__json_write_comma(out);
    switch (c->kind) {
    case PHI_CONTENT_TEXT:
        phi__buf_text(out, "{\"type\":\"text\"");
        phi__message_put_member(out, "text", c->text);
        phi__message_put_optional(out, "name", c->name);
        phi__message_put_optional(out, "signature", c->signature);
        (void)phi__message_put_json(out, "replay", c->replay, true, scratch);
        phi__message_put_optional(out, "citations", c->citations);
        break;
    case PHI_CONTENT_IMAGE:
        phi__buf_text(out, "{\"type\":\"image\"");
        phi__message_put_member(out, "data", c->data);
        phi__message_put_member(out, "mimeType", c->mime_type);
        break;
    case PHI_CONTENT_THINKING:
        phi__buf_text(out, "{\"type\":\"thinking\"");
        phi__message_put_member(out, "thinking", c->text);
        phi__message_put_optional(out, "signature", c->signature);
        if (c->redacted) phi__buf_text(out, ",\"redacted\":true");
        (void)phi__message_put_json(out, "replay", c->replay, true, scratch);
        break;
    case PHI_CONTENT_TOOL_CALL:
        phi__buf_text(out, "{\"type\":\"toolCall\"");
        phi__message_put_member(out, "id", c->id);
        phi__message_put_member(out, "name", c->name);
        phi__json_write_key(out, PHI__LIT("arguments"));
        phi__message_put_value(out, c->arguments, scratch);
        phi__message_put_optional(out, "signature", c->signature);
        if (c->incomplete) phi__buf_text(out, ",\"incomplete\":true");
        (void)phi__message_put_json(out, "replay", c->replay, true, scratch);
        break;
    case PHI_CONTENT_OPAQUE:
        phi__buf_text(out, "{\"type\":\"opaque\"");
        phi__message_put_member(out, "name", c->name);
        phi__message_put_member(out, "protocol", c->protocol);
        phi__message_put_member(out, "json", c->replay);
        if (c->incomplete) phi__buf_text(out, ",\"incomplete\":true");
        break;
    case PHI_CONTENT_DOCUMENT:
        phi__buf_text(out, "{\"type\":\"document\"");
        phi__message_put_optional(out, "name", c->name);
        phi__message_put_optional(out, "text", c->text);
        phi__message_put_optional(out, "data", c->data);
        phi__message_put_optional(out, "url", c->url);
        phi__message_put_optional(out, "mimeType", c->mime_type);
        break;
    case PHI_CONTENT_AUDIO:
        phi__buf_text(out, "{\"type\":\"audio\"");
        phi__message_put_member(out, "data", c->data);
        phi__message_put_member(out, "mimeType", c->mime_type);
        break;
    }
    phi__buf_char(out, '}');
}

static void phi__message_put_count(phi__buf *out, const char *key, uint64_t n) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_number_put_u64(out, n);
}

PHI__FN void phi__message_put_usage(phi__buf *out, const phi_usage *usage) {
    phi__json_write_key(out, PHI__LIT("usage"));
    phi__message_put_usage_value(out, usage);
}

PHI__FN void phi__message_put_usage_value(phi__buf *out, const phi_usage *usage) {
    phi__buf_char(out, '{');
    phi__message_put_count(out, "input", usage->input);
    phi__message_put_count(out, "output", usage->output);
    phi__message_put_count(out, "reasoning", usage->reasoning);
    phi__message_put_count(out, "cache_read", usage->cache_read);
    phi__message_put_count(out, "cache_write", usage->cache_write);
    phi__message_put_count(out, "total_tokens", usage->total_tokens);
    phi__buf_char(out, '}');
}

PHI__FN void phi__message_put_blocks(phi__buf *out, const phi_message *message,
                                     phi_arena *scratch) {
    size_t i;
    phi__json_write_key(out, PHI__LIT("content"));
    phi__buf_char(out, '[');
    for (i = 0; i < message->content_count; i++)
        phi__message_put_content(out, &message->content[i], scratch);
    phi__buf_char(out, ']');
}

/* Two numbers of 64 bits, as hexadecimal digits: JSON numbers of other readers have 53. */
static void phi__message_put_prefix(phi__buf *out, const phi_message *message) {
    char digits[33];
    uint64_t n = message->prefix;
    int i;
    if (message->prefix == 0) return;
    for (i = 15; i >= 0; i--, n >>= 4) digits[i] = "0123456789abcdef"[n & 15];
    for (i = 31, n = message->prefix_parts; i >= 16; i--, n >>= 4)
        digits[i] = "0123456789abcdef"[n & 15];
    phi__message_put_member(out, "prefix", phi__str(digits, 32));
}

static void phi__message_put_assistant(phi__buf *out, const phi_message *message) {
    phi_stop_reason reason = message->stop_reason;
    if (reason == PHI_STOP_REASON_NONE) reason = PHI_STOP_REASON_STOP;
    phi__message_put_member(out, "stopReason", phi_str_of(phi__message_stop_text(reason)));
    phi__message_put_member(out, "model", message->model);
    phi__message_put_member(out, "provider", message->provider);
    phi__message_put_optional(out, "api", message->protocol);
    phi__message_put_usage(out, &message->usage);
    phi__message_put_optional(out, "error_message", message->error_message);
    phi__message_put_prefix(out, message);
}

static void phi__message_put_extra(phi__buf *out, const phi_message_extra *extra,
                                   phi_arena *scratch) {
    if (extra == NULL) return;
    (void)phi__message_put_json(out, "nodeId", extra->node_id, false, scratch);
    (void)phi__message_put_json(out, "parentId", extra->parent_id, false, scratch);
    (void)phi__message_put_json(out, "tags", extra->tags, false, scratch);
    (void)phi__message_put_json(out, "provenanceHint", extra->provenance_hint, true, scratch);
}

static void phi__message_put_extension(phi__buf *out, const phi_message *message,
                                       phi_arena *scratch) {
    phi_str role = phi_str_of(phi__message_role_word(PHI_ROLE_EXTENSION));
    if (message->extra != NULL && message->extra->role.len > 0) role = message->extra->role;
    phi__message_put_member(out, "role", role);
    phi__message_put_member(out, "kind", message->extension_kind);
    phi__json_write_key(out, PHI__LIT("data"));
    if (!phi__message_put_json(out, NULL, message->extension_data, true, scratch))
        phi__buf_text(out, "null");
    phi__message_put_extra(out, message->extra, scratch);
    phi__buf_char(out, '}');
}

PHI__FN void phi__message_put(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    phi__buf_char(out, '{');
    if (message->role == PHI_ROLE_EXTENSION) {
        phi__message_put_extension(out, message, scratch);
        return;
    }
    phi__message_put_member(out, "role", phi_str_of(phi__message_role_word((size_t)message->role)));
    if (message->role == PHI_ROLE_TOOL_RESULT) {
        phi__message_put_member(out, "toolCallId", message->tool_call_id);
        phi__message_put_member(out, "toolName", message->tool_name);
    }
    phi__message_put_blocks(out, message, scratch);
    if (message->is_update) phi__buf_text(out, ",\"update\":true");
    if (message->role == PHI_ROLE_ASSISTANT) phi__message_put_assistant(out, message);
    if (message->role == PHI_ROLE_TOOL_RESULT) {
        phi__json_write_key(out, PHI__LIT("isError"));
        phi__json_write_bool(out, message->is_error);
    }
    phi__json_write_key(out, PHI__LIT("timestamp"));
    phi__json_number_put_i64(out, message->timestamp_ms);
    if (message->loop_id.len > 0) {
        phi__json_write_key(out, PHI__LIT("turnId"));
        phi__buf_char(out, '{');
        phi__message_put_member(out, "loopId", message->loop_id);
        phi__message_put_count(out, "turnIndex", message->turn_index);
        phi__buf_char(out, '}');
    }
    phi__message_put_extra(out, message->extra, scratch);
    phi__buf_char(out, '}');
}

/* A server may say any number: a sum that began anew would lift the limits. */
static void phi__message_count(uint64_t *to, uint64_t more) {
    *to = more > UINT64_MAX - *to ? UINT64_MAX : *to + more;
}

PHI__FN void phi__message_add_usage(phi_usage *to, const phi_usage *more) {
    phi__message_count(&to->input, more->input);
    phi__message_count(&to->output, more->output);
    phi__message_count(&to->reasoning, more->reasoning);
    phi__message_count(&to->cache_read, more->cache_read);
    phi__message_count(&to->cache_write, more->cache_write);
    phi__message_count(&to->total_tokens, more->total_tokens);
}

/* ---- public ---- */

PHI__FN const char *phi__message_stop_text(phi_stop_reason reason) {
    switch (reason) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_STOP_REASON_##name: return text;
        PHI_STOP_REASON_LIST(PHI_X)
#undef PHI_X
    case PHI_STOP_REASON_NONE: break;
    }
    return "";
}

PHI_API phi_str phi_message_text(const phi_message *message, const char *separator,
                                 phi_arena *arena, bool *failed) {
    phi_str gap = phi_str_of(separator), none = {NULL, 0};
    size_t i, len = 0, texts = 0;
    const phi_content *only = NULL;
    char *at, *out;
    for (i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        only = &message->content[i];
        if (arena == NULL) return only->text;
        len = phi__add(len, only->text.len);
        if (texts++ > 0) len = phi__add(len, gap.len);
    }
    if (texts == 0) return none;
    out = at = len == SIZE_MAX ? NULL : phi__arena_bytes(arena, len + 1);
    if (out == NULL) {
        if (failed != NULL) *failed = true;
        return none;
    }
    for (i = 0, texts = 0; i < message->content_count; i++) {
        phi_str text = message->content[i].text;
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (texts++ > 0 && gap.len > 0) {
            memcpy(at, gap.at, gap.len);
            at += gap.len;
        }
        if (text.len > 0) memcpy(at, text.at, text.len);
        at += text.len;
    }
    *at = '\0';
    return phi__str(out, len);
}

PHI_API phi_message *phi_message_copy(const phi_message *message, phi_arena *arena) {
    phi_message *out = (phi_message *)phi_arena_alloc(arena, sizeof *out);
    return out != NULL && phi__message_copy(message, arena, out) ? out : NULL;
}

PHI_API phi_status phi_message_to_json(const phi_message *message, phi_arena *arena, phi_str *out) {
    phi__buf buf;
    phi_arena scratch;
    phi_status status;
    phi__buf_init(&buf, arena->memory);
    phi_arena_init(&scratch, arena->memory, 0);
    phi__message_put(&buf, message, &scratch);
    phi_arena_free(&scratch);
    status = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out) ? PHI_OK : PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}
