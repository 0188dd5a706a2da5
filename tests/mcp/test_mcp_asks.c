/* What servers ask: roots, forms, pages and answers of a model, in the eras that have requests of
   the server's and in the one that has input. */
#include "mcp/link.h"
#include "mcp/mcp_asks.h"
#include "mcp/mcp_requests_in.h"
#include "support/heard.h"
#include "agent/agent_info.h"

static const phi__mcp_open_join joins[] = {phi__asks_join};

static uint32_t most_tokens, most_requests = 1000; /* of the next agent */

static phi_agent_desc asked_desc(rig *r) {
    phi_agent_desc desc = rig_desc();
    desc.max_tokens = most_tokens;
    rig_hooks(r, &desc, PHI_HOOK_QUESTION);
    desc.deadlines.decision_ms = 400;
    desc.budget.max_requests = most_requests;
    desc.system_prompt = "secret prompt";
    return desc;
}

/* A connection that is ready in that era, with an agent whose hook is asked. */
static phi_agent begin(link_kit *k, const char *era, uint32_t answers, phi_mcp_desc *given) {
    static const phi_mcp_root root = {"file:///home/ada", "home"};
    phi_mcp_desc desc;
    phi_agent agent;
    phi_agent_desc d;
    memset(&desc, 0, sizeof desc);
    if (given != NULL) desc = *given;
    link_begin(k, NULL);
    d = asked_desc(k->rig);
    agent = rig_agent(k->rig, &d);
    desc.agent = agent;
    desc.answers = answers;
    if (desc.roots == NULL) desc.roots = &root;
    if (desc.root_count == 0) desc.root_count = 1;
    link_answers(k, era, "{}");
    CHECK_EQ_INT(link_connect(k, &desc, joins, 1), PHI_OK);
    link_run(k);
    CHECK_EQ_INT(phi_mcp_get_info(k->mcp).state, PHI_MCP_READY);
    return agent;
}

enum { ALL = PHI_MCP_SAMPLING | PHI_MCP_FORMS | PHI_MCP_URLS };

static void ready(link_kit *k, const char *era) {
    (void)begin(k, era, ALL, NULL);
    (void)link_sent(k);
    (void)link_story(k);
}

static bool sent(link_kit *k, const char *text) {
    const char *all = link_sent(k);
    if (strstr(all, text) != NULL) return true;
    printf("  sent: %s", all);
    return false;
}

static bool told(link_kit *k, const char *text) {
    const char *all = link_story(k);
    if (strstr(all, text) != NULL) return true;
    printf("  told: %s", all);
    return false;
}

#define FORM(members)                                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":\"e1\",\"method\":\"elicitation/create\",\"params\":{"            \
    "\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" members       \
    "},\"required\":[\"name\"]}}}"
#define NAME "\"name\":{\"type\":\"string\"}"

static const char *const legacy[] = {"2025-11-25", "2025-06-18"};

TEST(each_era_is_told_what_it_knows) {
    static const struct {
        const char *era, *text;
    } cases[] = {
        {"2024-11-05", "\"capabilities\":{\"sampling\":{},\"roots\":{\"listChanged\":true}}"},
        {"2025-03-26", "\"capabilities\":{\"sampling\":{},\"roots\":{\"listChanged\":true}}"},
        {"2025-06-18", "\"capabilities\":{\"sampling\":{},\"elicitation\":{},\"roots\":{"
                       "\"listChanged\":true}}"},
        {"2025-11-25", "\"capabilities\":{\"sampling\":{\"tools\":{}},\"elicitation\":{\"form\":{},"
                       "\"url\":{}},\"roots\":{\"listChanged\":true}}"},
        {"2026-07-28", "clientCapabilities\":{\"sampling\":{\"tools\":{}},\"elicitation\":{"
                       "\"form\":{},\"url\":{}},\"roots\":{},\"extensions\":{"
                       "\"io.modelcontextprotocol/tasks\":{}}}"}};
    size_t i;
    for (i = 0; i < 5; i++) {
        phi_mcp_desc desc;
        link_kit k;
        memset(&desc, 0, sizeof desc);
        desc.era = cases[i].era;
        (void)begin(&k, cases[i].era, ALL, &desc);
        if (!CHECK(sent(&k, cases[i].text))) printf("  era %s\n", cases[i].era);
        link_end(&k);
    }
}

