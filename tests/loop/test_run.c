/* test_run.c - the story of a run on the scripted transport: order, texts, limits, cancellation, and
   what happens when memory ends. */
#include "support/rig.h"

/* A tool that answers at once with its arguments. */
static phi_flow echo_x_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = arguments;
    result.content = &content;
    result.content_count = 1;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static phi_tool echo_x_tool(void) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "echo";
    tool.description = "Says it again";
    tool.schema = "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\"}},"
                  "\"required\":[\"x\"]}";
    tool.start = echo_x_start;
    return tool;
}

static phi_agent echo_x_agent(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = echo_x_tool();
    desc.tools = &tool;
    desc.tool_count = 1;
    return rig_agent(r, &desc);
}

TEST(a_prompt_streams_an_answer_and_the_run_ends) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "Hello there");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Hello there\" of \"Hello there\"\n"
                               "MessageEnd assistant \"Hello there\" stop\n"
                               "TurnEnd assistant \"Hello there\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    rig_free(r);
}

TEST(the_same_story_comes_out_of_single_bytes) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_chunk(r, 1);
    rig_says(r, "Hello there");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5000), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Hello there\" of \"Hello there\"\n"
                               "MessageEnd assistant \"Hello there\" stop\n"
                               "TurnEnd assistant \"Hello there\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    rig_free(r);
}

TEST(a_tool_call_runs_and_its_result_goes_back) {
    rig *r = rig_new();
    phi_agent agent = echo_x_agent(r);
    rig_call(r, "toolu_1", "echo", "{\"x\":7}");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "Say 7"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Say 7\"\n"
                               "MessageEnd user \"Say 7\"\n"
                               "MessageStart assistant\n"
                               "ToolCallDelta \"{\"x\":7}\" of \"{\"x\":7}\"\n"
                               "MessageEnd assistant echo({\"x\":7}) toolUse\n"
                               "ToolExecutionStart toolu_1 echo({\"x\":7})\n"
                               "ToolExecutionEnd toolResult toolu_1 \"{\"x\":7}\"\n"
                               "MessageStart toolResult toolu_1 \"{\"x\":7}\"\n"
                               "MessageEnd toolResult toolu_1 \"{\"x\":7}\"\n"
                               "TurnEnd assistant echo({\"x\":7}) toolUse\n"
                               "TurnStart 1\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Seven.\" of \"Seven.\"\n"
                               "MessageEnd assistant \"Seven.\" stop\n"
                               "TurnEnd assistant \"Seven.\" stop\n"
                               "AgentEnd ok, 4 messages\n");
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK(strstr(rig_request(r, 1), "\"tool_result\"") != NULL);
    CHECK(strstr(rig_request(r, 1), "Say 7") != NULL);
    rig_free(r);
}

TEST(the_second_prompt_sends_the_whole_history) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "first answer");
    rig_says(r, "second answer");
    CHECK_EQ_INT(phi_prompt(agent, "first question"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_prompt(agent, "second question"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(rig_requests(r) == 2);
    CHECK(strstr(rig_request(r, 1), "first question") != NULL);
    CHECK(strstr(rig_request(r, 1), "first answer") != NULL);
    CHECK(strstr(rig_request(r, 1), "second question") != NULL);
    CHECK_EQ_INT(phi_message_count(agent), 4);
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

TEST(a_host_that_paused_longer_than_a_deadline_still_gets_what_has_arrived) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "still here");
    rig_chunk(r, strlen(rig_stream_of("still here")) / 3 + 1);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2), 1); /* two thirds, decoded */
    rig_pass_ms(r, 500000);         /* a level loads */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "Error") == NULL);
    CHECK_STR(phi_message_at(agent, 1)->content[0].text, "still here");
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

