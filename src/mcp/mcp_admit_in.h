/* mcp_admit_in.h - who may speak to our server over HTTP: a page of some other site, whose name
   resolves to this machine (DNS rebinding), may not. Pure. */
#ifndef PHI_MCP_MCP_ADMIT_IN_H
#define PHI_MCP_MCP_ADMIT_IN_H

#include "serve/http_head_in.h"
#include "mcp/mcp_serve.h"

#ifndef PHI_NO_LISTEN

/* host: the request's authority. A name of the loopback, the address that the server listens on, or
   one of desc->allowed_hosts, with or without its port. */
PHI__FN bool phi__mcp_admit_host(const phi_mcp_server_desc *desc, phi_str host);
/* at NULL: no browser's page. Else an http origin of the loopback, or one of
   desc->allowed_origins. */
PHI__FN bool phi__mcp_admit_origin(const phi_mcp_server_desc *desc, phi_str origin);
/* Whether each header that counts is there once at most: a reader before us might take another. */
PHI__FN bool phi__mcp_admit_once(const phi__http_head *head);
/* authorization: the header, "Bearer TOKEN". */
PHI__FN bool phi__mcp_admit_token(const char *token, phi_str authorization);

#endif
#endif
