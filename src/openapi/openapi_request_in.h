/* openapi_request_in.h - the URL and the headers of a call's request. openapi_body_in.h has its
   body.

   A value of an argument cannot leave its place: in a path it is one part of a segment, in a header
   it has no line break, and a segment that would be empty, "." or ".." is refused. Headers that
   the host gave for all requests come before those of the model. */
#ifndef PHI_OPENAPI_OPENAPI_REQUEST_IN_H
#define PHI_OPENAPI_OPENAPI_REQUEST_IN_H

#include "io/request_in.h"
#include "openapi/api_in.h"

typedef struct phi__openapi_request {
    phi_arena *arena;   /* borrowed */
    phi_memory *memory; /* borrowed */
    const phi__operation *op;
    const phi_json *arguments; /* an object */
    phi__buf url;              /* without the query */
    phi__buf query, cookie;
    phi__header *headers; /* in the arena */
    size_t count, cap;
    char message[300]; /* of a refusal; terminated */
} phi__openapi_request;

PHI__FN void phi__openapi_request_init(phi__openapi_request *r, phi_arena *arena,
                                       phi_memory *memory, const phi__operation *op,
                                       const phi_json *arguments);
PHI__FN void phi__openapi_request_free(phi__openapi_request *r); /* twice is harmless */

/* All that the arguments say, but for the body. PHI_BAD_ARG: refused, see message. */
PHI__FN phi_status phi__openapi_request_build(phi__openapi_request *r);

/* An argument; NULL: not given, or null. */
PHI__FN const phi_json *phi__openapi_request_argument(const phi__openapi_request *r, phi_str name);
/* Keeps a message for a refusal; returns PHI_BAD_ARG. */
PHI__FN phi_status phi__openapi_request_refuse(phi__openapi_request *r, const char *format, ...)
    PHI_PRINTF(2, 3);
/* Adds a header; where one of that name is there, that one stays, unless `replaces`. Copied.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__openapi_request_add(phi__openapi_request *r, phi_str name, phi_str value,
                                            bool replaces);

#endif
