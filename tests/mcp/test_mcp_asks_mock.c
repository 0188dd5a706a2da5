/* Runs whose tools ask: forms, answers of the model, directories, and all of them in two rounds, with
   the mock server in each era that has them, over stdin and stdout and over HTTP. */
#include "mcp/mcp_asks.h"
#include "mcp/mcp_in.h"
#include "mcp/mock_agent.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "model/event.h"

static phi_verdict answer(void *user_data, phi_hook *hook) {
    (void)user_data;
    if (hook->point != PHI_HOOK_QUESTION) return PHI_ALLOW;
    if (strncmp(hook->question_kind.at, "elicitation", 11) == 0)
        hook->reply = phi_str_of("{\"name\":\"Ada\"}");
    return PHI_ALLOW;
}

static bool begin(mock_kit *k, const char *era) {
    static const phi_mcp_root root = {"file:///home/ada", "home"};
    phi_mcp_desc to;
    phi_agent_desc desc = rig_desc();
    memset(k, 0, sizeof *k);
    memset(&to, 0, sizeof to);
    k->rig = rig_new();
    to.argv = mcp_mock_argv(era, NULL, NULL);
    to.event_fn = mock_event;
    to.user_data = k;
    to.answers = PHI_MCP_FORMS | PHI_MCP_SAMPLING | PHI_MCP_URLS;
    to.roots = &root;
    to.root_count = 1;
    k->mcp = phi_mcp_connect(rig_runtime(k->rig), &to);
    if (!CHECK(k->mcp != NULL) || !CHECK(mock_until(k, mock_settled))) return false;
    if (!CHECK_EQ_INT(phi_mcp_get_info(k->mcp).state, PHI_MCP_READY)) {
        printf("  %s\n", phi_mcp_get_info(k->mcp).message);
        return false;
    }
    k->sources[0] = phi_mcp_tools(k->mcp);
    desc.tool_options.sources = k->sources;
    desc.tool_options.source_count = 1;
    rig_hooks(k->rig, &desc, PHI_HOOK_QUESTION);
    rig_hook_with(k->rig, answer, NULL);
    k->agent = rig_agent(k->rig, &desc);
    return CHECK(k->agent.rt != NULL);
}

/* The tool is called, the model answers "Paris" so often as it is asked, and says "done". */
static void calls(mock_kit *k, const char *tool, int models, const char *want) {
    const char *end;
    rig_forget(k->rig);
    rig_drop_answers(k->rig);
    rig_call(k->rig, "c1", tool, "{}");
    while (models-- > 0) rig_says(k->rig, "Paris");
    rig_says(k->rig, "done");
    CHECK_EQ_INT(phi_prompt(k->agent, "go"), PHI_OK);
    CHECK(mock_until(k, mock_idle));
    end = strstr(rig_story(k->rig), "ToolExecutionEnd");
    if (!CHECK(end != NULL)) return;
    if (!CHECK(strstr(end, want) != NULL))
        printf("%.*s\nwanted: %s\n", (int)strcspn(end, "\n"), end, want);
}

static void asks_all(mock_kit *k, const char *era) {
    bool forms = strcmp(era, "2025-06-18") >= 0;
    if (forms) calls(k, "elicit", 0, "hello name=Ada");
    calls(k, "sample", 1, "the model said Paris");
    calls(k, "roots", 0, "file:///home/ada");
    /* the modern era asks for all of it again in the second round */
    if (forms) calls(k, "several", strcmp(era, "2026-07-28") == 0 ? 2 : 1, "sure: accept");
    CHECK_EQ_STR(k->story, "");
}

static const char *const eras[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                   "2024-11-05"};

TEST(tools_ask_in_each_era_over_stdin_and_stdout) {
    size_t i;
    for (i = 0; i < PHI__COUNT(eras); i++) {
        mock_kit k;
        if (begin(&k, eras[i])) asks_all(&k, eras[i]);
        mock_end(&k);
    }
}

/* ---- over HTTP: the host's own answers, for the network of this runtime is real ---- */

static phi_verdict answer_all(void *user_data, phi_hook *hook) {
    (void)user_data;
    if (strncmp(hook->question_kind.at, "sampling", 8) == 0)
        hook->reply = phi_str_of("Paris");
    else
        hook->reply = phi_str_of("{\"name\":\"Ada\"}");
    return PHI_ALLOW;
}

typedef struct heard {
    int done;
    phi_status status;
    char text[300];
} heard;

