/* mutate.h - a JSON text made another one: cut, with values swapped, copied, doubled, made odd, members renamed. */
#ifndef PHI_TESTS_SOAK_MUTATE_H
#define PHI_TESTS_SOAK_MUTATE_H

#include "support/test.h"

enum { MUTATE_SPANS = 16384, MUTATE_DEPTH = 64 };

typedef struct mutate_span {
    size_t from, to; /* of the text */
    char kind;       /* '"', '{', '[' or '0': a number or a word */
    bool key, in_array;
} mutate_span;

typedef struct mutate_text {
    mutate_span spans[MUTATE_SPANS];
    size_t count;
} mutate_text;

static size_t mutate_string_end(const char *text, size_t i) {
    for (i++; text[i] != '\0' && text[i] != '"'; i++)
        if (text[i] == '\\' && text[i + 1] != '\0') i++;
    return text[i] == '"' ? i + 1 : i;
}

/* Every value of it, and every key; of a text that is none as far as it goes. */
static void mutate_scan(mutate_text *m, const char *text) {
    size_t open[MUTATE_DEPTH], depth = 0, i = 0;
    m->count = 0;
    while (text[i] != '\0' && m->count < MUTATE_SPANS) {
        mutate_span *s = &m->spans[m->count];
        if (text[i] == '}' || text[i] == ']') {
            i++;
            if (depth > 0 && --depth < MUTATE_DEPTH) m->spans[open[depth]].to = i;
            continue;
        }
        if (text[i] == ',' || text[i] == ':' || text[i] == ' ' || text[i] == '\n') {
            i++;
            continue;
        }
        s->from = i;
        s->key = false;
        s->in_array = depth > 0 && depth <= MUTATE_DEPTH && m->spans[open[depth - 1]].kind == '[';
        if (text[i] == '"') {
            s->kind = '"';
            i = mutate_string_end(text, i);
            s->key = text[i] == ':';
        } else if (text[i] == '{' || text[i] == '[') {
            s->kind = text[i++];
            if (depth < MUTATE_DEPTH) open[depth] = m->count;
            depth++;
        } else {
            s->kind = '0';
            while (text[i] != '\0' && strchr(",:}] \n", text[i]) == NULL) i++;
        }
        s->to = i;
        m->count++;
    }
}

/* text with [from, to) made `with`; frees text. */
static char *mutate_put(char *text, size_t from, size_t to, const char *with, size_t len) {
    size_t n = strlen(text);
    char *out = (char *)malloc(n - (to - from) + len + 1);
    if (out == NULL) abort();
    memcpy(out, text, from);
    memcpy(out + from, with, len);
    memcpy(out + from + len, text + to, n - to + 1);
    free(text);
    return out;
}

static char *mutate_copy(const char *from, size_t len) {
    char *out = (char *)malloc(len + 1);
    if (out == NULL) abort();
    memcpy(out, from, len);
    out[len] = '\0';
    return out;
}

static char *mutate_odd(char *text, const mutate_span *s, uint32_t *state) {
    static const char *const odd[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "3",
                                      "255",
                                      "4294967295",
                                      "4294967296",
                                      "18446744073709551615",
                                      "9223372036854775807",
                                      "1e308",
                                      "-1e308",
                                      "0.5",
                                      "null",
                                      "true",
                                      "false",
                                      "\"\"",
                                      "[]",
                                      "{}",
                                      "\"c1\"",
                                      "\"tools\"",
                                      "\"\\u0000\"",
                                      "\"\\ud800\"",
                                      "[[[[]]]]"};
    const char *with = odd[test_random(state) % (sizeof odd / sizeof odd[0])];
    return mutate_put(text, s->from, s->to, with, strlen(with));
}

/* Two spans apart from each other change places; else the later one is made the earlier one. */
static char *mutate_swap(char *text, const mutate_span *a, const mutate_span *b) {
    const mutate_span *low = a->from <= b->from ? a : b, *high = low == a ? b : a;
    char *first = mutate_copy(text + low->from, low->to - low->from);
    char *second = mutate_copy(text + high->from, high->to - high->from);
    bool apart = low->to <= high->from;
    if (apart) {
        text = mutate_put(text, high->from, high->to, first, strlen(first));
        text = mutate_put(text, low->from, low->to, second, strlen(second));
    } else if (strlen(first) < 20000)
        text = mutate_put(text, high->from, high->to, first, strlen(first));
    free(first);
    free(second);
    return text;
}

static char *mutate_double(char *text, const mutate_span *s) {
    char *copy = mutate_copy(text + s->from, s->to - s->from);
    text = mutate_put(text, s->to, s->to, ",", 1);
    text = mutate_put(text, s->to + 1, s->to + 1, copy, strlen(copy));
    free(copy);
    return text;
}

/* One of the spans, mostly one in front of `before` (0: anywhere). */
static const mutate_span *mutate_pick(const mutate_text *m, uint32_t *state, size_t before) {
    size_t n = m->count, i;
    if (before > 0 && test_random(state) % 4 != 0)
        for (i = 0; i < m->count; i++)
            if (m->spans[i].from >= before) {
                n = i;
                break;
            }
    return &m->spans[test_random(state) % (n > 0 ? n : 1)];
}

/* Frees text. */
static char *mutate(char *text, uint32_t *state) {
    static mutate_text m;
    const char *thread = strstr(text, "\"thread\":[");
    size_t before = thread != NULL ? (size_t)(thread - text) : 0, len = strlen(text);
    const mutate_span *a, *b;
    mutate_scan(&m, text);
    if (m.count == 0 || len == 0) return text;
    a = mutate_pick(&m, state, before);
    b = mutate_pick(&m, state, before);
    switch (test_random(state) % 10) {
    case 0: text[test_random(state) % len] = "0129{}[]\",:x"[test_random(state) % 12]; return text;
    case 1:
        if (test_random(state) % 4 == 0) text[test_random(state) % len] = '\0';
        return text;
    case 2:
    case 3: return mutate_swap(text, a, b);
    case 4:
        if (a->in_array && a->to - a->from < 20000) return mutate_double(text, a);
        return mutate_odd(text, a, state);
    case 5:
    case 6:
        if (a->kind == '"' && a->to - a->from > 2) { /* another id, another key */
            text[a->from + 1 + test_random(state) % (a->to - a->from - 2)] = 'z';
            return text;
        }
        return mutate_odd(text, a, state);
    default: return a->key ? mutate_swap(text, a, b) : mutate_odd(text, a, state);
    }
}

#endif
