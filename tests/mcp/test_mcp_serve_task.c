/* test_mcp_serve_task.c - calls of our server's tools that become tasks. */
#include "mcp/mcp_serve_state_in.h"
#include "agent/agent.h"
#include "mcp/mcp.h"
#include "mcp/served.h"
#include "mcp/mcp_requests_in.h"

#include <time.h>

/* A tool whose calls the test ends. */
typedef struct job {
    phi_call call;
    phi_mcp_incoming incoming;
    phi_agent agent;
    int calls, cancels, answers;
    phi_status task, ask;       /* what phi_mcp_task and phi_mcp_ask said */
    phi_status answer_status;   /* of the last question */
    char name[100], words[200]; /* that was answered */
    int asks;                   /* questions at the beginning, all named "name" */
    bool asks_first;            /* becomes a task with the answer */
    bool frees;                 /* the server, in its callbacks */
    served *s;
} job;

static void job_ask(job *j, const char *key);

static void on_answer(void *user_data, phi_status status, const phi_json *result, phi_str message) {
    job *j = (job *)user_data;
    phi_str name = phi_json_str(phi_json_path(result, "content.name"), "");
    j->answers++;
    j->answer_status = status;
    (void)snprintf(j->name, sizeof j->name, "%.*s", (int)name.len, name.at);
    (void)snprintf(j->words, sizeof j->words, "%.*s", (int)message.len,
                   message.len > 0 ? message.at : "");
    if (j->asks_first) j->task = phi_mcp_task(j->incoming);
    if (!j->frees) return;
    phi_mcp_server_free(j->s->server);
    j->s->server = NULL;
}

static void job_ask(job *j, const char *key) {
    phi_mcp_ask_desc ask;
    memset(&ask, 0, sizeof ask);
    ask.method = "elicitation/create";
    ask.params = "{\"message\":\"Who?\"}";
    ask.key = key;
    ask.done_fn = on_answer;
    ask.user_data = j;
    j->ask = phi_mcp_ask(j->incoming, &ask);
}

static phi_flow job_start(void *user_data, phi_call call, phi_str arguments) {
    job *j = (job *)user_data;
    int i;
    (void)arguments;
    j->calls++;
    j->call = call;
    j->incoming = phi_mcp_incoming_of(call);
    for (i = 0; i < j->asks; i++) job_ask(j, i == 0 ? "name" : NULL);
    return PHI_PENDING;
}

static void job_cancel(void *user_data, phi_call call) {
    job *j = (job *)user_data;
    (void)call;
    j->cancels++;
    if (!j->frees) return;
    phi_mcp_server_free(j->s->server);
    j->s->server = NULL;
}

static phi_verdict on_hook(void *user_data, phi_hook *hook) {
    ((job *)user_data)->agent = hook->agent;
    return PHI_ALLOW;
}

typedef struct offer {
    phi_tool tools[2];
    phi_mcp_serve_tool infos[2];
    phi_mcp_server_desc desc;
} offer;

/* "work" is a task where the client takes them; "must" refuses clients that take none. */
static void offer_init(offer *o, job *j, served *s) {
    memset(o, 0, sizeof *o);
    memset(j, 0, sizeof *j);
    j->s = s;
    o->tools[0].name = "work";
    o->tools[1].name = "must";
    o->tools[0].start = o->tools[1].start = job_start;
    o->tools[0].cancel = o->tools[1].cancel = job_cancel;
    o->tools[0].user_data = o->tools[1].user_data = j;
    o->infos[0].task = true;
    o->infos[1].needs = (uint32_t)PHI_MCP_CAN_TASKS;
    o->desc.tools = o->tools;
    o->desc.tool_infos = o->infos;
    o->desc.tool_count = 2;
    o->desc.tasks = true;
    o->desc.ask_timeout_ms = 1000;
    o->desc.task_ttl_ms = 60000;
    o->desc.hook_fn = on_hook;
    o->desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    o->desc.user_data = j;
}

#define EXT "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}"
#define TAKES "{" EXT "}"
#define ASKED "{\"elicitation\":{}," EXT "}"
#define WORK "\"name\":\"work\",\"arguments\":{},"

static char task[200]; /* the name of the last task */

static const char *task_of(const char *line) {
    const char *at = strstr(line, "\"taskId\":\"");
    task[0] = '\0';
    if (at != NULL) (void)snprintf(task, sizeof task, "%s", at + 10);
    task[strcspn(task, "\"")] = '\0';
    return task;
}

