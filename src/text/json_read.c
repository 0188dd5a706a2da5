/* json_read.c - reads a text into a tree, in slices.

   Unless strings are borrowed, the text is first copied into the arena, and the tree points into
   that copy: strings are unescaped in place, and their closing quotes become terminators. No stack
   is needed: an open container holds its parent in `next`, and joins the parent's ring when it
   closes. */
#include "text/json_in.h"

#include <ctype.h>
#include <stdio.h>

/* ---- for all readers of JSON strings: their end, UTF-8, escapes ---- */

PHI__FN const char *phi__json_text_plain_end(const char *at, const char *end) {
#if defined(PHI__JSON_SSE2)
    for (; end - at >= 16; at += 16) {
        int mask = phi__json_special(_mm_loadu_si128((const __m128i *)(const void *)at));
        if (mask != 0) return at + phi__json_lowest_bit(mask);
    }
#endif
    while (end - at >= 8 && !phi__json_special_word(at)) at += 8;
    while (at < end && phi__json_is_plain(*at)) at++;
    return at;
}

/* Returns the first quote or backslash in [at, end), or end. */
static const char *phi__json_text_quote_or_escape(const char *at, const char *end) {
#if defined(PHI__JSON_SSE2)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
        if (mask != 0) return at + phi__json_lowest_bit(mask);
    }
#endif
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        if ((phi__json_zero_bytes(word ^ PHI__JSON_ONES * '"') |
             phi__json_zero_bytes(word ^ PHI__JSON_ONES * '\\')) != 0)
            break;
    }
    while (at < end && *at != '"' && *at != '\\') at++;
    return at;
}

PHI__FN const char *phi__json_text_quote(const char *at, const char *end, bool *escaped) {
    *escaped = false;
    for (;;) {
        at = phi__json_text_quote_or_escape(at, end);
        if (at == end) return NULL;
        if (*at == '"') return at;
        *escaped = true;
        if (end - at < 2) return NULL;
        at += 2;
    }
}

PHI__FN size_t phi__json_text_utf8(const char *at, const char *end) {
    const unsigned char *p = (const unsigned char *)at;
    unsigned char low = 0x80, high = 0xbf;
    size_t left = (size_t)(end - at);
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    size_t n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n > left) return 0;
    if (p[0] == 0xe0) low = 0xa0;
    if (p[0] == 0xed) high = 0x9f;
    if (p[0] == 0xf0) low = 0x90;
    if (p[0] == 0xf4) high = 0x8f;
    if (p[1] < low || p[1] > high) return 0;
    if (n > 2 && (p[2] & 0xc0) != 0x80) return 0;
    if (n > 3 && (p[3] & 0xc0) != 0x80) return 0;
    return n;
}

static uint32_t phi__json_text_hex_digit(char c) {
    if (phi__is_digit(c)) return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f') return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (uint32_t)(c - 'A') + 10;
    return UINT32_MAX;
}

PHI__FN uint32_t phi__json_text_hex(const char *at, const char *end, size_t digits) {
    uint32_t code = 0;
    if ((size_t)(end - at) < digits) return UINT32_MAX;
    for (; digits > 0; digits--) {
        uint32_t digit = phi__json_text_hex_digit(*at++);
        if (digit > 15) return UINT32_MAX;
        code = code << 4 | digit;
    }
    return code;
}

/* Returns the code unit of the escape \uXXXX at `at`; -1 if there is no such escape. */
static int32_t phi__json_text_unit(const char *at, const char *end) {
    if (end - at < 2 || at[0] != '\\' || at[1] != 'u') return -1;
    return (int32_t)phi__json_text_hex(at + 2, end, 4);
}

/* The character for each escape letter; 0 for an unknown letter. */
static const char phi__json_stands_for[128] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0/"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\\\0\0\0"
                                              "\0\0\b\0\0\0\f\0\0\0\0\0\0\0\n\0\0\0\r\0\t";

/* Returns the character of the two-byte escape at `at`, or 0. */
static inline char phi__json_text_short_escape(const char *at, const char *end) {
    return end - at >= 2 && (unsigned char)at[1] < 0x80 ? phi__json_stands_for[(unsigned char)at[1]]
                                                        : '\0';
}

