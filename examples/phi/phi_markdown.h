/* phi_markdown.h - an answer in Markdown as rows of a terminal, while it streams. Copy what you need of it.

   The text may come in any pieces: what comes out does not depend on them. It waits for the first characters of a line,
   for the end of a span (phi_spans.h), and for the end of a table; at most MARKDOWN_TABLE bytes are kept. What is no
   Markdown, or none that is known here, is shown as it came. The rows are safe to show, with the styles of phi_rows.h. */
#ifndef PHI_MARKDOWN_H
#define PHI_MARKDOWN_H

#include "phi_openings.h"

static inline void markdown_line_end(markdown *m, const char *end, text *out) {
    bool breaks = true;
    if (m->now == MARKDOWN_BEGIN) breaks = markdown_enter(m, markdown_look(m, true), out);
    if (m->now == MARKDOWN_CODE)
        code_line_end(&m->code, out);
    else
        markdown_spans(m, true, out);
    if (m->base != STYLE_PLAIN) spans_style(out, STYLE_PLAIN);
    if (breaks) text_say(out, end);
    m->now = MARKDOWN_BEGIN;
    m->base = STYLE_PLAIN;
    m->before = 0;
    m->again = false;
    m->line.len = 0;
}

static inline void markdown_piece(markdown *m, const char *at, size_t n, text *out) {
    markdown_kind kind;
    if (m->again && n > 0) {
        style how = m->now == MARKDOWN_CODE ? m->code.now : m->base;
        if (how != 0 && how != STYLE_END) spans_style(out, how);
        m->again = false;
    }
    if (m->now == MARKDOWN_CODE) {
        code_add(&m->code, out, at, n);
    } else if (m->now == MARKDOWN_RAW) {
        text_add(out, at, n);
    } else {
        text_add(&m->line, at, n);
        if (m->now == MARKDOWN_TEXT) {
            markdown_spans(m, false, out);
            return;
        }
        kind = m->line.len > 0 ? markdown_look(m, false) : MARKDOWN_BEGIN;
        if (kind != MARKDOWN_BEGIN) (void)markdown_enter(m, kind, out);
    }
}

/* Adds the rows of a piece of the answer, for a window of so many columns. */
static inline void markdown_add(markdown *m, phi_str in, int columns, text *out) {
    text safe = {NULL, 0, 0};
    size_t from = 0, i;
    m->columns = columns;
    text_clean(&safe, &m->cut, in);
    for (i = 0; i <= safe.len; i++) {
        char c = i < safe.len ? safe.at[i] : '\0';
        if (i < safe.len && c != '\n' && c != '\t') continue;
        if (i > from) markdown_piece(m, safe.at + from, i - from, out);
        if (c == '\t') markdown_piece(m, "    ", 4, out);
        if (c == '\n') markdown_line_end(m, "\n", out);
        from = i + 1;
    }
    free(safe.at);
}

/* Something else is shown now, perhaps within a line: what waits there comes before. A table still waits. */
static inline void markdown_pause(markdown *m, text *out) {
    markdown_kind kind;
    if (m->now == MARKDOWN_BEGIN && m->line.len > 0) {
        kind = markdown_look(m, true);
        if (kind < MARKDOWN_BLANK || (kind > MARKDOWN_BLANK && kind < MARKDOWN_RULE))
            (void)markdown_enter(m, kind, out);
    }
    if (m->now == MARKDOWN_TEXT) markdown_spans(m, true, out);
    if (m->now == MARKDOWN_CODE) code_known(&m->code, out, 1);
    if (m->now == MARKDOWN_BEGIN || (m->now != MARKDOWN_CODE && m->base == STYLE_PLAIN)) return;
    spans_style(out, STYLE_PLAIN);
    m->again = true;
}

/* The answer has ended: nothing waits any longer. */
static inline void markdown_end(markdown *m, text *out) {
    const char *cut = m->cut.len == 0 ? "" : m->cut.at[0] == '\r' ? "<U+000D>" : "\xEF\xBF\xBD";
    if (m->cut.len > 0) markdown_piece(m, cut, strlen(cut), out);
    if (m->now != MARKDOWN_BEGIN || m->line.len > 0) markdown_line_end(m, "", out);
    markdown_table_end(m, out);
    m->cut.len = 0;
    m->fence = 0;
    m->list = m->begun = false;
}

static inline void markdown_free(markdown *m) {
    free(m->cut.at);
    free(m->line.at);
    free(m->table.at);
}

#endif