static const char *about(served *s, int id, const char *method, const char *more,
                         const char *name) {
    char params[900];
    (void)snprintf(params, sizeof params, "\"taskId\":\"%s\",%s", name, more);
    return served_ask(s, modern(id, method, params, ASKED));
}

static const char *get(served *s) { return about(s, 90, "tasks/get", "", task); }

static const char *begin(served *s, int id, const char *can) {
    const char *line = served_ask(s, modern(id, "tools/call", WORK, can));
    (void)task_of(line);
    CHECK_EQ_STR(served_hear(s), ""); /* the tool begins */
    return line;
}

static void end_call(job *j, const char *text) {
    int i;
    CHECK_EQ_INT(phi_call_reply(j->call, text), PHI_OK);
    for (i = 0; i < 10; i++) served_step(j->s);
}

TEST(a_call_becomes_a_task_and_its_result_waits_for_the_client) {
    served s;
    offer o;
    job j;
    const char *line;
    char want[600];
    offer_init(&o, &j, &s);
    served_open(&s, &o.desc);
    CHECK(has(served_ask(&s, modern(1, "server/discover", "", "{}")),
              ",\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}"));
    line = begin(&s, 2, TAKES);
    CHECK_EQ_INT(strlen(task) > 64, 1);
    CHECK(has(line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"task\",\"taskId\":"
                    "\""));
    CHECK(has(line, "\",\"status\":\"working\",\"createdAt\":\""));
    CHECK(has(line, "Z\",\"lastUpdatedAt\":\""));
    CHECK(has(line, ",\"ttlMs\":null,\"pollIntervalMs\":1000}}"));
    CHECK_EQ_INT(j.calls, 1);
    CHECK(phi__sv_find(j.incoming) != NULL);
    CHECK_EQ_INT(phi_mcp_task(j.incoming), PHI_OK); /* it is one */
    CHECK(has(get(&s), "\"resultType\":\"complete\""));
    CHECK(has(s.line, "\"status\":\"working\",\"createdAt\""));
    CHECK(strstr(s.line, "\"result\":{\"content") == NULL);
    CHECK_EQ_INT(phi_call_progress(j.call, "3 of 10"), PHI_OK);
    CHECK(has(get(&s), "\"status\":\"working\",\"statusMessage\":\"3 of 10\","));
    CHECK_EQ_INT(phi_mcp_progress(j.incoming, 4, 10, "four"), PHI_OK);
    CHECK(has(get(&s), "\"statusMessage\":\"four\","));
    rig_pass_ms(s.r, 5000);
    end_call(&j, "done");
    CHECK_EQ_STR(served_hear(&s), ""); /* nobody is told */
    (void)snprintf(want, sizeof want, "\"taskId\":\"%s\",\"status\":\"completed\",", task);
    CHECK(has(get(&s), want));
    CHECK(has(s.line, ",\"ttlMs\":650")); /* and a few ms of a clock that steps move */
    CHECK(has(s.line, ",\"pollIntervalMs\":1000,\"result\":{\"content\":[{\"type\":"
                      "\"text\",\"text\":\"done\"}],\"isError\":false}}}"));
    CHECK(phi__sv_find(j.incoming) == NULL);
    CHECK_EQ_INT(phi_mcp_task(j.incoming), PHI_STALE);
    /* as often as it wants, and until its time is over */
    CHECK(has(get(&s), "\"text\":\"done\""));
    rig_pass_ms(s.r, 59000);
    CHECK(has(get(&s), "\"text\":\"done\""));
    rig_pass_ms(s.r, 2000);
    served_step(&s);
    CHECK(has(get(&s), "\"code\":-32602,\"message\":\"params.taskId: there is no such task, or not "
                       "any more\""));
    served_free(&s);
}

