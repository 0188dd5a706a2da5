/* game24.h - the game of 24: four numbers and + - * / are to make 24. Its positions, an exact solver, and a player who
   sees a position as the solver does, but errs by chance. The model of strategies.c plays with it. */
#ifndef GAME24_H
#define GAME24_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { G24_TEXT = 48, G24_OPTIONS = 36 };

/* A number, and how it was made: "(10-4)"; no spaces. */
typedef struct g24_item {
    double value;
    char text[G24_TEXT];
} g24_item;

typedef struct g24_state {
    g24_item at[4];
    int n; /* 4 to begin with; 1 at the end */
} g24_state;

/* What a player does at a glance, what it does when a position is all that it looks at, and a player that never errs. */
typedef enum g24_care { G24_GLANCE, G24_WRITTEN, G24_REVIEW, G24_SURE } g24_care;

/* ---- chance ---- */

static uint64_t g24_random(uint64_t *seed) {
    uint64_t z = (*seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double g24_chance(uint64_t *seed) {
    return (double)(g24_random(seed) >> 11) / 9007199254740992.0;
}

/* ---- positions ---- */

/* Options 0 to 5 of each pair: a+b a*b a-b b-a a/b b/a. False: there is no such option. */
static bool g24_apply(const g24_state *from, int i, int j, int option, g24_state *out) {
    static const char signs[] = "+*--//";
    bool turned = option == 3 || option == 5;
    const g24_item *a = &from->at[turned ? j : i], *b = &from->at[turned ? i : j];
    g24_item *made = &out->at[0];
    char text[2 * G24_TEXT + 4];
    int k;
    if (signs[option] == '/' && fabs(b->value) < 1e-9) return false;
    made->value = signs[option] == '+'   ? a->value + b->value
                  : signs[option] == '*' ? a->value * b->value
                  : signs[option] == '-' ? a->value - b->value
                                         : a->value / b->value;
    (void)snprintf(text, sizeof text, "(%s%c%s)", a->text, signs[option], b->text);
    memcpy(made->text, text, G24_TEXT);
    made->text[G24_TEXT - 1] = '\0';
    out->n = 1;
    for (k = 0; k < from->n; k++)
        if (k != i && k != j) out->at[out->n++] = from->at[k];
    return true;
}

static int g24_options(const g24_state *from, g24_state *out) {
    int i, j, option, n = 0;
    for (i = 0; i < from->n; i++)
        for (j = i + 1; j < from->n; j++)
            for (option = 0; option < 6; option++) n += g24_apply(from, i, j, option, &out[n]);
    return n;
}

/* The truth: 24 can be made of it. */
static bool g24_reaches(const g24_state *s) {
    int i, j, option;
    g24_state next;
    if (s->n == 1) return fabs(s->at[0].value - 24) < 1e-6;
    for (i = 0; i < s->n; i++)
        for (j = i + 1; j < s->n; j++)
            for (option = 0; option < 6; option++)
                if (g24_apply(s, i, j, option, &next) && g24_reaches(&next)) return true;
    return false;
}

static void g24_begin(g24_state *s, const int numbers[4]) {
    int i;
    s->n = 4;
    for (i = 0; i < 4; i++) {
        s->at[i].value = numbers[i];
        (void)snprintf(s->at[i].text, G24_TEXT, "%d", numbers[i]);
    }
}

/* A puzzle that has a solution. */
static void g24_deal(uint64_t *seed, int numbers[4]) {
    g24_state s;
    int i;
    do {
        for (i = 0; i < 4; i++) numbers[i] = 1 + (int)(g24_random(seed) % 13);
        g24_begin(&s, numbers);
    } while (!g24_reaches(&s));
}

/* ---- expressions: numbers, and "(a+b)" ---- */

/* False: it is none. Its numbers are added to `used`. */
static bool g24_read(const char **at, double *value, int used[4], int *count) {
    double right;
    char sign, *end;
    if (**at != '(') {
        if (**at < '0' || **at > '9') return false;
        *value = (double)strtol(*at, &end, 10);
        if (*count == 4) return false;
        used[(*count)++] = (int)*value;
        *at = end;
        return true;
    }
    ++*at;
    if (!g24_read(at, value, used, count)) return false;
    sign = **at;
    if (sign == '\0' || strchr("+-*/", sign) == NULL) return false;
    ++*at;
    if (!g24_read(at, &right, used, count) || **at != ')') return false;
    ++*at;
    *value = sign == '+'   ? *value + right
             : sign == '-' ? *value - right
             : sign == '*' ? *value * right
                           : *value / right;
    return true;
}

/* A word as a position's number. */
static bool g24_word(const char *word, g24_item *out) {
    int used[4], count = 0;
    const char *at = word;
    if (strlen(word) >= G24_TEXT || !g24_read(&at, &out->value, used, &count) || *at != '\0')
        return false;
    memcpy(out->text, word, strlen(word) + 1);
    return true;
}

/* The text holds an expression of these four numbers; *value is that of the last one. */
static bool g24_answer(const char *text, const int numbers[4], double *value) {
    char word[G24_TEXT];
    bool found = false;
    while (*text != '\0') {
        size_t len = strcspn(text, " \n\t=");
        const char *at = word;
        int used[4], count = 0, i, j, left[4];
        double result;
        memcpy(left, numbers, sizeof left);
        if (len > 0 && len < sizeof word) {
            memcpy(word, text, len);
            word[len] = '\0';
            if (g24_read(&at, &result, used, &count) && *at == '\0' && count == 4) {
                for (i = 0; i < 4; i++)
                    for (j = 0; j < 4; j++)
                        if (left[j] == used[i]) {
                            left[j] = 0;
                            break;
                        }
                if (left[0] + left[1] + left[2] + left[3] == 0) {
                    found = true;
                    *value = result;
                }
            }
        }
        text += len;
        text += strspn(text, " \n\t=");
    }
    return found;
}

/* ---- the player ---- */

/* Whether 24 can be made of it, as it seems. The fewer numbers are left, the surer. */
static bool g24_seems(const g24_state *s, g24_care care, uint64_t *seed) {
    static const double errs[4][3] = {
        {0.10, 0.22, 0.30}, {0.03, 0.16, 0.25}, {0.01, 0.08, 0.15}, {0.0, 0.0, 0.0}};
    return g24_reaches(s) != (g24_chance(seed) < errs[care][s->n - 1]);
}

/* The next step that seems right; any, where none does. */
static g24_state g24_step(const g24_state *from, g24_care care, uint64_t *seed) {
    g24_state options[G24_OPTIONS];
    int n = g24_options(from, options), at = (int)(g24_random(seed) % (uint64_t)n), i;
    for (i = 0; i < n; i++)
        if (g24_seems(&options[(at + i) % n], care, seed)) return options[(at + i) % n];
    return options[at];
}

static g24_state g24_finish(const g24_state *from, g24_care care, uint64_t *seed) {
    g24_state s = *from;
    while (s.n > 1) s = g24_step(&s, care, seed);
    return s;
}

#endif
