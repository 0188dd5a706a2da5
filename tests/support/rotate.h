/* rotate.h - begins a session if the last run began longer ago than a threshold. */
#ifndef PHI_TESTS_SUPPORT_ROTATE_H
#define PHI_TESTS_SUPPORT_ROTATE_H

#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

static inline phi_status rotate_session(phi_agent agent, uint64_t threshold_ms, bool *rotated) {
    phi_status status;
    *rotated = false;
    if (phi_agent_get_info(agent).idle_ms <= threshold_ms) return PHI_OK;
    status = phi_agent_new_session(agent, false);
    *rotated = status == PHI_OK;
    return status;
}

#endif
