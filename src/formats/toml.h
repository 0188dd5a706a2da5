/* toml.h - TOML 1.0 into the tree of json.h, and such a tree as TOML.

       phi_json *root;
       phi_parse_error error;
       if (phi_toml_parse(&arena, text, NULL, &root, &error) != PHI_OK)
           complain(error.line, error.column, error.message);

   All of TOML 1.0.0 is read, and all that it forbids is an error with its place; see docs/toml.md.
   Tables are objects, integers are of 64 bits, inf and nan are doubles. A date or a time is a
   string of RFC 3339 ("T" and "Z" in capitals, at most nine digits of fraction, more are cut) that
   remembers its type: phi_toml_type_of has it, and phi_toml_write writes it without quotes.
   Line breaks in strings are line feeds. A byte order mark is skipped. Text must be shorter than
   4 GiB - 1 bytes, a key than 16 MiB, a number than 64 KiB: more is PHI_TOO_BIG.
   Threads: a tree is used by one at a time. */
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

/* Reads a text in UTF-8. `options` may be NULL, and is copied. PHI_OK sets *out, an object.
   PHI_PARSE, PHI_TOO_BIG and PHI_NO_MEMORY fill *error (which may be NULL); memory taken from the
   arena until then is freed with it. `text` is borrowed until return. */
PHI_API phi_status phi_toml_parse(phi_arena *arena, phi_str text, const phi_toml_desc *options,
                                  phi_json **out, phi_parse_error *error);

/* The same in slices: see reader.h. `text` is borrowed until the result. */
PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options);

/* ---- types and dates ---- */

typedef enum phi_toml_type {
    PHI_TOML_NONE, /* of NULL, and of JSON's null */
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
    int32_t hour, minute, second, nanosecond; /* second: to 60 */
    int32_t offset_minutes;                   /* east of UTC */
} phi_toml_date;

/* The type of any tree's node. Only strings of phi_toml_parse and phi_toml_new_date are dates;
   *date (which may be NULL) gets the fields of one, and is untouched otherwise. */
PHI_API phi_toml_type phi_toml_type_of(const phi_json *node, phi_toml_date *date);
/* A date of its text, as TOML writes it. NULL: it is none, or no memory. */
PHI_API phi_json *phi_toml_new_date(phi_arena *arena, phi_str text);

/* ---- writing ---- */

/* Members that are null are left out; without this flag a null is PHI_UNSUPPORTED. */
#define PHI_TOML_SKIP_NULLS 1u

/* Writes an object into the arena as a text that reads back equal; *out is terminated, the
   terminator not counted. Objects become tables with headers, but those that were read in braces
   and those in arrays of other values; arrays of objects become arrays of tables. Text of several
   lines is in three quotes. Bytes that are not UTF-8 become U+FFFD. A tree with duplicate keys is
   written with them, and phi_toml_parse refuses that text. flags: PHI_TOML_SKIP_NULLS.
   PHI_BAD_ARG: no object. PHI_UNSUPPORTED: a null, or an integer beyond INT64_MAX, which TOML does
   not have. PHI_NO_MEMORY, or PHI_TOO_BIG when nested beyond PHI_JSON_MAX_DEPTH. */
PHI_API phi_status phi_toml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
