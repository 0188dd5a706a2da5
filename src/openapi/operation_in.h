/* operation_in.h - one operation of a document, ready to be called. The document's side makes it,
   the calling side reads it.

   All strings are terminated, and live in the arena of the selection that holds the operation. A
   tool's user_data is its phi__operation. */
#ifndef PHI_OPENAPI_OPERATION_IN_H
#define PHI_OPENAPI_OPERATION_IN_H

#include "base/base_in.h"
#include "openapi/openapi.h"
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

#endif
