/* mcp_http_in.h - the link over HTTP: streamable HTTP of all eras, and the old HTTP+SSE.

   mcp_http.c owns the connection and its POSTs; mcp_http.c the streams that a GET opens: messages
   of the server's own, and the whole traffic from the server in the old transport. Both use
   mcp_http.c. */
#ifndef PHI_MCP_MCP_HTTP_IN_H
#define PHI_MCP_MCP_HTTP_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_oauth_in.h"
#include "mcp/mcp_rpc_in.h"
#include "text/text_in.h"

/* Puts the address that `to` means, seen from `from` (http or https), into `out`, which is cleared;
   a fragment is cut off. False: it leads to another origin, or is no address of HTTP; or no memory
   (out->failed). */
PHI__FN bool phi__place_join(phi__buf *out, phi_str from, phi_str to);

/* NULL: none. */
PHI__FN phi__oauth *phi__mcp_http_oauth(const phi__mcp_link *link);

#endif
