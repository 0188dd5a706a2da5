/* Calls of a server's tools: progress, errors, ends from every side, memory. */
#include "mcp/tools.h"

#include "agent/snapshot.h"
#include "record/replay.h"
#include "agent/agent_history.h"

/* A call is under way. */
static bool calling(tools_kit *t, const char *era, const phi_mcp_desc *desc) {
    tools_begin(t, era, NULL);
    t->result = NULL;
    if (!CHECK(tools_ready(t, desc))) return false;
    tools_agent(t);
    rig_call(t->k.rig, "c1", "echo", "{\"text\":\"x\"}");
    rig_says(t->k.rig, "done");
    CHECK_EQ_INT(phi_prompt(t->agent, "go"), PHI_OK);
    link_run(&t->k);
    return CHECK_EQ_INT(t->calls, 1);
}

static const char *result_of(tools_kit *t) {
    static char out[2000];
    const char *at = strstr(rig_story(t->k.rig), "ToolExecutionEnd ");
    (void)snprintf(out, sizeof out, "%.*s", at != NULL ? (int)strcspn(at, "\n") : 0,
                   at != NULL ? at : "");
    return out;
}

/* The result of a call whose answer is this. */
static const char *answered(const char *kind, const char *body) {
    tools_kit t;
    const char *out = "";
    if (calling(&t, "2025-06-18", NULL)) {
        tools_answer(&t, t.id, kind, body);
        link_run(&t.k);
        out = result_of(&t);
    }
    tools_end(&t);
    return out;
}

TEST(errors_of_the_protocol_and_of_the_tool_are_error_results) {
    CHECK_EQ_STR(
        answered("error", "{\"code\":-32602,\"message\":\"no such tool\"}"),
        "ToolExecutionEnd toolResult c1 error \"MCP call failed: JSON-RPC error -32602: no "
        "such tool\"");
    CHECK_EQ_STR(answered("result", "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":"
                                    "\"one\"},{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":"
                                    "\"image/jpg\"},{\"type\":\"text\",\"text\":\"two\"}]}"),
                 "ToolExecutionEnd toolResult c1 error \"one");
    CHECK_EQ_STR(answered("result", "{\"content\":[{\"type\":\"image\",\"data\":\"no base64!\","
                                    "\"mimeType\":\"image/png\"}]}"),
                 "ToolExecutionEnd toolResult c1 \"[image, image/png, 6 bytes: it is no base64]\"");
    CHECK_EQ_STR(answered("result", "{}"), "ToolExecutionEnd toolResult c1");
    CHECK_EQ_STR(answered("result", "{\"content\":\"text\",\"structuredContent\":[1]}"),
                 "ToolExecutionEnd toolResult c1 \"[1]\"");
    CHECK(strstr(answered("result", "[]"), "error \"MCP call failed: ") != NULL);
}

/* The first block of a result of one block. */
static void check_block(const char *block, phi_content_kind kind, const char *type,
                        const char *name) {
    char body[400];
    tools_kit t;
    (void)snprintf(body, sizeof body, "{\"content\":[%s]}", block);
    if (calling(&t, "2025-06-18", NULL)) {
        const phi_message *m;
        rig_careless(t.k.rig); /* its model takes no audio */
        tools_answer(&t, t.id, "result", body);
        link_run(&t.k);
        m = phi_thread_message_at(phi_agent_thread(t.agent), 2);
        if (CHECK(m != NULL) && CHECK_EQ_INT(m->content_count, 1)) {
            CHECK_EQ_INT(m->content[0].kind, kind);
            CHECK_STR(m->content[0].mime_type, type);
            CHECK_STR(m->content[0].name, name);
            CHECK_STR(m->content[0].data, "AAAA");
        }
    }
    tools_end(&t);
}

