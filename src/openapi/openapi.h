/* openapi.h - OpenAPI 3.0 and 3.1 documents as tools: one operation, one tool.

       phi_openapi_desc of = PHI_ZERO;
       of.path = "petstore.json";
       of.auth.bearer_token = "sk-...";
       phi_openapi *api = phi_openapi_new(rt, &of);
       while (phi_openapi_step(api, NULL) == PHI_BUSY) phi_step(rt, 10);
       phi_openapi_tools pets = PHI_ZERO;
       while (phi_openapi_select(api, NULL, &pets) == PHI_BUSY) phi_step(rt, 0);
       desc.tools = pets.tools;                      // desc: a phi_agent_desc
       desc.tool_count = pets.count;

   A document is read once, in slices, and kept as compact text with an index. The schema of a tool
   is made when the tool is selected. All agents of a runtime can share the tools of one document.
   References inside of the document are followed. References to files and addresses are not: an
   operation that needs one is skipped with a message. Documents of version 2.0 are refused.

   Ownership: the object belongs to its runtime, which counts the object's memory. Free the object
              before the runtime. Tools belong to the object.
   Threads:   the pumping thread. */
#ifndef PHI_OPENAPI_OPENAPI_H
#define PHI_OPENAPI_OPENAPI_H

#include "agent/runtime.h"
#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_openapi phi_openapi;

/* The key of an apiKey scheme, or a header of every request. */
typedef struct phi_openapi_pair {
    const char *name;  /* name of the scheme in the document, or of the header */
    const char *value; /* never shown in results, events and messages */
} phi_openapi_pair;

/* Zero means none. Each request uses the first alternative of its operation's security that these
   credentials can meet. */
typedef struct phi_openapi_auth {
    /* for http bearer and openIdConnect, and for oauth2 if no client is given */
    const char *bearer_token;
    const char *user, *password;  /* for http basic */
    const phi_openapi_pair *keys; /* for apiKey, by the scheme's name in the document */
    size_t key_count;
    const char *client_id, *client_secret; /* for oauth2 with client credentials */
    const char *token_url;                 /* for oauth2 (default: the document's tokenUrl) */
} phi_openapi_auth;

/* Exactly one of text, path and url must be set. For every other field, zero means default. The
   document is JSON if its first character is "{" or "[", otherwise YAML. */
typedef struct phi_openapi_desc {
    phi_str text;     /* the text of the document */
    const char *path; /* or the path of the document's file, which is read in slices */
    /* Or the document's address, http or https. phi requests the document by GET through the
       runtime's transport, with `headers` but without the credentials in `auth`. Call phi_step
       meanwhile. Follows up to five redirects without `headers`, but none from https to http. */
    const char *url;
    const char *base_url; /* replaces the document's servers (default: its first server) */
    phi_openapi_auth auth;
    const phi_openapi_pair *headers; /* added to every request (default: none) */
    size_t header_count;
    uint32_t timeout_ms;            /* limit of one request (default 30,000; PHI_UNLIMITED) */
    uint32_t max_response_bytes;    /* bytes of an answer for a model (default 65,536) */
    const char *response_directory; /* keeps whole answers if results are cut (default: none) */
    /* NULL-ended: directories whose files may be uploaded (default: none) */
    const char *const *upload_roots;
    const char *name_prefix;   /* a tool is "{prefix}__{operation id}" (default: no prefix) */
    size_t max_document_bytes; /* (default 67,108,864) */
    uint32_t max_schema_bytes; /* limit of one tool; see docs/openapi.md (default 65,536) */
    bool skip_unnamed;         /* skip operations without operationId (default: name by path) */
    bool needs_approval;       /* tools that may change something need a hook's approval */
    bool destructive_needs_approval; /* tools of DELETE need a hook's approval */
    /* Defers all tools (phi_tool.deferred). By default the tools have phi_tool.may_defer, which
       defers them only if there are many. */
    bool deferred;
    bool never_deferred; /* no tool is deferred, unless `deferred` is set */
} phi_openapi_desc;

