/* mcp_open_in.h - a connection over any link: for mcp.c, and for tests, which bring a link of their
   own. */
#ifndef PHI_MCP_MCP_OPEN_IN_H
#define PHI_MCP_MCP_OPEN_IN_H

#include "mcp/mcp_in.h"

/* Makes the link of a new connection; mcp->desc is there. */
typedef phi_status (*phi__mcp_open_link)(phi_mcp *mcp, phi__mcp_link **out);
typedef phi_status (*phi__mcp_open_join)(phi_mcp *mcp);

/* joins: of parts, each of which calls phi__mcp_session_join. The connection begins to open in the
   next step. PHI_BAD_ARG and others: phi_last_error has the message. */
PHI__FN phi_status phi__mcp_open_new(phi_runtime *rt, const phi_mcp_desc *desc,
                                     phi__mcp_open_link link, const phi__mcp_open_join *joins,
                                     size_t count, phi_mcp **out);

#endif