TEST(nothing_is_offered_that_the_host_did_not_allow) {
    link_kit k;
    phi_mcp_desc desc;
    memset(&desc, 0, sizeof desc);
    link_begin(&k, NULL);
    link_answers(&k, "2025-06-18", "{}");
    CHECK_EQ_INT(link_connect(&k, &desc, joins, 1), PHI_OK);
    link_run(&k);
    CHECK(sent(&k, "\"capabilities\":{}"));
    link_says(&k, FORM(NAME));
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"roots/list\"}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"sampling/createMessage\",\"params\":{"
                  "\"messages\":[],\"maxTokens\":1}}");
    link_run(&k);
    CHECK_EQ_INT(count_of(link_sent(&k), "\"code\":-32601"), 3);
    CHECK_EQ_INT(phi_mcp_set_roots(k.mcp, NULL, 0), PHI_MISUSE);
    link_end(&k);
}

TEST(a_form_is_filled_in_by_the_host_of_the_agent) {
    size_t i;
    for (i = 0; i < 2; i++) {
        link_kit k;
        ready(&k, legacy[i]);
        rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
        link_says(&k, FORM(NAME));
        link_run(&k);
        CHECK(strstr(rig_story(k.rig),
                     "Decision question elicitation of scripted: Who? {\"type\":\"object\","
                     "\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}") !=
              NULL);
        CHECK_EQ_STR(link_sent(&k), "");
        CHECK_EQ_INT(phi_decide(rig_ticket(k.rig, 0), PHI_ALLOW, "{\"name\":\"Ada\"}"), PHI_OK);
        link_run(&k);
        CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":\"e1\",\"result\":{\"action\":"
                                    "\"accept\",\"content\":{\"name\":\"Ada\"}}}\n");
        link_end(&k);
    }
}

TEST(members_that_are_missing_get_the_defaults_of_the_form) {
    link_kit k;
    ready(&k, "2025-11-25");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    link_says(&k, FORM("\"name\":{\"type\":\"string\",\"default\":\"John\"},"
                       "\"age\":{\"type\":\"integer\",\"default\":30},"
                       "\"score\":{\"type\":\"number\",\"default\":95.5},"
                       "\"status\":{\"type\":\"string\",\"enum\":[\"on\",\"off\"],"
                       "\"default\":\"on\"},"
                       "\"verified\":{\"type\":\"boolean\",\"default\":true},"
                       "\"of\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"a\","
                       "\"title\":\"A\"}]},\"default\":[\"a\"]}"));
    link_run(&k);
    CHECK(sent(&k, "\"content\":{\"name\":\"John\",\"age\":30,\"score\":95.5,\"status\":\"on\","
                   "\"verified\":true,\"of\":[\"a\"]}"));
    /* the host's own values stay */
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, "{\"age\":7}");
    link_says(&k, FORM("\"name\":{\"type\":\"string\",\"default\":\"John\"},"
                       "\"age\":{\"type\":\"integer\",\"default\":30}"));
    link_run(&k);
    CHECK(sent(&k, "\"content\":{\"age\":7,\"name\":\"John\"}"));
    link_end(&k);
}

/* The reply to a form, and what the server gets. */
static void filled(const char *members, const char *reply, const char *action, const char *warned) {
    char text[1500];
    link_kit k;
    ready(&k, "2025-11-25");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, reply);
    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":\"e1\",\"method\":\"elicitation/create\","
                   "\"params\":{\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\","
                   "\"properties\":{%s},\"required\":[\"name\"]}}}",
                   members);
    link_says(&k, text);
    link_run(&k);
    CHECK(sent(&k, action));
    if (warned != NULL)
        CHECK(told(&k, warned));
    else
        CHECK_EQ_STR(link_story(&k), "");
    link_end(&k);
}

