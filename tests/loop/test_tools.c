/* test_tools.c - tool calls: deadlines, bad ones, results from anywhere, and what never happens
   twice. */
#include "support/update.h"
#include "loop/act_tool.h"
#include "support/ask.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/input.h"
#include "model/message.h"

#include <pthread.h>

static phi_flow wait_step(void *user_data, phi_call call) {
    bench_tool *b = (bench_tool *)user_data;
    b->stepped++;
    if (b->steps_to_done == 0 || --b->steps_to_done > 0) return PHI_PENDING;
    (void)phi_call_reply(call, "walked");
    return PHI_DONE;
}

TEST(a_polled_tool_spans_three_hundred_frames) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent;
    tool.step = wait_step;
    agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    b.steps_to_done = 300;
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 290), 1);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(b.stepped, 300);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "walked");
    rig_free(r);
}

TEST(a_call_has_one_result_however_often_it_is_finished) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    phi_tool_result none;
    memset(&none, 0, sizeof none);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK(phi_call_get_info(b.calls[0]).pending);
    finish(&b, 0, "one");
    CHECK(!phi_call_get_info(b.calls[0]).pending);
    CHECK_EQ_INT(phi_call_reply(b.calls[0], "two"), PHI_STALE);
    CHECK_EQ_INT(phi_call_result(b.calls[0], &none), PHI_STALE);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_call_reply(b.calls[0], "three"), PHI_STALE);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "one");
    rig_free(r);
}

TEST(a_tool_that_never_ends_is_cut_off_at_its_deadline) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent;
    tool.timeout_ms = 50;
    agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 1);
    CHECK_EQ_INT(b.cancelled, 0);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(b.cancelled, 1);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text,
              "Tool exceeded timeout of 50ms");
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "done");
    rig_free(r);
}

static void result_of(const char *call, const char *want) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent;
    tool.schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
                  "\"required\":[\"n\"]}";
    agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_calls(r, &call, 1);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(b.started, 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, want);
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
    rig_free(r);
}

TEST(bad_calls_become_error_results_that_the_model_can_read) {
    result_of("c1 nothing {}", "Tool nothing not found");
    result_of("c1 wait {}", "Invalid arguments: arguments: missing required property \"n\"");
    result_of("c1 wait {\"n\":\"x\"}",
              "Invalid arguments: arguments.n: expected integer, got string");
    result_of("c1 wait [1]", "Invalid arguments: expected object, got array");
}

TEST(arguments_that_are_not_json_are_an_error_result) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_call(r, "c1", "wait", "{oops");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(b.started, 0);
    CHECK(strncmp(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text.at,
                  "Invalid arguments: not JSON", 27) == 0);
    rig_free(r);
}

typedef struct racer {
    bench_tool *b;
    size_t wins;
} racer;

static void *race(void *arg) {
    racer *me = (racer *)arg;
    size_t i;
    for (i = 0; i < 3; i++)
        if (phi_call_reply(me->b->calls[i], "won") == PHI_OK) me->wins++;
    return NULL;
}

TEST(of_four_threads_that_finish_a_call_one_wins) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    racer racers[4];
    pthread_t threads[4];
    size_t i, wins = 0;
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    for (i = 0; i < 4; i++) {
        racers[i].b = &b;
        racers[i].wins = 0;
        REQUIRE(pthread_create(&threads[i], NULL, race, &racers[i]) == 0);
    }
    for (i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
        wins += racers[i].wins;
    }
    CHECK_EQ_INT(wins, 3);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 6);
    rig_free(r);
}

static phi_flow takes_state(void *user_data, phi_call call, phi_str arguments) {
    char *state = (char *)phi_call_state(call, 8);
    (void)user_data;
    (void)arguments;
    CHECK(state != NULL);
    CHECK(phi_call_state(call, 0) == state);
    CHECK(phi_call_state(call, 8) == state);
    CHECK(phi_call_state(call, 9) == NULL); /* there is one, and it is smaller */
    return PHI_DONE;
}

