/* yaml.h - reads YAML 1.2 into the tree of json.h, and writes such a tree as YAML.

       phi_json *root;
       phi_parse_error error;
       if (phi_yaml_parse(&arena, phi_str_of(text), NULL, &root, &error) != PHI_OK)
           complain(error.line, error.column, error.message);

   One document is read: block and flow collections, the five scalar styles, comments, directives,
   anchors, aliases, and the tags of the core schema. The core schema also decides the type of a
   plain scalar. JSON is read as well. Anything that the tree cannot hold is an error: a key that is
   a collection or missing, a second document, a tag of another schema. Duplicate keys are errors,
   too: see docs/yaml.md. A key becomes its text (200 becomes "200"). A text without a document is
   null. An alias becomes a copy of its node. Copies share their texts, and count against the limits
   of phi_yaml_desc. .inf and .nan become doubles. A text of 4 GiB - 1 bytes or more, or a key of 16
   MiB or more, is PHI_TOO_BIG.
   Threads: one thread at a time may use a tree. */
#ifndef PHI_FORMATS_YAML_H
#define PHI_FORMATS_YAML_H

#include "formats/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

/* Reads a node with an unknown tag as if it had no tag. Without this flag, the tag is an error. */
#define PHI_YAML_ANY_TAG 1u
/* Keeps plain scalars as texts: 1.0, yes and ~ are strings, and a missing value is "". */
#define PHI_YAML_TEXTS 4u

typedef struct phi_yaml_desc {
    uint32_t flags;           /* PHI_YAML_ANY_TAG, PHI_YAML_TEXTS */
    uint32_t max_depth;       /* nested collections (default 512, at most PHI_JSON_MAX_DEPTH) */
    uint32_t max_alias_nodes; /* max. nodes that all aliases together copy (default 262,144) */
    size_t max_alias_bytes;   /* max. bytes of keys and strings in these nodes (default 16 MiB) */
} phi_yaml_desc;

/* Reads a text in UTF-8. `options` may be NULL, and is copied. PHI_OK sets *out. PHI_PARSE,
   PHI_TOO_BIG and PHI_NO_MEMORY fill *error (error may be NULL), and the memory that was taken from
   the arena is given back. `text` is borrowed until return. */
PHI_API phi_status phi_yaml_parse(phi_arena *arena, phi_str text, const phi_yaml_desc *options,
                                  phi_json **out, phi_parse_error *error);

/* Reads a text in slices: see reader.h. `text` is borrowed until phi_reader_result(). */
PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options);

/* ---- writing ---- */

/* Writes a tree into the arena as YAML in block style that reads back equal. *out is
   NUL-terminated; its length does not count the terminator. Text of several lines becomes a literal
   block. Text that a reader could take for something else is quoted. `flags` must be 0. Bytes that
   are not UTF-8 become U+FFFD. Duplicate keys are written, but phi_yaml_parse refuses a text with
   them. PHI_TOO_BIG: the tree is nested beyond PHI_JSON_MAX_DEPTH. Also PHI_NO_MEMORY. */
PHI_API phi_status phi_yaml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
