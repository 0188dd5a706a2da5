/* game24_words.h - what the model of game24_model.h has heard and says: positions and lists of them, in words. */
#ifndef GAME24_WORDS_H
#define GAME24_WORDS_H

#include "game24.h"

#include <stdarg.h>

enum { G24_LISTED = 40, G24_TRIES = 4 };

typedef struct g24_model {
    uint64_t seed, calls, tokens;
    bool sure;                                            /* it never errs */
    char said[16000], answer[8000], expression[G24_TEXT]; /* expression: for the tool; or empty */
    size_t len;
    g24_state listed[G24_LISTED]; /* thoughts of the prompt */
    int ids[G24_LISTED], count;
} g24_model;

static g24_care g24_as(const g24_model *m, g24_care care) { return m->sure ? G24_SURE : care; }

/* Appends to the answer. */
static void g24_say(g24_model *m, const char *format, ...) {
    va_list args;
    va_start(args, format);
    m->len += (size_t)vsnprintf(m->answer + m->len, sizeof m->answer - m->len, format, args);
    va_end(args);
    if (m->len >= sizeof m->answer) m->len = sizeof m->answer - 1;
}

/* "(10-4) = 6, left: (10-4) 4 4" */
static void g24_say_step(g24_model *m, const g24_state *s) {
    int i;
    g24_say(m, "%s = %.4g", s->at[0].text, s->at[0].value);
    for (i = 0; s->n > 1 && i < s->n; i++)
        g24_say(m, "%s%s", i > 0 ? " " : ", left: ", s->at[i].text);
}

/* The position in a line that was written so. False: there is none. */
static bool g24_hear_step(const char *line, size_t len, g24_state *out) {
    char copy[400], *word;
    if (len >= sizeof copy) return false;
    memcpy(copy, line, len);
    copy[len] = '\0';
    word = strstr(copy, "left: ");
    out->n = 0;
    for (word = strtok(word != NULL ? word + 6 : copy, " ,\""); word != NULL && out->n < 4;
         word = strtok(NULL, " ,\"")) {
        if (g24_word(word, &out->at[out->n])) out->n++;
        if (out->n == 1 && strstr(line, "left: ") == NULL) return true;
    }
    return out->n > 1;
}

/* Thoughts: lines "1. t1: ..." or "[1] ...", but for connections. */
static void g24_hear_list(g24_model *m) {
    const char *at = m->said;
    m->count = 0;
    while (at != NULL && m->count < G24_LISTED) {
        size_t len = strcspn(at, "\n");
        const char *behind = strchr(at, at[0] == '[' ? ']' : ':');
        bool item = at[0] == '[' || (at[0] >= '1' && at[0] <= '9');
        if (item && behind != NULL && behind < at + len && strncmp(behind, "] ->", 4) != 0 &&
            g24_hear_step(behind + 1, len - (size_t)(behind + 1 - at), &m->listed[m->count]))
            m->ids[m->count++] = atoi(at + (at[0] == '['));
        at = at[len] == '\n' ? at + len + 1 : NULL;
    }
}

#endif