TEST(the_memory_of_a_call_is_never_less_than_was_asked_for) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool;
    phi_agent agent;
    memset(&tool, 0, sizeof tool);
    tool.name = "take";
    tool.start = takes_state;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "take", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    rig_free(r);
}

TEST(a_tool_that_is_done_is_polled_no_more_while_its_result_waits_to_be_read) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent;
    int i;
    tool.step = wait_step;
    b.steps_to_done = 5;
    agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (b.stepped < 4 && rig_run(r, 1) == 1) {}
    CHECK_EQ_INT(b.stepped, 4);
    for (i = 0; i < 600; i++) CHECK_EQ_INT(phi_steer(agent, "more"), PHI_OK);
    (void)rig_step(r); /* it finishes behind what two more steps read */
    CHECK_EQ_INT(b.stepped, 5);
    CHECK(rig_step(r) == 1 && phi_thread_message_count(phi_agent_thread(agent)) == 2);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(b.stepped, 5);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "walked");
    rig_free(r);
}

/* Bytes in use while a call waits whose arguments are a list of n numbers. */
static size_t used_by_a_list(unsigned n) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent;
    char list[4000];
    size_t at = (size_t)snprintf(list, sizeof list, "{\"list\":[0"), used;
    for (; n > 1; n--) at += (size_t)snprintf(list + at, sizeof list - at, ",%u", n % 10);
    (void)snprintf(list + at, sizeof list - at, "]}");
    agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_call(r, "c1", "wait", list);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(b.started, 1);
    used = phi_agent_get_info(agent).memory_used;
    rig_free(r);
    return used;
}

TEST(the_tree_of_arguments_that_were_checked_is_given_back_at_once) {
    size_t few = used_by_a_list(1), many = used_by_a_list(1900); /* 3.8 KB of text, 60 KB of tree */
    CHECK(many < few + 25000);
}

/* Whatever it is that a call finds no memory for, what the model reads of it are words of phi's. */
TEST(a_call_without_memory_tells_the_model_so) {
    int n = 0, told = 0;
    bool tripped = true;
    char list[2100] = "{\"list\":[1";
    for (n = 0; n < 1000; n++) (void)strcat(list, ",1");
    (void)strcat(list, "]}");
    for (n = 0; tripped && n < 3000; n++) {
        rig *r = rig_new();
        phi_tool tool = rig_echo();
        phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
        const phi_message *result;
        rig_call(r, "c1", "echo", list); /* its tree needs a block of its own */
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        test_alloc_fail_at(n);
        (void)rig_run(r, 40);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        result = phi_thread_message_at(phi_agent_thread(agent), 2);
        if (result != NULL && result->role == PHI_ROLE_TOOL_RESULT && result->is_error) {
            CHECK_STR(result->content[0].text, "Out of memory");
            told++;
        }
        rig_free(r);
    }
    CHECK(told > 0 && n > 20);
}

TEST(a_tool_that_is_not_there_yields_exactly_one_end_that_is_an_error) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r);
    rig_call(r, "c1", "nothing", "{\"x\":1}");
    rig_says(r, "done");
    ask(r, agent, "go");
    CHECK(strstr(rig_story(r), "ToolExecutionStart c1 nothing({\"x\":1})\n"
                               "ToolExecutionEnd toolResult c1 error \"Tool nothing not found\"\n"
                               "MessageStart toolResult c1 error \"Tool nothing not found\"\n"
                               "MessageEnd toolResult c1 error \"Tool nothing not found\"\n"
                               "TurnEnd assistant nothing({\"x\":1}) toolUse\n"
                               "TurnStart 1\n") != NULL);
    rig_free(r);
}

static phi_flow fail_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    (void)arguments;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("the forge is cold");
    result.content = &content;
    result.content_count = 1;
    result.is_error = true;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

TEST(a_tool_that_fails_says_its_own_words_in_an_error_result_without_details) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    tool.start = fail_start;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    ask(r, agent, "go");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text,
              "the forge is cold");
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 2)->details.len, 0);
    CHECK(strstr(rig_request(r, 1), "the forge is cold") != NULL);
    CHECK(strstr(rig_request(r, 1), "\"is_error\":true") != NULL);
    rig_free(r);
}

