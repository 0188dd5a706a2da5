/* mcp_calls_in.h - calls of a server's tools. */
#ifndef PHI_MCP_MCP_CALLS_IN_H
#define PHI_MCP_MCP_CALLS_IN_H

#include "mcp/mcp_toolbox_in.h"

/* Sets the functions of a phi_tool whose user_data is a phi__mcp_tool. */
PHI__FN void phi__mcp_calls_fill(phi_tool *tool);

#endif