PHI__FN size_t phi__json_text_escape(const char *at, const char *end, uint32_t *code) {
    char letter = phi__json_text_short_escape(at, end);
    if (letter != '\0') {
        *code = (unsigned char)letter;
        return 2;
    }
    int32_t unit = phi__json_text_unit(at, end);
    if (unit < 0) return 0;
    *code = (uint32_t)unit;
    if (unit < 0xd800 || unit > 0xdbff) return 6;
    int32_t low = phi__json_text_unit(at + 6, end);
    if (low < 0xdc00 || low > 0xdfff) return 6;
    *code = 0x10000u + (((uint32_t)unit - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
    return 12;
}

/* Writes the character of an escape, a UTF-8 sequence or a bad byte. Returns the byte after it. */
static const char *phi__json_text_unescape_one(const char *at, const char *end, char **to) {
    size_t n;
    if (*at == '\\') {
        uint32_t code = 0xfffd;
        n = phi__json_text_escape(at, end, &code);
        if (n == 0) n = end - at < 2 || (unsigned char)at[1] >= 0x80 ? 1 : 2;
        *to += phi__utf8_put(*to, code);
        return at + n;
    }
    n = phi__json_text_utf8(at, end);
    if (n == 0) {
        n = phi__utf8_bad(at, end); /* read before the bytes are overwritten */
        *to += phi__utf8_put(*to, 0xfffd);
        return at + n;
    }
    memmove(*to, at, n);
    *to += n;
    return at + n;
}

PHI__FN const char *phi__json_text_unescape_run(const char *at, const char *end, size_t most,
                                                char **to) {
    const char *stop = (size_t)(end - at) > most ? at + most : end;
    while (at < stop) {
        const char *plain = phi__json_plain_short(at, stop);
        if (plain != at) memmove(*to, at, (size_t)(plain - at));
        *to += plain - at;
        at = plain;
        if (at == stop) break;
        char letter = *at == '\\' ? phi__json_text_short_escape(at, end) : '\0';
        if (letter != '\0') {
            *(*to)++ = letter;
            at += 2;
        } else
            at = phi__json_text_unescape_one(at, end, to);
    }
    return at;
}

/* ---- tokens to tree ---- */

enum phi__json_state {
    PHI__JSON_COPYING,
    PHI__JSON_FIRST_KEY, /* a key or the closing bracket is next */
    PHI__JSON_KEY,
    PHI__JSON_COLON,
    PHI__JSON_FIRST_ITEM, /* an item or the closing bracket is next */
    PHI__JSON_VALUE,
    PHI__JSON_AFTER, /* a comma or a closing bracket is next */
    PHI__JSON_END,
    PHI__JSON_TEXT,    /* in a string, before its end is found */
    PHI__JSON_REWRITE, /* the end of a string is found; unescape it */
    PHI__JSON_COMMENT, /* in a block comment (PHI_JSON_RELAXED) */
    PHI__JSON_LINE_COMMENT
};

#define PHI__JSON_NUMBER_MOST 65536u /* bytes; limits the work of one step */
#define PHI__JSON_COPY_MOST 4096u    /* bytes; limits the work of one step */
#define PHI__JSON_KEY_MOST 0xffffffu
#define PHI__JSON_DEPTH 512u /* the default */

/* ---- errors ---- */

static void phi__json_read_found_words(const phi__json_reader *r, const char *at, char *out,
                                       size_t cap) {
    if (at >= r->end) {
        (void)snprintf(out, cap, "the end of the text");
        return;
    }
    unsigned char c = (unsigned char)r->text[at - r->base];
    if (c >= 0x20 && c < 0x7f)
        (void)snprintf(out, cap, "'%c'", c);
    else
        (void)snprintf(out, cap, "byte 0x%02x", c);
}

/* Sets the error "expected {what}, found {the byte}", or only `what`. Returns `at`. */
static const char *phi__json_read_fail(phi__json_reader *r, const char *at, phi_status status,
                                       const char *what, bool expected) {
    char found[32];
    r->status = r->error.status = status;
    r->error.line = r->line;
    r->error.column = (uint32_t)(at - r->line_at) + 1;
    r->error.offset = (size_t)(at - r->base);
    phi__json_read_found_words(r, at, found, sizeof found);
    if (expected)
        (void)snprintf(r->error.message, sizeof r->error.message, "expected %s, found %s", what,
                       found);
    else
        (void)snprintf(r->error.message, sizeof r->error.message, "%s", what);
    return at;
}

static const char *phi__json_read_expected(phi__json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_PARSE, what, true);
}

static const char *phi__json_read_wrong(phi__json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_PARSE, what, false);
}