/* Begins to read a document. `desc` is copied with all that it points to. Returns NULL if an
   argument is bad or there is no memory; phi_last_error says which of the two. */
PHI_API phi_openapi *phi_openapi_new(phi_runtime *rt, const phi_openapi_desc *desc);

/* Does about the runtime's step_budget_bytes of work. PHI_BUSY: call it again. PHI_OK: the document
   is ready. Every other status is final: PHI_PARSE (malformed), PHI_UNSUPPORTED (no OpenAPI 3.0 or
   3.1, or a path with PHI_NO_FILES), PHI_NOT_FOUND or PHI_IO (the file cannot be read), PHI_REFUSED
   (a redirect that is not followed, or an HTTP error), PHI_TOO_BIG, PHI_NO_MEMORY, and the statuses
   of failed requests. *error (error may be NULL) describes the fault and its place. error->line is
   0 if the fault has no place in the text, and error->message is empty if there is no fault. Safe
   inside callbacks. */
PHI_API phi_status phi_openapi_step(phi_openapi *api, phi_parse_error *error);

/* Frees the object and all its selections. While calls of its tools are running, it frees nothing,
   and phi_last_error says PHI_MISUSE: abort or free their agents first. After the object is freed,
   no agent may use its tools. NULL is harmless. */
PHI_API void phi_openapi_free(phi_openapi *api);

/* ---- operations ---- */

/* All strings are borrowed from the object. */
typedef struct phi_openapi_operation {
    phi_str name; /* name of its tool: unique, and the same in every run and for every filter */
    phi_str operation_id; /* empty: the operation has none */
    phi_str method;       /* "GET" */
    phi_str path;         /* "/pets/{petId}" */
    bool read_only;       /* GET, HEAD, OPTIONS, TRACE */
    bool destructive;     /* DELETE */
    bool deprecated;
} phi_openapi_operation;

/* Returns the operation at `index`, in the document's order. NULL past the last operation, and
   before the document is ready. Valid until the object is freed. */
PHI_API const phi_openapi_operation *phi_openapi_operation_at(const phi_openapi *api, size_t index);

/* ---- tools ---- */

/* An operation is selected if it fits at least one entry of each list that is set. All lists are
   NULL-ended, and borrowed until phi_openapi_select() is done. */
typedef struct phi_openapi_filter {
    const char *const *operation_ids; /* as in the document */
    const char *const *tags;
    const char *const *path_prefixes; /* "/repos" fits /repos, /repos/a and not /repositories */
    const char *const *methods;       /* "GET"; case does not matter */
} phi_openapi_filter;

/* An operation that became no tool. */
typedef struct phi_openapi_skip {
    size_t operation;    /* index of the operation */
    const char *message; /* "parameters[2]: \"$ref\" to another document: other.json#/x" */
} phi_openapi_skip;

/* A selection, owned by the object. Zero it before the first call. After that, only read it. */
typedef struct phi_openapi_tools {
    phi_tool *tools; /* the caller may change all fields except user_data and the functions */
    const size_t *operations; /* for each tool, the index of its operation */
    size_t count;
    const phi_openapi_skip *skipped; /* selected operations that became no tools */
    size_t skip_count;
    void *work; /* internal */
} phi_openapi_tools;

/* Makes the tools of the operations that fit the filter (NULL: all), in steps of about the
   runtime's step_budget_bytes. PHI_BUSY: call it again with the same arguments. PHI_OK: done;
   further calls change nothing. PHI_MISUSE: the document is not ready. PHI_NO_MEMORY: the selection
   is freed and zeroed. */
PHI_API phi_status phi_openapi_select(phi_openapi *api, const phi_openapi_filter *filter,
                                      phi_openapi_tools *out);

#ifdef __cplusplus
}
inline phi_openapi *phi_openapi_new(phi_runtime *rt, const phi_openapi_desc &desc) {
    return phi_openapi_new(rt, &desc);
}
#endif
#endif
