/* mcp_offers_in.h - what a server offers to hosts, besides tools: the operations under way, the
   resources that are watched, and the notifications of all of it. */
#ifndef PHI_MCP_MCP_OFFERS_IN_H
#define PHI_MCP_MCP_OFFERS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp_get.h"
#include "mcp/mcp_pages_in.h"
#include "text/text_in.h"

PHI__FN phi_status phi__offers_join(phi_mcp *mcp);

#endif