TEST(values_that_do_not_fit_the_form_are_not_sent) {
    static const char one_of[] = "\"name\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"#f00\","
                                 "\"title\":\"Red\"},{\"const\":\"#0f0\",\"title\":\"Green\"}]}";
    static const char any_of[] =
        "\"name\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":{\"anyOf\":[{"
        "\"const\":\"a\",\"title\":\"A\"},{\"const\":\"b\",\"title\":\"B\"}]}}";
    static const char titled[] = "\"name\":{\"type\":\"string\",\"enum\":[\"o1\",\"o2\"],"
                                 "\"enumNames\":[\"One\",\"Two\"]}";
    filled(NAME, "{}", "{\"action\":\"cancel\"}",
           "warning: 2 the reply to a form was not sent: form: missing required property");
    filled(NAME, "{\"name\":7}", "{\"action\":\"cancel\"}", "expected string, got number");
    filled(NAME, "Ada", "{\"action\":\"cancel\"}", "the reply to a form was not sent");
    filled(NAME, "[1]", "{\"action\":\"cancel\"}", "expected a JSON object");
    filled(one_of, "{\"name\":\"#0f0\"}", "\"content\":{\"name\":\"#0f0\"}", NULL);
    filled(one_of, "{\"name\":\"Green\"}", "{\"action\":\"cancel\"}", "form.name");
    filled(any_of, "{\"name\":[\"a\",\"b\"]}", "\"content\":{\"name\":[\"a\",\"b\"]}", NULL);
    filled(any_of, "{\"name\":[\"c\"]}", "{\"action\":\"cancel\"}", "form.name");
    filled(any_of, "{\"name\":[]}", "{\"action\":\"cancel\"}", "form.name");
    filled(titled, "{\"name\":\"o2\"}", "\"content\":{\"name\":\"o2\"}", NULL);
    filled(titled, "{\"name\":\"Two\"}", "{\"action\":\"cancel\"}", "form.name");
}

TEST(a_form_is_declined_or_dismissed) {
    static const struct {
        phi_verdict verdict;
        const char *reply, *result;
    } cases[] = {{PHI_DENY, NULL, "{\"action\":\"decline\"}"},
                 {PHI_DENY, "not now", "{\"action\":\"decline\"}"},
                 {PHI_DENY, "cancel", "{\"action\":\"cancel\"}"},
                 {PHI_WAIT, NULL, "{\"action\":\"cancel\"}"}};
    size_t i;
    for (i = 0; i < 4; i++) {
        link_kit k;
        ready(&k, "2025-11-25");
        rig_answers(k.rig, PHI_HOOK_QUESTION, cases[i].verdict, cases[i].reply);
        link_says(&k, FORM(NAME));
        link_run(&k);
        if (cases[i].verdict == PHI_WAIT) link_pass(&k, 500); /* nobody decides */
        CHECK(sent(&k, cases[i].result));
        link_end(&k);
    }
}

TEST(pages_are_opened_by_the_host) {
    static const char page[] =
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"elicitation/create\",\"params\":{\"mode\":"
        "\"url\",\"message\":\"Pay\",\"url\":\"%s\",\"elicitationId\":\"p1\",\"x\":1}}";
    static const char *const bad[] = {"javascript:alert(1)", "file:///etc/passwd", "",
                                      "https://a b/", "HTTPS//x"};
    char text[300];
    size_t i;
    link_kit k;
    ready(&k, "2025-11-25");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    (void)snprintf(text, sizeof text, page, "https://shop.example/pay");
    link_says(&k, text);
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k),
                 "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"action\":\"accept\"}}\n");
    /* told when the next event is */
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/elicitation/complete\","
                  "\"params\":{\"elicitationId\":\"p1\"}}");
    for (i = 0; i < 5; i++) {
        (void)snprintf(text, sizeof text, page, bad[i]);
        link_says(&k, text);
    }
    link_run(&k);
    CHECK_EQ_INT(count_of(link_sent(&k), "\"code\":-32602,\"message\":\"url: expected http:// or "
                                         "https://\""),
                 5);
    CHECK_EQ_STR(link_story(&k), "");
    link_end(&k);
}

