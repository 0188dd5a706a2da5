/* mcp_serve_http_in.h - the events of a stream that a client may take up again: the last are
   kept, up to 256 KiB.

   Ownership: in its owner. Threads: the pumping thread. */
#ifndef PHI_MCP_MCP_SERVE_HTTP_IN_H
#define PHI_MCP_MCP_SERVE_HTTP_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp_serve.h"
#include "serve/serve_in.h"

#ifndef PHI_NO_LISTEN
/* host: the request's authority. A name of the loopback, the address that the server listens on, or
   one of desc->allowed_hosts, with or without its port. */
PHI__FN bool phi__admit_host(const phi_mcp_server_desc *desc, phi_str host);
#endif

#endif
