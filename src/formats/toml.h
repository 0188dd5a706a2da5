/* toml.h - reads TOML 1.0 into the tree of json.h, and writes such a tree as TOML.

       phi_json *root;
       phi_parse_error error;
       if (phi_toml_parse(&arena, text, NULL, &root, &error) != PHI_OK)
           complain(error.line, error.column, error.message);

   All of TOML 1.0.0 is read. Anything that TOML forbids is an error with its place: see
   docs/toml.md. Tables become objects, integers have 64 bits, inf and nan become doubles. A date or
   a time becomes a string of RFC 3339 with "T" and "Z" in capitals and at most nine digits of
   fraction; further digits are cut. The string remembers its type: phi_toml_type_of returns it, and
   phi_toml_write writes the string without quotes. Line breaks in strings become line feeds. A byte
   order mark is skipped. A text of 4 GiB - 1 bytes or more, a key of 16 MiB or more, or a number of
   more than 64 KiB is PHI_TOO_BIG.
   Threads: one thread at a time may use a tree. */
#ifndef PHI_FORMATS_TOML_H
#define PHI_FORMATS_TOML_H

#include "formats/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

typedef struct phi_toml_desc {
    uint32_t max_depth; /* nested tables and arrays (default 512, at most PHI_JSON_MAX_DEPTH) */
} phi_toml_desc;

/* Reads a text in UTF-8. `options` may be NULL, and is copied. PHI_OK sets *out to an object.
   PHI_PARSE, PHI_TOO_BIG and PHI_NO_MEMORY fill *error (error may be NULL), and the memory that was
   taken from the arena is given back. `text` is borrowed until return. */
PHI_API phi_status phi_toml_parse(phi_arena *arena, phi_str text, const phi_toml_desc *options,
                                  phi_json **out, phi_parse_error *error);

/* Reads a text in slices: see reader.h. `text` is borrowed until phi_reader_result(). */
PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options);

/* ---- types and dates ---- */

typedef enum phi_toml_type {
    PHI_TOML_NONE, /* type of NULL and of JSON's null */
    PHI_TOML_STRING,
    PHI_TOML_INTEGER,
    PHI_TOML_FLOAT,
    PHI_TOML_BOOL,
    PHI_TOML_OFFSET_DATETIME,
    PHI_TOML_LOCAL_DATETIME,
    PHI_TOML_LOCAL_DATE,
    PHI_TOML_LOCAL_TIME,
    PHI_TOML_ARRAY,
    PHI_TOML_TABLE
} phi_toml_type;

/* Fields that the type does not have are 0. */
typedef struct phi_toml_date {
    phi_toml_type type;
    int32_t year, month, day;                 /* month and day from 1 */
    int32_t hour, minute, second, nanosecond; /* second: 0 to 60 */
    int32_t offset_minutes;                   /* east of UTC */
} phi_toml_date;

/* Returns the type of any tree's node. Only strings from phi_toml_parse and phi_toml_new_date are
   dates. For a date, sets the fields of *date (date may be NULL); otherwise *date is unchanged. */
PHI_API phi_toml_type phi_toml_type_of(const phi_json *node, phi_toml_date *date);
/* Makes a date from its text in TOML. NULL if the text is no date, or there is no memory. */
PHI_API phi_json *phi_toml_new_date(phi_arena *arena, phi_str text);

/* ---- writing ---- */

/* Leaves out members that are null. Without this flag, a null is PHI_UNSUPPORTED. */
#define PHI_TOML_SKIP_NULLS 1u

/* Writes an object into the arena as TOML that reads back equal. *out is NUL-terminated; its length
   does not count the terminator. Objects become tables with headers, except objects that were read
   in braces and objects in arrays of other values. Arrays of objects become arrays of tables. Text
   of several lines is written in three quotes. Bytes that are not UTF-8 become U+FFFD. Duplicate
   keys are written, but phi_toml_parse refuses a text with them. flags: PHI_TOML_SKIP_NULLS.
   PHI_BAD_ARG: the node is no object. PHI_UNSUPPORTED: the tree has a null or an integer beyond
   INT64_MAX, and TOML has neither. PHI_TOO_BIG: the tree is nested beyond PHI_JSON_MAX_DEPTH. Also
   PHI_NO_MEMORY. */
PHI_API phi_status phi_toml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
