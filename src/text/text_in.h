/* text_in.h - the functions and types of text/ for other rooms. */
#ifndef PHI_TEXT_TEXT_IN_H
#define PHI_TEXT_TEXT_IN_H

#include "base/base_in.h"
#include "text/json.h"
#include "text/schema.h"

enum phi__json_kind {
    PHI__JSON_NULL = 1,
    PHI__JSON_FALSE,
    PHI__JSON_TRUE,
    PHI__JSON_INT,  /* the value is in v.i */
    PHI__JSON_UINT, /* the value is in v.u, above INT64_MAX */
    PHI__JSON_DOUBLE,
    PHI__JSON_STRING,
    PHI__JSON_ARRAY,
    PHI__JSON_OBJECT
};

/* How a value was written in TOML, or PHI__JSON_DOCUMENT for the root of a document; 0 in all other
   trees. The functions of json.h keep this form, and treat a date as a string. */
enum phi__json_form {
    PHI__JSON_OFFSET_DATETIME = 1, /* this and the next three forms are strings */
    PHI__JSON_LOCAL_DATETIME,
    PHI__JSON_LOCAL_DATE,
    PHI__JSON_LOCAL_TIME,
    PHI__JSON_INLINE,  /* an object written in braces */
    PHI__JSON_TABLES,  /* an array written as [[headers]] */
    PHI__JSON_DOCUMENT /* the root of a document of phi_json_load; it is in no container */
};

typedef union phi__json_value {
    const char *str;
    phi_json *last;
    int64_t i;
    uint64_t u;
    double d;
} phi__json_value;

/* A node takes 32 bytes (24 with 32-bit pointers). */
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

/* Appends a child without any checks. For readers. */
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

/* A reader of a tree in slices: call begin, then advance until it does not return PHI_BUSY, then
   result. A reader can be dropped at any time. */
typedef struct phi__json_reader {
    phi_arena *arena;
    const char *text; /* the caller's text */
    char *copy;       /* the reader's copy of the text; NULL with PHI_JSON_BORROW */
    size_t len;
    const char *base, *at, *end;    /* the text being read: the copy or the caller's text */
    const char *line_at;            /* start of the current line */
    const char *mark, *odd, *quote; /* current string: first byte, first escape, end */
    char *string, *to;              /* unescaped string: its start, and where the next byte goes */
    const char *key;                /* key of the next value */
    phi_json *root, *open;
    phi_json *spare, *spare_end; /* allocated nodes that are not used yet */
    struct phi__marks *marks;    /* positions of the nodes; NULL: not wanted */
    uint32_t key_len, bad, line, flags, depth, max_depth;
    uint32_t key_line, key_column; /* position of the next value's key; set only with marks */
    uint8_t state, back;           /* back: the state after a comment */
    bool is_key;
    phi_status status;
    phi_parse_error error;
} phi__json_reader;

/* Begins to read a text. The text is borrowed until the result, or, with PHI_JSON_BORROW, as long
   as the tree is used. max_depth limits nesting (default 512, at most PHI_JSON_MAX_DEPTH). */
PHI__FN void phi__json_read_begin(phi__json_reader *reader, phi_arena *arena, phi_str text,
                                  uint32_t flags, uint32_t max_depth);

/* Reads about `units` bytes, at least one. Returns PHI_BUSY until the whole text is read. */
PHI__FN phi_status phi__json_read_advance(phi__json_reader *reader, size_t units);

/* Returns the last status of advance, and sets *out to the tree or *error to the error. `out` and
   `error` may be NULL. */
PHI__FN phi_status phi__json_read_result(const phi__json_reader *reader, phi_json **out,
                                         phi_parse_error *error);

/* Returns "null", "boolean", "number", "string", "array", "object" or, for NULL, "nothing". */
PHI__FN const char *phi__json_get_type_name(const phi_json *node);

/* Like phi_json_int, for unsigned values. */
PHI__FN uint64_t phi__json_get_uint(const phi_json *node, uint64_t fallback);

/* Like phi_json_get and phi_json_set, with a key that has a length. */
PHI__FN phi_json *phi__json_get_n(const phi_json *object, phi_str key);
PHI__FN phi_status phi__json_edit_set(phi_arena *arena, phi_json *object, phi_str key,
                                      phi_json *value);

