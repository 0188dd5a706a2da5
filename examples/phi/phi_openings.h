/* phi_openings.h - what the beginning of a line of Markdown adds to the rows: bullets, bars, rules, code, tables. Copy
   what you need of it. */
#ifndef PHI_OPENINGS_H
#define PHI_OPENINGS_H

#include "phi_blocks.h"

/* Adds the spans of what waits; last: the line ends here. */
static inline void markdown_spans(markdown *m, bool last, text *out) {
    spans in = {m->line.at, m->line.len, m->base, m->before, last, 0};
    size_t n = m->line.len > 0 ? spans_add(out, in) : 0;
    if (n == 0) return;
    m->before = m->line.at[n - 1];
    text_remove(&m->line, 0, n);
}

/* Before the first row: one that is no prose begins a row. */
static inline void markdown_first(markdown *m, markdown_kind kind, text *out) {
    if (!m->begun && m->within && kind != MARKDOWN_TEXT && kind != MARKDOWN_BLANK)
        text_say(out, "\n");
    m->begun = true;
}

/* ---- tables ---- */

static inline void markdown_table_end(markdown *m, text *out) {
    if (m->table_lines == 0) return;
    markdown_first(m, m->table_lines > 1 ? MARKDOWN_ROW_OF_TABLE : MARKDOWN_TEXT, out);
    if (m->table_lines > 1)
        table_add(out, &m->table, m->columns);
    else {
        spans in = {m->table.at, m->table.len - 1, STYLE_PLAIN, 0, true, 0};
        (void)spans_add(out, in);
        text_say(out, "\n");
    }
    m->table_lines = 0;
    m->table.len = 0;
}

static inline void markdown_table_row(markdown *m, text *out) {
    table_shape rule = PHI_ZERO;
    if ((m->table_lines == 1 && !table_is_rule(m->line.at, m->line.len, &rule)) ||
        m->table.len + m->line.len > MARKDOWN_TABLE)
        markdown_table_end(m, out);
    text_add(&m->table, m->line.at, m->line.len);
    text_say(&m->table, "\n");
    m->table_lines++;
    m->line.len = 0;
}

/* ---- the beginnings of lines ---- */

/* Moves the first bytes of the line, and says how the line's other rows are indented. */
static inline void markdown_take(markdown *m, size_t drop, const char *instead, int hang,
                                 text *out) {
    text_say(out, instead);
    rows_hang(out, hang);
    text_remove(&m->line, 0, drop);
}

static inline void markdown_fence(markdown *m, size_t indent, text *out) {
    const char *at = m->line.at + indent;
    size_t n = m->line.len - indent, count = 0;
    if (m->fence == 0) {
        memset(&m->code, 0, sizeof m->code);
        while (count < n && at[count] == at[0]) count++;
        m->fence = at[0];
        m->fence_count = count;
        m->fence_indent = indent;
        while (count < n && at[count] == ' ') count++;
        if (count < n) text_print(out, "%*s", (int)indent + 2, "");
        if (count < n) spans_style(out, STYLE_COMMENT);
        text_add(out, at + count, n - count);
        if (count < n) spans_style(out, STYLE_PLAIN);
        text_say(out, count < n ? "\n" : "");
    } else
        m->fence = 0;
    m->line.len = 0;
}

static inline void markdown_code(markdown *m, text *out) {
    size_t drop = 0, indent = m->fence_indent;
    while (drop < m->line.len && drop < indent && m->line.at[drop] == ' ') drop++;
    if (drop < m->line.len) text_print(out, "%*s", (int)indent + 2, "");
    if (drop < m->line.len) rows_hang(out, (int)indent + 2);
    code_add(&m->code, out, m->line.at + drop, m->line.len - drop);
    m->line.len = 0;
}

/* Begins a line. False: it is whole already, and adds no line break. */
static inline bool markdown_enter(markdown *m, markdown_kind kind, text *out) {
    size_t indent = 0, n = 0;
    int i;
    while (indent < m->line.len && m->line.at[indent] == ' ') indent++;
    if (kind != MARKDOWN_ROW_OF_TABLE) {
        markdown_table_end(m, out);
        markdown_first(m, kind, out);
    }
    if (kind == MARKDOWN_ITEM || kind == MARKDOWN_NUMBER)
        m->list = true;
    else if (indent == 0 && kind != MARKDOWN_BLANK && m->fence == 0)
        m->list = false;
    m->now = kind == MARKDOWN_CODE || kind == MARKDOWN_RAW ? kind : MARKDOWN_TEXT;
    m->base = kind == MARKDOWN_HEADING ? STYLE_STRONG
              : kind == MARKDOWN_QUOTE ? STYLE_QUOTE
                                       : STYLE_PLAIN;
    if (kind != MARKDOWN_CODE && kind != MARKDOWN_ROW_OF_TABLE && kind != MARKDOWN_FENCE &&
        indent < m->line.len)
        text_add(out, m->line.at, indent);
    switch (kind) {
    case MARKDOWN_FENCE: markdown_fence(m, indent, out); return false;
    case MARKDOWN_ROW_OF_TABLE: markdown_table_row(m, out); return false;
    case MARKDOWN_CODE: markdown_code(m, out); return true;
    case MARKDOWN_RULE:
        for (i = 0; i < m->columns && i < 40; i++) text_say(out, "\xE2\x94\x80");
        m->line.len = 0;
        break;
    case MARKDOWN_HEADING:
        while (m->line.at[indent + n] == '#') n++;
        text_add(out, m->line.at + indent, n + 1);
        markdown_take(m, indent + n + 1, "", 2, out);
        break;
    case MARKDOWN_ITEM:
        n = m->line.len > indent + 1 ? 2 : 1;
        markdown_take(m, indent + n, "\xE2\x80\xA2 ", (int)indent + 2, out);
        break;
    case MARKDOWN_NUMBER:
        while (m->line.at[indent + n] != ' ') n++;
        text_add(out, m->line.at + indent, n + 1);
        markdown_take(m, indent + n + 1, "", (int)(indent + n) + 1, out);
        break;
    case MARKDOWN_QUOTE:
        n = m->line.len > indent + 1 && m->line.at[indent + 1] == ' ' ? 2 : 1;
        markdown_take(m, indent + n, "\xE2\x94\x82 ", (int)indent + 2, out);
        break;
    case MARKDOWN_BLANK: m->line.len = 0; break;
    default:
        markdown_take(m, indent, "", (int)indent, out);
        if (kind == MARKDOWN_RAW) text_add(out, m->line.at, m->line.len), m->line.len = 0;
    }
    if (m->base != STYLE_PLAIN) spans_style(out, m->base);
    markdown_spans(m, false, out);
    return true;
}

#endif
