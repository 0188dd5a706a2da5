/* openapi_answer_in.h - the answer to a call's request, as it comes, and the blocks that a model
   gets of it.

   Text is kept up to four times max_response_bytes, so that JSON can be shortened sensibly, images,
   and PDFs and audio for models that take them, up to 4 MiB. A longer answer goes into a file where
   there is a directory for it; else reading ends there. Secrets of the request are hidden in all of
   it. */
#ifndef PHI_OPENAPI_OPENAPI_ANSWER_IN_H
#define PHI_OPENAPI_OPENAPI_ANSWER_IN_H

#include "system/files_in.h"
#include "io/secret_in.h"
#include "openapi/api_in.h"
#include "openapi/operation_in.h"

typedef enum phi__openapi_form {
    PHI__FORM_TEXT,
    PHI__FORM_JSON,
    PHI__FORM_MEDIA, /* a block of phi__openapi_answer_kind */
    PHI__FORM_BINARY,
    PHI__FORM_UNKNOWN /* no Content-Type: text, if it is UTF-8 */
} phi__openapi_form;

typedef struct phi__openapi_answer {
    const phi__operation *op;
    phi_call call;
    const phi__secrets *secrets; /* borrowed */
    phi__openapi_form form;
    char type[80]; /* the media type, without its parameters; terminated */
    bool latin1;   /* its charset is Latin-1, or near it */
    int http_status;
    uint64_t total;          /* bytes that came */
    uint64_t announced;      /* by Content-Length; 0: not */
    phi__buf kept, incoming; /* incoming: a secret may begin in it */
    size_t most;             /* of kept */
    bool enough;             /* no more is wanted */
#ifndef PHI_NO_FILES
    phi__file *file;
    bool saved, unsaved; /* unsaved: the disk refused */
    phi__words words;
    char path[512];
#endif
} phi__openapi_answer;

PHI__FN void phi__openapi_answer_init(phi__openapi_answer *a, phi_memory *memory,
                                      const phi__operation *op, phi_call call,
                                      const phi__secrets *secrets);
PHI__FN void phi__openapi_answer_head(phi__openapi_answer *a, int http_status, phi_str headers);
/* False: no more is wanted. */
PHI__FN bool phi__openapi_answer_body(phi__openapi_answer *a, phi_str bytes);
/* Appends the text for the model to `out`. media gets base64 if the answer is an image, a document
   or audio, else nothing. PHI_NO_MEMORY. */
PHI__FN phi_status phi__openapi_answer_finish(phi__openapi_answer *a, phi__buf *out,
                                              phi__buf *media);
/* The kind of the media: image, document or audio. */
PHI__FN phi_content_kind phi__openapi_answer_kind(const phi__openapi_answer *a);
PHI__FN void phi__openapi_answer_free(phi__openapi_answer *a); /* zeroed, or twice: harmless */
/* "OK"; empty: a status without a name */
PHI__FN const char *phi__openapi_answer_reason(int http_status);

#endif
