/* mcp_place_in.h - addresses that a server names (redirects, the endpoint of the old transport),
   joined to its own. */
#ifndef PHI_MCP_MCP_PLACE_IN_H
#define PHI_MCP_MCP_PLACE_IN_H

#include "base/buf_in.h"

/* Puts the address that `to` means, seen from `from` (http or https), into `out`, which is cleared;
   a fragment is cut off. False: it leads to another origin, or is no address of HTTP; or no memory
   (out->failed). */
PHI__FN bool phi__mcp_place_join(phi__buf *out, phi_str from, phi_str to);

#endif