TEST(clients_without_tasks_wait_or_are_refused) {
    static const char *const methods[] = {"tasks/get", "tasks/update", "tasks/cancel"};
    served s;
    offer o;
    job j;
    size_t i;
    offer_init(&o, &j, &s);
    served_open(&s, &o.desc);
    served_say(&s, modern(1, "tools/call", WORK, "{}"));
    CHECK_EQ_STR(served_hear(&s), "");
    CHECK_EQ_INT(phi_mcp_task(j.incoming), PHI_UNSUPPORTED);
    end_call(&j, "waited");
    CHECK(has(served_hear(&s), "\"id\":1,\"result\":{\"resultType\":\"complete\""));
    CHECK(has(served_ask(&s, modern(2, "tools/call", "\"name\":\"must\",\"arguments\":{},", "{}")),
              "\"code\":-32021,\"message\":\"The request needs a capability that the client has "
              "not declared\",\"data\":{\"requiredCapabilities\":{\"extensions\":{"
              "\"io.modelcontextprotocol/tasks\":{}}}}"));
    CHECK_EQ_INT(j.calls, 1);
    for (i = 0; i < 3; i++)
        CHECK(has(served_ask(&s, modern(3, methods[i], "\"taskId\":\"1.1.1.a\",", "{}")),
                  "\"code\":-32021"));
    CHECK(has(served_ask(&s, modern(4, "subscriptions/listen",
                                    "\"notifications\":{\"taskIds\":[\"a\"]},", "{}")),
              "\"code\":-32021"));
    CHECK(has(served_ask(&s, modern(5, "tasks/list", "", TAKES)), "\"code\":-32601"));
    CHECK(has(served_ask(&s, modern(6, "tasks/result", "\"taskId\":\"a\",", TAKES)),
              "\"code\":-32601"));
    /* a tool decides by itself */
    CHECK_EQ_STR(
        served_ask(&s, modern(7, "tools/call", "\"name\":\"must\",\"arguments\":{},", TAKES)), "");
    CHECK_EQ_INT(j.incoming.can, PHI_MCP_CAN_TASKS);
    CHECK_EQ_INT(phi_mcp_task(j.incoming), PHI_OK);
    CHECK(has(served_hear(&s), "\"id\":7,\"result\":{\"resultType\":\"task\""));
    served_free(&s);
}

TEST(sessions_have_no_tasks) {
    served s;
    offer o;
    job j;
    offer_init(&o, &j, &s);
    served_open(&s, &o.desc);
    served_begin(&s, "2025-11-25", "{\"tasks\":{}}");
    served_say(&s, legacy(1, "tools/call", "{\"name\":\"work\"}"));
    CHECK_EQ_STR(served_hear(&s), "");
    end_call(&j, "waited");
    CHECK(has(served_hear(&s), "waited"));
    CHECK(has(served_ask(&s, legacy(2, "tasks/get", "{\"taskId\":\"a\"}")), "-32601"));
    CHECK(has(served_ask(&s, legacy(3, "tools/call", "{\"name\":\"must\"}")), "-32602"));
    served_free(&s);
}

TEST(questions_of_a_task_are_answered_one_by_one) {
    served s;
    offer o;
    job j;
    offer_init(&o, &j, &s);
    j.asks = 2;
    served_open(&s, &o.desc);
    CHECK(has(begin(&s, 1, ASKED), "\"status\":\"working\""));
    CHECK(has(get(&s), "\"status\":\"input_required\","));
    CHECK(has(s.line, "\"inputRequests\":{\"task-1\":{\"method\":\"elicitation/create\",\"params\":"
                      "{\"message\":\"Who?\"}},\"task-2\":{\"method\""));
    CHECK(has(about(&s, 2, "tasks/update", "\"inputResponses\":{\"name\":{},\"x\":{}},", task),
              "\"result\":{\"resultType\":\"complete\",\"_meta\""));
    CHECK_EQ_INT(j.answers, 0);
    CHECK(has(about(&s, 3, "tasks/update",
                    "\"inputResponses\":{\"task-2\":{\"content\":{\"name\":\"Bo\"}}},", task),
              "\"resultType\":\"complete\""));
    CHECK_EQ_INT(j.answers, 1);
    CHECK_EQ_STR(j.name, "Bo");
    CHECK(has(get(&s), "\"inputRequests\":{\"task-1\":{\"method\""));
    CHECK(strstr(s.line, "task-2") == NULL);
    /* an answer that comes twice is of no use, and no name comes twice */
    job_ask(&j, "name");
    CHECK_EQ_INT(j.ask, PHI_OK);
    CHECK(has(about(&s, 4, "tasks/update", "\"inputResponses\":{\"task-2\":{}},", task),
              "\"resultType\":\"complete\""));
    CHECK_EQ_INT(j.answers, 1);
    CHECK(has(get(&s), "\"task-3\":{\"method\""));
    CHECK(
        has(about(&s, 5, "tasks/update", "\"inputResponses\":{\"task-1\":{},\"task-3\":{}},", task),
            "\"resultType\":\"complete\""));
    CHECK_EQ_INT(j.answers, 3);
    CHECK(has(get(&s), "\"status\":\"working\""));
    CHECK(has(about(&s, 6, "tasks/update", "\"inputResponses\":{\"a\":1},", task), "-32602"));
    CHECK(has(about(&s, 7, "tasks/update", "\"inputResponses\":[],", task), "-32602"));
    CHECK(has(about(&s, 8, "tasks/update", "", task), "\"resultType\":\"complete\""));
    end_call(&j, "x");
    served_free(&s);
}

