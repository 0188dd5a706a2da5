/* Agents with tools of the mock server over stdin and stdout: each era, each kind of result. */
#include "mcp/mock_agent.h"

TEST(an_agent_calls_tools_of_a_process_in_each_era) {
    static const char *const eras[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                       "2024-11-05"};
    size_t i;
    for (i = 0; i < PHI__COUNT(eras); i++) {
        mock_kit k;
        if (mock_begin(&k, NULL, eras[i], NULL)) {
            mock_calls(&k, "echo", "{\"text\":\"hello\"}", "hello");
            mock_calls(&k, "add", "{\"a\":3,\"b\":4}", "7");
            mock_calls(&k, "fail", "{}", "error");
            mock_calls(&k, "refuse", "{}", "MCP call failed: JSON-RPC error");
            mock_calls(&k, "slow", "{}", "slow is done");
            CHECK_EQ_STR(k.story, "");
        }
        mock_end(&k);
    }
}

TEST(each_kind_of_content_reaches_the_model) {
    mock_kit k;
    if (mock_begin(&k, NULL, "2025-11-25", NULL)) {
        mock_calls(&k, "image", "{}", "\"Look:\" image");
        mock_calls(&k, "audio", "{}", "\"[audio, audio/wav, 44 bytes]\"");
        mock_calls(&k, "link", "{}",
                   "\"[resource file:///readme.md, \"readme.md\", text/markdown: The file]\"");
        mock_calls(&k, "embed", "{}", "\"# Mock\n");
        mock_calls(&k, "unknown", "{}",
                   "\"{\"type\":\"hologram\",\"data\":[1,2,3]}\" \"and text\"");
        mock_calls(&k, "weather", "{\"city\":\"Bonn\"}",
                   "\"{\"celsius\": 21.5, \"sky\": \"clear\"}\"");
        mock_calls(&k, "wrong_weather", "{\"city\":\"Bonn\"}",
                   "error \"MCP call failed: the result does not fit the tool's output schema: "
                   "structuredContent.celsius: expected number, got string\"");
        mock_calls(&k, "no_weather", "{}",
                   "error \"MCP call failed: the result does not fit the tool's output schema: the "
                   "tool promises structured content, and there is none\"");
        mock_calls(&k, "bare_weather", "{}", "\"{\"celsius\":3,\"sky\":\"cloudy\"}\"");
        mock_calls(&k, "large", "{\"bytes\":3000000}", "left out");
    }
    mock_end(&k);
}

/* 100 MB with PHI_SEEDS. */
TEST(a_long_result_is_whole_in_a_file_and_cut_for_the_model) {
    bool all = getenv("PHI_SEEDS") != NULL;
    phi_mcp_desc to;
    char dir[300], arguments[60], want[100];
    mock_kit k;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    memset(&to, 0, sizeof to);
    to.max_message_bytes = (size_t)128 << 20;
    (void)snprintf(arguments, sizeof arguments, "{\"bytes\":%s}", all ? "100000000" : "4000000");
    (void)snprintf(want, sizeof want, "the whole result is in %.60s", dir);
    if (mock_begin(&k, &to, "2025-11-25", NULL)) {
        phi_agent_desc desc = rig_desc();
        desc.tool_sources = k.sources;
        desc.tool_source_count = 1;
        desc.result_directory = dir;
        desc.max_result_bytes = 20000;
        CHECK_EQ_INT(phi_agent_free(k.agent), PHI_OK);
        k.agent = rig_agent(k.rig, &desc);
        mock_calls(&k, "large", arguments, want);
    }
    mock_end(&k);
}

TEST(tools_come_go_and_change_between_the_turns_of_an_agent) {
    static const char *const eras[] = {"2026-07-28", "2025-06-18"};
    size_t i;
    for (i = 0; i < PHI__COUNT(eras); i++) {
        mock_kit k;
        if (mock_begin(&k, NULL, eras[i], NULL)) {
            mock_calls(&k, "grow", "{}", "added extra_1");
            CHECK(mock_until(&k, mock_told));
            mock_calls(&k, "extra_1", "{}", "extra_1 was called");
            mock_calls(&k, "change", "{}", "changed");
            CHECK(mock_until(&k, mock_told_change));
            mock_calls(&k, "shrink", "{}", "removed");
            CHECK(mock_until(&k, mock_told_loss));
            CHECK(strstr(k.story, "tool echo {\"name\":\"echo\"") != NULL);
        }
        mock_end(&k);
    }
}

TEST(a_list_that_no_reader_takes_leaves_a_connection_without_tools) {
    mock_kit k;
    if (mock_begin(&k, NULL, "2025-11-25", "hostile")) {
        CHECK_EQ_STR(k.story, "warning  tools/list: the answer is nested too deeply\n");
        CHECK_EQ_INT(phi_mcp_tool_count(k.mcp), 0);
    }
    mock_end(&k);
}

TEST_MAIN(TEST_ENTRY(an_agent_calls_tools_of_a_process_in_each_era),
          TEST_ENTRY(each_kind_of_content_reaches_the_model),
          TEST_ENTRY(a_long_result_is_whole_in_a_file_and_cut_for_the_model),
          TEST_ENTRY(tools_come_go_and_change_between_the_turns_of_an_agent),
          TEST_ENTRY(a_list_that_no_reader_takes_leaves_a_connection_without_tools))
