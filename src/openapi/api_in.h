/* api_in.h - a document as it is kept, an operation ready to be called, and the object that holds
   both.

   The strings of an operation are NUL-terminated, and live in the arena of the selection that holds
   the operation. maker.c makes phi__operation, the user_data of a tool; openapi_call.c reads it. */
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
    phi_str argument; /* key in the arguments */
    phi_str name;     /* name in the request */
    phi__operation_place place;
    phi__operation_style style;
    bool explode, allow_reserved, required;
    phi_str content_type; /* the media type of a `content` parameter; otherwise empty */
    phi_json_type type;   /* type in the schema; PHI_JSON_NONE: none, or several */
} phi__operation_parameter;

typedef enum phi__operation_body_kind {
    PHI__BODY_NONE,
    PHI__BODY_JSON,
    PHI__BODY_FORM,
    PHI__BODY_MULTIPART,
    PHI__BODY_TEXT, /* the argument is a string, sent as it is */
    PHI__BODY_BYTES /* the argument is a string in base64, or an object that names a file */
} phi__operation_body_kind;

/* How a property of a form or multipart body is sent. A property without such a record is sent in
   the default way. */
typedef struct phi__operation_property {
    phi_str name;
    phi_str content_type; /* from the encoding, or a file's schema; empty: default */
    bool has_style;       /* style, explode or allowReserved is given: content_type is not used */
    phi__operation_style style;
    bool explode, allow_reserved;
    bool file;               /* format binary or byte, or contentMediaType: may be a file */
    bool base64;             /* format byte, or contentEncoding base64 */
    const phi_json *headers; /* headers of its part in a multipart body, name to value; or NULL */
    phi_json_type type;      /* type in the schema; PHI_JSON_NONE: none, or several */
} phi__operation_property;

typedef struct phi__operation_body {
    phi__operation_body_kind kind;
    phi_str argument;     /* "body", or "_request_body" if a parameter is named "body" */
    phi_str content_type; /* "application/json"; never a range with a "*" */
    bool required;
    phi__operation_property *properties;
    size_t property_count;
} phi__operation_body;

typedef enum phi__operation_scheme_kind {
    PHI__SCHEME_KEY,    /* apiKey, sent as `key` in `place` */
    PHI__SCHEME_BASIC,  /* http basic */
    PHI__SCHEME_BEARER, /* http bearer */
    PHI__SCHEME_OAUTH,  /* oauth2, met by client credentials and token_url, or by bearer_token */
    PHI__SCHEME_OPENID, /* openIdConnect, met by bearer_token */
    PHI__SCHEME_OTHER   /* mutualTLS, http digest and others, which cannot be met */
} phi__operation_scheme_kind;

typedef struct phi__operation_scheme {
    phi__operation_scheme_kind kind;
    phi_str name;               /* name in the document */
    phi__operation_place place; /* for KEY: HEADER, QUERY or COOKIE */
    phi_str key;                /* for KEY: name of the key in the request */
    phi_str token_url;          /* for OAUTH; empty: no client credentials */
    const phi_str *scopes;      /* scopes that the operation needs */
    size_t scope_count;
} phi__operation_scheme;

/* Schemes that are needed together. If there are none, requests are anonymous. */
typedef struct phi__operation_security {
    const phi__operation_scheme *schemes;
    size_t count;
} phi__operation_security;

typedef struct phi__operation {
    phi_openapi *api;
    size_t index; /* as in phi_openapi_operation_at() */
    phi_str name; /* name of the tool */
    phi_str method, path;
    /* URL of the first server, with the defaults of its variables and without a slash at the end. A
       relative URL is resolved against the document's URL. Empty: there is no server. */
    phi_str server;
    phi__operation_parameter *parameters;
    size_t parameter_count;
    phi__operation_body body;
    /* alternatives; if security_count is 0, the document requires no credentials */
    const phi__operation_security *security;
    size_t security_count;
    bool read_only, destructive;
} phi__operation;

/* The sections of a document whose parts are kept. */
typedef enum phi__document_section {
    PHI__SECTION_SCHEMAS,
    PHI__SECTION_PARAMETERS,
    PHI__SECTION_BODIES,
    PHI__SECTION_HEADERS,
    PHI__SECTION_SECURITY,
    PHI__SECTION_ITEMS,
    PHI__SECTION_PATHS,
    PHI__SECTION_RESPONSES,
    PHI__SECTION_ANSWERS, /* responses of operations, named by phi__document_answers() */
    PHI__SECTION_ROOT,    /* one part without a name: the document's servers and security */
    PHI__SECTION_COUNT
} phi__document_section;