TEST(a_question_of_a_task_has_its_deadline) {
    served s;
    offer o;
    job j;
    offer_init(&o, &j, &s);
    j.asks = 1;
    served_open(&s, &o.desc);
    (void)begin(&s, 1, ASKED);
    rig_pass_ms(s.r, 999);
    CHECK(has(get(&s), "input_required"));
    rig_pass_ms(s.r, 1);
    served_step(&s);
    CHECK_EQ_INT(j.answer_status, PHI_TIMEOUT);
    CHECK_EQ_STR(j.words, "The client did not answer in time");
    CHECK(has(get(&s), "\"status\":\"working\""));
    served_free(&s);
}

TEST(a_call_may_ask_first_and_be_a_task_then) {
    served s;
    offer o;
    job j;
    char params[700], state[300];
    const char *at;
    offer_init(&o, &j, &s);
    o.infos[0].task = false;
    j.asks = 1;
    j.asks_first = true;
    served_open(&s, &o.desc);
    at = strstr(begin(&s, 1, ASKED), "\"requestState\":\"");
    REQUIRE(CHECK(at != NULL));
    CHECK(has(s.line, "\"inputRequests\":{\"name\":"));
    CHECK(strstr(s.line, "taskId") == NULL);
    (void)snprintf(state, sizeof state, "%.*s", (int)strcspn(at + 16, "\""), at + 16);
    CHECK_EQ_INT(phi_mcp_task(j.incoming), PHI_BUSY);
    /* the state of a request is no task's name */
    CHECK(has(about(&s, 2, "tasks/get", "", state), "-32602"));
    (void)snprintf(params, sizeof params,
                   WORK "\"inputResponses\":{\"name\":{\"content\":{\"name\":\"Ada\"}}},"
                        "\"requestState\":\"%s\",",
                   state);
    (void)task_of(served_ask(&s, modern(3, "tools/call", params, ASKED)));
    CHECK(has(s.line, "\"id\":3,\"result\":{\"resultType\":\"task\""));
    CHECK(strstr(s.line, "requestState") == NULL);
    CHECK_EQ_INT(j.task, PHI_OK);
    CHECK_EQ_STR(j.name, "Ada");
    CHECK(has(about(&s, 4, "tasks/get", "", state), "-32602"));
    end_call(&j, "for Ada");
    CHECK(has(get(&s), "\"text\":\"for Ada\""));
    /* nor is the name of a task the state of a request */
    (void)snprintf(params, sizeof params, WORK "\"inputResponses\":{},\"requestState\":\"%s\",",
                   task);
    CHECK(has(served_ask(&s, modern(5, "tools/call", params, ASKED)), "-32602"));
    served_free(&s);
}

TEST(a_task_is_cancelled_once) {
    served s;
    offer o;
    job j;
    offer_init(&o, &j, &s);
    j.asks = 1;
    served_open(&s, &o.desc);
    (void)begin(&s, 1, ASKED);
    CHECK(has(about(&s, 2, "tasks/cancel", "", task),
              "\"id\":2,\"result\":{\"resultType\":\"complete\",\"_meta\""));
    CHECK(strstr(s.line, "taskId") == NULL);
    CHECK_EQ_INT(j.cancels, 1);
    CHECK_EQ_INT(phi_call_reply(j.call, "late"), PHI_STALE);
    CHECK(has(get(&s), "\"status\":\"cancelled\""));
    CHECK(strstr(s.line, "inputRequests") == NULL && strstr(s.line, "\"error\"") == NULL);
    CHECK(has(about(&s, 3, "tasks/cancel", "", task), "\"resultType\":\"complete\""));
    CHECK(has(about(&s, 4, "tasks/update", "\"inputResponses\":{\"task-1\":{}},", task),
              "\"resultType\":\"complete\""));
    CHECK_EQ_INT(j.cancels, 1);
    CHECK_EQ_INT(j.answers, 0);
    CHECK(has(get(&s), "\"status\":\"cancelled\""));
    /* the request that it was of has been answered */
    (void)begin(&s, 5, TAKES);
    served_say(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                   "\"requestId\":5}}");
    CHECK(has(get(&s), "\"status\":\"working\""));
    served_free(&s);
}

