/* api_in.h - a document as it is kept, one operation of it ready to be called, and the object that
   holds all.

   The strings of an operation are terminated, and live in the arena of the selection that holds
   it. A tool's user_data is its phi__operation. The document's side makes it, the calling side
   reads it. */
#ifndef PHI_OPENAPI_API_IN_H
#define PHI_OPENAPI_API_IN_H

#include "base/base_in.h"
#include "loop/loop_in.h"
#include "openapi/openapi.h"
#include "system/system_in.h"
#include "text/text_in.h"

typedef enum phi__operation_place {
    PHI__OPERATION_PATH,
    PHI__OPERATION_QUERY,
    PHI__OPERATION_HEADER,
    PHI__OPERATION_COOKIE
} phi__operation_place;

typedef enum phi__operation_style {
    PHI__STYLE_SIMPLE, /* default of path and header */
    PHI__STYLE_LABEL,
    PHI__STYLE_MATRIX,
    PHI__STYLE_FORM, /* default of query and cookie */
    PHI__STYLE_SPACE,
    PHI__STYLE_PIPE,
    PHI__STYLE_DEEP
} phi__operation_style;

typedef struct phi__operation_parameter {
    phi_str argument; /* its key in the arguments */
    phi_str name;     /* on the wire */
    phi__operation_place place;
    phi__operation_style style;
    bool explode, allow_reserved, required;
    phi_str content_type; /* of a `content` parameter: its value is sent in that form; else empty */
    phi_json_type type;   /* of its schema; PHI_JSON_NONE: none, or several */
} phi__operation_parameter;

typedef enum phi__operation_body_kind {
    PHI__BODY_NONE,
    PHI__BODY_JSON,
    PHI__BODY_FORM,
    PHI__BODY_MULTIPART,
    PHI__BODY_TEXT, /* the argument is a string, sent as it is */
    PHI__BODY_BYTES /* the argument is a string in base64, or an object that names a file */
} phi__operation_body_kind;

/* How a property of a form or multipart body is sent. Properties that are not listed are sent by
   the defaults. */
typedef struct phi__operation_property {
    phi_str name;
    phi_str content_type; /* the encoding's, or of the schema's (a file); empty: the default */
    bool has_style; /* style, explode and allow_reserved were given: content_type is not used */
    phi__operation_style style;
    bool explode, allow_reserved;
    bool file;               /* format binary, byte, or contentMediaType: it may be a file */
    bool base64;             /* format byte, contentEncoding base64: a string is in base64 */
    const phi_json *headers; /* name to default value (strings), of its multipart part; or NULL */
    phi_json_type type;      /* of its schema; PHI_JSON_NONE: none, or several */
} phi__operation_property;

typedef struct phi__operation_body {
    phi__operation_body_kind kind;
    phi_str argument;     /* "body", or "_request_body" where a parameter has that name */
    phi_str content_type; /* "application/json", as in the document, without the range of a "*" */
    bool required;
    phi__operation_property *properties;
    size_t property_count;
} phi__operation_body;

typedef enum phi__operation_scheme_kind {
    PHI__SCHEME_KEY,    /* apiKey: place and key */
    PHI__SCHEME_BASIC,  /* http */
    PHI__SCHEME_BEARER, /* http */
    PHI__SCHEME_OAUTH,  /* oauth2: clientCredentials with token_url, or only by bearer_token */
    PHI__SCHEME_OPENID, /* openIdConnect: only by bearer_token */
    PHI__SCHEME_OTHER   /* mutualTLS, http digest, ...: it cannot be met */
} phi__operation_scheme_kind;

typedef struct phi__operation_scheme {
    phi__operation_scheme_kind kind;
    phi_str name;               /* in the document */
    phi__operation_place place; /* of a key: HEADER, QUERY or COOKIE */
    phi_str key;                /* of a key: its name on the wire */
    phi_str token_url;          /* of OAUTH: empty where it has no client credentials */
    const phi_str *scopes;      /* that the operation asks for */
    size_t scope_count;
} phi__operation_scheme;

/* Schemes that are needed together; none: anonymous. */
typedef struct phi__operation_security {
    const phi__operation_scheme *schemes;
    size_t count;
} phi__operation_security;

typedef struct phi__operation {
    phi_openapi *api;
    size_t index; /* of phi_openapi_operation_at */
    phi_str name; /* of the tool */
    phi_str method, path;
    /* of the first server, with the defaults of its variables; no slash at the end; it may be
       relative, and is then resolved against the document's URL; empty: there is none */
    phi_str server;
    phi__operation_parameter *parameters;
    size_t parameter_count;
    phi__operation_body body;
    /* alternatives; count 0: the document asks for nothing */
    const phi__operation_security *security;
    size_t security_count;
    bool read_only, destructive;
} phi__operation;

