/* Agents with tools of the mock server over stdin and stdout: each era, each kind of result. */
#include "mcp/gets.h"
#include "mcp/mock_agent.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_info.h"
#include "features/failover.h"

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
        rig_careless(k.rig); /* its model takes no audio */
        mock_calls(&k, "audio", "{}", " audio\n");
    }
    mock_end(&k);
}

/* 100 MB with PHI_SEEDS. */
TEST(a_long_result_is_whole_in_a_file_and_cut_for_the_model) {
    bool all = mcp_mock_soaks();
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
        desc.tool_options.sources = k.sources;
        desc.tool_options.source_count = 1;
        desc.tool_options.result_directory = dir;
        desc.tool_options.max_result_bytes = 20000;
        phi_agent_free(k.agent);
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
        CHECK_EQ_INT(mcp_tool_count(k.mcp), 0);
    }
    mock_end(&k);
}

/* ---- with other models ---- */

#define SSE "Content-Type: text/event-stream\r\n"
#define BOOM "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"boom\"}}"
#define CHAT(delta, reason)                                                                        \
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{"     \
    "\"index\":0,\"delta\":{" delta "},\"finish_reason\":" reason "}]}\n\n"
#define CHAT_CALLS_GROW                                                                            \
    CHAT("\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"type\":"         \
         "\"function\",\"function\":{\"name\":\"grow\",\"arguments\":\"{}\"}}]",                   \
         "null")                                                                                   \
    CHAT("", "\"tool_calls\"") "data: [DONE]\n\n"

static bool has(const mock_kit *k, size_t i, const char *text) {
    const char *request = rig_request(k->rig, i);
    return request != NULL && strstr(request, text) != NULL;
}

static bool mock_waits(mock_kit *k) { return rig_started(k->rig) > 0; }

/* The agent's own model fails; one of another protocol calls a tool of the process, by which
   another tool comes; then that model fails, and the last one calls that. */
TEST(the_models_of_a_list_call_tools_of_a_process) {
    mock_kit k;
    if (mock_begin(&k, NULL, "2025-11-25", NULL)) {
        phi_agent_desc desc = rig_desc();
        phi_failover failover;
        phi_failover_model models[2];
        phi_tool tool = rig_wait(k.rig);
        memset(&failover, 0, sizeof failover);
        memset(models, 0, sizeof models);
        models[0].model = phi_model_openai("gpt-4.1-mini", "key-2");
        models[1].model = phi_model_anthropic("m3", "key-3");
        failover.models = models;
        failover.model_count = 2;
        desc.failover = &failover;
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.tool_options.sources = k.sources;
        desc.tool_options.source_count = 1;
        phi_agent_free(k.agent);
        k.agent = rig_agent(k.rig, &desc);
        rig_replies(k.rig, 500, "Content-Type: application/json\r\n", BOOM);
        rig_replies(k.rig, 200, SSE, CHAT_CALLS_GROW);
        rig_replies(k.rig, 500, "Content-Type: application/json\r\n", BOOM);
        rig_call(k.rig, "c2", "wait", "{}"); /* m3, until the list of tools is there */
        rig_call(k.rig, "c3", "extra_1", "{}");
        rig_says(k.rig, "done");
        CHECK_EQ_INT(phi_prompt(k.agent, "go"), PHI_OK);
        REQUIRE(mock_until(&k, mock_waits) && mock_until(&k, mock_told));
        rig_finish(k.rig, 0, "waited");
        CHECK(mock_until(&k, mock_idle));
        CHECK(strstr(rig_story(k.rig), "to \"anthropic/m3\" 2/2") != NULL);
        CHECK(strstr(rig_story(k.rig), "AgentEnd ok") != NULL);
        CHECK_EQ_INT(rig_requests(k.rig), 6);
        CHECK(has(&k, 0, "\"test-model\"") && has(&k, 0, "\"grow\""));
        CHECK(has(&k, 1, "\"gpt-4.1-mini\"") && has(&k, 1, "\"name\":\"grow\""));
        CHECK(has(&k, 3, "\"m3\"") && has(&k, 3, "added extra_1"));
        CHECK(has(&k, 4, "\"name\":\"extra_1\"") && has(&k, 4, "waited"));
        CHECK(has(&k, 5, "extra_1 was called"));
        CHECK_STR(phi_agent_get_info(k.agent).model_id, "test-model");
    }
    mock_end(&k);
}

TEST_MAIN(TEST_ENTRY(an_agent_calls_tools_of_a_process_in_each_era),
          TEST_ENTRY(each_kind_of_content_reaches_the_model),
          TEST_ENTRY(a_long_result_is_whole_in_a_file_and_cut_for_the_model),
          TEST_ENTRY(tools_come_go_and_change_between_the_turns_of_an_agent),
          TEST_ENTRY(a_list_that_no_reader_takes_leaves_a_connection_without_tools),
          TEST_ENTRY(the_models_of_a_list_call_tools_of_a_process))