TEST(a_tool_that_fails_completes_and_a_call_without_a_result_fails) {
    served s;
    offer o;
    job j;
    offer_init(&o, &j, &s);
    served_open(&s, &o.desc);
    (void)begin(&s, 1, TAKES);
    CHECK_EQ_INT(phi_call_fail(j.call, "no luck"), PHI_OK);
    CHECK_EQ_STR(served_hear(&s), "");
    CHECK(has(get(&s), "\"status\":\"completed\""));
    CHECK(has(s.line, "\"text\":\"no luck\"}],\"isError\":true}"));
    (void)begin(&s, 2, TAKES);
    phi_agent_free(j.agent);
    CHECK(has(get(&s), "\"status\":\"failed\""));
    CHECK(has(s.line, "\"error\":{\"code\":-32603,\"message\":\""));
    CHECK(strstr(s.line, "\"result\":{\"content") == NULL);
    served_free(&s);
}

TEST(names_of_tasks_are_not_guessed) {
    served s;
    offer o;
    job j;
    char name[200];
    size_t i;
    offer_init(&o, &j, &s);
    served_open(&s, &o.desc);
    (void)begin(&s, 1, TAKES);
    (void)snprintf(name, sizeof name, "%s", task);
    for (i = 0; i < strlen(name); i += 5) {
        char was = name[i];
        name[i] = was == '1' ? '2' : '1';
        CHECK(has(about(&s, 2, "tasks/get", "", name), "-32602"));
        CHECK(has(about(&s, 3, "tasks/cancel", "", name), "-32602"));
        name[i] = was;
    }
    CHECK(has(about(&s, 4, "tasks/get", "", ""), "-32602"));
    CHECK(has(served_ask(&s, modern(5, "tasks/get", "", TAKES)), "-32602"));
    CHECK(has(served_ask(&s, modern(6, "tasks/get", "\"taskId\":7,", TAKES)), "-32602"));
    CHECK_EQ_INT(j.cancels, 0);
    CHECK(has(get(&s), "\"status\":\"working\""));
    served_free(&s);
}

TEST(tasks_that_work_are_calls_and_those_that_have_ended_make_room) {
    served s;
    offer o;
    job j;
    char first[200], second[200];
    offer_init(&o, &j, &s);
    o.desc.max_calls = 2;
    served_open(&s, &o.desc);
    (void)begin(&s, 1, TAKES);
    (void)snprintf(first, sizeof first, "%s", task);
    (void)begin(&s, 2, TAKES);
    CHECK(has(begin(&s, 3, TAKES), "Too many requests are under way"));
    end_call(&j, "b"); /* the second */
    (void)begin(&s, 4, TAKES);
    (void)snprintf(second, sizeof second, "%s", task);
    end_call(&j, "c");
    (void)begin(&s, 5, TAKES);
    end_call(&j, "d");
    /* three have ended: the first of them is gone */
    CHECK(has(get(&s), "\"text\":\"d\""));
    CHECK(has(about(&s, 6, "tasks/get", "", second), "\"text\":\"c\""));
    CHECK(has(about(&s, 7, "tasks/get", "", first), "\"status\":\"working\""));
    served_free(&s);
}

TEST(a_server_without_tasks_has_none) {
    served s;
    offer o;
    job j;
    const char *words = "";
    offer_init(&o, &j, &s);
    o.desc.tasks = false;
    served_open_with(&s, &o.desc, rig_new());
    CHECK(s.server == NULL);
    words = phi_last_error(rig_runtime(s.r)).message;
    CHECK_EQ_STR(words, "tool \"work\": it wants tasks, which phi_mcp_server_desc.tasks does not "
                        "offer");
    served_free(&s);
    o.infos[0].task = false;
    o.infos[1].needs = 0;
    served_open(&s, &o.desc);
    CHECK(strstr(served_ask(&s, modern(1, "server/discover", "", TAKES)), "extensions") == NULL);
    served_say(&s, modern(2, "tools/call", WORK, TAKES));
    CHECK_EQ_STR(served_hear(&s), "");
    CHECK_EQ_INT(phi_mcp_task(j.incoming), PHI_UNSUPPORTED);
    CHECK(has(served_ask(&s, modern(3, "tasks/get", "\"taskId\":\"a\",", TAKES)), "-32601"));
    served_free(&s);
}

