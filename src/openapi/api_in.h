/* api_in.h - the object of a document: its settings, its reading, its selections and its calls. */
#ifndef PHI_OPENAPI_API_IN_H
#define PHI_OPENAPI_API_IN_H

#include "loop/loop_in.h"
#include "openapi/reading_in.h"
#include "openapi/operation_in.h"

struct phi__openapi_calls;

/* The request for a document that is read from a URL. */
typedef struct phi__address {
    struct phi__fetch *fetch; /* NULL: none is under way */
    phi_str location;         /* of the last answer; empty: none */
    int http_status;
    uint32_t redirects;
} phi__address;

struct phi_openapi {
    phi_runtime *rt;
    phi_memory memory;       /* a child of the runtime's */
    phi_arena arena;         /* the copies of desc */
    size_t step_bytes;       /* of work in one call: the runtime's step_budget_bytes */
    phi_openapi_desc desc;   /* copied, defaults resolved; strings that were not given are NULL */
    phi_str url;             /* where the document came from; empty: a text or a file */
    phi__document *document; /* in the arena */
    phi__reading reading;    /* ended, once the status is not PHI_BUSY */
    struct phi__selection *selections;
    phi__address address;
    /* The calling side's: tokens and calls under way. Zero at first; freed with the object by
       phi__opcall_free. */
    struct phi__openapi_calls *calls;
    uint32_t calls_open; /* counted by the calling side; above 0 the object cannot be freed */
};

#endif
