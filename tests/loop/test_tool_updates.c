/* test_tool_updates.c - what a call says before its result: updates, partial results, progress,
   heartbeats. */
#include "support/update.h"
#include "loop/act_tool.h"
#include "record/event_json.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"

TEST(updates_are_events_that_the_model_does_not_see_and_progress_is_for_the_person) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_STR(phi_call_get_info(rig_call_at(r, 0)).id, "c1");
    CHECK_STR(phi_call_get_info(rig_call_at(r, 0)).tool_name, "wait");
    rig_forget(r);
    CHECK_EQ_INT(call_update(rig_call_at(r, 0), "half way"), PHI_OK);
    CHECK_EQ_INT(phi_call_progress(rig_call_at(r, 0), "Nearly there"), PHI_OK);
    rig_finish(r, 0, "whole");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strncmp(rig_story(r),
                  "ToolExecutionUpdate c1 \"half way\"\n"
                  "ProgressMessage c1 \"Nearly there\"\n"
                  "ToolExecutionEnd toolResult c1 \"whole\"\n",
                  strlen("ToolExecutionUpdate c1 \"half way\"\n"
                         "ProgressMessage c1 \"Nearly there\"\n"
                         "ToolExecutionEnd toolResult c1 \"whole\"\n")) == 0);
    CHECK_EQ_INT(call_update(rig_call_at(r, 0), "late"), PHI_STALE);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "whole");
    CHECK(strstr(rig_request(r, 1), "whole") != NULL);
    CHECK(strstr(rig_request(r, 1), "half way") == NULL);
    CHECK(strstr(rig_request(r, 1), "Nearly there") == NULL);
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
    CHECK_EQ_STR(e->message->details.at, "{\"done\":50}"); /* all strings are terminated */
    CHECK_EQ_STR(e->text.at, "half\na picture");
    CHECK_EQ_STR(e->message->content[2].text.at, "a picture");
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
    CHECK_EQ_INT(phi_call_update(b.calls[0], &partial), PHI_OK);
    memset(blocks, 0, sizeof blocks); /* it is copied */
    (void)rig_step(r);
    CHECK_EQ_INT(parts, 1);
    blocks[0].kind = PHI_CONTENT_TOOL_CALL;
    CHECK_EQ_INT(phi_call_update(b.calls[0], &partial), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(
        words, "phi_call_update: content[0].kind: expected text, image, document, audio or opaque");
    finish(&b, 0, "whole");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    partial = half_a_picture(blocks);
    CHECK_EQ_INT(phi_call_update(b.calls[0], &partial), PHI_STALE);
    CHECK_EQ_INT(parts, 1);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 2)->content_count, 1);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "whole");
    rig_free(r);
}

/* How much came, of the string that is long. */
static void count_long(void *user_data, const phi_event *e) {
    size_t *most = (size_t *)user_data;
    if (e->kind != PHI_EV_TOOL_UPDATE || !CHECK(e->message != NULL)) return;
    *most = phi__max(strlen(e->message->details.at), strlen(e->child_loop_id.at));
    *most = phi__max(*most, strlen(e->message->content[1].data.at));
    *most = phi__max(*most, strlen(e->message->content[1].mime_type.at));
}

TEST(long_strings_of_a_partial_result_come_whole) {
    static char words[60001];
    int which;
    memset(words, 'd', sizeof words - 1);
    words[0] = words[sizeof words - 2] = '"'; /* JSON */
    for (which = 0; which < 4; which++) {
        rig *r = rig_new();
        bench_tool b;
        phi_tool tool = wait_tool(&b);
        phi_agent agent = wait_agent(r, &tool, PHI_TOOLS_PARALLEL);
        phi_content blocks[3];
        phi_tool_result partial = half_a_picture(blocks);
        size_t seen = 0;
        if (which == 0) partial.details = words;
        if (which == 1) partial.child_loop_id = words;
        if (which == 2) blocks[1].data = phi_str_of(words);
        if (which == 3) blocks[1].mime_type = phi_str_of(words);
        rig_watch(r, count_long, &seen);
        rig_call(r, "c1", "wait", "{}");
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 10), 1);
        CHECK_EQ_INT(phi_call_update(b.calls[0], &partial), PHI_OK);
        (void)rig_step(r);
        CHECK_EQ_INT(seen, sizeof words - 1);
        finish(&b, 0, "whole");
        CHECK_EQ_INT(rig_run(r, 20), 0);
        rig_free(r);
    }
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
        status = phi_call_update(b.calls[0], &partial);
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
        if (freed == 1) phi_agent_free(agent);
        CHECK_EQ_INT(rig_run_until(r, 5000), 0);
        CHECK((strstr(rig_story(r), "ToolHeartbeat c1 800 ms\n") != NULL) == (freed == 0));
        CHECK(strstr(rig_story(r), "1200 ms") == NULL);
        rig_free(r);
    }
}

TEST(updates_that_nobody_pops_are_refused_and_the_result_still_comes) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_status status = PHI_OK;
    int i;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.memory.event_queue_bytes = 20000;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_silent(r, true);
    for (i = 0; i < 1000 && status == PHI_OK; i++) status = call_update(a.calls[0], "a part of it");
    CHECK_EQ_INT(status, PHI_FULL);
    CHECK_EQ_INT(phi_call_progress(a.calls[0], "nearly"), PHI_FULL);
    CHECK_EQ_INT(give(a.calls[0], "whole"), PHI_OK);
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "whole");
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(updates_are_events_that_the_model_does_not_see_and_progress_is_for_the_person),
          TEST_ENTRY(a_partial_result_carries_blocks_details_and_the_run_of_a_child),
          TEST_ENTRY(long_strings_of_a_partial_result_come_whole),
          TEST_ENTRY(a_partial_result_without_memory_is_refused_and_the_call_goes_on),
          TEST_ENTRY(a_long_call_has_a_heartbeat_until_its_result_comes),
          TEST_ENTRY(a_heartbeat_ends_with_the_deadline_and_with_the_agent),
          TEST_ENTRY(updates_that_nobody_pops_are_refused_and_the_result_still_comes))