TEST(roots_are_answered_at_once_and_changes_are_told) {
    static const phi_mcp_root more[] = {{"file:///a", NULL}, {"file:///b \"c\"", "B"}};
    static const phi_mcp_root bad = {"http://a", NULL};
    link_kit k;
    ready(&k, "2025-06-18");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}");
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"roots\":[{\"uri\":"
                                "\"file:///home/ada\",\"name\":\"home\"}]}}\n");
    CHECK_EQ_INT(phi_mcp_set_roots(k.mcp, &bad, 1), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_mcp_set_roots(k.mcp, more, 2), PHI_OK);
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}\n");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"roots/list\",\"params\":{}}");
    link_run(&k);
    CHECK(sent(&k, "{\"roots\":[{\"uri\":\"file:///a\"},{\"uri\":\"file:///b \\\"c\\\"\",\"name\":"
                   "\"B\"}]}"));
    CHECK_EQ_INT(phi_mcp_set_roots(k.mcp, NULL, 0), PHI_OK);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}");
    link_run(&k);
    CHECK(sent(&k, "\"result\":{\"roots\":[]}"));
    link_end(&k);
}

/* ---- answers of a model ---- */

#define SAMPLE(more)                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"sampling/createMessage\",\"params\":{"        \
    "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Capital?\"}}],"    \
    "\"systemPrompt\":\"Be brief.\",\"maxTokens\":100" more "}}"

TEST(the_agents_own_model_answers_without_the_agents_history) {
    link_kit k;
    ready(&k, "2025-06-18");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_says(k.rig, "Paris");
    link_says(&k, SAMPLE(",\"temperature\":0.5,\"includeContext\":\"allServers\""));
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK(strstr(rig_story(k.rig), "-> question sampling of scripted: Capital? {\"messages\":") !=
          NULL);
    CHECK(strstr(rig_story(k.rig), "AgentStart") == NULL); /* hidden */
    CHECK(strstr(rig_request(k.rig, 0), "Be brief.") != NULL);
    CHECK(strstr(rig_request(k.rig, 0), "secret prompt") == NULL);
    CHECK(strstr(rig_request(k.rig, 0), "\"max_tokens\":100") != NULL);
    CHECK(strstr(rig_request(k.rig, 0), "\"temperature\":0.5") != NULL);
    CHECK_EQ_STR(link_sent(&k),
                 "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"result\":{\"role\":\"assistant\","
                 "\"content\":{\"type\":\"text\",\"text\":\"Paris\"},\"model\":"
                 "\"test-model\",\"stopReason\":\"endTurn\"}}\n");
    link_end(&k);
}

