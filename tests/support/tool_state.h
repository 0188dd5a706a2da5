/* tool_state.h - the tool state of an agent now, valid until it changes. */
#ifndef PHI_TESTS_SUPPORT_TOOL_STATE_H
#define PHI_TESTS_SUPPORT_TOOL_STATE_H

#include "agent/agent_history.h"
#include "log/tool_state.h"

static inline phi_str tool_state(phi_agent agent) {
    phi_str state = {NULL, 0};
    (void)phi_thread_tool_state(phi_agent_thread(agent), NULL, UINT64_MAX, NULL, &state);
    return state;
}

#endif
