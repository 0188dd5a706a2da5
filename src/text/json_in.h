/* json_in.h - JSON for our own modules: the node, writing without a tree, numbers, string pieces.

   The children of a container form a ring: the container points at its last child, whose next is
   the first, so appending needs no walk. A node outside of every container has no next. While a
   container is being read, its next is its parent. */
#ifndef PHI_TEXT_JSON_IN_H
#define PHI_TEXT_JSON_IN_H

#include "base/arena_in.h"
#include "text/json.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum phi__json_kind {
    PHI__JSON_NULL = 1,
    PHI__JSON_FALSE,
    PHI__JSON_TRUE,
    PHI__JSON_INT,  /* v.i */
    PHI__JSON_UINT, /* v.u, above INT64_MAX only */
    PHI__JSON_DOUBLE,
    PHI__JSON_STRING,
    PHI__JSON_ARRAY,
    PHI__JSON_OBJECT
};

/* What the text was in TOML, or the root of a loaded document; 0 in all other trees. The functions
   of json.h keep it: a date is a string to them. */
enum phi__json_form {
    PHI__JSON_OFFSET_DATETIME = 1, /* of strings */
    PHI__JSON_LOCAL_DATETIME,
    PHI__JSON_LOCAL_DATE,
    PHI__JSON_LOCAL_TIME,
    PHI__JSON_INLINE,  /* an object in braces */
    PHI__JSON_TABLES,  /* an array of [[headers]] */
    PHI__JSON_DOCUMENT /* of phi_json_load: in no container, and freed by phi_json_unload */
};

typedef union phi__json_value {
    const char *str;
    phi_json *last;
    int64_t i;
    uint64_t u;
    double d;
} phi__json_value;

/* 32 bytes (24 with 32-bit pointers). */
struct phi_json {
    phi_json *next;
    const char *key;
    phi__json_value v;
    uint32_t len;  /* bytes of a string, children of a container */
    uint32_t meta; /* key length << 8 | form << 4 | kind */
};

static inline uint32_t phi__json_kind_of(const phi_json *node) { return node->meta & 0xfu; }
static inline uint32_t phi__json_form_of(const phi_json *node) { return node->meta >> 4 & 0xfu; }
static inline uint32_t phi__json_key_len(const phi_json *node) { return node->meta >> 8; }

/* Appends without any check: for readers. */
static inline void phi__json_append(phi_json *container, phi_json *child) {
    phi_json *last = container->v.last;
    if (last != NULL) {
        child->next = last->next;
        last->next = child;
    } else
        child->next = child;
    container->v.last = child;
    container->len++;
}

/* ---- reading in slices ---- */

/* phi_json_parse in slices: begin, advance until it is not PHI_BUSY, result. It can be dropped at
   any time. */
typedef struct phi__json_reader {
    phi_arena *arena;
    const char *text; /* as given */
    char *copy;       /* of it; NULL with PHI_JSON_BORROW */
    size_t len;
    const char *base, *at, *end;    /* the text being read: the copy, or the caller's */
    const char *line_at;            /* where the line begins */
    const char *mark, *odd, *quote; /* a string under way: first byte, first escape, end */
    char *string, *to;              /* first unescaped byte, and where the next goes */
    const char *key;                /* of the next value */
    phi_json *root, *open;
    phi_json *spare, *spare_end; /* room for nodes */
    struct phi__marks *marks;    /* where nodes stand; NULL: nobody asks */
    uint32_t key_len, bad, line, flags, depth, max_depth;
    uint32_t key_line, key_column; /* of the next value; with marks alone */
    uint8_t state, back;           /* back: the state after a comment */
    bool is_key;
    phi_status status;
    phi_parse_error error;
} phi__json_reader;

/* max_depth: nested arrays and objects at most (default 512, at most PHI_JSON_MAX_DEPTH).
   `text` is borrowed until the result, with PHI_JSON_BORROW as long as the tree. */
PHI__FN void phi__json_read_begin(phi__json_reader *reader, phi_arena *arena, phi_str text,
                                  uint32_t flags, uint32_t max_depth);
/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI__FN phi_status phi__json_read_advance(phi__json_reader *reader, size_t units);
/* The last status of advance, with the tree or the error (either may be NULL). */
PHI__FN phi_status phi__json_read_result(const phi__json_reader *reader, phi_json **out,
                                         phi_parse_error *error);

/* ---- looking at a tree ---- */

/* "null", "boolean", "number", "string", "array" or "object"; "nothing" for NULL. Static. */
PHI__FN const char *phi__json_get_type_name(const phi_json *node);

/* As phi_json_int. */
PHI__FN uint64_t phi__json_get_uint(const phi_json *node, uint64_t fallback);
/* phi_json_get, and phi_json_set, with a key of a length. */
PHI__FN phi_json *phi__json_get_n(const phi_json *object, phi_str key);
PHI__FN phi_status phi__json_edit_set(phi_arena *arena, phi_json *object, phi_str key,
                                      phi_json *value);
