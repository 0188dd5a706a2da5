/* regex_letter.c - the parts of a pattern that stand for one character: escapes and sets. */
#include "match/regex_parse_in.h"

#include "base/utf8_in.h"

PHI__FN uint32_t phi__regex_letter_plain(phi__regex_parser *p) {
    const unsigned char *s = (const unsigned char *)p->text.at + p->at;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4, i;
    uint32_t code = s[0];
    if (n > p->text.len - p->at || phi__utf8_valid(phi__str(p->text.at + p->at, n)) != n) {
        phi__regex_parse_fail(p, p->at, "the pattern is not UTF-8");
        return 0;
    }
    if (n > 1) code &= 0xFFu >> (n + 1);
    for (i = 1; i < n; i++) code = code << 6 | (s[i] & 0x3Fu);
    p->at += n;
    return code;
}

/* ---- escapes ---- */

static int phi__regex_letter_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
    return -1;
}

/* Behind \x, \u or \U: so many digits, or any number of them in braces. */
static uint32_t phi__regex_letter_hex(phi__regex_parser *p, size_t digits) {
    size_t begin = p->at, n = 0;
    bool braces = phi__regex_parse_is(p, '{');
    uint32_t code = 0;
    if (braces) p->at++;
    while (phi__regex_parse_more(p) && (braces || n < digits)) {
        int digit = phi__regex_letter_digit(p->text.at[p->at]);
        if (digit < 0) break;
        code = phi__min(code << 4 | (uint32_t)digit, PHI__REGEX_LAST_CODE + 1u) & 0xFFFFFFFFu;
        p->at++;
        n++;
    }
    if (n == 0 || (!braces && n < digits) || (braces && !phi__regex_parse_is(p, '}')))
        phi__regex_parse_fail(p, begin, "expected hexadecimal digits");
    else if (code > PHI__REGEX_LAST_CODE || (code >= 0xD800 && code < 0xE000))
        phi__regex_parse_fail(p, begin, "there is no such character");
    if (braces) p->at++;
    return code;
}

static void phi__regex_letter_unknown(phi__regex_parser *p, char c) {
    size_t at = p->at - 2;
    if (c >= '0' && c <= '9')
        phi__regex_parse_fail(p, at, "back references are not supported");
    else if (c == 'p' || c == 'P')
        phi__regex_parse_fail(p, at, "classes by \\p{...} are not supported");
    else if (c == 'A' || c == 'z' || c == 'Z' || c == 'G')
        phi__regex_parse_fail(p, at, "anchors of the whole text are not supported: use ^ and $");
    else if (c == '<' || c == '>')
        phi__regex_parse_fail(p, at, "anchors of one side of a word are not supported: use \\b");
    else if (c == 'b' || c == 'B')
        phi__regex_parse_fail(p, at, "a word boundary cannot be in a set");
    else
        phi__regex_parse_fail(p, at, "unknown escape sequence");
}

static bool phi__regex_letter_is_mark(char c) {
    return c > ' ' && c < 0x7F && phi__regex_letter_digit(c) < 0 &&
           ((c | 0x20) < 'a' || (c | 0x20) > 'z') && c != '<' && c != '>';
}

