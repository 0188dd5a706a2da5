/* openapi_body_in.h - the body of a call's request: JSON, a form, multipart with files, text or
   bytes.

   begin, advance until it is not PHI_BUSY, free at any time. Files are read in slices, from the
   directories that phi_openapi_desc.upload_roots names, links resolved; they are in memory while
   the request is under way. The pieces point into the arena and into blocks of the body's own. */
#ifndef PHI_OPENAPI_OPENAPI_BODY_IN_H
#define PHI_OPENAPI_OPENAPI_BODY_IN_H

#include "system/files_in.h"
#include "loop/tool.h"
#include "openapi/openapi_request_in.h"

enum { PHI__OPENAPI_BODY_MOST = 32 << 20 }; /* bytes of the files of one request */

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

PHI__FN void phi__openapi_body_begin(phi__openapi_body *b, phi__openapi_request *r, phi_call call);
/* PHI_BUSY; PHI_OK; PHI_BAD_ARG: refused, with the request's message; PHI_NO_MEMORY. */
PHI__FN phi_status phi__openapi_body_advance(phi__openapi_body *b);
PHI__FN void phi__openapi_body_free(phi__openapi_body *b); /* zeroed, or twice: harmless */

#endif
