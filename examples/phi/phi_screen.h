/* phi_screen.h - a transcript that scrolls, and below it some lines that stay: a status, a prompt. Copy what you need
   of it.

   The transcript is written once and is the terminal's from then on, to scroll back and to copy. Only its last row,
   which still grows, and the lines below are drawn again, each frame in one write: nothing flickers. The text is kept,
   too, and wrapped anew when the window changes its size. On a terminal that knows no sequences (plain) only the
   transcript is written. */
#ifndef PHI_SCREEN_H
#define PHI_SCREEN_H

#include "phi_keys.h"
#include "phi_rows.h"

enum { SCREEN_KEPT = 1 << 20, SCREEN_ROWS = 512 };

typedef struct screen {
    bool plain, colors, styles; /* styles: a plain one that knows those */
    int gone; /* the errno that ended the output: EPIPE: nobody reads any more, EINTR: a signal */
    int columns, rows; /* the terminal's last column stays free: they differ in what is behind it */
    text kept;         /* the transcript: styles, line breaks, and text that is safe to show */
    size_t growing;    /* where its last row begins; all before is the terminal's */
    size_t mark;       /* a place in it for screen_amend */
    style now, at_growing;
    text held, frame, last;
    int above; /* rows from the growing one to the cursor's */
} screen;

/* How many rows there are. */
static inline int screen_measure(screen *s) {
    int columns, rows;
    keys_size(&columns, &rows);
    s->columns = columns == 0 ? 79 : columns < 9 ? 8 : columns - 1;
    s->rows = rows == 0 ? 24 : rows;
    return s->rows;
}

static inline void screen_open(screen *s, bool plain) {
    const char *none = getenv("NO_COLOR");
    s->plain = plain;
    s->colors = none == NULL || none[0] == '\0';
    s->styles = plain && typed_is_terminal(1) && keys_styles();
    s->now = s->at_growing = STYLE_PLAIN;
    (void)screen_measure(s);
}

/* A signal that ends the program ends a write that waits, too: the reader may never read on. */
static inline void screen_write(screen *s, const char *at, size_t n) {
    while (n > 0 && s->gone == 0) {
        ptrdiff_t done = keys_write(at, n);
        if (done >= 0)
            at += done, n -= (size_t)done;
        else if (errno != EAGAIN && errno != EINTR)
            s->gone = s->plain ? errno : EPIPE; /* a terminal that is gone: EIO */
        else if (!keys_signal)
            keys_wait_write(100);
        if (s->gone != 0 && s->gone != EPIPE) perror("phi: standard output");
        if (s->gone == 0 && n > 0 && keys_signal) s->gone = EINTR;
    }
}

/* Sees a pipe that nobody reads any more, while there is nothing to write yet. */
static inline void screen_look(screen *s) {
    if (s->gone == 0 && keys_unread()) s->gone = EPIPE;
}

/* Forgets the older half of what is kept. */
static inline void screen_forget(screen *s) {
    size_t n = s->growing / 2;
    while (n < s->growing && s->kept.at[n] != '\n') n++;
    if (n == s->growing) return;
    text_remove(&s->kept, 0, n + 1);
    s->growing -= n + 1;
    s->mark = s->mark > n ? s->mark - n - 1 : 0;
}

/* Adds to the transcript. What is left of a character that is cut off comes first next time. */
static inline void screen_put(screen *s, style how, phi_str what) {
    text clean = {NULL, 0, 0};
    size_t i;
    char mark[2] = {'\n', (char)how};
    text_clean(&clean, &s->held, what);
    if (s->plain) screen_write(s, clean.at, clean.len);
    if (how != s->now && clean.len > 0) text_add(&s->kept, mark + 1, 1);
    if (clean.len > 0) s->now = how;
    for (i = 0; i < clean.len; i++)
        if (clean.at[i] == '\n')
            text_add(&s->kept, mark, 2); /* each line says its style */
        else if (clean.at[i] == '\t')
            text_say(&s->kept, "    ");
        else
            text_add(&s->kept, clean.at + i, 1);
    if (s->plain) s->growing = s->kept.len;
    if (s->kept.len > SCREEN_KEPT) screen_forget(s);
    free(clean.at);
}

static inline void screen_say(screen *s, style how, const char *words) {
    screen_put(s, how, phi_str_of(words));
}

/* The transcript has begun a line. */
static inline bool screen_within(const screen *s) {
    size_t n = s->kept.len;
    while (n > 0 && rows_is_style((unsigned char)s->kept.at[n - 1])) n--;
    return n > 0 && s->kept.at[n - 1] != '\n';
}

