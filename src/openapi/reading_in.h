/* reading_in.h - reads a document in slices: bytes, then a tree, then the parts and operations that
   are kept. The tree and the source live only while it is read.

   begin, advance until it is not PHI_BUSY, end; end at any time. */
#ifndef PHI_OPENAPI_READING_IN_H
#define PHI_OPENAPI_READING_IN_H

#include "base/base_in.h"
#include "tools/tools_in.h"
#include "openapi/openapi.h"
#include "system/system_in.h"
#include "text/text_in.h"

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

/* NULL: none of that name. */
PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name);

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

struct phi__reading_walk;

typedef struct phi__reading {
    phi__document *doc; /* borrowed, empty at first */
    phi__buf source;
    size_t max_bytes;
    const char *prefix; /* of names; borrowed */
    bool skip_unnamed;
#ifndef PHI_NO_FILES
    phi__file *file; /* NULL: the source is whole */
#endif
    phi_arena tree;
    phi_json *root;
    struct phi__reading_walk *walk; /* in the arena; NULL until the first advance */
    phi_status status;
    phi_parse_error error;
} phi__reading;

PHI__FN void phi__reading_init(phi__reading *r, phi__document *doc, size_t max_bytes);

/* Takes a part of the source, before the first advance. PHI_TOO_BIG, PHI_NO_MEMORY: the status. */
PHI__FN phi_status phi__reading_add(phi__reading *r, phi_str bytes);

/* The source is this file; PHI_UNSUPPORTED where files are left out of the program. */
PHI__FN phi_status phi__reading_open(phi__reading *r, const char *path);

/* A fault from elsewhere, a network for instance: the reading ends with it. */
PHI__FN phi_status phi__reading_fail(phi__reading *r, phi_status status, const char *words);

/* About so many bytes of work, at least one piece. */
PHI__FN phi_status phi__reading_advance(phi__reading *r, size_t units);

/* Frees what only the reading needed; twice is harmless. */
PHI__FN void phi__reading_end(phi__reading *r);

#endif
