/* echo_x.h - a tool with a schema that answers at once, and an agent that has it. */
#ifndef PHI_TESTS_LOOP_ECHO_X_H
#define PHI_TESTS_LOOP_ECHO_X_H

#include "support/rig.h"

/* A tool that answers at once with its arguments. */
static inline phi_flow echo_x_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = arguments;
    result.content = &content;
    result.content_count = 1;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static inline phi_tool echo_x_tool(void) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "echo";
    tool.description = "Says it again";
    tool.schema = "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\"}},"
                  "\"required\":[\"x\"]}";
    tool.start = echo_x_start;
    return tool;
}

static inline phi_agent echo_x_agent(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = echo_x_tool();
    desc.tools = &tool;
    desc.tool_count = 1;
    return rig_agent(r, &desc);
}

#endif
