/* yaml_text.c - errors, characters, lines, and room for the text of scalars. */
#include "formats/yaml_in.h"

#include <stdio.h>

#define PHI__YAML_ROOM 4096u /* bytes of text taken from the arena at once */

/* ---- errors ---- */

static void phi__yaml_text_fail(phi__yaml_reader *r, const char *at, phi_status status,
                                const char *message) {
    if (r->status != PHI_BUSY) return;
    r->status = r->error.status = status;
    r->error.line = r->line;
    r->error.column = at >= r->line_at ? phi__yaml_column(r, at) + 1 : 1;
    r->error.offset = (size_t)(at - r->text);
    (void)snprintf(r->error.message, sizeof r->error.message, "%s", message);
}

PHI__FN void phi__yaml_text_expected(phi__yaml_reader *r, const char *at, const char *what) {
    char message[sizeof r->error.message];
    unsigned char c = at < r->end ? (unsigned char)*at : 0;
    if (at >= r->end)
        (void)snprintf(message, sizeof message, "expected %s, found the end of the text", what);
    else if (phi__yaml_is_break(*at))
        (void)snprintf(message, sizeof message, "expected %s, found the end of the line", what);
    else if (c > 0x20 && c < 0x7f)
        (void)snprintf(message, sizeof message, "expected %s, found '%c'", what, c);
    else if (phi__yaml_is_space(*at))
        (void)snprintf(message, sizeof message, "expected %s, found %s", what,
                       c == ' ' ? "a space" : "a tab");
    else
        (void)snprintf(message, sizeof message, "expected %s, found byte 0x%02x", what, c);
    phi__yaml_text_fail(r, at, PHI_PARSE, message);
}

PHI__FN void phi__yaml_text_wrong(phi__yaml_reader *r, const char *at, const char *what) {
    phi__yaml_text_fail(r, at, PHI_PARSE, what);
}

PHI__FN void phi__yaml_text_wrong_at(phi__yaml_reader *r, const char *at, uint32_t line,
                                     uint32_t column, const char *what) {
    if (r->status != PHI_BUSY) return;
    phi__yaml_text_fail(r, at, PHI_PARSE, what);
    r->error.line = line;
    r->error.column = column + 1;
}

PHI__FN void phi__yaml_text_too_big(phi__yaml_reader *r, const char *what) {
    phi__yaml_text_fail(r, r->at, PHI_TOO_BIG, what);
}

PHI__FN void phi__yaml_text_no_memory(phi__yaml_reader *r) {
    phi__yaml_text_fail(r, r->at, PHI_NO_MEMORY, "no memory for the tree");
}

/* ---- characters ---- */

/* Three-byte characters that are no text: U+FEFF, a byte order mark; U+FFFE and U+FFFF. */
static bool phi__yaml_text_is_unprintable(const unsigned char *p, size_t n) {
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0 && p[1] != 0x85;
    return n == 3 && p[0] == 0xef &&
           ((p[1] == 0xbb && p[2] == 0xbf) || (p[1] == 0xbf && p[2] >= 0xbe));
}

PHI__FN size_t phi__yaml_text_char(phi__yaml_reader *r, const char *at, bool quoted) {
    unsigned char c = (unsigned char)*at;
    size_t n;
    if (c == '\t' || (c >= 0x20 && c < 0x7f) || (c == 0x7f && quoted)) return 1;
    if (c < 0x80) {
        phi__yaml_text_wrong(r, at,
                             quoted ? "a control character in a string must be an escape of a "
                                      "double-quoted one"
                                    : "a control character, which YAML does not allow");
        return 0;
    }
    n = phi__json_text_utf8(at, r->end);
    if (n == 0)
        phi__yaml_text_wrong(r, at, "a byte that is not UTF-8");
    else if (!quoted && phi__yaml_text_is_unprintable((const unsigned char *)at, n)) {
        phi__yaml_text_wrong(r, at,
                             "a character that is not text (or a byte order mark) must be an "
                             "escape of a double-quoted string");
        return 0;
    }
    return n;
}

/* Skips plain ASCII text up to `stop`: all that is no line break and needs no check. */
static const char *phi__yaml_text_run(const char *at, const char *stop) {
    while (at < stop && ((unsigned char)*at - 0x20u < 0x5fu || *at == '\t')) at++;
    return at;
}

PHI__FN const char *phi__yaml_text_line(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop) {
        size_t n;
        at = phi__yaml_text_run(at, stop);
        if (at == stop || phi__yaml_is_break(*at)) break;
        n = phi__yaml_text_char(r, at, false);
        if (n == 0) return NULL;
        at += n;
    }
    return at;
}

/* ---- lines ---- */

PHI__FN bool phi__yaml_text_space(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    for (; at < stop; at++) {
        if (*at == ' ') continue;
        if (*at != '\t') break;
        if (!r->tab) r->indent = (int32_t)phi__yaml_column(r, at);
        r->tab = true;
    }
    r->at = at;
    if (!r->tab) r->indent = (int32_t)phi__yaml_column(r, at);
    return at < stop || at == r->end;
}

PHI__FN void phi__yaml_text_newline(phi__yaml_reader *r) {
    if (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n') r->at++;
    r->at++;
    r->line++;
    r->line_at = r->at;
    r->tab = false;
    r->fresh = true;
}

PHI__FN bool phi__yaml_text_marker(const phi__yaml_reader *r, const char *at) {
    return r->end - at >= 3 && (*at == '-' || *at == '.') && at[1] == *at && at[2] == *at &&
           phi__yaml_is_blank(r, at + 3);
}

/* ---- room ---- */

PHI__FN bool phi__yaml_text_room(phi__yaml_reader *r, size_t more) {
    phi__yaml_scalar *s = &r->scalar;
    size_t have, bytes;
    char *room;
    if (s->text == NULL) s->text = s->to = r->room;
    if ((size_t)(r->room_end - s->to) > more) return true;
    have = (size_t)(s->to - s->text);
    bytes = phi__add(phi__add(have, more), 1);
    /* doubling, up to the most that the rest of the text can give: three bytes for two */
    bytes =
        phi__add(bytes, phi__min(phi__max(have, PHI__YAML_ROOM), (size_t)(r->end - r->at) * 3 / 2));
    room = bytes == SIZE_MAX ? NULL : phi__arena_bytes(r->arena, bytes);
    if (room == NULL) {
        phi__yaml_text_no_memory(r);
        return false;
    }
    if (have > 0) memcpy(room, s->text, have);
    r->room = s->text = room;
    r->room_end = room + bytes;
    s->to = room + have;
    return true;
}

PHI__FN bool phi__yaml_text_add(phi__yaml_reader *r, const char *at, size_t len) {
    if (!phi__yaml_text_room(r, len)) return false;
    if (len > 0) memcpy(r->scalar.to, at, len);
    r->scalar.to += len;
    return true;
}

PHI__FN void phi__yaml_text_end(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    if (s->text == NULL && !phi__yaml_text_add(r, s->mark, (size_t)(s->last - s->mark))) return;
    *s->to = '\0';
    s->string = s->text;
    s->len = (size_t)(s->to - s->text);
    r->room = s->to + 1;
}
