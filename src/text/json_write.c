/* json_write.c - writes a tree as text in slices, and writes JSON without a tree. */
#include "text/json_in.h"

/* ---- strings ---- */

/* The character that follows the backslash: a letter, or u for \u00XX. 0: the byte is not
   escaped. */
static const char phi__json_letter[128] =
    "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\\";

static char *phi__json_write_unit(char *to, uint32_t unit) {
    static const char hex[] = "0123456789abcdef";
    *to++ = '\\';
    *to++ = 'u';
    *to++ = hex[unit >> 12 & 15];
    *to++ = hex[unit >> 8 & 15];
    *to++ = hex[unit >> 4 & 15];
    *to++ = hex[unit & 15];
    return to;
}

static uint32_t phi__json_write_decode(const char *at, size_t n) {
    const unsigned char *p = (const unsigned char *)at;
    if (n == 2) return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
    if (n == 3) return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
}

/* Writes an escape or a UTF-8 sequence: at most 12 bytes for one character. */
static const char *phi__json_write_special(const char *at, const char *end, bool ascii, char **to) {
    unsigned char c = (unsigned char)*at;
    uint32_t code = 0xfffd;
    if (c < 0x80) {
        char letter = phi__json_letter[c];
        if (letter == 'u') {
            *to = phi__json_write_unit(*to, c);
            return at + 1;
        }
        *(*to)++ = '\\';
        *(*to)++ = letter;
        return at + 1;
    }
    size_t n = phi__json_text_utf8(at, end);
    if (n != 0 && !ascii) {
        memcpy(*to, at, n);
        *to += n;
        return at + n;
    }
    if (n != 0) code = phi__json_write_decode(at, n);
    if (!ascii)
        *to += phi__utf8_put(*to, code);
    else if (code < 0x10000)
        *to = phi__json_write_unit(*to, code);
    else {
        *to = phi__json_write_unit(*to, 0xd800 + ((code - 0x10000) >> 10));
        *to = phi__json_write_unit(*to, 0xdc00 + (code & 0x3ff));
    }
    return at + (n == 0 ? phi__utf8_bad(at, end) : n);
}

#define PHI__JSON_WRITE_ROOM 256u /* bytes reserved first; enough for a small text */
/* bytes of a piece of text; room is made for their escaped form */
#define PHI__JSON_ESCAPE_SLICE 256u
#define PHI__JSON_OVER 16u /* bytes that may be written past the end */

/* Copies bytes while they are plain. May write up to PHI__JSON_OVER bytes after the copied ones. */
static inline const char *phi__json_write_copy_plain(const char *at, const char *end, char **to) {
    char *out = *to;
#if defined(PHI__JSON_SSE2)
    while (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = phi__json_special(block);
        _mm_storeu_si128((__m128i *)(void *)out, block);
        if (mask != 0) {
            *to = out + phi__json_lowest_bit(mask);
            return at + phi__json_lowest_bit(mask);
        }
        at += 16;
        out += 16;
    }
#endif
    while (end - at >= 8 && !phi__json_special_word(at)) {
        memcpy(out, at, 8);
        at += 8;
        out += 8;
    }
    while (at < end && phi__json_is_plain(*at)) *out++ = *at++;
    *to = out;
    return at;
}

/* Escapes about `most` bytes of [at, end), but at least one character. Returns the first byte that
   was not escaped. */
static const char *phi__json_write_run(phi__buf *buf, const char *at, const char *end, size_t most,
                                       bool ascii) {
    const char *stop = (size_t)(end - at) > most ? at + most : end;
    while (at < stop) {
        size_t n = phi__min((size_t)(stop - at), PHI__JSON_ESCAPE_SLICE);
        const char *slice = at + n;
        char *start = phi__buf_reserve(buf, 6 * n + 12 + PHI__JSON_OVER), *to = start;
        if (to == NULL) return end;
        while (at < slice) {
            at = phi__json_write_copy_plain(at, slice, &to);
            if (at < slice) at = phi__json_write_special(at, end, ascii, &to);
        }
        phi__buf_add_len(buf, (size_t)(to - start));
    }
    return at;
}

