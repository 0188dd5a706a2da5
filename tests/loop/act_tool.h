/* act_tool.h - a tool that waits, and does to phi what a test wants from each of its functions. */
#ifndef PHI_TESTS_LOOP_ACT_TOOL_H
#define PHI_TESTS_LOOP_ACT_TOOL_H

#include "support/rig.h"
#include "loop/wait_tool.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"

enum { MOST = 1100 };

typedef struct act {
    rig *r;
    phi_call calls[MOST];
    size_t started, stepped, cancelled;
    phi_agent victim; /* what free_... frees */
    bool free_in_start, free_in_step, free_in_cancel;
    bool result_in_cancel, finish_in_step, prompt_in_start, make_in_cancel, runtime_free_in_start;
    phi_agent made;
    phi_status said;
} act;

static inline phi_status give(phi_call call, const char *text) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    result.content = &content;
    result.content_count = 1;
    return phi_call_result(call, &result);
}

static inline phi_flow act_start(void *user_data, phi_call call, phi_str arguments) {
    act *a = (act *)user_data;
    (void)arguments;
    a->calls[a->started++ % MOST] = call;
    if (a->free_in_start) phi_agent_free(a->victim);
    if (a->prompt_in_start) a->said = phi_prompt(a->victim, "from a tool");
    if (a->runtime_free_in_start) phi_runtime_free(call.rt);
    return PHI_PENDING;
}

static inline phi_flow act_step(void *user_data, phi_call call) {
    act *a = (act *)user_data;
    a->stepped++;
    if (a->free_in_step) phi_agent_free(a->victim);
    if (a->finish_in_step) {
        CHECK_EQ_INT(phi_call_reply(call, "walked"), PHI_OK);
        return PHI_DONE;
    }
    return PHI_PENDING;
}

static inline void act_cancel(void *user_data, phi_call call) {
    act *a = (act *)user_data;
    a->cancelled++;
    if (a->free_in_cancel) phi_agent_free(a->victim);
    if (a->result_in_cancel) a->said = give(call, "too late");
    if (a->make_in_cancel) {
        phi_agent_desc desc = rig_desc();
        a->made = phi_agent_new(call.rt, &desc);
    }
}

static inline phi_tool act_tool(act *a, rig *r, bool steps) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    memset(a, 0, sizeof *a);
    a->r = r;
    tool.name = "wait";
    tool.description = "Waits";
    tool.start = act_start;
    tool.step = steps ? act_step : NULL;
    tool.cancel = act_cancel;
    tool.user_data = a;
    return tool;
}

static inline phi_agent act_agent(rig *r, const phi_tool *tool, phi_tool_mode mode) {
    phi_agent_desc desc = rig_desc();
    desc.tools = tool;
    desc.tool_count = 1;
    desc.tool_options.mode = mode;
    return rig_agent(r, &desc);
}

/* An agent with three calls that wait. */
static inline phi_agent waiting(rig *r, const phi_tool *tool, phi_tool_mode mode) {
    phi_agent agent = act_agent(r, tool, mode);
    rig_calls(r, three, 3);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    return agent;
}

/* Every call of the log has one result, in call order. */
static inline bool log_is_whole(phi_agent agent) {
    size_t n = phi_thread_message_count(phi_agent_thread(agent)), i, k;
    for (i = 0; i < n; i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
        size_t at = i;
        if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason == PHI_STOP_REASON_ERROR ||
            m->stop_reason == PHI_STOP_REASON_ABORTED)
            continue;
        for (k = 0; k < m->content_count; k++) {
            const phi_message *result;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            result = phi_thread_message_at(phi_agent_thread(agent), ++at);
            if (result == NULL || result->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(result->tool_call_id, m->content[k].id))
                return false;
        }
        if (at + 1 < n &&
            phi_thread_message_at(phi_agent_thread(agent), at + 1)->role == PHI_ROLE_TOOL_RESULT)
            return false;
    }
    return true;
}

#endif
