/* Agents with tools of the mock server over stdin and stdout, in each era. */
#include "mcp/mcp_tools.h"
#include "support/mcp_mock.h"
#include "support/rig.h"

#include <unistd.h>

typedef struct mock_kit {
    rig *rig;
    phi_mcp *mcp;
    phi_agent agent;
    const phi_tool_source *sources[1];
    char warnings[4096];
} mock_kit;

static void mock_event(void *user_data, const phi_mcp_event *event) {
    mock_kit *k = (mock_kit *)user_data;
    size_t len = strlen(k->warnings);
    if (event->kind == PHI_MCP_EV_WARNING)
        (void)snprintf(k->warnings + len, sizeof k->warnings - len, "%.*s\n", (int)event->text.len,
                       event->text.at);
}

/* Steps until the function says so, for a few seconds of the system's clock. */
static bool mock_until(mock_kit *k, bool (*enough)(mock_kit *k)) {
    int i;
    for (i = 0; i < 5000; i++) {
        (void)rig_step(k->rig);
        if (enough(k)) return true;
        rig_pass_ms(k->rig, 1);
        (void)usleep(1000);
    }
    return false;
}

static bool mock_settled(mock_kit *k) { return phi_mcp_state_of(k->mcp) != PHI_MCP_CONNECTING; }

static bool mock_idle(mock_kit *k) { return strstr(rig_story(k->rig), "AgentEnd") != NULL; }

static bool mock_begin(mock_kit *k, const char *era, const char *behaviour) {
    phi_mcp_desc to;
    phi_agent_desc desc = rig_desc();
    memset(k, 0, sizeof *k);
    memset(&to, 0, sizeof to);
    k->rig = rig_new();
    to.argv = mcp_mock_argv(era, behaviour, NULL);
    to.event_fn = mock_event;
    to.user_data = k;
    k->mcp = phi_mcp_connect(rig_runtime(k->rig), &to);
    if (!CHECK(k->mcp != NULL) || !CHECK(mock_until(k, mock_settled))) return false;
    if (!CHECK_EQ_INT(phi_mcp_state_of(k->mcp), PHI_MCP_READY)) return false;
    k->sources[0] = phi_mcp_tools(k->mcp);
    desc.tool_sources = k->sources;
    desc.tool_source_count = 1;
    k->agent = rig_agent(k->rig, &desc);
    return CHECK(k->agent.rt != NULL);
}

/* The result of one call, as the story has it. */
static void mock_calls(mock_kit *k, const char *tool, const char *arguments, const char *want) {
    const char *end;
    rig_forget(k->rig);
    rig_call(k->rig, "c1", tool, arguments);
    rig_says(k->rig, "done");
    CHECK_EQ_INT(phi_prompt(k->agent, "go"), PHI_OK);
    CHECK(mock_until(k, mock_idle));
    end = strstr(rig_story(k->rig), "ToolExecutionEnd");
    if (!CHECK(end != NULL)) return;
    if (strstr(end, want) == NULL) {
        printf("%.*s\nwanted: %s\n", (int)strcspn(end, "\n"), end, want);
        CHECK(strstr(end, want) != NULL);
    }
}

static void mock_end(mock_kit *k) {
    if (k->agent.rt != NULL) CHECK_EQ_INT(phi_agent_free(k->agent), PHI_OK);
    (void)rig_step(k->rig);
    CHECK_EQ_INT(phi_mcp_free(k->mcp), PHI_OK);
    rig_free(k->rig);
}

TEST(an_agent_calls_tools_of_a_process_in_each_era) {
    static const char *const eras[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                       "2024-11-05"};
    size_t i;
    for (i = 0; i < PHI__COUNT(eras); i++) {
        mock_kit k;
        if (mock_begin(&k, eras[i], NULL)) {
            mock_calls(&k, "echo", "{\"text\":\"hello\"}", "hello");
            mock_calls(&k, "add", "{\"a\":3,\"b\":4}", "7");
            mock_calls(&k, "fail", "{}", "error");
            mock_calls(&k, "refuse", "{}", "MCP call failed: JSON-RPC error");
        }
        mock_end(&k);
    }
}

int main(int argc, char **argv) {
    static const test_entry entries[] = {TEST_ENTRY(an_agent_calls_tools_of_a_process_in_each_era)};
    return test_run(argc, argv, entries, 1);
}
