/* formats_in.h - what formats/ offers to other rooms. */
#ifndef PHI_FORMATS_FORMATS_IN_H
#define PHI_FORMATS_FORMATS_IN_H

#include "formats/reader.h"
#include "formats/toml.h"
#include "formats/yaml.h"
#include "text/text_in.h"

/* Room for nodes and for text, which readers take from their arena piece by piece. */
typedef struct phi__pool {
    phi_json *spare, *spare_end;
    char *text, *text_end;
} phi__pool;

/* Where the key and the value under way begin. */
typedef struct phi__toml_places {
    const char *key_at;
    uint32_t key_line, key_column, value_line, value_column;
} phi__toml_places;

/* A text into a tree in slices: begin, advance until it is not PHI_BUSY, result. It can be dropped
   at any time. */
typedef struct phi__toml_reader {
    phi_arena *arena;
    const char *text, *at, *end;
    const char *line_at;            /* where the line begins */
    struct phi__toml_frame *top;    /* open arrays and inline tables */
    struct phi__toml_frame *unused; /* for later ones */
    struct phi__toml_name *names;   /* every key of every table, by hash */
    struct phi__marks *marks;       /* places of nodes; NULL: not kept */
    phi_json *root;                 /* the table of the whole text */
    phi_json *section;              /* the table of the last header */
    phi_json *table;                /* where the key under way belongs */
    phi__pool pool;
    char *string, *to; /* a copy under way; NULL: none is needed yet */
    const char *mark;  /* text not yet copied */
    phi__toml_places places;
    phi_str key; /* the last part that was read */
    size_t name_cap, name_count;
    uint32_t max_depth, line, section_number;
    uint32_t section_depth, table_depth; /* of `section` and `table`; the root's is 1 */
    uint8_t state, style, back;          /* back: the state behind a comment */
    bool in_header, tables_header, is_key, joined;
    phi_status status;
    phi_parse_error error;
} phi__toml_reader;

/* `text` is borrowed until the result; `options` may be NULL, and is copied. */
PHI__FN void phi__toml_read_begin(phi__toml_reader *reader, phi_arena *arena, phi_str text,
                                  const phi_toml_desc *options);

/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI__FN phi_status phi__toml_read_advance(phi__toml_reader *reader, size_t units);

/* The last status of advance, with the tree or the error (either may be NULL). */
PHI__FN phi_status phi__toml_read_result(const phi__toml_reader *reader, phi_json **out,
                                         phi_parse_error *error);

typedef struct phi__toml_frame {
    struct phi__toml_frame *up;
    phi_json *node;
    uint32_t depth;
} phi__toml_frame;

typedef struct phi__toml_name {
    const phi_json *table; /* NULL: a free slot */
    phi_json *node;        /* of that key */
    uint32_t hash;
    uint32_t section : 29; /* DOTTED: the section that may add to it */
    uint32_t how : 3;
} phi__toml_name;

/* The places of an anchor and a tag before their node. */
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

/* A text into a tree in slices: begin, advance until it is not PHI_BUSY, result. It can be dropped
   at any time. */
typedef struct phi__yaml_reader {
    phi_arena *arena;
    const char *text, *at, *end;
    const char *line_at; /* where the line begins */
    struct phi__yaml_frame *top, *unused;
    struct phi__yaml_handle *handles; /* of %TAG */
    phi__yaml_names keys, anchors;
    phi__yaml_props outer, inner; /* of earlier lines, of this line */
    phi__yaml_scalar scalar;
    phi_json *root;
    phi__pool pool;
    phi_yaml_desc options;
    struct phi__marks *marks; /* places of nodes; NULL: not kept */
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
} phi__yaml_reader;

/* `text` is borrowed until the result; `options` may be NULL, and is copied. */
PHI__FN void phi__yaml_read_begin(phi__yaml_reader *reader, phi_arena *arena, phi_str text,
                                  const phi_yaml_desc *options);

/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI__FN phi_status phi__yaml_read_advance(phi__yaml_reader *reader, size_t units);

/* The last status of advance, with the tree or the error (either may be NULL). */
PHI__FN phi_status phi__yaml_read_result(const phi__yaml_reader *reader, phi_json **out,
                                         phi_parse_error *error);

typedef struct phi__yaml_frame {
    struct phi__yaml_frame *up;
    phi_json *node;
    const phi_json *source;        /* PHI__YAML_ALIAS: the next child to copy */
    phi_str key;                   /* of the value that comes */
    uint32_t left;                 /* PHI__YAML_ALIAS: children to copy */
    uint32_t line;                 /* where it begins */
    uint32_t keys;                 /* names of the mappings around it */
    uint32_t key_line, key_column; /* of the key; column: from 0 */
    int32_t indent;                /* its column; of flow collections: that of the block around */
    uint8_t kind, want;
} phi__yaml_frame;

typedef struct phi__yaml_name {
    const char *at;
    phi_json *node; /* anchors */
    phi_str source; /* anchors: a scalar's text, which an alias as key becomes */
    uint32_t len, hash, scope, place;
} phi__yaml_name;

#endif
