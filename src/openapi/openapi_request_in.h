/* openapi_request_in.h - the URL, the headers and the body of a call's request.

   A value of an argument cannot leave its place: in a path it is one part of a segment, in a header
   it has no line break, and a segment that would be empty, "." or ".." is refused. Headers that
   the host gave for all requests come before those of the model. */
#ifndef PHI_OPENAPI_OPENAPI_REQUEST_IN_H
#define PHI_OPENAPI_OPENAPI_REQUEST_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/tool.h"
#include "openapi/api_in.h"
#include "system/system_in.h"

typedef enum phi__styles_escape {
    PHI__ESCAPE_ALL,      /* all but the unreserved */
    PHI__ESCAPE_RESERVED, /* allowReserved: those stay that delimit nothing in a query */
    PHI__ESCAPE_COOKIE,   /* the octets of a cookie stay, but for "%" and the comma */
    PHI__ESCAPE_NONE      /* headers */
} phi__styles_escape;

PHI__FN void phi__styles_put_escaped(phi__buf *out, phi_str text, phi__styles_escape how);

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

PHI__FN void phi__opreq_init(phi__openapi_request *r, phi_arena *arena, phi_memory *memory,
                             const phi__operation *op, const phi_json *arguments);
PHI__FN void phi__opreq_free(phi__openapi_request *r); /* twice is harmless */

/* All that the arguments say, but for the body. PHI_BAD_ARG: refused, see message. */
PHI__FN phi_status phi__opreq_build(phi__openapi_request *r);

/* Keeps a message for a refusal; returns PHI_BAD_ARG. */
PHI__FN phi_status phi__opreq_refuse(phi__openapi_request *r, const char *format, ...)
    PHI_PRINTF(2, 3);

/* Adds a header; where one of that name is there, that one stays, unless `replaces`. Copied.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__opreq_add(phi__openapi_request *r, phi_str name, phi_str value,
                                  bool replaces);

/* The content of a file; a list, newest first. */
typedef struct phi__openapi_file {
    struct phi__openapi_file *older;
    char *at;
    size_t len, got;
} phi__openapi_file;

typedef struct phi__openapi_body {
    phi__openapi_request *r; /* borrowed; gets the Content-Type, and the message of a refusal */
    phi_call call;
    phi_str *pieces; /* in the arena */
    size_t count, cap, file_bytes;
    phi__buf text;     /* that is not a piece yet */
    char boundary[40]; /* of multipart; terminated */
    const phi_json *value;
    phi_json_iter members, items;
    phi_str name;                            /* of the member */
    const phi__operation_property *property; /* of it; NULL: not described */
    bool in_items, done;
    phi__openapi_file *files;
#ifndef PHI_NO_FILES
    phi__resolve *resolve;
    const char *path, *place; /* of the file; place: resolved */
    size_t root;              /* that is looked at */
    phi__file *open;
#endif
} phi__openapi_body;

PHI__FN void phi__body_begin(phi__openapi_body *b, phi__openapi_request *r, phi_call call);

/* PHI_BUSY; PHI_OK; PHI_BAD_ARG: refused, with the request's message; PHI_NO_MEMORY. */
PHI__FN phi_status phi__body_advance(phi__openapi_body *b);
PHI__FN void phi__body_free(phi__openapi_body *b); /* zeroed, or twice: harmless */

#endif
