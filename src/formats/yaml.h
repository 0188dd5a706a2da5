/* yaml.h - YAML 1.2 into the tree of json.h, and such a tree as YAML.

       phi_json *root;
       phi_parse_error error;
       if (phi_yaml_parse(&arena, phi_str_of(text), NULL, &root, &error) != PHI_OK)
           complain(error.line, error.column, error.message);

   Reads one document: block and flow collections, the five scalar styles, comments, directives,
   anchors, aliases, and the tags of the core schema, which decides what a plain scalar is. JSON is
   read as well. What the tree cannot hold is an error: a key that is a collection or missing, a
   second document, a tag of another schema. Duplicate keys are errors, too: see docs/yaml.md.
   A key becomes its text (200 becomes "200"). A text without a document is null. An alias is a copy
   of its node, counted against a limit; texts are shared. .inf and .nan become doubles.
   Text must be shorter than 4 GiB - 1 bytes and a key than 16 MiB: more is PHI_TOO_BIG.
   Threads: a tree is used by one at a time. */
#ifndef PHI_FORMATS_YAML_H
#define PHI_FORMATS_YAML_H

#include "formats/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

/* Reads a node with an unknown tag as if it had none; without this flag such a tag is an error. */
#define PHI_YAML_ANY_TAG 1u
/* Plain scalars stay texts: 1.0, yes and ~ are strings, and a value that is not there is "". */
#define PHI_YAML_TEXTS 4u

typedef struct phi_yaml_desc {
    uint32_t flags;           /* PHI_YAML_ANY_TAG, PHI_YAML_TEXTS */
    uint32_t max_depth;       /* nested collections (default 512, at most PHI_JSON_MAX_DEPTH) */
    uint32_t max_alias_nodes; /* nodes that all aliases together copy (default 262,144) */
    size_t max_alias_bytes;   /* bytes of keys and strings in these (default 16 MiB) */
} phi_yaml_desc;

/* Reads a text in UTF-8. `options` may be NULL, and is copied. PHI_OK sets *out. PHI_PARSE,
   PHI_TOO_BIG and PHI_NO_MEMORY fill *error (which may be NULL); memory taken from the arena until
   then is freed with it. `text` is borrowed until return. */
PHI_API phi_status phi_yaml_parse(phi_arena *arena, phi_str text, const phi_yaml_desc *options,
                                  phi_json **out, phi_parse_error *error);

/* The same in slices: see reader.h. `text` is borrowed until the result. */
PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options);

/* ---- writing ---- */

/* Writes block style into the arena, which reads back equal; *out is terminated, the terminator
   not counted. Text of several lines becomes a literal block; what a reader could take for
   something else is quoted. flags: 0. Bytes that are not UTF-8 become U+FFFD. A tree with
   duplicate keys is written with them, and phi_yaml_parse refuses that text. PHI_NO_MEMORY, or
   PHI_TOO_BIG when nested beyond PHI_JSON_MAX_DEPTH. */
PHI_API phi_status phi_yaml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
