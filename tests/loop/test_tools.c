/* test_tools.c - tool calls: modes, order, deadlines, results from anywhere, and what never happens
   twice. */
#include "support/rig.h"

#include <pthread.h>

typedef struct bench_tool {
    phi_call calls[16];
    size_t started, cancelled, stepped;
    int steps_to_done; /* of step; 0: it stays pending */
    phi_agent *frees;  /* an agent to free inside start */
} bench_tool;

static phi_flow wait_start(void *user_data, phi_call call, phi_str arguments) {
    bench_tool *b = (bench_tool *)user_data;
    (void)arguments;
    b->calls[b->started++ % 16] = call;
    if (b->frees != NULL) {
        char *state = (char *)phi_call_state(call, 32);
        (void)phi_agent_free(*b->frees);
        if (state != NULL)
            state[0] = 'x'; /* a call's memory outlives its agent's freeing inside it */
    }
    return PHI_PENDING;
}

static phi_flow wait_step(void *user_data, phi_call call) {
    bench_tool *b = (bench_tool *)user_data;
    b->stepped++;
    if (b->steps_to_done == 0 || --b->steps_to_done > 0) return PHI_PENDING;
    (void)phi_call_finish(call, "walked", 6, false);
    return PHI_DONE;
}

static void wait_cancel(void *user_data, phi_call call) {
    (void)call;
    ((bench_tool *)user_data)->cancelled++;
}

static phi_tool wait_tool(bench_tool *b) {
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

static phi_agent wait_agent(rig *r, const phi_tool *tool, phi_tool_mode mode) {
    phi_agent_desc desc = rig_desc();
    desc.tools = tool;
    desc.tool_count = 1;
    desc.tool_mode = mode;
    desc.tool_batch = 2;
    return rig_agent(r, &desc);
}

static const char *const three[] = {"c1 wait {}", "c2 wait {}", "c3 wait {}"};

static void finish(bench_tool *b, size_t i, const char *text) {
    CHECK_EQ_INT(phi_call_finish(b->calls[i], text, strlen(text), false), PHI_OK);
}

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
    CHECK_STR(phi_message_at(agent, 2)->tool_call_id, "c1");
    CHECK_STR(phi_message_at(agent, 3)->tool_call_id, "c2");
    CHECK_STR(phi_message_at(agent, 4)->tool_call_id, "c3");
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
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "walked");
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
    CHECK(phi_call_pending(b.calls[0]));
    finish(&b, 0, "one");
    CHECK(!phi_call_pending(b.calls[0]));
    CHECK_EQ_INT(phi_call_finish(b.calls[0], "two", 3, false), PHI_STALE);
    CHECK_EQ_INT(phi_call_result(b.calls[0], &none), PHI_STALE);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_call_finish(b.calls[0], "three", 5, false), PHI_STALE);
    CHECK_EQ_INT(phi_message_count(agent), 4);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "one");
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
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "Tool exceeded timeout of 50ms");
    CHECK(phi_message_at(agent, 2)->is_error);
    CHECK_STR(phi_message_at(agent, 3)->content[0].text, "done");
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
    for (i = 2; i < 5; i++) CHECK_STR(phi_message_at(agent, i)->content[0].text, "Cancelled");
    CHECK(strstr(rig_story(r), "AgentEnd cancelled, 5 messages\n") != NULL);
    CHECK_EQ_INT(phi_call_finish(b.calls[0], "late", 4, false), PHI_STALE);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "Cancelled") != NULL);
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
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, want);
    CHECK(phi_message_at(agent, 2)->is_error);
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
    CHECK(strncmp(phi_message_at(agent, 2)->content[0].text.at, "Invalid arguments: not JSON",
                  27) == 0);
    rig_free(r);
}

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
    CHECK_EQ_INT(phi_agent_free(agent), PHI_STALE);
    CHECK_EQ_INT(b.started, 1);
    CHECK_EQ_INT(b.cancelled, 1);
    CHECK_EQ_INT(phi_call_finish(b.calls[0], "late", 4, false), PHI_STALE);
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
    CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
    CHECK_EQ_INT(b.cancelled, 2); /* the one that was finished is not told */
    CHECK_EQ_INT(rig_run(r, 5), 0);
    rig_free(r);
}

static phi_flow step_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    *(int *)user_data = phi_step(call.rt, 0);
    return PHI_DONE;
}

TEST(a_step_inside_a_callback_is_misuse_and_done_without_a_result_is_empty_text) {
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
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "");
    rig_free(r);
}

