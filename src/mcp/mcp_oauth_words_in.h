/* mcp_oauth_words_in.h - reads URLs, the challenge in a header, and two kinds of metadata
   documents. Results are in the arena or point into the text. */
#ifndef PHI_MCP_MCP_OAUTH_WORDS_IN_H
#define PHI_MCP_MCP_OAUTH_WORDS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"

enum { PHI__OAUTH_URL = 2048 }; /* max. bytes of a URL */

/* The network that a host is in. A URL from a server must not lead into a more private network than
   the server's own. Only the text is examined; no name is resolved. */
typedef enum phi__oauth_reach {
    PHI__OAUTH_PUBLIC,
    PHI__OAUTH_PRIVATE, /* private, link-local and reserved addresses; names without a dot */
    PHI__OAUTH_LOOPBACK
} phi__oauth_reach;

/* The parts of an http or https URL. They point into the text of the URL. */
typedef struct phi__oauth_url {
    phi_str origin, host;
    phi_str path;  /* begins with a slash; may be empty */
    phi_str query; /* without "?"; may be empty */
    uint32_t port;
    bool https;
    phi__oauth_reach reach;
} phi__oauth_url;

/* Splits a URL. False if the scheme is not http or https; if the URL has user info, a fragment, an
   invalid character or more than PHI__OAUTH_URL bytes; or if the host's last label is a number, but
   the host is not an IPv4 address. */
PHI__FN bool phi__url_read(phi_str text, phi__oauth_url *out);

/* Returns NULL if an MCP server may name this URL; else the fault, a static text. */
PHI__FN const char *phi__url_fault(const phi__oauth_url *server, phi_str text, bool allow_private);
PHI__FN bool phi__url_same_host(const phi__oauth_url *a, const phi__oauth_url *b);

/* True if `resource` is the server's URL or contains it (RFC 8707). */
PHI__FN bool phi__url_covers(phi_str resource, const phi__oauth_url *server);

/* Appends the URL as a resource: the origin in lower case, no fragment, and no last slash unless
   there is a query. */
PHI__FN void phi__url_put_resource(phi__buf *out, const phi__oauth_url *url);

/* These write the well-known URLs to `out` in the order in which they are tried. They return the
   count; 0: no memory. */
enum { PHI__OAUTH_KNOWN = 3 };
PHI__FN size_t phi__url_resources(phi_arena *arena, const phi__oauth_url *server,
                                  phi_str out[PHI__OAUTH_KNOWN]);
PHI__FN size_t phi__url_servers(phi_arena *arena, const phi__oauth_url *issuer,
                                phi_str out[PHI__OAUTH_KNOWN]);

/* Joins three texts in the arena, terminated. False: no memory. */
PHI__FN bool phi__url_join(phi_arena *arena, phi_str a, const char *b, phi_str c, phi_str *out);

/* Appends "&name=value", encoded. The first pair of a form or a query gets no "&". */
PHI__FN void phi__url_put(phi__buf *out, const char *name, phi_str value);

/* Finds a name in a query or a form, and decodes its value into the arena. PHI_PARSE: the name
   occurs twice, or the value is malformed. */
PHI__FN phi_status phi__url_get(phi_arena *arena, phi_str query, const char *name, phi_str *out);

/* Returns a URL without its query and fragment. */
PHI__FN phi_str phi__url_bare(phi_str url);

enum {
    PHI__OAUTH_DOCUMENT = 262144, /* max. bytes of a document */
    PHI__OAUTH_DEPTH = 32,        /* max. levels of nested values */
    PHI__OAUTH_SCOPES = 128,      /* max. scopes in a set */
    PHI__OAUTH_SCOPE_BYTES = 4096 /* max. bytes of a set */
};

/* A challenge in WWW-Authenticate, Bearer or DPoP (RFC 6750, 9449, 9728); fields may be empty. */
typedef struct phi__oauth_dare {
    bool bearer;
    phi_str resource_metadata, scope, error;
} phi__oauth_dare;

/* Reads the challenges. headers: "Name: value\r\n" each. False: no memory. */
PHI__FN bool phi__oaw_challenge(phi_arena *arena, phi_str headers, phi__oauth_dare *out);

/* Returns the token of "Bearer token" or "DPoP token". Empty: there is none. */
PHI__FN phi_str phi__oauth_token_of(phi_str bearer);

/* True if text is not empty and has only characters that a token may have. */
PHI__FN bool phi__oauth_printable(phi_str text);

/* Protected resource metadata (RFC 9728). */
typedef struct phi__oauth_resource {
    phi_str resource; /* as published */
    phi_str issuer;   /* the chosen authorization server */
    phi_str scopes;   /* scopes_supported; may be empty */
} phi__oauth_resource;

/* Reads metadata of a resource. Chooses the issuer `preferred` if it is listed, otherwise the first
   issuer. PHI_PARSE: the text is not such a document. *fault is static. */
PHI__FN phi_status phi__oaw_resource(phi_arena *arena, phi_str text, phi_str preferred,
                                     phi__oauth_resource *out, const char **fault);

enum {
    PHI__OAUTH_NONE = 1,
    PHI__OAUTH_BASIC = 2,
    PHI__OAUTH_POST = 4,
    PHI__OAUTH_KEY = 8 /* private_key_jwt */
};

/* Authorization server metadata (RFC 8414, OpenID Connect Discovery). */
typedef struct phi__oauth_server {
    phi_str issuer, authorize, token, registration;
    uint32_t methods; /* methods of the token endpoint: PHI__OAUTH_NONE and others */
    bool says_methods;
    phi_str dpop;                                /* algorithms for proofs, separated by spaces */
    bool s256, documents, names_itself, offline; /* documents: client id metadata documents */
} phi__oauth_server;

/* Reads metadata of an authorization server. If `person`, authorization_endpoint is required.
   PHI_PARSE: not such a document. *fault is static. */
PHI__FN phi_status phi__oaw_server(phi_arena *arena, phi_str text, bool person,
                                   phi__oauth_server *out, const char **fault);
PHI__FN bool phi__oauth_has(phi_str set, phi_str scope);
PHI__FN bool phi__oauth_has_all(phi_str set, phi_str scopes);

/* Appends scopes that the set lacks, except malformed ones and those beyond the limits above. */
PHI__FN void phi__oauth_join(phi__buf *set, phi_str scopes);

#endif
