/* gets.h - what a server offers, asked for in one line. */
#ifndef PHI_TESTS_MCP_GETS_H
#define PHI_TESTS_MCP_GETS_H

#include "mcp/mcp_get.h"
#include "mcp/mcp_tools.h"
#include "mcp/mcp_requests_in.h"

typedef void (*gets_fn)(void *user_data, const phi_mcp_got *got);

static inline phi_status gets_one(phi_mcp *mcp, phi_mcp_what what, gets_fn done, void *user_data,
                                  uint64_t *id) {
    phi_mcp_get_desc desc = PHI_ZERO;
    desc.what = what;
    desc.done_fn = done;
    desc.user_data = user_data;
    return phi_mcp_get(mcp, &desc, id);
}

static inline phi_status mcp_list_resources(phi_mcp *mcp, gets_fn done, void *user_data,
                                            uint64_t *id) {
    return gets_one(mcp, PHI_MCP_GET_RESOURCES, done, user_data, id);
}

static inline phi_status mcp_list_templates(phi_mcp *mcp, gets_fn done, void *user_data,
                                            uint64_t *id) {
    return gets_one(mcp, PHI_MCP_GET_TEMPLATES, done, user_data, id);
}

static inline phi_status mcp_list_prompts(phi_mcp *mcp, gets_fn done, void *user_data,
                                          uint64_t *id) {
    return gets_one(mcp, PHI_MCP_GET_PROMPTS, done, user_data, id);
}

static inline phi_status mcp_read_resource(phi_mcp *mcp, const char *uri, gets_fn done,
                                           void *user_data, uint64_t *id) {
    phi_mcp_get_desc desc = PHI_ZERO;
    desc.what = PHI_MCP_GET_RESOURCE;
    desc.uri = uri;
    desc.done_fn = done;
    desc.user_data = user_data;
    return phi_mcp_get(mcp, &desc, id);
}

static inline phi_status mcp_get_prompt(phi_mcp *mcp, const char *name,
                                        const phi_mcp_pair *arguments, size_t argument_count,
                                        gets_fn done, void *user_data, uint64_t *id) {
    phi_mcp_get_desc desc = PHI_ZERO;
    desc.what = PHI_MCP_GET_PROMPT;
    desc.name = name;
    desc.arguments = arguments;
    desc.argument_count = argument_count;
    desc.done_fn = done;
    desc.user_data = user_data;
    return phi_mcp_get(mcp, &desc, id);
}

static inline phi_status mcp_complete(phi_mcp *mcp, phi_mcp_get_desc *desc, gets_fn done,
                                      void *user_data, uint64_t *id) {
    desc->what = PHI_MCP_GET_COMPLETION;
    desc->done_fn = done;
    desc->user_data = user_data;
    return phi_mcp_get(mcp, desc, id);
}

static inline size_t mcp_tool_count(const phi_mcp *mcp) {
    size_t n = 0;
    while (phi_mcp_tool_at(mcp, n) != NULL) n++;
    return n;
}

static inline bool mcp_tool_at(const phi_mcp *mcp, size_t i, phi_mcp_tool *out) {
    const phi_mcp_tool *tool = phi_mcp_tool_at(mcp, i);
    if (tool != NULL) *out = *tool;
    return tool != NULL;
}

#endif
