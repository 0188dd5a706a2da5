/* Calls that a server answers with a task, over a scripted link: polled, asked, ended, cancelled. */
#include "mcp/tools.h"

typedef struct got {
    int times;
    phi_status status;
    int code;
    char text[256], progress[64];
} got;

static void got_done(void *ctx, const phi_mcp_reply *reply) {
    got *g = (got *)ctx;
    phi_str text = reply->message;
    if (reply->result != NULL) text = phi_json_str(phi_json_get(reply->result, "text"), "?");
    g->times++;
    g->status = reply->status;
    g->code = reply->code;
    (void)snprintf(g->text, sizeof g->text, "%.*s", (int)text.len, text.at);
}

static void got_progress(void *ctx, double progress, double total, phi_str message) {
    got *g = (got *)ctx;
    (void)snprintf(g->progress, sizeof g->progress, "%g/%g %.*s", progress, total, (int)message.len,
                   message.at);
}

static uint64_t last_ask;
static phi_agent last_agent;

static bool part_asked(phi_mcp *mcp, void *part, phi_str method, const phi_json *params,
                       phi_call call, phi_agent agent, uint64_t ask) {
    (void)mcp;
    (void)part;
    (void)params;
    (void)call;
    if (!phi__str_is(method, "x")) return false;
    last_ask = ask;
    last_agent = agent;
    return true;
}

static phi_status part_join(phi_mcp *mcp) {
    static const phi__mcp_part table = {NULL, NULL, NULL, part_asked, NULL, NULL, NULL, NULL};
    phi__mcp_join(mcp, &table, NULL);
    return PHI_OK;
}

/* A call under way, answered by a task that is looked at every 100 ms. */
static void start(link_kit *k, got *g, bool modern, phi__req **out) {
    static const phi__mcp_open_join joins[] = {part_join};
    phi__req_desc desc;
    const char *sent;
    memset(g, 0, sizeof *g);
    last_ask = 0;
    link_begin(k, NULL);
    link_answers(k, modern ? "2026-07-28" : "2025-11-25",
                 modern ? "{}"
                        : "{\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}}");
    CHECK_EQ_INT(link_connect(k, NULL, joins, 1), PHI_OK);
    link_run(k);
    (void)link_sent(k);
    memset(&desc, 0, sizeof desc);
    desc.method = "tools/call";
    desc.params = phi_str_of("{\"name\":\"t\"}");
    desc.task = true;
    desc.progress = got_progress;
    desc.done = got_done;
    desc.ctx = g;
    desc.agent.rt = k->rt;
    desc.agent.index = 7;
    CHECK_EQ_INT(phi__mcp_send(k->mcp, &desc, out), PHI_OK);
    sent = link_sent(k);
    CHECK(modern == (strstr(sent, "\"task\":{\"ttl\":600000}") == NULL));
    link_says(k, modern ? "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"task\","
                          "\"taskId\":\"t\\n1\",\"status\":\"working\",\"pollIntervalMs\":100}}"
                        : "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"task\":{"
                          "\"taskId\":\"t\\n1\",\"status\":\"working\",\"pollInterval\":100}}}");
    link_run(k);
    CHECK_EQ_STR(link_sent(k), "");
    CHECK_EQ_INT(g->times, 0);
}

/* The next request about the task has this method; its answer is that. Ids count on. */
static void exchange(link_kit *k, int id, const char *method, const char *answer) {
    char want[120], text[500];
    const char *sent;
    link_pass(k, 110);
    (void)snprintf(
        want, sizeof want,
        "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{\"taskId\":\"t\\n1\"", id,
        method);
    sent = link_sent(k);
    if (!CHECK(strncmp(sent, want, strlen(want)) == 0)) printf("sent %s\nwant %s\n", sent, want);
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,%s}", id, answer);
    link_says(k, text);
    link_run(k);
}

