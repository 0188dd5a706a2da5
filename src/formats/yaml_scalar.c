/* yaml_scalar.c - plain and quoted scalars, line by line.

   Text that is the same in the value stays where it is, from `mark` on; the first line break or
   escape begins the copy. */
#include "base/utf8_in.h"
#include "formats/yaml_in.h"

PHI__FN void phi__yaml_scalar_begin(phi__yaml_reader *r, uint8_t style) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->at = r->inner.at != NULL ? r->inner.at : r->at;
    s->line_at = r->line_at;
    s->line = r->inner.at != NULL ? r->inner.line : r->line;
    s->mark = s->last = r->at;
    s->style = style;
}

/* Line breaks between two lines of text: one is a space, more are one less. */
static void phi__yaml_scalar_fold(phi__yaml_reader *r, size_t breaks) {
    if (!phi__yaml_text_room(r, breaks)) return;
    if (breaks == 1)
        *r->scalar.to++ = ' ';
    else {
        memset(r->scalar.to, '\n', breaks - 1);
        r->scalar.to += breaks - 1;
    }
}

/* The state behind a node. */
static uint8_t phi__yaml_scalar_after(const phi__yaml_reader *r) {
    return r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_AFTER;
}

/* ---- plain ---- */

PHI__FN void phi__yaml_scalar_plain_begin(phi__yaml_reader *r) {
    const char *at = r->at;
    static const char never[] = ",[]{}#&*!|>'\"%@`";
    if (*at == '@' || *at == '`')
        phi__yaml_text_wrong(r, at, "text that begins with '@' or '`' must be quoted");
    else if (*at == '%')
        phi__yaml_text_wrong(r, at, "text that begins with '%' must be quoted");
    else if ((*at == '-' || *at == '?' || *at == ':') && phi__yaml_is_over(r, at + 1))
        phi__yaml_text_expected(r, at, "a value");
    else if (memchr(never, *at, sizeof never - 1) != NULL)
        phi__yaml_text_expected(r, at, "a value");
    phi__yaml_scalar_begin(r, PHI__YAML_STYLE_PLAIN);
    r->state = PHI__YAML_PLAIN;
    if (*at == '-' || *at == '?' || *at == ':') r->at++;
}

/* The text of this line ended at `at`, white space not counted. */
static void phi__yaml_scalar_plain_trim(phi__yaml_reader *r, const char *at) {
    while (at > r->scalar.mark && phi__yaml_is_space(at[-1])) at--;
    r->scalar.last = at;
    if (r->scalar.text != NULL) {
        (void)phi__yaml_text_add(r, r->scalar.mark, (size_t)(at - r->scalar.mark));
        r->scalar.mark = at;
    }
}

/* Past the characters that neither end a plain scalar nor need a look. */
static const char *phi__yaml_scalar_plain_run(const char *at, const char *stop, bool flow) {
    for (; at < stop; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == ':' || c == '#' || c < 0x20 || c >= 0x7f) {
            if (c == '\t') continue;
            break;
        }
        if (flow && (c == ',' || c == '[' || c == ']' || c == '{' || c == '}')) break;
    }
    return at;
}

PHI__FN void phi__yaml_scalar_plain(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    bool flow = r->flow_depth > 0;
    while (at < stop) {
        size_t n = 1;
        at = phi__yaml_scalar_plain_run(at, stop, flow);
        if (at == stop) break;
        if (phi__yaml_is_break(*at)) {
            r->at = at;
            phi__yaml_scalar_plain_trim(r, at);
            r->scalar.breaks = 0;
            r->state = PHI__YAML_PLAIN_BREAK;
            return;
        }
        if ((*at == ':' && phi__yaml_is_over(r, at + 1)) ||
            (*at == '#' && phi__yaml_is_space(at[-1])) || (flow && phi__yaml_is_bracket(*at))) {
            r->at = at;
            phi__yaml_scalar_plain_trim(r, at);
            r->state = phi__yaml_scalar_after(r);
            return;
        }
        if ((unsigned char)*at >= 0x7f || (unsigned char)*at < 0x20)
            n = phi__yaml_text_char(r, at, false);
        if (n == 0) return;
        at += n;
    }
    r->at = at;
    if (at < r->end) return;
    phi__yaml_scalar_plain_trim(r, at);
    r->state = phi__yaml_scalar_after(r);
}

