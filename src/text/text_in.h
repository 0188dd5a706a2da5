/* text_in.h - what text/ offers to other rooms. */
#ifndef PHI_TEXT_TEXT_IN_H
#define PHI_TEXT_TEXT_IN_H

#include "base/base_in.h"
#include "text/json.h"
#include "text/schema.h"

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
    struct phi__marks *marks;    /* where nodes are; NULL: not wanted */
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

/* The comma if needed, then JSON, or its beginning. */
PHI__FN void phi__json_write_item(phi__buf *buf, const char *json);

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

typedef struct phi__json_step {
    phi_str key; /* points into the path */
    size_t index;
    bool is_index;
} phi__json_step;

/* The next step of "a.b[0].c"; advances *path past it. False: the end (then **path is 0), or the
   path is malformed from there. */
PHI__FN bool phi__json_get_path_step(const char **path, phi__json_step *step);

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

static inline bool phi__json_white(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Where in [at, end) the first byte is that is not plain ASCII text (a quote, a backslash, a
   control character, a byte from 0x80), or end. */
PHI__FN const char *phi__json_text_plain_end(const char *at, const char *end);

/* The code of so many hexadecimal digits (at most 8); UINT32_MAX: there are fewer. */
PHI__FN uint32_t phi__json_text_hex(const char *at, const char *end, size_t digits);

/* The closing quote of a string whose opening quote is before `at`, or NULL. *escaped
   says whether there is a backslash; nothing else is checked. */
PHI__FN const char *phi__json_text_quote(const char *at, const char *end, bool *escaped);

/* Length of the UTF-8 sequence at `at` (before end); 0: that byte is not part of any. */
PHI__FN size_t phi__json_text_utf8(const char *at, const char *end);

typedef struct phi__json_cursor {
    const char *at, *end; /* borrowed text */
    bool first;           /* a container was just entered: no comma yet */
    bool bad;
} phi__json_cursor;

/* The raw bytes between two quotes. */
typedef struct phi__json_text {
    const char *at;
    size_t len;
    bool escaped;
} phi__json_text;

PHI__FN void phi__json_cursor_init(phi__json_cursor *c, phi_str text);

/* The type of the value to come; PHI_JSON_NONE: there is none. */
PHI__FN phi_json_type phi__json_cursor_peek(phi__json_cursor *c);

/* Consume the value and return true: it is entered, and its keys or items are to be pulled until
   false. */
PHI__FN bool phi__json_cursor_enter_object(phi__json_cursor *c);
PHI__FN bool phi__json_cursor_enter_array(phi__json_cursor *c);

/* The same from the beginning of a text. */
PHI__FN bool phi__json_cursor_in_object(phi__json_cursor *c, phi_str text);
PHI__FN bool phi__json_cursor_in_array(phi__json_cursor *c, phi_str text);

/* The next key, its value to be consumed next; false: the object ended (and is consumed) or bad. */
PHI__FN bool phi__json_cursor_next_key(phi__json_cursor *c, phi__json_text *key);

/* True: an item is to be consumed next. */
PHI__FN bool phi__json_cursor_next_item(phi__json_cursor *c);

/* The next item, all of its text. */
PHI__FN bool phi__json_cursor_next_raw(phi__json_cursor *c, phi_str *out);
PHI__FN bool phi__json_cursor_skip(phi__json_cursor *c);

/* Skips the value and returns all of its text. */
PHI__FN bool phi__json_cursor_take_raw(phi__json_cursor *c, phi_str *out);

/* Leave *out as it was unless they return true. */
PHI__FN bool phi__json_cursor_take_text(phi__json_cursor *c, phi__json_text *out);
PHI__FN bool phi__json_cursor_take_i64(phi__json_cursor *c, int64_t *out); /* also 3.0 */
PHI__FN bool phi__json_cursor_take_u64(phi__json_cursor *c, uint64_t *out);
PHI__FN bool phi__json_cursor_take_bool(phi__json_cursor *c, bool *out);

/* All of the text was consumed and none of it was bad. */
PHI__FN bool phi__json_cursor_done(phi__json_cursor *c);

/* Appends the text, unescaped; lone surrogates, wrong escapes and bytes that are not UTF-8 become
   U+FFFD. */
PHI__FN void phi__json_cursor_unescape(phi__buf *out, phi__json_text text);

/* The same into the arena, terminated; a text that needs no change is copied too. */
PHI__FN bool phi__json_cursor_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out);

/* Compares with a text that has no escapes; an escaped spelling of it is equal too. */
PHI__FN bool phi__json_cursor_text_same(phi__json_text text, phi_str plain);