TEST(a_host_may_deny_change_or_write_the_answer) {
    static const struct {
        phi_verdict verdict;
        const char *reply, *sent, *request;
    } cases[] = {
        {PHI_DENY, "no",
         "\"error\":{\"code\":-1,\"message\":\"The user rejected the sampling "
         "request\"}",
         NULL},
        {PHI_DENY, "cancel", "\"code\":-1", NULL},
        {PHI_ALLOW, "Rome", "\"content\":{\"type\":\"text\",\"text\":\"Rome\"}", NULL},
        {PHI_ALLOW, "{\"content\":{\"type\":\"text\",\"text\":\"Oslo\"},\"model\":\"me\"}",
         "\"content\":{\"type\":\"text\",\"text\":\"Oslo\"},\"model\":\"me\",\"stopReason\":"
         "\"endTurn\"",
         NULL},
        {PHI_ALLOW,
         "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Hi\"}}]}",
         "\"text\":\"Paris\"", "\"Hi\""},
        {PHI_WAIT, NULL, "\"error\":{\"code\":-32603,\"message\":\"Nobody has decided\"}", NULL}};
    size_t i;
    for (i = 0; i < 6; i++) {
        link_kit k;
        ready(&k, "2025-11-25");
        rig_answers(k.rig, PHI_HOOK_QUESTION, cases[i].verdict, cases[i].reply);
        rig_says(k.rig, "Paris");
        link_says(&k, SAMPLE(""));
        link_run(&k);
        (void)rig_run(k.rig, 50);
        if (cases[i].verdict == PHI_WAIT) link_pass(&k, 500);
        CHECK(sent(&k, cases[i].sent));
        CHECK_EQ_INT(rig_requests(k.rig), cases[i].request != NULL);
        if (cases[i].request != NULL && rig_requests(k.rig) > 0)
            CHECK(strstr(rig_request(k.rig, 0), cases[i].request) != NULL);
        link_end(&k);
    }
}

#define TOOLS                                                                                      \
    ",\"tools\":[{\"name\":\"weather\",\"description\":\"W\",\"inputSchema\":{\"type\":"           \
    "\"object\",\"properties\":{\"city\":{\"type\":\"string\",\"pattern\":\"x\"}}}}],"             \
    "\"toolChoice\":{\"mode\":\"required\"}"

TEST(a_call_of_the_servers_tool_is_an_answer) {
    link_kit k;
    ready(&k, "2025-11-25");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_call(k.rig, "c1", "weather", "{\"city\":\"Rome\"}");
    link_says(&k, SAMPLE(TOOLS));
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK(sent(&k, "\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"weather\","
                   "\"input\":{\"city\":\"Rome\"}}],\"model\":\"test-model\","
                   "\"stopReason\":\"toolUse\""));
    CHECK_EQ_INT(rig_requests(k.rig), 1);
    CHECK(strstr(rig_request(k.rig, 0), "\"weather\"") != NULL);
    CHECK(strstr(rig_request(k.rig, 0), "\"tool_choice\":{\"type\":\"any\"}") != NULL);
    link_end(&k);
    ready(&k, "2025-06-18"); /* this era has no tools there */
    link_says(&k, SAMPLE(TOOLS));
    link_run(&k);
    CHECK(sent(&k, "\"code\":-32602,\"message\":\"tools are not offered\""));
    link_end(&k);
}

TEST(without_tools_the_answer_is_one_block_whatever_the_model_says) {
    link_kit k;
    ready(&k, "2025-11-25");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_call(k.rig, "c1", "weather", "{}"); /* that nobody offered */
    link_says(&k, SAMPLE(""));
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK(sent(&k, "\"content\":{\"type\":\"text\",\"text\":\"\"},\"model\":\"test-model\","
                   "\"stopReason\":\"endTurn\""));
    link_end(&k);
}

TEST(results_of_the_servers_tools_come_back_in_the_messages) {
    link_kit k;
    ready(&k, "2025-11-25");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_says(k.rig, "Sunny");
    link_says(
        &k,
        "{\"jsonrpc\":\"2.0\",\"id\":\"s1\",\"method\":\"sampling/createMessage\",\"params\":{"
        "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Weather?\"}},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Looking\"},{\"type\":"
        "\"tool_use\",\"id\":\"c1\",\"name\":\"weather\",\"input\":{\"city\":\"Rome\"}},{\"type\":"
        "\"tool_use\",\"id\":\"c2\",\"name\":\"weather\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"toolUseId\":\"c1\","
        "\"content\":[{\"type\":\"text\",\"text\":\"18 C\"}]},{\"type\":\"tool_result\","
        "\"toolUseId\":\"c2\",\"isError\":true,\"content\":[]}]}],\"maxTokens\":50" TOOLS "}}");
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK(sent(&k, "\"content\":{\"type\":\"text\",\"text\":\"Sunny\"}"));
    CHECK(strstr(rig_request(k.rig, 0), "\"tool_use_id\":\"c1\"") != NULL);
    CHECK(strstr(rig_request(k.rig, 0), "18 C") != NULL);
    CHECK(strstr(rig_request(k.rig, 0), "\"is_error\":true") != NULL);
    link_end(&k);
}

