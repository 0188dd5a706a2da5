/* mcp_oauth.h - access to MCP servers over HTTP that want an authorization (OAuth 2.1).

       phi_mcp_oauth_desc oauth = PHI_ZERO;
       oauth.open_browser_fn = open_browser;     // shows the URL to the person
       oauth.store = &store;                  // keeps tokens; see stores.md
       to.oauth = &oauth;                     // to: a phi_mcp_desc with a url

   When the server refuses a request, phi finds its authorization server, registers, hands the host
   a URL for a browser, receives the redirect on a port of this machine and asks for a token, which
   it refreshes from then on. Requests wait meanwhile.
   A program that acts for itself needs no browser: see phi_mcp_grant.
   Secrets (tokens, codes, client secrets) are in the store's documents alone: in no event, message
   or tape.

   Addresses: https alone; plain http only where the MCP server itself has an http address of this
   machine. No redirects are followed. A server on a public address cannot send phi to private ones
   (docs/mcp.md, Authorization). */
#ifndef PHI_MCP_MCP_OAUTH_H
#define PHI_MCP_MCP_OAUTH_H

#include "mcp/mcp.h"
#include "persist/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a client with a secret proves itself at the token endpoint. */
typedef enum phi_mcp_client_auth {
    PHI_MCP_CLIENT_AUTH_ANY = 0, /* what the server supports, in this order */
    PHI_MCP_CLIENT_AUTH_BASIC,   /* client_secret_basic */
    PHI_MCP_CLIENT_AUTH_POST,    /* client_secret_post */
    PHI_MCP_CLIENT_AUTH_NONE,    /* the secret is not sent */
    PHI_MCP_CLIENT_AUTH_KEY      /* private_key_jwt, by client_key: the first of ANY */
} phi_mcp_client_auth;

/* Who is authorized, and how. */
typedef enum phi_mcp_grant {
    PHI_MCP_GRANT_PERSON = 0, /* a person at a browser: authorization_code */
    PHI_MCP_GRANT_CLIENT,     /* the program: client_credentials, with client_id and a proof */
    PHI_MCP_GRANT_ASSERTION   /* the subject of a signed token that the host has: jwt-bearer */
} phi_mcp_grant;

/* A private key that the host holds: phi writes the text, the host signs it. The strings are copied
   with the desc; user_data is borrowed until the connection is freed. */
typedef struct phi_mcp_key {
    const char *algorithm; /* of JSON Web Signatures: "ES256", "RS256"... */
    const char *id;        /* "kid" of the signature's header (default: none) */
    const char *jwk;       /* the public key, a JSON object; needed for dpop_key */
    /* Writes the signature of `bytes` and its length, at most PHI_MCP_SIGNATURE: the raw one, which
       is r and s for ES256 (64 bytes), not DER. Called on the pumping thread, inside phi_step or a
       call of phi that sends; it must not free the connection. Anything but PHI_OK ends the
       authorization, or the request, with that status. */
    phi_status (*sign)(void *user_data, phi_str bytes, unsigned char *signature, size_t *len);
    void *user_data;
} phi_mcp_key;

enum { PHI_MCP_SIGNATURE = 1024 }; /* bytes */

/* The token that is wanted for PHI_MCP_GRANT_ASSERTION. Strings are terminated, and valid until
   want_assertion_fn returns. */
typedef struct phi_mcp_assertion {
    phi_str issuer;   /* of the authorization server: the token's audience */
    phi_str resource; /* of the MCP server */
    phi_str scope;    /* separated by spaces; empty: none is known */
} phi_mcp_assertion;

/* Zero means default for every field. */
struct phi_mcp_oauth_desc {
    /* Called inside phi_step with the authorization URL, to be opened by the person's browser. The
       URL is valid until it returns, and should not be logged. Anything but PHI_OK ends the
       authorization with that status. NULL: only tokens of the store are used. */
    phi_status (*open_browser_fn)(void *user_data, const char *url);
    void *user_data;
    phi_mcp_grant grant; /* (default: a person's; the other two need no open_browser_fn) */
    /* PHI_MCP_GRANT_ASSERTION: called inside phi_step when a token of the host's is wanted: one of
       its platform (workload identity), or one that its identity provider makes for the server. The
       host gives it to phi_mcp_authorize, at once or within timeout_ms. Anything but PHI_OK ends
       the authorization with that status. */
    phi_status (*want_assertion_fn)(void *user_data, const phi_mcp_assertion *wanted);
    /* Keeps tokens, registrations and the port, as documents whose ids begin with "mcp-oauth-".
       Copied; its pointers are borrowed. Only save, load and remove are used. NULL: in memory. */
    const phi_store *store;

    /* A client that the authorization server knows already (default: one is registered). */
    const char *client_id, *client_secret;
    phi_mcp_client_auth client_auth;
    const phi_mcp_key *client_key; /* signs in place of a secret (default: none) */
    /* Tokens are bound to this key where the authorization server supports its algorithm: each
       request carries a proof that it signs (DPoP, RFC 9449). (default: tokens of bearers) */
    const phi_mcp_key *dpop_key;
    /* That client_id is of, or an assertion is for; the server is refused if it names another one.
       Set it where nobody looks on: without it a secret or an assertion goes to whatever issuer
       the MCP server names, until the first token binds it (default: the issuer of the stored
       token, or of the last one) */
    const char *issuer;
    /* https: a document about the program, which is its client id where the server supports that */
    const char *client_metadata_url;
    const char *client_name; /* that the person is shown (default: the connection's) */
    const char *client_uri;  /* a page about the program (default: none) */
    bool web_application;    /* application_type "web" (default: "native") */

    /* Separated by spaces: asked for besides those that the server's challenge names, and in place
       of all that it supports (default: none). */
    const char *scope;
    bool no_offline_access; /* "offline_access" is not asked for, where it is supported */

    /* Where the browser is sent back to, and phi listens: http://127.0.0.1:{port}/callback. 0: any
       port, the one of the last registration first. -1: phi does not listen; the host receives the
       redirect at redirect_uri and calls phi_mcp_authorize. */
    int redirect_port;
    const char *redirect_uri; /* https, http on this machine, or a scheme of the program's own */
    uint32_t timeout_ms;      /* of an authorization, the person included (default 300,000) */

    bool allow_private; /* a public server's metadata may point to private addresses */
    bool no_legacy;     /* servers without metadata (2025-03-26) are refused */
};

/* Hands over what an authorization waits for; copied. The connection goes on in the next phi_step.
   PHI_MCP_GRANT_PERSON: the URL that the browser was redirected to, with its query: from a listener
   of the host's own, or pasted by the person. Safe inside open_browser_fn. PHI_REFUSED: the URL
   belongs to another authorization, and this one still waits.
   PHI_MCP_GRANT_ASSERTION: the token that want_assertion_fn was called for. Safe inside it.
   PHI_BAD_ARG: it is empty, longer than 65,536 bytes, or holds other than printable characters.
   NULL signs out: the tokens are forgotten, here and in the store; the registration stays. An
   authorization that is under way ends with PHI_CANCELLED.
   PHI_MISUSE: nothing is waited for, or the connection has no oauth; PHI_NO_MEMORY. phi_last_error
   has the message. */
PHI_API phi_status phi_mcp_authorize(phi_mcp *mcp, const char *given);

#ifdef __cplusplus
}
#endif
#endif
