/* phi_line.h - a line that is typed and edited, with the earlier ones to go back to. Copy what you need of it. */
#ifndef PHI_LINE_H
#define PHI_LINE_H

#include "phi_keys.h"
#include "phi_rows.h"

enum { LINE_BYTES = 1 << 20, LINE_HISTORY = 1000 };

/* Zero to begin with. */
typedef struct line_editor {
    text text;
    size_t cursor; /* in bytes, before a character */
    char *history[LINE_HISTORY];
    size_t count, at; /* at == count: the line that is being typed, kept in `draft` meanwhile */
    text draft;
} line_editor;

static inline void line_clear(line_editor *l) {
    if (l->text.len > 0) text_remove(&l->text, 0, l->text.len);
    l->cursor = 0;
}

/* A character with the marks that combine with it, from `at` on or before it. */
static inline size_t line_after(const line_editor *l, size_t at) {
    uint32_t c;
    if (at < l->text.len) at += text_decode(l->text.at + at, l->text.len - at, &c);
    while (at < l->text.len) {
        size_t n = text_decode(l->text.at + at, l->text.len - at, &c);
        if (text_width(c) > 0) break;
        at += n;
    }
    return at;
}

static inline size_t line_before(const line_editor *l, size_t at) {
    uint32_t c = 0;
    while (at > 0) {
        do at--;
        while (at > 0 && ((unsigned char)l->text.at[at] & 0xC0) == 0x80);
        (void)text_decode(l->text.at + at, l->text.len - at, &c);
        if (text_width(c) > 0) break;
    }
    return at;
}

static inline size_t line_word_before(const line_editor *l, size_t at) {
    while (at > 0 && strchr(" \n", l->text.at[at - 1]) != NULL) at--;
    while (at > 0 && strchr(" \n", l->text.at[at - 1]) == NULL) at--;
    return at;
}

/* Where the row of text that holds `at` begins and ends. */
static inline size_t line_row(const line_editor *l, size_t at) {
    while (at > 0 && l->text.at[at - 1] != '\n') at--;
    return at;
}

static inline size_t line_row_end(const line_editor *l, size_t at) {
    while (at < l->text.len && l->text.at[at] != '\n') at++;
    return at;
}

static inline void line_cut(line_editor *l, size_t from, size_t to) {
    if (to > from) text_remove(&l->text, from, to - from);
    l->cursor = from;
}

static inline void line_set(line_editor *l, const char *words) {
    line_clear(l);
    if (words != NULL) text_say(&l->text, words);
    l->cursor = l->text.len;
}

/* An earlier line that begins with what was being typed. */
static inline bool line_matches(const line_editor *l, size_t at) {
    return l->draft.len == 0 || strncmp(l->history[at], l->draft.at, l->draft.len) == 0;
}

/* Within a text of several rows: to the row above or below; else through those lines of the history that begin with what
   was being typed. */
static inline void line_vertical(line_editor *l, bool up) {
    size_t at, row = line_row(l, l->cursor), end = line_row_end(l, l->cursor), to = l->cursor - row;
    if (up ? row > 0 : end < l->text.len) {
        size_t other = up ? line_row(l, row - 1) : end + 1, last = line_row_end(l, other);
        l->cursor = other + to < last ? other + to : last;
        while (l->cursor > other && ((unsigned char)l->text.at[l->cursor] & 0xC0) == 0x80)
            l->cursor--;
        return;
    }
    if (up ? l->at == 0 : l->at == l->count) return;
    if (l->at == l->count) {
        l->draft.len = 0;
        text_add(&l->draft, l->text.at, l->text.len);
    }
    at = l->at;
    do at = up ? at - 1 : at + 1;
    while (at < l->count && !line_matches(l, at)); /* up: beyond 0 it wraps to SIZE_MAX */
    if (at > l->count) return;
    l->at = at;
    line_set(l, at == l->count ? l->draft.at : l->history[at]);
}