TEST(requests_to_a_model_that_make_no_sense_are_refused_with_words) {
    static const char *const bad[][2] = {
        {"\"messages\":7", "messages: expected an array"},
        {"\"messages\":[]", "messages are missing"},
        {"\"messages\":[7]", "messages: a block of content is no object"},
        {"\"messages\":[{\"role\":\"user\",\"content\":[7]}]",
         "messages: a block of content is no object"},
        {"\"messages\":[{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"a\"}}]",
         "messages: the last one is not the user's"},
        {"\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"a\"}}],"
         "\"tools\":[{\"name\":\"a b\",\"inputSchema\":{\"type\":\"object\"}}]",
         "tools[0].name \\\"a b\\\""}};
    size_t i;
    for (i = 0; i < 6; i++) {
        char text[400];
        link_kit k;
        ready(&k, "2025-11-25");
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\","
                       "\"params\":{%s,\"maxTokens\":5}}",
                       bad[i][0]);
        link_says(&k, text);
        link_run(&k);
        CHECK(sent(&k, bad[i][1]));
        CHECK_EQ_INT(rig_requests(k.rig), 0);
        link_end(&k);
    }
}

TEST(a_model_that_fails_is_an_error_without_the_providers_words) {
    link_kit k;
    ready(&k, "2025-11-25");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_replies(k.rig, 500, HEARD_JSON, HEARD_BOOM);
    link_says(&k, SAMPLE(""));
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK(sent(&k, "\"error\":{\"code\":-32603,\"message\":\"the model gave no answer: "));
    link_end(&k);
}

TEST(the_callers_budget_pays) {
    link_kit k;
    phi_agent agent = begin(&k, "2025-11-25", ALL, NULL);
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_says(k.rig, "Paris");
    link_says(&k, SAMPLE(""));
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, 1);
    CHECK(phi_agent_get_info(agent).spending.tokens > 0);
    link_end(&k);
}

/* Hypothesis: a server may have more of the model than the agent itself. */
TEST(the_agents_own_limits_hold_for_a_server) {
    link_kit k;
    phi_agent agent;
    most_tokens = 50;
    most_requests = 1;
    agent = begin(&k, "2025-11-25", ALL, NULL);
    most_tokens = 0;
    most_requests = 1000;
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_says(k.rig, "Paris");
    link_says(&k, SAMPLE(""));
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK(strstr(rig_request(k.rig, 0), "\"max_tokens\":50") != NULL);
    link_says(&k, SAMPLE(""));
    link_run(&k);
    (void)rig_run(k.rig, 50);
    CHECK_EQ_INT(rig_requests(k.rig), 1);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, 1);
    CHECK(sent(&k, "\"error\":{\"code\":-32603,\"message\":\"the model gave no answer: "));
    link_end(&k);
}

/* ---- the era of input ---- */

typedef struct got {
    int times;
    phi_status status;
    char message[160];
} got;

static void got_done(void *user_data, const phi_mcp_reply *reply) {
    got *g = (got *)user_data;
    g->times++;
    g->status = reply->status;
    heard_copy(g->message, sizeof g->message, reply->message);
}

