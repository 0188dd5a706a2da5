/* naming_in.h - the names of tools: "{prefix}__{operation id}" within the rules of every provider.

   A name depends on the document and the prefix alone, not on a filter (match/tool_name_in.h). The
   hash of a name that is cut or taken is made of method and path. */
#ifndef PHI_OPENAPI_NAMING_IN_H
#define PHI_OPENAPI_NAMING_IN_H

#include "match/tool_name_in.h"
#include "openapi/document_in.h"

/* The naming of a document's operations, in slices. Zeroed at first. */
typedef struct phi__naming {
    phi__tool_names names;
    size_t at; /* the next operation: of counting, then of naming */
    bool begun, counted;
} phi__naming;

/* Names up to `count` operations. prefix: NULL, or terminated. skip_unnamed: operations without an
   id are to be skipped. PHI_BUSY: call it again; PHI_NO_MEMORY. */
PHI__FN phi_status phi__naming_advance(phi__naming *n, phi__document *doc, const char *prefix,
                                       bool skip_unnamed, size_t count);
PHI__FN void phi__naming_end(phi__naming *n); /* not begun, or twice: harmless */

#endif
