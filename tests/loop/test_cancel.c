/* test_cancel.c - a run that is aborted: when that is seen, what it reaches, and what stays. Ended
   at each step of a long run: test_cancel_everywhere.c. */
#include "loop/act_tool.h"
#include "support/heard.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "agent/agent_info.h"

TEST(a_run_cancelled_before_it_begins_still_returns_its_prompt) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN | PHI_HOOK_AFTER_LOOP);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "AgentEnd cancelled, 1 messages\n"
                               "-> after_loop (1 messages)\n");
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

TEST(a_cancel_is_seen_before_the_next_turn_begins) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN | PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_AFTER_TURN, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "never");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    rig_forget(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(rig_story(r), "AgentEnd cancelled, 3 messages\n"
                               "-> after_loop (3 messages)\n");
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    rig_free(r);
}

TEST(a_cancel_is_seen_before_a_follow_up_begins_a_turn) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_FOLLOW_UP);
    rig_answers(r, PHI_HOOK_FOLLOW_UP, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_says(r, "never");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    rig_forget(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(rig_story(r), "AgentEnd cancelled, 2 messages\n");
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

TEST(a_cancel_reaches_the_provider_s_transfer) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(rig_open_transfers(r), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    CHECK_EQ_INT(last_of(agent)->stop_reason, PHI_STOP_REASON_ABORTED);
    rig_free(r);
}

TEST(a_cancel_reaches_every_running_tool_and_each_call_has_the_result_cancelled) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    static const char *const calls[] = {"c1 wait {}", "c2 wait {}"};
    size_t i;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 2);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), 2);
    rig_forget(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(rig_cancelled(r), 2);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 4);
    for (i = 2; i < 4; i++) {
        CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), i)->content[0].text, "Cancelled");
        CHECK(phi_thread_message_at(phi_agent_thread(agent), i)->is_error);
    }
    CHECK_EQ_STR(rig_story(r), "ToolExecutionEnd toolResult c1 error \"Cancelled\"\n"
                               "MessageStart toolResult c1 error \"Cancelled\"\n"
                               "MessageEnd toolResult c1 error \"Cancelled\"\n"
                               "ToolExecutionEnd toolResult c2 error \"Cancelled\"\n"
                               "MessageStart toolResult c2 error \"Cancelled\"\n"
                               "MessageEnd toolResult c2 error \"Cancelled\"\n"
                               "TurnEnd assistant wait({}) wait({}) toolUse\n"
                               "AgentEnd cancelled, 4 messages\n");
    rig_free(r);
}

TEST(a_cancel_of_the_parent_ends_the_runs_below_it) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent parent = rig_agent(r, NULL), child, grandchild, stranger = rig_agent(r, NULL);
    int i;
    desc.parent = parent;
    child = rig_agent(r, &desc);
    desc.parent = child;
    grandchild = rig_agent(r, &desc);
    for (i = 0; i < 4; i++) rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(parent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(child, "go"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(grandchild, "go"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(stranger, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 4);
    CHECK_EQ_INT(phi_abort(parent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK(!phi_agent_get_info(parent).running);
    CHECK(!phi_agent_get_info(child).running);
    CHECK(!phi_agent_get_info(grandchild).running);
    CHECK(phi_agent_get_info(stranger).running);
    CHECK_EQ_INT(rig_open_transfers(r), 1);
    rig_free(r);
}

TEST(an_abort_in_mid_stream_keeps_what_came_and_leaves_a_usable_agent) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    char half[2000];
    const char *whole = rig_stream_of("partial");
    size_t n = (size_t)(strstr(whole, "event: content_block_stop") - whole);
    memcpy(half, whole, n);
    half[n] = '\0';
    rig_hangs(r, half);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_forget(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_STR(rig_story(r), "MessageEnd assistant \"partial\" aborted error \"Cancelled\"\n"
                               "TurnEnd assistant \"partial\" aborted error \"Cancelled\"\n"
                               "AgentEnd cancelled, 2 messages\n");
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "partial") == NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(an_abort_of_an_idle_agent_does_nothing) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_STR(rig_story(r), "");
    rig_free(r);
}

TEST(an_abort_gives_every_call_the_result_cancelled) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_SEQUENTIAL);
    size_t i;
    rig_calls(r, three, 3);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_forget(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(b.started, 1);
    CHECK_EQ_INT(b.cancelled, 1);
    for (i = 2; i < 5; i++)
        CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), i)->content[0].text, "Cancelled");
    CHECK(strstr(rig_story(r), "AgentEnd cancelled, 5 messages\n") != NULL);
    CHECK_EQ_INT(phi_call_reply(b.calls[0], "late"), PHI_STALE);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "Cancelled") != NULL);
    rig_free(r);
}

/* ---- memory ---- */

/* Fails allocations from the abort on: `once` the n-th, else all from there. */
static bool abort_without_memory(phi_tool_mode mode, int n, bool once) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, true);
    phi_agent agent = waiting(r, &tool, mode);
    bool tripped;
    if (once)
        test_alloc_fail_at(n);
    else
        test_alloc_fail_from(n);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    if (!CHECK_EQ_INT(rig_run(r, 50), 0)) printf("at %d:\n%s", n, rig_story(r));
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
    CHECK_EQ_INT(a.cancelled, a.started);
    rig_says(r, "here");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    if (!CHECK(log_is_whole(agent))) printf("at %d:\n%s", n, rig_story(r));
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
    return tripped;
}

TEST(an_abort_ends_whatever_allocation_fails_in_it) {
    int mode, n;
    for (mode = 0; mode < 2; mode++) {
        bool tripped = true;
        for (n = 0; tripped && n < 300; n++)
            tripped = abort_without_memory((phi_tool_mode)mode, n, true);
        CHECK(n > 1);
        for (n = 0; n < 12; n++) (void)abort_without_memory((phi_tool_mode)mode, n, false);
    }
}

TEST_MAIN(TEST_ENTRY(a_run_cancelled_before_it_begins_still_returns_its_prompt),
          TEST_ENTRY(a_cancel_is_seen_before_the_next_turn_begins),
          TEST_ENTRY(a_cancel_is_seen_before_a_follow_up_begins_a_turn),
          TEST_ENTRY(a_cancel_reaches_the_provider_s_transfer),
          TEST_ENTRY(a_cancel_reaches_every_running_tool_and_each_call_has_the_result_cancelled),
          TEST_ENTRY(a_cancel_of_the_parent_ends_the_runs_below_it),
          TEST_ENTRY(an_abort_in_mid_stream_keeps_what_came_and_leaves_a_usable_agent),
          TEST_ENTRY(an_abort_of_an_idle_agent_does_nothing),
          TEST_ENTRY(an_abort_gives_every_call_the_result_cancelled),
          TEST_ENTRY(an_abort_ends_whatever_allocation_fails_in_it))
