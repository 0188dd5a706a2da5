/* phi_spans.h - Markdown within a line: bold and slanted words, code, links. Copy what you need of it.

   The text is safe to show already. A mark that may still begin a span waits for the rest, at most SPANS_WAIT bytes; one
   that begins none is shown as it came. What comes out does not depend on the pieces in which the text comes. */
#ifndef PHI_SPANS_H
#define PHI_SPANS_H

#include "phi_rows.h"

enum { SPANS_WAIT = 1024, SPANS_DEEP = 8 };

/* A part of a line. */
typedef struct spans {
    const char *at;
    size_t len;
    style base;  /* of what is around the spans */
    char before; /* the character before it; 0: a blank */
    bool last;   /* nothing follows */
    int deep;
} spans;

static inline size_t spans_add(text *out, spans in);

static inline void spans_style(text *out, style how) {
    char c = (char)how;
    text_add(out, &c, 1);
}

static inline bool spans_letter(char c) {
    return (unsigned char)c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
}

static inline size_t spans_run(const spans *in, size_t at) {
    size_t n = 0;
    while (at + n < in->len && in->at[at + n] == in->at[at]) n++;
    return n;
}

/* Adds a part in a style, with the spans in it. */
static inline void spans_inner(text *out, const spans *in, size_t from, size_t to, style base) {
    spans inner = {in->at + from, to - from, base, 0, true, in->deep + 1};
    if (base != in->base) spans_style(out, base);
    (void)spans_add(out, inner);
    if (base != in->base) spans_style(out, in->base);
}

/* Each of these adds the span at `at`, and returns its bytes. 0: it may still become one, SIZE_MAX: it is none. */

static inline size_t spans_code(text *out, const spans *in, size_t at) {
    size_t n = spans_run(in, at), i, run, from = at + n, to;
    for (i = from; i < in->len; i += run) {
        run = in->at[i] == '`' ? spans_run(in, i) : 1;
        if (in->at[i] != '`' || run != n) continue;
        if (i + run == in->len && !in->last) return 0;
        to = i;
        if (to - from > 2 && in->at[from] == ' ' && in->at[to - 1] == ' ') from++, to--;
        spans_style(out, STYLE_CODE);
        text_add(out, in->at + from, to - from);
        spans_style(out, in->base);
        return i + n - at;
    }
    return in->last ? SIZE_MAX : 0;
}

/* Where the words in stars or underscores end, which begin at `from` after n marks; 0: not yet, SIZE_MAX: nowhere. */
static inline size_t spans_end(const spans *in, size_t from, size_t n) {
    char mark = in->at[from - 1];
    size_t i, run, code = 0;
    for (i = from; i < in->len; i += run) {
        bool after = i > from && in->at[i - 1] != ' ';
        run = in->at[i] == '\\' && i + 1 < in->len ? 2 : 1;
        if (in->at[i] == '`') {
            run = spans_run(in, i);
            code = code == 0 ? run : code == run ? 0 : code;
        }
        if (code > 0 || in->at[i] != mark) continue;
        run = spans_run(in, i);
        if (i + run == in->len && !in->last) return 0;
        if (!after || run < n || (run != n && run != 3)) continue;
        if (mark == '_' && i + run < in->len && spans_letter(in->at[i + run])) continue;
        return i + run - n;
    }
    return in->last ? SIZE_MAX : 0;
}

static inline size_t spans_strong(text *out, const spans *in, size_t at) {
    size_t n = spans_run(in, at), end;
    char before = at > 0 ? in->at[at - 1] : in->before, after = ' ';
    if (at + n < in->len)
        after = in->at[at + n];
    else if (!in->last)
        return 0;
    if (n > 1 && in->at[at] == '_') return SIZE_MAX; /* __init__ */
    if (n > 3 || after == ' ' || in->deep >= SPANS_DEEP) return SIZE_MAX;
    if (spans_letter(before) && (in->at[at] == '_' || n == 1)) return SIZE_MAX; /* a_b, 2*3 */
    end = spans_end(in, at + n, n);
    if (end == 0 || end == SIZE_MAX) return end;
    spans_inner(out, in, at + n, end,
                n > 1 || in->base == STYLE_STRONG ? STYLE_STRONG : STYLE_SLANT);
    return end + n - at;
}

