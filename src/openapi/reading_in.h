/* reading_in.h - reads a document in slices: bytes, then a tree, then the parts and operations that
   are kept. The tree and the source live only while it is read.

   begin, advance until it is not PHI_BUSY, end; end at any time. */
#ifndef PHI_OPENAPI_READING_IN_H
#define PHI_OPENAPI_READING_IN_H

#include "system/files_in.h"
#include "openapi/document_in.h"

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
