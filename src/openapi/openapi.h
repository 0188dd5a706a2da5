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

   A document is read once, in slices, and kept as compact text with an index; the schema of a tool
   is made when the tool is selected. All agents of a runtime can share the tools of one document.
   References inside of the document are followed; references to files and addresses are not, and
   an operation that needs one is skipped with a message. Documents of version 2.0 are refused.

   Ownership: the object belongs to its runtime, and its memory is counted there. It borrows the
   runtime: free it first. Tools belong to the object.
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
    const char *name;  /* of the scheme in the document, or of the header */
    const char *value; /* never shown in results, events and messages */
} phi_openapi_pair;

/* Zero means none. A request carries what the first alternative of its operation needs that can
   be met with these. */
typedef struct phi_openapi_auth {
    /* for http bearer, and for oauth2 and openIdConnect where no client is given */
    const char *bearer_token;
    const char *user, *password;  /* for http basic */
    const phi_openapi_pair *keys; /* for apiKey, by the scheme's name in the document */
    size_t key_count;
    const char *client_id, *client_secret; /* for the client credentials of oauth2 */
    const char *token_url;                 /* of oauth2 (default: the document's tokenUrl) */
} phi_openapi_auth;

/* Zero means default for every field but one of the first three. The document is JSON where its
   first character is "{" or "[", else YAML. */
typedef struct phi_openapi_desc {
    phi_str text;     /* the document itself */
    const char *path; /* or its file, read in slices */
    /* or its address, http or https: by GET with `headers` and no credential of `auth`, through the
       runtime's transport; phi_step must run. Five redirects are followed, without those headers,
       and never from https to http */
    const char *url;
    const char *base_url; /* instead of the document's servers (default: its first server) */
    phi_openapi_auth auth;
    const phi_openapi_pair *headers; /* of every request (default: none) */
    size_t header_count;
    uint32_t timeout_ms;            /* of one request (default 30,000; PHI_UNLIMITED) */
    uint32_t max_response_bytes;    /* of an answer that a model sees (default 65,536) */
    const char *response_directory; /* keeps whole answers that were cut (default: none) */
    /* NULL-ended: directories whose files may be uploaded (default: none) */
    const char *const *upload_roots;
    const char *name_prefix;   /* a tool is "{prefix}__{operation id}" (default: no prefix) */
    size_t max_document_bytes; /* (default 67,108,864) */
    uint32_t max_schema_bytes; /* of one tool; see docs/openapi.md (default 65,536) */
    bool skip_unnamed;         /* skips operations without operationId (default: named by path) */
    bool needs_approval;       /* the tools that may change something need a hook's approval */
    bool destructive_needs_approval; /* the same of DELETE alone */
    /* its tools are deferred (phi_tool.deferred); default: where those that may be are many
       (phi_tool.may_defer) */
    bool deferred;
    bool never_deferred; /* its tools are not; `deferred` wins */
} phi_openapi_desc;

/* Begins to read a document; `desc` is copied, with all that it points to. NULL: a bad argument, or
   no memory; phi_last_error names it. */
PHI_API phi_openapi *phi_openapi_new(phi_runtime *rt, const phi_openapi_desc *desc);

/* Does about the runtime's step_budget_bytes of work. PHI_BUSY: call it again. PHI_OK: ready. All
   else stays: PHI_PARSE (malformed), PHI_UNSUPPORTED (no OpenAPI
   3.0 or 3.1, or YAML without its reader), PHI_TOO_BIG, PHI_NO_MEMORY, PHI_NOT_FOUND, PHI_IO,
   PHI_REFUSED, and the statuses of a network. Safe inside callbacks.
   *error, where given: the fault and its place; line 0: it has no place in the text; the message is
   empty where there is no fault. */
PHI_API phi_status phi_openapi_step(phi_openapi *api, phi_parse_error *error);

/* Frees the object and every selection of it. While calls of its tools are under way it frees
   nothing, and phi_last_error says PHI_MISUSE; abort or free their agents first. Afterwards no
   agent may use the tools. NULL is harmless. */
PHI_API void phi_openapi_free(phi_openapi *api);

/* ---- operations ---- */

/* All strings are borrowed from the object. */
typedef struct phi_openapi_operation {
    phi_str name;         /* of its tool: unique, the same from run to run and with every filter */
    phi_str operation_id; /* empty: it has none */
    phi_str method;       /* "GET" */
    phi_str path;         /* "/pets/{petId}" */
    bool read_only;       /* GET, HEAD, OPTIONS, TRACE */
    bool destructive;     /* DELETE */
    bool deprecated;
} phi_openapi_operation;

/* The operation at `index`, in the document's order; NULL past the last, and before the object is
   ready. Valid until the object is freed. */
PHI_API const phi_openapi_operation *phi_openapi_operation_at(const phi_openapi *api, size_t index);

/* ---- tools ---- */

/* An operation is selected when it fits each list that is given: one of its entries. All lists are
   NULL-ended and borrowed until phi_openapi_select is done. */
typedef struct phi_openapi_filter {
    const char *const *operation_ids; /* as in the document */
    const char *const *tags;
    const char *const *path_prefixes; /* "/repos" fits /repos, /repos/a and not /repositories */
    const char *const *methods;       /* "GET"; upper and lower case are the same */
} phi_openapi_filter;

/* An operation that became no tool. */
typedef struct phi_openapi_skip {
    size_t operation;    /* its index */
    const char *message; /* "parameters[2]: \"$ref\" to another document: other.json#/x" */
} phi_openapi_skip;

/* A selection: zero it before the first call. For the caller to read; owned by the object. */
typedef struct phi_openapi_tools {
    phi_tool *tools; /* the caller may change their fields but user_data and the functions */
    const size_t *operations; /* of each tool: its operation's index */
    size_t count;
    const phi_openapi_skip *skipped; /* selected, and impossible */
    size_t skip_count;
    void *work; /* phi's */
} phi_openapi_tools;

/* Makes the tools of the operations that fit the filter (NULL: all), about the runtime's
   step_budget_bytes of them at a time. PHI_BUSY: call it again with the same arguments. PHI_OK:
   done; further calls change nothing. PHI_MISUSE: the object is not ready. PHI_NO_MEMORY: the
   selection is freed and zeroed. */
PHI_API phi_status phi_openapi_select(phi_openapi *api, const phi_openapi_filter *filter,
                                      phi_openapi_tools *out);

#ifdef __cplusplus
}
inline phi_openapi *phi_openapi_new(phi_runtime *rt, const phi_openapi_desc &desc) {
    return phi_openapi_new(rt, &desc);
}
#endif
#endif