/* Ends the transcript's line, where it has begun one. */
static inline void screen_fresh(screen *s) {
    if (screen_within(s)) screen_say(s, STYLE_PLAIN, "\n");
}

static inline int screen_indent(const screen *s, size_t from) {
    return rows_indent(&s->kept, s->columns, s->colors, from);
}

static inline bool screen_row(const screen *s, size_t from, size_t *end, size_t *next) {
    return rows_next(&s->kept, s->columns - screen_indent(s, from), from, end, next);
}

/* Writes `what` at the mark, though the terminal has that row: it is drawn again. False: it has scrolled away, and
   nothing is done. below: the lines below the transcript. */
static inline bool screen_amend(screen *s, const char *what, int below) {
    size_t row = s->mark, end, next, at;
    int up = 0;
    while (row > 0 && s->kept.at[row - 1] != '\n') row--;
    for (at = row; at < s->growing && screen_row(s, at, &end, &next); at = next) up++;
    if (s->plain || s->mark == 0 || up + below >= s->rows) return false;
    if (!text_insert(&s->kept, s->mark, what, strlen(what))) return false;
    s->growing = row;
    s->at_growing = STYLE_PLAIN;
    s->above += up;
    return true;
}

/* The window has another size, or shows something else: all of it is drawn again, with the newest rows that fit. Another
   program may have left the terminal with margins that would hide some of them, or with other letters. */
static inline void screen_redraw(screen *s, int below) {
    static const char home[] = "\033[r\033[?6l\033[?69l\033[4l\033%G\033(B\017\033[H";
    size_t starts[SCREEN_ROWS], from, at, end, next, count = 0, most;
    style styles[SCREEN_ROWS], how = STYLE_PLAIN;
    most = (size_t)s->rows * (size_t)s->columns * 4;
    from = s->kept.len > most ? s->kept.len - most : 0;
    while (from > 0 && from < s->kept.len && s->kept.at[from - 1] != '\n') from++;
    for (at = from; screen_row(s, at, &end, &next); at = next, count++) {
        starts[count % SCREEN_ROWS] = at;
        styles[count % SCREEN_ROWS] = how;
        how = rows_write(NULL, false, &s->kept, at, next, how);
    }
    most = s->rows > below + 1 ? (size_t)(s->rows - below - 1) : 0;
    if (most > count || most >= SCREEN_ROWS) most = count < SCREEN_ROWS ? count : SCREEN_ROWS - 1;
    s->growing = most > 0 ? starts[(count - most) % SCREEN_ROWS] : at;
    s->at_growing = most > 0 ? styles[(count - most) % SCREEN_ROWS] : how;
    s->above = 0;
    s->last.len = 0;
    if (!s->plain) screen_write(s, home, sizeof home - 1);
}

/* Draws what came, and the lines below, with the cursor in one of them. */
static inline void screen_draw(screen *s, const text *lines, int count, int row, int column) {
    size_t end, next;
    bool more = true, same = true;
    int i;
    if (s->plain) return;
    s->frame.len = 0;
    text_say(&s->frame, "\033[?2026h\033[?25l\r");
    if (s->above > 0) text_print(&s->frame, "\033[%dA", s->above);
    while (more) {
        more = screen_row(s, s->growing, &end, &next);
        text_print(&s->frame, "\033[K%*s", screen_indent(s, s->growing), "");
        (void)rows_write(&s->frame, s->colors, &s->kept, s->growing, end, s->at_growing);
        if (!more) break;
        s->at_growing = rows_write(NULL, false, &s->kept, s->growing, next, s->at_growing);
        s->growing = next;
        same = false;
        text_say(&s->frame, "\r\n");
    }
    for (i = 0; i < count; i++) {
        text_say(&s->frame, "\r\n\033[K");
        text_add(&s->frame, lines[i].at, lines[i].len);
    }
    text_say(&s->frame, "\033[J\r");
    if (count - 1 > row) text_print(&s->frame, "\033[%dA", count - 1 - row);
    if (column > 0) text_print(&s->frame, "\033[%dC", column);
    text_say(&s->frame, "\033[?25h\033[?2026l");
    s->above = count > 0 ? 1 + row : 0;
    if (!same || !phi_str_equal(text_str(&s->frame), text_str(&s->last)))
        screen_write(s, s->frame.at, s->frame.len);
    s->last.len = 0;
    if (same) text_add(&s->last, s->frame.at, s->frame.len);
}

static inline void screen_free(screen *s) {
    free(s->kept.at);
    free(s->held.at);
    free(s->frame.at);
    free(s->last.at);
}

#endif
