/* test_mcp_enemy.c - servers that want to break the client, and hosts that free everything at the worst
   moment: over a scripted link, and as child processes. */
#include "mcp/mcp_requests_in.h"
#include "mcp/tools.h"
#include "support/mcp_mock.h"
#include "agent/agent_info.h"

#include <time.h>

/* ---- freed while the link is still at work ---- */

typedef struct freer {
    phi_mcp *mcp;
    int ends;
} freer;

static void frees(void *user_data, const phi_mcp_reply *reply) {
    freer *f = (freer *)user_data;
    (void)reply;
    f->ends++;
    phi_mcp_free(f->mcp);
}

static void counts(void *user_data, const phi_mcp_reply *reply) {
    (void)reply;
    ++*(int *)user_data;
}

static phi_status ask(phi_mcp *mcp, const char *params,
                      void (*done)(void *user_data, const phi_mcp_reply *reply), void *user_data) {
    phi_mcp_send_desc request;
    memset(&request, 0, sizeof request);
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.done_fn = done;
    request.user_data = user_data;
    return phi_mcp_send(mcp, &request, NULL);
}

/* An answer whose line came in pieces, or is too long: the link's buffers outlive the connection. */
static void freed_at(const char *behaviour, const char *params) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_mcp_desc to = PHI_ZERO;
    time_t last = time(NULL) + 20;
    phi_runtime *rt;
    freer f = {NULL, 0};
    desc.allocator = test_allocator();
    rt = phi_runtime_new(&desc);
    to.argv = mcp_mock_argv("2025-06-18", behaviour, NULL);
    to.max_message_bytes = 65536;
    f.mcp = phi_mcp_connect(rt, &to);
    while (phi_mcp_get_info(f.mcp).state == PHI_MCP_CONNECTING && time(NULL) < last)
        (void)phi_step(rt, 20);
    if (CHECK_EQ_INT(ask(f.mcp, params, frees, &f), PHI_OK))
        while (f.ends == 0 && time(NULL) < last) (void)phi_step(rt, 20);
    CHECK_EQ_INT(f.ends, 1);
    phi_runtime_free(rt);
}

TEST(a_connection_may_be_freed_by_an_answer_that_came_in_pieces) {
    freed_at("bytes=20", "{\"name\":\"echo\",\"arguments\":{\"text\":\"a\"}}");
}

TEST(a_connection_may_be_freed_by_an_answer_that_was_too_long) {
    freed_at("bad", "{\"name\":\"huge\",\"arguments\":{\"mb\":1}}");
}

/* ---- batches ---- */

TEST(a_batch_on_the_stream_of_a_request_may_go_on_after_its_answer) {
    static const char batch[] =
        "[{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":\"p\","
        "\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{}}]";
    char text[300];
    int ends = 0;
    tools_kit t;
    tools_begin(&t, "2025-03-26", NULL);
    t.result = NULL;
    if (CHECK(tools_ready(&t, NULL)) &&
        CHECK_EQ_INT(ask(t.k.mcp, "{\"name\":\"echo\"}", counts, &ends), PHI_OK)) {
        unsigned long long id = strtoull(t.id, NULL, 10);
        (void)snprintf(text, sizeof text, batch, id, id);
        (void)link_sent(&t.k);
        CHECK(phi__mcp_message(t.k.mcp, phi_str_of(text), t.k.last));
        CHECK_EQ_INT(ends, 1);
        CHECK(strstr(link_sent(&t.k), "\"id\":\"p\",\"result\":{}") != NULL);
    }
    tools_end(&t);
}

/* ---- two runtimes ---- */

TEST(an_agent_of_another_runtime_is_not_asked) {
    phi_runtime_desc other = PHI_ZERO;
    phi_mcp_desc to;
    phi_runtime *rt;
    const char *words = "";
    tools_kit t;
    memset(&to, 0, sizeof to);
    other.allocator = test_allocator();
    rt = phi_runtime_new(&other);
    tools_begin(&t, "2025-06-18", NULL);
    to.agent.rt = rt;
    to.agent.gen = 1;
    CHECK_EQ_INT(link_connect(&t.k, &to, NULL, 0), PHI_BAD_ARG);
    words = phi_last_error(t.k.rt).message;
    CHECK_EQ_STR(words, "phi_mcp_connect: agent: it belongs to another runtime");
    tools_end(&t);
    phi_runtime_free(rt);
}

/* ---- much of everything ---- */

enum { MANY = 60000 };

/* before, then "k0":each,"k1":each..., then after */
static char *many(const char *before, const char *each, const char *after) {
    char *text = (char *)malloc(MANY * (strlen(each) + 12) + strlen(before) + strlen(after) + 1);
    char *to = text;
    int i;
    if (text == NULL) abort();
    to += sprintf(to, "%s", before);
    for (i = 0; i < MANY; i++) to += sprintf(to, "%s\"k%d\":%s", i > 0 ? "," : "", i, each);
    (void)sprintf(to, "%s", after);
    return text;
}