static const char *phi__json_read_too_big(phi__json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_TOO_BIG, what, false);
}

static const char *phi__json_read_no_memory(phi__json_reader *r, const char *at) {
    return phi__json_read_fail(r, at, PHI_NO_MEMORY, "no memory for the tree", false);
}

/* ---- nodes ---- */

#define PHI__JSON_SLAB 16u /* nodes allocated at once, at most */

/* Allocates some nodes; fewer if little text is left. */
static bool phi__json_read_slab(phi__json_reader *r, const char *at) {
    size_t count = phi__min(1 + (size_t)(r->end - at) / 24, PHI__JSON_SLAB);
    phi_json *slab = (phi_json *)phi_arena_alloc(r->arena, count * sizeof *slab);
    if (slab == NULL) return false;
    r->spare = slab;
    r->spare_end = slab + count;
    return true;
}

static inline phi_json *phi__json_read_node(phi__json_reader *r, const char *at, uint32_t kind) {
    if (r->spare == r->spare_end && !phi__json_read_slab(r, at)) return NULL;
    phi_json *node = r->spare++;
    node->next = NULL;
    node->key = r->key;
    node->v.u = 0;
    node->len = 0;
    node->meta = r->key_len << 8 | kind;
    if (PHI__MARKED(r)) {
        /* A position is the start of the value. A string starts at its quote, one byte before
           r->mark. */
        if (kind == PHI__JSON_STRING) at = r->mark - 1;
        phi__marks_add(r->marks, node, r->line, (uint32_t)(at - r->line_at) + 1);
        if (node->key != NULL) phi__marks_add_key(r->marks, node, r->key_line, r->key_column);
    }
    return node;
}

/* Adds a complete value to the open container, or makes it the root. */
static inline void phi__json_read_join(phi__json_reader *r, phi_json *node) {
    if (r->open != NULL) {
        phi__json_append(r->open, node);
        r->key = NULL;
        r->key_len = 0;
        r->state = PHI__JSON_AFTER;
    } else {
        r->root = node;
        r->state = PHI__JSON_END;
    }
}

static const char *phi__json_read_open(phi__json_reader *r, const char *at) {
    bool object = *at == '{';
    if (r->depth == r->max_depth)
        return phi__json_read_too_big(r, at, "arrays and objects are nested too deeply");
    phi_json *node = phi__json_read_node(r, at, object ? PHI__JSON_OBJECT : PHI__JSON_ARRAY);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    node->next = r->open;
    r->open = node;
    r->key = NULL;
    r->key_len = 0;
    r->depth++;
    r->state = object ? PHI__JSON_FIRST_KEY : PHI__JSON_FIRST_ITEM;
    return at + 1;
}

static inline const char *phi__json_read_close(phi__json_reader *r, const char *at) {
    phi_json *node = r->open;
    r->open = node->next;
    node->next = NULL;
    r->depth--;
    phi__json_read_join(r, node);
    return at + 1;
}

/* ---- scalars ---- */

static const char *phi__json_read_misspelt(phi__json_reader *r, const char *at, const char *word) {
    char what[16];
    (void)snprintf(what, sizeof what, "'%s'", word);
    for (; at < r->end && *at == *word; at++) word++;
    return phi__json_read_expected(r, at, what);
}

static inline const char *phi__json_read_scalar(phi__json_reader *r, const char *at, size_t len,
                                                uint32_t kind) {
    phi_json *node = phi__json_read_node(r, at, kind);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    phi__json_read_join(r, node);
    return at + len;
}

static const char *phi__json_read_literal(phi__json_reader *r, const char *at) {
    size_t left = (size_t)(r->end - at);
    if (*at == 'n') {
        if (left < 4 || memcmp(at, "null", 4) != 0) return phi__json_read_misspelt(r, at, "null");
        return phi__json_read_scalar(r, at, 4, PHI__JSON_NULL);
    }
    if (*at == 't') {
        if (left < 4 || memcmp(at, "true", 4) != 0) return phi__json_read_misspelt(r, at, "true");
        return phi__json_read_scalar(r, at, 4, PHI__JSON_TRUE);
    }
    if (left < 5 || memcmp(at, "false", 5) != 0) return phi__json_read_misspelt(r, at, "false");
    return phi__json_read_scalar(r, at, 5, PHI__JSON_FALSE);
}

