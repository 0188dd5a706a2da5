/* phi_table.h - a table of Markdown in rows: its columns aligned, long cells on several rows. Copy what you need of it. */
#ifndef PHI_TABLE_H
#define PHI_TABLE_H

#include "phi_spans.h"

enum { TABLE_COLUMNS = 32, TABLE_LEAST = 4 };

/* Zero to begin with; the widths are of the cells' words. */
typedef struct table_shape {
    int count; /* of columns */
    int width[TABLE_COLUMNS];
    char align[TABLE_COLUMNS]; /* 'l', 'c', 'r' */
} table_shape;

/* The next cell of a line that begins with "|"; *at is moved past it. False: there is none. */
static inline bool table_cell(const char *line, size_t n, size_t *at, phi_str *cell) {
    size_t from = *at, to;
    bool code = false;
    while (n > 0 && line[n - 1] == ' ') n--;
    if (from == 0)
        while (from < n && line[from] != '|') from++;
    if (from + 1 >= n) return false;
    for (to = ++from; to < n && (line[to] != '|' || code); to++) {
        if (line[to] == '`' && (code || memchr(line + to + 1, '`', n - to - 1) != NULL))
            code = !code;
        if (line[to] == '\\' && to + 1 < n) to++;
    }
    *at = to;
    while (from < to && line[from] == ' ') from++;
    while (to > from && line[to - 1] == ' ') to--;
    cell->at = line + from;
    cell->len = to - from;
    return true;
}

/* A line such as "|---|:-:|". */
static inline bool table_is_rule(const char *line, size_t n, table_shape *t) {
    size_t at = 0, i;
    phi_str cell;
    int count = 0;
    while (table_cell(line, n, &at, &cell)) {
        bool left = cell.len > 0 && cell.at[0] == ':', right;
        for (i = left ? 1 : 0; i < cell.len && cell.at[i] == '-';) i++;
        right = i + 1 == cell.len && cell.at[i] == ':';
        if (count == TABLE_COLUMNS || i == (left ? 1u : 0u) || (i < cell.len && !right))
            return false;
        t->align[count++] = left && right ? 'c' : right ? 'r' : 'l';
    }
    t->count = count;
    return count > 0;
}

/* Adds a cell with its styles. */
static inline void table_words(text *out, phi_str cell, style base) {
    spans in = {cell.at, cell.len, base, 0, true, 0};
    if (base != STYLE_PLAIN) spans_style(out, base);
    if (cell.len > 0) (void)spans_add(out, in);
    if (base != STYLE_PLAIN) spans_style(out, STYLE_PLAIN);
}

static inline void table_measure(table_shape *t, const char *line, size_t n) {
    size_t at = 0;
    phi_str cell;
    int i;
    for (i = 0; i < t->count && table_cell(line, n, &at, &cell); i++) {
        text words = {NULL, 0, 0};
        int width;
        table_words(&words, cell, STYLE_PLAIN);
        width = rows_width(&words, 0, words.len);
        if (width > t->width[i]) t->width[i] = width;
        free(words.at);
    }
}

/* Makes the widest columns narrower until all fit. False: they never do. */
static inline bool table_fit(table_shape *t, int columns) {
    int i, most, all;
    for (;;) {
        all = 1;
        most = 0;
        for (i = 0; i < t->count; i++) {
            if (t->width[i] == 0) t->width[i] = 1;
            all += t->width[i] + 3;
            if (t->width[i] > t->width[most]) most = i;
        }
        if (all <= columns) return true;
        if (t->width[most] <= TABLE_LEAST) return false;
        t->width[most]--;
    }
}

/* Adds the part of a cell from *at on that fits its column. False: nothing is left for another row. */
static inline bool table_part(const table_shape *t, int i, const text *words, size_t *at,
                              style *how, text *out) {
    size_t end = *at, next = *at, k;
    bool more = *at < words->len && rows_next(words, t->width[i], *at, &end, &next);
    int blank = t->width[i] - rows_width(words, *at, end), left = t->align[i] == 'r'   ? blank
                                                                  : t->align[i] == 'c' ? blank / 2
                                                                                       : 0;
    if (blank < 0) blank = 0, left = 0;
    text_print(out, " %*s", left, "");
    if (*how != STYLE_PLAIN) spans_style(out, *how);
    if (end > *at) text_add(out, words->at + *at, end - *at);
    for (k = *at; k < next && k < words->len; k++)
        if (rows_is_style((unsigned char)words->at[k])) *how = (style)words->at[k];
    if (*how != STYLE_PLAIN) spans_style(out, STYLE_PLAIN);
    text_print(out, "%*s \xE2\x94\x82", blank - left, "");
    *at = more ? next : words->len;
    return more;
}

/* Adds a line in as many rows as its longest cell wants. */
static inline void table_line(const table_shape *t, const char *line, size_t n, style base,
                              text *out) {
    text words[TABLE_COLUMNS] = {{NULL, 0, 0}};
    size_t at = 0, from[TABLE_COLUMNS] = {0};
    style how[TABLE_COLUMNS];
    phi_str cell;
    bool more = true;
    int i;
    for (i = 0; i < t->count; i++) {
        how[i] = STYLE_PLAIN;
        if (table_cell(line, n, &at, &cell)) table_words(&words[i], cell, base);
    }
    while (more) {
        more = false;
        text_say(out, "\xE2\x94\x82");
        for (i = 0; i < t->count; i++)
            if (table_part(t, i, &words[i], &from[i], &how[i], out)) more = true;
        text_say(out, "\n");
    }
    for (i = 0; i < t->count; i++) free(words[i].at);
}

static inline void table_rule(const table_shape *t, text *out) {
    int i, k;
    text_say(out, "\xE2\x94\x9C");
    for (i = 0; i < t->count; i++) {
        for (k = 0; k < t->width[i] + 2; k++) text_say(out, "\xE2\x94\x80");
        text_say(out, i + 1 < t->count ? "\xE2\x94\xBC" : "\xE2\x94\xA4");
    }
    text_say(out, "\n");
}

/* A line has more cells than the table has columns: they would be lost. */
static inline bool table_has_more(const table_shape *t, const char *line, size_t n) {
    size_t at = 0;
    phi_str cell;
    int count = 0;
    while (table_cell(line, n, &at, &cell)) count++;
    return count > t->count;
}

/* Adds the table of these lines, each with its line break; the second is its rule. A table that fits no window of so many
   columns comes as it is. */
static inline void table_add(text *out, const text *lines, int columns) {
    table_shape t = PHI_ZERO;
    size_t from, end;
    int row, pass;
    bool fits = true;
    for (pass = 0; pass < 3; pass++) {
        if (pass == 2) fits = fits && t.count > 0 && table_fit(&t, columns);
        for (from = 0, row = 0; from < lines->len; from = end + 1, row++) {
            const char *line = lines->at + from;
            for (end = from; end < lines->len && lines->at[end] != '\n';) end++;
            if (pass == 0 && row == 1) (void)table_is_rule(line, end - from, &t);
            if (pass == 1 && row != 1) table_measure(&t, line, end - from);
            if (pass == 1 && table_has_more(&t, line, end - from)) fits = false;
            if (pass == 2 && fits && row == 1) table_rule(&t, out);
            if (pass == 2 && fits && row != 1)
                table_line(&t, line, end - from, row == 0 ? STYLE_STRONG : STYLE_PLAIN, out);
        }
    }
    if (!fits) text_add(out, lines->at, lines->len);
}

#endif
