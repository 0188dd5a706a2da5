/* test_waiting.c - what one agent waits for: phi_agent_info names it, with its ids. */
#include "support/rig.h"

#include "agent/response.h"
#include "agent/agent.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"

static const char *waits(phi_agent agent, phi_pending_item *item) {
    static const char *const names[] = {"nothing", "decision", "call", "retry", "budget", "model"};
    phi_agent_info info = phi_agent_get_info(agent);
    if (item != NULL) *item = info.waiting;
    return names[info.waiting.kind];
}

TEST(an_agent_says_that_it_waits_for_nothing_for_the_model_and_for_a_tool) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool wait = rig_wait(r);
    phi_pending_item item;
    phi_agent agent, none;
    memset(&none, 0, sizeof none);
    desc.tools = &wait;
    desc.tool_count = 1;
    desc.ids.session_id = "s";
    agent = rig_agent(r, &desc);
    CHECK_EQ_STR(waits(agent, &item), "nothing");
    CHECK(item.agent.index == agent.index && item.agent.gen == agent.gen && item.loop_id.len == 0);
    CHECK_EQ_STR(waits(none, NULL), "nothing");
    CHECK_EQ_INT(phi_agent_get_info(agent).waiting.kind, PHI_WAITING_NOTHING);
    rig_chunk(r, 16);
    rig_call(r, "c1", "wait", "{}");
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 3);
    CHECK_EQ_STR(waits(agent, &item), "model");
    CHECK_STR(item.loop_id, phi_agent_get_info(agent).loop_id.at);
    CHECK_EQ_INT((int)item.turn_index, 0);
    (void)rig_run(r, 200);
    CHECK_EQ_STR(waits(agent, &item), "call");
    CHECK_STR(item.tool_call_id, "c1");
    CHECK_STR(item.tool_name, "wait");
    rig_finish(r, 0, "done");
    (void)rig_run(r, 20);
    CHECK_EQ_STR(waits(agent, &item), "model");
    CHECK_EQ_INT((int)item.turn_index, 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_STR(waits(agent, NULL), "nothing");
    phi_agent_free(agent);
    CHECK_EQ_STR(waits(agent, NULL), "nothing");
    rig_free(r);
}

TEST(an_agent_says_that_it_waits_for_a_decision_a_delay_or_a_budget) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_pending_item item;
    phi_agent agent;
    desc.retry.disable = false;
    desc.limits.max_turns = 1;
    desc.limits.pause = true;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
    rig_replies(r, 503, "", "busy");
    rig_says(r, "hello");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_STR(waits(agent, &item), "decision");
    CHECK_EQ_INT(item.point, PHI_HOOK_BEFORE_TURN);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, NULL), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_STR(waits(agent, &item), "retry");
    CHECK(item.has_deadline && item.left_ms > 0);
    CHECK_EQ_INT(phi_follow_up(agent, "and?"), PHI_OK);
    (void)rig_run_until(r, 100000);
    CHECK_EQ_STR(waits(agent, &item), "budget");
    CHECK(item.text.len > 0);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(an_agent_says_that_it_waits_for_nothing_for_the_model_and_for_a_tool),
          TEST_ENTRY(an_agent_says_that_it_waits_for_a_decision_a_delay_or_a_budget))
