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
   Threads: a reader belongs to one at a time. */
#ifndef PHI_FORMATS_YAML_H
#define PHI_FORMATS_YAML_H

#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading ---- */

/* Reads a node with an unknown tag as if it had none; without this flag such a tag is an error. */
#define PHI_YAML_ANY_TAG 1u
/* Plain scalars stay texts: 1.0, yes and ~ are strings, and a value that is not there is "". */
#define PHI_YAML_TEXTS 4u

typedef struct phi_yaml_options {
    uint32_t flags;           /* PHI_YAML_ANY_TAG, PHI_YAML_TEXTS */
    uint32_t max_depth;       /* nested collections (default 512, at most PHI_JSON_MAX_DEPTH) */
    uint32_t max_alias_nodes; /* nodes that all aliases together copy (default 262,144) */
    size_t max_alias_bytes;   /* bytes of keys and strings in these (default 16 MiB) */
} phi_yaml_options;

/* Reads a text in UTF-8. `options` may be NULL, and is copied. PHI_OK sets *out. PHI_PARSE,
   PHI_TOO_BIG and PHI_NO_MEMORY fill *error (which may be NULL); memory taken from the arena until
   then is freed with it. `text` is borrowed until return. */
PHI_API phi_status phi_yaml_parse(phi_arena *arena, phi_str text, const phi_yaml_options *options,
                                  phi_json **out, phi_parse_error *error);

/* Where an anchor or a tag stands before its node. */
typedef struct phi__yaml_props {
    phi_str anchor;
    const char *at;        /* the first of them; NULL: there is none */
    const char *anchor_at; /* NULL: no anchor */
    uint32_t line, column; /* column: from 0 */
    uint8_t tag;           /* 0: none */
} phi__yaml_props;

/* A scalar under way, or a node that may yet become a key. */
typedef struct phi__yaml_scalar {
    const char *at, *line_at; /* of the node, properties included */
    const char *mark, *last;  /* text not yet copied, and where it ends */
    const char *string;       /* the value, terminated */
    char *text, *to;          /* the copy: begin, end */
    phi_json *node;           /* instead of a scalar: a collection or a copied node */
    size_t len, breaks;
    uint32_t line;
    int32_t indent, blanks; /* of a block scalar; -1: not known yet */
    uint8_t style, chomp;   /* style 0: there is no node */
    bool more_indented, started, is_alias;
} phi__yaml_scalar;

/* Texts by hash: keys of open mappings, anchors. */
typedef struct phi__yaml_names {
    struct phi__yaml_name *at;
    uint32_t *table;
    uint32_t count, cap, table_cap;
} phi__yaml_names;

/* The same in slices: begin, advance until it is not PHI_BUSY, result. It can be dropped at any
   time. The fields are phi's. */
typedef struct phi_yaml_reader {
    phi_arena *arena;
    const char *text, *at, *end;
    const char *line_at; /* where the line begins */
    struct phi__yaml_frame *top, *unused;
    struct phi__yaml_handle *handles; /* of %TAG */
    phi__yaml_names keys, anchors;
    phi__yaml_props outer, inner; /* of earlier lines, of this line */
    phi__yaml_scalar scalar;
    phi_json *root;
    phi_json *spare, *spare_end; /* room for nodes */
    char *room, *room_end;       /* room for text */
    phi_yaml_options options;
    struct phi__marks *marks; /* where nodes stand; NULL: nobody asks */
    size_t alias_bytes;
    uint32_t line, depth, flow_depth, alias_nodes, handle_count;
    int32_t indent, need; /* spaces before the line's text; spaces that more lines need */
    uint8_t state, doc;
    bool tab;       /* a tab was among the white space before the node */
    bool may_block; /* a block collection may begin on this line */
    bool fresh;     /* nothing but white space stood on this line yet */
    bool has_version;
    phi_status status;
    phi_parse_error error;
} phi_yaml_reader;

/* `text` is borrowed until the result; `options` may be NULL, and is copied. */
PHI_API void phi_yaml_reader_begin(phi_yaml_reader *reader, phi_arena *arena, phi_str text,
                                   const phi_yaml_options *options);
/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI_API phi_status phi_yaml_reader_advance(phi_yaml_reader *reader, size_t units);
/* The last status of advance, with the tree or the error (either may be NULL). */
PHI_API phi_status phi_yaml_reader_result(const phi_yaml_reader *reader, phi_json **out,
                                          phi_parse_error *error);

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
