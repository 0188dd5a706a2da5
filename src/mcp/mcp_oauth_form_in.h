/* mcp_oauth_form_in.h - what an authorization sends: the URL for the browser, the forms for the
   token endpoint, the registration; and what these endpoints answer. */
#ifndef PHI_MCP_MCP_OAUTH_FORM_IN_H
#define PHI_MCP_MCP_OAUTH_FORM_IN_H

#include "io/io_in.h"
#include "mcp/mcp_oauth.h"
#include "mcp/mcp_oauth_words_in.h"

/* What the program is to an authorization server. */
typedef struct phi__mcp_oauth_client {
    phi_str issuer;     /* that knows it; empty: there is no client */
    phi_str id, secret; /* secret: empty: none */
    phi_str redirect;   /* that it was registered with */
    phi_str scope;      /* the same */
    uint32_t method;    /* PHI__MCP_OAUTH_NONE, _BASIC, _POST or _KEY */
    int64_t until_ms;   /* of the secret; INT64_MAX: for ever */
    bool registered;    /* by us */
} phi__mcp_oauth_client;

/* One authorization. */
typedef struct phi__mcp_oauth_ask {
    phi_str redirect, state, verifier, scope, resource, code;
    phi_str assertion; /* of the client, signed; kept to be hidden in messages */
} phi__mcp_oauth_ask;

/* Base64 for URLs, without padding (RFC 4648, 5). */
PHI__FN void phi__mcp_oauth_form_base64(phi__buf *out, const unsigned char *bytes, size_t n);
/* 32 random bytes in it. io NULL: of the system's. */
PHI__FN void phi__mcp_oauth_form_random(phi__buf *out, phi__io *io);
/* A new state and verifier of 32 random bytes each, in the arena. io NULL: of the system's random
   bytes. False: no memory. */
PHI__FN bool phi__mcp_oauth_form_secrets(phi__io *io, phi_arena *arena, phi__mcp_oauth_ask *ask);
/* The URL for the browser.. */
PHI__FN void phi__mcp_oauth_form_authorize(phi__buf *out, phi_str endpoint,
                                           const phi__mcp_oauth_client *client,
                                           const phi__mcp_oauth_ask *ask);
/* The bodies for the token endpoint, with the client's own fields. */
PHI__FN void phi__mcp_oauth_form_code(phi__buf *out, const phi__mcp_oauth_client *client,
                                      const phi__mcp_oauth_ask *ask);
/* token: an assertion; empty: the client's own credentials. */
PHI__FN void phi__mcp_oauth_form_machine(phi__buf *out, const phi__mcp_oauth_client *client,
                                         const phi__mcp_oauth_ask *ask, phi_str token);
PHI__FN void phi__mcp_oauth_form_refresh(phi__buf *out, const phi__mcp_oauth_client *client,
                                         phi_str refresh, phi_str resource);
/* "Basic ...", or nothing where the client's method is another one. */
PHI__FN void phi__mcp_oauth_form_basic(phi__buf *out, const phi__mcp_oauth_client *client);

/* How a client is to prove itself. has: PHI__MCP_OAUTH_BASIC: a secret; PHI__MCP_OAUTH_KEY: a key.
   0: no way that we have. */
PHI__FN uint32_t phi__mcp_oauth_form_method(const phi__mcp_oauth_server *server, uint32_t has,
                                            phi_mcp_client_auth wish);
/* The registration: JSON. */
PHI__FN void phi__mcp_oauth_form_register(phi__buf *out, const phi_mcp_oauth_desc *desc,
                                          const char *name, const phi__mcp_oauth_ask *ask,
                                          uint32_t method);

typedef struct phi__mcp_oauth_reply {
    phi_str token, refresh, scope; /* of a token endpoint */
    bool other_type;               /* a token that is no bearer token, nor... */
    bool dpop;                     /* ...bound to a key */
    int64_t lifetime_s;            /* INT64_MAX: not said */
    phi_str error, description;    /* of both; empty: none */
} phi__mcp_oauth_reply;

/* False: no memory. An answer that is no JSON has nothing. */
PHI__FN bool phi__mcp_oauth_form_reply(phi_arena *arena, phi_str text, phi__mcp_oauth_reply *out);
/* The client of a registration's answer; its id is empty where there is none. `client` holds the
   registration's own method. */
PHI__FN bool phi__mcp_oauth_form_client(phi_arena *arena, phi_str text,
                                        phi__mcp_oauth_client *client);

#endif
