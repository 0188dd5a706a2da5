/* tool_schema_in.h - writes schemas of a document as the JSON Schema of a tool.

   References become "$defs", nearest first, until max_schema_bytes are written; those behind are
   left open, with a description. Keywords that phi's check of arguments does not know move into the
   description; malformed ones, and properties that are only read, are left out. A schema
   that contains itself without an optional property between, which some providers refuse, is left
   open where it closes the circle. */
#ifndef PHI_OPENAPI_TOOL_SCHEMA_IN_H
#define PHI_OPENAPI_TOOL_SCHEMA_IN_H

#include "openapi/reading_in.h"

typedef struct phi__tschema_def {
    const phi_json *node;
    phi_str name;  /* of letters, digits, ".", "_" and "-" */
    unsigned same; /* later definitions with its name: each has a number */
} phi__tschema_def;

/* A reference that every value needs: from one definition (0: the root) to another. */
typedef struct phi__tschema_edge {
    size_t from, to;
    bool cut;
} phi__tschema_edge;

typedef struct phi__tool_schema {
    phi__document_view *view;
    phi__buf out, words; /* words: of a description under way */
    size_t most_bytes;
    phi__tschema_def *defs; /* from 1; the root has index 0 */
    size_t def_count, def_cap;
    phi__tschema_edge *edges;
    size_t edge_count, edge_cap;
    size_t from; /* the definition being written */
    uint32_t depth, work;
    bool optional; /* a property that may be left out was entered since its start */
    bool files;    /* binary strings may be files */
    bool second;   /* once more, with the circles cut */
    bool failed;   /* view->message says why, or no memory */
} phi__tool_schema;

PHI__FN void phi__tschema_init(phi__tool_schema *s, phi__document_view *view, size_t most_bytes);
PHI__FN void phi__tschema_free(phi__tool_schema *s);

/* Writes one schema. note: a description that replaces the schema's; empty: none. */
PHI__FN void phi__tschema_put(phi__tool_schema *s, const phi_json *schema, phi_str note);

/* The content of a file, or its path; the description is the schema's (NULL: none, and
   the content is in base64). */
PHI__FN void phi__tschema_put_file(phi__tool_schema *s, const phi_json *schema, phi_str note);

/* Writes ,"$defs":{...} where there are any. */
PHI__FN void phi__tschema_put_defs(phi__tool_schema *s);

/* True: there were circles, the output was emptied, and all is to be written once more. */
PHI__FN bool phi__tschema_again(phi__tool_schema *s);

/* True if a string of this schema is a file's content. */
PHI__FN bool phi__tschema_is_file(const phi_json *schema);

/* The one type that a schema names, "null" aside; PHI_JSON_NONE: none, or several. */
PHI__FN phi_json_type phi__tschema_type(const phi_json *schema);
PHI__FN phi_str phi__tschema_cut(phi_str text, size_t most); /* at a character */

#endif
