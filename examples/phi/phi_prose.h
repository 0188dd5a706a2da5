/* phi_prose.h - an answer in the transcript: as it comes, or with the styles of its Markdown. Copy what you need of it. */
#ifndef PHI_PROSE_H
#define PHI_PROSE_H

#include "phi_markdown.h"
#include "phi_screen.h"

/* An answer begins a line after what the model thought. */
static inline void screen_answer(screen *s, phi_str what) {
    if (s->now == STYLE_THOUGHT && what.len > 0) screen_fresh(s);
    screen_put(s, STYLE_PLAIN, what);
}

/* Adds rows that are safe to show, with their styles (phi_rows.h). */
static inline void screen_answer_styled(screen *s, const text *rows) {
    text out = {NULL, 0, 0};
    char mark[2] = {'\n', STYLE_PLAIN};
    size_t i;
    if (rows->len == 0) return;
    if (s->now == STYLE_THOUGHT) screen_fresh(s);
    if (s->now != STYLE_PLAIN && s->now < STYLE_STRONG) text_add(&s->kept, mark + 1, 1);
    if (s->now < STYLE_STRONG) s->now = STYLE_PLAIN;
    for (i = 0; i < rows->len; i++) {
        unsigned char c = (unsigned char)rows->at[i];
        if (rows_is_style(c) && c < STYLES) s->now = rows_style(&out, s->colors, (style)c);
        if (!rows_is_style(c)) text_add(&out, rows->at + i, 1);
        mark[1] = (char)s->now;
        text_add(&s->kept, c == '\n' ? mark : rows->at + i, c == '\n' ? 2 : 1);
    }
    if (s->plain) screen_write(s, out.at, out.len);
    if (s->plain) s->growing = s->kept.len;
    if (s->kept.len > SCREEN_KEPT) screen_forget(s);
    free(out.at);
}

/* A piece of an answer. */
static inline void prose_add(screen *s, markdown *m, phi_str what) {
    text rows = {NULL, 0, 0};
    if (s->plain && !s->styles) {
        screen_answer(s, what);
        return;
    }
    if (!m->begun) m->within = s->now != STYLE_THOUGHT && screen_within(s);
    markdown_add(m, what, s->columns, &rows);
    screen_answer_styled(s, &rows);
    free(rows.at);
}

/* Something else is shown now; with `ends`: the answer has ended. */
static inline void prose_break(screen *s, markdown *m, bool ends) {
    text rows = {NULL, 0, 0};
    if (ends)
        markdown_end(m, &rows);
    else
        markdown_pause(m, &rows);
    screen_answer_styled(s, &rows);
    free(rows.at);
}

/* These end an answer, or its part between thoughts; a run that was stopped has only the last one. */
static inline void prose_event(screen *s, markdown *m, phi_event_kind kind) {
    if (kind == PHI_EV_MESSAGE_END || kind == PHI_EV_THINKING || kind == PHI_EV_RETRACT ||
        kind == PHI_EV_AGENT_END)
        prose_break(s, m, true);
}

#endif
