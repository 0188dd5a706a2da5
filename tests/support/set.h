/* set.h - one setting of an agent changed by phi_agent_set. */
#ifndef PHI_TESTS_SUPPORT_SET_H
#define PHI_TESTS_SUPPORT_SET_H

#include "agent/agent.h"

static inline phi_status set_model(phi_agent agent, const phi_model *model) {
    phi_agent_desc to = PHI_ZERO;
    to.model = *model;
    return phi_agent_set(agent, &to, PHI_SET_MODEL);
}

static inline phi_status set_provider(phi_agent agent, const struct phi_provider *provider) {
    phi_agent_desc to = PHI_ZERO;
    to.provider = provider;
    return phi_agent_set(agent, &to, PHI_SET_PROVIDER);
}

static inline phi_status set_tools(phi_agent agent, const phi_tool *tools, size_t count) {
    phi_agent_desc to = PHI_ZERO;
    to.tools = tools;
    to.tool_count = count;
    return phi_agent_set(agent, &to, PHI_SET_TOOLS);
}

static inline phi_status set_system_prompt(phi_agent agent, const char *text) {
    phi_agent_desc to = PHI_ZERO;
    to.system_prompt = text;
    return phi_agent_set(agent, &to, PHI_SET_SYSTEM_PROMPT);
}

/* NULL: text */
static inline phi_status set_format(phi_agent agent, const phi_format *format) {
    phi_agent_desc to = PHI_ZERO;
    if (format != NULL) to.format = *format;
    return phi_agent_set(agent, &to, PHI_SET_FORMAT);
}

static inline phi_status set_policy(phi_agent agent, const struct phi_policy *policy) {
    phi_agent_desc to = PHI_ZERO;
    to.policy = policy;
    return phi_agent_set(agent, &to, PHI_SET_POLICY);
}

static inline phi_status set_repeat_limits(phi_agent agent, uint32_t warn, uint32_t stop) {
    phi_agent_desc to = PHI_ZERO;
    to.tool_options.repeat_warn_after = warn;
    to.tool_options.repeat_stop_after = stop;
    return phi_agent_set(agent, &to, PHI_SET_REPEAT);
}

#endif
