/* parse.c - what strategies read out of a model's text. */
#include "strategy/parse_in.h"

#include "text/json_in.h"

static phi_str phi__parse_from(phi_str text, size_t at) {
    return phi__str(text.at + at, text.len - at);
}

static bool phi__parse_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool phi__parse_mark(char c) { return c == '*' || c == '_' || c == '`'; }

static bool phi__parse_digit(char c) { return c >= '0' && c <= '9'; }

static bool phi__parse_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80) != 0;
}

/* White space, and emphasis too. */
static phi_str phi__parse_skip(phi_str text) {
    size_t i = 0;
    while (i < text.len && (phi__parse_white(text.at[i]) || phi__parse_mark(text.at[i]))) i++;
    return phi__parse_from(text, i);
}

PHI__FN phi_str phi__parse_tail(phi_str text) {
    size_t at, cut;
    if (text.len <= PHI__PARSE_MOST) return text;
    cut = at = text.len - PHI__PARSE_MOST;
    while (at < text.len && text.at[at - 1] != '\n') at++;
    if (at < text.len) return phi__parse_from(text, at);
    while (cut < text.len && ((unsigned char)text.at[cut] & 0xc0) == 0x80) cut++;
    return phi__parse_from(text, cut);
}

PHI__FN bool phi__parse_line(phi_str text, size_t *at, phi_str *line) {
    size_t from = *at, end;
    if (from >= text.len) return false;
    for (end = from; end < text.len && text.at[end] != '\n' && text.at[end] != '\r';) end++;
    *line = phi__str(text.at + from, end - from);
    if (end + 1 < text.len && text.at[end] == '\r' && text.at[end + 1] == '\n') end++;
    *at = phi__min(end + 1, text.len);
    return true;
}

PHI__FN bool phi__parse_full_line(phi_str text, size_t *at, phi_str *line) {
    while (phi__parse_line(text, at, line)) {
        *line = phi__str_trim(*line);
        if (line->len > 0) return true;
    }
    return false;
}

PHI__FN phi_str phi__parse_plain(phi_str text) {
    text = phi__parse_skip(text);
    while (text.len > 0 &&
           (phi__parse_white(text.at[text.len - 1]) || phi__parse_mark(text.at[text.len - 1])))
        text.len--;
    return text;
}

PHI__FN bool phi__parse_word(phi_str text, const char *word, phi_str *rest) {
    size_t len = strlen(word);
    if (text.len < len || !phi__str_is_nocase(phi__str(text.at, len), word)) return false;
    if (text.len > len && (phi__parse_letter(text.at[len]) || phi__parse_digit(text.at[len]))) {
        /* a full-width colon is no letter */
        if (text.len < len + 3 || memcmp(text.at + len, "\xEF\xBC\x9A", 3) != 0) return false;
    }
    *rest = phi__parse_from(text, len);
    return true;
}

PHI__FN bool phi__parse_colon(phi_str text, phi_str *rest) {
    text = phi__parse_skip(text);
    if (text.len > 0 && text.at[0] == ':') {
        *rest = phi__parse_from(text, 1);
        return true;
    }
    if (text.len < 3 || memcmp(text.at, "\xEF\xBC\x9A", 3) != 0) return false;
    *rest = phi__parse_from(text, 3);
    return true;
}

PHI__FN bool phi__parse_numbered(phi_str line, uint32_t *number, phi_str *rest) {
    size_t i = 0;
    uint32_t n = 0;
    bool marked;
    line = phi__str_trim(line);
    marked = line.len > 0 && phi__parse_mark(line.at[0]);
    line = phi__parse_skip(line);
    for (; i < line.len && phi__parse_digit(line.at[i]); i++)
        n = n < 100000000u ? n * 10u + (uint32_t)(line.at[i] - '0') : n;
    if (i == 0 || i == line.len) return false;
    if (line.at[i] != '.' && line.at[i] != ':' && line.at[i] != ')') return false;
    /* "3.5" is a number, not the third line */
    if (i + 1 < line.len && line.at[i] != ')' && phi__parse_digit(line.at[i + 1])) return false;
    *number = n;
    line = phi__parse_from(line, i + 1);
    *rest = marked ? phi__parse_skip(line) : phi__str_trim(line); /* "**1.** text" */
    return true;
}

