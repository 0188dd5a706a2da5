/* two_runs.h - an agent of two runs, with a tool, and a recorder that hears them. */
#ifndef PHI_TESTS_RECORD_TWO_RUNS_H
#define PHI_TESTS_RECORD_TWO_RUNS_H

#include "record/recorder_support.h"
#include "support/rig.h"

static inline void record(void *user_data, const phi_event *event) {
    (void)user_data;
    CHECK_EQ_INT(phi_recorder_add(rec, event), PHI_OK);
}

/* A run with a tool, then another that goes on from it; recorded. */
static inline rig *two_runs(const phi_recorder_desc *how, phi_agent *agent, bool capture) {
    static phi_tool tool;
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    tool = rig_echo();
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.ids.session_id = "s";
    desc.ids.agent_id = "a";
    desc.ids.config_id = "c";
    desc.options.capture_requests = capture;
    *agent = rig_agent(r, &desc);
    rec_begin(how);
    rig_watch(r, record, NULL);
    rig_call(r, "call-1", "echo", "{\"x\":1}");
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(*agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(*agent, "second"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    return r;
}

#endif
