/* phi_rows.h - text in rows of a terminal: where each row ends, and how it looks. Copy what you need of it.

   The text has no control characters but line breaks. A byte below a blank, other than a line break or a tab, is a style,
   which holds until the next style, or, from ROWS_HANG on, says by how much the line's other rows are indented. */
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
    STYLE_END = 8,
    STYLE_STRONG = 11, /* from here on: of an answer */
    STYLE_SLANT,
    STYLE_CODE,
    STYLE_STRING,
    STYLE_COMMENT,
    STYLE_NUMBER,
    STYLE_ADDRESS,
    STYLE_QUOTE,
    STYLE_BLOCK, /* of code */
    STYLES,
    ROWS_HANG = STYLES, /* by two columns; the next byte by three, and so on */
    ROWS_HANG_MOST = 26 /* 27 begins the terminal's sequences */
} style;

/* The rows after these bytes of a line are indented by two. */
enum { ROWS_HANG_BYTES = 8192 };

static inline bool rows_is_style(uint32_t c) { return c < ' ' && c != '\n' && c != '\t'; }

/* The row that begins at `from`: where it ends, and where the next begins. False: it is the last one, and may grow.
   Words stay whole where they fit. */
static inline bool rows_next(const text *t, int columns, size_t from, size_t *end, size_t *next) {
    size_t i, n, blank = 0;
    int column = 0;
    bool words = false;
    uint32_t c;
    for (i = from; i < t->len; i += n) {
        n = text_decode(t->at + i, t->len - i, &c);
        *end = i;
        *next = i + 1;
        if (c == '\n') return true;
        if (rows_is_style(c)) continue;
        column += text_width(c);
        if (column > columns) {
            if (c != ' ') *end = blank > from ? blank : i;
            if (c != ' ') *next = blank > from ? blank + 1 : i;
            return true;
        }
        if (c == ' ' && words) blank = i; /* an indent is no place to break */
        words = words || c != ' ';
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
        width += rows_is_style(c) ? 0 : text_width(c);
    }
    return width;
}

/* Adds a hanging indent. */
static inline void rows_hang(text *out, int columns) {
    int most = ROWS_HANG_MOST - ROWS_HANG + 2;
    char hang = (char)(ROWS_HANG - 2 + (columns < most ? columns : most));
    if (columns >= 2) text_add(out, &hang, 1);
}

/* By how many columns the row at `from` is indented. Without colours a row that begins in a style of an answer is, too,
   for the program's rows are bold or dim. */
static inline int rows_indent(const text *t, int columns, bool colors, size_t from) {
    size_t begin = from, i;
    bool continues = false;
    int hang = 0, how = STYLE_PLAIN;
    while (begin > 0 && t->at[begin - 1] != '\n' && from - begin < ROWS_HANG_BYTES) begin--;
    if (from - begin == ROWS_HANG_BYTES) return 2;
    for (i = begin; i < t->len; i++) {
        unsigned char c = (unsigned char)t->at[i];
        if (!rows_is_style(c) && i >= from) break;
        if (!rows_is_style(c)) continues = true;
        if (rows_is_style(c) && c >= ROWS_HANG) hang = c - ROWS_HANG + 2;
        if (rows_is_style(c) && c < STYLES) how = c;
    }
    if (!continues) hang = 0;
    if (hang == 0 && how >= STYLE_STRONG && !colors) hang = 2;
    return hang < columns / 2 ? hang : columns / 2;
}

/* Neither with nor without colours does a row of the program look like one that a model or a tool has written. */
static inline style rows_style(text *out, bool colors, style how) {
    static const char *const codes[STYLES] = {
        "",           "\033[0m",    "\033[0;1;34m", "\033[0;2m",  "\033[0;32m",
        "\033[0;31m", "\033[0;33m", "\033[0;2;3m",  "",           "",
        "",           "\033[0;1m",  "\033[0;3m",    "\033[0;36m", "\033[0;32m",
        "\033[0;2m",  "\033[0;35m", "\033[0;4m",    "\033[0;2m",  "\033[0;36m"};
    static const char *const plain[STYLES] = {"",          "\033[0m",   "\033[0;1m", "\033[0;2m",
                                              "\033[0;1m", "\033[0;1m", "\033[0;1m", "\033[0;2;3m",
                                              "",          "",          "",          "\033[0;1m",
                                              "\033[0;1m", "\033[0;1m", "\033[0m",   "\033[0;2m",
                                              "\033[0m",   "\033[0;2m", "\033[0;2m", "\033[0m"};
    if (out != NULL) text_say(out, colors ? codes[how] : plain[how]);
    return how;
}

/* Writes text with its styles, `how` at its beginning; out NULL: writes nothing. Returns the style behind it. */
static inline style rows_write(text *out, bool colors, const text *t, size_t from, size_t to,
                               style how) {
    size_t i;
    if (out != NULL) (void)rows_style(out, colors, how);
    for (i = from; i < to; i++) {
        unsigned char c = (unsigned char)t->at[i];
        if (rows_is_style(c) && c < STYLES)
            how = rows_style(out, colors, (style)c);
        else if (out != NULL && !rows_is_style(c))
            text_add(out, t->at + i, 1);
    }
    if (out != NULL) (void)rows_style(out, colors, STYLE_PLAIN);
    return how;
}

#endif
