/* wait_tool.h - a tool that waits until a test finishes its calls, and keeps count. */
#ifndef PHI_TESTS_LOOP_WAIT_TOOL_H
#define PHI_TESTS_LOOP_WAIT_TOOL_H

#include "support/rig.h"

typedef struct bench_tool {
    phi_call calls[16];
    size_t started, cancelled, stepped;
    int steps_to_done; /* of step; 0: it stays pending */
    phi_agent *frees;  /* an agent to free inside start */
} bench_tool;

static inline phi_flow wait_start(void *user_data, phi_call call, phi_str arguments) {
    bench_tool *b = (bench_tool *)user_data;
    (void)arguments;
    b->calls[b->started++ % 16] = call;
    if (b->frees != NULL) {
        char *state = (char *)phi_call_state(call, 32);
        phi_agent_free(*b->frees);
        if (state != NULL)
            state[0] = 'x'; /* a call's memory outlives its agent's freeing inside it */
    }
    return PHI_PENDING;
}

static inline void wait_cancel(void *user_data, phi_call call) {
    (void)call;
    ((bench_tool *)user_data)->cancelled++;
}

static inline phi_tool wait_tool(bench_tool *b) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    memset(b, 0, sizeof *b);
    tool.name = "wait";
    tool.description = "Waits";
    tool.start = wait_start;
    tool.cancel = wait_cancel;
    tool.user_data = b;
    tool.may_repeat = true;
    return tool;
}

static inline phi_agent wait_agent(rig *r, const phi_tool *tool, phi_tool_mode mode) {
    phi_agent_desc desc = rig_desc();
    desc.tools = tool;
    desc.tool_count = 1;
    desc.tool_options.mode = mode;
    desc.tool_options.batch = 2;
    return rig_agent(r, &desc);
}

static const char *const three[] = {"c1 wait {}", "c2 wait {}", "c3 wait {}"};

static inline void finish(bench_tool *b, size_t i, const char *text) {
    CHECK_EQ_INT(phi_call_reply(b->calls[i], text), PHI_OK);
}

#endif