static int scenario_prompt_with_tool(rig *r, bool *tripped) {
    phi_agent agent = echo_x_agent(r);
    int ends, runs;
    const char *at;
    *tripped = test_alloc_tripped();
    if (agent.rt == NULL) return -1;
    rig_call(r, "toolu_1", "echo", "{\"x\":7}");
    rig_says(r, "Seven.");
    runs = phi_prompt(agent, "Say 7") == PHI_OK ? rig_run(r, 200) : -1;
    *tripped = test_alloc_tripped();
    if (runs < 0) return -2;
    if (runs > 0) return -3;
    for (ends = 0, at = rig_story(r); (at = strstr(at, "AgentEnd")) != NULL; at++) ends++;
    if (ends != 1) return -4;
    /* Whatever was lost, the agent answers the next prompt. */
    test_alloc_fail_at(-1);
    rig_says(r, "Still here.");
    rig_says(r, "Still here.");
    rig_says(r, "Still here.");
    rig_forget(r);
    if (phi_prompt(agent, "Are you there?") != PHI_OK) return -5;
    if (rig_run(r, 200) != 0) return -6;
    if (strstr(rig_story(r), "AgentEnd ok") == NULL) return -7;
    return 0;
}

TEST(a_run_survives_every_failed_allocation) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 5000; n++) {
        rig *r;
        int how = 0;
        test_alloc_fail_at(n);
        r = rig_new();
        tripped = test_alloc_tripped();
        if (r != NULL) how = scenario_prompt_with_tool(r, &tripped);
        test_alloc_fail_at(-1);
        if (!CHECK(how >= -2)) printf("allocation %d: %d\n%s", n, how, rig_story(r));
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 30);
    CHECK(!tripped);
    printf("  %d allocations failed, one after another\n", n - 1);
}

TEST(a_run_survives_memory_that_ends_for_good) {
    int n;
    for (n = 0; n < 400; n++) {
        rig *r;
        int how = 0;
        test_alloc_fail_at(-1);
        r = rig_new();
        REQUIRE(r != NULL);
        {
            phi_agent agent = echo_x_agent(r);
            int ends = 0;
            const char *at;
            rig_call(r, "toolu_1", "echo", "{\"x\":7}");
            rig_says(r, "Seven.");
            test_alloc_fail_from(n);
            if (phi_prompt(agent, "Say 7") == PHI_OK) {
                how = rig_run(r, 200);
                for (at = rig_story(r); (at = strstr(at, "AgentEnd")) != NULL; at++) ends++;
                if (ends != 1) how = -4;
            }
            test_alloc_fail_at(-1);
            if (!CHECK_EQ_INT(how, 0)) printf("from %d:\n%s", n, rig_story(r));
        }
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
}

TEST(a_memory_limit_of_the_agent_is_an_error_event) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char text[8000];
    desc.memory_limit_bytes = 12000;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    rig_says(r, text);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r),
                 "Error no_memory \"Out of memory: the agent's memory_limit_bytes, 12000, are "
                 "used up: this run needs more than the older turns had; raise it\"\n") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd the allocator or a memory limit said no") != NULL);
    rig_free(r);
}

TEST(events_nobody_pops_stop_the_reading_and_nothing_is_lost) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char *body = (char *)calloc(1, 600000);
    size_t at, i;
    phi_event event;
    size_t deltas = 0;
    size_t waiting;
    REQUIRE(body != NULL);
    desc.event_queue_bytes = 20000;
    agent = rig_agent(r, &desc);
    at = (size_t)sprintf(body, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"
                               "data: {\"type\":\"content_block_start\",\"index\":0,"
                               "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
    for (i = 0; i < 4000; i++)
        at += (size_t)sprintf(body + at, "data: {\"type\":\"content_block_delta\",\"index\":0,"
                                         "\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n");
    (void)sprintf(body + at, "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                             "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                             "\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n"
                             "data: {\"type\":\"message_stop\"}\n\n");
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n", body);
    rig_chunk(r, 4096);
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2000), 1);
    waiting = phi_memory_used(rig_runtime(r), NULL);
    CHECK_EQ_INT(rig_run(r, 2000), 1);
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), waiting);
    CHECK(waiting < 400000);
    for (i = 0; i < 100000 && phi_step(rig_runtime(r), 0) > 0; i++, rig_pass_ms(r, 1))
        while (phi_next_event(rig_runtime(r), &event)) deltas += event.kind == PHI_EV_TEXT;
    while (phi_next_event(rig_runtime(r), &event)) deltas += event.kind == PHI_EV_TEXT;
    CHECK_EQ_INT(deltas, 4000);
    CHECK_EQ_INT(phi_message_at(agent, 1)->content[0].text.len, 4000);
    free(body);
    rig_free(r);
}