static inline bool phi__json_cursor_text_is(phi__json_text text, phi_str plain) {
    if (!text.escaped) return text.len == plain.len && memcmp(text.at, plain.at, plain.len) == 0;
    return phi__json_cursor_text_same(text, plain);
}

typedef enum phi__json_member_kind {
    PHI__MEMBER_TEXT, /* phi__json_text */
    PHI__MEMBER_I64,
    PHI__MEMBER_U64,
    PHI__MEMBER_BOOL,
    PHI__MEMBER_RAW,    /* phi_str: JSON of any type; empty, where it is broken */
    PHI__MEMBER_SOME,   /* the same, unless it is null */
    PHI__MEMBER_OBJECT, /* the same of an object alone */
    PHI__MEMBER_ARRAY,  /* and of an array */
    PHI__MEMBER_IN,     /* an object, whose members another table has */
    PHI__MEMBER_FIRST,  /* an array, of which the first item is such an object */
    PHI__MEMBER_BY      /* what a function takes: it consumes the value */
} phi__json_member_kind;

typedef struct phi__json_member {
    const char *name;
    const struct phi__json_member *inner; /* IN, FIRST */
    void (*take)(phi__json_cursor *c, void *at);
    uint16_t offset;
    uint8_t len, kind;
} phi__json_member;

/* The end of a table, which has at most 32 rows. */
#define PHI__MEMBERS_END                                                                           \
    { NULL, NULL, NULL, 0, 0, 0 }
#define PHI__MEMBER(type, field, name, kind)                                                       \
    { (name), NULL, NULL, (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1), (kind) }

/* An object whose members go into the same struct. */
#define PHI__MEMBER_INSIDE(name, inner)                                                            \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_IN }
#define PHI__MEMBER_INSIDE_FIRST(name, inner)                                                      \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_FIRST }

/* A function that gets a field's address, or that of the whole struct. */
#define PHI__MEMBER_TAKE(type, field, name, take)                                                  \
    {                                                                                              \
        (name), NULL, (take), (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1),        \
            PHI__MEMBER_BY                                                                         \
    }
#define PHI__MEMBER_TAKE_ALL(name, take)                                                           \
    { (name), NULL, (take), 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_BY }

/* Consumes a value, and keeps of an object what the table has. Returns a bit for each member of the
   table that was there, of whatever type. */
PHI__FN uint32_t phi__json_members_take(phi__json_cursor *c, const phi__json_member *members,
                                        void *to);

/* The same of a text that must be one whole object: false, where it is not. `seen` may be NULL. */
PHI__FN bool phi__json_members_read(phi_str text, const phi__json_member *members, void *to,
                                    uint32_t *seen);

/* An array or object that is open. */
typedef struct phi__json_frame {
    uint32_t path_len; /* of its path */
    uint32_t count;    /* of an array: items that have begun */
    bool object;
} phi__json_frame;

typedef struct phi__json_fields {
    phi__buf path;
    phi__json_frame *open;
    size_t depth, cap;
    size_t at;    /* of the text: read so far */
    size_t token; /* where the string, number or word under way begins */
    uint8_t state;
    phi_status status; /* PHI_BUSY until something is wrong */
} phi__json_fields;

PHI__FN void phi__json_fields_init(phi__json_fields *f, phi_memory *memory);
PHI__FN void phi__json_fields_free(phi__json_fields *f); /* as after init; twice is harmless */

/* `text`: all of it so far. 1: a value; *path is its JSON Pointer (RFC 6901), valid until the next
   call, and *value its text (unchanged, a string with its quotes). 0: the text must grow first.
   PHI_PARSE: it is no JSON; PHI_TOO_BIG, PHI_NO_MEMORY: this is the end of it, too. */
PHI__FN int phi__json_fields_next(phi__json_fields *f, phi_str text, phi_str *path, phi_str *value);

typedef struct phi__json_index {
    phi_arena *arena;
    phi__map map;
    uint64_t walked; /* members that were looked at */
    bool shed;       /* members of equal names were removed; the user clears it */
} phi__json_index;

PHI__FN void phi__json_index_init(phi__json_index *index, phi_memory *memory, phi_arena *arena);
PHI__FN void phi__json_index_free(phi__json_index *index); /* twice is harmless */

/* *found: the member; NULL: there is none. False: no memory. */
PHI__FN bool phi__json_index_get(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json **found);

/* Replaces the member in its place, or appends it. The value is in no container. False: no memory,
   which cannot happen to a value that was a member of this name and takes another's place. */
PHI__FN bool phi__json_index_set(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json *value);