TEST(audio_and_binary_resources_are_blocks_of_their_kind) {
    check_block("{\"type\":\"audio\",\"data\":\"AAAA\",\"mimeType\":\"audio/x-wav\"}",
                PHI_CONTENT_AUDIO, "audio/wav", "");
    check_block("{\"type\":\"audio\",\"data\":\"AAAA\",\"mimeType\":\"Audio/MP3\"}",
                PHI_CONTENT_AUDIO, "audio/mpeg", "");
    check_block("{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a/b.pdf\",\"mimeType\":"
                "\"application/pdf\",\"blob\":\"AAAA\"}}",
                PHI_CONTENT_DOCUMENT, "application/pdf", "b.pdf");
    check_block("{\"type\":\"resource\",\"resource\":{\"uri\":\"mock://\",\"mimeType\":"
                "\"application/pdf\",\"blob\":\"AAAA\"}}",
                PHI_CONTENT_DOCUMENT, "application/pdf", "");
    check_block("{\"type\":\"resource\",\"resource\":{\"uri\":\"a.ogg\",\"mimeType\":"
                "\"audio/ogg\",\"blob\":\"AAAA\"}}",
                PHI_CONTENT_AUDIO, "audio/ogg", "");
}

TEST(audio_and_resources_of_other_types_are_a_line) {
    CHECK_EQ_STR(answered("result", "{\"content\":[{\"type\":\"audio\",\"data\":\"AAAA\","
                                    "\"mimeType\":\"audio/midi\"}]}"),
                 "ToolExecutionEnd toolResult c1 \"[audio, audio/midi, 3 bytes]\"");
    CHECK_EQ_STR(answered("result", "{\"content\":[{\"type\":\"audio\",\"data\":\"?\","
                                    "\"mimeType\":\"audio/wav\"}]}"),
                 "ToolExecutionEnd toolResult c1 \"[audio, audio/wav, 0 bytes: it is no base64]\"");
    CHECK_EQ_STR(answered("result", "{\"content\":[{\"type\":\"audio\",\"data\":\"AAAA\","
                                    "\"mimeType\":\"image/png\"}]}"),
                 "ToolExecutionEnd toolResult c1 \"[audio, image/png, 3 bytes]\"");
    CHECK_EQ_STR(answered("result", "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":"
                                    "\"a.zip\",\"mimeType\":\"application/zip\",\"blob\":"
                                    "\"AAAA\"}}]}"),
                 "ToolExecutionEnd toolResult c1 \"[resource a.zip, application/zip, 3 bytes]\"");
    CHECK_EQ_STR(
        answered("result", "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":"
                           "\"a.pdf\",\"mimeType\":\"application/pdf\",\"blob\":"
                           "\"!\"}}]}"),
        "ToolExecutionEnd toolResult c1 \"[resource a.pdf, application/pdf, 0 bytes: it is "
        "no base64]\"");
}

TEST(progress_is_shown_to_the_person) {
    tools_kit t;
    if (calling(&t, "2025-06-18", NULL)) {
        char text[300];
        const char *const more[] = {"\"total\":4", "\"total\":4,\"message\":\"half\"",
                                    "\"message\":3"};
        size_t i;
        for (i = 0; i < 3; i++) {
            (void)snprintf(text, sizeof text,
                           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                           "\"progressToken\":%s,\"progress\":%u,%s}}",
                           t.id, (unsigned)i + 1, more[i]);
            link_says(&t.k, text);
        }
        link_run(&t.k);
        CHECK(strstr(rig_story(t.k.rig), "\"1 of 4\"") != NULL);
        CHECK(strstr(rig_story(t.k.rig), "\"half\"") != NULL);
        CHECK(strstr(rig_story(t.k.rig), "\"3\"") != NULL);
        tools_result(&t, "{\"content\":[]}");
        link_run(&t.k);
    }
    tools_end(&t);
}

TEST(an_aborted_call_is_cancelled_at_the_server_and_late_answers_are_nothing) {
    static const char *const eras[] = {"2025-06-18", "2026-07-28"};
    size_t i;
    for (i = 0; i < 2; i++) {
        tools_kit t;
        if (calling(&t, eras[i], NULL)) {
            (void)link_sent(&t.k);
            CHECK_EQ_INT(phi_abort(t.agent), PHI_OK);
            link_run(&t.k);
            CHECK(strstr(link_sent(&t.k), "notifications/cancelled") != NULL);
            tools_result(&t, "{\"content\":[]}");
            link_run(&t.k);
            CHECK_EQ_STR(result_of(&t), "ToolExecutionEnd toolResult c1 error \"Cancelled\"");
        }
        tools_end(&t);
    }
}

