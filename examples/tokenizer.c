/* tokenizer.c - a real tokenizer as the agent's counter: byte-pair encoding, with the ranks of a file.

   The file has a token a line, in base64, and its rank: the form in which OpenAI's and others' vocabularies are
   published (.tiktoken). Text is cut into words first, roughly as those vocabularies want it. Without a file a handful of
   English tokens stands in for one.
   usage: tokenizer [FILE] */
#define PHI_IMPLEMENTATION
#include "phi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 256, LINE = 1024 };

typedef struct token {
    char *bytes;
    size_t len;
    unsigned long rank;
} token;

typedef struct vocabulary {
    token *at; /* sorted by bytes */
    size_t count, cap;
} vocabulary;

static int compare(const void *a, const void *b) {
    const token *x = (const token *)a, *y = (const token *)b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->bytes, y->bytes, n);
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static void add(vocabulary *v, const char *bytes, size_t len, unsigned long rank) {
    token *t;
    if (v->count == v->cap) {
        v->cap = v->cap == 0 ? 64 : v->cap * 2;
        v->at = (token *)realloc(v->at, v->cap * sizeof *v->at);
        if (v->at == NULL) abort();
    }
    t = &v->at[v->count++];
    t->bytes = (char *)malloc(len + 1);
    if (t->bytes == NULL) abort();
    memcpy(t->bytes, bytes, len);
    t->len = len;
    t->rank = rank;
}

/* Base64, without a check: the files are made by programs. */
static size_t decode(const char *text, size_t len, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned bits = 0, held = 0;
    size_t n = 0, i;
    for (i = 0; i < len; i++) {
        const char *digit = strchr(digits, text[i]);
        if (digit == NULL || *digit == '\0') break;
        bits = bits << 6 | (unsigned)(digit - digits);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out[n++] = (char)(bits >> held & 255);
    }
    return n;
}

static bool load(vocabulary *v, const char *path) {
    FILE *file = fopen(path, "rb");
    char line[LINE], bytes[LINE];
    if (file == NULL) return false;
    while (fgets(line, sizeof line, file) != NULL) {
        size_t len = strcspn(line, " \r\n");
        if (len > 0) add(v, bytes, decode(line, len, bytes), strtoul(line + len, NULL, 10));
    }
    (void)fclose(file);
    return v->count > 0;
}

static void stand_in(vocabulary *v) {
    static const char *const some[] = {"th", "he",  "the",  " the", "in", "er",  "re",   "at",
                                       "on", "ou",  " a",   " s",   " w", "ing", "and",  " and",
                                       "ga", "gat", "gate", "ke",   "ee", "eep", "eeper"};
    size_t i;
    for (i = 0; i < 256; i++) {
        char byte = (char)i;
        add(v, &byte, 1, (unsigned long)i);
    }
    for (i = 0; i < sizeof some / sizeof *some; i++)
        add(v, some[i], strlen(some[i]), 256 + (unsigned long)i);
}

/* The rank of these bytes as one token; ULONG_MAX: they are none. */
static unsigned long rank_of(const vocabulary *v, const char *bytes, size_t len) {
    token key, *found;
    key.bytes = (char *)(uintptr_t)bytes;
    key.len = len;
    key.rank = 0;
    found = (token *)bsearch(&key, v->at, v->count, sizeof *v->at, compare);
    return found != NULL ? found->rank : (unsigned long)-1;
}

/* Joins the two neighbours that make the token of the lowest rank, until none do. */
static size_t count_word(const vocabulary *v, const char *word, size_t len) {
    size_t ends[WORD], n = len, i;
    for (i = 0; i < len; i++) ends[i] = i + 1;
    while (n > 1) {
        unsigned long best = (unsigned long)-1, rank;
        size_t at = 0;
        for (i = 0; i + 1 < n; i++) {
            size_t from = i > 0 ? ends[i - 1] : 0;
            rank = rank_of(v, word + from, ends[i + 1] - from);
            if (rank >= best) continue;
            best = rank;
            at = i;
        }
        if (best == (unsigned long)-1) break;
        memmove(&ends[at], &ends[at + 1], (n - at - 1) * sizeof *ends);
        n--;
    }
    return n;
}

/* Letters with a blank before them, digits, and everything else, each in a word; no word is longer than WORD, so that a
   count is linear in the text. */
static int kind_of(char c) {
    if (c >= '0' && c <= '9') return 1;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80) != 0 ? 2
                                                                                              : 3;
}

/* The same text always has the same count, and it calls no function of phi's. */
static size_t count_text(void *user_data, phi_str text) {
    const vocabulary *v = (const vocabulary *)user_data;
    size_t from = 0, to, all = 0;
    for (; from < text.len; from = to) {
        int kind;
        to = from + 1;
        kind =
            text.at[from] == ' ' && to < text.len ? kind_of(text.at[to++]) : kind_of(text.at[from]);
        while (to < text.len && to - from < WORD && kind_of(text.at[to]) == kind &&
               text.at[to] != ' ')
            to++;
        all += count_word(v, text.at + from, to - from);
    }
    return all;
}

int main(int argc, char **argv) {
    static const char *const texts[] = {"The gatekeeper and the gate.",
                                        "int main(void) { return 0; }", "1234567890"};
    vocabulary v = PHI_ZERO;
    phi_token_counter counter = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_runtime *rt;
    size_t i;
    if (argc > 1 ? !load(&v, argv[1]) : (stand_in(&v), false)) {
        (void)fprintf(stderr, "%s: no vocabulary\n", argv[1]);
        return 1;
    }
    qsort(v.at, v.count, sizeof *v.at, compare);
    counter.count_text = count_text;
    counter.user_data = &v; /* lives as long as the agents that have it */
    for (i = 0; i < sizeof texts / sizeof *texts; i++)
        printf("%-34s estimated %2lu, counted %2lu\n", texts[i],
               (unsigned long)phi_tokens_of_text(NULL, phi_str_of(texts[i])),
               (unsigned long)phi_tokens_of_text(&counter, phi_str_of(texts[i])));
    desc.model = phi_model_anthropic("claude-sonnet-4-5", "key");
    desc.token_counter = counter; /* policies, warnings, compaction and budgets count by it */
    rt = phi_runtime_new(NULL);
    if (rt == NULL || phi_agent_new(rt, &desc).rt == NULL) return 1;
    phi_runtime_free(rt);
    for (i = 0; i < v.count; i++) free(v.at[i].bytes);
    free(v.at);
    return 0;
}
