/* test_tool_modes.c - calls of one answer: side by side, in batches or one by one, and the order
   of their results. */
#include "support/update.h"
#include "loop/act_tool.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "support/set.h"

TEST(parallel_calls_run_at_once_and_results_are_logged_in_call_order) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(b.started, 3);
    rig_forget(r);
    finish(&b, 2, "third");
    (void)rig_step(r);
    finish(&b, 0, "first");
    (void)rig_step(r);
    finish(&b, 1, "second");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strncmp(rig_story(r),
                  "ToolExecutionEnd toolResult c3 \"third\"\n"
                  "ToolExecutionEnd toolResult c1 \"first\"\n"
                  "MessageStart toolResult c1 \"first\"\n"
                  "MessageEnd toolResult c1 \"first\"\n"
                  "ToolExecutionEnd toolResult c2 \"second\"\n"
                  "MessageStart toolResult c2 \"second\"\n"
                  "MessageEnd toolResult c2 \"second\"\n"
                  "MessageStart toolResult c3 \"third\"\n"
                  "MessageEnd toolResult c3 \"third\"\n"
                  "TurnEnd",
                  300) == 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->tool_call_id, "c1");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->tool_call_id, "c2");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 4)->tool_call_id, "c3");
    rig_free(r);
}

TEST(sequential_calls_run_one_after_another) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_SEQUENTIAL);
    size_t i;
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(rig_run(r, 10), 1);
        CHECK_EQ_INT(b.started, i + 1);
        finish(&b, i, "ok");
    }
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST(batched_calls_run_two_at_a_time) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_BATCHED);
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(b.started, 2);
    finish(&b, 1, "ok");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(b.started, 2);
    finish(&b, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(b.started, 3);
    finish(&b, 2, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST(a_tool_that_is_not_concurrent_runs_alone) {
    rig *r = rig_new();
    bench_tool b, alone;
    phi_tool tools[2];
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    static const char *const calls[] = {"c1 wait {}", "c2 alone {}", "c3 wait {}"};
    tools[0] = wait_tool(&b);
    tools[1] = wait_tool(&alone);
    tools[1].name = "alone";
    tools[1].not_concurrent = true;
    desc.tools = tools;
    desc.tool_count = 2;
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(b.started, 1);
    CHECK_EQ_INT(alone.started, 0);
    finish(&b, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(alone.started, 1);
    CHECK_EQ_INT(b.started, 1);
    finish(&alone, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(b.started, 2);
    finish(&b, 1, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST(parallel_tools_interleave_and_their_results_stand_in_the_order_of_the_calls) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    static const char *const calls[] = {"c1 wait {}", "c2 wait {}"};
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 2);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(call_update(rig_call_at(r, 1), "half"), PHI_OK);
    rig_finish(r, 1, "second");
    (void)rig_step(r);
    rig_finish(r, 0, "first");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "MessageEnd assistant wait({}) wait({}) toolUse\n"
                               "ToolExecutionStart c1 wait({})\n"
                               "ToolExecutionStart c2 wait({})\n"
                               "ToolExecutionUpdate c2 \"half\"\n"
                               "ToolExecutionEnd toolResult c2 \"second\"\n"
                               "ToolExecutionEnd toolResult c1 \"first\"\n"
                               "MessageStart toolResult c1 \"first\"\n"
                               "MessageEnd toolResult c1 \"first\"\n"
                               "MessageStart toolResult c2 \"second\"\n"
                               "MessageEnd toolResult c2 \"second\"\n"
                               "TurnEnd ") != NULL);
    rig_free(r);
}

/* A tool that takes 50 steps, 50 ms on the rig's clock. */
static phi_flow slow_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

static phi_flow slow_step(void *user_data, phi_call call) {
    int *steps = (int *)phi_call_state(call, sizeof *steps);
    (void)user_data;
    if (steps == NULL || ++*steps < 50) return PHI_PENDING;
    (void)phi_call_reply(call, "ok");
    return PHI_DONE;
}

static int ms_of_three_tools(phi_tool_mode mode) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    static const char *const calls[] = {"c1 echo {\"n\":1}", "c2 echo {\"n\":2}",
                                        "c3 echo {\"n\":3}"};
    int ms;
    tool.start = slow_start;
    tool.step = slow_step;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.tool_options.mode = mode;
    desc.tool_options.batch = 2;
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    for (ms = 0; ms < 500 && rig_run(r, 1) > 0; ms++) {}
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 6);
    rig_free(r);
    return ms;
}

TEST(three_tools_of_50_ms_take_50_ms_in_parallel_100_in_batches_of_two_and_150_in_sequence) {
    int parallel = ms_of_three_tools(PHI_TOOLS_PARALLEL);
    int batched = ms_of_three_tools(PHI_TOOLS_BATCHED);
    int sequential = ms_of_three_tools(PHI_TOOLS_SEQUENTIAL);
    CHECK(parallel >= 50 && parallel < 70);
    CHECK(batched >= 100 && batched < 120);
    CHECK(sequential >= 150 && sequential < 170);
}

TEST(a_batch_size_of_0_is_the_default_of_4) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    static const char *const calls[] = {"c1 wait {\"n\":1}", "c2 wait {\"n\":2}",
                                        "c3 wait {\"n\":3}", "c4 wait {\"n\":4}",
                                        "c5 wait {\"n\":5}"};
    size_t i;
    desc.tool_options.mode = PHI_TOOLS_BATCHED;
    agent = agent_with(r, &desc, &tool);
    rig_calls(r, calls, 5);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), 4);
    for (i = 0; i < 4; i++) rig_finish(r, i, "ok");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), 5);
    rig_finish(r, 4, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST(a_thousand_calls_of_one_answer_get_a_thousand_results_in_order) {
    rig *r = rig_new();
    static act a;
    static char lines[1000][32];
    static const char *calls[1000];
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    size_t i;
    CHECK_EQ_INT(set_repeat_limits(agent, PHI_UNLIMITED, PHI_UNLIMITED), PHI_OK);
    for (i = 0; i < 1000; i++) {
        (void)snprintf(lines[i], sizeof lines[i], "c%u wait {}", (unsigned)i);
        calls[i] = lines[i];
    }
    for (i = 0; i < 1000; i += 250) { /* four answers: the rig's buffer holds no more */
        size_t n;
        rig_calls(r, calls + i, 250);
        if (i == 0) CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 1);
        CHECK_EQ_INT(a.started, i + 250);
        for (n = 250; n > 0; n--) CHECK_EQ_INT(give(a.calls[i + n - 1], "ok"), PHI_OK);
    }
    rig_says(r, "done");
    CHECK_EQ_INT(rig_run(r, 40), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 1 + 4 + 1000 + 1);
    for (i = 0; i < 250; i++) {
        char want[16];
        (void)snprintf(want, sizeof want, "c%u", (unsigned)i);
        CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2 + i)->tool_call_id, want);
    }
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(parallel_calls_run_at_once_and_results_are_logged_in_call_order),
    TEST_ENTRY(sequential_calls_run_one_after_another), TEST_ENTRY(batched_calls_run_two_at_a_time),
    TEST_ENTRY(a_tool_that_is_not_concurrent_runs_alone),
    TEST_ENTRY(parallel_tools_interleave_and_their_results_stand_in_the_order_of_the_calls),
    TEST_ENTRY(
        three_tools_of_50_ms_take_50_ms_in_parallel_100_in_batches_of_two_and_150_in_sequence),
    TEST_ENTRY(a_batch_size_of_0_is_the_default_of_4),
    TEST_ENTRY(a_thousand_calls_of_one_answer_get_a_thousand_results_in_order))
