/* test_tools_reentrant.c - tools that free agents, prompt others and call phi in other ways, from
   every place they are called in. */
#include "loop/act_tool.h"
#include "agent/agent_history.h"
#include "log/thread.h"

TEST(a_tool_may_free_its_agent) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    b.frees = &agent;
    rig_calls(r, three, 3);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(!phi_agent_alive(agent));
    phi_agent_free(agent);
    CHECK_EQ_INT(b.started, 1);
    CHECK_EQ_INT(b.cancelled, 1);
    CHECK_EQ_INT(phi_call_reply(b.calls[0], "late"), PHI_STALE);
    rig_free(r);
}

TEST(an_agent_freed_with_pending_calls_cancels_them) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_calls(r, three, 3);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    finish(&b, 1, "on its way");
    phi_agent_free(agent);
    CHECK_EQ_INT(b.cancelled, 2); /* the one that was finished is not told */
    CHECK_EQ_INT(rig_run(r, 5), 0);
    rig_free(r);
}

static phi_flow step_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    *(int *)user_data = phi_step(call.rt, 0);
    return PHI_DONE;
}

TEST(a_step_inside_a_callback_is_misuse_and_done_without_a_result_is_an_error) {
    rig *r = rig_new();
    int got = 0;
    phi_tool tool;
    phi_agent agent;
    memset(&tool, 0, sizeof tool);
    tool.name = "wait";
    tool.description = "Steps";
    tool.start = step_start;
    tool.user_data = &got;
    agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(got, PHI_MISUSE);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text,
              "The tool returned PHI_DONE without a result");
    rig_free(r);
}

TEST(a_cancel_function_may_free_its_own_agent_while_that_is_freed) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    a.victim = waiting(r, &tool, PHI_TOOLS_PARALLEL);
    a.free_in_cancel = true;
    phi_agent_free(a.victim);
    CHECK_EQ_INT(a.cancelled, 3);
    CHECK(!phi_agent_alive(a.victim));
    CHECK_EQ_INT(rig_run(r, 3), 0);
    rig_free(r);
}

TEST(a_cancel_function_may_free_its_agent_on_abort_and_at_a_deadline) {
    int deadline;
    for (deadline = 0; deadline < 2; deadline++) {
        rig *r = rig_new();
        static act a;
        phi_tool tool = act_tool(&a, r, true);
        if (deadline) tool.timeout_ms = 50;
        a.victim = waiting(r, &tool, PHI_TOOLS_PARALLEL);
        a.free_in_cancel = true;
        if (!deadline) CHECK_EQ_INT(phi_abort(a.victim), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
        CHECK_EQ_INT(a.cancelled, 3);
        CHECK(!phi_agent_alive(a.victim));
        CHECK_EQ_INT(phi_call_reply(a.calls[0], "x"), PHI_STALE);
        rig_free(r);
    }
}

/* One agent's tool frees another one that streams, waits for tools, is polled, or is ready to run. */
TEST(a_tool_may_free_another_agent_in_any_state) {
    int where, state;
    for (where = 0; where < 2; where++)
        for (state = 0; state < 4; state++) {
            rig *r = rig_new();
            static act a, other;
            phi_tool tool = act_tool(&a, r, true), theirs = act_tool(&other, r, true);
            phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
            if (state == 0) {
                a.victim = rig_agent(r, NULL); /* it streams */
                rig_hangs(r, "data: {\"type\":\"message_start\",\"message\":{}}\n\n");
                CHECK_EQ_INT(phi_prompt(a.victim, "go"), PHI_OK);
                CHECK_EQ_INT(rig_run(r, 10), 1);
            } else if (state < 3) {
                a.victim = waiting(r, &theirs, PHI_TOOLS_PARALLEL);
                if (state == 2) other.free_in_cancel = true; /* and frees the first in turn */
                other.victim = agent;
            } else
                a.victim = rig_agent(r, NULL); /* prompted in the same step */
            a.free_in_start = where == 0;
            a.free_in_step = where == 1;
            rig_calls(r, three, 3);
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            if (state == 3) {
                rig_hangs(r, "");
                CHECK_EQ_INT(phi_prompt(a.victim, "go"), PHI_OK);
            }
            (void)rig_run(r, 20);
            CHECK(!phi_agent_alive(a.victim));
            CHECK_EQ_INT(phi_agent_alive(agent), state != 2);
            CHECK_EQ_INT(rig_open_transfers(r), 0);
            rig_free(r);
        }
}

TEST(a_tool_may_prompt_another_agent) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    a.victim = rig_agent(r, NULL);
    a.prompt_in_start = true;
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "the other");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(a.said, PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(a.victim)), 2);
    CHECK_EQ_INT(give(a.calls[0], "ok"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST(a_tool_may_not_prompt_its_own_agent_nor_free_the_runtime) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    const char *words = NULL;
    a.victim = agent;
    a.prompt_in_start = true;
    a.runtime_free_in_start = true;
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(a.said, PHI_BUSY);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_MISUSE);
    CHECK_EQ_STR(words, "phi_runtime_free inside a callback");
    rig_free(r);
}