/* Whether the text at r->at, the first of its line, goes on with the plain scalar. */
static bool phi__yaml_scalar_goes_on(const phi__yaml_reader *r) {
    const char *at = r->at;
    if (at == r->end || *at == '#' || r->indent < r->need) return false;
    if (phi__yaml_column(r, at) == 0 && phi__yaml_text_marker(r, at)) return false;
    if (r->flow_depth == 0) return true;
    return !phi__yaml_is_bracket(*at) && !(*at == ':' && phi__yaml_is_over(r, at + 1));
}

PHI__FN void phi__yaml_scalar_plain_break(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    bool is_key = r->top->kind == PHI__YAML_MAP && r->top->want == PHI__YAML_WANT_KEY;
    if (is_key && s->breaks == 0) { /* a key ends with its line */
        r->state = PHI__YAML_AFTER;
        return;
    }
    while (r->at < stop && phi__yaml_text_space(r, stop)) {
        if (r->at == r->end || !phi__yaml_is_break(*r->at)) break;
        phi__yaml_text_newline(r);
        s->breaks++;
    }
    if (r->at >= stop && stop < r->end) return;
    if (!phi__yaml_scalar_goes_on(r)) {
        r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_LINE;
        if (r->flow_depth == 0) phi__yaml_tree_value(r);
        return;
    }
    if (s->text == NULL && !phi__yaml_text_add(r, s->mark, (size_t)(s->last - s->mark))) return;
    phi__yaml_scalar_fold(r, s->breaks);
    s->mark = r->at;
    r->fresh = false;
    r->state = PHI__YAML_PLAIN;
}

/* ---- quoted ---- */

PHI__FN void phi__yaml_scalar_quoted_begin(phi__yaml_reader *r) {
    bool single = *r->at == '\'';
    phi__yaml_scalar_begin(r, single ? PHI__YAML_STYLE_SINGLE : PHI__YAML_STYLE_DOUBLE);
    r->at++;
    r->scalar.mark = r->at;
    r->state = single ? PHI__YAML_SINGLE : PHI__YAML_DOUBLE;
}

/* Copies the bytes between the mark and `at`. */
static bool phi__yaml_scalar_flush(phi__yaml_reader *r, const char *at) {
    bool good = phi__yaml_text_add(r, r->scalar.mark, (size_t)(at - r->scalar.mark));
    r->scalar.mark = at;
    return good;
}

static void phi__yaml_scalar_close(phi__yaml_reader *r, const char *at) {
    r->scalar.last = at;
    r->at = at + 1;
    if (r->scalar.text != NULL) (void)phi__yaml_scalar_flush(r, at);
    r->state = phi__yaml_scalar_after(r);
}

/* A line ends at `at`. White space before it does not count; escapes are copied already. */
static void phi__yaml_scalar_line_end(phi__yaml_reader *r, const char *at) {
    phi__yaml_scalar *s = &r->scalar;
    const char *last = at;
    while (last > s->mark && phi__yaml_is_space(last[-1])) last--;
    if (!phi__yaml_scalar_flush(r, last)) return;
    s->breaks = 0;
    s->started = true;
    r->at = at;
    r->state = PHI__YAML_QUOTED_BREAK;
}

PHI__FN void phi__yaml_scalar_single(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && r->status == PHI_BUSY) {
        while (at < stop && *at != '\'' && (unsigned char)*at - 0x20u < 0x5fu) at++;
        if (at == stop) break;
        if (phi__yaml_is_break(*at)) {
            phi__yaml_scalar_line_end(r, at);
            return;
        }
        if (*at == '\'') {
            if (at + 1 == r->end || at[1] != '\'') {
                phi__yaml_scalar_close(r, at);
                return;
            }
            if (!phi__yaml_scalar_flush(r, at + 1)) return;
            r->scalar.mark = at + 2;
            at += 2;
        } else
            at += phi__yaml_text_char(r, at, true);
    }
    r->at = at;
    if (at >= r->end) phi__yaml_text_expected(r, at, "the closing quote of a string");
}

/* ---- escapes ---- */

/* The code of \xXX, \uXXXX or \UXXXXXXXX at the backslash, of two units where they are halves of
   one. Returns its bytes; 0: an error was set. */