/* An agent in the midst of a call of "echo"; forms are answered with "{}". */
static bool calling(tools_kit *t, const char *era) {
    static const phi__mcp_open_join joins[] = {phi__mtools_join, phi__asks_join};
    phi_mcp_desc to;
    phi_agent_desc desc;
    memset(&to, 0, sizeof to);
    to.answers = PHI_MCP_FORMS;
    tools_begin(t, era, NULL);
    t->result = NULL;
    CHECK_EQ_INT(link_connect(&t->k, &to, joins, 2), PHI_OK);
    link_run(&t->k);
    if (!CHECK_EQ_INT(phi_mcp_get_info(t->k.mcp).state, PHI_MCP_READY)) return false;
    desc = tools_desc(t);
    rig_hooks(t->k.rig, &desc, PHI_HOOK_QUESTION);
    rig_answers(t->k.rig, PHI_HOOK_QUESTION, PHI_ALLOW, "{}");
    t->agent = rig_agent(t->k.rig, &desc);
    rig_call(t->k.rig, "c1", "echo", "{\"text\":\"x\"}");
    rig_says(t->k.rig, "done");
    CHECK_EQ_INT(phi_prompt(t->agent, "go"), PHI_OK);
    (void)rig_run(t->k.rig, 5);
    (void)link_sent(&t->k);
    return CHECK(t->calls == 1);
}

/* The id of the last request of that method. */
static void asked_id(tools_kit *t, const char *method, char id[24]) {
    const char *at = strstr(t->k.sent, method);
    if (!CHECK(at != NULL)) return;
    while (at > t->k.sent && strncmp(at, "\"id\":", 5) != 0) at--;
    (void)snprintf(id, 24, "%lu", strtoul(at + 5, NULL, 10));
}

TEST(a_task_that_asks_for_thousands_of_things_is_refused_at_once) {
    char *text = many("{\"taskId\":\"t\",\"status\":\"input_required\",\"inputRequests\":{",
                      "{\"method\":\"x\"}", "}}");
    clock_t began = clock();
    char id[24] = "0";
    tools_kit t;
    if (calling(&t, "2026-07-28")) {
        tools_result(&t, "{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":\"working\","
                         "\"pollIntervalMs\":10}");
        link_pass(&t.k, 50);
        asked_id(&t, "tasks/get", id);
        tools_answer(&t, id, "result", text);
        (void)rig_run(t.k.rig, 2000);
        CHECK(strstr(rig_story(t.k.rig), "AgentEnd ok") != NULL);
        CHECK(strstr(rig_story(t.k.rig), "c1 error \"MCP call failed: the server asks for x, which "
                                         "is not offered") != NULL);
    }
    tools_end(&t);
    CHECK((clock() - began) / CLOCKS_PER_SEC < 3);
    free(text);
}

TEST(a_form_with_thousands_of_fields_is_refused) {
    char *text = many("{\"jsonrpc\":\"2.0\",\"id\":\"e\",\"method\":\"elicitation/create\","
                      "\"params\":{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
                      "\"properties\":{",
                      "{\"type\":\"string\",\"default\":\"a\"}", "}}}}");
    clock_t began = clock();
    tools_kit t;
    if (calling(&t, "2025-06-18")) {
        link_says(&t.k, text);
        link_run(&t.k);
        CHECK(strstr(link_sent(&t.k), "requestedSchema: expected at most 1,000 properties") !=
              NULL);
        tools_result(&t, "{\"content\":[]}");
        (void)rig_run(t.k.rig, 50);
        CHECK(strstr(rig_story(t.k.rig), "AgentEnd ok") != NULL);
    }
    tools_end(&t);
    CHECK((clock() - began) / CLOCKS_PER_SEC < 3);
    free(text);
}

/* False: the input was got without a failure. */
static bool input_fails_at(int n) {
    tools_kit t;
    bool tripped = false;
    const char *end;
    if (calling(&t, "2026-07-28")) {
        t.result = "{\"content\":[]}";
        tools_result(&t, "{\"resultType\":\"input_required\",\"requestState\":\"s\","
                         "\"inputRequests\":{\"a\":{\"method\":\"elicitation/create\",\"params\":{"
                         "\"requestedSchema\":{\"type\":\"object\"}}}}}");
        test_alloc_fail_at(n);
        link_run(&t.k);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        (void)rig_run_until(t.k.rig, 60000);
        end = strstr(rig_story(t.k.rig), "ToolExecutionEnd");
        CHECK(end != NULL && strstr(end + 1, "ToolExecutionEnd") == NULL);
        CHECK(!phi_agent_get_info(t.agent).running);
    }
    tools_end(&t);
    return tripped;
}

