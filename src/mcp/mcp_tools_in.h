/* mcp_tools_in.h - the tools of a connection: the list now, those that agents still use, and calls
   that wait for a connection. */
#ifndef PHI_MCP_MCP_TOOLS_IN_H
#define PHI_MCP_MCP_TOOLS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp_toolbox_in.h"

PHI__FN phi_status phi__mcptools_join(phi_mcp *mcp);

#endif
