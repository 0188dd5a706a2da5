/* phi_marked.h - lines in rows of a window, each with a mark: "|" begins a line, "+" continues the row before. Copy what
   you need of it. */
#ifndef PHI_MARKED_H
#define PHI_MARKED_H

#include "phi_text.h"

/* Adds lines in marked rows. A terminal may show what is not ASCII in two columns: so many are left for it. */
static inline void marked_wrap(text *out, const text *lines, int columns) {
    int column = 0, width;
    size_t i, n;
    uint32_t c;
    text_say(out, "  | ");
    for (i = 0; i < lines->len; i += n) {
        n = text_decode(lines->at + i, lines->len - i, &c);
        width = c == '\t' ? 8 : c < 0x80 ? 1 : 2;
        if (c != '\n' && column > 0 && column + width > columns - 4) {
            text_say(out, "\n  + ");
            column = 0;
        }
        column += width;
        if (c == '\n') column = 0;
        if (c == '\t')
            text_say(out, "<U+0009>");
        else
            text_add(out, lines->at + i, n);
        if (c == '\n') text_say(out, "  | ");
    }
}

static inline int marked_count(const text *rows) {
    int n = rows->len > 0 ? 1 : 0;
    size_t i;
    for (i = 0; i < rows->len; i++) n += rows->at[i] == '\n';
    return n;
}

/* Where row `row` begins. */
static inline size_t marked_row(const text *rows, int row) {
    size_t i;
    for (i = 0; row > 0 && i < rows->len; i++) row -= rows->at[i] == '\n';
    return i;
}

#endif