PHI__FN void phi__json_write_part(phi__buf *buf, phi_str text) {
    if (text.len > 0) (void)phi__json_write_run(buf, text.at, text.at + text.len, text.len, false);
}

PHI__FN void phi__json_write_str(phi__buf *buf, phi_str text) {
    phi__buf_char(buf, '"');
    phi__json_write_part(buf, text);
    phi__buf_char(buf, '"');
}

PHI__FN void phi__json_write_bool(phi__buf *buf, bool b) {
    phi__buf_add(buf, b ? "true" : "false", b ? 4 : 5);
}

PHI__FN void phi__json_write_comma(phi__buf *buf) {
    char last = buf->len > 0 ? buf->at[buf->len - 1] : '{';
    if (last != '{' && last != '[' && last != ':' && last != ',') phi__buf_char(buf, ',');
}

PHI__FN void phi__json_write_item(phi__buf *buf, const char *json) {
    phi__json_write_comma(buf);
    phi__buf_text(buf, json);
}

PHI__FN void phi__json_write_key(phi__buf *buf, phi_str key) {
    phi__json_write_comma(buf);
    phi__json_write_str(buf, key);
    phi__buf_char(buf, ':');
}

/* ---- trees ---- */

/* Begins a new line with the indentation of the current depth. */
static void phi__json_write_line(phi__json_writer *w) {
    size_t n = 2 * w->depth;
    if ((w->flags & PHI_JSON_PRETTY) == 0) return;
    char *to = phi__buf_reserve(w->out, n + 1);
    if (to == NULL) return;
    to[0] = '\n';
    memset(to + 1, ' ', n);
    phi__buf_add_len(w->out, n + 1);
}

static void phi__json_write_begin(phi__json_writer *w, phi_str text, bool is_key) {
    phi__buf_char(w->out, '"');
    w->rest = text;
    w->in_string = true;
    w->in_key = is_key;
}

/* Continues with `child`. Its container is already on top of the stack. */
static void phi__json_write_child(phi__json_writer *w, const phi_json *child) {
    phi__json_write_line(w);
    w->node = child;
    if (phi__json_kind_of(w->stack[w->depth - 1]) == PHI__JSON_OBJECT)
        phi__json_write_begin(w, phi__str(child->key, phi__json_key_len(child)), true);
}

/* Called when w->node is written. Continues with the next sibling, or closes the container. */
static void phi__json_write_next(phi__json_writer *w) {
    w->written = false;
    if (w->depth == 0) {
        w->node = NULL;
        return;
    }
    const phi_json *container = w->stack[w->depth - 1];
    if (container->v.last != w->node) {
        phi__buf_char(w->out, ',');
        phi__json_write_child(w, w->node->next);
        return;
    }
    w->depth--;
    w->node = container;
    w->written = true;
    phi__json_write_line(w);
    phi__buf_char(w->out, phi__json_kind_of(container) == PHI__JSON_OBJECT ? '}' : ']');
}

static void phi__json_write_open(phi__json_writer *w, const phi_json *node) {
    bool object = phi__json_kind_of(node) == PHI__JSON_OBJECT;
    if (node->len == 0) {
        phi__buf_add(w->out, object ? "{}" : "[]", 2);
        w->written = true;
        return;
    }
    if (w->depth == PHI_JSON_MAX_DEPTH) {
        w->status = PHI_TOO_BIG;
        return;
    }
    if (w->depth == w->cap) { /* `few` is full at first, later the allocated stack */
        size_t cap = w->stack == w->few ? 0 : w->cap;
        const phi_json **stack = (const phi_json **)phi__grow(
            w->out->memory, w->stack == w->few ? NULL : (void *)w->stack, &cap, w->cap * 2,
            sizeof *stack);
        if (stack == NULL) {
            w->status = PHI_NO_MEMORY;
            return;
        }
        if (w->stack == w->few) memcpy(stack, w->few, sizeof w->few);
        w->stack = stack;
        w->cap = cap;
    }
    w->stack[w->depth++] = node;
    phi__buf_char(w->out, object ? '{' : '[');
    phi__json_write_child(w, node->v.last->next);
}

