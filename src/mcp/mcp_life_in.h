/* mcp_life_in.h - the phases of a connection: opened, agreed upon, lost, started again, closed.

   phi_mcp_state is what the host sees of it; it is reported once the phase is settled. */
#ifndef PHI_MCP_MCP_LIFE_IN_H
#define PHI_MCP_MCP_LIFE_IN_H

#include "mcp/mcp_core_in.h"

PHI__FN phi_mcp_state phi__mcp_life_state(const phi_mcp *mcp);
/* Opens it in the next step. Only where it is shut or broken. */
PHI__FN phi_status phi__mcp_life_open(phi_mcp *mcp);
PHI__FN void phi__mcp_life_up(phi_mcp *mcp);
/* Entered. As phi__mcp_session_down. */
PHI__FN void phi__mcp_life_down(phi_mcp *mcp, phi_status status, bool fatal, const char *message);
PHI__FN void phi__mcp_life_expired(phi_mcp *mcp, phi__mcp_request *refused);
PHI__FN void phi__mcp_life_settle(phi_mcp *mcp); /* one hold less */
PHI__FN void phi__mcp_life_wait(phi_mcp *mcp, bool waits);
PHI__FN void phi__mcp_life_close(phi_mcp *mcp); /* in the next step */
/* Ends requests, parts and link, and frees all but the struct. */
PHI__FN void phi__mcp_life_end(phi_mcp *mcp);

#endif