TEST(a_host_may_free_the_server_inside) {
    int i;
    for (i = 0; i < 2; i++) {
        served s;
        offer o;
        job j;
        offer_init(&o, &j, &s);
        j.asks = 2;
        served_open(&s, &o.desc);
        (void)begin(&s, 1, ASKED);
        j.frees = true;
        (void)about(&s, 2, i == 0 ? "tasks/cancel" : "tasks/update",
                    "\"inputResponses\":{\"task-1\":{},\"task-2\":{}},", task);
        CHECK(s.server == NULL);
        CHECK_EQ_INT(i == 0 ? j.cancels : j.answers, 1);
        served_free(&s);
    }
}

TEST(every_allocation_may_fail) {
    int n, after = 0;
    for (n = 0; n < 400 && after < 3; n++) {
        served s;
        offer o;
        job j;
        offer_init(&o, &j, &s);
        j.asks = 1;
        served_open(&s, &o.desc);
        test_alloc_fail_at(n);
        (void)begin(&s, 1, ASKED);
        (void)get(&s);
        (void)about(&s, 2, "tasks/update", "\"inputResponses\":{\"task-1\":{}},", task);
        if (j.calls == 1) (void)phi_call_reply(j.call, "done");
        (void)get(&s);
        (void)about(&s, 3, "tasks/cancel", "", task);
        if (!test_alloc_tripped()) after++;
        test_alloc_fail_at(-1);
        served_free(&s);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
    CHECK(n > 60 && after == 3);
}

/* ---- our own client ---- */

typedef struct heard {
    int done;
    phi_status status;
    char text[200];
} heard;

static void on_done(void *user_data, const phi_mcp_reply *reply) {
    heard *h = (heard *)user_data;
    phi_str text = phi_json_str(phi_json_path(reply->result, "content[0].text"), "");
    h->done++;
    h->status = reply->status;
    (void)snprintf(h->text, sizeof h->text, "%.*s", (int)text.len, text.at);
}

TEST(our_own_client_waits_for_a_task_over_http) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_mcp_desc to = PHI_ZERO;
    phi_mcp_send_desc request = PHI_ZERO;
    time_t end = time(NULL) + 30;
    char url[100];
    heard h;
    offer o;
    job j;
    phi_mcp_server *server;
    phi_mcp *mcp;
    memset(&h, 0, sizeof h);
    offer_init(&o, &j, NULL);
    o.desc.name = "test";
    o.desc.http = true;
    server = phi_mcp_serve(rt, &o.desc);
    REQUIRE(CHECK(server != NULL));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/mcp",
                   (unsigned)phi_mcp_server_get_info(server).port);
    to.url = url;
    mcp = phi_mcp_connect(rt, &to);
    while (phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING && time(NULL) < end)
        (void)phi_step(rt, 10);
    request.method = "tools/call";
    request.params = phi_str_of("{\"name\":\"work\",\"arguments\":{}}");
    request.done_fn = on_done;
    request.user_data = &h;
    CHECK_EQ_INT(phi_mcp_send(mcp, &request, NULL), PHI_OK);
    while (j.calls == 0 && time(NULL) < end) (void)phi_step(rt, 10);
    CHECK_EQ_INT(phi_call_reply(j.call, "by and by"), PHI_OK);
    while (h.done == 0 && time(NULL) < end) (void)phi_step(rt, 10);
    CHECK_EQ_INT(h.status, PHI_OK);
    CHECK_EQ_STR(h.text, "by and by");
    phi_mcp_free(mcp);
    phi_mcp_server_free(server);
    phi_runtime_free(rt);
}

TEST_MAIN(TEST_ENTRY(a_call_becomes_a_task_and_its_result_waits_for_the_client),
          TEST_ENTRY(clients_without_tasks_wait_or_are_refused), TEST_ENTRY(sessions_have_no_tasks),
          TEST_ENTRY(questions_of_a_task_are_answered_one_by_one),
          TEST_ENTRY(a_question_of_a_task_has_its_deadline),
          TEST_ENTRY(a_call_may_ask_first_and_be_a_task_then), TEST_ENTRY(a_task_is_cancelled_once),
          TEST_ENTRY(a_tool_that_fails_completes_and_a_call_without_a_result_fails),
          TEST_ENTRY(names_of_tasks_are_not_guessed),
          TEST_ENTRY(tasks_that_work_are_calls_and_those_that_have_ended_make_room),
          TEST_ENTRY(a_server_without_tasks_has_none),
          TEST_ENTRY(a_host_may_free_the_server_inside), TEST_ENTRY(every_allocation_may_fail),
          TEST_ENTRY(our_own_client_waits_for_a_task_over_http))
