/* request.h - prompts with a handle, or of several blocks, and what the handle says. */
#ifndef PHI_TESTS_SUPPORT_REQUEST_H
#define PHI_TESTS_SUPPORT_REQUEST_H

#include "agent/response.h"
#include "agent/agent_history.h"
#include "orchestrate/evaluate.h"
#include "loop/input.h"

static inline phi_status prompt_for(phi_agent agent, const char *text, phi_response *response) {
    phi_prompt_desc desc = PHI_ZERO;
    desc.text = text;
    return phi_prompt_with(agent, &desc, response);
}

static inline phi_status prompt_blocks(phi_agent agent, const phi_content *content, size_t count) {
    phi_prompt_desc desc = PHI_ZERO;
    desc.content = content;
    desc.content_count = count;
    return phi_prompt_with(agent, &desc, NULL);
}

static inline phi_status enqueue_blocks(phi_agent agent, phi_input queue,
                                        const phi_content *content, size_t count,
                                        const char *source) {
    phi_enqueue_desc desc = PHI_ZERO;
    desc.queue = queue;
    desc.content = content;
    desc.content_count = count;
    desc.source = source;
    return phi_enqueue(agent, &desc);
}

/* PHI_STALE, or PHI_OK. */
static inline phi_status response_get(phi_response response, phi_response_info *info) {
    *info = phi_response_get(response);
    return info->state == PHI_RESPONSE_STALE ? PHI_STALE : PHI_OK;
}

#endif
