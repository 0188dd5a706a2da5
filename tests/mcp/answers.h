/* answers.h - a server's answers and lists by their parts. */
#ifndef PHI_TESTS_MCP_ANSWERS_H
#define PHI_TESTS_MCP_ANSWERS_H

#include "mcp/mcp_serve.h"
#include "mcp/mcp_serve_state_in.h"

static inline phi_status answer_text(phi_mcp_incoming incoming, phi_str text) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    answer.text = text;
    return phi_mcp_answer(incoming, &answer);
}

static inline phi_status answer_bytes(phi_mcp_incoming incoming, const void *bytes, size_t count,
                                      const char *mime_type) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    answer.bytes = bytes;
    answer.byte_count = count;
    answer.mime_type = mime_type;
    return phi_mcp_answer(incoming, &answer);
}

static inline phi_status answer_messages(phi_mcp_incoming incoming, const phi_message *messages,
                                         size_t count) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    answer.messages = messages;
    answer.message_count = count;
    return phi_mcp_answer(incoming, &answer);
}

static inline phi_status answer_values(phi_mcp_incoming incoming, const char *const *values,
                                       size_t count, size_t total) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    answer.values = values;
    answer.value_count = count;
    answer.value_total = total;
    return phi_mcp_answer(incoming, &answer);
}

static inline phi_status answer_json(phi_mcp_incoming incoming, const char *json) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    answer.json = phi_str_of(json);
    return phi_mcp_answer(incoming, &answer);
}

static inline phi_status answer_error(phi_mcp_incoming incoming, const char *message) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    answer.error = message;
    return phi_mcp_answer(incoming, &answer);
}

static inline phi_status answer_blocks(phi_mcp_incoming incoming, const char *blocks) {
    phi_mcp_answer_desc answer = PHI_ZERO;
    answer.blocks = blocks;
    return phi_mcp_answer(incoming, &answer);
}

static inline phi_status serve_tools(phi_mcp_server *server, const phi_tool *tools,
                                     const phi_mcp_serve_tool *infos, size_t count) {
    phi_mcp_server_desc desc = PHI_ZERO;
    desc.tools = tools;
    desc.tool_infos = infos;
    desc.tool_count = count;
    return phi_mcp_server_set(server, &desc, PHI_MCP_SERVE_TOOLS);
}

static inline phi_status serve_resources(phi_mcp_server *server,
                                         const phi_mcp_serve_resource *resources, size_t count) {
    phi_mcp_server_desc desc = PHI_ZERO;
    desc.resources = resources;
    desc.resource_count = count;
    return phi_mcp_server_set(server, &desc, PHI_MCP_SERVE_RESOURCES);
}

static inline phi_status serve_prompts(phi_mcp_server *server, const phi_mcp_serve_prompt *prompts,
                                       size_t count) {
    phi_mcp_server_desc desc = PHI_ZERO;
    desc.prompts = prompts;
    desc.prompt_count = count;
    return phi_mcp_server_set(server, &desc, PHI_MCP_SERVE_PROMPTS);
}

#endif
