/* mcp_asks_in.h - the part of a connection that answers what its server asks. */
#ifndef PHI_MCP_MCP_ASKS_IN_H
#define PHI_MCP_MCP_ASKS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "text/json.h"
#include "text/schema.h"

PHI__FN phi_status phi__asks_join(phi_mcp *mcp);

#endif