static inline void line_type(line_editor *l, const char *character) {
    uint32_t c;
    (void)text_decode(character, strlen(character), &c);
    if (c == '\t') character = "    ";
    if (text_unsafe(c) || l->text.len >= LINE_BYTES) return;
    if (text_insert(&l->text, l->cursor, character, strlen(character)))
        l->cursor += strlen(character);
}

/* False: the key means nothing here. */
static inline bool line_key(line_editor *l, int key, const char *character) {
    switch (key) {
    case KEY_TEXT: line_type(l, character); break;
    case KEY_NEWLINE: line_type(l, "\n"); break;
    case KEY_UP:
    case KEY_CTRL('P'): line_vertical(l, true); break;
    case KEY_DOWN:
    case KEY_CTRL('N'): line_vertical(l, false); break;
    case KEY_LEFT: l->cursor = line_before(l, l->cursor); break;
    case KEY_RIGHT:
    case KEY_CTRL('F'): l->cursor = line_after(l, l->cursor); break;
    case KEY_HOME:
    case KEY_CTRL('A'): l->cursor = line_row(l, l->cursor); break;
    case KEY_END:
    case KEY_CTRL('E'): l->cursor = line_row_end(l, l->cursor); break;
    case KEY_BACKSPACE: line_cut(l, line_before(l, l->cursor), l->cursor); break;
    case KEY_DELETE: line_cut(l, l->cursor, line_after(l, l->cursor)); break;
    case KEY_CTRL('K'): line_cut(l, l->cursor, line_row_end(l, l->cursor)); break;
    case KEY_CTRL('W'): line_cut(l, line_word_before(l, l->cursor), l->cursor); break;
    case KEY_CTRL('U'):
        line_clear(l);
        l->at = l->count;
        break;
    default: return false;
    }
    return true;
}

/* Adds a line to the history, if it is not the newest one there already. */
static inline void line_remember(line_editor *l, const char *words) {
    size_t n = strlen(words) + 1;
    char *copy;
    if (l->count > 0 && strcmp(l->history[l->count - 1], words) == 0) return;
    if (l->count == LINE_HISTORY) {
        free(l->history[0]);
        memmove(l->history, l->history + 1, (LINE_HISTORY - 1) * sizeof *l->history);
        l->count--;
    }
    copy = (char *)malloc(n);
    if (copy != NULL) l->history[l->count++] = (char *)memcpy(copy, words, n);
}

/* Puts the line into the history, unless it begins with a blank, and begins a new one. */
static inline void line_done(line_editor *l) {
    if (l->text.len > 0 && l->text.at[0] != ' ') line_remember(l, l->text.at);
    l->at = l->count;
    line_clear(l);
}

enum { LINE_ROWS = 8 };

/* The line in rows behind a "> ", at most `most` of them (LINE_ROWS), around the cursor. How many; *row and *column:
   the cursor's. */
static inline int line_rows(const line_editor *l, int columns, int most, text *rows, int *row,
                            int *column) {
    size_t at = 0, end, next, starts[LINE_ROWS], ends[LINE_ROWS];
    int n = 0, mine = -1, i;
    bool more = true;
    while (more && (mine < 0 || n < most)) {
        more = rows_next(&l->text, columns - 2, at, &end, &next);
        if (mine < 0 && (!more || l->cursor < next)) {
            mine = n;
            *column = 2 + rows_width(&l->text, at, l->cursor < end ? l->cursor : end);
        }
        starts[n % most] = at;
        ends[n++ % most] = end;
        at = next;
    }
    for (i = n > most ? n - most : 0; i < n; i++) {
        text_say(rows, i == 0 ? "> " : "  ");
        if (l->text.len > 0)
            text_add(rows, l->text.at + starts[i % most], ends[i % most] - starts[i % most]);
        if (i == mine) *row = i - (n > most ? n - most : 0);
        rows++;
    }
    return n < most ? n : most;
}

static inline void line_free(line_editor *l) {
    while (l->count > 0) free(l->history[--l->count]);
    free(l->text.at);
    free(l->draft.at);
}

#endif
