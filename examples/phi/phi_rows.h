/* phi_rows.h - text in rows of a terminal: where each row ends, and how it looks. Copy what you need of it.

   The text has no control characters but line breaks; a byte under STYLE_END is a style, which holds until the next one
   or the line's end. */
#ifndef PHI_ROWS_H
#define PHI_ROWS_H

#include "phi_text.h"

typedef enum style {
    STYLE_PLAIN = 1,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_GOOD,
    STYLE_BAD,
    STYLE_ASK,
    STYLE_THOUGHT,
    STYLE_END = 8
} style;

/* The row that begins at `from`: where it ends, and where the next begins. False: it is the last one, and may grow.
   Words stay whole where they fit. */
static inline bool rows_next(const text *t, int columns, size_t from, size_t *end, size_t *next) {
    size_t i, n, blank = 0;
    int column = 0;
    uint32_t c;
    for (i = from; i < t->len; i += n) {
        n = text_decode(t->at + i, t->len - i, &c);
        *end = i;
        *next = i + 1;
        if (c == '\n') return true;
        if (c < STYLE_END) continue;
        column += text_width(c);
        if (column > columns) {
            if (c != ' ') *end = blank > from ? blank : i;
            if (c != ' ') *next = blank > from ? blank + 1 : i;
            return true;
        }
        if (c == ' ') blank = i;
    }
    *end = *next = t->len;
    return false;
}

/* Adds a message of the program, safe to show, in rows of so many columns (0: in lines): all but the first are indented,
   so that none looks like another message. */
static inline void rows_note(text *out, phi_str message, int columns) {
    text note = {NULL, 0, 0};
    size_t from = 0, end, next;
    bool more = true, continues = false;
    text_note(&note, message);
    while (more && columns > 0 && note.len > 0) {
        more = rows_next(&note, columns - (continues ? 4 : 0), from, &end, &next);
        text_say(out, continues ? "    " : "");
        text_add(out, note.at + from, end - from);
        text_say(out, more ? "\n" : "");
        continues = more && note.at[next - 1] != '\n';
        from = next;
    }
    if (columns == 0) text_add(out, note.at, note.len);
    free(note.at);
}

/* Columns of the text from `from` to before `to`. */
static inline int rows_width(const text *t, size_t from, size_t to) {
    int width = 0;
    uint32_t c;
    while (from < to) {
        from += text_decode(t->at + from, t->len - from, &c);
        width += c < STYLE_END ? 0 : text_width(c);
    }
    return width;
}

/* Also without colours no row of the program looks like one that a model or a tool has written. */
static inline style rows_style(text *out, bool colors, style how) {
    static const char *const codes[STYLE_END] = {"",           "\033[0m",    "\033[0;1m",
                                                 "\033[0;2m",  "\033[0;32m", "\033[0;31m",
                                                 "\033[0;33m", "\033[0;2;3m"};
    bool color = how == STYLE_GOOD || how == STYLE_BAD || how == STYLE_ASK;
    if (out != NULL) text_say(out, codes[color && !colors ? STYLE_BOLD : how]);
    return how;
}

/* Writes text with its styles, `how` at its beginning; out NULL: writes nothing. Returns the style behind it. */
static inline style rows_write(text *out, bool colors, const text *t, size_t from, size_t to,
                               style how) {
    size_t i;
    if (out != NULL) (void)rows_style(out, colors, how);
    for (i = from; i < to; i++)
        if (t->at[i] > 0 && t->at[i] < STYLE_END)
            how = rows_style(out, colors, (style)t->at[i]);
        else if (out != NULL)
            text_add(out, t->at + i, 1);
    if (out != NULL) (void)rows_style(out, colors, STYLE_PLAIN);
    return how;
}

#endif
