/* phi_below.h - lines below the transcript: how they look, what the keys do, and the rows of the menu. */
#ifndef PHI_BELOW_H
#define PHI_BELOW_H

#include "phi_app.h"

enum { BELOW = LIVE_ROWS + 1 + TODO_ROWS };

static inline void add_line(app *a, text *line, style how, const text *words) {
    rows_style(line, a->screen.colors, how);
    text_fit(line, text_str(words), a->screen.columns);
    rows_style(line, a->screen.colors, STYLE_PLAIN);
}

/* How many rows. */
static inline int draw_menu(app *a, text *lines, int most) {
    text rows[MENU_ROWS] = PHI_ZERO;
    int mark, n = menu_rows(&a->typing.menu, a->screen.columns, most, rows, &mark), i;
    for (i = 0; i < n; i++) {
        add_line(a, &lines[i], i == mark ? STYLE_BOLD : STYLE_DIM, &rows[i]);
        free(rows[i].at);
    }
    return n;
}

/* The question, or what runs now. How many rows. */
static inline int draw_above(app *a, text *lines, int most) {
    text rows = {NULL, 0, 0}, row = {NULL, 0, 0}, below[BELOW];
    style how = STYLE_DIM;
    int n, i;
    most = most < 1 ? 1 : most > QUESTION_ROWS ? QUESTION_ROWS : most;
    memset(below, 0, sizeof below);
    n = a->q.asking ? question_rows(&a->q, a->screen.columns, most, &rows)
                    : live_rows(&a->live, a->screen.columns, most / 2, below);
    if (!a->q.asking && phi_agent_get_info(a->agent).running)
        n += todo_rows(&a->todo, a->screen.columns, most - n - 1, below + n);
    for (i = 0; i < n; i++) {
        size_t from = marked_row(&rows, i), to = marked_row(&rows, i + 1);
        row.len = 0;
        if (a->q.asking) text_add(&row, rows.at + from, to - from - (i + 1 < n ? 1 : 0));
        if (a->q.asking) how = question_style(&a->q, text_str(&row), how);
        add_line(a, &lines[i], how, a->q.asking ? &row : &below[i]);
    }
    for (i = 0; i < BELOW; i++) free(below[i].at);
    free(rows.at);
    free(row.at);
    return n;
}

/* What the status says in place of what the agent does; NULL: that. */
static inline const char *draw_doing(const app *a) {
    return a->q.asking                    ? "Waiting for you"
           : a->sums > 0                  ? "Compacting"
           : shell_runs(&a->typing.shell) ? "The shell runs a line"
                                          : NULL;
}

static inline void draw_keys(const app *a, text *out) {
    if (a->q.asking)
        question_keys(out, &a->q);
    else if (a->typing.menu.chooses)
        text_say(out, "Up, Down | Enter: a new lane before that prompt | Esc: back");
    else if (shell_runs(&a->typing.shell))
        text_say(out, "Ctrl+U: clear | Esc: stop");
    else
        status_keys(out, a->agent, a->live.strategy.len > 0);
}

#endif
