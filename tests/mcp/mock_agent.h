/* mock_agent.h - an agent with the tools of the mock server, over stdin and stdout unless a desc has
   a url. The clock is manual and follows the system's roughly. */
#ifndef PHI_TESTS_MCP_MOCK_AGENT_H
#define PHI_TESTS_MCP_MOCK_AGENT_H

#include "mcp/mcp_tools.h"
#include "support/mcp_mock.h"
#include "support/rig.h"
#include "mcp/mcp_requests_in.h"

#include <unistd.h>

typedef struct mock_kit {
    rig *rig;
    phi_mcp *mcp;
    phi_agent agent;
    const phi_tool_source *sources[1];
    char story[8192]; /* a line an event of the connection, but for its state */
} mock_kit;

static inline void mock_event(void *user_data, const phi_mcp_event *e) {
    static const char *const names[] = {"?",         "state",   "log",     "tools",  "tool",
                                        "resources", "updated", "prompts", "warning"};
    mock_kit *k = (mock_kit *)user_data;
    size_t len = strlen(k->story);
    if (e->kind != PHI_MCP_EV_STATE)
        (void)snprintf(k->story + len, sizeof k->story - len, "%s %.*s %.*s\n", names[e->kind],
                       (int)e->name.len, e->name.at, (int)phi__min(e->text.len, 300), e->text.at);
}

/* Steps until the function says so, for a few seconds of the system's clock. */
static inline bool mock_until(mock_kit *k, bool (*enough)(mock_kit *k)) {
    int i, most = getenv("PHI_SEEDS") != NULL ? 100000 : 5000;
    for (i = 0; i < most; i++) {
        (void)rig_step(k->rig);
        if (enough(k)) return true;
        rig_pass_ms(k->rig, 1);
        (void)usleep(1000);
    }
    return false;
}

static inline bool mock_settled(mock_kit *k) {
    return phi_mcp_get_info(k->mcp).state != PHI_MCP_CONNECTING;
}

static inline bool mock_idle(mock_kit *k) { return strstr(rig_story(k->rig), "AgentEnd") != NULL; }

static inline bool mock_begin(mock_kit *k, const phi_mcp_desc *more, const char *era,
                              const char *behaviour) {
    phi_mcp_desc to;
    phi_agent_desc desc = rig_desc();
    memset(k, 0, sizeof *k);
    memset(&to, 0, sizeof to);
    if (more != NULL) to = *more;
    k->rig = rig_new();
    if (to.url == NULL) to.argv = mcp_mock_argv(era, behaviour, NULL);
    to.event_fn = mock_event;
    to.user_data = k;
    k->mcp = phi_mcp_connect(rig_runtime(k->rig), &to);
    if (!CHECK(k->mcp != NULL) || !CHECK(mock_until(k, mock_settled))) return false;
    if (!CHECK_EQ_INT(phi_mcp_get_info(k->mcp).state, PHI_MCP_READY)) return false;
    k->sources[0] = phi_mcp_tools(k->mcp);
    desc.tool_options.sources = k->sources;
    desc.tool_options.source_count = 1;
    k->agent = rig_agent(k->rig, &desc);
    return CHECK(k->agent.rt != NULL);
}

/* The result of one call, as the story has it. */
static inline void mock_calls(mock_kit *k, const char *tool, const char *arguments,
                              const char *want) {
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

/* The agent is gone, the connection stays. */
static inline void mock_part(mock_kit *k) {
    if (k->agent.rt != NULL) phi_agent_free(k->agent);
    memset(&k->agent, 0, sizeof k->agent);
    (void)rig_step(k->rig);
}

/* No step after mock_part. */
static inline void mock_end(mock_kit *k) {
    if (k->agent.rt != NULL) mock_part(k);
    phi_mcp_free(k->mcp);
    rig_free(k->rig);
}

static inline bool mock_told(mock_kit *k) { return strstr(k->story, "+extra_1") != NULL; }
static inline bool mock_told_change(mock_kit *k) { return strstr(k->story, "~echo") != NULL; }
static inline bool mock_told_loss(mock_kit *k) { return strstr(k->story, "-extra_1") != NULL; }

#endif
