/* ask.h - agents in one line, and a prompt that is run to its end. */
#ifndef PHI_TESTS_SUPPORT_ASK_H
#define PHI_TESTS_SUPPORT_ASK_H

#include "support/rig.h"
#include "codecs/presets.h"
#include "model/model.h"

static inline bool near_to(double got, double want) {
    return got > want - 1e-9 && got < want + 1e-9;
}

static inline phi_agent_desc plain_desc(void) {
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.model = phi_model_anthropic("test-model", "test-key");
    return desc;
}

static inline phi_agent echo_agent(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    desc.tools = &tool;
    desc.tool_count = 1;
    return rig_agent(r, &desc);
}

static inline void ask(rig *r, phi_agent agent, const char *text) {
    CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
}

#define SSE "Content-Type: text/event-stream\r\n"

#endif
