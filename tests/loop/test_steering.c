/* test_steering.c - steering between the calls of a turn: when it is looked for, and what it
   skips. */
#include "loop/wait_tool.h"
#include "support/heard.h"
#include "record/event_json.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/event.h"

#define SKIPPED(id)                                                                                \
    "ToolExecutionStart " id " wait()\n"                                                           \
    "ToolExecutionEnd toolResult " id " error \"Skipped due to queued user message.\"\n"           \
    "MessageStart toolResult " id " error \"Skipped due to queued user message.\"\n"               \
    "MessageEnd toolResult " id " error \"Skipped due to queued user message.\"\n"

#define ENDED(id)                                                                                  \
    "ToolExecutionEnd toolResult " id " \"ok\"\n"                                                  \
    "MessageStart toolResult " id " \"ok\"\n"                                                      \
    "MessageEnd toolResult " id " \"ok\"\n"

#define THE_NEXT_TURN                                                                              \
    "TurnEnd assistant wait({}) wait({}) wait({}) toolUse\n"                                       \
    "TurnStart 1\n"                                                                                \
    "MessageStart user \"stop that\"\n"                                                            \
    "MessageEnd user \"stop that\"\n"                                                              \
    "MessageStart assistant\n"                                                                     \
    "TextDelta \"done\" of \"done\"\n"                                                             \
    "MessageEnd assistant \"done\" stop\n"                                                         \
    "TurnEnd assistant \"done\" stop\n"                                                            \
    "AgentEnd ok, 7 messages\n"

/* Three pending calls; `running` of them have begun. */
static phi_agent three_calls(rig *r, phi_tool_mode mode, uint32_t hooks, size_t running) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    desc.tool_options.mode = mode;
    desc.tool_options.batch = 2;
    desc.tool_options.repeat_warn_after = PHI_UNLIMITED;
    if (hooks != 0) rig_hooks(r, &desc, hooks);
    agent = agent_with(r, &desc, &tool);
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), running);
    rig_forget(r);
    return agent;
}

TEST(steering_skips_the_rest_in_sequential_mode) {
    rig *r = rig_new();
    phi_agent agent =
        three_calls(r, PHI_TOOLS_SEQUENTIAL, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL, 1);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_STR(rig_story(r), ""); /* a call that runs is not touched */
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r),
                 "ToolExecutionEnd toolResult c1 \"ok\"\n"
                 "-> after_tool c1 wait\n"
                 "MessageStart toolResult c1 \"ok\"\n"
                 "MessageEnd toolResult c1 \"ok\"\n" SKIPPED("c2") SKIPPED("c3") THE_NEXT_TURN);
    CHECK_EQ_INT(rig_started(r), 1);
    rig_free(r);
}

TEST(the_calls_of_the_turn_behind_a_skip_are_run) {
    rig *r = rig_new();
    phi_agent agent = three_calls(r, PHI_TOOLS_SEQUENTIAL, 0, 1);
    rig_drop_answers(r);
    rig_call(r, "c4", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(rig_started(r), 2);
    rig_forget(r);
    rig_finish(r, 1, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(begins(rig_story(r), ENDED("c4")));
    rig_free(r);
}

static void count_null(void *user_data, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    if (event->kind != PHI_EV_TOOL_START) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK);
    *(int *)user_data += strstr(json.at, "\"args\":null") != NULL;
    phi_arena_free(&arena);
}

TEST(calls_that_steering_skips_have_null_in_the_place_of_arguments) {
    rig *r = rig_new();
    int nulls = 0;
    phi_agent agent = three_calls(r, PHI_TOOLS_SEQUENTIAL, 0, 1);
    rig_watch(r, count_null, &nulls);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(nulls, 2);
    rig_free(r);
}

TEST(steering_is_looked_for_after_each_batch_and_skips_the_rest) {
    rig *r = rig_new();
    phi_agent agent = three_calls(r, PHI_TOOLS_BATCHED, 0, 2);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_STR(rig_story(r), ENDED("c1")); /* the batch goes on */
    rig_finish(r, 1, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), ENDED("c1") ENDED("c2") SKIPPED("c3") THE_NEXT_TURN);
    CHECK_EQ_INT(rig_started(r), 2);
    rig_free(r);
}