TEST(every_allocation_of_input_may_fail) {
    int n = 0;
    while (input_fails_at(n) && test_failures() == 0) n++;
    CHECK(n > 20);
    if (test_failures() > 0) printf("at %d\n", n);
}

TEST(questions_of_many_megabytes_are_refused_together) {
    enum { BIG = 60000, QUESTIONS = 60 };
    static char big[BIG + 1], text[BIG + 400];
    static const phi__mcp_open_join joins[] = {phi__asks_join};
    phi_mcp_desc to;
    phi_agent_desc desc;
    size_t refused = 0, i;
    const char *at;
    tools_kit t;
    memset(big, 'd', BIG);
    memset(&to, 0, sizeof to);
    tools_begin(&t, "2025-06-18", NULL);
    desc = rig_desc();
    rig_hooks(t.k.rig, &desc, PHI_HOOK_QUESTION);
    t.agent = rig_agent(t.k.rig, &desc);
    to.agent = t.agent;
    to.answers = PHI_MCP_FORMS;
    to.max_message_bytes = 65536;
    CHECK_EQ_INT(link_connect(&t.k, &to, joins, 1), PHI_OK);
    link_run(&t.k);
    (void)link_sent(&t.k);
    for (i = 0; i < QUESTIONS; i++) {
        rig_answers(t.k.rig, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"elicitation/create\","
                       "\"params\":{\"message\":\"m\",\"requestedSchema\":{\"a\":\"%s\"}}}",
                       (int)i, big);
        link_says(&t.k, text);
        link_steps(&t.k, 2);
    }
    for (at = link_sent(&t.k); (at = strstr(at, "too much is asked at once")) != NULL; at++)
        refused++;
    CHECK(refused > QUESTIONS - 10 && refused < QUESTIONS - 2);
    CHECK(test_alloc_live_bytes() < (size_t)2 << 20);
    tools_end(&t);
}

/* Each page is small enough; all of them are not. Later lists have tools of other names. */
TEST(a_list_without_an_end_takes_no_more_memory_than_a_few_messages) {
    enum { BIG = 60000, PAGES = 60 };
    static char big[BIG + 1];
    static char text[BIG + 400];
    phi_mcp_desc to;
    char id[24] = "0";
    int i, round;
    size_t most = 0;
    tools_kit t;
    memset(big, 'd', BIG);
    memset(&to, 0, sizeof to);
    to.max_message_bytes = 65536;
    tools_begin(&t, "2025-06-18", NULL);
    t.list = NULL;
    (void)tools_ready(&t, &to);
    for (round = 0; round < 4; round++) {
        for (i = 0; i < PAGES && strstr(t.k.sent, "tools/list") != NULL; i++) {
            asked_id(&t, "tools/list", id);
            (void)link_sent(&t.k);
            (void)snprintf(text, sizeof text,
                           "{\"tools\":[{\"name\":\"t%d_%d\",\"description\":\"%s\"}],"
                           "\"nextCursor\":\"%d\"}",
                           round, i, big, i);
            tools_answer(&t, id, "result", text);
            link_run(&t.k);
            if (test_alloc_live_bytes() > most) most = test_alloc_live_bytes();
        }
        CHECK(i > 2 && i < 10);
        CHECK_EQ_INT(phi_mcp_get_info(t.k.mcp).state, PHI_MCP_READY);
        CHECK(strstr(link_story(&t.k), "its list of tools is too long, the rest is left out") !=
              NULL);
        rig_pass_ms(t.k.rig, 1000);
        link_says(&t.k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
        link_run(&t.k);
    }
    CHECK(most < (size_t)2 << 20);
    if (most >= (size_t)2 << 20) printf("%lu bytes\n", (unsigned long)most);
    tools_end(&t);
}

TEST_MAIN(TEST_ENTRY(a_connection_may_be_freed_by_an_answer_that_came_in_pieces),
          TEST_ENTRY(a_connection_may_be_freed_by_an_answer_that_was_too_long),
          TEST_ENTRY(a_batch_on_the_stream_of_a_request_may_go_on_after_its_answer),
          TEST_ENTRY(a_task_that_asks_for_thousands_of_things_is_refused_at_once),
          TEST_ENTRY(a_form_with_thousands_of_fields_is_refused),
          TEST_ENTRY(an_agent_of_another_runtime_is_not_asked),
          TEST_ENTRY(every_allocation_of_input_may_fail),
          TEST_ENTRY(questions_of_many_megabytes_are_refused_together),
          TEST_ENTRY(a_list_without_an_end_takes_no_more_memory_than_a_few_messages))