TEST(a_call_that_was_finished_keeps_its_result_and_is_not_told_to_cancel) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent;
    tool.timeout_ms = 50;
    agent = waiting(r, &tool, PHI_TOOLS_PARALLEL);
    CHECK_EQ_INT(phi_call_reply(a.calls[1], "mine"), PHI_OK);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(a.cancelled, 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "Cancelled");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "mine");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 4)->content[0].text, "Cancelled");
    rig_free(r);
}

TEST(a_result_given_in_cancel_is_stale) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = waiting(r, &tool, PHI_TOOLS_SEQUENTIAL);
    a.result_in_cancel = true;
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(a.said, PHI_STALE);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "Cancelled");
    rig_free(r);
}

TEST(a_step_that_said_done_is_not_called_again_while_its_result_is_in_a_long_inbox) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, true);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL), idle = rig_agent(r, NULL);
    int i;
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (a.started == 0) (void)rig_step(r);
    for (i = 0; i < 1500; i++) CHECK_EQ_INT(phi_abort(idle), PHI_OK);
    a.finish_in_step = true;
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(a.stepped, 1);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "walked");
    rig_free(r);
}

typedef struct ring {
    phi_call calls[3];
    size_t started, steps[3];
} ring;

static phi_flow ring_start(void *user_data, phi_call call, phi_str arguments) {
    ring *g = (ring *)user_data;
    (void)arguments;
    g->calls[g->started++] = call;
    return PHI_PENDING;
}

/* The first one to be stepped ends the second. */
static phi_flow ring_step(void *user_data, phi_call call) {
    ring *g = (ring *)user_data;
    size_t i;
    for (i = 0; i < 3; i++)
        if (g->calls[i].index == call.index) g->steps[i]++;
    if (call.index == g->calls[0].index) (void)give(g->calls[1], "ended by another");
    return PHI_PENDING;
}

TEST(each_polled_call_is_stepped_once_a_step_also_when_the_ring_shrinks) {
    rig *r = rig_new();
    ring g;
    phi_tool tool;
    phi_agent agent;
    memset(&g, 0, sizeof g);
    memset(&tool, 0, sizeof tool);
    tool.name = "wait";
    tool.start = ring_start;
    tool.step = ring_step;
    tool.user_data = &g;
    agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_calls(r, three, 3);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (g.started < 3) (void)rig_step(r);
    (void)rig_step(r);
    CHECK_EQ_INT(g.steps[0], 1);
    CHECK_EQ_INT(g.steps[1], 0);
    CHECK_EQ_INT(g.steps[2], 1);
    (void)rig_step(r);
    CHECK_EQ_INT(g.steps[0], 2);
    CHECK_EQ_INT(g.steps[2], 2);
    rig_free(r);
}

/* ---- C 44: the mock provider ---- */
static phi_agent_desc mocked(rig *r, phi_tool *tool) {
    phi_agent_desc desc = rig_desc();
    rig_mock(r);
    *tool = rig_echo();
    desc.model.id = "mock";
    desc.model.provider = "mock";
    desc.tools = tool;
    desc.tool_count = 1;
    return desc;
}

TEST(the_mock_answers_in_order_without_usage_and_then_says_that_it_has_no_more) {
    rig *r = rig_new();
    phi_tool tool;
    phi_agent_desc desc = mocked(r, &tool);
    phi_agent agent = rig_agent(r, &desc);
    rig_says(r, "one two three");
    rig_says(r, "second");
    CHECK_EQ_INT(phi_prompt(agent, "a"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "TextDelta \"one two three\" of \"one two three\"\n") != NULL);
    CHECK_EQ_INT(phi_prompt(agent, "b"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_prompt(agent, "c"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 6);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "one two three");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->model, "mock");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->provider, "mock");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "second");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 5)->content[0].text,
              "(no more mock responses)");
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_STOP);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 5)->stop_reason,
                 PHI_STOP_REASON_STOP);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.total_tokens, 0);
    rig_free(r);
}