TEST(a_call_that_somebody_else_finishes_is_cancelled_too) {
    tools_kit t;
    if (calling(&t, "2025-06-18", NULL)) {
        phi_pending_item item;
        (void)link_sent(&t.k);
        if (CHECK_EQ_INT(phi_pending(t.k.rt, &item, 1), 1))
            CHECK_EQ_INT(phi_call_reply(item.call, "mine"), PHI_OK);
        (void)rig_run(t.k.rig, 20);
        CHECK(strstr(link_sent(&t.k), "notifications/cancelled") != NULL);
        CHECK_EQ_STR(result_of(&t), "ToolExecutionEnd toolResult c1 \"mine\"");
    }
    tools_end(&t);
}

TEST(an_agent_may_be_freed_in_mid_call) {
    tools_kit t;
    if (calling(&t, "2025-06-18", NULL)) {
        CHECK(!link_freed(t.k.mcp));
        phi_agent_free(t.agent);
        t.agent.rt = NULL;
        tools_result(&t, "{\"content\":[]}");
        link_run(&t.k);
        CHECK(strstr(link_sent(&t.k), "notifications/cancelled") != NULL);
        CHECK_EQ_INT(phi_mcp_get_info(t.k.mcp).state, PHI_MCP_READY);
    }
    tools_end(&t);
}

TEST(a_server_that_ends_gives_one_error_result_and_the_agent_goes_on) {
    tools_kit t;
    if (calling(&t, "2025-06-18", NULL)) {
        link_down(&t.k, PHI_NETWORK, false, "the process has ended");
        (void)rig_run(t.k.rig, 30);
        CHECK(strstr(result_of(&t), "error \"MCP call failed: ") != NULL);
        CHECK(strstr(result_of(&t), "the process has ended") != NULL);
        CHECK(strstr(rig_story(t.k.rig), "AgentEnd ok, 4 messages") != NULL);
    }
    tools_end(&t);
}

TEST(a_closed_connection_refuses_calls_with_words) {
    tools_kit t;
    tools_begin(&t, "2025-06-18", NULL);
    if (CHECK(tools_ready(&t, NULL))) {
        tools_agent(&t);
        phi_mcp_close(t.k.mcp);
        link_run(&t.k);
        tools_call(&t, "echo", "{\"text\":\"x\"}");
        CHECK_EQ_STR(result_of(&t),
                     "ToolExecutionEnd toolResult c1 error \"MCP call failed: the server is not "
                     "connected\"");
    }
    tools_end(&t);
}

TEST(silence_ends_with_the_connections_deadline) {
    phi_mcp_desc desc;
    tools_kit t;
    memset(&desc, 0, sizeof desc);
    desc.timeout_ms = 5000;
    if (calling(&t, "2025-06-18", &desc)) {
        link_pass(&t.k, 6000);
        (void)rig_run(t.k.rig, 20);
        CHECK(strstr(result_of(&t), "error \"MCP call failed: ") != NULL);
        CHECK(strstr(rig_story(t.k.rig), "AgentEnd ok") != NULL);
    }
    tools_end(&t);
}

static void details_event(void *user_data, const phi_event *event) {
    char *out = (char *)user_data;
    if (event->kind == PHI_EV_TOOL_END && event->message != NULL)
        (void)snprintf(out, 300, "%.*s", (int)event->message->details.len,
                       event->message->details.at);
}

TEST(structured_content_is_kept_in_the_details) {
    char details[300] = "";
    tools_kit t;
    if (calling(&t, "2025-06-18", NULL)) {
        rig_watch(t.k.rig, details_event, details);
        tools_result(&t, "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}],\"structuredContent\":{"
                         "\"a\":1},\"_meta\":{\"b\":2}}");
        link_run(&t.k);
        CHECK_EQ_STR(details, "{\"structuredContent\":{\"a\":1},\"_meta\":{\"b\":2}}");
    }
    tools_end(&t);
    if (calling(&t, "2025-06-18", NULL)) {
        rig_watch(t.k.rig, details_event, details);
        tools_result(&t, "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}");
        link_run(&t.k);
        CHECK_EQ_STR(details, "");
    }
    tools_end(&t);
}

