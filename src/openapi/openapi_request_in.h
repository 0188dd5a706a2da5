/* openapi_request_in.h - the URL, the headers and the body of a call's request.

   The value of an argument cannot leave its place. In a path it is a part of one segment, and a
   segment that would be empty, "." or ".." is refused. In a header it has no line break. Headers
   that the host gave for all requests take precedence over those of the model. */
#ifndef PHI_OPENAPI_OPENAPI_REQUEST_IN_H
#define PHI_OPENAPI_OPENAPI_REQUEST_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/tool.h"
#include "openapi/api_in.h"
#include "system/system_in.h"

typedef enum phi__styles_escape {
    PHI__ESCAPE_ALL,      /* escapes all but unreserved characters */
    PHI__ESCAPE_RESERVED, /* allowReserved: keeps characters that delimit nothing in a query */
    PHI__ESCAPE_COOKIE,   /* keeps the characters of a cookie, except "%" and the comma */
    PHI__ESCAPE_NONE      /* escapes nothing; for headers */
} phi__styles_escape;

PHI__FN void phi__styles_put_escaped(phi__buf *out, phi_str text, phi__styles_escape how);

typedef struct phi__openapi_request {
    phi_arena *arena;   /* borrowed */
    phi_memory *memory; /* borrowed */
    const phi__operation *op;
    const phi_json *arguments; /* a JSON object */
    phi__buf url;              /* without the query */
    phi__buf query, cookie;
    phi__header *headers; /* in the arena */
    size_t count, cap;
    char message[300]; /* message of a refusal */
} phi__openapi_request;

PHI__FN void phi__opreq_init(phi__openapi_request *r, phi_arena *arena, phi_memory *memory,
                             const phi__operation *op, const phi_json *arguments);
PHI__FN void phi__opreq_free(phi__openapi_request *r); /* may be called twice */

/* Makes the parts of the request that the arguments give, except the body. PHI_BAD_ARG: an argument
   was refused, and the request's message says why. */
PHI__FN phi_status phi__opreq_build(phi__openapi_request *r);

/* Stores the message of a refusal. Returns PHI_BAD_ARG. */
PHI__FN phi_status phi__opreq_refuse(phi__openapi_request *r, const char *format, ...)
    PHI_PRINTF(2, 3);

/* Adds a copy of a header. An existing header of this name stays unless `replaces` is set. Can fail
   with PHI_NO_MEMORY. */
PHI__FN phi_status phi__opreq_add(phi__openapi_request *r, phi_str name, phi_str value,
                                  bool replaces);

/* The content of a file, in a list with the newest first. */
typedef struct phi__openapi_file {
    struct phi__openapi_file *older;
    char *at;
    size_t len, got;
} phi__openapi_file;

typedef struct phi__openapi_body {
    phi__openapi_request *r; /* borrowed; receives the Content-Type and the message of a refusal */
    phi_call call;
    phi_str *pieces; /* in the arena */
    size_t count, cap, file_bytes;
    phi__buf text;     /* text that is not a piece yet */
    char boundary[40]; /* between the parts of a multipart body */
    const phi_json *value;
    phi_json_iter members, items;
    phi_str name;                            /* name of the current member */
    const phi__operation_property *property; /* property of this member; NULL: none */
    bool in_items, done;
    phi__openapi_file *files;
#ifndef PHI_NO_FILES
    phi__resolve *resolve;
    const char *path, *place; /* path: of the file; place: the resolved path */
    size_t root;              /* index of the root being checked */
    phi__file *open;
#endif
} phi__openapi_body;

PHI__FN void phi__body_begin(phi__openapi_body *b, phi__openapi_request *r, phi_call call);

/* Returns PHI_BUSY, PHI_OK, PHI_BAD_ARG (refused, with the request's message) or PHI_NO_MEMORY. */
PHI__FN phi_status phi__body_advance(phi__openapi_body *b);
PHI__FN void phi__body_free(phi__openapi_body *b); /* may be called twice, or for a zeroed body */

#endif