/* True if values are equal: numbers by value (1 equals 1.0), objects in any order of members. */
PHI__FN bool phi__json_get_equal(const phi_json *a, const phi_json *b);

/* Return a new node, like phi_json_new_int. A text whose pointer is NULL gives an empty string. */
PHI__FN phi_json *phi__json_edit_null(phi_arena *arena);
PHI__FN phi_json *phi__json_edit_uint(phi_arena *arena, uint64_t value);
PHI__FN phi_json *phi__json_edit_text(phi_arena *arena, const char *value);

/* Removes and returns an item; it can be put into another container. NULL: no such item. */
PHI__FN phi_json *phi__json_edit_remove_at(phi_json *array, size_t index);

/* Returns the string of a node, or "" if the node is no string. */
static inline phi_str phi__json_text_of(const phi_json *node) {
    bool is = node != NULL && phi__json_kind_of(node) == PHI__JSON_STRING;
    return is ? phi__str(node->v.str, node->len) : PHI__LIT("");
}

/* Makes a name for phi__json_get_pick from a string literal. */
#define PHI__JSON_NAME(literal)                                                                    \
    { (literal), sizeof(literal) - 1 }

/* For all names in one pass, sets found[i] to the member that phi_json_get would find for names[i].
   Fast if the members come in about the order of the names. */
PHI__FN void phi__json_get_pick(const phi_json *object, const phi_str *names, size_t count,
                                const phi_json **found);

/* Writes "text" with quotes and escapes. Bytes that are not UTF-8 become U+FFFD. */
PHI__FN void phi__json_write_str(phi__buf *buf, phi_str text);

/* Writes a piece of a string, without quotes. A piece must not end inside a UTF-8 sequence. */
PHI__FN void phi__json_write_part(phi__buf *buf, phi_str text);
PHI__FN void phi__json_number_put_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__json_number_put_i64(phi__buf *buf, int64_t n);

/* Writes the shortest digits that read back as the same value, with ".0" if they look like an
   integer. Writes null if the value is not finite. */
PHI__FN void phi__json_number_put_double(phi__buf *buf, double d);
PHI__FN void phi__json_write_bool(phi__buf *buf, bool b);

/* Writes a comma, unless the buffer is empty or ends in one of "{[:,". */
PHI__FN void phi__json_write_comma(phi__buf *buf);

/* Writes a comma if one is needed, then the given JSON text. */
PHI__FN void phi__json_write_item(phi__buf *buf, const char *json);

/* Writes a comma if one is needed, then "key": */
PHI__FN void phi__json_write_key(phi__buf *buf, phi_str key);

/* Writes a whole tree at once; flags as for phi_json_write. A node of NULL is written as null. */
PHI__FN phi_status phi__json_write(phi__buf *buf, const phi_json *node, uint32_t flags);

/* A writer of a tree in slices: call begin, then advance until it does not return PHI_BUSY, then
   end. The tree must not change meanwhile. `out` is borrowed, and may be emptied between calls. */
#define PHI__JSON_STACK 24

typedef struct phi__json_writer {
    phi__buf *out;
    const phi_json *node;   /* the next node to write; NULL: no more nodes */
    const phi_json **stack; /* open containers; points to `few` or to allocated memory */
    const phi_json *few[PHI__JSON_STACK];
    size_t depth, cap;
    phi_str rest;                    /* the unwritten part of the current string */
    bool in_string, in_key, written; /* written: the node is written, but not its siblings */
    uint32_t flags;
    phi_status status;
} phi__json_writer;

PHI__FN void phi__json_write_writer_begin(phi__json_writer *writer, phi__buf *out,
                                          const phi_json *node, uint32_t flags);

/* Writes about `units` bytes, at least one. Returns PHI_BUSY until the whole tree is written. */
PHI__FN phi_status phi__json_write_writer_advance(phi__json_writer *writer, size_t units);

/* Frees the writer's memory. Allowed at any time, also twice. */
PHI__FN void phi__json_write_writer_end(phi__json_writer *writer);