static const char *phi__json_read_number(phi__json_reader *r, const char *at) {
    bool cut = (size_t)(r->end - at) >= PHI__JSON_NUMBER_MOST;
    const char *limit = cut ? at + PHI__JSON_NUMBER_MOST : r->end, *bad;
    phi__json_number number;
    const char *after = phi__json_number_read(at, limit, &number, &bad);
    if (cut && (after == limit || (after == NULL && phi__json_number_bytes(at, limit) == limit)))
        return phi__json_read_too_big(r, at, "a number of 64 KiB or more");
    if (after == NULL && bad == at)
        return phi__json_read_wrong(r, at, "the number is too large for a double");
    if (after == NULL) return phi__json_read_expected(r, bad, "a digit");
    phi_json *node = phi__json_read_node(r, at, number.kind);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    node->v = number.v;
    phi__json_read_join(r, node);
    return after;
}

/* ---- strings ---- */

/* Finishes a string; `quote` is its closing quote. */
static inline const char *phi__json_read_text_done(phi__json_reader *r, const char *string,
                                                   size_t len, const char *quote) {
    if (r->is_key) {
        if (len > PHI__JSON_KEY_MOST)
            return phi__json_read_too_big(r, quote, "a key of more than 16 MiB");
        r->key = string;
        r->key_len = (uint32_t)len;
        r->key_line = r->line;
        r->key_column = (uint32_t)(r->mark - r->line_at);
        r->state = PHI__JSON_COLON;
    } else {
        phi_json *node = phi__json_read_node(r, quote, PHI__JSON_STRING);
        if (node == NULL) return phi__json_read_no_memory(r, quote);
        node->v.str = string;
        node->len = (uint32_t)len;
        phi__json_read_join(r, node);
    }
    return quote + 1;
}

/* Called when the closing quote is found. Decides if the string must be unescaped. */
static inline const char *phi__json_read_text_closed(phi__json_reader *r, const char *quote) {
    size_t len = (size_t)(quote - r->mark);
    const char *from = r->mark;
    if (r->odd == NULL) {
        if (r->copy != NULL) r->copy[quote - r->base] = '\0';
        return phi__json_read_text_done(r, r->mark, len, quote);
    }
    if (r->copy != NULL && r->bad == 0) { /* unescape in place, beginning at the first escape */
        r->string = r->copy + (r->mark - r->base);
        r->to = r->copy + (r->odd - r->base);
        from = r->odd;
    } else { /* one bad byte may become the three bytes of U+FFFD */
        size_t bytes = phi__add(len + 1, phi__mul(r->bad, 2));
        r->to = bytes == SIZE_MAX ? NULL : phi__arena_bytes(r->arena, bytes);
        if (r->to == NULL) return phi__json_read_no_memory(r, quote);
        r->string = r->to;
        if (r->bad == 0 && (size_t)(r->odd - from) <= PHI__JSON_COPY_MOST) {
            /* copies the part before the first escape */
            memcpy(r->to, from, (size_t)(r->odd - from));
            r->to += r->odd - from;
            from = r->odd;
        }
    }
    r->quote = quote;
    r->state = PHI__JSON_REWRITE;
    return from;
}

static const char *phi__json_read_rewrite(phi__json_reader *r, const char *at, const char *stop) {
    const char *quote = r->quote;
    at = phi__json_text_unescape_run(at, quote, (size_t)(stop - at), &r->to);
    if (at < quote) return at;
    *r->to = '\0';
    return phi__json_read_text_done(r, r->string, (size_t)(r->to - r->string), quote);
}

static const char *phi__json_read_text_escape(phi__json_reader *r, const char *at) {
    uint32_t code;
    size_t n = phi__json_text_escape(at, r->end, &code);
    if (r->odd == NULL) r->odd = at;
    if (n == 0) {
        if (at + 1 < r->end && at[1] == 'u') {
            for (at += 2; at < r->end && isxdigit((unsigned char)*at); at++) continue;
            return phi__json_read_expected(r, at, "four hexadecimal digits");
        }
        return phi__json_read_expected(r, at + 1, "one of \"\\/bfnrtu after the backslash");
    }
    if (n == 6 && code >= 0xd800 && code <= 0xdfff && (r->flags & PHI_JSON_REPLACE_BAD_UTF8) == 0)
        return phi__json_read_wrong(r, at, "half of a surrogate pair");
    return at + n;
}