TEST(a_task_of_2025_is_polled_and_its_result_fetched) {
    link_kit k;
    got g;
    start(&k, &g, false, NULL);
    exchange(&k, 4, "tasks/get",
             "\"result\":{\"taskId\":\"t\\n1\",\"status\":\"working\",\"pollInterval\":100,"
             "\"statusMessage\":\"half\"}");
    CHECK_EQ_STR(g.progress, "1/0 half");
    exchange(&k, 5, "tasks/get",
             "\"result\":{\"taskId\":\"t\\n1\",\"status\":\"completed\",\"pollInterval\":100}");
    CHECK_EQ_INT(g.times, 0);
    exchange(&k, 6, "tasks/result", "\"result\":{\"text\":\"done\"}");
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_OK);
    CHECK_EQ_STR(g.text, "done");
    link_pass(&k, 1000);
    CHECK_EQ_STR(link_sent(&k), "");
    link_end(&k);
}

TEST(a_task_of_2025_that_wants_input_is_waited_for_and_its_questions_answered) {
    link_kit k;
    got g;
    start(&k, &g, false, NULL);
    exchange(&k, 4, "tasks/get", "\"result\":{\"status\":\"input_required\"}");
    CHECK(strstr(link_sent(&k), "tasks/result") != NULL);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}");
    link_run(&k);
    CHECK_EQ_INT(last_agent.index, 7); /* the host of the agent, though two requests are its */
    link_pass(&k, 700000);             /* a person thinks */
    CHECK_EQ_STR(link_sent(&k), "");
    phi__mcp_answer(k.mcp, last_ask, phi_str_of("{\"a\":1}"), 0, NULL);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-7,\"message\":\"no\"}}");
    link_run(&k);
    CHECK_EQ_INT(g.status, PHI_REFUSED);
    CHECK_EQ_INT(g.code, -7);
    link_end(&k);
}

TEST(a_task_of_the_extension_carries_its_result) {
    link_kit k;
    got g;
    start(&k, &g, true, NULL);
    exchange(&k, 3, "tasks/get",
             "\"result\":{\"resultType\":\"complete\",\"status\":\"working\","
             "\"pollIntervalMs\":100}");
    exchange(&k, 4, "tasks/get",
             "\"result\":{\"status\":\"completed\",\"result\":{\"text\":\"there\"}}");
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_STR(g.text, "there");
    link_end(&k);
}

TEST(input_of_a_task_of_the_extension_is_asked_for_once_and_sent_by_an_update) {
    static const char wants[] = "\"result\":{\"status\":\"input_required\",\"pollIntervalMs\":100,"
                                "\"inputRequests\":{\"k\":{\"method\":\"x\"}}}";
    link_kit k;
    got g;
    start(&k, &g, true, NULL);
    exchange(&k, 3, "tasks/get", wants);
    link_pass(&k, 700000); /* a person thinks */
    CHECK_EQ_STR(link_sent(&k), "");
    CHECK_EQ_INT(g.times, 0);
    phi__mcp_answer(k.mcp, last_ask, phi_str_of("{\"v\":1}"), 0, NULL);
    link_run(&k);
    CHECK(strstr(link_sent(&k), "\"id\":4,\"method\":\"tasks/update\",\"params\":{\"taskId\":"
                                "\"t\\n1\",\"inputResponses\":{\"k\":{\"v\":1}}") != NULL);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
    link_run(&k);
    last_ask = 0;
    exchange(&k, 5, "tasks/get", wants); /* it has not seen the answer yet */
    CHECK_EQ_INT(last_ask, 0);
    exchange(&k, 6, "tasks/get",
             "\"result\":{\"status\":\"failed\",\"error\":{\"code\":-5,\"message\":\"bad\"}}");
    CHECK_EQ_INT(g.status, PHI_REFUSED);
    CHECK_EQ_INT(g.code, -5);
    CHECK_EQ_STR(g.text, "bad");
    link_end(&k);
}

static void ends(const char *answer, phi_status status, const char *text, bool cancelled) {
    link_kit k;
    got g;
    start(&k, &g, true, NULL);
    exchange(&k, 3, "tasks/get", answer);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, status);
    CHECK_EQ_STR(g.text, text);
    CHECK(cancelled == (strstr(link_sent(&k), "tasks/cancel") != NULL));
    link_end(&k);
}