TEST(the_partial_text_of_events_popped_late_is_still_right) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_event event;
    size_t i = 0;
    static const char *const parts[] = {"one", "onetwo", "onetwothree"};
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n",
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"
                "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
                "\"text\",\"text\":\"\"}}\n\n"
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\"one\"}}\n\n"
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\"two\"}}\n\n"
                "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                "\"text_delta\",\"text\":\"three\"}}\n\n"
                "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                "\"usage\":{\"output_tokens\":5}}\n\n"
                "data: {\"type\":\"message_stop\"}\n\n");
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    while (phi_next_event(rig_runtime(r), &event)) {
        if (event.kind != PHI_EV_TEXT) continue;
        REQUIRE(i < 3);
        CHECK_STR(event.partial, parts[i]);
        CHECK_STR(event.text, parts[i] + (i > 0 ? strlen(parts[i - 1]) : 0));
        CHECK_STR(event.message->content[0].text, "onetwothree");
        i++;
    }
    CHECK_EQ_INT(i, 3);
    rig_free(r);
}

TEST(a_runtime_is_freed_in_the_midst_of_everything) {
    rig *r = rig_new();
    int i;
    for (i = 0; i < 20; i++) {
        phi_agent agent = echo_x_agent(r);
        rig_hangs(r, i % 2 == 0 ? "" : "data: {\"type\":\"message_start\",\"message\":{}}\n\n");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    }
    CHECK_EQ_INT(rig_run(r, 5), 20);
    rig_free(r);
}

TEST(closing_cancels_what_runs_and_then_says_ok) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    int i;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_BUSY);
    for (i = 0; i < 10 && phi_runtime_close(rig_runtime(r)) == PHI_BUSY; i++) (void)rig_step(r);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_OK);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled") != NULL);
    CHECK_EQ_INT(phi_prompt(agent, "more"), PHI_MISUSE);
    rig_free(r);
}

/* A call that is pending, of an agent whose events nobody pops. */
static phi_call silent_call(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_tool wait = rig_wait(r);
    phi_agent agent;
    desc.tools = &wait;
    desc.tool_count = 1;
    desc.event_queue_bytes = SIZE_MAX;
    agent = rig_agent(r, &desc);
    rig_silent(r, true);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 10);
    return rig_call_at(r, 0);
}

static void say_much(phi_call call, size_t times) {
    char text[100];
    memset(text, 'x', sizeof text);
    while (times-- > 0) CHECK_EQ_INT(phi_call_progress(call, text, sizeof text), PHI_OK);
}

static size_t pop_all(rig *r) {
    phi_event event;
    size_t n = 0;
    while (phi_next_event(rig_runtime(r), &event)) n++;
    return n;
}

TEST(what_a_host_left_for_long_is_freed_a_part_in_each_step) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t empty, full, before, after, steps = 0;
    (void)pop_all(r);
    (void)rig_step(r);
    empty = phi_memory_used(rig_runtime(r), NULL);
    say_much(call, 20000);
    (void)rig_step(r); /* in which nothing was popped */
    full = phi_memory_used(rig_runtime(r), NULL);
    CHECK_EQ_INT(pop_all(r), 20000);
    for (before = full; before > empty + 16384 && steps < 100; before = after, steps++) {
        (void)rig_step(r);
        after = phi_memory_used(rig_runtime(r), NULL);
        CHECK(before - after < full / 16);
        CHECK((phi_next_timeout(rig_runtime(r)) == 0) == (steps < 19)); /* who sleeps comes again */
    }
    CHECK_EQ_INT(steps, 20); /* 1,024 in each */
    rig_free(r);
}

