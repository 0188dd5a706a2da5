/* mcp_oauth.h - access to MCP servers over HTTP that require an authorization (OAuth 2.1).

       phi_mcp_oauth_desc oauth = PHI_ZERO;
       oauth.open_browser_fn = open_browser;     // shows the URL to the person
       oauth.store = &store;                  // keeps tokens; see stores.md
       to.oauth = &oauth;                     // to: a phi_mcp_desc with a url

   When the server refuses a request, phi finds its authorization server, registers, gives the host
   a URL for a browser, receives the redirect on a port of this machine, and gets a token. Requests
   wait meanwhile. Later, phi refreshes the token. A program that acts for itself needs no browser:
   see phi_mcp_grant. Secrets (tokens, codes, client secrets) are written only to the store, never
   to an event, a message or a tape.

   URLs must be https. Plain http is allowed only if the MCP server itself has an http URL of this
   machine. Redirects are not followed. A server on a public address cannot send phi to private
   addresses (docs/mcp.md, Authorization). */
#ifndef PHI_MCP_MCP_OAUTH_H
#define PHI_MCP_MCP_OAUTH_H

#include "mcp/mcp.h"
#include "persist/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a client authenticates at the token endpoint. */
typedef enum phi_mcp_client_auth {
    PHI_MCP_CLIENT_AUTH_ANY = 0, /* the first of KEY, BASIC, POST, NONE that the server supports */
    PHI_MCP_CLIENT_AUTH_BASIC,   /* client_secret_basic */
    PHI_MCP_CLIENT_AUTH_POST,    /* client_secret_post */
    PHI_MCP_CLIENT_AUTH_NONE,    /* the secret is not sent */
    PHI_MCP_CLIENT_AUTH_KEY      /* private_key_jwt, with client_key */
} phi_mcp_client_auth;

/* Who is authorized. */
typedef enum phi_mcp_grant {
    PHI_MCP_GRANT_PERSON = 0, /* a person with a browser: authorization_code */
    PHI_MCP_GRANT_CLIENT,     /* the program, with client_id and a proof: client_credentials */
    PHI_MCP_GRANT_ASSERTION   /* the subject of a signed token from the host: jwt-bearer */
} phi_mcp_grant;

/* A private key of the host. phi writes the text and the host signs it. Strings are copied with the
   desc. user_data is borrowed until the connection is freed. */
typedef struct phi_mcp_key {
    const char *algorithm; /* algorithm of JSON Web Signatures: "ES256", "RS256"... */
    const char *id;        /* "kid" in the signature's header (default: none) */
    const char *jwk;       /* public key, a JSON object; dpop_key needs it */
    /* Writes a raw signature of `bytes` (for ES256: r and s, 64 bytes, not DER) and its length,
       at most PHI_MCP_SIGNATURE. Called on the pumping thread, in phi_step or a call that sends.
       Must not free the connection. Any other status than PHI_OK ends the authorization or the
       request with that status. */
    phi_status (*sign)(void *user_data, phi_str bytes, unsigned char *signature, size_t *len);
    void *user_data;
} phi_mcp_key;

enum { PHI_MCP_SIGNATURE = 1024 }; /* max. bytes of a signature */

/* The token that PHI_MCP_GRANT_ASSERTION needs. Strings are terminated, valid during the call. */
typedef struct phi_mcp_assertion {
    phi_str issuer;   /* authorization server, the token's audience */
    phi_str resource; /* the MCP server */
    phi_str scope;    /* scopes separated by spaces; may be empty */
} phi_mcp_assertion;

/* Zero means default for every field. */
struct phi_mcp_oauth_desc {
    /* Called in phi_step with a URL to open in the person's browser. The URL is valid during the
       call and should not be logged. Any other status than PHI_OK ends the authorization with
       that status. NULL: only tokens from the store are used. */
    phi_status (*open_browser_fn)(void *user_data, const char *url);
    void *user_data;
    phi_mcp_grant grant; /* (default: PERSON; the other two need no open_browser_fn) */
    /* PHI_MCP_GRANT_ASSERTION: called in phi_step when a token is needed. The host gets the token
       from its platform (workload identity) or identity provider, and passes it to
       phi_mcp_authorize, now or within timeout_ms. Any other status than PHI_OK ends the
       authorization. */
    phi_status (*want_assertion_fn)(void *user_data, const phi_mcp_assertion *wanted);
    /* Keeps tokens, registrations and the port. Document ids begin with "mcp-oauth-". The struct is
       copied; its pointers are borrowed. Only save, load and remove are used. NULL: in memory. */
    const phi_store *store;

    /* A client that is registered at the authorization server (default: phi registers one). */
    const char *client_id, *client_secret;
    phi_mcp_client_auth client_auth;
    const phi_mcp_key *client_key; /* signs in place of a secret (default: none) */
    /* Tokens are bound to this key if the authorization server supports its algorithm: each request
       carries a proof signed by the key (DPoP, RFC 9449). (default: bearer tokens) */
    const phi_mcp_key *dpop_key;
    /* Issuer of client_id or the assertion; a server with another issuer is refused. The default is
       the issuer of the stored or last token. Set this field in unattended programs: without it and
       before the first token, a secret or an assertion goes to any issuer that the MCP server
       names. */
    const char *issuer;
    /* https URL of a document about the program, used as client id if the server supports it. */
    const char *client_metadata_url;
    const char *client_name; /* name shown to the person (default: the connection's) */
    const char *client_uri;  /* page about the program (default: none) */
    bool web_application;    /* application_type "web" (default: "native") */

    /* Scopes to ask for in addition to the scopes of the server's challenge; separated by spaces.
       If neither this field nor the challenge has scopes, phi asks for all scopes that the server
       supports (default: none). */
    const char *scope;
    bool no_offline_access; /* do not add "offline_access" (default: added if supported) */

    /* phi listens at http://127.0.0.1:{port}/callback for the redirect. 0: any port, preferably the
       port of the last registration. -1: phi does not listen; the host receives the redirect at
       redirect_uri and calls phi_mcp_authorize. */
    int redirect_port;
    const char *redirect_uri; /* https, http on this machine, or a scheme of the program */
    /* for an authorization, including the time that the person takes (default 300,000) */
    uint32_t timeout_ms;

    bool allow_private; /* a public server's metadata may name private addresses */
    bool no_legacy;     /* refuse servers without metadata (2025-03-26) */
};

/* Gives phi the value that an authorization waits for. The value is copied; the connection
   continues in the next phi_step.
   PHI_MCP_GRANT_PERSON: the URL of the redirect with its query, from the host's own listener or
   pasted by the person. May be called inside open_browser_fn. PHI_REFUSED: the URL belongs to
   another authorization; this one still waits.
   PHI_MCP_GRANT_ASSERTION: the token that want_assertion_fn was called for. May be called inside
   want_assertion_fn. PHI_BAD_ARG: the token is empty, longer than 65,536 bytes, or has characters
   that are not printable.
   NULL signs out: deletes the tokens in memory and in the store. The registration stays. An
   authorization under way ends with PHI_CANCELLED.
   PHI_MISUSE: no authorization waits, or the connection has no oauth. phi_last_error has the
   message. */
PHI_API phi_status phi_mcp_authorize(phi_mcp *mcp, const char *given);

#ifdef __cplusplus
}
#endif
#endif
