/* maker_in.h - makes one operation callable: parameters, body, security, server, and the tool's
   schema. */
#ifndef PHI_OPENAPI_MAKER_IN_H
#define PHI_OPENAPI_MAKER_IN_H

#include "openapi/api_in.h"
#include "openapi/tool_schema_in.h"

#ifndef PHI_NO_OPENAPI

/* One operation under way. The maker's files share it; results are in `arena`. */
typedef struct phi__maker {
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
} phi__maker;

/* Makes the operation at `index`, and its tool, in the arena. False: no memory. *skip: NULL, or why
   it becomes no tool, in the arena. *units grows by the bytes that were read and written. */
PHI__FN bool phi__maker_make(phi_openapi *api, size_t index, phi_arena *arena, phi_tool *tool,
                             const char **skip, size_t *units);

/* For the files of the maker. */
PHI__FN bool phi__maker_skip(phi__maker *m, const char *place, const char *why);
PHI__FN bool phi__maker_lost(phi__maker *m, const char *place); /* the view's message, or memory */
PHI__FN bool phi__maker_str(phi__maker *m, phi_str text, phi_str *out);
PHI__FN void *phi__maker_zero(phi__maker *m, size_t count, size_t size); /* in the arena */

/* parameters.c */
PHI__FN bool phi__parameters_make(phi__maker *m);
/* "simple", ...; false: no style */
PHI__FN bool phi__parameters_style(phi_str name, phi__operation_style *out);
/* A key that no parameter's argument has. */
PHI__FN bool phi__parameters_argument(phi__maker *m, phi_str name, const char *place, phi_str *out);
/* request_body.c */
PHI__FN bool phi__request_body_make(phi__maker *m);
/* security.c */
PHI__FN bool phi__security_make(phi__maker *m);
PHI__FN bool phi__security_server(phi__maker *m);

#endif
#endif
