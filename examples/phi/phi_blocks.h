/* phi_blocks.h - what a line of Markdown is, by its first characters. Copy what you need of it. */
#ifndef PHI_BLOCKS_H
#define PHI_BLOCKS_H

#include "phi_code.h"
#include "phi_table.h"

enum { MARKDOWN_BEGINS = 256, MARKDOWN_ROW = 8192, MARKDOWN_TABLE = 64 << 10 };

typedef enum markdown_kind {
    MARKDOWN_BEGIN, /* of a line: it is not known yet what it is */
    MARKDOWN_TEXT,  /* within a line; from here on: what the beginning says */
    MARKDOWN_RAW,
    MARKDOWN_CODE,
    MARKDOWN_BLANK,
    MARKDOWN_HEADING,
    MARKDOWN_ITEM,
    MARKDOWN_NUMBER,
    MARKDOWN_QUOTE,
    MARKDOWN_RULE,
    MARKDOWN_FENCE,
    MARKDOWN_ROW_OF_TABLE
} markdown_kind;

/* Zero to begin with; ends with markdown_free. */
typedef struct markdown {
    text cut;   /* a character that is cut off */
    text line;  /* what waits, safe to show */
    text table; /* lines that wait */
    markdown_kind now;
    style base;
    code_colors code;
    char before;
    char fence; /* '`' or '~': within code; 0: not */
    size_t fence_count, fence_indent;
    int table_lines, columns;
    bool list;   /* after an item: an indented line is no code */
    bool begun;  /* the answer has begun */
    bool within; /* ... after other words of its row */
    bool again;  /* the style is to be said again */
} markdown;

/* ---- what a line is ---- */

static inline bool markdown_only(const char *at, size_t n, char mark, size_t *count) {
    size_t i;
    for (i = 0, *count = 0; i < n; i++) {
        if (at[i] == mark)
            ++*count;
        else if (at[i] != ' ')
            return false;
    }
    return true;
}

/* Within code: its end, or more of it. */
static inline markdown_kind markdown_fenced(const markdown *m, const char *at, size_t n,
                                            bool whole) {
    size_t i = 0, count = 0;
    while (i < n && at[i] == ' ') i++;
    for (; i < n && at[i] == m->fence; i++) count++;
    while (i < n && at[i] == ' ') i++;
    if (i < n || (whole && count < m->fence_count)) return MARKDOWN_CODE;
    return whole ? MARKDOWN_FENCE : MARKDOWN_BEGIN;
}

/* An item "- x", a rule "---", or text. */
static inline markdown_kind markdown_mark(const char *at, size_t n, bool whole) {
    size_t count;
    bool space = n > 1 && at[1] == ' ';
    if (!markdown_only(at, n, at[0], &count))
        return space && at[0] != '_' ? MARKDOWN_ITEM : MARKDOWN_TEXT;
    if (!whole) return MARKDOWN_BEGIN;
    if (count >= 3 && at[0] != '+') return MARKDOWN_RULE;
    return space && at[0] != '_' ? MARKDOWN_ITEM : MARKDOWN_TEXT;
}

static inline markdown_kind markdown_counted(const char *at, size_t n, bool whole) {
    size_t i = 0;
    while (i < n && i < 10 && at[i] >= '0' && at[i] <= '9') i++;
    if (i < n && i < 10 && (at[i] == '.' || at[i] == ')')) {
        if (i + 1 < n) return at[i + 1] == ' ' ? MARKDOWN_NUMBER : MARKDOWN_TEXT;
    } else if (i < n)
        return MARKDOWN_TEXT;
    return whole ? MARKDOWN_TEXT : MARKDOWN_BEGIN;
}

/* A heading, or the beginning of code. */
static inline markdown_kind markdown_run(const char *at, size_t n, bool whole) {
    size_t count = 0;
    while (count < n && at[count] == at[0]) count++;
    if (count == n && !whole) return MARKDOWN_BEGIN;
    if (at[0] == '#')
        return count <= 6 && count < n && at[count] == ' ' ? MARKDOWN_HEADING : MARKDOWN_TEXT;
    if (count < 3 || (at[0] == '`' && memchr(at + count, '`', n - count) != NULL))
        return MARKDOWN_TEXT;
    return whole ? MARKDOWN_FENCE : MARKDOWN_BEGIN;
}

/* What the line is that begins so; MARKDOWN_BEGIN: more has to come. */
static inline markdown_kind markdown_look(const markdown *m, bool whole) {
    const char *at = m->line.at;
    size_t n = m->line.len, indent = 0;
    markdown_kind kind;
    if (m->fence == 0 && n > 0) {
        while (indent < n && at[indent] == ' ') indent++;
        if (indent < n && at[indent] == '|' && indent < 4)
            return n > MARKDOWN_ROW ? MARKDOWN_TEXT
                   : whole          ? MARKDOWN_ROW_OF_TABLE
                                    : MARKDOWN_BEGIN;
    }
    if (n > MARKDOWN_BEGINS) whole = false, n = MARKDOWN_BEGINS;
    if (m->fence != 0)
        kind = markdown_fenced(m, at, n, whole);
    else if (indent >= n)
        kind = whole ? MARKDOWN_BLANK : MARKDOWN_BEGIN;
    else if (indent >= 4 && !m->list)
        kind = MARKDOWN_RAW;
    else if (strchr("-*+_", at[indent]) != NULL)
        kind = markdown_mark(at + indent, n - indent, whole);
    else if (strchr("#`~", at[indent]) != NULL)
        kind = markdown_run(at + indent, n - indent, whole);
    else if (at[indent] == '>')
        kind = indent + 1 < n || whole ? MARKDOWN_QUOTE : MARKDOWN_BEGIN;
    else if (at[indent] >= '0' && at[indent] <= '9')
        kind = markdown_counted(at + indent, n - indent, whole);
    else
        kind = MARKDOWN_TEXT;
    if (kind != MARKDOWN_BEGIN || m->line.len <= MARKDOWN_BEGINS) return kind;
    return m->fence != 0 ? MARKDOWN_CODE : MARKDOWN_TEXT;
}

#endif
