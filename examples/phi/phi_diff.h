/* phi_diff.h - which lines of a text go, and which come. Copy what you need of it. */
#ifndef PHI_DIFF_H
#define PHI_DIFF_H

#include "phi_text.h"

enum { DIFF_LINES = 100000, DIFF_CELLS = 4 << 20, DIFF_AROUND = 3 };

/* The lines of a text, each with its line break. */
typedef struct diff_lines {
    phi_str *at;
    size_t count;
} diff_lines;

/* False: there are too many, or there is no memory. */
static inline bool diff_split(diff_lines *lines, phi_str words) {
    size_t i, from = 0, n = 1;
    for (i = 0; i < words.len; i++) n += words.at[i] == '\n';
    lines->count = 0;
    lines->at = n <= DIFF_LINES ? (phi_str *)malloc(n * sizeof *lines->at) : NULL;
    for (i = 0; i < words.len && lines->at != NULL; i++)
        if (words.at[i] == '\n' || i + 1 == words.len) {
            lines->at[lines->count].at = words.at + from;
            lines->at[lines->count++].len = i + 1 - from;
            from = i + 1;
        }
    return lines->at != NULL;
}

/* Adds a character for each line that stays (' '), goes ('-') or comes ('+'): of the lines between the equal ones at both
   ends. Beyond DIFF_CELLS, or without memory, all of those go and come. */
static inline void diff_middle(text *out, const phi_str *old, size_t n, const phi_str *new_lines,
                               size_t m) {
    size_t wide = m + 1, i, j;
    uint16_t *same = NULL;
    if (n > 0 && m > 0 && n < 65535 && m < 65535 && (n + 1) * wide <= DIFF_CELLS)
        same = (uint16_t *)calloc((n + 1) * wide, sizeof *same);
    for (i = n; same != NULL && i-- > 0;)
        for (j = m; j-- > 0;) {
            uint16_t down = same[(i + 1) * wide + j], right = same[i * wide + j + 1];
            same[i * wide + j] = phi_str_equal(old[i], new_lines[j])
                                     ? (uint16_t)(same[(i + 1) * wide + j + 1] + 1)
                                     : (down > right ? down : right);
        }
    for (i = j = 0; i < n || j < m;) {
        if (same != NULL && i < n && j < m && phi_str_equal(old[i], new_lines[j])) {
            text_say(out, " ");
            i++, j++;
        } else if (i < n &&
                   (same == NULL || j == m || same[(i + 1) * wide + j] >= same[i * wide + j + 1])) {
            text_say(out, "-");
            i++;
        } else {
            text_say(out, "+");
            j++;
        }
    }
    free(same);
}

/* A line near a change is shown. */
static inline bool diff_near(const text *marks, size_t at) {
    size_t from = at > DIFF_AROUND ? at - DIFF_AROUND : 0, i;
    for (i = from; i <= at + DIFF_AROUND && i < marks->len; i++)
        if (marks->at[i] != ' ') return true;
    return false;
}

static inline void diff_line(text *out, size_t number, char mark, phi_str line) {
    bool broken = line.len > 0 && line.at[line.len - 1] == '\n';
    if (broken) line.len--;
    text_print(out, "\n%4u %c ", (unsigned)number, mark);
    text_strict(out, line);
    if (!broken && mark != ' ') text_say(out, " (no line break)");
}

/* Adds the lines that go and come, after their numbers and marks, with some around them. False, and nothing is added: a
   text has too many lines. */
static inline bool diff_add(text *out, phi_str before, phi_str after) {
    diff_lines old = {NULL, 0}, now = {NULL, 0};
    bool good = diff_split(&old, before) && diff_split(&now, after), skipped = false, shown = false;
    size_t least = old.count < now.count ? old.count : now.count, begin = 0, end = 0, i, a, b;
    text marks = {NULL, 0, 0};
    while (good && begin < least && phi_str_equal(old.at[begin], now.at[begin])) begin++;
    while (good && begin + end < least &&
           phi_str_equal(old.at[old.count - 1 - end], now.at[now.count - 1 - end]))
        end++;
    for (i = 0; good && i < begin; i++) text_say(&marks, " ");
    if (good)
        diff_middle(&marks, old.at + begin, old.count - begin - end, now.at + begin,
                    now.count - begin - end);
    for (i = 0; good && i < end; i++) text_say(&marks, " ");
    for (i = a = b = 0; good && i < marks.len; i++) {
        char mark = marks.at[i];
        bool shows = diff_near(&marks, i);
        if (shows && skipped && shown) text_say(out, "\n     ...");
        skipped = !shows;
        shown = shown || shows;
        if (shows && mark == '-')
            diff_line(out, a + 1, mark, old.at[a]);
        else if (shows)
            diff_line(out, b + 1, mark, now.at[b]);
        a += mark != '+';
        b += mark != '-';
    }
    free(marks.at);
    free(old.at);
    free(now.at);
    return good;
}

#endif
