/* formats_in.h - what formats/ offers to other rooms: readers of TOML and YAML in slices. */
#ifndef PHI_FORMATS_FORMATS_IN_H
#define PHI_FORMATS_FORMATS_IN_H

#include "formats/reader.h"
#include "formats/toml.h"
#include "formats/yaml.h"
#include "text/text_in.h"

/* Memory for nodes and for text, which readers take from their arena in pieces. */
typedef struct phi__pool {
    phi_json *spare, *spare_end;
    char *text, *text_end;
} phi__pool;

/* Where the current key and the current value begin. */
typedef struct phi__toml_places {
    const char *key_at;
    uint32_t key_line, key_column, value_line, value_column;
} phi__toml_places;

/* Reads a text into a tree in slices: call begin, then advance until the status is not PHI_BUSY,
   then result. A reader can be abandoned at any time. */
typedef struct phi__toml_reader {
    phi_arena *arena;
    const char *text, *at, *end;
    const char *line_at;            /* where the current line begins */
    struct phi__toml_frame *top;    /* open arrays and inline tables */
    struct phi__toml_frame *unused; /* closed frames, to be used again */
    struct phi__toml_name *names;   /* hash table of the keys of all tables */
    struct phi__marks *marks;       /* places of nodes; NULL: not kept */
    phi_json *root;                 /* the table of the whole text */
    phi_json *section;              /* the table of the last header */
    phi_json *table;                /* the table of the current key */
    phi__pool pool;
    char *string, *to; /* copy of the current text, and its end; NULL while it is not needed */
    const char *mark;  /* start of the text not copied yet */
    phi__toml_places places;
    phi_str key; /* the part of a key that was read last */
    size_t name_cap, name_count;
    uint32_t max_depth, line, section_number;
    uint32_t section_depth, table_depth; /* depths of `section` and `table`; 1 for the root */
    uint8_t state, style, back;          /* back: the state after a comment */
    bool in_header, tables_header, is_key, joined;
    phi_status status;
    phi_parse_error error;
} phi__toml_reader;

/* `text` is borrowed until phi__toml_read_result(). `options` may be NULL, and is copied. */
PHI__FN void phi__toml_read_begin(phi__toml_reader *reader, phi_arena *arena, phi_str text,
                                  const phi_toml_desc *options);

/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI__FN phi_status phi__toml_read_advance(phi__toml_reader *reader, size_t units);

/* Returns the last status of advance, with the tree or the error. `out` and `error` may be NULL. */
PHI__FN phi_status phi__toml_read_result(const phi__toml_reader *reader, phi_json **out,
                                         phi_parse_error *error);

/* The anchor and the tag before a node, and their places. */
typedef struct phi__yaml_props {
    phi_str anchor;
    const char *at;        /* the anchor or the tag, whichever is first; NULL: none */
    const char *anchor_at; /* NULL: no anchor */
    uint32_t line, column; /* column: from 0 */
    uint8_t tag;           /* 0: no tag */
} phi__yaml_props;

/* The current scalar, or a node that may still become a key. */
typedef struct phi__yaml_scalar {
    const char *at, *line_at; /* start of the node with its properties; start of its line */
    const char *mark, *last;  /* text not copied yet: start and end */
    const char *string;       /* the value, NUL-terminated */
    char *text, *to;          /* the copy: start and end */
    phi_json *node;           /* a collection or a copied node; NULL: a scalar */
    size_t len, breaks;
    uint32_t line;
    /* for a block scalar: its indentation (-1: unknown); most spaces of a blank line before it */
    int32_t indent, blanks;
    uint8_t style, chomp; /* style 0: there is no node */
    bool more_indented, started, is_alias;
} phi__yaml_scalar;

/* A hash table of texts: the keys of open mappings, or the anchors. */
typedef struct phi__yaml_names {
    struct phi__yaml_name *at;
    uint32_t *table;
    uint32_t count, cap, table_cap;
} phi__yaml_names;

/* Reads a text into a tree in slices: call begin, then advance until the status is not PHI_BUSY,
   then result. A reader can be abandoned at any time. */
typedef struct phi__yaml_reader {
    phi_arena *arena;
    const char *text, *at, *end;
    const char *line_at; /* where the current line begins */
    struct phi__yaml_frame *top, *unused;
    struct phi__yaml_handle *handles; /* declared by %TAG */
    phi__yaml_names keys, anchors;
    phi__yaml_props outer, inner; /* properties on earlier lines, and on this line */
    phi__yaml_scalar scalar;
    phi_json *root;
    phi__pool pool;
    phi_yaml_desc options;
    struct phi__marks *marks; /* places of nodes; NULL: not kept */
    size_t alias_bytes;
    uint32_t line, depth, flow_depth, alias_nodes, handle_count;
    /* indent: spaces before the line's text; need: spaces that further lines must have */
    int32_t indent, need;
    uint8_t state, doc;
    bool tab;       /* the white space before the node has a tab */
    bool may_block; /* a block collection may begin on this line */
    bool fresh;     /* only white space was read on this line so far */
    bool has_version;
    phi_status status;
    phi_parse_error error;
} phi__yaml_reader;

/* `text` is borrowed until phi__yaml_read_result(). `options` may be NULL, and is copied. */
PHI__FN void phi__yaml_read_begin(phi__yaml_reader *reader, phi_arena *arena, phi_str text,
                                  const phi_yaml_desc *options);

/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI__FN phi_status phi__yaml_read_advance(phi__yaml_reader *reader, size_t units);

/* Returns the last status of advance, with the tree or the error. `out` and `error` may be NULL. */
PHI__FN phi_status phi__yaml_read_result(const phi__yaml_reader *reader, phi_json **out,
                                         phi_parse_error *error);

#endif