/* Same value: numbers by their value (1 equals 1.0), objects in any order. */
PHI__FN bool phi__json_get_equal(const phi_json *a, const phi_json *b);

/* New nodes, as phi_json_new_int. A NULL text is empty. */
PHI__FN phi_json *phi__json_edit_null(phi_arena *arena);
PHI__FN phi_json *phi__json_edit_uint(phi_arena *arena, uint64_t value);
PHI__FN phi_json *phi__json_edit_text(phi_arena *arena, const char *value);
/* Removes an item, which is returned and can be put elsewhere. NULL: there is none. */
PHI__FN phi_json *phi__json_edit_remove_at(phi_json *array, size_t index);

/* A string as phi_json_str, or "". */
static inline phi_str phi__json_text_of(const phi_json *node) {
    bool is = node != NULL && phi__json_kind_of(node) == PHI__JSON_STRING;
    return is ? phi__str(node->v.str, node->len) : PHI__LIT("");
}

/* A name of phi__json_get_pick's, from a literal. */
#define PHI__JSON_NAME(literal)                                                                    \
    { (literal), sizeof(literal) - 1 }

/* What phi_json_get finds for each of the names, in one pass: quick where members come in about
   their order. */
PHI__FN void phi__json_get_pick(const phi_json *object, const phi_str *names, size_t count,
                                const phi_json **found);

/* ---- writing into a buffer; a failure shows in buf->failed ---- */

/* "text" with quotes and escapes. Bytes that are not UTF-8 become U+FFFD: the output is always
   valid JSON. */
PHI__FN void phi__json_write_str(phi__buf *buf, phi_str text);
/* The same without the quotes, to write a string piece by piece; a piece must not end inside of a
   UTF-8 sequence. */
PHI__FN void phi__json_write_part(phi__buf *buf, phi_str text);
PHI__FN void phi__json_number_put_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__json_number_put_i64(phi__buf *buf, int64_t n);
/* Shortest digits that read back, with ".0" where an integer would come out; null unless finite. */
PHI__FN void phi__json_number_put_double(phi__buf *buf, double d);
PHI__FN void phi__json_write_bool(phi__buf *buf, bool b);
/* A comma, unless the buffer is empty or ends in one of "{[:,". */
PHI__FN void phi__json_write_comma(phi__buf *buf);
/* The comma if needed, then "key": */
PHI__FN void phi__json_write_key(phi__buf *buf, phi_str key);
/* A tree in one go; flags as phi_json_write. NULL writes null. */
PHI__FN phi_status phi__json_write(phi__buf *buf, const phi_json *node, uint32_t flags);

/* A tree in slices: begin, advance until it is not PHI_BUSY, end. The tree must not change
   meanwhile. `out` is borrowed until the end, and may be emptied between calls. */
#define PHI__JSON_STACK 24
typedef struct phi__json_writer {
    phi__buf *out;
    const phi_json *node;   /* to be written next; NULL: the end */
    const phi_json **stack; /* open containers: `few` or taken memory */
    const phi_json *few[PHI__JSON_STACK];
    size_t depth, cap;
    phi_str rest;                    /* of a string under way */
    bool in_string, in_key, written; /* written: node is, and its successors are not */
    uint32_t flags;
    phi_status status;
} phi__json_writer;
PHI__FN void phi__json_write_writer_begin(phi__json_writer *writer, phi__buf *out,
                                          const phi_json *node, uint32_t flags);
/* Writes about `units` bytes, at least one. */
PHI__FN phi_status phi__json_write_writer_advance(phi__json_writer *writer, size_t units);
/* at any time; twice is harmless */
PHI__FN void phi__json_write_writer_end(phi__json_writer *writer);

/* ---- numbers ---- */

typedef struct phi__json_number {
    uint32_t kind; /* PHI__JSON_INT, PHI__JSON_UINT or PHI__JSON_DOUBLE; 0: see phi__json_number */
    phi__json_value v;
} phi__json_number;

/* Reads a number of JSON's grammar at the start of [at, end). Returns where it ends, or NULL:
   *bad then is where it went wrong (a value that no double can hold: its start). */
PHI__FN const char *phi__json_number_read(const char *at, const char *end, phi__json_number *out,
                                          const char **bad);
/* Its value where it fits: an integer also of a double without a fraction. */
PHI__FN bool phi__json_get_number_i64(const phi__json_number *n, int64_t *out);
PHI__FN bool phi__json_get_number_u64(const phi__json_number *n, uint64_t *out);
PHI__FN double phi__json_get_number_double(const phi__json_number *n);
/* The shortest text of a finite double; `out` has room for 32 bytes. Returns the length. */
PHI__FN size_t phi__json_number_double_text(double d, char *out);

/* ---- paths ---- */

typedef struct phi__json_step {
    phi_str key; /* points into the path */
    size_t index;
    bool is_index;
} phi__json_step;

/* The next step of "a.b[0].c", *path moving behind it. False: the end (then **path is 0), or the
   path is malformed from there. */
