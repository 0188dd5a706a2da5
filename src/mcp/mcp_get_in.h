/* mcp_get_in.h - the kinds of phi_mcp_get. */
#ifndef PHI_MCP_MCP_GET_IN_H
#define PHI_MCP_MCP_GET_IN_H

#include "base/base_in.h"
#include "mcp/mcp_get.h"

/* mcp_resources.c, mcp_prompts.c: begin an operation; desc->done is there. */
PHI__FN phi_status phi__mcp_resources_list(phi_mcp *mcp, const phi_mcp_get_desc *desc,
                                           uint64_t *id);
PHI__FN phi_status phi__mcp_resources_get(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id);
PHI__FN phi_status phi__mcp_prompts_list(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id);
PHI__FN phi_status phi__mcp_prompts_get(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id);
PHI__FN phi_status phi__mcp_prompts_complete(phi_mcp *mcp, const phi_mcp_get_desc *desc,
                                             uint64_t *id);

#endif