static void ask_modern(link_kit *k, got *g, const char *inputs) {
    char text[1200];
    phi_mcp_send_desc request;
    memset(g, 0, sizeof *g);
    memset(&request, 0, sizeof request);
    request.method = "tools/call";
    request.params = phi_str_of("{\"name\":\"t\"}");
    request.done_fn = got_done;
    request.user_data = g;
    CHECK_EQ_INT(phi_mcp_send(k->mcp, &request, NULL), PHI_OK);
    link_run(k);
    CHECK(sent(k, "\"id\":2,\"method\":\"tools/call\""));
    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"input_required\","
                   "\"inputRequests\":{%s},\"requestState\":\"st\\u00e4te\"}}",
                   inputs);
    link_says(k, text);
    link_run(k);
    (void)rig_run(k->rig, 30);
    link_run(k);
}

TEST(input_of_all_kinds_is_given_with_the_repetition) {
    link_kit k;
    got g;
    ready(&k, "2026-07-28");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, "{\"name\":\"Ada\"}");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, NULL);
    rig_says(k.rig, "Paris");
    ask_modern(&k, &g,
               "\"who\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"Who?\","
               "\"requestedSchema\":{\"type\":\"object\",\"properties\":{" NAME "}}}},"
               "\"what\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{"
               "\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Capital?\"}}],"
               "\"maxTokens\":100}},"
               "\"where\":{\"method\":\"roots/list\",\"params\":{}}");
    {
        const char *out = link_sent(&k);
        CHECK(strstr(out, "\"id\":3,\"method\":\"tools/call\"") != NULL);
        CHECK(strstr(out, "\"who\":{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}") !=
              NULL);
        CHECK(strstr(out,
                     "\"what\":{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":"
                     "\"Paris\"}") != NULL);
        CHECK(strstr(out, "\"where\":{\"roots\":[{\"uri\":\"file:///home/ada\"") != NULL);
        CHECK(strstr(out, "\"requestState\":\"st\xc3\xa4te\"") != NULL);
    }
    CHECK_EQ_INT(g.times, 0);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"complete\"}}");
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_OK);
    link_end(&k);
}

TEST(input_that_is_denied_ends_the_request_of_a_model_and_declines_a_form) {
    link_kit k;
    got g;
    ready(&k, "2026-07-28");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_DENY, NULL);
    ask_modern(&k, &g,
               "\"who\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"Who?\","
               "\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}");
    CHECK(sent(&k, "\"inputResponses\":{\"who\":{\"action\":\"decline\"}}"));
    link_end(&k);
    ready(&k, "2026-07-28");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_DENY, NULL);
    ask_modern(&k, &g,
               "\"what\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{"
               "\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}],"
               "\"maxTokens\":100}}");
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_REFUSED);
    CHECK_EQ_STR(g.message, "The user rejected the sampling request");
    link_end(&k);
}

/* ---- ends in the midst ---- */

/* Hypothesis: what goes away while a question or a model is under way leaves the other side of it. */
TEST(everything_may_go_away_while_a_question_is_under_way) {
    enum { CANCELLED, LINK_DOWN, AGENT_FREED, MCP_FREED, RUNTIME_FREED, ENDS };
    int how, sampling, at;
    for (how = 0; how < ENDS; how++)
        for (sampling = 0; sampling < 2; sampling++)
            for (at = 0; at < 2; at++) { /* 0: the host is asked, 1: the model (or nothing) */
                link_kit k;
                phi_agent agent = begin(&k, "2025-11-25", ALL, NULL);
                if (at == 1 && sampling == 0) {
                    link_end(&k);
                    continue;
                }
                rig_answers(k.rig, PHI_HOOK_QUESTION, at == 0 ? PHI_WAIT : PHI_ALLOW, NULL);
                if (at == 1) rig_hangs(k.rig, "");
                link_says(&k, sampling ? SAMPLE("") : FORM(NAME));
                link_run(&k);
                (void)rig_run(k.rig, 5);
                (void)link_sent(&k);
                CHECK_EQ_INT(phi_pending(k.rt, NULL, 0), at == 0 ? 1 : 0);
                switch (how) {
                case CANCELLED:
                    link_says(
                        &k, sampling ? "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\""
                                       ",\"params\":{\"requestId\":\"s1\"}}"
                                     : "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\""
                                       ",\"params\":{\"requestId\":\"e1\"}}");
                    break;
                case LINK_DOWN: link_down(&k, PHI_NETWORK, true, "gone"); break;
                case AGENT_FREED: phi_agent_free(agent); break;
                case MCP_FREED:
                    phi_mcp_free(k.mcp);
                    k.mcp = NULL;
                    break;
                default: break;
                }
                link_run(&k);
                if (how != RUNTIME_FREED) {
                    CHECK_EQ_INT(phi_pending(k.rt, NULL, 0), 0);
                    CHECK_EQ_INT(rig_open_transfers(k.rig), 0);
                }
                if (how == AGENT_FREED) {
                    if (sampling)
                        CHECK(sent(&k, "\"code\":-32603"));
                    else
                        CHECK(sent(&k, "\"action\":\"cancel\""));
                }
                if (how == CANCELLED) CHECK_EQ_STR(link_sent(&k), "");
                link_end(&k);
            }
}