TEST(odd_ends_of_a_task_are_told_with_words) {
    ends("\"result\":{\"status\":\"cancelled\"}", PHI_CANCELLED,
         "the server has cancelled the task", false);
    ends("\"result\":{\"status\":\"completed\"}", PHI_PARSE,
         "a task that is completed without a result", false);
    ends("\"result\":{\"status\":\"odd\"}", PHI_PARSE,
         "a task in the state \"odd\", which is unknown", true);
    ends("\"error\":{\"code\":-32602,\"message\":\"no such task\"}", PHI_REFUSED, "no such task",
         true);
    ends("\"result\":{\"status\":\"input_required\",\"inputRequests\":{\"k\":{\"method\":\"y\"}}}",
         PHI_REFUSED, "the server asks for y, which is not offered", true);
}

TEST(a_task_that_nobody_waits_for_is_cancelled_at_the_server) {
    int modern, late;
    for (modern = 0; modern < 2; modern++)
        for (late = 0; late < 2; late++) {
            phi__req *request = NULL;
            link_kit k;
            got g;
            const char *sent;
            start(&k, &g, modern == 1, &request);
            if (late) link_pass(&k, 110); /* a look is under way */
            (void)link_sent(&k);
            phi__mcp_cancel(request, "stop");
            sent = link_sent(&k);
            CHECK(strstr(sent, "tasks/cancel") != NULL);
            CHECK((strstr(sent, "notifications/cancelled") != NULL) == (late == 1));
            link_pass(&k, 1000);
            CHECK_EQ_INT(g.times, 0);
            link_end(&k);
        }
}

TEST(a_task_without_an_end_is_given_up_at_the_longest_timeout) {
    link_kit k;
    got g;
    int i;
    start(&k, &g, true, NULL);
    k.on_send = NULL;
    for (i = 0; i < 12 && g.times == 0; i++) {
        char text[200];
        link_pass(&k, 60000);
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"status\":\"working\","
                       "\"pollIntervalMs\":59000}}",
                       i + 3);
        link_says(&k, text);
        link_run(&k);
    }
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_TIMEOUT);
    link_end(&k);
}

TEST(a_connection_that_is_lost_ends_its_tasks) {
    link_kit k;
    got g;
    start(&k, &g, true, NULL);
    link_down(&k, PHI_NETWORK, false, "died");
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_STR(g.text, "died");
    CHECK_EQ_STR(link_sent(&k), "");
    link_end(&k);
    start(&k, &g, true, NULL);
    link_pass(&k, 110);
    phi_mcp_free(k.mcp);
    k.mcp = NULL;
    CHECK_EQ_INT(g.times, 1);
    link_end(&k);
}

TEST(a_task_that_is_none_is_no_result) {
    link_kit k;
    got g;
    phi__req_desc desc;
    link_begin(&k, NULL);
    link_answers(&k, "2026-07-28", "{}");
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    memset(&g, 0, sizeof g);
    memset(&desc, 0, sizeof desc);
    desc.method = "tools/call";
    desc.done = got_done;
    desc.ctx = &g;
    CHECK_EQ_INT(phi__mcp_send(k.mcp, &desc, NULL), PHI_OK);
    link_says(&k,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"task\",\"taskId\":7}}");
    link_run(&k);
    CHECK_EQ_STR(g.text, "a result of the type \"task\", which is unknown");
    link_end(&k);
}

TEST(an_agent_calls_a_tool_that_must_be_a_task) {
    static const char caps[] = "{\"tools\":{},\"tasks\":{\"requests\":{\"tools\":{\"call\":{}}}}}";
    static const char *const supports[] = {"required", "optional", "forbidden"};
    size_t i;
    for (i = 0; i < 3; i++) {
        char list[200];
        tools_kit t;
        tools_begin(&t, "2025-11-25", NULL);
        link_answers(&t.k, "2025-11-25", caps);
        (void)snprintf(list, sizeof list,
                       "{\"tools\":[{\"name\":\"long\",\"inputSchema\":{\"type\":\"object\"},"
                       "\"execution\":{\"taskSupport\":\"%s\"}}]}",
                       supports[i]);
        t.list = list;
        if (CHECK(tools_ready(&t, NULL))) {
            tools_agent(&t);
            t.result = i > 0 ? "{\"content\":[{\"type\":\"text\",\"text\":\"at once\"}]}"
                             : "{\"task\":{\"taskId\":\"a\",\"status\":\"working\","
                               "\"pollInterval\":20}}";
            tools_call(&t, "long", "{}");
            CHECK((strstr(link_sent(&t.k), "\"task\":{\"ttl\":") != NULL) == (i == 0));
            if (i == 0) {
                link_says(&t.k, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"status\":"
                                "\"completed\"}}");
                link_says(&t.k, "{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{\"content\":[{"
                                "\"type\":\"text\",\"text\":\"in the end\"}]}}");
            }
            (void)rig_run(t.k.rig, 40);
            CHECK(strstr(rig_story(t.k.rig), i == 0 ? "in the end" : "at once") != NULL);
            CHECK(strstr(rig_story(t.k.rig), "AgentEnd ok") != NULL);
        }
        tools_end(&t);
    }
}

