/* mcp_redirect_in.h - a page on the loopback that receives the redirect of an authorization
   (RFC 8252, section 7.3).

   Threads: the pumping thread. */
#ifndef PHI_MCP_MCP_REDIRECT_IN_H
#define PHI_MCP_MCP_REDIRECT_IN_H

#include "io/io_in.h"

#ifndef PHI_NO_LISTEN

typedef struct phi__mcp_redirect phi__mcp_redirect;

/* Listens on 127.0.0.1; port 0: any. path is borrowed until free. `got` gets the query of each GET
   of that path, without its '?', borrowed until it returns: PHI_OK: the browser shows that the
   page can be closed; anything else: that the redirect belongs to no authorization that waits.
   Fails as phi__serve_new does. */
PHI__FN phi_status phi__mcp_redirect_new(phi__io *io, uint16_t port, const char *path,
                                         phi_status (*got)(void *ctx, phi_str query), void *ctx,
                                         phi__mcp_redirect **out, char *message,
                                         size_t message_size);
PHI__FN uint16_t phi__mcp_redirect_port(const phi__mcp_redirect *redirect);
/* Not inside of `got`. A page that was not sent yet is lost. NULL is harmless. */
PHI__FN void phi__mcp_redirect_free(phi__mcp_redirect *redirect);

#endif
#endif