/* Looks for the end of a string and checks every byte. */
static const char *phi__json_read_text(phi__json_reader *r, const char *at, const char *stop) {
    while (at < stop) {
        at = phi__json_text_plain_end(at, stop);
        if (at == stop) break;
        unsigned char c = (unsigned char)*at;
        if (c == '"') return phi__json_read_text_closed(r, at);
        if (c < 0x20)
            return phi__json_read_wrong(r, at, "a control character in a string must be escaped");
        if (c == '\\') {
            at = phi__json_read_text_escape(r, at);
            if (r->status != PHI_BUSY) return at;
            continue;
        }
        size_t n = phi__json_text_utf8(at, r->end);
        if (n == 0) {
            if ((r->flags & PHI_JSON_REPLACE_BAD_UTF8) == 0)
                return phi__json_read_wrong(r, at, "a byte that is not UTF-8");
            if (r->odd == NULL) r->odd = at;
            r->bad++;
            n = phi__utf8_bad(at, r->end);
        }
        at += n;
    }
    return at;
}

static inline const char *phi__json_read_text_begin(phi__json_reader *r, const char *at,
                                                    const char *stop, bool is_key) {
    r->mark = at + 1;
    r->is_key = is_key;
    r->odd = NULL;
    r->bad = 0;
    r->state = PHI__JSON_TEXT;
    at = phi__json_plain_short(at + 1, stop);
    if (at < stop && *at == '"') return phi__json_read_text_closed(r, at);
    return phi__json_read_text(r, at, stop);
}

/* ---- for PHI_JSON_RELAXED ---- */

static bool phi__json_read_relaxed(const phi__json_reader *r) {
    return (r->flags & PHI_JSON_RELAXED) != 0;
}

/* True if a byte order mark is at the start of the text. */
static bool phi__json_read_order_mark(const phi__json_reader *r, const char *at) {
    return phi__json_read_relaxed(r) && at == r->base && r->end - at >= 3 &&
           memcmp(at, "\xEF\xBB\xBF", 3) == 0;
}

static const char *phi__json_read_comment(phi__json_reader *r, const char *at, const char *stop) {
    bool line = r->state == PHI__JSON_LINE_COMMENT;
    for (; at < stop; at++) {
        if (line && (*at == '\n' || *at == '\r')) {
            r->state = r->back;
            return at;
        }
        if (*at == '\n') {
            r->line++;
            r->line_at = at + 1;
        } else if (!line && *at == '*' && at + 1 < r->end && at[1] == '/') {
            r->state = r->back;
            return at + 2;
        }
    }
    return at;
}

/* ---- the state machine ---- */

static const char *phi__json_read_first(phi__json_reader *r, const char *at, const char *stop) {
    switch (*at) {
    case '"': return phi__json_read_text_begin(r, at, stop, false);
    case '{':
    case '[': return phi__json_read_open(r, at);
    case 't':
    case 'f':
    case 'n': return phi__json_read_literal(r, at);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return phi__json_read_number(r, at);
    default:
        if (phi__json_read_order_mark(r, at)) return r->line_at = at + 3;
        return phi__json_read_expected(
            r, at, r->state == PHI__JSON_FIRST_ITEM ? "a value or ']'" : "a value");
    }
}

static inline const char *phi__json_read_after(phi__json_reader *r, const char *at) {
    bool object = phi__json_kind_of(r->open) == PHI__JSON_OBJECT;
    if (*at == ',') {
        r->state = object ? PHI__JSON_KEY : PHI__JSON_VALUE;
        return at + 1;
    }
    if (*at == (object ? '}' : ']')) return phi__json_read_close(r, at);
    return phi__json_read_expected(r, at, object ? "',' or '}'" : "',' or ']'");
}

static inline const char *phi__json_read_white(phi__json_reader *r, const char *at,
                                               const char *stop) {
    for (; at < stop && (unsigned char)*at <= ' '; at++) {
        if (*at == '\n') {
            r->line++;
            r->line_at = at + 1;
        } else if (*at != ' ' && *at != '\t' && *at != '\r')
            break;
    }
    return at;
}