/* How the call of a tool with these annotations ends after a snapshot. */
static void restored(const char *annotations, const char *want, size_t calls) {
    char list[300];
    phi_agent_desc desc;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    tools_kit t;
    (void)snprintf(list, sizeof list, "{\"tools\":[{\"name\":\"echo\",\"annotations\":%s}]}",
                   annotations);
    tools_begin(&t, "2025-06-18", NULL);
    t.list = list;
    t.result = NULL;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK(tools_ready(&t, NULL))) {
        tools_agent(&t);
        rig_call(t.k.rig, "c1", "echo", "{}");
        rig_says(t.k.rig, "done");
        CHECK_EQ_INT(phi_prompt(t.agent, "go"), PHI_OK);
        link_run(&t.k);
        CHECK_EQ_INT(phi_agent_snapshot(t.agent, &arena, &saved), PHI_OK);
        phi_agent_free(t.agent);
        link_run(&t.k);
        desc = tools_desc(&t);
        t.result = "{\"content\":[{\"type\":\"text\",\"text\":\"after all\"}]}";
        t.agent = phi_agent_restore(t.k.rt, &desc, saved, PHI_RESTORE_RESUME);
        CHECK(t.agent.rt != NULL);
        (void)rig_run(t.k.rig, 30);
        CHECK(strstr(result_of(&t), want) != NULL);
        CHECK_EQ_INT(t.calls, calls);
    }
    tools_end(&t);
    phi_arena_free(&arena);
}

TEST(out_of_a_snapshot_calls_are_made_again_where_that_does_no_harm) {
    restored("{\"readOnlyHint\":true}", "\"after all\"", 2);
    restored("{\"idempotentHint\":true}", "\"after all\"", 2);
    restored("{}",
             "error \"MCP call failed: the program was started anew while this call was under "
             "way; whether the server has done it is not known\"",
             1);
}

TEST(arguments_are_checked_before_the_server_sees_them_and_nulls_may_stand_for_nothing) {
    tools_kit t;
    tools_begin(&t, "2025-06-18", NULL);
    t.list = "{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
             "\"text\":{\"type\":\"string\"},\"loud\":{\"type\":\"boolean\"}},\"required\":["
             "\"text\"]}}]}";
    if (CHECK(tools_ready(&t, NULL))) {
        tools_agent(&t);
        tools_call(&t, "echo", "{\"text\":7}");
        CHECK_EQ_STR(result_of(&t), "ToolExecutionEnd toolResult c1 error \"Invalid arguments: "
                                    "arguments.text: expected string, got number\"");
        CHECK_EQ_INT(t.calls, 0);
        (void)link_sent(&t.k);
        tools_call(&t, "echo", "{\"text\":\"x\",\"loud\":null}");
        CHECK(strstr(link_sent(&t.k), "{\"text\":\"x\",\"loud\":null}") != NULL);
        CHECK_EQ_INT(t.calls, 1);
    }
    tools_end(&t);
}

/* ---- tapes ---- */

static char tape_text[1 << 17];
static size_t tape_len;

static phi_status tape_write(void *user_data, const char *bytes, size_t len) {
    (void)user_data;
    if (tape_len + len >= sizeof tape_text) return PHI_FULL;
    memcpy(tape_text + tape_len, bytes, len);
    tape_len += len;
    return PHI_OK;
}

static void taped(phi_tape *tape, char *story, size_t size, size_t *calls) {
    phi_runtime_desc runtime;
    tools_kit t;
    memset(&runtime, 0, sizeof runtime);
    runtime.tape = tape;
    tools_begin(&t, "2025-06-18", &runtime);
    if (CHECK(tools_ready(&t, NULL))) {
        tools_agent(&t);
        tools_call(&t, "echo", "{\"text\":\"x\"}");
        (void)snprintf(story, size, "%s", rig_story(t.k.rig));
        *calls = t.calls;
    }
    tools_end(&t);
}

TEST(a_tape_that_is_played_needs_no_call_of_the_server) {
    static char stories[2][4000];
    phi_parse_error error;
    phi_tape_desc desc;
    phi_tape *tape;
    size_t calls = 0;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.write_fn = tape_write;
    tape_len = 0;
    tape = phi_tape_record(&desc);
    taped(tape, stories[0], sizeof stories[0], &calls);
    CHECK_EQ_INT(calls, 1);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    tape = phi_tape_play(&desc, phi__str(tape_text, tape_len), &error);
    REQUIRE(tape != NULL);
    taped(tape, stories[1], sizeof stories[1], &calls);
    CHECK_EQ_INT(calls, 0);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK_EQ_STR(stories[1], stories[0]);
    CHECK(strstr(stories[0], "\"again\"") != NULL);
}