static phi_tool_result half_a_picture(phi_content blocks[3]) {
    phi_tool_result partial;
    memset(blocks, 0, 3 * sizeof *blocks);
    memset(&partial, 0, sizeof partial);
    blocks[0].kind = blocks[2].kind = PHI_CONTENT_TEXT;
    blocks[0].text = phi_str_of("half");
    blocks[2].text = phi_str_of("a picture");
    blocks[1].kind = PHI_CONTENT_IMAGE;
    blocks[1].data = phi_str_of("aGFsZg==");
    blocks[1].mime_type = phi_str_of("image/png");
    partial.content = blocks;
    partial.content_count = 3;
    partial.details = "{\"done\":50}";
    partial.child_loop_id = "s.child.1";
    return partial;
}

static size_t parts;

static void look_at_part(void *user_data, const phi_event *e) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str json = {"", 0};
    (void)user_data;
    if (e->kind != PHI_EV_TOOL_UPDATE) return;
    parts++;
    CHECK_STR(e->text, "half\na picture");
    CHECK_STR(e->child_loop_id, "s.child.1");
    REQUIRE(e->message != NULL);
    CHECK_EQ_INT(e->message->content_count, 3);
    CHECK_EQ_INT(e->message->content[1].kind, PHI_CONTENT_IMAGE);
    CHECK_STR(e->message->content[1].mime_type, "image/png");
    CHECK_STR(e->message->details, "{\"done\":50}");
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    CHECK(strstr(json.at, "\"partial_result\":{\"content\":[{\"type\":\"text\",\"text\":\"half\"},"
                          "{\"type\":\"image\",\"data\":\"aGFsZg==\",\"mimeType\":\"image/png\"},"
                          "{\"type\":\"text\",\"text\":\"a picture\"}],\"details\":{\"done\":50},"
                          "\"child_loop_id\":\"s.child.1\"}") != NULL);
    phi_arena_free(&arena);
}

TEST(a_partial_result_carries_blocks_details_and_the_run_of_a_child) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    phi_content blocks[3];
    phi_tool_result partial = half_a_picture(blocks);
    const char *words = NULL;
    rig_watch(r, look_at_part, NULL);
    parts = 0;
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_call_partial(b.calls[0], &partial), PHI_OK);
    memset(blocks, 0, sizeof blocks); /* it is copied */
    (void)rig_step(r);
    CHECK_EQ_INT(parts, 1);
    blocks[0].kind = PHI_CONTENT_TOOL_CALL;
    CHECK_EQ_INT(phi_call_partial(b.calls[0], &partial), PHI_BAD_ARG);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_call_partial: content[0].kind: expected text or image");
    finish(&b, 0, "whole");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    partial = half_a_picture(blocks);
    CHECK_EQ_INT(phi_call_partial(b.calls[0], &partial), PHI_STALE);
    CHECK_EQ_INT(parts, 1);
    CHECK_EQ_INT(phi_message_at(agent, 2)->content_count, 1);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "whole");
    rig_free(r);
}

TEST(a_partial_result_without_memory_is_refused_and_the_call_goes_on) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    phi_content blocks[3];
    phi_tool_result partial = half_a_picture(blocks);
    phi_status status = PHI_NO_MEMORY;
    char *big = (char *)malloc(100001);
    int n;
    REQUIRE(big != NULL);
    memset(big, 'b', 100000);
    big[100000] = '\0';
    blocks[0].text = phi_str_of(big);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    for (n = 0; status == PHI_NO_MEMORY && n < 10; n++) {
        test_alloc_fail_at(n);
        status = phi_call_partial(b.calls[0], &partial);
    }
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(n > 1 && n < 10);
    finish(&b, 0, "whole");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    free(big);
    rig_free(r);
}

TEST(a_long_call_has_a_heartbeat_until_its_result_comes) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent;
    tool.heartbeat_ms = 1000;
    tool.timeout_ms = 10000;
    agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_forget(r);
    (void)rig_run_until(r, 2500);
    CHECK_EQ_STR(rig_story(r), "ToolHeartbeat c1 1000 ms\nToolHeartbeat c1 2000 ms\n");
    finish(&b, 0, "whole");
    CHECK_EQ_INT(rig_run_until(r, 30000), 0);
    CHECK(strstr(rig_story(r), "3000 ms") == NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(a_heartbeat_ends_with_the_deadline_and_with_the_agent) {
    int freed;
    for (freed = 0; freed < 2; freed++) {
        rig *r = rig_new();
        bench_tool b;
        phi_tool tool = wait_tool(&b);
        phi_agent agent;
        tool.heartbeat_ms = 400;
        tool.timeout_ms = 1000;
        agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
        rig_call(r, "c1", "wait", "{}");
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 10), 1);
        rig_forget(r);
        (void)rig_run_until(r, 500);
        CHECK_EQ_STR(rig_story(r), "ToolHeartbeat c1 400 ms\n");
        if (freed == 1) CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
        CHECK_EQ_INT(rig_run_until(r, 5000), 0);
        CHECK((strstr(rig_story(r), "ToolHeartbeat c1 800 ms\n") != NULL) == (freed == 0));
        CHECK(strstr(rig_story(r), "1200 ms") == NULL);
        rig_free(r);
    }
}

