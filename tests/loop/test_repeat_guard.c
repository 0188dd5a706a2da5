/* test_repeat_guard.c - a model that makes the same call again and again: warned of, then stopped, whatever it calls. */
#include "agent/snapshot.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "model/message.h"

/* Six answers, each with that call. */
static void call_six_times(rig *r, const char *name, const char *arguments) {
    static const char *const ids[] = {"c1", "c2", "c3", "c4", "c5", "c6"};
    size_t i;
    for (i = 0; i < 6; i++) rig_call(r, ids[i], name, arguments);
}

/* The last block of the n-th result, from 1: user, then answers and results in turn. */
static const char *result_end(phi_agent agent, size_t n) {
    const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), 2 * n);
    return m != NULL ? text_at(agent, 2 * n, m->content_count - 1) : "(nothing)";
}

TEST(the_fifth_call_of_a_tool_that_is_not_there_ends_the_run) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    heard h;
    heard_begin(&h, r);
    call_six_times(r, "nobody", "{\"a\":1}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(h.status, PHI_LIMIT);
    CHECK_EQ_INT(h.turns, 5);
    CHECK_EQ_STR(result_end(agent, 2), "Tool nobody not found");
    CHECK_EQ_STR(result_end(agent, 3),
                 "[Warning: the same call of nobody with the same arguments was made 3 times in "
                 "this run]");
    CHECK_EQ_STR(result_end(agent, 5),
                 "Not run: the same call of nobody with the same arguments was made 5 times in "
                 "this run");
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 10)->is_error);
    rig_free(r);
}

TEST(the_fifth_call_of_a_tool_ends_the_run) {
    rig *r = rig_new();
    phi_tool echo = rig_echo();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = agent_with(r, &desc, &echo);
    heard h;
    heard_begin(&h, r);
    call_six_times(r, "echo", "{\"a\":1}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(h.status, PHI_LIMIT);
    CHECK_EQ_INT(h.turns, 5);
    CHECK_EQ_STR(result_end(agent, 2), "{\"a\":1}");
    rig_free(r);
}

TEST(calls_of_many_tools_that_are_not_there_are_no_loop) {
    static const char *const names[] = {"one", "two", "three", "four", "five", "six"};
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    heard h;
    size_t i;
    heard_begin(&h, r);
    for (i = 0; i < 6; i++) rig_call(r, names[i], names[i], "{}");
    rig_says(r, "I give up");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(h.status, PHI_OK);
    CHECK_EQ_INT(h.turns, 7);
    rig_free(r);
}

/* Saved while the third call waits, and gone on with in another runtime: the fifth is still the fifth. */
TEST(calls_before_a_save_count_after_it) {
    rig *r = rig_new(), *other = rig_new();
    phi_tool wait = rig_wait(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent = agent_with(r, &desc, &wait);
    phi_memory memory;
    phi_arena arena;
    phi_str text = phi_str_of("");
    heard h;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    call_six_times(r, "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    for (i = 0; i < 3; i++) {
        (void)rig_run(r, 20);
        if (CHECK_EQ_INT(rig_started(r), i + 1) && i < 2) rig_finish(r, i, "done");
    }
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    wait = rig_wait(other);
    agent = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    heard_begin(&h, other);
    for (i = 4; i <= 6; i++) {
        static const char *const ids[] = {"c4", "c5", "c6"};
        rig_call(other, ids[i - 4], "wait", "{}");
    }
    for (i = 0; i < 2; i++) { /* the third, taken up, and the fourth */
        phi_pending_item item;
        (void)rig_run(other, 20);
        CHECK_EQ_INT(phi_pending(rig_runtime(other), &item, 1), 1);
        CHECK_EQ_INT(phi_call_reply(item.call, "done"), PHI_OK);
    }
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK_EQ_INT(h.status, PHI_LIMIT);
    CHECK_EQ_STR(result_end(agent, 5),
                 "Not run: the same call of wait with the same arguments was made 5 times in "
                 "this run");
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

TEST_MAIN(TEST_ENTRY(the_fifth_call_of_a_tool_that_is_not_there_ends_the_run),
          TEST_ENTRY(the_fifth_call_of_a_tool_ends_the_run),
          TEST_ENTRY(calls_of_many_tools_that_are_not_there_are_no_loop),
          TEST_ENTRY(calls_before_a_save_count_after_it))