typedef struct phi__json_number {
    uint32_t kind; /* PHI__JSON_INT, PHI__JSON_UINT or PHI__JSON_DOUBLE */
    phi__json_value v;
} phi__json_number;

/* Reads a number in JSON's grammar at the start of [at, end). Returns the byte after the number.
   NULL: there is no number, and *bad is the first wrong byte; or no double can hold the value, and
   *bad is `at`. */
PHI__FN const char *phi__json_number_read(const char *at, const char *end, phi__json_number *out,
                                          const char **bad);

/* Set *out to the number's value. False: it does not fit. 3.0 counts as an integer. */
PHI__FN bool phi__json_get_number_i64(const phi__json_number *n, int64_t *out);
PHI__FN bool phi__json_get_number_u64(const phi__json_number *n, uint64_t *out);
PHI__FN double phi__json_get_number_double(const phi__json_number *n);

/* Writes the shortest text of a finite double to `out` (32 bytes). Returns its length. */
PHI__FN size_t phi__json_number_double_text(double d, char *out);

typedef struct phi__json_step {
    phi_str key; /* points into the path's text */
    size_t index;
    bool is_index;
} phi__json_step;

/* Reads the next step of a path such as "a.b[0].c", and advances *path. False: the path is
   malformed, or *path is at its end and there are no more steps. */
PHI__FN bool phi__json_get_path_step(const char **path, phi__json_step *step);

/* A value in a JSON text that was not parsed yet. */
typedef struct phi__json_found {
    phi_json_type type;
    phi_str raw;  /* borrowed from the text; without the quotes if it is a string */
    bool escaped; /* the string has escapes */
} phi__json_found;

/* Finds the value at a path (see phi_json_path) by scanning the text. An array is scanned up to the
   item. An object is scanned to its end, because the last of several equal keys counts. Returns
   PHI_OK, PHI_NOT_FOUND, PHI_BAD_ARG if the path is malformed, or PHI_PARSE if the scanned text is
   broken. In skipped values only brackets and the ends of strings are checked. */
PHI__FN phi_status phi__json_cursor_find(phi_str text, const char *path, phi__json_found *out);

/* Return the found value as a number or as a text. A text is borrowed, or unescaped into the arena.
   Bad UTF-8 and lone surrogates become U+FFFD. False: there is no memory, the value has another
   type, or the number does not fit. */
PHI__FN bool phi__json_cursor_found_str(phi_arena *arena, const phi__json_found *found,
                                        phi_str *out);
PHI__FN bool phi__json_cursor_found_int(const phi__json_found *found, int64_t *out);
PHI__FN bool phi__json_cursor_found_num(const phi__json_found *found, double *out);