TEST(a_result_larger_than_the_inbox_can_hold_says_so_and_the_call_stays_open) {
    rig *r = rig_new();
    bench_tool b;
    phi_tool tool = wait_tool(&b);
    phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
    char *big = (char *)calloc(1, 100000);
    REQUIRE(big != NULL);
    memset(big, 'b', 99999);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_call_finish(b.calls[0], big, 99999, false), PHI_BAD_ARG);
    CHECK(phi_call_pending(b.calls[0]));
    {
        phi_content content;
        phi_tool_result result;
        memset(&content, 0, sizeof content);
        memset(&result, 0, sizeof result);
        content.kind = PHI_CONTENT_TEXT;
        content.text.at = big;
        content.text.len = 99999;
        result.content = &content;
        result.content_count = 1;
        CHECK_EQ_INT(phi_call_result(b.calls[0], &result), PHI_OK);
    }
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_message_at(agent, 2)->content[0].text.len, 99999);
    free(big);
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
        if (phi_call_finish(me->b->calls[i], "won", 3, false) == PHI_OK) me->wins++;
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
    CHECK_EQ_INT(phi_message_count(agent), 6);
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
    CHECK_EQ_INT(phi_message_count(agent), 4);
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
    CHECK(rig_step(r) == 1 && phi_message_count(agent) == 2);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(b.stepped, 5);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "walked");
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
    used = phi_agent_memory_used(agent, NULL);
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
    for (; tripped && n < 3000; n++) {
        rig *r = rig_new();
        phi_tool tool = rig_echo();
        phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
        const phi_message *result;
        rig_call(r, "c1", "echo", "{\"list\":[1,2,3]}");
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        test_alloc_fail_at(n);
        (void)rig_run(r, 40);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        result = phi_message_at(agent, 2);
        if (result != NULL && result->role == PHI_ROLE_TOOL_RESULT && result->is_error) {
            CHECK_STR(result->content[0].text, "Out of memory");
            told++;
        }
        rig_free(r);
    }
    CHECK(told > 0 && n > 20);
}

TEST_MAIN(TEST_ENTRY(parallel_calls_run_at_once_and_results_are_logged_in_call_order),
          TEST_ENTRY(sequential_calls_run_one_after_another),
          TEST_ENTRY(batched_calls_run_two_at_a_time),
          TEST_ENTRY(a_tool_that_is_not_concurrent_runs_alone),
          TEST_ENTRY(a_polled_tool_spans_three_hundred_frames),
          TEST_ENTRY(a_call_has_one_result_however_often_it_is_finished),
          TEST_ENTRY(a_tool_that_never_ends_is_cut_off_at_its_deadline),
          TEST_ENTRY(an_abort_gives_every_call_the_result_cancelled),
          TEST_ENTRY(bad_calls_become_error_results_that_the_model_can_read),
          TEST_ENTRY(arguments_that_are_not_json_are_an_error_result),
          TEST_ENTRY(a_tool_may_free_its_agent),
          TEST_ENTRY(an_agent_freed_with_pending_calls_cancels_them),
          TEST_ENTRY(a_step_inside_a_callback_is_misuse_and_done_without_a_result_is_empty_text),
          TEST_ENTRY(a_partial_result_carries_blocks_details_and_the_run_of_a_child),
          TEST_ENTRY(a_partial_result_without_memory_is_refused_and_the_call_goes_on),
          TEST_ENTRY(a_long_call_has_a_heartbeat_until_its_result_comes),
          TEST_ENTRY(a_heartbeat_ends_with_the_deadline_and_with_the_agent),
          TEST_ENTRY(a_result_larger_than_the_inbox_can_hold_says_so_and_the_call_stays_open),
          TEST_ENTRY(of_four_threads_that_finish_a_call_one_wins),
          TEST_ENTRY(the_memory_of_a_call_is_never_less_than_was_asked_for),
          TEST_ENTRY(a_tool_that_is_done_is_polled_no_more_while_its_result_waits_to_be_read),
          TEST_ENTRY(the_tree_of_arguments_that_were_checked_is_given_back_at_once),
          TEST_ENTRY(a_call_without_memory_tells_the_model_so))
