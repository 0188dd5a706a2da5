/* preflight.h - phi_preflight of one thing. */
#ifndef PHI_TESTS_SUPPORT_PREFLIGHT_H
#define PHI_TESTS_SUPPORT_PREFLIGHT_H

#include "agent/dry_run.h"

static inline phi_status preflight(const phi_model *model, const phi_message *messages,
                                   size_t count, const phi_tool *tools, size_t tool_count,
                                   phi_arena *scratch, char *words, size_t words_size) {
    phi_preflight_desc desc = PHI_ZERO;
    desc.model = model;
    desc.messages = messages;
    desc.message_count = count;
    desc.tools = tools;
    desc.tool_count = tool_count;
    return phi_preflight(&desc, scratch, words, words_size);
}

static inline phi_status preflight_settings(const phi_agent_desc *settings, phi_arena *scratch,
                                            char *words, size_t words_size) {
    phi_preflight_desc desc = PHI_ZERO;
    desc.settings = settings;
    return phi_preflight(&desc, scratch, words, words_size);
}

static inline phi_status preflight_thinking(phi_agent agent, phi_arena *scratch, char *words,
                                            size_t words_size) {
    phi_preflight_desc desc = PHI_ZERO;
    desc.agent = agent;
    return phi_preflight(&desc, scratch, words, words_size);
}

#endif