TEST(steering_skips_nothing_in_parallel_mode) {
    rig *r = rig_new();
    phi_agent agent = three_calls(r, PHI_TOOLS_PARALLEL, 0, 3);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    rig_finish(r, 1, "ok");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    rig_finish(r, 2, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), ENDED("c1") ENDED("c2") ENDED("c3") THE_NEXT_TURN);
    rig_free(r);
}

TEST(steering_is_polled_where_the_mode_says) {
    static const phi_tool_mode modes[] = {PHI_TOOLS_SEQUENTIAL, PHI_TOOLS_BATCHED,
                                          PHI_TOOLS_PARALLEL};
    /* before the first turn; after each call, each batch of two, or all; after each of two turns */
    static const size_t polls[] = {1 + 3 + 2, 1 + 2 + 2, 1 + 1 + 2};
    static const char *const calls[] = {"c1 echo {}", "c2 echo {}", "c3 echo {}"};
    size_t i;
    for (i = 0; i < 3; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_tool tool = rig_echo();
        phi_agent agent;
        desc.tool_options.mode = modes[i];
        desc.tool_options.batch = 2;
        desc.tool_options.repeat_warn_after = PHI_UNLIMITED;
        rig_hooks(r, &desc, PHI_HOOK_STEERING);
        agent = agent_with(r, &desc, &tool);
        rig_calls(r, calls, 3);
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 30), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "-> steering\n"), polls[i]);
        rig_free(r);
    }
}

static phi_flow steer_from_inside(void *user_data, phi_call call, phi_str arguments) {
    phi_status *said = (phi_status *)user_data;
    phi_tool_result result;
    phi_content block;
    (void)arguments;
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of("ok");
    *said = phi_steer(phi_call_get_info(call).agent, "stop that");
    memset(&result, 0, sizeof result);
    result.content = &block;
    result.content_count = 1;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

TEST(steering_from_inside_a_call_is_heard_one_model_call_later) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_status said = PHI_BUSY;
    tool.start = steer_from_inside;
    tool.user_data = &said;
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(said, PHI_OK);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 3));
    CHECK(strstr(rig_request(r, 1), "stop that") == NULL);
    CHECK(strstr(rig_request(r, 2), "stop that") != NULL);
    rig_free(r);
}

/* ---- changed arguments that find no memory ---- */

/* Three calls, one after another; the hook of steering waits behind the first. */
static void wait_between_calls(const char *reply, size_t started, const char *second) {
    static const char *const calls[] = {"c1 echo {}", "c2 echo {}", "c3 echo {}"};
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.tool_options.mode = PHI_TOOLS_SEQUENTIAL;
    rig_hooks(r, &desc, PHI_HOOK_STEERING | PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_STEERING, PHI_ALLOW, NULL); /* before the first turn */
    rig_answers(r, PHI_HOOK_STEERING, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_tool"), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)),
                 3); /* the first result is there */
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, reply), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_tool"), started);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, second);
    rig_free(r);
}

TEST(steering_that_is_waited_for_between_two_calls_holds_back_the_next) {
    wait_between_calls(NULL, 3, "{}");
    wait_between_calls("stop that", 1, "Skipped due to queued user message.");
}

TEST_MAIN(TEST_ENTRY(steering_skips_the_rest_in_sequential_mode),
          TEST_ENTRY(the_calls_of_the_turn_behind_a_skip_are_run),
          TEST_ENTRY(calls_that_steering_skips_have_null_in_the_place_of_arguments),
          TEST_ENTRY(steering_is_looked_for_after_each_batch_and_skips_the_rest),
          TEST_ENTRY(steering_skips_nothing_in_parallel_mode),
          TEST_ENTRY(steering_is_polled_where_the_mode_says),
          TEST_ENTRY(steering_from_inside_a_call_is_heard_one_model_call_later),
          TEST_ENTRY(steering_that_is_waited_for_between_two_calls_holds_back_the_next))
