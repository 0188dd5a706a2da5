/* mcp_listen_in.h - the stream of changes that servers of the modern era send on demand. */
#ifndef PHI_MCP_MCP_LISTEN_IN_H
#define PHI_MCP_MCP_LISTEN_IN_H

#include "mcp/mcp_core_in.h"

/* Opens it, where the era has it and the server has lists that change. */
PHI__FN void phi__mcp_listen_begin(phi_mcp *mcp);
PHI__FN void phi__mcp_listen_end(phi_mcp *mcp); /* forgets it; its request is ended by others */

#endif