/* The sections of a document that parts come from. */
typedef enum phi__document_section {
    PHI__SECTION_SCHEMAS,
    PHI__SECTION_PARAMETERS,
    PHI__SECTION_BODIES,
    PHI__SECTION_HEADERS,
    PHI__SECTION_SECURITY,
    PHI__SECTION_ITEMS,
    PHI__SECTION_PATHS,
    PHI__SECTION_RESPONSES,
    PHI__SECTION_ANSWERS, /* of operations, each by the key of phi__document_answers */
    PHI__SECTION_ROOT,    /* one part without a name: servers and security of the document */
    PHI__SECTION_COUNT
} phi__document_section;

typedef struct phi__document_part {
    phi__document_section section;
    phi_str name;
    size_t at, len;       /* in the text */
    const phi_json *node; /* only while the document is read */
} phi__document_part;

typedef struct phi__document_operation {
    phi_openapi_operation shown;
    phi__document_part *item; /* the path item that holds it */
    const phi_str *tags;
    size_t tag_count;
    const char *skip; /* NULL, or why it cannot become a tool; terminated */
} phi__document_operation;

typedef struct phi__document {
    phi_memory *memory; /* borrowed */
    phi_arena arena;    /* the index */
    phi__buf text;
    phi__map parts;
    phi__document_operation *operations;
    size_t count, cap;
    bool is_31; /* version 3.1: schemas are JSON Schema 2020-12 */
} phi__document;

/* NULL: none of that name. */
PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name);

enum { PHI__DOCUMENT_BUCKETS = 127 }; /* of parsed parts, by their places */

/* The parts that one reader has parsed. Zeroed, but for doc and arena. */
typedef struct phi__document_view {
    const phi__document *doc;
    phi_arena *arena; /* borrowed; the parsed trees live in it */
    struct phi__document_parsed *parsed[PHI__DOCUMENT_BUCKETS];
    size_t units; /* bytes that were parsed so far */
    bool no_memory;
    char message[256]; /* of the last failure; terminated */
} phi__document_view;

/* NULL: no memory. */
PHI__FN const phi_json *phi__document_tree(phi__document_view *view,
                                           const phi__document_part *part);

/* The node that a reference names; NULL: the message says why, or no_memory. */
PHI__FN const phi_json *phi__document_target(phi__document_view *view, phi_str ref);

/* Follows "$ref", and the references that it leads to; a node without one is returned as it is.
   NULL: the message says why, or no_memory. */
PHI__FN const phi_json *phi__document_follow(phi__document_view *view, const phi_json *node);

struct phi__reading_walk;

typedef struct phi__reading {
    phi__document *doc; /* borrowed, empty at first */
    phi__buf source;
    size_t max_bytes;
    const char *prefix; /* of names; borrowed */
    bool skip_unnamed;
#ifndef PHI_NO_FILES
    phi__file *file; /* NULL: the source is whole */
#endif
    phi_arena tree;
    phi_json *root;
    struct phi__reading_walk *walk; /* in the arena; NULL until the first advance */
    phi_status status;
    phi_parse_error error;
} phi__reading;

/* The request for a document that is read from a URL. */
typedef struct phi__address {
    struct phi__fetch *fetch; /* NULL: none is under way */
    phi_str location;         /* of the last answer; empty: none */
    int http_status;
    uint32_t redirects;
} phi__address;

/* Operations that fit a filter, as tools. */
typedef struct phi__selection {
    struct phi__selection *next;
    phi_arena arena; /* operations, schemas, messages */
    size_t at;       /* the next operation */
    phi_tool *tools;
    size_t *operations;
    phi_openapi_skip *skipped;
    size_t tool_cap, operation_cap, skip_cap;
} phi__selection;

struct phi_openapi {
    phi_runtime *rt;
    phi_memory memory;       /* a child of the runtime's */
    phi_arena arena;         /* the copies of desc */
    size_t step_bytes;       /* of work in one call: the runtime's step_budget_bytes */
    phi_openapi_desc desc;   /* copied, defaults resolved; strings that were not given are NULL */
    phi_str url;             /* where the document came from; empty: a text or a file */
    phi__document *document; /* in the arena */
    phi__reading reading;    /* ended, once the status is not PHI_BUSY */
    phi__selection *selections;
    phi__address address;
    phi__list tokens;    /* of the calling side; freed by phi__opcall_free */
    uint32_t calls_open; /* counted by the calling side; above 0 the object cannot be freed */
};

/* Frees a selection, and takes it off its object. */
PHI__FN void phi__selection_free(phi_openapi *api, phi__selection *s);

/* Sets start, cancel, resume and timeout_ms; user_data is a phi__operation. */
PHI__FN void phi__opcall_fill(phi_tool *tool);

/* Frees the tokens of the object, for which no call waits. */
PHI__FN void phi__opcall_free(phi_openapi *api);

#endif