/* ---- memory ---- */

static bool failing(int fail_at, const char *says, bool model) {
    link_kit k;
    phi_agent agent = begin(&k, "2025-11-25", ALL, NULL);
    bool tripped;
    (void)link_sent(&k);
    if (model) rig_says(k.rig, "Paris");
    rig_answers(k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, model ? NULL : "{\"name\":\"Ada\"}");
    link_says(&k, says);
    test_alloc_fail_at(fail_at);
    link_run(&k);
    (void)rig_run(k.rig, 50);
    link_run(&k);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(phi_pending(k.rt, NULL, 0), 0);
    CHECK_EQ_INT(rig_open_transfers(k.rig), 0);
    CHECK(phi_agent_alive(agent));
    if (!tripped) CHECK(sent(&k, model ? "Paris" : "Ada"));
    link_end(&k);
    return tripped;
}

TEST(every_allocation_of_an_answer_may_fail) {
    int n = 0, m = 0;
    while (failing(n, FORM(NAME), false)) n++;
    while (failing(m, SAMPLE(TOOLS), true)) m++;
    CHECK(n > 10 && m > 30);
}

TEST_MAIN(TEST_ENTRY(each_era_is_told_what_it_knows),
          TEST_ENTRY(nothing_is_offered_that_the_host_did_not_allow),
          TEST_ENTRY(a_form_is_filled_in_by_the_host_of_the_agent),
          TEST_ENTRY(members_that_are_missing_get_the_defaults_of_the_form),
          TEST_ENTRY(values_that_do_not_fit_the_form_are_not_sent),
          TEST_ENTRY(a_form_is_declined_or_dismissed), TEST_ENTRY(pages_are_opened_by_the_host),
          TEST_ENTRY(roots_are_answered_at_once_and_changes_are_told),
          TEST_ENTRY(the_agents_own_model_answers_without_the_agents_history),
          TEST_ENTRY(a_host_may_deny_change_or_write_the_answer),
          TEST_ENTRY(a_call_of_the_servers_tool_is_an_answer),
          TEST_ENTRY(without_tools_the_answer_is_one_block_whatever_the_model_says),
          TEST_ENTRY(results_of_the_servers_tools_come_back_in_the_messages),
          TEST_ENTRY(requests_to_a_model_that_make_no_sense_are_refused_with_words),
          TEST_ENTRY(a_model_that_fails_is_an_error_without_the_providers_words),
          TEST_ENTRY(the_callers_budget_pays), TEST_ENTRY(the_agents_own_limits_hold_for_a_server),
          TEST_ENTRY(input_of_all_kinds_is_given_with_the_repetition),
          TEST_ENTRY(input_that_is_denied_ends_the_request_of_a_model_and_declines_a_form),
          TEST_ENTRY(everything_may_go_away_while_a_question_is_under_way),
          TEST_ENTRY(every_allocation_of_an_answer_may_fail))
