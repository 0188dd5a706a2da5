/* toml_array.c - items of an array in brackets that come, in the style of those there, and go. */
#include "formats/toml_in.h"

/* The next comma or bracket, comments not counted. */
static size_t phi__toml_array_token(const phi__toml_change *c, size_t at) {
    while (at < c->text.len && c->text.at[at] != ',' && c->text.at[at] != ']') {
        if (c->text.at[at] == '#')
            at = phi__toml_change_next(c, at);
        else
            at++;
    }
    return at;
}

/* Where the line of an offset ends, its break not counted. */
static size_t phi__toml_array_line_end(const phi__toml_change *c, size_t at) {
    size_t end = phi__toml_change_next(c, at);
    if (end > at && c->text.at[end - 1] == '\n') end--;
    if (end > at && c->text.at[end - 1] == '\r') end--;
    return end;
}

/* How many spaces and tabs are behind an offset. */
static size_t phi__toml_array_blanks(const phi__toml_change *c, size_t at) {
    size_t end = at;
    while (end < c->text.len && (c->text.at[end] == ' ' || c->text.at[end] == '\t')) end++;
    return end - at;
}

/* Whether nothing but white space is between the start of its line and an offset. */
static bool phi__toml_array_is_first(const phi__toml_change *c, size_t at) {
    while (at > 0 && (c->text.at[at - 1] == ' ' || c->text.at[at - 1] == '\t')) at--;
    return at == 0 || c->text.at[at - 1] == '\n';
}

/* Whether white space, or a comment, is all that is left of the line. */
static bool phi__toml_array_is_last(const phi__toml_change *c, size_t at) {
    at += phi__toml_array_blanks(c, at);
    return at == c->text.len || strchr("\r\n#", c->text.at[at]) != NULL;
}

static void phi__toml_array_items(phi__toml_change *c, phi__toml_writer *w, const phi_json *first,
                                  size_t count, uint32_t depth, const char *before, phi_str indent,
                                  const char *behind) {
    for (; count > 0; count--, first = first->next) {
        phi__buf_text(&c->texts, before);
        phi__buf_add_str(&c->texts, indent);
        phi__toml_write_value(w, first, depth, false);
        phi__buf_text(&c->texts, behind);
    }
}

PHI__FN void phi__toml_array_append(phi__toml_change *c, phi__toml_writer *w, size_t last_from,
                                    size_t last_to, const phi_json *first, size_t count,
                                    uint32_t depth) {
    bool own_line = phi__toml_array_is_first(c, last_from);
    phi_str indent = own_line ? phi__toml_change_indent(c, last_from) : phi__str("", 0);
    size_t token = phi__toml_array_token(c, last_to), at = c->texts.len;
    size_t line = own_line ? phi__toml_array_line_end(c, last_to) : last_to;
    bool comma = token < line && c->text.at[token] == ',';
    if (own_line && comma && phi__toml_array_is_last(c, token + 1)) {
        /* "item, # comment": lines of their own behind it */
        phi__toml_array_items(c, w, first, count, depth, "\n", indent, ",");
        phi__toml_change_add(c, line, line, at);
    } else if (own_line && token > line && c->text.at[token] == ']') { /* a comma is missing */
        phi__buf_char(&c->texts, ',');
        phi__toml_change_add(c, last_to, last_to, at);
        at = c->texts.len;
        phi__toml_array_items(c, w, first, 1, depth, "\n", indent, "");
        phi__toml_array_items(c, w, first->next, count - 1, depth, ",\n", indent, "");
        phi__toml_change_add(c, line, line, at);
    } else {
        phi__toml_array_items(c, w, first, count, depth, own_line ? ",\n" : ", ", indent, "");
        phi__toml_change_add(c, last_to, last_to, at);
    }
}

PHI__FN void phi__toml_array_prepend(phi__toml_change *c, phi__toml_writer *w, size_t open,
                                     size_t at, const phi_json *first, size_t count,
                                     uint32_t depth) {
    size_t text = c->texts.len;
    if (phi__toml_array_is_first(c, at)) {
        phi_str indent = phi__toml_change_indent(c, at);
        phi__toml_array_items(c, w, first, count, depth, "", indent, ",\n");
        at = phi__toml_change_above(c, at, open);
    } else
        phi__toml_array_items(c, w, first, count, depth, "", phi__str("", 0), ", ");
    phi__toml_change_add(c, at, at, text);
}

/* Items at [from, to), which no line break separates, go with the comma behind them; lines that
   hold nothing else go whole, with their comments. Returns whether there was a comma. */
static bool phi__toml_array_drop_line(phi__toml_change *c, size_t from, size_t to, bool first) {
    size_t token = phi__toml_array_token(c, to);
    bool comma = c->text.at[token] == ',', own_line = phi__toml_array_is_first(c, from);
    if (comma) to = token + 1;
    if (phi__toml_array_is_last(c, to)) {
        if (own_line) {
            phi__toml_change_drop(c, from, to, false);
            return comma;
        }
        first = false;
    }
    if (first || own_line)
        to += phi__toml_array_blanks(c, to);
    else
        while (c->text.at[from - 1] == ' ' || c->text.at[from - 1] == '\t') from--;
    phi__toml_change_add(c, from, to, c->texts.len);
    return comma;
}

PHI__FN void phi__toml_array_drop(phi__toml_change *c, const phi__marks *marks,
                                  const phi_json *before, size_t count, bool first) {
    const phi_json *item = before;
    size_t from, to, next;
    bool comma = true;
    while (count > 0) {
        next = from = phi__marks_at(marks, item->next)->from;
        do {
            item = item->next;
            to = phi__marks_at(marks, item)->to;
            if (--count > 0) next = phi__marks_at(marks, item->next)->from;
        } while (count > 0 && memchr(c->text.at + to, '\n', next - to) == NULL);
        comma = phi__toml_array_drop_line(c, from, to, first);
    }
    if (comma || first) return;
    next = phi__toml_array_token(c, phi__marks_at(marks, before)->to);
    phi__toml_change_add(c, next, next + 1, c->texts.len);
}
