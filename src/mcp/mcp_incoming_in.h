/* mcp_incoming_in.h - what the server sends: each message to where it belongs. */
#ifndef PHI_MCP_MCP_INCOMING_IN_H
#define PHI_MCP_MCP_INCOMING_IN_H

#include "mcp/mcp_core_in.h"

PHI__FN void phi__mcp_incoming_init(phi_mcp *mcp);
/* Entered. from: the request on whose stream it came, or NULL. */
PHI__FN void phi__mcp_incoming_text(phi_mcp *mcp, phi_str json, phi__mcp_out *from);
/* A message that is too long: its beginning. Entered. */
PHI__FN void phi__mcp_incoming_cut(phi_mcp *mcp, phi_str beginning);
/* As phi__mcp_session_lost. */
PHI__FN void phi__mcp_incoming_lost(phi_mcp *mcp, phi__mcp_request *r, phi_status status,
                                    int http_status, phi_str body, const char *message);

#endif
