/* document_in.h - a document that was read: its parts as compact text, and its operations.

   Parts are the entries of the components that requests need, and the path items, each a JSON text
   in one buffer; callbacks, examples and extensions are not kept, and responses only where a
   reference may lead into them. A part is parsed when
   it is needed, into the arena of the one who asks, and forgotten with it. The text does not change
   once the document is ready, so that trees may borrow from it. */
#ifndef PHI_OPENAPI_DOCUMENT_IN_H
#define PHI_OPENAPI_DOCUMENT_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "base/map_in.h"
#include "openapi/openapi.h"
#include "text/json_in.h"

/* The sections of a document that parts come from. */
typedef enum phi__document_section {
    PHI__SECTION_SCHEMAS,
    PHI__SECTION_PARAMETERS,
    PHI__SECTION_BODIES,
    PHI__SECTION_HEADERS,
    PHI__SECTION_SECURITY,
    PHI__SECTION_ITEMS,
    PHI__SECTION_PATHS,
    PHI__SECTION_RESPONSES,
    PHI__SECTION_ANSWERS, /* of operations, each by the key of phi__document_answers */
    PHI__SECTION_ROOT,    /* one part without a name: servers and security of the document */
    PHI__SECTION_COUNT
} phi__document_section;

typedef struct phi__document_part {
    phi__document_section section;
    phi_str name;
    size_t at, len;       /* in the text */
    const phi_json *node; /* only while the document is read */
} phi__document_part;

typedef struct phi__document_operation {
    phi_openapi_operation shown;
    phi__document_part *item; /* the path item that holds it */
    const phi_str *tags;
    size_t tag_count;
    const char *skip; /* NULL, or why it cannot become a tool; terminated */
} phi__document_operation;

typedef struct phi__document {
    phi_memory *memory; /* borrowed */
    phi_arena arena;    /* the index */
    phi__buf text;
    phi__map parts;
    phi__document_operation *operations;
    size_t count, cap;
    bool is_31; /* version 3.1: schemas are JSON Schema 2020-12 */
} phi__document;

PHI__FN void phi__document_init(phi__document *doc, phi_memory *memory);
PHI__FN void phi__document_free(phi__document *doc);

/* "schemas"; "paths" of the path items of the document itself. */
PHI__FN const char *phi__document_section_name(phi__document_section section);
/* NULL: none of that name. */
PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name);
/* A new part without text, its name copied; NULL: no memory. */
PHI__FN phi__document_part *phi__document_add(phi__document *doc, phi__document_section section,
                                              phi_str name);
/* A new operation, zeroed, at the end; NULL: no memory. */
PHI__FN phi__document_operation *phi__document_add_operation(phi__document *doc);

/* The name of the part that holds an operation's responses; path and method as in the document.
   False: it is too long. */
PHI__FN bool phi__document_answers(phi_str path, phi_str method, char *out, size_t size,
                                   phi_str *name);
/* The next step of a JSON Pointer, "~" and "%" undone, into `out` of `size` bytes; *rest moves
   behind it. False: the pointer has ended, or is malformed: *rest is then not empty. */
PHI__FN bool phi__document_step(phi_str *rest, char *out, size_t size, phi_str *step);

/* Splits "#/components/schemas/Pet/items" into its part and the pointer within. False: it leads
   to no part that was kept; *why then says so, after the reference itself: " leads nowhere". */
PHI__FN bool phi__document_locate(const phi__document *doc, phi_str ref, phi__document_part **part,
                                  phi_str *rest, const char **why);
/* The node that a pointer leads to; NULL: nowhere. */
PHI__FN const phi_json *phi__document_walk(const phi_json *node, phi_str rest);

/* ---- parts on demand ---- */

enum { PHI__DOCUMENT_BUCKETS = 127 }; /* of parsed parts, by their places */

/* The parts that one reader has parsed. Zeroed, but for doc and arena. */
typedef struct phi__document_view {
    const phi__document *doc;
    phi_arena *arena; /* borrowed; the parsed trees live in it */
    struct phi__document_parsed *parsed[PHI__DOCUMENT_BUCKETS];
    size_t units; /* bytes that were parsed so far */
    bool no_memory;
    char message[256]; /* of the last failure; terminated */
} phi__document_view;

/* NULL: no memory. */
PHI__FN const phi_json *phi__document_tree(phi__document_view *view,
                                           const phi__document_part *part);
/* The node that a reference names; NULL: the message says why, or no_memory. */
PHI__FN const phi_json *phi__document_target(phi__document_view *view, phi_str ref);
/* Follows "$ref", and the references that it leads to; a node without one is returned as it is.
   NULL: the message says why, or no_memory. */
PHI__FN const phi_json *phi__document_follow(phi__document_view *view, const phi_json *node);

#endif