PHI__FN bool phi__parse_bullet(phi_str line, phi_str *rest) {
    line = phi__str_trim(line);
    if (line.len >= 4 && memcmp(line.at, "\xE2\x80\xA2", 3) == 0)
        line = phi__parse_from(line, 3);
    else if (line.len >= 2 && (line.at[0] == '-' || line.at[0] == '*') &&
             phi__parse_white(line.at[1]))
        line = phi__parse_from(line, 1);
    else
        return false;
    *rest = phi__str_trim(line);
    return rest->len > 0;
}

PHI__FN bool phi__parse_step(phi_str line, phi_str *rest) {
    phi_str text;
    size_t i = 0;
    if (!phi__parse_word(phi__parse_skip(line), "step", &text)) return false;
    while (text.len > 0 && phi__parse_white(text.at[0])) text = phi__parse_from(text, 1);
    while (i < text.len && phi__parse_digit(text.at[i])) i++;
    if (i == 0 || !phi__parse_colon(phi__parse_from(text, i), &text)) return false;
    *rest = phi__parse_plain(text);
    return true;
}

PHI__FN bool phi__parse_number(phi_str text, double *out, phi_str *rest) {
    phi__json_number number;
    const char *bad = NULL, *end, *to;
    memset(&number, 0, sizeof number);
    text = phi__parse_skip(text);
    end = text.at != NULL ? text.at + text.len : NULL;
    if (text.len == 0 || !(phi__parse_digit(text.at[0]) || text.at[0] == '-' || text.at[0] == '.'))
        return false;
    if (text.at[0] == '.') { /* ".8", which JSON has not */
        char copy[24] = "0";
        size_t i = 1;
        while (i < text.len && i < sizeof copy - 2 && phi__parse_digit(text.at[i])) i++;
        if (i == 1) return false;
        memcpy(copy + 1, text.at, i);
        if (phi__json_number_read(copy, copy + 1 + i, &number, &bad) == NULL) return false;
        *rest = phi__parse_from(text, i);
        *out = phi__json_get_number_double(&number);
        return true;
    }
    to = phi__json_number_read(text.at, end, &number, &bad);
    if (to == NULL && bad > text.at) { /* "1." and "1e": as far as it is one */
        size_t len = (size_t)(bad - text.at);
        while (len > 0 && !phi__parse_digit(text.at[len - 1])) len--;
        to = len > 0 ? phi__json_number_read(text.at, text.at + len, &number, &bad) : NULL;
    }
    if (to == NULL || number.kind == 0) return false;
    *out = phi__json_get_number_double(&number);
    *rest = phi__parse_from(text, (size_t)(to - text.at));
    return true;
}

PHI__FN uint32_t phi__parse_count(phi_str text, const char *word) {
    size_t at = 0, len = strlen(word);
    uint32_t n = 0;
    while ((at = phi__str_find_nocase(text, at, word)) != SIZE_MAX) {
        n++;
        at += len;
    }
    return n;
}

/* ---- JSON ---- */

static phi_str phi__parse_braces(phi_str text) {
    size_t from = 0, to = text.len;
    while (from < text.len && text.at[from] != '{') from++;
    while (to > from && text.at[to - 1] != '}') to--;
    return to > from ? phi__str(text.at + from, to - from) : phi__str(text.at, 0);
}

PHI__FN phi_str phi__parse_payload(phi_str text) {
    size_t at = 0;
    phi_str line, inside;
    const char *from = NULL;
    while (phi__parse_line(text, &at, &line)) {
        phi_str trimmed = phi__str_trim(line);
        if (!phi__str_starts(trimmed, "```")) continue;
        if (from == NULL) {
            from = text.at + at;
            continue;
        }
        inside = phi__str_trim(phi__str(from, (size_t)(line.at - from)));
        if (inside.len > 0 && inside.at[0] == '{') return inside;
        from = NULL;
    }
    inside = phi__parse_braces(text);
    return inside.len > 0 ? inside : phi__str_trim(text);
}

PHI__FN phi_json *phi__parse_object(phi_str text, phi_arena *arena, bool *no_memory) {
    phi_json *root = NULL;
    phi_str payload = phi__parse_payload(text);
    phi_status status =
        payload.len == 0 ? PHI_PARSE
                         : phi_json_parse(arena, payload, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_NO_MEMORY) *no_memory = true;
    return status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT) ? root : NULL;
}
