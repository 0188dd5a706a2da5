/* mcp_get.c - asks a server for what it offers. */
#include "mcp/mcp_get_in.h"
#include "mcp/mcp_offers_in.h"

#include <string.h>

/* The capability that it needs; NULL: none. The first era declares no completion. */
static const char *phi__mcp_get_capability(const phi_mcp *mcp, phi_mcp_what what) {
    const char *era;
    if (what == PHI_MCP_GET_PROMPTS || what == PHI_MCP_GET_PROMPT) return "prompts";
    if (what != PHI_MCP_GET_COMPLETION) return "resources";
    era = mcp != NULL ? phi__mcp_session_era(mcp) : NULL;
    return era != NULL && strcmp(era, "2024-11-05") == 0 ? NULL : "completions";
}

PHI_API phi_status phi_mcp_get(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id) {
    phi_status status;
    if (desc == NULL) return PHI_BAD_ARG;
    status = phi__mcp_offers_check(mcp, "phi_mcp_get", phi__mcp_get_capability(mcp, desc->what));
    if (status != PHI_OK) return status;
    if (desc->done_fn == NULL || (desc->argument_count > 0 && desc->arguments == NULL))
        return PHI_BAD_ARG;
    switch (desc->what) {
    case PHI_MCP_GET_RESOURCES:
    case PHI_MCP_GET_TEMPLATES: return phi__mcp_resources_list(mcp, desc, id);
    case PHI_MCP_GET_RESOURCE: return phi__mcp_resources_get(mcp, desc, id);
    case PHI_MCP_GET_PROMPTS: return phi__mcp_prompts_list(mcp, desc, id);
    case PHI_MCP_GET_PROMPT: return phi__mcp_prompts_get(mcp, desc, id);
    case PHI_MCP_GET_COMPLETION: return phi__mcp_prompts_complete(mcp, desc, id);
    }
    return PHI_BAD_ARG;
}