TEST(no_agent_is_made_while_the_runtime_is_freed) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    (void)waiting(r, &tool, PHI_TOOLS_PARALLEL);
    a.make_in_cancel = true;
    rig_free(r);
    CHECK_EQ_INT(a.cancelled, 3);
    CHECK(a.made.rt == NULL);
}

TEST(two_agents_share_a_tool_and_one_goes) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, true);
    phi_agent one = waiting(r, &tool, PHI_TOOLS_PARALLEL),
              two = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    size_t i;
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(two, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 2);
    CHECK_EQ_INT(a.started, 6);
    phi_agent_free(one);
    CHECK_EQ_INT(a.cancelled, 3);
    for (i = 0; i < 3; i++) CHECK_EQ_INT(give(a.calls[i], "x"), PHI_STALE);
    for (i = 3; i < 6; i++) CHECK_EQ_INT(give(a.calls[i], "x"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(two)), 6);
    rig_free(r);
}

/* ---- memory ---- */

/* A run lost its calls' results; then prompts fail at every point before one succeeds. */
TEST(a_prompt_that_fails_after_it_answered_lost_calls_leaves_nothing_behind) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        rig *r = rig_new();
        static act a;
        phi_tool tool = act_tool(&a, r, true);
        phi_agent agent = waiting(r, &tool, PHI_TOOLS_PARALLEL);
        phi_status status;
        test_alloc_fail_from(0);
        CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 50), 0);
        test_alloc_fail_at(n);
        status = phi_prompt(agent, "again");
        tripped = test_alloc_tripped();
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        test_alloc_fail_at(-1);
        if (tripped) CHECK_EQ_INT(rig_run(r, 2), 0);
        rig_says(r, "here");
        if (tripped) CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(log_is_whole(agent));
        rig_free(r);
    }
    CHECK(n > 1);
}

TEST(an_agent_freed_in_mid_stream_and_in_mid_tool_survives_every_failed_allocation) {
    int n, when;
    for (when = 0; when < 12; when++) {
        bool tripped = true;
        for (n = 0; tripped && n < 200; n++) {
            rig *r = rig_new();
            static act a;
            phi_tool tool = act_tool(&a, r, true);
            phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
            rig_chunk(r, 200);
            rig_calls(r, three, 3);
            test_alloc_fail_at(n);
            if (phi_prompt(agent, "go") == PHI_OK) (void)rig_run(r, when);
            phi_agent_free(agent);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(rig_run(r, 2), 0);
            CHECK_EQ_INT(rig_open_transfers(r), 0);
            rig_free(r);
        }
    }
}

TEST_MAIN(TEST_ENTRY(a_tool_may_free_its_agent),
          TEST_ENTRY(an_agent_freed_with_pending_calls_cancels_them),
          TEST_ENTRY(a_step_inside_a_callback_is_misuse_and_done_without_a_result_is_an_error),
          TEST_ENTRY(a_cancel_function_may_free_its_own_agent_while_that_is_freed),
          TEST_ENTRY(a_cancel_function_may_free_its_agent_on_abort_and_at_a_deadline),
          TEST_ENTRY(a_tool_may_free_another_agent_in_any_state),
          TEST_ENTRY(a_tool_may_prompt_another_agent),
          TEST_ENTRY(a_tool_may_not_prompt_its_own_agent_nor_free_the_runtime),
          TEST_ENTRY(no_agent_is_made_while_the_runtime_is_freed),
          TEST_ENTRY(two_agents_share_a_tool_and_one_goes),
          TEST_ENTRY(a_prompt_that_fails_after_it_answered_lost_calls_leaves_nothing_behind),
          TEST_ENTRY(an_agent_freed_in_mid_stream_and_in_mid_tool_survives_every_failed_allocation))
