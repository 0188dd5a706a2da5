/* toml_array.c - new items for an array in brackets, in the style of those that are there. */
#include "text/toml_in.h"

#ifndef PHI_NO_TOML

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

/* Whether nothing but white space is between the start of its line and an offset. */
static bool phi__toml_array_is_first(const phi__toml_change *c, size_t at) {
    while (at > 0 && (c->text.at[at - 1] == ' ' || c->text.at[at - 1] == '\t')) at--;
    return at == 0 || c->text.at[at - 1] == '\n';
}

/* Whether white space, or a comment, is all that is left of the line. */
static bool phi__toml_array_is_last(const phi__toml_change *c, size_t at, size_t line) {
    while (at < line && (c->text.at[at] == ' ' || c->text.at[at] == '\t')) at++;
    return at == line || c->text.at[at] == '#';
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
    if (own_line && comma &&
        phi__toml_array_is_last(c, token + 1,
                                line)) { /* "item, # comment": lines of their own behind it */
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

#endif
