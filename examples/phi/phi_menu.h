/* phi_menu.h - some rows below the line: what a word may become, or prompts of which one is chosen. Copy what you need of
   it. */
#ifndef PHI_MENU_H
#define PHI_MENU_H

#include "phi_rows.h"

enum { MENU_MOST = 8, MENU_ROWS = MENU_MOST + 1 };

/* Zero to begin with: it has no rows, and is not to be seen. */
typedef struct menu {
    text rows[MENU_ROWS];
    int count;
    bool chooses; /* one of the rows is chosen */
    int chosen;
} menu;

static inline void menu_clear(menu *m) {
    m->count = m->chosen = 0;
    m->chooses = false;
}

/* Adds a row; a longer text is cut. */
static inline void menu_add(menu *m, phi_str words) {
    if (m->count == MENU_ROWS) return;
    m->rows[m->count].len = 0;
    text_fit(&m->rows[m->count++], words, 200);
}

/* The rows, at most `most` of them, the chosen one among them. How many; *mark: which of these is chosen, or -1. */
static inline int menu_rows(const menu *m, int columns, int most, text *rows, int *mark) {
    int n = m->count < most ? m->count : most, from = 0, i;
    *mark = -1;
    if (n <= 0) return 0;
    if (m->chooses && m->chosen >= n) from = m->chosen - n + 1;
    for (i = 0; i < n; i++) {
        bool is = m->chooses && from + i == m->chosen;
        if (is) *mark = i;
        text_say(&rows[i], is ? "* " : "  ");
        text_fit(&rows[i], text_str(&m->rows[from + i]), columns - 2);
    }
    return n;
}

static inline void menu_free(menu *m) {
    int i;
    for (i = 0; i < MENU_ROWS; i++) free(m->rows[i].at);
}

#endif