static inline bool phi__json_white(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the first byte in [at, end) that is not plain ASCII text (a quote, a backslash, a control
   character or a byte from 0x80), or end. */
PHI__FN const char *phi__json_text_plain_end(const char *at, const char *end);

/* Returns the value of `digits` hexadecimal digits (at most 8). UINT32_MAX: there are fewer. */
PHI__FN uint32_t phi__json_text_hex(const char *at, const char *end, size_t digits);

/* Returns the closing quote of the string that begins at `at`, after its opening quote; NULL: no
   closing quote. Sets *escaped if there is a backslash. Nothing else is checked. */
PHI__FN const char *phi__json_text_quote(const char *at, const char *end, bool *escaped);

/* Returns the length of the UTF-8 sequence at `at`; 0: the bytes there are no valid sequence. */
PHI__FN size_t phi__json_text_utf8(const char *at, const char *end);

typedef struct phi__json_cursor {
    const char *at, *end; /* borrowed text */
    bool first;           /* a container was just entered, so no comma is expected */
    bool bad;
} phi__json_cursor;

/* The raw bytes between the quotes of a string. */
typedef struct phi__json_text {
    const char *at;
    size_t len;
    bool escaped;
} phi__json_text;

PHI__FN void phi__json_cursor_init(phi__json_cursor *c, phi_str text);

/* Returns the type of the next value; PHI_JSON_NONE: there is no value. */
PHI__FN phi_json_type phi__json_cursor_peek(phi__json_cursor *c);

/* Enter the next value if it is an object or array. Then pull its keys or items until there are no
   more. False: the value has another type and is skipped. */
PHI__FN bool phi__json_cursor_enter_object(phi__json_cursor *c);
PHI__FN bool phi__json_cursor_enter_array(phi__json_cursor *c);

/* Enter the object or array at the start of a text. */
PHI__FN bool phi__json_cursor_in_object(phi__json_cursor *c, phi_str text);
PHI__FN bool phi__json_cursor_in_array(phi__json_cursor *c, phi_str text);

/* Returns the next key. Its value must be consumed next. False: the object ended, or the text is
   bad. */
PHI__FN bool phi__json_cursor_next_key(phi__json_cursor *c, phi__json_text *key);

/* True if there is an item, which must be consumed next. False: the array ended, or the text is
   bad. */
PHI__FN bool phi__json_cursor_next_item(phi__json_cursor *c);

/* Consumes the next item and returns its whole text. */
PHI__FN bool phi__json_cursor_next_raw(phi__json_cursor *c, phi_str *out);
PHI__FN bool phi__json_cursor_skip(phi__json_cursor *c);

/* Consumes the next value and returns its whole text. */
PHI__FN bool phi__json_cursor_take_raw(phi__json_cursor *c, phi_str *out);

/* Consume the next value. False: the value is broken, too large or of another type, and *out is
   unchanged. */
PHI__FN bool phi__json_cursor_take_text(phi__json_cursor *c, phi__json_text *out);
PHI__FN bool phi__json_cursor_take_i64(phi__json_cursor *c, int64_t *out); /* accepts 3.0 too */
PHI__FN bool phi__json_cursor_take_u64(phi__json_cursor *c, uint64_t *out);
PHI__FN bool phi__json_cursor_take_bool(phi__json_cursor *c, bool *out);

/* True if the whole text was consumed and nothing in it was bad. */
PHI__FN bool phi__json_cursor_done(phi__json_cursor *c);

/* Appends the text unescaped. Bad UTF-8, wrong escapes and lone surrogates become U+FFFD. */
PHI__FN void phi__json_cursor_unescape(phi__buf *out, phi__json_text text);

/* Copies the text unescaped into the arena, with a terminator. False: no memory. */
PHI__FN bool phi__json_cursor_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out);

/* True if the text, once unescaped, equals `plain`. */
PHI__FN bool phi__json_cursor_text_same(phi__json_text text, phi_str plain);

static inline bool phi__json_cursor_text_is(phi__json_text text, phi_str plain) {
    if (!text.escaped) return text.len == plain.len && memcmp(text.at, plain.at, plain.len) == 0;
    return phi__json_cursor_text_same(text, plain);
}

typedef enum phi__json_member_kind {
    PHI__MEMBER_TEXT, /* stored as phi__json_text */
    PHI__MEMBER_I64,
    PHI__MEMBER_U64,
    PHI__MEMBER_BOOL,
    PHI__MEMBER_RAW,    /* phi_str: JSON of any type; empty if it is broken */
    PHI__MEMBER_SOME,   /* phi_str: JSON of any type but null */
    PHI__MEMBER_OBJECT, /* phi_str: JSON of an object */
    PHI__MEMBER_ARRAY,  /* phi_str: JSON of an array */
    PHI__MEMBER_IN,     /* an object; the table `inner` has its members */
    PHI__MEMBER_FIRST,  /* an array; `inner` has the members of the array's first item */
    PHI__MEMBER_BY      /* the function `take` consumes the value */
} phi__json_member_kind;

typedef struct phi__json_member {
    const char *name;
    const struct phi__json_member *inner; /* for IN and FIRST */
    void (*take)(phi__json_cursor *c, void *at);
    uint16_t offset;
    uint8_t len, kind;
} phi__json_member;

/* The last row of a table. A table has at most 32 other rows. */
#define PHI__MEMBERS_END                                                                           \
    { NULL, NULL, NULL, 0, 0, 0 }
#define PHI__MEMBER(type, field, name, kind)                                                       \
    { (name), NULL, NULL, (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1), (kind) }

