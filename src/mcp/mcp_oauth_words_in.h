/* mcp_oauth_words_in.h - what servers say about an authorization: the challenge in a header, and
   the two metadata documents. Pure functions of text; results are in the arena, or borrowed from
   the text. */
#ifndef PHI_MCP_MCP_OAUTH_WORDS_IN_H
#define PHI_MCP_MCP_OAUTH_WORDS_IN_H

#include "mcp/mcp_oauth_url_in.h"

enum {
    PHI__MCP_OAUTH_DOCUMENT = 262144, /* bytes of a document */
    PHI__MCP_OAUTH_DEPTH = 32,        /* nested values in it */
    PHI__MCP_OAUTH_SCOPES = 128,      /* scopes in a set */
    PHI__MCP_OAUTH_SCOPE_BYTES = 4096 /* of a set */
};

/* A WWW-Authenticate challenge of the scheme Bearer or DPoP (RFC 6750, 9449, 9728); a missing
   parameter is empty. */
typedef struct phi__mcp_oauth_dare {
    bool bearer;
    phi_str resource_metadata, scope, error;
} phi__mcp_oauth_dare;

/* headers: "Name: value\r\n" each. False: no memory. */
PHI__FN bool phi__mcp_oauth_words_challenge(phi_arena *arena, phi_str headers,
                                            phi__mcp_oauth_dare *out);

/* Characters that a token may have, at least one. */
PHI__FN bool phi__mcp_oauth_words_printable(phi_str text);

/* Protected resource metadata (RFC 9728). */
typedef struct phi__mcp_oauth_resource {
    phi_str resource; /* as published */
    phi_str issuer;   /* of the authorization server chosen */
    phi_str scopes;   /* scopes_supported; empty: none are named */
} phi__mcp_oauth_resource;

/* preferred: the issuer to be chosen, where it is in the list; else the first one is. PHI_OK,
   PHI_PARSE: no document of this kind; PHI_NO_MEMORY. *fault: static. */
PHI__FN phi_status phi__mcp_oauth_words_resource(phi_arena *arena, phi_str text, phi_str preferred,
                                                 phi__mcp_oauth_resource *out, const char **fault);

enum {
    PHI__MCP_OAUTH_NONE = 1,
    PHI__MCP_OAUTH_BASIC = 2,
    PHI__MCP_OAUTH_POST = 4,
    PHI__MCP_OAUTH_KEY = 8 /* private_key_jwt */
};

/* Authorization server metadata (RFC 8414, OpenID Connect Discovery). */
typedef struct phi__mcp_oauth_server {
    phi_str issuer, authorize, token, registration;
    uint32_t methods; /* PHI__MCP_OAUTH_NONE...: what the token endpoint takes */
    bool says_methods;
    phi_str dpop;                                /* algorithms of proofs, separated by spaces */
    bool s256, documents, names_itself, offline; /* documents: client id metadata documents */
} phi__mcp_oauth_server;

/* person: a page for persons is needed. */
PHI__FN phi_status phi__mcp_oauth_words_server(phi_arena *arena, phi_str text, bool person,
                                               phi__mcp_oauth_server *out, const char **fault);

/* ---- sets of scopes, separated by spaces ---- */

PHI__FN bool phi__mcp_oauth_words_has(phi_str set, phi_str scope);
PHI__FN bool phi__mcp_oauth_words_has_all(phi_str set, phi_str scopes);
/* Appends the scopes that the buffer lacks, without malformed ones and without those beyond the
   limits above. */
PHI__FN void phi__mcp_oauth_words_join(phi__buf *set, phi_str scopes);

#endif