static size_t phi__yaml_scalar_code(phi__yaml_reader *r, const char *at, uint32_t *code) {
    size_t digits = at[1] == 'x' ? 2 : at[1] == 'u' ? 4 : 8;
    uint32_t low;
    *code = phi__json_text_hex(at + 2, r->end, digits);
    if (*code > 0x10ffff) {
        phi__yaml_text_wrong(r, at,
                             digits == 2 ? "\\x takes two hexadecimal digits"
                             : digits == 4
                                 ? "\\u takes four hexadecimal digits"
                                 : "\\U takes eight hexadecimal digits, at most 0010FFFF");
        return 0;
    }
    if (*code < 0xd800 || *code > 0xdfff) return 2 + digits;
    low = digits == 4 && *code < 0xdc00 && r->end - at >= 8 && at[6] == '\\' && at[7] == 'u'
              ? phi__json_text_hex(at + 8, r->end, 4)
              : UINT32_MAX;
    if (low < 0xdc00 || low > 0xdfff) {
        phi__yaml_text_wrong(r, at, "half of a surrogate pair");
        return 0;
    }
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

/* An escape of one character: \n, \t, ... ; UINT32_MAX: none. */
static uint32_t phi__yaml_scalar_short(char c) {
    static const char names[] = "0abtnvfre \"/\\\tN_LP";
    static const uint16_t codes[] = {0,   7,   8,   9,    10, 11,   12,   13,     27,
                                     ' ', '"', '/', '\\', 9,  0x85, 0xa0, 0x2028, 0x2029};
    const char *found = c == '\0' ? NULL : (const char *)memchr(names, c, sizeof names - 1);
    return found == NULL ? UINT32_MAX : codes[found - names];
}

/* The escape at `at`; *next is behind it. False: an error, or a line break follows. */
static bool phi__yaml_scalar_escape(phi__yaml_reader *r, const char *at, const char **next) {
    phi__yaml_scalar *s = &r->scalar;
    uint32_t code;
    size_t n = 2;
    char bytes[4];
    if (!phi__yaml_scalar_flush(r, at)) return false;
    if (at + 1 == r->end) {
        phi__yaml_text_expected(r, at + 1, "an escape after the backslash");
        return false;
    }
    if (phi__yaml_is_break(at[1])) { /* joins the lines; white space before it stays */
        s->mark = at + 1;
        s->breaks = 0;
        s->started = false;
        r->at = at + 1;
        r->state = PHI__YAML_QUOTED_BREAK;
        return false;
    }
    code = phi__yaml_scalar_short(at[1]);
    if (code == UINT32_MAX && (at[1] == 'x' || at[1] == 'u' || at[1] == 'U')) {
        n = phi__yaml_scalar_code(r, at, &code);
        if (n == 0) return false;
    }
    if (code == UINT32_MAX) {
        phi__yaml_text_expected(r, at + 1, "an escape after the backslash");
        return false;
    }
    if (!phi__yaml_text_add(r, bytes, phi__utf8_put(bytes, code))) return false;
    *next = s->mark = at + n;
    return true;
}

PHI__FN void phi__yaml_scalar_double(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && r->status == PHI_BUSY) {
        at = phi__json_text_plain_end(at, stop);
        if (at == stop) break;
        if (*at == '"') {
            phi__yaml_scalar_close(r, at);
            return;
        }
        if (*at == '\\') {
            if (!phi__yaml_scalar_escape(r, at, &at)) return;
        } else if (phi__yaml_is_break(*at)) {
            phi__yaml_scalar_line_end(r, at);
            return;
        } else
            at += phi__yaml_text_char(r, at, true);
    }
    r->at = at;
    if (at >= r->end) phi__yaml_text_expected(r, at, "the closing quote of a string");
}

/* Between the lines of a quoted scalar. */
PHI__FN void phi__yaml_scalar_quoted_break(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    while (r->at < stop && phi__yaml_text_space(r, stop)) {
        if (r->at == r->end || !phi__yaml_is_break(*r->at)) break;
        phi__yaml_text_newline(r);
        s->breaks++;
    }
    if (r->at >= stop && stop < r->end) return;
    if (r->at == r->end)
        phi__yaml_text_expected(r, r->at, "the closing quote of a string");
    else if (phi__yaml_column(r, r->at) == 0 && phi__yaml_text_marker(r, r->at))
        phi__yaml_text_wrong(r, r->at, "a line that ends the document, inside of a string");
    else if (r->indent < r->need)
        phi__yaml_text_wrong(r, r->at,
                             "a line of a string must be indented more than the block around it");
    if (r->status != PHI_BUSY) return;
    if (s->started)
        phi__yaml_scalar_fold(r, s->breaks);
    else if (s->breaks > 1) { /* behind an escaped break: the others are lines of their own */
        if (!phi__yaml_text_room(r, s->breaks)) return;
        memset(s->to, '\n', s->breaks - 1);
        s->to += s->breaks - 1;
    }
    s->mark = r->at;
    r->fresh = false;
    r->state = s->style == PHI__YAML_STYLE_SINGLE ? PHI__YAML_SINGLE : PHI__YAML_DOUBLE;
}
