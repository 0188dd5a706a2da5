/* mcp_head_in.h - headers of requests to a server, and what those of its answers say. */
#ifndef PHI_MCP_MCP_HEAD_IN_H
#define PHI_MCP_MCP_HEAD_IN_H

#include "io/secret_in.h"
#include "mcp/mcp_exchange_in.h"

/* All headers of a request, in the arena or borrowed from the exchange. proof: of its token; empty:
   none. False: no memory. */
PHI__FN bool phi__mcp_head_make(const phi__mcp_exchange *e, phi_str proof, phi_arena *arena,
                                phi__header **out, size_t *count);
/* Whether a 3xx is one that keeps method and body. */
PHI__FN bool phi__mcp_head_redirects(int http_status);
/* How the body is to be read; of a refusal, e->words are set. */
PHI__FN phi__mcp_shape phi__mcp_head_shape(phi__mcp_exchange *e, phi_str headers);
/* Takes the session id out of the answer to initialize. False: it is none that can be sent back;
   e->words are set. */
PHI__FN bool phi__mcp_head_session(phi__mcp_exchange *e, phi_str headers);
/* Adds the message of the body's JSON-RPC error to e->words, and hides secrets of the request in
   both. */
PHI__FN void phi__mcp_head_fault(phi__mcp_exchange *e);
/* Hides them alone. */
PHI__FN void phi__mcp_head_hide(phi__mcp_exchange *e);
/* Hides secrets of the request in a text. False: no memory, they may still be there. */
PHI__FN bool phi__mcp_head_hide_in(const phi__mcp_exchange *e, char *at, size_t len,
                                   phi__secret_text kind);

#endif
