/* mcp_settings_in.h - the settings of a connection: checked, copied, with defaults. */
#ifndef PHI_MCP_MCP_SETTINGS_IN_H
#define PHI_MCP_MCP_SETTINGS_IN_H

#include "base/arena_in.h"
#include "mcp/mcp.h"

/* NULL: they are good; else the field at fault and the right values (static). */
PHI__FN const char *phi__mcp_settings_refuse(const phi_mcp_desc *desc);
/* A deep copy with defaults. False: no memory. */
PHI__FN bool phi__mcp_settings_copy(phi_arena *arena, const phi_mcp_desc *from, phi_mcp_desc *out);

#endif
