/* mcp_oauth_keep_in.h - tokens and registrations, in memory and as documents of the host's store.

   A grant is of one MCP server: document "mcp-oauth-token-" and a hash of its address. A
   registration is of one issuer: "mcp-oauth-client-" and a hash of that. Documents of version 1
   that name the right server or issuer count; all others are ignored. */
#ifndef PHI_MCP_MCP_OAUTH_KEEP_IN_H
#define PHI_MCP_MCP_OAUTH_KEEP_IN_H

#include "mcp/mcp_oauth_form_in.h"

/* A token, with its scopes, server and client; strings in its own arena. */
typedef struct phi__mcp_oauth_grant {
    phi_arena arena;
    phi_str bearer;           /* "Bearer ..." or "DPoP ..."; empty: none */
    phi_str refresh;          /* empty: none */
    phi_str spent[2];         /* the two, after they were refused: still hidden in messages */
    phi_str scope;            /* requested scopes, and granted ones besides */
    phi_str issuer, endpoint; /* of tokens */
    phi_str resource, client_id;
    uint32_t method;  /* of the client at the token endpoint */
    uint32_t kind;    /* phi_mcp_grant: who is authorized */
    bool dpop;        /* bound to the host's key */
    int64_t until_ms; /* Unix time; INT64_MAX: not known */
    int64_t renew_ms; /* from then on it is refreshed */
    int64_t since_ms; /* it was got; 0: before this process */
    bool refreshed;   /* by a refresh token */
} phi__mcp_oauth_grant;

PHI__FN void phi__mcp_oauth_keep_init(phi__mcp_oauth_grant *grant, phi_memory *memory);
PHI__FN void phi__mcp_oauth_keep_clear(phi__mcp_oauth_grant *grant);
/* Takes over `from`, which is then empty. */
PHI__FN void phi__mcp_oauth_keep_move(phi__mcp_oauth_grant *to, phi__mcp_oauth_grant *from);

/* They were refused, and are not used any more. */
PHI__FN void phi__mcp_oauth_keep_spend_bearer(phi__mcp_oauth_grant *grant);
PHI__FN void phi__mcp_oauth_keep_spend_refresh(phi__mcp_oauth_grant *grant);

/* store NULL: PHI_NOT_FOUND, and saving does nothing. */
PHI__FN phi_status phi__mcp_oauth_keep_load(const phi_store *store, phi_str server,
                                            phi__mcp_oauth_grant *out);
PHI__FN phi_status phi__mcp_oauth_keep_save(const phi_store *store, phi_str server,
                                            const phi__mcp_oauth_grant *grant);
PHI__FN void phi__mcp_oauth_keep_drop(const phi_store *store, phi_str server);

PHI__FN phi_status phi__mcp_oauth_keep_load_client(const phi_store *store, phi_arena *arena,
                                                   phi_str issuer, phi__mcp_oauth_client *out);
PHI__FN phi_status phi__mcp_oauth_keep_save_client(const phi_store *store, phi_memory *memory,
                                                   const phi__mcp_oauth_client *client);
PHI__FN void phi__mcp_oauth_keep_drop_client(const phi_store *store, phi_str issuer);

#endif