TEST(a_host_that_pops_as_much_as_comes_holds_no_more_than_that) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t used = 0, i;
    for (i = 0; i < 8; i++) {
        say_much(call, 5000);
        CHECK(pop_all(r) >= 5000);
        (void)rig_step(r);
        if (i == 1) used = phi_memory_used(rig_runtime(r), NULL);
    }
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), used);
    rig_free(r);
}

TEST(what_is_to_be_freed_makes_room_for_what_comes) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t used;
    say_much(call, 10000);
    (void)rig_step(r);
    CHECK(pop_all(r) >= 10000);
    (void)rig_step(r);
    used = phi_memory_used(rig_runtime(r), NULL);
    say_much(call, 5000);
    CHECK(phi_memory_used(rig_runtime(r), NULL) <= used + 16384);
    rig_free(r);
}

TEST(who_sleeps_in_a_step_frees_all_at_once) {
    rig *r = rig_new();
    phi_call call = silent_call(r);
    size_t empty;
    (void)pop_all(r);
    (void)rig_step(r);
    empty = phi_memory_used(rig_runtime(r), NULL);
    say_much(call, 10000);
    (void)pop_all(r);
    CHECK_EQ_INT(phi_step(rig_runtime(r), 1), 1);
    CHECK(phi_memory_used(rig_runtime(r), NULL) <= empty + 16384);
    rig_free(r);
}

static void hear_turn_usage(void *user_data, const phi_event *e) {
    if (e->kind != PHI_EV_TURN_END) return;
    ++*(size_t *)user_data;
    if (CHECK(e->usage != NULL && e->message != NULL))
        CHECK(e->usage->output > 0 && e->usage->output == e->message->usage.output);
}

TEST(the_end_of_a_turn_tells_its_usage) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t told = 0;
    rig_watch(r, hear_turn_usage, &told);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(told, 1);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_prompt_streams_an_answer_and_the_run_ends),
          TEST_ENTRY(the_same_story_comes_out_of_single_bytes),
          TEST_ENTRY(a_tool_call_runs_and_its_result_goes_back),
          TEST_ENTRY(the_second_prompt_sends_the_whole_history),
          TEST_ENTRY(an_abort_in_mid_stream_keeps_what_came_and_leaves_a_usable_agent),
          TEST_ENTRY(a_host_that_paused_longer_than_a_deadline_still_gets_what_has_arrived),
          TEST_ENTRY(an_abort_of_an_idle_agent_does_nothing),
          TEST_ENTRY(a_run_survives_every_failed_allocation),
          TEST_ENTRY(a_run_survives_memory_that_ends_for_good),
          TEST_ENTRY(a_memory_limit_of_the_agent_is_an_error_event),
          TEST_ENTRY(events_nobody_pops_stop_the_reading_and_nothing_is_lost),
          TEST_ENTRY(the_partial_text_of_events_popped_late_is_still_right),
          TEST_ENTRY(a_runtime_is_freed_in_the_midst_of_everything),
          TEST_ENTRY(closing_cancels_what_runs_and_then_says_ok),
          TEST_ENTRY(what_a_host_left_for_long_is_freed_a_part_in_each_step),
          TEST_ENTRY(a_host_that_pops_as_much_as_comes_holds_no_more_than_that),
          TEST_ENTRY(what_is_to_be_freed_makes_room_for_what_comes),
          TEST_ENTRY(who_sleeps_in_a_step_frees_all_at_once),
          TEST_ENTRY(the_end_of_a_turn_tells_its_usage))