static inline const char *phi__json_read_key(phi__json_reader *r, const char *at,
                                             const char *stop) {
    if (*at == '"') {
        at = phi__json_read_text_begin(r, at, stop, true);
        if (r->state != PHI__JSON_COLON || at >= stop || *at != ':') return at;
        r->state = PHI__JSON_VALUE;
        return at + 1;
    }
    if (r->state == PHI__JSON_KEY && !(*at == '}' && phi__json_read_relaxed(r)))
        return phi__json_read_expected(r, at, "a key in quotes");
    if (*at == '}') return phi__json_read_close(r, at);
    return phi__json_read_expected(r, at, "a key in quotes or '}'");
}

/* True if ']' may follow a comma here: in an array, with PHI_JSON_RELAXED. */
static bool phi__json_read_last_comma(const phi__json_reader *r) {
    return phi__json_read_relaxed(r) && r->open != NULL &&
           phi__json_kind_of(r->open) == PHI__JSON_ARRAY;
}

static inline const char *phi__json_read_value(phi__json_reader *r, const char *at,
                                               const char *stop) {
    if (*at == ']' && (r->state == PHI__JSON_FIRST_ITEM || phi__json_read_last_comma(r)))
        return phi__json_read_close(r, at);
    at = phi__json_read_first(r, at, stop);
    if (r->state != PHI__JSON_AFTER || at >= stop || *at != ',') return at;
    return phi__json_read_after(r, at);
}

/* Reads tokens up to `stop`. Returns earlier at an error, or inside of a string or comment. */
static const char *phi__json_read_tokens(phi__json_reader *r, const char *at, const char *stop) {
    while (at < stop && r->status == PHI_BUSY) {
        if ((unsigned char)*at <= ' ' && r->state < PHI__JSON_TEXT) {
            at = phi__json_read_white(r, at, stop);
            if (at == stop) break;
        }
        if (*at == '/' && phi__json_read_relaxed(r) && r->state < PHI__JSON_TEXT) {
            /* A slash between tokens begins a comment. */
            bool line = at + 1 < r->end && at[1] == '/';
            if (!line && (at + 1 == r->end || at[1] != '*'))
                return phi__json_read_expected(r, at + 1,
                                               "'/' or '*' after the slash of a comment");
            r->back = r->state;
            r->state = line ? PHI__JSON_LINE_COMMENT : PHI__JSON_COMMENT;
            return at + 2;
        }
        switch (r->state) {
        case PHI__JSON_FIRST_KEY:
        case PHI__JSON_KEY: at = phi__json_read_key(r, at, stop); break;
        case PHI__JSON_COLON:
            if (*at != ':') return phi__json_read_expected(r, at, "':'");
            r->state = PHI__JSON_VALUE;
            at++;
            break;
        case PHI__JSON_FIRST_ITEM:
        case PHI__JSON_VALUE: at = phi__json_read_value(r, at, stop); break;
        case PHI__JSON_AFTER: at = phi__json_read_after(r, at); break;
        case PHI__JSON_END: return phi__json_read_expected(r, at, "the end of the text");
        default: return at;
        }
    }
    return at;
}

static void phi__json_read_cut(phi__json_reader *r) {
    if (r->state == PHI__JSON_LINE_COMMENT) r->state = r->back;
    switch (r->state) {
    case PHI__JSON_END: r->status = PHI_OK; return;
    case PHI__JSON_FIRST_KEY:
        (void)phi__json_read_expected(r, r->end, "a key in quotes or '}'");
        return;
    case PHI__JSON_KEY: (void)phi__json_read_expected(r, r->end, "a key in quotes"); return;
    case PHI__JSON_COLON: (void)phi__json_read_expected(r, r->end, "':'"); return;
    case PHI__JSON_FIRST_ITEM: (void)phi__json_read_expected(r, r->end, "a value or ']'"); return;
    case PHI__JSON_COMMENT:
        (void)phi__json_read_expected(r, r->end, "the closing '*/' of a comment");
        return;
    case PHI__JSON_TEXT:
        (void)phi__json_read_expected(r, r->end, "the closing '\"' of a string");
        return;
    case PHI__JSON_AFTER:
        (void)phi__json_read_expected(
            r, r->end,
            phi__json_kind_of(r->open) == PHI__JSON_OBJECT ? "',' or '}'" : "',' or ']'");
        return;
    default: (void)phi__json_read_expected(r, r->end, "a value"); return;
    }
}