PHI__FN bool phi__regex_letter_escape(phi__regex_parser *p, char *letter, uint32_t *code) {
    static const char names[] = "nrtfva", codes[] = "\n\r\t\f\v\a";
    const char *found;
    char c;
    *code = 0;
    if (++p->at >= p->text.len) {
        phi__regex_parse_fail(p, p->at - 1, "a backslash at the end");
        return false;
    }
    c = p->text.at[p->at++];
    *letter = c;
    if (c != '\0' && strchr("dswDSW", c) != NULL) return true;
    found = c != '\0' ? strchr(names, c) : NULL;
    if (found != NULL)
        *code = (uint32_t)codes[found - names];
    else if (c == 'x' || c == 'u' || c == 'U')
        *code = phi__regex_letter_hex(p, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    else if (phi__regex_letter_is_mark(c))
        *code = (unsigned char)c;
    else
        phi__regex_letter_unknown(p, c);
    return false;
}

/* ---- sets ---- */

/* Pairs of first and last. */
static const char *phi__regex_letter_posix_rows(phi_str name) {
    static const struct {
        const char *name, *rows;
    } classes[] = {{"alnum", "09AZaz"},
                   {"alpha", "AZaz"},
                   {"ascii", "\1\177"},
                   {"blank", "\t\t  "},
                   {"cntrl", "\1\037\177\177"},
                   {"digit", "09"},
                   {"graph", "!~"},
                   {"lower", "az"},
                   {"print", " ~"},
                   {"punct", "!/:@[`{~"},
                   {"space", "\t\r  "},
                   {"upper", "AZ"},
                   {"word", "09AZ__az"},
                   {"xdigit", "09AFaf"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(classes); i++)
        if (phi__str_is(name, classes[i].name)) return classes[i].rows;
    return NULL;
}

static void phi__regex_letter_add(phi__regex_parser *p, uint32_t first, uint32_t last) {
    if (p->status == PHI_OK)
        (void)phi__regex_parse_did(p, phi__regex_set_add(p->tree, first, last));
}

/* [:name:] or [:^name:] at p->at. */
static void phi__regex_letter_posix(phi__regex_parser *p) {
    size_t begin = p->at, end = phi__str_find(p->text, p->at + 2, ":]");
    bool outside = phi__regex_parse_peek(p, 2) == '^';
    size_t from = begin + (outside ? 3 : 2);
    const char *rows = NULL;
    /* The strings of the table have no NUL: it is added to the two classes that begin with it. */
    uint32_t next = 0;
    bool nul;
    if (end != SIZE_MAX && end >= from)
        rows = phi__regex_letter_posix_rows(phi__str(p->text.at + from, end - from));
    if (rows == NULL) {
        phi__regex_parse_fail(p, begin,
                              "unknown class of characters, or a set inside a set: write \\[");
        return;
    }
    p->at = end + 2;
    nul = rows[0] == '\1';
    for (; *rows != '\0'; rows += 2) {
        uint32_t first = nul && rows[0] == '\1' ? 0 : (unsigned char)rows[0];
        if (!outside)
            phi__regex_letter_add(p, first, (unsigned char)rows[1]);
        else if (first > next)
            phi__regex_letter_add(p, next, first - 1);
        next = (unsigned char)rows[1] + 1u;
    }
    if (outside) phi__regex_letter_add(p, next, PHI__REGEX_LAST_CODE);
}

/* One end of a range, or a class, which is added. False: a class. */
static bool phi__regex_letter_end(phi__regex_parser *p, uint32_t *code) {
    char letter;
    if (!phi__regex_parse_is(p, '\\')) {
        *code = phi__regex_letter_plain(p);
        return true;
    }
    if (!phi__regex_letter_escape(p, &letter, code)) return true;
    (void)phi__regex_parse_did(p, phi__regex_set_add_class(p->tree, letter));
    return false;
}

static void phi__regex_letter_item(phi__regex_parser *p) {
    char c = phi__regex_parse_peek(p, 0), next = phi__regex_parse_peek(p, 1);
    size_t begin = p->at;
    uint32_t first, last;
    if (c == '[' && next == ':') {
        phi__regex_letter_posix(p);
        return;
    }
    if (c == '[') phi__regex_parse_fail(p, p->at, "a set inside a set is not supported: write \\[");
    if ((c == '&' || c == '-' || c == '~') && next == c)
        phi__regex_parse_fail(p, p->at, "operations on sets are not supported");
    if (p->status != PHI_OK || !phi__regex_letter_end(p, &first)) return;
    last = first;
    next = phi__regex_parse_peek(p, 1);
    if (phi__regex_parse_is(p, '-') && next != ']' && next != '-' && p->at + 1 < p->text.len) {
        p->at++;
        if (phi__regex_parse_is(p, '['))
            phi__regex_parse_fail(p, p->at, "a set inside a set is not supported: write \\[");
        else if (!phi__regex_letter_end(p, &last))
            phi__regex_parse_fail(p, begin, "a range cannot end with a class");
        else if (last < first)
            phi__regex_parse_fail(p, begin, "a range whose end is before its beginning");
    }
    phi__regex_letter_add(p, first, last);
}

PHI__FN uint32_t phi__regex_letter_set(phi__regex_parser *p) {
    size_t begin = p->at++, first;
    bool outside = phi__regex_parse_is(p, '^');
    uint32_t set = 0;
    if (outside) p->at++;
    first = p->at;
    phi__regex_set_begin(p->tree);
    while (phi__regex_parse_more(p) && (p->at == first || !phi__regex_parse_is(p, ']'))) {
        if (p->at == first && phi__regex_parse_is(p, ']')) {
            phi__regex_letter_add(p, ']', ']');
            p->at++;
        } else
            phi__regex_letter_item(p);
    }
    if (p->status == PHI_OK && !phi__regex_parse_is(p, ']'))
        phi__regex_parse_fail(p, begin, "a set without its closing bracket");
    p->at++;
    if (p->status == PHI_OK && p->fold) (void)phi__regex_parse_did(p, phi__regex_set_fold(p->tree));
    if (p->status == PHI_OK && outside)
        (void)phi__regex_parse_did(p, phi__regex_set_negate(p->tree));
    if (p->status == PHI_OK) (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return set;
}