PHI__FN bool phi__json_get_path_step(const char **path, phi__json_step *step);

/* ---- searching without a tree ---- */

/* A value in a text, not yet read. */
typedef struct phi__json_found {
    phi_json_type type;
    phi_str raw;  /* borrowed from the text: all of it; of a string the bytes between the quotes */
    bool escaped; /* a string with escapes in it */
} phi__json_found;

/* Finds the value at a path (as phi_json_path) by scanning the text: arrays on the path up to the
   item, objects to their end, since of duplicate keys the last counts, as with phi_json_get.
   PHI_OK, PHI_NOT_FOUND, or PHI_PARSE when the scanned text is broken. Skipped values are only
   checked for brackets and strings that close. */
PHI__FN phi_status phi__json_cursor_find(phi_str text, const char *path, phi__json_found *out);
/* The value found, as text (borrowed from the text, or unescaped into the arena; bad UTF-8 and lone
   surrogates become U+FFFD) or as a number. False: no memory, not a string, not a number that
   fits. */
PHI__FN bool phi__json_cursor_found_str(phi_arena *arena, const phi__json_found *found,
                                        phi_str *out);
PHI__FN bool phi__json_cursor_found_int(const phi__json_found *found, int64_t *out);
PHI__FN bool phi__json_cursor_found_num(const phi__json_found *found, double *out);

/* ---- strings ---- */

#if defined(__SSE2__)
/* A bit for each byte that is not plain; signed, so that bytes from 0x80 are below the space. */
static inline int phi__json_special(__m128i block) {
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                                       _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))),
                                          _mm_cmplt_epi8(block, _mm_set1_epi8(' '))));
}
#endif

#define PHI__JSON_ONES UINT64_C(0x0101010101010101)

/* The highest bit of each byte that is zero, and of none before the first of those. */
static inline uint64_t phi__json_zero_bytes(uint64_t word) {
    return (word - PHI__JSON_ONES) & ~word & PHI__JSON_ONES << 7;
}

static inline bool phi__json_is_plain(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* Whether one of eight bytes is not plain. */
static inline bool phi__json_special_word(const char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return ((word | phi__json_zero_bytes(word ^ PHI__JSON_ONES * '"') |
             phi__json_zero_bytes(word ^ PHI__JSON_ONES * '\\') |
             ((word - PHI__JSON_ONES * ' ') & ~word)) &
            PHI__JSON_ONES << 7) != 0;
}

/* Where in [at, end) the first byte is that is not plain ASCII text (a quote, a backslash, a
   control character, a byte from 0x80), or end. */
PHI__FN const char *phi__json_text_plain_end(const char *at, const char *end);
/* The same for mostly short texts: checks the first bytes in line. */
static inline const char *phi__json_plain_short(const char *at, const char *end) {
#if defined(__SSE2__)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = phi__json_special(block);
        if (mask != 0) return at + __builtin_ctz((unsigned)mask);
        at += 16;
    }
#endif
    return phi__json_text_plain_end(at, end);
}
/* The code of so many hexadecimal digits (at most 8); UINT32_MAX: there are fewer. */
PHI__FN uint32_t phi__json_text_hex(const char *at, const char *end, size_t digits);
/* Of a string whose opening quote is before `at`: where its closing quote is, or NULL. *escaped
   says whether there is a backslash; nothing else is checked. */
PHI__FN const char *phi__json_text_quote(const char *at, const char *end, bool *escaped);
/* The same where the way is mostly short. */
static inline const char *phi__json_quote_short(const char *at, const char *end, bool *escaped) {
#if defined(__SSE2__)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int quote = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')));
        int escape = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
        *escaped = false;
        /* no escape below the first quote */
        if (quote != 0 && (escape & (quote - 1) & ~quote) == 0)
            return at + __builtin_ctz((unsigned)quote);
        if (escape == 0) at += 16;
    }
#endif
    return phi__json_text_quote(at, end, escaped);
}
/* Length of the UTF-8 sequence at `at` (before end); 0: that byte is not part of any. */
PHI__FN size_t phi__json_text_utf8(const char *at, const char *end);
/* Length of the escape at the backslash `at`, its code point in *code: 2, 6, or 12 for a pair of
   surrogates. A lone surrogate is 6, and the code is the surrogate's. 0: no escape, or cut. */
PHI__FN size_t phi__json_text_escape(const char *at, const char *end, uint32_t *code);
/* Unescapes about `most` bytes of [at, end), at least one byte and no sequence in part, to *to,
   which moves on. Bad bytes become U+FFFD. Takes at most `most` + PHI__JSON_RUN_MORE bytes and
   writes at most three times as many; without bad bytes it never writes more than it takes, so it
   may work in place. Returns where it stopped. */
#define PHI__JSON_RUN_MORE 12
PHI__FN const char *phi__json_text_unescape_run(const char *at, const char *end, size_t most,
                                                char **to);

#endif