/* An object whose members go into the same struct. */
#define PHI__MEMBER_INSIDE(name, inner)                                                            \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_IN }
#define PHI__MEMBER_INSIDE_FIRST(name, inner)                                                      \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_FIRST }

/* A member that a function reads. The function gets the address of a field, or of the struct. */
#define PHI__MEMBER_TAKE(type, field, name, take)                                                  \
    {                                                                                              \
        (name), NULL, (take), (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1),        \
            PHI__MEMBER_BY                                                                         \
    }
#define PHI__MEMBER_TAKE_ALL(name, take)                                                           \
    { (name), NULL, (take), 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_BY }

/* Consumes an object and keeps the members that the table has. Returns a bit for each row whose
   member was in the object, whatever its type. */
PHI__FN uint32_t phi__json_members_take(phi__json_cursor *c, const phi__json_member *members,
                                        void *to);

/* Reads a text that must be one whole object. False: the text is not. If `seen` is not NULL, *seen
   gets the bits that phi__json_members_take returns. */
PHI__FN bool phi__json_members_read(phi_str text, const phi__json_member *members, void *to,
                                    uint32_t *seen);

/* An open array or object. */
typedef struct phi__json_frame {
    uint32_t path_len; /* length of the path of this array or object */
    uint32_t count;    /* items of an array that have begun */
    bool object;
} phi__json_frame;

typedef struct phi__json_fields {
    phi__buf path;
    phi__json_frame *open;
    size_t depth, cap;
    size_t at;    /* bytes of the text that are read */
    size_t token; /* start of the current string, number or word */
    uint8_t state;
    phi_status status; /* PHI_BUSY until there is an error */
} phi__json_fields;

PHI__FN void phi__json_fields_init(phi__json_fields *f, phi_memory *memory);
/* leaves *f as after init; may be called twice */
PHI__FN void phi__json_fields_free(phi__json_fields *f);

/* Returns the next value of a growing JSON text. `text` is all of the text so far. Returns 1 for a
   value: path is its JSON Pointer (RFC 6901), valid until the next call, and *value is its text
   (unchanged; a string has its quotes). Returns 0 if more text is needed, or PHI_PARSE if the text
   is no JSON. After PHI_PARSE, PHI_TOO_BIG and PHI_NO_MEMORY there are no more values. */
PHI__FN int phi__json_fields_next(phi__json_fields *f, phi_str text, phi_str *path, phi_str *value);

typedef struct phi__json_index {
    phi_arena *arena;
    phi__map map;
    uint64_t walked; /* counter of compared members, for tests */
    bool shed;       /* members with equal names were removed; the user clears this flag */
} phi__json_index;

PHI__FN void phi__json_index_init(phi__json_index *index, phi_memory *memory, phi_arena *arena);
PHI__FN void phi__json_index_free(phi__json_index *index); /* may be called twice */

/* Finds a member. *found is NULL if there is no such member. False: no memory. */
PHI__FN bool phi__json_index_get(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json **found);

/* Replaces the member in its place, or appends it. The value must be in no container. False: no
   memory. Replacing a member by a value that already has its name cannot fail. */
PHI__FN bool phi__json_index_set(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json *value);

/* Removes the member, which is then in no container. False: no memory. This cannot happen after
   another call with this object. */
PHI__FN bool phi__json_index_remove(phi__json_index *index, phi_json *object, phi_str key,
                                    phi_json **removed);

/* Lines and columns count from 1, columns in bytes. 0: there is no position. */
typedef struct phi__marks_entry {
    const phi_json *node; /* NULL: a free slot */
    uint32_t line, column;
    uint32_t key_line, key_column;
} phi__marks_entry;

typedef struct phi__marks {
    phi_arena *arena;
    phi__marks_entry *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
    bool failed;       /* there was no memory for a position */
} phi__marks;

/* True if the reader keeps the positions of nodes. Only some parts of phi ask for them. */
#define PHI__MARKED(reader) ((reader)->marks != NULL)

PHI__FN void phi__marks_init(phi__marks *marks, phi_arena *arena);