/* Removes the member, which is then in no container. False: no memory, which cannot happen in an
   object that was used before. */
PHI__FN bool phi__json_index_remove(phi__json_index *index, phi_json *object, phi_str key,
                                    phi_json **removed);

/* Lines and columns count from 1, columns in bytes; 0: there is none. */
typedef struct phi__marks_entry {
    const phi_json *node; /* NULL: a free slot */
    uint32_t line, column;
    uint32_t key_line, key_column;
} phi__marks_entry;

typedef struct phi__marks {
    phi_arena *arena;
    phi__marks_entry *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
    bool failed;       /* a place found no memory */
} phi__marks;

/* True if a reader keeps places, because a part of phi asks for them. */
#define PHI__MARKED(reader) ((reader)->marks != NULL)

/* Takes no memory yet. */
PHI__FN void phi__marks_init(phi__marks *marks, phi_arena *arena);

/* The place of a node's value, and that of its key, in any order. */
PHI__FN void phi__marks_add(phi__marks *marks, const phi_json *node, uint32_t line,
                            uint32_t column);
PHI__FN void phi__marks_add_key(phi__marks *marks, const phi_json *node, uint32_t line,
                                uint32_t column);

/* False: the node has no place, and *line and *column are 0. */
PHI__FN bool phi__marks_find(const phi__marks *marks, const phi_json *node, uint32_t *line,
                             uint32_t *column);

/* The same of a member's key. */
PHI__FN bool phi__marks_key(const phi__marks *marks, const phi_json *node, uint32_t *line,
                            uint32_t *column);

typedef enum phi__field_kind {
    PHI__FIELD_STR, /* phi_str */
    PHI__FIELD_BOOL,
    /* Any integer or enum that is not negative. A value too large for it becomes its largest. */
    PHI__FIELD_UINT,
    PHI__FIELD_DOUBLE,
    /* int64_t, Unix milliseconds; in JSON a date and time in UTC. */
    PHI__FIELD_TIME
} phi__field_kind;

/* How an empty string, false and zero are written. */
typedef enum phi__field_rule {
    PHI__FIELD_ALWAYS, /* written as it is */
    PHI__FIELD_SET,    /* left out */
    PHI__FIELD_OPTION  /* null */
} phi__field_rule;

typedef struct phi__field {
    const char *key;
    uint16_t offset;
    uint8_t size, kind, rule;
} phi__field;

#define PHI__FIELD(type, member, key, kind, rule)                                                  \
    {                                                                                              \
        (key), (uint16_t)offsetof(type, member), (uint8_t)sizeof(((type *)0)->member), (kind),     \
            (rule)                                                                                 \
    }

