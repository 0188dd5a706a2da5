/* mcp_parts_in.h - what a connection tells its host and its parts. */
#ifndef PHI_MCP_MCP_PARTS_IN_H
#define PHI_MCP_MCP_PARTS_IN_H

#include "mcp/mcp_core_in.h"

/* As phi__mcp_session_tell. */
PHI__FN bool phi__mcp_parts_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name,
                                 phi_str before, phi_str text);
/* PHI_MCP_EV_WARNING, one a second at most; those between are counted in the next. False: freed. */
PHI__FN bool phi__mcp_parts_warn(phi_mcp *mcp, const char *format, ...) PHI_PRINTF(2, 3);
/* Each calls all parts. False: freed inside of one. */
PHI__FN bool phi__mcp_parts_ready(phi_mcp *mcp);
PHI__FN bool phi__mcp_parts_down(phi_mcp *mcp);
PHI__FN bool phi__mcp_parts_notified(phi_mcp *mcp, phi_str method, const phi_json *params);
PHI__FN void phi__mcp_parts_free(phi_mcp *mcp);
PHI__FN bool phi__mcp_parts_held(const phi_mcp *mcp);
/* The client's capabilities, as JSON text in the arena. */
PHI__FN phi_status phi__mcp_parts_capabilities(phi_mcp *mcp, phi_arena *arena, phi_str *out);

#endif