/* The end of what a bracket opens; 0: not yet, SIZE_MAX: nowhere. */
static inline size_t spans_closed(const spans *in, size_t at, char opens, char closes) {
    int deep = 0;
    size_t i;
    for (i = at; i < in->len; i++) {
        if (in->at[i] == '\\' && i + 1 < in->len)
            i++;
        else if (in->at[i] == opens)
            deep++;
        else if (in->at[i] == closes && --deep == 0)
            return i;
    }
    return in->last ? SIZE_MAX : 0;
}

/* [words](address) */
static inline size_t spans_link(text *out, const spans *in, size_t at) {
    size_t words = at + (in->at[at] == '!' ? 1 : 0), close, end;
    if (words == in->len) return in->last ? SIZE_MAX : 0;
    if (in->at[words] != '[' || in->deep >= SPANS_DEEP) return SIZE_MAX;
    close = spans_closed(in, words, '[', ']');
    if (close == 0 || close == SIZE_MAX) return close;
    if (close + 1 == in->len) return in->last ? SIZE_MAX : 0;
    if (in->at[close + 1] != '(' || close == words + 1) return SIZE_MAX;
    end = spans_closed(in, close + 1, '(', ')');
    if (end == 0 || end == SIZE_MAX) return end;
    spans_inner(out, in, words + 1, close, in->base);
    if (end == close + 2 || (end - close - 2 == close - words - 1 &&
                             memcmp(in->at + words + 1, in->at + close + 2, end - close - 2) == 0))
        return end + 1 - at;
    text_say(out, " ");
    spans_style(out, STYLE_ADDRESS);
    text_add(out, in->at + close + 1, end - close);
    spans_style(out, in->base);
    return end + 1 - at;
}

/* <https://...> */
static inline size_t spans_address(text *out, const spans *in, size_t at) {
    static const char *const begins[] = {"<https://", "<http://", "<mailto:"};
    size_t i, n, have = in->len - at, end;
    for (i = 0; i < 3; i++) {
        n = strlen(begins[i]) < have ? strlen(begins[i]) : have;
        if (memcmp(in->at + at, begins[i], n) == 0) break;
    }
    if (i == 3) return SIZE_MAX;
    for (end = at; end < in->len && strchr(" >", in->at[end]) == NULL;) end++;
    if (end == in->len) return in->last ? SIZE_MAX : 0;
    if (in->at[end] != '>' || end - at < strlen(begins[i])) return SIZE_MAX;
    spans_style(out, STYLE_ADDRESS);
    text_add(out, in->at + at + 1, end - at - 1);
    spans_style(out, in->base);
    return end + 1 - at;
}

/* "\*" is a star. */
static inline size_t spans_escape(text *out, const spans *in, size_t at) {
    if (at + 1 == in->len) return in->last ? SIZE_MAX : 0;
    if (strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", in->at[at + 1]) == NULL) return SIZE_MAX;
    text_add(out, in->at + at + 1, 1);
    return 2;
}

static inline size_t spans_at(text *out, const spans *in, size_t at) {
    switch (in->at[at]) {
    case '\\': return spans_escape(out, in, at);
    case '`': return spans_code(out, in, at);
    case '*':
    case '_': return spans_strong(out, in, at);
    case '!':
    case '[': return spans_link(out, in, at);
    case '<': return spans_address(out, in, at);
    default: return SIZE_MAX;
    }
}

/* Adds the line's part. Returns how many bytes of it were taken: the others wait for more. */
static inline size_t spans_add(text *out, spans in) {
    size_t i = 0, n;
    while (i < in.len) {
        spans part = in;
        bool run = strchr("`*_", in.at[i]) != NULL;
        if (part.len > i + SPANS_WAIT) part.len = i + SPANS_WAIT, part.last = true;
        part.last = part.last || part.len == i + SPANS_WAIT;
        n = spans_at(out, &part, i);
        if (n == 0) return i;
        if (n == SIZE_MAX) {
            n = run ? spans_run(&part, i) : 1;
            text_add(out, in.at + i, n);
        }
        i += n;
    }
    return i;
}

#endif