/* Copies the next slice of the text. After the last slice, sets the reader to read the copy. */
static void phi__json_read_copying(phi__json_reader *r, size_t units) {
    size_t done = (size_t)(r->at - r->text), n = phi__min(units, r->len - done);
    if (r->copy == NULL) {
        r->copy = phi__arena_bytes(r->arena, r->len + 1);
        if (r->copy == NULL) {
            (void)phi__json_read_no_memory(r, r->text);
            return;
        }
    }
    memcpy(r->copy + done, r->text + done, n);
    r->at += n;
    if (done + n < r->len) return;
    r->copy[r->len] = '\0';
    r->base = r->at = r->line_at = r->copy;
    r->end = r->copy + r->len;
    r->state = PHI__JSON_VALUE;
}

/* ---- the reader ---- */

PHI__FN void phi__json_read_begin(phi__json_reader *r, phi_arena *arena, phi_str text,
                                  uint32_t flags, uint32_t max_depth) {
    if (text.at == NULL) text = phi__str("", 0);
    r->arena = arena;
    r->copy = r->string = r->to = NULL; /* fields are set one by one, since a memset takes longer */
    r->mark = r->odd = r->quote = r->key = NULL;
    r->root = r->open = r->spare = r->spare_end = NULL;
    r->marks = NULL;
    r->key_len = r->bad = r->depth = 0;
    r->is_key = false;
    r->error.line = r->error.column = 0;
    r->error.offset = 0;
    r->error.message[0] = '\0';
    r->error.status = PHI_OK;
    r->text = r->base = r->at = r->line_at = text.at;
    r->len = text.len;
    r->end = r->text + text.len;
    r->line = 1;
    r->flags = flags;
    r->max_depth =
        max_depth == 0 ? PHI__JSON_DEPTH : (uint32_t)phi__min(max_depth, PHI_JSON_MAX_DEPTH);
    r->state = (flags & PHI_JSON_BORROW) != 0 ? PHI__JSON_VALUE : PHI__JSON_COPYING;
    r->status = PHI_BUSY;
    if (text.len >= UINT32_MAX)
        (void)phi__json_read_too_big(r, r->text, "a text of 4 GiB or more");
    else if ((flags & PHI_JSON_RELAXED) == 0 && text.len >= 3 &&
             memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
        (void)phi__json_read_wrong(r, r->text, "a byte order mark is not JSON");
}

PHI__FN phi_status phi__json_read_advance(phi__json_reader *r, size_t units) {
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->state == PHI__JSON_COPYING) {
        phi__json_read_copying(r, units);
        if (r->state == PHI__JSON_COPYING || units < r->len) return r->status;
    }
    const char *at = r->at;
    const char *stop = (size_t)(r->end - at) > units ? at + units : r->end;
    while (r->status == PHI_BUSY && at < stop) {
        if (r->state == PHI__JSON_TEXT)
            at = phi__json_read_text(r, at, stop);
        else if (r->state == PHI__JSON_REWRITE)
            at = phi__json_read_rewrite(r, at, stop);
        else if (r->state >= PHI__JSON_COMMENT)
            at = phi__json_read_comment(r, at, stop);
        else
            at = phi__json_read_tokens(r, at, stop);
        if (r->state == PHI__JSON_REWRITE && at < stop && (size_t)(stop - at) > units)
            stop = at + units; /* `at` may be back at the first escape */
    }
    r->at = at;
    if (r->status == PHI_BUSY && at == r->end) phi__json_read_cut(r);
    if (r->status != PHI_BUSY) {
        /* Returns unused nodes to the arena if nothing was allocated after them. */
        if (r->spare != r->spare_end && (char *)r->spare_end == r->arena->at)
            r->arena->at = (char *)r->spare;
        r->spare = r->spare_end = NULL;
    }
    return r->status;
}

PHI__FN phi_status phi__json_read_result(const phi__json_reader *r, phi_json **out,
                                         phi_parse_error *error) {
    if (out != NULL) *out = r->status == PHI_OK ? r->root : NULL;
    if (error != NULL) *error = r->error;
    return r->status;
}
