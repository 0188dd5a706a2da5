/* making_in.h - one operation while it is made callable: shared by the files that make its
   parameters, its body and its security. */
#ifndef PHI_OPENAPI_MAKING_IN_H
#define PHI_OPENAPI_MAKING_IN_H

#include "openapi/api_in.h"
#include "openapi/tool_schema_in.h"

/* One operation under way. Results are in `arena`. */
typedef struct phi__making {
    phi_openapi *api;
    const phi__document_operation *source;
    phi_arena *arena; /* of the results */
    phi_arena scratch;
    phi__document_view view;
    phi__tool_schema schema;
    const phi_json *item, *node, *root; /* path item, operation, servers and security of all */
    phi__operation *op;
    const phi_json **given;      /* the parameters' nodes, as op->parameters */
    const phi_json *body_schema; /* NULL: none */
    phi_str body_note;
    bool no_memory;
    char message[320]; /* why the operation is skipped; empty: it is not */
} phi__making;

/* All return false, so that a caller can end with them. */
PHI__FN bool phi__making_skip(phi__making *m, const char *place, const char *why);
PHI__FN bool phi__making_lost(phi__making *m,
                              const char *place); /* the view's message, or memory */
PHI__FN bool phi__making_str(phi__making *m, phi_str text, phi_str *out);
PHI__FN void *phi__making_zero(phi__making *m, size_t count, size_t size); /* in the arena */

#endif