/* A member whose key is its name in the struct: PHI__KEYED(phi_usage, input, UINT, ALWAYS). */
#define PHI__KEYED(type, member, kind, rule)                                                       \
    PHI__FIELD(type, member, #member, PHI__FIELD_##kind, PHI__FIELD_##rule)

/* Appends the members, each with the comma before it that it needs. */
PHI__FN void phi__records_put(phi__buf *out, const phi__field *fields, size_t count,
                              const void *from);

/* A whole table, written and read, by its name. */
#define PHI__RECORDS_PUT(out, fields, from)                                                        \
    phi__records_put((out), (fields), PHI__COUNT(fields), (from))
#define PHI__RECORDS_GET(node, fields, to, arena)                                                  \
    phi__records_get((node), (fields), PHI__COUNT(fields), (to), (arena))

/* Sets every field of the table: a member that is missing or of another type gives empty, false or
   zero. Strings are borrowed from the tree, or copied where there is an arena. False: no memory for
   one. */
PHI__FN bool phi__records_get(const phi_json *node, const phi__field *fields, size_t count,
                              void *to, phi_arena *arena);

/* One member. */
PHI__FN void phi__records_str(phi__buf *out, const char *key, phi_str value);
PHI__FN void phi__records_option(phi__buf *out, const char *key, phi_str value); /* empty: null */
PHI__FN void phi__records_some(phi__buf *out, const char *key, phi_str value); /* empty: nothing */
PHI__FN void phi__records_u64(phi__buf *out, const char *key, uint64_t n);
PHI__FN void phi__records_i64(phi__buf *out, const char *key, int64_t n);
PHI__FN void phi__records_double(phi__buf *out, const char *key, double d);
PHI__FN void phi__records_bool(phi__buf *out, const char *key, bool b);
PHI__FN void phi__records_true(phi__buf *out, const char *key, bool b); /* false: nothing */
PHI__FN void phi__records_time(phi__buf *out, const char *key, int64_t ms);

/* The key and raw JSON: "null", or the bracket that opens a value. */
PHI__FN void phi__records_strs(phi__buf *out, const char *key, const phi_str *items, size_t count);
PHI__FN void phi__records_raw(phi__buf *out, const char *key, const char *json);

/* One member of a tree; missing or of another type: zero, "", false. A number that is too large:
   the largest. */
PHI__FN uint64_t phi__records_get_u64(const phi_json *node, const char *key);
PHI__FN uint32_t phi__records_get_u32(const phi_json *node, const char *key);
PHI__FN size_t phi__records_get_size(const phi_json *node, const char *key);
PHI__FN double phi__records_get_double(const phi_json *node, const char *key);
PHI__FN bool phi__records_get_bool(const phi_json *node, const char *key);
PHI__FN phi_str phi__records_get_str(const phi_json *node, const char *key);
PHI__FN int64_t phi__records_get_time(const phi_json *node, const char *key);

/* As phi_schema_check, but linear in objects of any size: their names are looked up in a table.
   Where memory is short the work is that of phi_schema_check. */
PHI__FN phi_status phi__schema_check(phi_memory *memory, const phi_json *schema,
                                     const phi_json *value, const char *name,
                                     phi_schema_error *error);

/* PHI_OK: the schema is well formed and all of it is understood. PHI_UNSUPPORTED: a keyword that
   restricts and is not understood, as in schema.properties.path: "pattern" is not supported;
   PHI_PARSE: malformed; PHI_TOO_BIG: nested too deeply. */
PHI__FN phi_status phi__schema_valid(const phi_json *schema, phi_schema_error *error);

/* Compares a key with a step of a JSON pointer, in which ~1 is a slash and ~0 a tilde. */
PHI__FN bool phi__schema_same_step(phi_str key, phi_str step);
#define PHI__SSE_EVENT_MOST (16u << 20) /* bytes of an event, by default */

typedef struct phi__sse_event {
    phi_str name; /* of the event: line; empty: none */
    phi_str data;
} phi__sse_event;

/* Where a broken stream is to be resumed: of the events that were complete. Its owner's; init its
   buffers, free them. */
typedef struct phi__sse_resume {
    phi__buf id;      /* of the last event that had one, with or without data; empty: none */
    phi__buf id_next; /* of the event under way */
    bool has_next;
    bool has_retry;
    uint64_t retry_ms; /* the delay before the stream is to be opened again */
} phi__sse_resume;

PHI__FN void phi__sse_resume_init(phi__sse_resume *resume, phi_memory *memory);
PHI__FN void phi__sse_resume_free(phi__sse_resume *resume); /* twice is harmless */

typedef struct phi__sse {
    phi__buf line; /* a line that was cut */
    phi__buf data; /* data lines before the one under way */
    phi__buf name;
    phi_str view;         /* a single data line that lies in the bytes fed */
    const char *at, *end; /* the fed bytes that are not read yet */
    size_t max_event_bytes;
    uint64_t comments; /* comment lines so far: keep-alives */
    uint64_t events;   /* handed out so far */
    uint32_t bom;      /* bytes of a byte order mark seen; 3: that is behind us */
    bool has_data, viewed, skip_lf, handed;
    bool strays; /* set after init, to get stray JSON */
    bool stray;  /* the event under way, or the one handed out, is stray JSON */
    phi_status status;
    phi__sse_resume *resume; /* set after init, to get ids and retries; borrowed; NULL: ignored */
} phi__sse;

/* max_event_bytes: data and name of one event, or one line, at most (default 16 MiB). Takes no
   memory yet. */
PHI__FN void phi__sse_init(phi__sse *sse, phi_memory *memory, size_t max_event_bytes);
PHI__FN void phi__sse_free(phi__sse *sse); /* twice is harmless */

/* Before the first byte of a stream that resumes another one: it reads ids into `resume`, where the
   id of an event that was cut counts for nothing. */
PHI__FN void phi__sse_resume_with(phi__sse *sse, phi__sse_resume *resume);

/* The next bytes of the stream, borrowed. The bytes fed before must be read: next returned 0. */
PHI__FN void phi__sse_feed(phi__sse *sse, const char *bytes, size_t len);

/* 1: an event; 0: needs more bytes; PHI_TOO_BIG or PHI_NO_MEMORY: dead until reset. */
PHI__FN int phi__sse_next(phi__sse *sse, phi__sse_event *out);

/* After the last byte, when next has returned 0: hands out an event that no blank line ended. As
   next; afterwards 0. */
PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out);

#endif