/* Store the position of a node's value, or of its key. The two may be called in any order. */
PHI__FN void phi__marks_add(phi__marks *marks, const phi_json *node, uint32_t line,
                            uint32_t column);
PHI__FN void phi__marks_add_key(phi__marks *marks, const phi_json *node, uint32_t line,
                                uint32_t column);

/* Finds the position of a node's value. False: there is none, and *line and *column are 0. */
PHI__FN bool phi__marks_find(const phi__marks *marks, const phi_json *node, uint32_t *line,
                             uint32_t *column);

/* Finds the position of a member's key. False: there is none, and *line and *column are 0. */
PHI__FN bool phi__marks_key(const phi__marks *marks, const phi_json *node, uint32_t *line,
                            uint32_t *column);

typedef enum phi__field_kind {
    PHI__FIELD_STR, /* stored as phi_str */
    PHI__FIELD_BOOL,
    /* Any integer or enum that is not negative. A value that is too large becomes the largest. */
    PHI__FIELD_UINT,
    PHI__FIELD_DOUBLE,
    /* int64_t in Unix milliseconds; in JSON a date and time in UTC. */
    PHI__FIELD_TIME
} phi__field_kind;

/* How an empty string, false and zero are written. A missing member is read as empty. */
typedef enum phi__field_rule {
    PHI__FIELD_ALWAYS, /* an empty value is written as it is */
    PHI__FIELD_SET,    /* an empty value is left out */
    PHI__FIELD_OPTION  /* an empty value is written as null */
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

/* A field whose key is its name in the struct: PHI__KEYED(phi_usage, input, UINT, ALWAYS). */
#define PHI__KEYED(type, member, kind, rule)                                                       \
    PHI__FIELD(type, member, #member, PHI__FIELD_##kind, PHI__FIELD_##rule)

/* Writes the fields of a struct as members, with commas where they are needed. */
PHI__FN void phi__records_put(phi__buf *out, const phi__field *fields, size_t count,
                              const void *from);

/* Write and read all fields of an array of phi__field. */
#define PHI__RECORDS_PUT(out, fields, from)                                                        \
    phi__records_put((out), (fields), PHI__COUNT(fields), (from))
#define PHI__RECORDS_GET(node, fields, to, arena)                                                  \
    phi__records_get((node), (fields), PHI__COUNT(fields), (to), (arena))

/* Sets every field of the table. A field whose member is missing or of another type becomes "",
   false or zero. Strings are borrowed from the tree, or copied if there is an arena. False: no
   memory. */
PHI__FN bool phi__records_get(const phi_json *node, const phi__field *fields, size_t count,
                              void *to, phi_arena *arena);

PHI__FN void phi__records_str(phi__buf *out, const char *key, phi_str value);
/* an empty value is written as null */
PHI__FN void phi__records_option(phi__buf *out, const char *key, phi_str value);
/* an empty value is left out */
PHI__FN void phi__records_some(phi__buf *out, const char *key, phi_str value);
PHI__FN void phi__records_u64(phi__buf *out, const char *key, uint64_t n);
PHI__FN void phi__records_i64(phi__buf *out, const char *key, int64_t n);
PHI__FN void phi__records_double(phi__buf *out, const char *key, double d);
PHI__FN void phi__records_bool(phi__buf *out, const char *key, bool b);
PHI__FN void phi__records_true(phi__buf *out, const char *key, bool b); /* false is left out */
PHI__FN void phi__records_time(phi__buf *out, const char *key, int64_t ms);

/* Writes the key and the strings as an array. */
PHI__FN void phi__records_strs(phi__buf *out, const char *key, const phi_str *items, size_t count);

/* Writes the key and then `json` as it is: "null", or the bracket that opens a value. */
PHI__FN void phi__records_raw(phi__buf *out, const char *key, const char *json);

/* Read one member. A member that is missing or of another type gives zero, "" or false. A number
   above the type's range gives the largest value, and one above 2^64 - 1 gives 0. */
PHI__FN uint64_t phi__records_get_u64(const phi_json *node, const char *key);
PHI__FN uint32_t phi__records_get_u32(const phi_json *node, const char *key);
PHI__FN size_t phi__records_get_size(const phi_json *node, const char *key);
PHI__FN double phi__records_get_double(const phi_json *node, const char *key);
PHI__FN bool phi__records_get_bool(const phi_json *node, const char *key);
PHI__FN phi_str phi__records_get_str(const phi_json *node, const char *key);
PHI__FN int64_t phi__records_get_time(const phi_json *node, const char *key);

/* Checks as phi_schema_check does, but in linear time for objects of any size, because names are
   looked up in a table. If there is no memory for the table, it works as phi_schema_check does. */
PHI__FN phi_status phi__schema_check(phi_memory *memory, const phi_json *schema,
                                     const phi_json *value, const char *name,
                                     phi_schema_error *error);

/* Checks a schema. PHI_OK: it is well formed and fully supported. PHI_UNSUPPORTED: a restricting
   keyword is not supported. The message is then, for example: schema.properties.path: "pattern" is
   not supported. PHI_PARSE: the schema is malformed. PHI_TOO_BIG: the schema is nested too
   deeply. */
PHI__FN phi_status phi__schema_valid(const phi_json *schema, phi_schema_error *error);

/* True if a key equals a step of a JSON Pointer, in which ~1 is a slash and ~0 a tilde. */
PHI__FN bool phi__schema_same_step(phi_str key, phi_str step);
#define PHI__SSE_EVENT_MOST (16u << 20) /* bytes of an event, by default */

typedef struct phi__sse_event {
    phi_str name; /* text of the "event:" line; empty: no such line */
    phi_str data;
} phi__sse_event;

/* Where to resume a stream: after its last complete event. The owner calls init and free. */
typedef struct phi__sse_resume {
    phi__buf id;      /* id of the last event with an id, even if it had no data; empty: none */
    phi__buf id_next; /* id of the current event */
    bool has_next;
    bool has_retry;
    uint64_t retry_ms; /* how long to wait before the stream is opened again */
} phi__sse_resume;

PHI__FN void phi__sse_resume_init(phi__sse_resume *resume, phi_memory *memory);
PHI__FN void phi__sse_resume_free(phi__sse_resume *resume); /* may be called twice */

typedef struct phi__sse {
    phi__buf line; /* the beginning of a line whose end was not fed yet */
    phi__buf data; /* earlier data lines of the current event */
    phi__buf name;
    phi_str view;         /* the only data line so far, if it is in the fed bytes */
    const char *at, *end; /* fed bytes that are not read yet */
    size_t max_event_bytes;
    uint64_t comments; /* comment lines so far; servers send them as keep-alives */
    uint64_t events;   /* events returned so far */
    /* bytes of a byte order mark seen so far; 3: the mark was skipped, or there is none */
    uint32_t bom;
    bool has_data, viewed, skip_lf, handed;
    bool strays; /* accept stray JSON lines as events; set after init */
    bool stray;  /* the current or last returned event is stray JSON */
    phi_status status;
    /* gets ids and retry times (NULL: nothing does); borrowed; set after init */
    phi__sse_resume *resume;
} phi__sse;

/* max_event_bytes limits the data and name of one event, and one line (default 16 MiB). */
PHI__FN void phi__sse_init(phi__sse *sse, phi_memory *memory, size_t max_event_bytes);
PHI__FN void phi__sse_free(phi__sse *sse); /* may be called twice */

/* Sets `resume`, which gets the ids of the stream. Call this before the first byte is fed. Drops
   the id of an event that was cut off in an earlier stream. */
PHI__FN void phi__sse_resume_with(phi__sse *sse, phi__sse_resume *resume);

/* Passes the next bytes, which are borrowed. Call this only after next has returned 0 for the
   earlier bytes. */
PHI__FN void phi__sse_feed(phi__sse *sse, const char *bytes, size_t len);

/* Returns 1 for an event, or 0 if more bytes are needed. After PHI_TOO_BIG or PHI_NO_MEMORY the
   parser can only be freed. */
PHI__FN int phi__sse_next(phi__sse *sse, phi__sse_event *out);

/* Call this after the last byte, when next has returned 0. Works like next, but also returns an
   event that no blank line ended; after that event it returns 0. */
PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out);

#endif
