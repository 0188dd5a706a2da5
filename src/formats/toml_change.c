/* toml_change.c - a text with pieces of it replaced; and its lines. */
#include "formats/toml_in.h"

PHI__FN void phi__toml_change_init(phi__toml_change *c, phi_memory *memory, phi_str text) {
    const char *first = text.len > 0 ? (const char *)memchr(text.at, '\n', text.len) : NULL;
    memset(c, 0, sizeof *c);
    c->text = text;
    c->crlf = first != NULL && first > text.at && first[-1] == '\r';
    phi__buf_init(&c->texts, memory);
}

PHI__FN void phi__toml_change_free(phi__toml_change *c) {
    phi__free(c->texts.memory, c->pieces, c->cap * sizeof *c->pieces);
    phi__buf_free(&c->texts);
}

PHI__FN void phi__toml_change_add(phi__toml_change *c, size_t from, size_t to, size_t at) {
    phi__toml_piece *piece = c->pieces;
    if (c->count == c->cap)
        piece = (phi__toml_piece *)phi__grow(c->texts.memory, c->pieces, &c->cap, c->count + 1,
                                             sizeof *piece);
    if (piece != NULL) c->pieces = piece;
    if (piece == NULL || c->texts.failed) {
        c->failed = true;
        return;
    }
    piece += c->count;
    piece->from = from;
    piece->to = to;
    piece->at = at;
    piece->len = c->texts.len - at;
    piece->order = c->count++;
}

PHI__FN void phi__toml_change_before(phi__toml_change *c, size_t to, size_t at) {
    phi__toml_change_add(c, to, to, at);
    if (!c->failed) c->pieces[c->count - 1].order = SIZE_MAX;
}

/* ---- lines ---- */

PHI__FN size_t phi__toml_change_line(const phi__toml_change *c, size_t at) {
    bool mark = c->text.len >= 3 && memcmp(c->text.at, "\xEF\xBB\xBF", 3) == 0;
    size_t first = mark ? 3 : 0;
    while (at > first && c->text.at[at - 1] != '\n') at--;
    return phi__max(at, first);
}

PHI__FN size_t phi__toml_change_next(const phi__toml_change *c, size_t at) {
    const char *found =
        at < c->text.len ? (const char *)memchr(c->text.at + at, '\n', c->text.len - at) : NULL;
    return found == NULL ? c->text.len : (size_t)(found - c->text.at) + 1;
}

static bool phi__toml_change_is_blank(const phi__toml_change *c, size_t from, size_t to) {
    for (; from < to; from++)
        if (strchr(" \t\r\n", c->text.at[from]) == NULL || c->text.at[from] == '\0') return false;
    return true;
}

PHI__FN void phi__toml_change_drop(phi__toml_change *c, size_t from, size_t to, bool blank) {
    size_t line = phi__toml_change_line(c, from), before;
    while (blank && line > 0) {
        before = phi__toml_change_line(c, line - 1);
        if (before >= line || !phi__toml_change_is_blank(c, before, line)) break;
        line = before;
    }
    phi__toml_change_add(c, line, phi__toml_change_next(c, to), c->texts.len);
}

PHI__FN void phi__toml_change_fresh(phi__toml_change *c, size_t at) {
    bool mark = at == 3 && memcmp(c->text.at, "\xEF\xBB\xBF", 3) == 0;
    if (at > 0 && at == c->text.len && c->text.at[at - 1] != '\n' && !mark)
        phi__buf_char(&c->texts, '\n');
}

PHI__FN phi_str phi__toml_change_indent(const phi__toml_change *c, size_t at) {
    size_t from = phi__toml_change_line(c, at), to = from;
    while (to < c->text.len && (c->text.at[to] == ' ' || c->text.at[to] == '\t')) to++;
    return phi__str(c->text.at + from, to - from);
}

PHI__FN size_t phi__toml_change_above(const phi__toml_change *c, size_t at, size_t floor) {
    size_t line = phi__toml_change_line(c, at), before;
    while (line > floor) {
        before = phi__toml_change_line(c, line - 1);
        if (before < floor || before >= line ||
            c->text.at[before + phi__toml_change_indent(c, before).len] != '#')
            break;
        line = before;
    }
    return line;
}

/* ---- all pieces at once ---- */

static bool phi__toml_change_precedes(const phi__toml_piece *a, const phi__toml_piece *b) {
    return a->from != b->from ? a->from < b->from : a->order < b->order;
}

/* Down from i in a heap of n pieces with the last one on top. */
static void phi__toml_change_sift(phi__toml_piece *at, size_t i, size_t n) {
    while (2 * i + 1 < n) {
        size_t child = 2 * i + 1;
        phi__toml_piece held = at[i];
        if (child + 1 < n && phi__toml_change_precedes(&at[child], &at[child + 1])) child++;
        if (!phi__toml_change_precedes(&held, &at[child])) return;
        at[i] = at[child];
        at[child] = held;
        i = child;
    }
}

static void phi__toml_change_sort(phi__toml_piece *at, size_t count) {
    size_t i;
    for (i = count / 2; i-- > 0;) phi__toml_change_sift(at, i, count);
    for (i = count; i-- > 1;) {
        phi__toml_piece held = at[0];
        at[0] = at[i];
        at[i] = held;
        phi__toml_change_sift(at, 0, i);
    }
}

/* New text, with the line breaks of the old one. */
static void phi__toml_change_put(const phi__toml_change *c, const phi__toml_piece *piece,
                                 phi__buf *out) {
    size_t i, end = piece->at + piece->len;
    if (!c->crlf) {
        phi__buf_add(out, c->texts.at + piece->at, piece->len);
        return;
    }
    for (i = piece->at; i < end; i++) {
        if (c->texts.at[i] == '\n') phi__buf_char(out, '\r');
        phi__buf_char(out, c->texts.at[i]);
    }
}

PHI__FN bool phi__toml_change_apply(phi__toml_change *c, phi__buf *out) {
    size_t i, at = 0;
    if (c->failed || c->texts.failed) return false;
    phi__toml_change_sort(c->pieces, c->count);
    for (i = 0; i < c->count; i++) {
        const phi__toml_piece *piece = &c->pieces[i];
        if (piece->from > at) phi__buf_add(out, c->text.at + at, piece->from - at);
        if (piece->len > 0) phi__toml_change_put(c, piece, out);
        at = phi__max(at, phi__max(piece->from, piece->to));
    }
    if (c->text.len > at) phi__buf_add(out, c->text.at + at, c->text.len - at);
    return !out->failed;
}
