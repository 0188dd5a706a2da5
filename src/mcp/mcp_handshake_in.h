/* mcp_handshake_in.h - finds out which era the server speaks, and agrees upon it.

   First server/discover, as the era of 2026-07-28 has it; whatever answers with something that is
   not of that era, or does not answer, gets initialize. */
#ifndef PHI_MCP_MCP_HANDSHAKE_IN_H
#define PHI_MCP_MCP_HANDSHAKE_IN_H

#include "mcp/mcp_core_in.h"

/* `ended` is called once: PHI_OK: agreed.era is set. Not after the phase has changed from
   outside. */
PHI__FN void phi__mcp_handshake_begin(phi_mcp *mcp, void (*ended)(phi_mcp *mcp, phi_status status,
                                                                  const char *message));
/* Nothing is agreed upon any more; `legacy` is remembered. */
PHI__FN void phi__mcp_handshake_forget(phi_mcp *mcp);

#endif
