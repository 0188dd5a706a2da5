/* mcp_oauth_words_in.h - what servers say about an authorization: the challenge in a header, and
   the two metadata documents. Pure functions of text; results are in the arena, or borrowed from
   the text. */
#ifndef PHI_MCP_MCP_OAUTH_WORDS_IN_H
#define PHI_MCP_MCP_OAUTH_WORDS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"

enum { PHI__OAUTH_URL = 2048 }; /* bytes of an address */

/* How far an address leads into the network that we are in: an address that another one names must
   not lead further. By the host's text alone, no name is looked up. */
typedef enum phi__oauth_reach {
    PHI__OAUTH_PUBLIC,
    PHI__OAUTH_PRIVATE, /* private, link-local and reserved addresses; names without a dot */
    PHI__OAUTH_LOOPBACK
} phi__oauth_reach;

/* Parts of an http or https address, borrowed from its text. */
typedef struct phi__oauth_url {
    phi_str text, origin, host;
    phi_str path;  /* with its slash; may be empty */
    phi_str query; /* without "?"; may be empty */
    uint32_t port;
    bool https;
    phi__oauth_reach reach;
} phi__oauth_url;

/* False: another scheme, user info, a fragment, a character that no address has, a host that
   ends as an IPv4 address and is none, or more than PHI__OAUTH_URL bytes. */
PHI__FN bool phi__url_read(phi_str text, phi__oauth_url *out);

/* NULL if an MCP server may send us there; else its fault, static. */
PHI__FN const char *phi__url_fault(const phi__oauth_url *server, phi_str text, bool allow_private);
PHI__FN bool phi__url_same_host(const phi__oauth_url *a, const phi__oauth_url *b);

/* True if `resource` is that address or one above it (RFC 8707: the path of a server may be part of
   a larger resource). */
PHI__FN bool phi__url_covers(phi_str resource, const phi__oauth_url *server);

/* Appends it as a resource: scheme and host in lower case, without a fragment or a last slash. */
PHI__FN void phi__url_put_resource(phi__buf *out, const phi__oauth_url *url);

/* The well-known addresses in their order, in the arena; the count, 0: no memory. */
enum { PHI__OAUTH_KNOWN = 3 };
PHI__FN size_t phi__url_resources(phi_arena *arena, const phi__oauth_url *server,
                                  phi_str out[PHI__OAUTH_KNOWN]);
PHI__FN size_t phi__url_servers(phi_arena *arena, const phi__oauth_url *issuer,
                                phi_str out[PHI__OAUTH_KNOWN]);

/* Three texts as one, terminated, in the arena. False: no memory. */
PHI__FN bool phi__url_join(phi_arena *arena, phi_str a, const char *b, phi_str c, phi_str *out);

/* Appends "&name=value", encoded; the "&" unless it is the first of a form or a query. */
PHI__FN void phi__url_put(phi__buf *out, const char *name, phi_str value);

/* The value of a name in a query or form, decoded into the arena. PHI_NOT_FOUND; PHI_PARSE: it is
   there twice, or is broken; PHI_NO_MEMORY. */
PHI__FN phi_status phi__url_get(phi_arena *arena, phi_str query, const char *name, phi_str *out);

enum {
    PHI__OAUTH_DOCUMENT = 262144, /* bytes of a document */
    PHI__OAUTH_DEPTH = 32,        /* nested values in it */
    PHI__OAUTH_SCOPES = 128,      /* scopes in a set */
    PHI__OAUTH_SCOPE_BYTES = 4096 /* of a set */
};

/* A WWW-Authenticate challenge of the scheme Bearer or DPoP (RFC 6750, 9449, 9728); a missing
   parameter is empty. */
typedef struct phi__oauth_dare {
    bool bearer;
    phi_str resource_metadata, scope, error;
} phi__oauth_dare;

/* headers: "Name: value\r\n" each. False: no memory. */
PHI__FN bool phi__oaw_challenge(phi_arena *arena, phi_str headers, phi__oauth_dare *out);

/* The token of "Bearer token" or "DPoP token"; empty: there is none. */
PHI__FN phi_str phi__oauth_token_of(phi_str bearer);

/* Characters that a token may have, at least one. */
PHI__FN bool phi__oauth_printable(phi_str text);

/* Protected resource metadata (RFC 9728). */
typedef struct phi__oauth_resource {
    phi_str resource; /* as published */
    phi_str issuer;   /* of the authorization server chosen */
    phi_str scopes;   /* scopes_supported; empty: none are named */
} phi__oauth_resource;

/* preferred: the issuer to be chosen, where it is in the list; else the first one is. PHI_OK,
   PHI_PARSE: no document of this kind; PHI_NO_MEMORY. *fault: static. */
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
    uint32_t methods; /* PHI__OAUTH_NONE...: what the token endpoint takes */
    bool says_methods;
    phi_str dpop;                                /* algorithms of proofs, separated by spaces */
    bool s256, documents, names_itself, offline; /* documents: client id metadata documents */
} phi__oauth_server;

/* person: a page for persons is needed. */
PHI__FN phi_status phi__oaw_server(phi_arena *arena, phi_str text, bool person,
                                   phi__oauth_server *out, const char **fault);
PHI__FN bool phi__oauth_has(phi_str set, phi_str scope);
PHI__FN bool phi__oauth_has_all(phi_str set, phi_str scopes);

/* Appends the scopes that the buffer lacks, without malformed ones and without those beyond the
   limits above. */
PHI__FN void phi__oauth_join(phi__buf *set, phi_str scopes);

#endif