typedef struct phi__document_part {
    phi__document_section section;
    phi_str name;
    size_t at, len;       /* place of the part in the document's text */
    const phi_json *node; /* valid only while the document is read */
} phi__document_part;

typedef struct phi__document_operation {
    phi_openapi_operation shown;
    phi__document_part *item; /* the path item that holds it */
    const phi_str *tags;
    size_t tag_count;
    const char *skip; /* why it cannot become a tool; NULL: it can */
} phi__document_operation;

typedef struct phi__document {
    phi_memory *memory; /* borrowed */
    phi_arena arena;    /* holds the index */
    phi__buf text;
    phi__map parts;
    phi__document_operation *operations;
    size_t count, cap;
    bool is_31; /* version 3.1: schemas are JSON Schema 2020-12 */
} phi__document;

/* Returns the part with this name; NULL if there is none. */
PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name);

enum { PHI__DOCUMENT_BUCKETS = 127 }; /* hash buckets of parsed parts */

/* The parts that one reader has parsed. Zeroed at first, except for doc and arena. */
typedef struct phi__document_view {
    const phi__document *doc;
    phi_arena *arena; /* borrowed; holds the parsed trees */
    struct phi__document_parsed *parsed[PHI__DOCUMENT_BUCKETS];
    size_t units; /* bytes parsed so far */
    bool no_memory;
    char message[256]; /* says why the last call failed */
} phi__document_view;

/* Returns the parsed tree of a part; NULL if there is no memory. */
PHI__FN const phi_json *phi__document_tree(phi__document_view *view,
                                           const phi__document_part *part);

/* Returns the node that a reference names. NULL: the message says why, or no_memory is set. */
PHI__FN const phi_json *phi__document_target(phi__document_view *view, phi_str ref);

/* Follows "$ref" to the first node without it. NULL: the message says why, or no_memory is set. */
PHI__FN const phi_json *phi__document_follow(phi__document_view *view, const phi_json *node);

/* True if a media type ends in these letters, in any case: "+json". */
static inline bool phi__media_ends(phi_str type, const char *end) {
    size_t n = strlen(end);
    return type.len > n && phi__str_is_nocase(phi__str_from(type, type.len - n), end);
}

struct phi__reading_walk;

typedef struct phi__reading {
    phi__document *doc; /* borrowed; empty at first */
    phi__buf source;
    size_t max_bytes;
    const char *prefix; /* prefix of tool names; borrowed */
    bool skip_unnamed;
#ifndef PHI_NO_FILES
    phi__file *file; /* NULL: all of the source is read */
#endif
    phi_arena tree;
    phi_json *root;
    struct phi__reading_walk *walk; /* in `tree`; NULL until the first advance */
    phi_status status;
    phi_parse_error error;
} phi__reading;

/* The request for a document that is read from a URL. */
typedef struct phi__address {
    struct phi__fetch *fetch; /* NULL: no request is running */
    phi_str location;         /* Location header of the last answer; empty: none */
    int http_status;
    uint32_t redirects;
} phi__address;

/* The tools of the operations that fit a filter. */
typedef struct phi__selection {
    struct phi__selection *next;
    phi_arena arena; /* holds operations, schemas and messages */
    size_t at;       /* index of the next operation */
    phi_tool *tools;
    size_t *operations;
    phi_openapi_skip *skipped;
    size_t tool_cap, operation_cap, skip_cap;
} phi__selection;

struct phi_openapi {
    phi_runtime *rt;
    phi_memory memory;       /* a child of the runtime's memory */
    phi_arena arena;         /* holds the copies of desc */
    size_t step_bytes;       /* work in one call: the runtime's step_budget_bytes */
    phi_openapi_desc desc;   /* copied, defaults resolved; strings that were not given are NULL */
    phi_str url;             /* address of the document; empty: a text or a file */
    phi__document *document; /* in the arena */
    phi__reading reading;    /* freed as soon as its status is not PHI_BUSY */
    phi__selection *selections;
    phi__address address;
    phi__list tokens;    /* used by openapi_call.c, freed by phi__opcall_free() */
    uint32_t calls_open; /* running calls; the object cannot be freed while there are any */
};

/* Frees a selection, and removes it from its object. */
PHI__FN void phi__selection_free(phi_openapi *api, phi__selection *s);

/* Sets start, cancel, resume and timeout_ms. tool->user_data must be a phi__operation. */
PHI__FN void phi__opcall_fill(phi_tool *tool);

/* Frees the tokens of the object. No call may be waiting for one. */
PHI__FN void phi__opcall_free(phi_openapi *api);

#endif
