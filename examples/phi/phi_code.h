/* phi_code.h - colours for lines of code in any language: strings, comments and numbers. Copy what you need of it.

   A guess: a language whose comments begin otherwise has none in colour. Nothing is left out or added. */
#ifndef PHI_CODE_H
#define PHI_CODE_H

#include "phi_spans.h"

/* Zero to begin with. */
typedef struct code_colors {
    style now;    /* 0: at the beginning of a line */
    char quote;   /* of the string */
    char before;  /* the character before; 0: of the line's beginning */
    char waits;   /* '/' or '#': the next character says what it is; 0: none */
    bool comment; /* between slash-star and star-slash */
    bool escaped; /* the next character of the string is no quote */
} code_colors;

static inline void code_style(code_colors *c, text *out, style how) {
    if (c->now != how) spans_style(out, how);
    c->now = how;
}

/* What a '/' or '#' was, now that the next character is known (0: the line's end). */
static inline void code_known(code_colors *c, text *out, char next) {
    char waits = c->waits;
    bool comment;
    c->waits = 0;
    if (waits == 0) return;
    if (waits == '/' && next == '*') c->comment = true;
    if (waits == '/')
        comment = next == '*' || (next == '/' && c->before != ':');
    else
        comment = next == ' ' || next == '!';
    code_style(c, out, comment ? STYLE_COMMENT : STYLE_BLOCK);
    text_add(out, &waits, 1);
    c->before = waits;
}

static inline void code_string(code_colors *c, text *out, char in) {
    text_add(out, &in, 1);
    if (in == c->quote && !c->escaped) c->quote = 0;
    c->escaped = in == '\\' && !c->escaped;
}

static inline void code_plain(code_colors *c, text *out, char in) {
    bool word = spans_letter(c->before) || c->before == '_';
    bool number = c->now == STYLE_NUMBER && (spans_letter(in) || in == '.' || in == '_');
    if (number || (in >= '0' && in <= '9' && !word)) {
        code_style(c, out, STYLE_NUMBER);
    } else if ((in == '"' || in == '\'' || in == '`') && !word) {
        code_style(c, out, STYLE_STRING);
        c->quote = in;
        c->escaped = false;
    } else if (in == '/' || (in == '#' && strchr(" \t", c->before) != NULL)) {
        c->waits = in;
        return;
    } else
        code_style(c, out, STYLE_BLOCK);
    text_add(out, &in, 1);
}

/* Adds a part of a line. */
static inline void code_add(code_colors *c, text *out, const char *at, size_t n) {
    size_t i;
    if (n > 0 && c->now == 0 && c->comment) code_style(c, out, STYLE_COMMENT);
    for (i = 0; i < n; i++) {
        char in = at[i];
        code_known(c, out, in);
        if (c->comment) {
            text_add(out, &in, 1);
            if (in == '/' && c->before == '*') c->comment = false, c->now = STYLE_END;
        } else if (c->now == STYLE_COMMENT)
            text_add(out, &in, 1);
        else if (c->quote != 0)
            code_string(c, out, in);
        else
            code_plain(c, out, in);
        if (c->waits == 0) c->before = in;
    }
}

static inline void code_line_end(code_colors *c, text *out) {
    code_known(c, out, 1);
    if (c->now != 0) spans_style(out, STYLE_PLAIN);
    c->now = (style)0;
    c->quote = c->before = 0;
}

#endif