/* The mock's ids begin anew in each answer, as some servers' do: results stay with their calls. */
TEST(ids_that_repeat_across_turns_are_told_apart) {
    rig *r = rig_new();
    phi_tool tool;
    phi_agent_desc desc = mocked(r, &tool);
    phi_agent agent = rig_agent(r, &desc);
    static const char *const two[] = {"x echo {\"n\":1}", "x echo {\"n\":2}"};
    static const char *const other[] = {"x echo {\"n\":3}"};
    rig_calls(r, two, 2);
    rig_calls(r, other, 1);
    CHECK_EQ_INT(phi_prompt(agent, "a"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 7);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].id, "mock-tool-0");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[1].id, "mock-tool-1");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->tool_call_id, "mock-tool-0");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "{\"n\":1}");
    CHECK(!phi_str_equal(phi_thread_message_at(phi_agent_thread(agent), 4)->content[0].id,
                         phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].id));
    CHECK(phi_str_equal(phi_thread_message_at(phi_agent_thread(agent), 5)->tool_call_id,
                        phi_thread_message_at(phi_agent_thread(agent), 4)->content[0].id));
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 5)->content[0].text, "{\"n\":3}");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 6)->content[0].text,
              "(no more mock responses)");
    rig_free(r);
}

typedef struct spoken {
    phi_call start, update, progress;
} spoken;

static void hear_spoken(void *user_data, const phi_event *e) {
    spoken *s = (spoken *)user_data;
    if (e->kind == PHI_EV_TOOL_START) s->start = e->call;
    if (e->kind == PHI_EV_TOOL_UPDATE) s->update = e->call;
    if (e->kind == PHI_EV_TOOL_PROGRESS) s->progress = e->call;
}

TEST(events_of_a_call_have_its_handle_and_updates_need_a_text) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    spoken s;
    memset(&s, 0, sizeof s);
    rig_watch(r, hear_spoken, &s);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(call_update(b.calls[0], NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_call_progress(b.calls[0], NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(call_update(b.calls[0], "half"), PHI_OK);
    CHECK_EQ_INT(phi_call_progress(b.calls[0], "nearly"), PHI_OK);
    (void)rig_step(r);
    CHECK_STR(phi_call_get_info(s.start).id, "c1");
    CHECK_STR(phi_call_get_info(s.update).id, "c1");
    CHECK_STR(phi_call_get_info(s.progress).id, "c1");
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_polled_tool_spans_three_hundred_frames),
          TEST_ENTRY(a_call_has_one_result_however_often_it_is_finished),
          TEST_ENTRY(a_tool_that_never_ends_is_cut_off_at_its_deadline),
          TEST_ENTRY(bad_calls_become_error_results_that_the_model_can_read),
          TEST_ENTRY(arguments_that_are_not_json_are_an_error_result),
          TEST_ENTRY(of_four_threads_that_finish_a_call_one_wins),
          TEST_ENTRY(the_memory_of_a_call_is_never_less_than_was_asked_for),
          TEST_ENTRY(a_tool_that_is_done_is_polled_no_more_while_its_result_waits_to_be_read),
          TEST_ENTRY(the_tree_of_arguments_that_were_checked_is_given_back_at_once),
          TEST_ENTRY(a_call_without_memory_tells_the_model_so),
          TEST_ENTRY(a_tool_that_is_not_there_yields_exactly_one_end_that_is_an_error),
          TEST_ENTRY(a_tool_that_fails_says_its_own_words_in_an_error_result_without_details),
          TEST_ENTRY(a_call_that_was_finished_keeps_its_result_and_is_not_told_to_cancel),
          TEST_ENTRY(a_result_given_in_cancel_is_stale),
          TEST_ENTRY(a_step_that_said_done_is_not_called_again_while_its_result_is_in_a_long_inbox),
          TEST_ENTRY(each_polled_call_is_stepped_once_a_step_also_when_the_ring_shrinks),
          TEST_ENTRY(the_mock_answers_in_order_without_usage_and_then_says_that_it_has_no_more),
          TEST_ENTRY(ids_that_repeat_across_turns_are_told_apart),
          TEST_ENTRY(events_of_a_call_have_its_handle_and_updates_need_a_text))
