/* test_mcp_serve.c - our server over pipes: each era, lists, calls that span frames, resources,
   prompts, and clients that break rules. */
#include "mcp/mcp_serve_state_in.h"
#include "mcp/served.h"

static phi_mcp_server_desc plain(const phi_tool *tools, size_t count) {
    phi_mcp_server_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.name = "game";
    desc.version = "1.2";
    desc.tools = tools;
    desc.tool_count = count;
    return desc;
}

static void echo_server(served *s) {
    phi_tool tool = rig_echo();
    static phi_tool kept;
    phi_mcp_server_desc desc;
    kept = tool;
    desc = plain(&kept, 1);
    served_open(s, &desc);
}

/* ---- eras ---- */

TEST(each_legacy_era_is_agreed_upon) {
    static const char *const eras[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
    size_t i;
    for (i = 0; i < 4; i++) {
        served s;
        echo_server(&s);
        served_begin(&s, eras[i], "{}");
        CHECK(has(s.text, "\"serverInfo\":{\"name\":\"game\",\"version\":\"1.2\"}"));
        CHECK(has(served_ask(&s, legacy(1, "ping", "{}")),
                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
        CHECK(has(served_ask(&s, legacy(2, "tools/list", "{}")), "\"tools\":[{\"name\":\"echo\""));
        CHECK(has(
            served_ask(
                &s, legacy(3, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}")),
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
            "\"{\\\"text\\\":\\\"hi\\\"}\"}],\"isError\":false}}"));
        served_free(&s);
    }
}

TEST(an_unknown_version_gets_the_newest_with_sessions) {
    served s;
    echo_server(&s);
    CHECK(has(served_ask(&s, legacy(1, "initialize", "{\"protocolVersion\":\"1999-01-01\"}")),
              "\"protocolVersion\":\"2025-11-25\""));
    CHECK(has(served_ask(&s, legacy(2, "initialize", "{\"protocolVersion\":\"2026-07-28\"}")),
              "\"protocolVersion\":\"2025-11-25\""));
    served_free(&s);
}

TEST(the_modern_era_needs_no_session) {
    served s;
    const char *line;
    echo_server(&s);
    line = served_ask(&s, modern(1, "server/discover", "", "{}"));
    CHECK(has(line, "\"supportedVersions\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\","
                    "\"2025-03-26\",\"2024-11-05\"]"));
    CHECK(has(line, "\"resultType\":\"complete\""));
    CHECK(has(line, "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"game\""));
    line = served_ask(&s, modern(2, "tools/list", "", "{}"));
    CHECK(has(line, "\"ttlMs\":0,\"cacheScope\":\"private\""));
    line = served_ask(
        &s, modern(3, "tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"},", "{}"));
    CHECK(has(line, "\"id\":3,\"result\":{\"resultType\":\"complete\""));
    CHECK(has(line, "hi"));
    CHECK(has(served_ask(&s, modern(4, "ping", "", "{}")), "-32601"));
    CHECK(has(served_ask(&s, modern(5, "initialize", "", "{}")), "-32601"));
    served_free(&s);
}

TEST(both_eras_are_spoken_at_once) {
    served s;
    echo_server(&s);
    served_begin(&s, "2025-06-18", "{}");
    CHECK(has(served_ask(&s, modern(1, "tools/list", "", "{}")), "resultType"));
    CHECK(strstr(served_ask(&s, legacy(1, "tools/list", "{}")), "resultType") == NULL);
    served_free(&s);
}

TEST(a_modern_request_without_its_meta_is_refused) {
    served s;
    echo_server(&s);
    CHECK(has(served_ask(&s, legacy(7, "server/discover", "{}")),
              "\"id\":7,\"error\":{\"code\":-32602"));
    CHECK(
        has(served_ask(&s, legacy(8, "server/discover",
                                  "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
                                  "\"v999\",\"io.modelcontextprotocol/clientCapabilities\":{}}}")),
            "\"code\":-32022,\"message\":\"Unsupported protocol version\",\"data\":{\"supported\":"
            "[\"2026-07-28\""));
    CHECK(has(s.line, "],\"requested\":\"v999\"}}}"));
    served_free(&s);
}

TEST(one_era_alone_can_be_served) {
    phi_tool tool = rig_echo();
    phi_mcp_server_desc desc = plain(&tool, 1);
    served s;
    desc.era = "2025-06-18";
    served_open(&s, &desc);
    CHECK(has(served_ask(&s, modern(1, "server/discover", "", "{}")), "-32600"));
    CHECK(has(served_ask(&s, legacy(2, "initialize", "{\"protocolVersion\":\"2025-11-25\"}")),
              "\"protocolVersion\":\"2025-06-18\""));
    served_free(&s);
    desc.era = "2026-07-28";
    served_open(&s, &desc);
    CHECK(has(served_ask(&s, legacy(2, "initialize", "{\"protocolVersion\":\"2025-11-25\"}")),
              "\"supported\":[\"2026-07-28\"]"));
    served_free(&s);
}

/* ---- calls ---- */

TEST(a_call_may_span_frames_and_shows_progress) {
    served s;
    rig *r = rig_new();
    phi_tool tool = rig_wait(r);
    phi_mcp_server_desc desc = plain(&tool, 1);
    served_open_with(&s, &desc, r);
    CHECK(s.server != NULL);
    served_begin(&s, "2025-11-25", "{}");
    CHECK_EQ_STR(served_ask(&s, legacy(5, "tools/call",
                                       "{\"name\":\"wait\",\"_meta\":{\"progressToken\":\"p\"}}")),
                 "");
    CHECK_EQ_INT(rig_started(r), 1);
    CHECK_EQ_INT(phi_call_progress(rig_call_at(r, 0), "half"), PHI_OK);
    CHECK_EQ_STR(served_hear(&s),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                 "\"progressToken\":\"p\",\"progress\":0.0,\"message\":\"half\"}}");
    CHECK_EQ_INT(phi_mcp_progress(phi_mcp_incoming_of(rig_call_at(r, 0)), 50, 100, NULL), PHI_OK);
    CHECK(has(served_hear(&s), "\"progress\":50.0,\"total\":100.0}"));
    /* progress never goes back */
    CHECK_EQ_INT(phi_mcp_progress(phi_mcp_incoming_of(rig_call_at(r, 0)), 50, 100, NULL), PHI_OK);
    CHECK(has(served_ask(&s, legacy(6, "ping", "{}")), "\"id\":6"));
    rig_finish(r, 0, "done");
    CHECK(has(served_hear(&s),
              "\"id\":5,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]"));
    CHECK_EQ_STR(rig_story(r), ""); /* the host's events know nothing of it */
    served_free(&s);
}

TEST(a_cancelled_call_has_no_answer) {
    served s;
    rig *r = rig_new();
    phi_tool tool = rig_wait(r);
    phi_mcp_server_desc desc = plain(&tool, 1);
    phi_mcp_incoming incoming;
    served_open_with(&s, &desc, r);
    served_begin(&s, "2025-11-25", "{}");
    CHECK_EQ_STR(served_ask(&s, legacy(5, "tools/call", "{\"name\":\"wait\"}")), "");
    incoming = phi_mcp_incoming_of(rig_call_at(r, 0));
    CHECK(phi__sv_find(incoming) != NULL);
    CHECK_EQ_STR(served_ask(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                                "\"params\":{\"requestId\":5}}"),
                 "");
    CHECK_EQ_INT(rig_cancelled(r), 1);
    CHECK(phi__sv_find(incoming) == NULL);
    CHECK_EQ_INT(phi_mcp_progress(incoming, 1, 2, NULL), PHI_STALE);
    CHECK(has(served_ask(&s, legacy(5, "ping", "{}")), "\"id\":5"));
    served_free(&s);
}

TEST(arguments_are_checked_as_a_model_s) {
    served s;
    phi_tool tool = rig_echo();
    phi_mcp_server_desc desc = plain(&tool, 1);
    tool.schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\n"
                  "\"required\":[\"n\"]}";
    served_open(&s, &desc);
    served_begin(&s, "2025-11-25", "{}");
    CHECK(has(served_ask(&s, legacy(1, "tools/list", "{}")), "\"required\":[\"n\"]}}]"));
    CHECK(has(served_ask(&s, legacy(2, "tools/call", "{\"name\":\"echo\",\"arguments\":{}}")),
              "\"isError\":true"));
    CHECK(has(s.line, "missing required property"));
    CHECK(has(served_ask(&s, legacy(3, "tools/call", "{\"name\":\"echo\",\"arguments\":[1]}")),
              "-32602"));
    CHECK(has(served_ask(&s, legacy(4, "tools/call", "{\"name\":\"nothing\"}")),
              "\"code\":-32602,\"message\":\"Unknown tool: nothing\""));
    served_free(&s);
}

TEST(the_end_of_stdin_ends_it) {
    served s;
    rig *r = rig_new();
    phi_tool tool = rig_wait(r);
    phi_mcp_server_desc desc = plain(&tool, 1);
    served_open_with(&s, &desc, r);
    served_begin(&s, "2025-11-25", "{}");
    CHECK_EQ_STR(served_ask(&s, legacy(5, "tools/call", "{\"name\":\"wait\"}")), "");
    CHECK(!phi_mcp_server_get_info(s.server).ended);
    served_close(&s.to);
    CHECK_EQ_STR(served_hear(&s), "");
    CHECK(!phi_mcp_server_get_info(s.server).ended);
    rig_pass_ms(r, 1999);
    CHECK(!phi_mcp_server_get_info(s.server).ended);
    rig_pass_ms(r, 1);
    CHECK_EQ_STR(served_hear(&s), "");
    CHECK(phi_mcp_server_get_info(s.server).ended);
    CHECK_EQ_STR(phi_mcp_server_get_info(s.server).message, "");
    CHECK_EQ_INT(rig_cancelled(r), 1);
    served_free(&s);
}

TEST(calls_under_way_at_the_end_of_stdin_are_answered) {
    served s;
    rig *r = rig_new();
    phi_tool tool = rig_wait(r);
    phi_mcp_server_desc desc = plain(&tool, 1);
    served_open_with(&s, &desc, r);
    served_begin(&s, "2025-11-25", "{}");
    served_say(&s, modern(9, "subscriptions/listen", "\"notifications\":{},", "{}"));
    CHECK(has(served_hear(&s), "acknowledged")); /* which waits for no end */
    served_say(&s, legacy(5, "tools/call", "{\"name\":\"wait\"}"));
    served_say(&s, legacy(6, "tools/call", "{\"name\":\"wait\"}"));
    CHECK_EQ_STR(served_hear(&s), "");
    served_close(&s.to);
    CHECK_EQ_STR(served_hear(&s), "");
    rig_finish(r, 1, "second");
    CHECK(has(served_hear(&s), "second"));
    CHECK(!phi_mcp_server_get_info(s.server).ended);
    rig_finish(r, 0, "first");
    CHECK(has(served_hear(&s), "first"));
    CHECK_EQ_STR(served_hear(&s), "");
    CHECK(phi_mcp_server_get_info(s.server).ended);
    CHECK_EQ_INT(rig_cancelled(r), 0);
    served_free(&s);
}

TEST_MAIN(TEST_ENTRY(each_legacy_era_is_agreed_upon),
          TEST_ENTRY(an_unknown_version_gets_the_newest_with_sessions),
          TEST_ENTRY(the_modern_era_needs_no_session), TEST_ENTRY(both_eras_are_spoken_at_once),
          TEST_ENTRY(a_modern_request_without_its_meta_is_refused),
          TEST_ENTRY(one_era_alone_can_be_served),
          TEST_ENTRY(calls_under_way_at_the_end_of_stdin_are_answered),
          TEST_ENTRY(a_call_may_span_frames_and_shows_progress),
          TEST_ENTRY(a_cancelled_call_has_no_answer),
          TEST_ENTRY(arguments_are_checked_as_a_model_s), TEST_ENTRY(the_end_of_stdin_ends_it))
