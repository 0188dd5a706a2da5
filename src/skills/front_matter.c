/* front_matter.c - finds the YAML and the body of a SKILL.md, and places in them. */
#include "skills/skills_in.h"

#ifndef PHI_NO_FILES

/* Blanks and line breaks, and a byte order mark, may stand before the first line. */
static size_t phi__front_matter_begin(phi_str text) {
    size_t at = text.len >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\t' || text.at[at] == '\r' ||
                             text.at[at] == '\n'))
        at++;
    return at;
}

static uint32_t phi__front_matter_lines(phi_str text, size_t end) {
    uint32_t lines = 1;
    size_t i;
    for (i = 0; i < end; i++)
        if (text.at[i] == '\n') lines++;
    return lines;
}

/* The end of the line at `at`, its line break included. */
static size_t phi__front_matter_next(phi_str text, size_t at) {
    const char *end =
        at < text.len ? (const char *)memchr(text.at + at, '\n', text.len - at) : NULL;
    return end != NULL ? (size_t)(end - text.at) + 1 : text.len;
}

static phi_str phi__front_matter_line_at(phi_str text, size_t at) {
    size_t end = phi__front_matter_next(text, at);
    if (end > at && text.at[end - 1] == '\n') end--;
    if (end > at && text.at[end - 1] == '\r') end--;
    return phi__str(text.at + at, end - at);
}

static size_t phi__front_matter_indent(phi_str line) {
    size_t n = 0;
    while (n < line.len && line.at[n] == ' ') n++;
    return n;
}

PHI__FN phi_status phi__front_matter_split(phi_str text, phi__front_matter *out) {
    size_t at = phi__front_matter_begin(text), end;
    memset(out, 0, sizeof *out);
    out->early = at == 0;
    out->first_line = phi__front_matter_lines(text, at);
    if (!phi__str_starts(phi__str(text.at + at, text.len - at), "---")) return PHI_NOT_FOUND;
    out->yaml_at = at + 3;
    for (end = phi__front_matter_next(text, at); end < text.len;
         end = phi__front_matter_next(text, end)) {
        if (!phi__str_starts(phi__str(text.at + end, text.len - end), "---")) continue;
        out->yaml_len = end - out->yaml_at;
        out->body_at = phi__front_matter_next(text, end);
        return PHI_OK;
    }
    return PHI_PARSE;
}

/* ---- fields ---- */

/* The rest of a line behind "key:", or a NULL string. The key may be in quotes. */
static phi_str phi__front_matter_behind(phi_str line, const char *key) {
    size_t n = strlen(key), at = 0;
    char quote = line.len > 0 && (line.at[0] == '"' || line.at[0] == '\'') ? line.at[0] : '\0';
    if (quote != '\0') at++;
    if (line.len < at + n + 1 || memcmp(line.at + at, key, n) != 0) return phi__str(NULL, 0);
    at += n;
    if (quote != '\0' && line.at[at++] != quote) return phi__str(NULL, 0);
    while (at < line.len && line.at[at] == ' ') at++;
    if (at == line.len || line.at[at] != ':') return phi__str(NULL, 0);
    return phi__str(line.at + at + 1, line.len - at - 1);
}

PHI__FN uint32_t phi__front_matter_line(phi_str yaml, const char *key) {
    uint32_t line = 1;
    size_t at;
    for (at = 0; at < yaml.len; at = phi__front_matter_next(yaml, at), line++)
        if (phi__front_matter_behind(phi__front_matter_line_at(yaml, at), key).at != NULL)
            return line;
    return 0;
}

PHI__FN phi_str phi__front_matter_value(phi_str yaml, const char *key) {
    phi_str value = phi__str(NULL, 0);
    size_t at;
    for (at = 0; at < yaml.len && value.at == NULL; at = phi__front_matter_next(yaml, at))
        value = phi__front_matter_behind(phi__front_matter_line_at(yaml, at), key);
    value = phi__str_trim(value);
    if (value.len >= 2 && (value.at[0] == '"' || value.at[0] == '\'') &&
        value.at[value.len - 1] == value.at[0])
        value = phi__str(value.at + 1, value.len - 2);
    return value;
}

/* ---- plain YAML ---- */

/* The offset of the value in a line: behind "- " and "key: ", as often as they stand there. */
static size_t phi__front_matter_value_at(phi_str line) {
    size_t at = phi__front_matter_indent(line), i;
    while (at + 1 < line.len && line.at[at] == '-' && line.at[at + 1] == ' ') {
        at += 2;
        while (at < line.len && line.at[at] == ' ') at++;
    }
    if (at < line.len && (line.at[at] == '"' || line.at[at] == '\'' || line.at[at] == '#'))
        return line.at[at] == '#' ? line.len : at;
    for (i = at; i + 1 < line.len; i++) {
        if (line.at[i] == ' ' && line.at[i + 1] == '#') return at;
        if (line.at[i] != ':' || line.at[i + 1] != ' ') continue;
        for (i++; i < line.len && line.at[i] == ' ';) i++;
        return i;
    }
    return at;
}

PHI__FN const char *phi__front_matter_fancy(phi_str yaml, uint32_t *line) {
    size_t at, block = SIZE_MAX; /* the indent of a line that begins a block scalar */
    *line = 0;
    for (at = 0; at < yaml.len; at = phi__front_matter_next(yaml, at)) {
        phi_str text = phi__front_matter_line_at(yaml, at);
        size_t indent = phi__front_matter_indent(text), value;
        char first;
        ++*line;
        if (indent == text.len || (block != SIZE_MAX && indent > block)) continue;
        value = phi__front_matter_value_at(text);
        first = value < text.len ? text.at[value] : '\0';
        block = first == '|' || first == '>' ? indent : SIZE_MAX;
        switch (first) {
        case '{': return "a mapping in braces";
        case '[': return "a list in brackets";
        case '&': return "an anchor";
        case '*': return "an alias";
        case '!': return "a tag";
        default: break;
        }
    }
    return NULL;
}

#endif