static void done(void *user_data, const phi_mcp_reply *reply) {
    heard *h = (heard *)user_data;
    phi_str text = phi_json_str(phi_json_path(reply->result, "content[0].text"), "");
    if (reply->status != PHI_OK) text = reply->message;
    h->done++;
    h->status = reply->status;
    (void)snprintf(h->text, sizeof h->text, "%.*s", (int)text.len, text.at);
}

static void asks_over_http(phi_mcp *mcp, const char *tool, const char *want) {
    phi_mcp_send_desc request;
    char params[80];
    heard h;
    int i;
    memset(&request, 0, sizeof request);
    memset(&h, 0, sizeof h);
    (void)snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":{}}", tool);
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.done_fn = done;
    request.user_data = &h;
    CHECK_EQ_INT(phi_mcp_send(mcp, &request, NULL), PHI_OK);
    for (i = 0; i < 500 && h.done == 0; i++) (void)phi_step(mcp->rt, 20);
    CHECK_EQ_INT(h.done, 1);
    CHECK_EQ_STR(h.text, want);
}

static void session_over_http(const char *era, const char *url) {
    static const phi_mcp_root root = {"file:///home/ada", "home"};
    phi_runtime_desc rt_desc;
    phi_agent_desc agent = rig_desc();
    phi_mcp_desc to;
    phi_runtime *rt;
    phi_mcp *mcp;
    int i;
    memset(&rt_desc, 0, sizeof rt_desc);
    memset(&to, 0, sizeof to);
    rt_desc.allocator = test_allocator();
    rt_desc.features = PHI_ALL_FEATURES;
    rt = phi_runtime_new(&rt_desc);
    agent.hook_fn = answer_all;
    agent.hook_points = PHI_HOOK_QUESTION;
    to.agent = phi_agent_new(rt, &agent);
    to.url = url;
    to.answers = PHI_MCP_FORMS | PHI_MCP_SAMPLING | PHI_MCP_URLS;
    to.roots = &root;
    to.root_count = 1;
    mcp = phi_mcp_connect(rt, &to);
    for (i = 0; i < 500 && phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING; i++)
        (void)phi_step(rt, 20);
    if (CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY)) {
        bool forms = strcmp(era, "2025-06-18") >= 0;
        if (forms) asks_over_http(mcp, "elicit", "hello name=Ada");
        asks_over_http(mcp, "sample", "the model said Paris");
        asks_over_http(mcp, "roots", "file:///home/ada");
        if (forms) asks_over_http(mcp, "several", "sure: accept");
    }
    phi_mcp_free(mcp);
    phi_runtime_free(rt);
}

TEST(tools_ask_in_each_era_over_http) {
    size_t i;
    for (i = 0; i < PHI__COUNT(eras); i++) {
        char *problems;
        bool old = strcmp(eras[i], "2024-11-05") == 0;
        session_over_http(eras[i], old ? mcp_mock_sse_url(NULL) : mcp_mock_url(eras[i], NULL));
        problems = mcp_mock_problems();
        if (!CHECK_EQ_STR(problems, "[]")) printf("  %s\n", eras[i]);
        free(problems);
    }
}

TEST(an_abort_ends_a_question_and_the_agent_goes_on) {
    mock_kit k;
    phi_pending_item item;
    int i;
    if (begin(&k, "2025-11-25")) {
        rig_hook_with(k.rig, NULL, NULL);
        rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
        rig_call(k.rig, "c1", "elicit", "{}");
        CHECK_EQ_INT(phi_prompt(k.agent, "go"), PHI_OK);
        for (i = 0;
             i < 3000 && (item = phi_agent_get_info(k.agent).waiting).kind != PHI_WAITING_DECISION;
             i++) {
            (void)rig_step(k.rig);
            rig_pass_ms(k.rig, 1);
            (void)usleep(1000);
        }
        CHECK_STR(item.tool_name, "elicit");
        CHECK_EQ_INT(phi_abort(k.agent), PHI_OK);
        CHECK(mock_until(&k, mock_idle));
        CHECK_EQ_INT(phi_pending(rig_runtime(k.rig), NULL, 0), 0);
        CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, "{}"), PHI_STALE);
        rig_hook_with(k.rig, answer, NULL);
        calls(&k, "elicit", 0, "hello name=Ada");
    }
    mock_end(&k);
}

MCP_MOCK_MAIN(TEST_ENTRY(tools_ask_in_each_era_over_stdin_and_stdout),
              TEST_ENTRY(tools_ask_in_each_era_over_http),
              TEST_ENTRY(an_abort_ends_a_question_and_the_agent_goes_on))