/* ---- failing memory ---- */

static void serve(link_kit *k, const char *json) {
    char text[400];
    phi__json_found id;
    const char *result = "{\"resultType\":\"task\",\"taskId\":\"a\",\"status\":\"working\","
                         "\"pollIntervalMs\":10}";
    if (phi__json_cursor_find(phi_str_of(json), "id", &id) != PHI_OK) return;
    if (strstr(json, "server/discover") != NULL) return;
    if (strstr(json, "tasks/get") != NULL)
        result = k->sends < 4
                     ? "{\"status\":\"input_required\",\"inputRequests\":{\"k\":{\"method\":"
                       "\"x\"}}}"
                     : "{\"status\":\"completed\",\"result\":{}}";
    else if (strstr(json, "tasks/") != NULL)
        result = "{}";
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}",
                   (int)id.raw.len, id.raw.at, result);
    link_says(k, text);
}

static void scenario(got *g) {
    static const phi__mcp_open_join joins[] = {part_join};
    phi__req_desc desc;
    link_kit k;
    int i;
    memset(g, 0, sizeof *g);
    memset(&desc, 0, sizeof desc);
    link_begin(&k, NULL);
    if (k.rig != NULL) {
        link_answers(&k, "2026-07-28", "{}");
        k.on_send = serve;
        if (link_connect(&k, NULL, joins, 1) == PHI_OK) {
            link_run(&k);
            desc.method = "tools/call";
            desc.done = got_done;
            desc.ctx = g;
            if (phi__mcp_send(k.mcp, &desc, NULL) == PHI_OK) g->times--;
            for (i = 0; i < 5; i++) {
                link_pass(&k, 20);
                phi__mcp_answer(k.mcp, last_ask, phi_str_of("{}"), 0, NULL);
            }
        }
    }
    link_end(&k);
}

TEST(every_failed_allocation_of_a_task_leaves_one_end_and_nothing_behind) {
    int n = 0;
    bool tripped;
    got g;
    scenario(&g);
    CHECK_EQ_INT(g.times, 0);
    CHECK_EQ_INT(g.status, PHI_OK);
    do {
        test_alloc_fail_at(n++);
        scenario(&g);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(g.times, 0);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) break;
    } while (tripped && n < 2000);
    CHECK(n > 40);
}

TEST_MAIN(TEST_ENTRY(a_task_of_2025_is_polled_and_its_result_fetched),
          TEST_ENTRY(a_task_of_2025_that_wants_input_is_waited_for_and_its_questions_answered),
          TEST_ENTRY(a_task_of_the_extension_carries_its_result),
          TEST_ENTRY(input_of_a_task_of_the_extension_is_asked_for_once_and_sent_by_an_update),
          TEST_ENTRY(odd_ends_of_a_task_are_told_with_words),
          TEST_ENTRY(a_task_that_nobody_waits_for_is_cancelled_at_the_server),
          TEST_ENTRY(a_task_without_an_end_is_given_up_at_the_longest_timeout),
          TEST_ENTRY(a_connection_that_is_lost_ends_its_tasks),
          TEST_ENTRY(a_task_that_is_none_is_no_result),
          TEST_ENTRY(an_agent_calls_a_tool_that_must_be_a_task),
          TEST_ENTRY(every_failed_allocation_of_a_task_leaves_one_end_and_nothing_behind))
