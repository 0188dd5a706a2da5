/* toml_text.c - errors, characters, lines, and room for the text of keys and strings. */
#include "formats/toml_in.h"

#include <stdio.h>

enum { PHI__TOML_ROOM = 4096 }; /* bytes of text taken from the arena at once */

/* ---- errors ---- */

static void phi__toml_text_fail(phi__toml_reader *r, const char *at, phi_status status,
                                const char *message) {
    if (r->status != PHI_BUSY) return;
    r->status = r->error.status = status;
    r->error.line = r->line;
    r->error.column = at >= r->line_at ? phi__toml_column(r, at) : 1;
    r->error.offset = (size_t)(at - r->text);
    (void)snprintf(r->error.message, sizeof r->error.message, "%s", message);
}

PHI__FN void phi__toml_text_expected(phi__toml_reader *r, const char *at, const char *what) {
    char message[sizeof r->error.message];
    unsigned char c = at < r->end ? (unsigned char)*at : 0;
    if (at >= r->end)
        (void)snprintf(message, sizeof message, "expected %s, found the end of the text", what);
    else if (phi__toml_text_at_break(r, at))
        (void)snprintf(message, sizeof message, "expected %s, found the end of the line", what);
    else if (r->end - at > 2 && memcmp(at, "\xE2\x80", 2) == 0 && (at[2] & 0xF8) == 0x98)
        (void)snprintf(message, sizeof message,
                       "expected %s, found a curly quote: write a straight one, \" or '", what);
    else if (c > 0x20 && c < 0x7f)
        (void)snprintf(message, sizeof message, "expected %s, found '%c'", what, c);
    else if (c == ' ' || c == '\t')
        (void)snprintf(message, sizeof message, "expected %s, found %s", what,
                       c == ' ' ? "a space" : "a tab");
    else
        (void)snprintf(message, sizeof message, "expected %s, found byte 0x%02x", what, c);
    phi__toml_text_fail(r, at, PHI_PARSE, message);
}

PHI__FN void phi__toml_text_wrong(phi__toml_reader *r, const char *at, const char *what) {
    phi__toml_text_fail(r, at, PHI_PARSE, what);
}

PHI__FN void phi__toml_text_wrong_key(phi__toml_reader *r, const char *before, const char *behind) {
    char message[sizeof r->error.message];
    size_t n = strlen(before), most = phi__min(r->key.len, 48), i;
    if (r->status != PHI_BUSY) return;
    while (most < r->key.len && most > 0 && ((unsigned char)r->key.at[most] & 0xc0) == 0x80) most--;
    memcpy(message, before, n);
    for (i = 0; i < most; i++) {
        unsigned char c = (unsigned char)r->key.at[i];
        message[n++] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
    }
    (void)snprintf(message + n, sizeof message - n, "%s%s", most < r->key.len ? "..." : "", behind);
    phi__toml_text_fail(r, r->places.key_at, PHI_PARSE, message);
    r->error.line = r->places.key_line;
    r->error.column = r->places.key_column;
}

PHI__FN void phi__toml_text_too_big(phi__toml_reader *r, const char *at, const char *what) {
    phi__toml_text_fail(r, at, PHI_TOO_BIG, what);
}

PHI__FN void phi__toml_text_no_memory(phi__toml_reader *r) {
    phi__toml_text_fail(r, r->at, PHI_NO_MEMORY, "no memory for the tree");
}

/* ---- characters ---- */

PHI__FN size_t phi__toml_text_char(phi__toml_reader *r, const char *at) {
    unsigned char c = (unsigned char)*at;
    size_t n;
    if (c == '\t' || (c >= 0x20 && c < 0x7f)) return 1;
    if (c == '\r') {
        phi__toml_text_wrong(r, at, "a carriage return without a line feed behind it");
        return 0;
    }
    if (c < 0x80) {
        phi__toml_text_wrong(r, at,
                             "a control character, which must be an escape in a string in double "
                             "quotes");
        return 0;
    }
    n = phi__json_text_utf8(at, r->end);
    if (n == 0) phi__toml_text_wrong(r, at, "a byte that is not UTF-8");
    return n;
}

/* ---- lines ---- */

PHI__FN bool phi__toml_text_space(phi__toml_reader *r, const char *stop) {
    while (r->at < stop && (*r->at == ' ' || *r->at == '\t')) r->at++;
    return r->at < stop || r->at == r->end;
}

PHI__FN bool phi__toml_text_at_break(const phi__toml_reader *r, const char *at) {
    if (at >= r->end) return false;
    return *at == '\n' || (*at == '\r' && r->end - at > 1 && at[1] == '\n');
}

PHI__FN void phi__toml_text_newline(phi__toml_reader *r) {
    r->at += *r->at == '\r' ? 2 : 1;
    r->line++;
    r->line_at = r->at;
}

/* ---- room ---- */

/* Room for `more` bytes and a terminator. Text never grows by its escapes. */
static bool phi__toml_text_room(phi__toml_reader *r, size_t more) {
    size_t have, bytes;
    char *room;
    if (r->string == NULL) r->string = r->to = r->room;
    if ((size_t)(r->room_end - r->to) > more) return true;
    have = (size_t)(r->to - r->string);
    bytes = phi__add(phi__add(have, more), 1);
    bytes = phi__add(bytes, phi__min(phi__max(have, PHI__TOML_ROOM), (size_t)(r->end - r->at)));
    room = bytes == SIZE_MAX ? NULL : phi__arena_bytes(r->arena, bytes);
    if (room == NULL) {
        phi__toml_text_no_memory(r);
        return false;
    }
    if (have > 0) memcpy(room, r->string, have);
    r->room = r->string = room;
    r->room_end = room + bytes;
    r->to = room + have;
    return true;
}

PHI__FN bool phi__toml_text_add(phi__toml_reader *r, const char *at, size_t len) {
    if (!phi__toml_text_room(r, len)) return false;
    if (len > 0) memcpy(r->to, at, len);
    r->to += len;
    return true;
}

PHI__FN phi_str phi__toml_text_end(phi__toml_reader *r, const char *at) {
    phi_str text = phi__str("", 0);
    if (!phi__toml_text_add(r, r->mark, (size_t)(at - r->mark))) return text;
    *r->to = '\0';
    text = phi__str(r->string, (size_t)(r->to - r->string));
    r->room = r->to + 1;
    r->string = r->to = NULL;
    return text;
}

PHI__FN void phi__toml_text_drop(phi__toml_reader *r, phi_str text) {
    if (text.at + text.len + 1 == r->room) r->room -= text.len + 1;
}