/* ---- memory ---- */

static void run_whole(const char *era) {
    tools_kit t;
    tools_begin(&t, era, NULL);
    if (t.k.rig == NULL) {
        tools_end(&t);
        return;
    }
    t.pages[0] =
        "{\"tools\":[{\"name\":\"read.file\",\"inputSchema\":{\"type\":\"object\","
        "\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"x\"}}},\"outputSchema\":{"
        "\"type\":\"object\"},\"annotations\":{\"title\":\"T\"}}],\"nextCursor\":\"2\"}";
    t.result =
        "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"resource_link\",\"uri\":"
        "\"u\"},{\"type\":\"odd\"},{\"type\":\"audio\",\"data\":\"AAAA\"}],"
        "\"structuredContent\":{\"a\":1}}";
    if (tools_ready(&t, NULL)) {
        phi_agent_desc desc = tools_desc(&t);
        t.agent = phi_agent_new(t.k.rt, &desc);
        if (t.agent.rt != NULL) {
            rig_call(t.k.rig, "c1", "echo", "{\"text\":\"x\"}");
            rig_says(t.k.rig, "done");
            (void)phi_prompt(t.agent, "go");
            (void)rig_run(t.k.rig, 40);
        }
        link_says(&t.k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
        link_pass(&t.k, 300);
    }
    tools_end(&t);
}

TEST(a_run_with_a_call_survives_every_failed_allocation) {
    static const char *const eras[] = {"2026-07-28", "2025-06-18"};
    size_t i;
    for (i = 0; i < 2; i++) {
        int n = 0;
        bool tripped;
        do {
            test_alloc_fail_at(n++);
            run_whole(eras[i]);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) printf("at %d\n", n - 1);
        } while (tripped && test_failures() == 0);
        CHECK(n > 100);
    }
}

TEST(results_of_many_megabytes_are_cut_by_the_agent) {
    size_t bytes = (size_t)12 << 20;
    char *body = (char *)malloc(bytes + 200);
    tools_kit t;
    int n;
    REQUIRE(body != NULL);
    n = sprintf(body, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    memset(body + n, 'x', bytes);
    (void)sprintf(body + n + bytes, "\"}]}");
    if (calling(&t, "2025-06-18", NULL)) {
        tools_result(&t, body);
        link_steps(&t.k, 250); /* it is read in slices */
        (void)rig_run(t.k.rig, 30);
        CHECK(strstr(rig_story(t.k.rig), "bytes left out") != NULL);
        CHECK(strstr(rig_story(t.k.rig), "AgentEnd ok") != NULL);
    }
    tools_end(&t);
    free(body);
}

TEST_MAIN(
    TEST_ENTRY(errors_of_the_protocol_and_of_the_tool_are_error_results),
    TEST_ENTRY(progress_is_shown_to_the_person),
    TEST_ENTRY(an_aborted_call_is_cancelled_at_the_server_and_late_answers_are_nothing),
    TEST_ENTRY(a_call_that_somebody_else_finishes_is_cancelled_too),
    TEST_ENTRY(an_agent_may_be_freed_in_mid_call),
    TEST_ENTRY(a_server_that_ends_gives_one_error_result_and_the_agent_goes_on),
    TEST_ENTRY(a_closed_connection_refuses_calls_with_words),
    TEST_ENTRY(silence_ends_with_the_connections_deadline),
    TEST_ENTRY(structured_content_is_kept_in_the_details),
    TEST_ENTRY(out_of_a_snapshot_calls_are_made_again_where_that_does_no_harm),
    TEST_ENTRY(arguments_are_checked_before_the_server_sees_them_and_nulls_may_stand_for_nothing),
    TEST_ENTRY(a_tape_that_is_played_needs_no_call_of_the_server),
    TEST_ENTRY(a_run_with_a_call_survives_every_failed_allocation),
    TEST_ENTRY(results_of_many_megabytes_are_cut_by_the_agent),
    TEST_ENTRY(audio_and_binary_resources_are_blocks_of_their_kind),
    TEST_ENTRY(audio_and_resources_of_other_types_are_a_line))
