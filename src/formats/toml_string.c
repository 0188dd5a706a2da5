/* toml_string.c - the four styles of strings, in slices.

   Text that is the same in the value stays where it is, from `mark` on; an escape or a line break
   of two bytes begins the copy. */
#include "base/utf8_in.h"
#include "formats/toml_in.h"

static bool phi__toml_string_is_basic(const phi__toml_reader *r) {
    return r->style == PHI__TOML_BASIC || r->style == PHI__TOML_MULTI_BASIC;
}

static bool phi__toml_string_is_multi(const phi__toml_reader *r) {
    return r->style >= PHI__TOML_MULTI_BASIC;
}

PHI__FN void phi__toml_string_begin(phi__toml_reader *r, bool is_key) {
    char quote = *r->at;
    bool multi = r->end - r->at > 2 && r->at[1] == quote && r->at[2] == quote;
    if (is_key && multi) {
        phi__toml_text_wrong(r, r->at, "a key cannot be a string of several lines");
        return;
    }
    r->style = quote == '"' ? PHI__TOML_BASIC : PHI__TOML_LITERAL;
    if (multi) r->style = quote == '"' ? PHI__TOML_MULTI_BASIC : PHI__TOML_MULTI_LITERAL;
    r->at += multi ? 3 : 1;
    if (multi && phi__toml_text_at_break(r, r->at)) phi__toml_text_newline(r);
    r->mark = r->at;
    r->is_key = is_key;
    r->state = PHI__TOML_STRING_TEXT;
}

/* The text ends at `at`; the value is complete at `behind`. */
static void phi__toml_string_done(phi__toml_reader *r, const char *at, const char *behind) {
    phi_str text = phi__toml_text_end(r, at);
    phi_json *node;
    if (r->status != PHI_BUSY) return;
    r->at = behind;
    if (r->is_key) {
        r->key = text;
        r->state = PHI__TOML_KEY_AFTER;
        if (text.len > PHI__TOML_KEY_MOST)
            phi__toml_text_too_big(r, at, "a key of more than 16 MiB");
        return;
    }
    node = phi__toml_tree_scalar(r, PHI__JSON_STRING, behind);
    if (node == NULL) return;
    node->v.str = text.at;
    node->len = (uint32_t)text.len;
}

/* Quotes at r->at: the end, or a part of the text. At the end, two may belong to the text. */
static void phi__toml_string_quotes(phi__toml_reader *r) {
    const char *at = r->at;
    size_t n = 0, left = (size_t)(r->end - at);
    if (!phi__toml_string_is_multi(r)) {
        phi__toml_string_done(r, at, at + 1);
        return;
    }
    while (n < 5 && n < left && at[n] == *at) n++;
    if (n >= 3)
        phi__toml_string_done(r, at + n - 3, at + n);
    else
        r->at += n;
}

static void phi__toml_string_break(phi__toml_reader *r) {
    if (!phi__toml_string_is_multi(r)) {
        phi__toml_text_wrong(r, r->at,
                             r->is_key ? "a key must end on its line"
                                       : "a string must end on its line, unless it is in three "
                                         "quotes");
        return;
    }
    if (*r->at == '\r') {
        if (!phi__toml_text_add(r, r->mark, (size_t)(r->at - r->mark))) return;
        r->mark = r->at + 1;
    }
    phi__toml_text_newline(r);
}

/* ---- escapes ---- */

/* The character of an escape's letter, or UINT32_MAX. */
static uint32_t phi__toml_string_letter(char c) {
    static const char letters[] = "btnfr\"\\", codes[] = "\b\t\n\f\r\"\\";
    const char *found = c == '\0' ? NULL : (const char *)memchr(letters, c, sizeof letters - 1);
    return found == NULL ? UINT32_MAX : (uint32_t)(unsigned char)codes[found - letters];
}

/* \uXXXX or \UXXXXXXXX at r->at, of so many digits. UINT32_MAX: an error was set. */
static uint32_t phi__toml_string_code(phi__toml_reader *r, size_t digits) {
    uint32_t code = phi__json_text_hex(r->at + 2, r->end, digits);
    if (code == UINT32_MAX)
        phi__toml_text_wrong(r, r->at,
                             digits == 4 ? "\\u takes four hexadecimal digits"
                                         : "\\U takes eight hexadecimal digits, at most 0010FFFF");
    else if (code > 0x10ffff)
        phi__toml_text_wrong(r, r->at, "\\U takes eight hexadecimal digits, at most 0010FFFF");
    else if (code >= 0xd800 && code <= 0xdfff)
        phi__toml_text_wrong(r, r->at, "an escape of half of a surrogate pair");
    return r->status == PHI_BUSY ? code : UINT32_MAX;
}

static void phi__toml_string_escape(phi__toml_reader *r) {
    char c = r->end - r->at > 1 ? r->at[1] : '\0', bytes[4];
    size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t code;
    if (!phi__toml_text_add(r, r->mark, (size_t)(r->at - r->mark))) return;
    if (phi__toml_string_is_multi(r) &&
        (c == ' ' || c == '\t' || phi__toml_text_at_break(r, r->at + 1))) {
        r->at++;
        r->joined = false;
        r->state = PHI__TOML_STRING_JOIN;
        return;
    }
    code = digits > 0 ? phi__toml_string_code(r, digits) : phi__toml_string_letter(c);
    if (r->status != PHI_BUSY) return;
    if (code == UINT32_MAX) {
        phi__toml_text_expected(r, r->at + 1, "one of \"\\bfnrtuU after the backslash");
        return;
    }
    if (!phi__toml_text_add(r, bytes, phi__utf8_put(bytes, code))) return;
    r->at += 2 + digits;
    r->mark = r->at;
}

PHI__FN void phi__toml_string_join(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_text_space(r, stop)) return;
    if (phi__toml_text_at_break(r, r->at)) {
        phi__toml_text_newline(r);
        r->joined = true;
    } else if (!r->joined)
        phi__toml_text_expected(r, r->at, "the end of the line after the backslash");
    else {
        r->mark = r->at;
        r->state = PHI__TOML_STRING_TEXT;
    }
}

/* ---- text ---- */

/* Past the characters that need no look. */
static const char *phi__toml_string_run(const char *at, const char *stop, char quote) {
    char escape = quote == '"' ? '\\' : quote;
    while (at < stop && (unsigned char)*at - 0x20u < 0x5fu && *at != quote && *at != escape) at++;
    return at;
}

PHI__FN void phi__toml_string_text(phi__toml_reader *r, const char *stop) {
    char quote = phi__toml_string_is_basic(r) ? '"' : '\'';
    while (r->status == PHI_BUSY && r->state == PHI__TOML_STRING_TEXT && r->at < stop) {
        r->at = phi__toml_string_run(r->at, stop, quote);
        if (r->at == stop) break;
        if (*r->at == quote)
            phi__toml_string_quotes(r);
        else if (*r->at == '\\' && quote == '"')
            phi__toml_string_escape(r);
        else if (phi__toml_text_at_break(r, r->at))
            phi__toml_string_break(r);
        else
            r->at += phi__toml_text_char(r, r->at);
    }
    if (r->at >= r->end && r->state == PHI__TOML_STRING_TEXT)
        phi__toml_text_expected(r, r->at, "the closing quote of a string");
}