static void phi__json_write_node(phi__json_writer *w) {
    const phi_json *node = w->node;
    switch (phi__json_kind_of(node)) {
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE:
        phi__json_write_bool(w->out, phi__json_kind_of(node) == PHI__JSON_TRUE);
        break;
    case PHI__JSON_INT: phi__json_number_put_i64(w->out, node->v.i); break;
    case PHI__JSON_UINT: phi__json_number_put_u64(w->out, node->v.u); break;
    case PHI__JSON_DOUBLE: phi__json_number_put_double(w->out, node->v.d); break;
    case PHI__JSON_STRING:
        phi__json_write_begin(w, phi__str(node->v.str, node->len), false);
        return;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT: phi__json_write_open(w, node); return;
    default: phi__buf_add(w->out, "null", 4); break;
    }
    w->written = true;
}

/* Writes the next piece of the current string, about `units` bytes. */
static void phi__json_write_rest(phi__json_writer *w, size_t units) {
    const char *end = w->rest.at + w->rest.len, *at = w->rest.at;
    if (w->rest.len > 0)
        at = phi__json_write_run(w->out, at, end, units, (w->flags & PHI_JSON_ASCII) != 0);
    w->rest = phi__str(at, (size_t)(end - at));
    if (w->rest.len > 0) return;
    w->in_string = false;
    phi__buf_char(w->out, '"');
    if (!w->in_key) {
        w->written = true;
        return;
    }
    w->in_key = false;
    phi__buf_char(w->out, ':');
    if ((w->flags & PHI_JSON_PRETTY) != 0) phi__buf_char(w->out, ' ');
}

PHI__FN void phi__json_write_writer_begin(phi__json_writer *w, phi__buf *out, const phi_json *node,
                                          uint32_t flags) {
    memset(w, 0, sizeof *w);
    w->out = out;
    w->node = node;
    w->stack = w->few;
    w->cap = PHI__JSON_STACK;
    w->flags = flags;
    w->status = PHI_BUSY;
    if (node == NULL) phi__buf_add(out, "null", 4);
}

PHI__FN phi_status phi__json_write_writer_advance(phi__json_writer *w, size_t units) {
    size_t from = w->out->len, done = 0;
    if (units == 0) units = 1;
    while (w->status == PHI_BUSY) {
        if (w->out->failed)
            w->status = PHI_NO_MEMORY;
        else if (w->in_string)
            phi__json_write_rest(w, units - done);
        else if (w->written)
            phi__json_write_next(w);
        else if (w->node == NULL)
            w->status = PHI_OK;
        else
            phi__json_write_node(w);
        done = w->out->len - from;
        if (done >= units && w->status == PHI_BUSY) break;
    }
    return w->status;
}

PHI__FN void phi__json_write_writer_end(phi__json_writer *w) {
    if (w->stack != w->few) phi__free(w->out->memory, (void *)w->stack, w->cap * sizeof *w->stack);
    w->stack = w->few;
    w->cap = PHI__JSON_STACK;
    w->depth = 0;
    w->node = NULL;
}

PHI__FN phi_status phi__json_write(phi__buf *buf, const phi_json *node, uint32_t flags) {
    phi__json_writer w;
    phi_status status;
    phi__json_write_writer_begin(&w, buf, node, flags);
    while ((status = phi__json_write_writer_advance(&w, SIZE_MAX)) == PHI_BUSY) continue;
    phi__json_write_writer_end(&w);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_json_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    phi__buf buf;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    (void)phi__buf_reserve(&buf, PHI__JSON_WRITE_ROOM);
    phi_status status = phi__json_write(&buf, node, flags);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}
