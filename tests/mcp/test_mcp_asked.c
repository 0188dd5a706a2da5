/* What a server asks, over a scripted link and with a scripted part: requests of its own in the
   legacy eras, input_required in the modern one; and the failures of memory of all that. */
#include "mcp/link.h"

/* A part that takes "x/..." and answers as its name says. */
typedef struct fake {
    uint64_t asks[80];
    size_t count, unasked, downs, readies, frees;
    char methods[400];
    phi_agent agent;    /* of the last question */
    bool held, cancels; /* cancels: the call's request, inside of asked */
    phi__req *request;
} fake;

static fake *fake_current;

static void fake_ready(phi_mcp *mcp, void *part) {
    (void)mcp;
    ((fake *)part)->readies++;
}

static void fake_down(phi_mcp *mcp, void *part) {
    (void)mcp;
    ((fake *)part)->downs++;
}

static bool fake_asked(phi_mcp *mcp, void *part, phi_str method, const phi_json *params,
                       phi_call call, phi_agent agent, uint64_t ask) {
    fake *f = (fake *)part;
    (void)call;
    f->agent = agent;
    if (!phi__str_starts(method, "x/")) return false;
    (void)snprintf(f->methods + strlen(f->methods), sizeof f->methods - strlen(f->methods),
                   "%.*s%s ", (int)method.len, method.at, params != NULL ? "+" : "");
    if (phi__str_is(method, "x/now"))
        phi__mcp_answer(mcp, ask, phi_str_of("{\n\"n\":1}"), 0, NULL);
    else if (phi__str_is(method, "x/no"))
        phi__mcp_answer(mcp, ask, phi_str_of(""), -1, "User rejected it");
    else if (f->count < 80)
        f->asks[f->count++] = ask;
    if (f->cancels && f->request != NULL) {
        phi__mcp_cancel(f->request, "inside");
        f->request = NULL;
    }
    return true;
}

static void fake_unasked(phi_mcp *mcp, void *part, uint64_t ask) {
    (void)mcp;
    (void)ask;
    ((fake *)part)->unasked++;
}

static phi_status fake_capabilities(phi_mcp *mcp, void *part, phi_json *into, phi_arena *arena) {
    (void)mcp;
    (void)part;
    return phi_json_set(arena, into, "x", phi_json_new_object(arena));
}

static bool fake_held(const phi_mcp *mcp, const void *part) {
    (void)mcp;
    return ((const fake *)part)->held;
}

static void fake_free(phi_mcp *mcp, void *part) {
    (void)mcp;
    ((fake *)part)->frees++;
}

static phi_status fake_join(phi_mcp *mcp) {
    static const phi__mcp_part table = {fake_ready,   fake_down,         NULL,      fake_asked,
                                        fake_unasked, fake_capabilities, fake_held, fake_free};
    phi__mcp_join(mcp, &table, fake_current);
    return PHI_OK;
}

typedef struct got {
    int times;
    phi_status status;
    char text[256];
} got;

static void got_done(void *ctx, const phi_mcp_reply *reply) {
    got *g = (got *)ctx;
    g->times++;
    g->status = reply->status;
    (void)snprintf(g->text, sizeof g->text, "%.*s", (int)reply->message.len, reply->message.at);
}

static void start(link_kit *k, fake *f, const char *era) {
    static const phi__mcp_open_join joins[] = {fake_join};
    memset(f, 0, sizeof *f);
    fake_current = f;
    link_begin(k, NULL);
    link_answers(k, era, "{}");
    CHECK_EQ_INT(link_connect(k, NULL, joins, 1), PHI_OK);
    link_run(k);
    CHECK_EQ_INT(phi_mcp_get_info(k->mcp).state, PHI_MCP_READY);
    CHECK(strstr(link_sent(k), "apabilities\":{\"x\":{}") != NULL);
    (void)link_story(k);
}

static phi_status send(link_kit *k, fake *f, got *g, const char *method) {
    phi__req_desc desc;
    memset(g, 0, sizeof *g);
    memset(&desc, 0, sizeof desc);
    desc.method = method;
    desc.params = phi_str_of("{\"name\":\"t\"}");
    desc.done = got_done;
    desc.ctx = g;
    return phi__mcp_send(k->mcp, &desc, &f->request);
}

TEST(a_request_of_the_servers_is_answered_now_or_later_by_a_part) {
    link_kit k;
    fake f;
    start(&k, &f, "2025-06-18");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x/now\",\"params\":{}}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x/no\"}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x/later\"}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"y\"}");
    link_run(&k);
    CHECK_EQ_STR(f.methods, "x/now+ x/no x/later ");
    CHECK_EQ_STR(link_sent(&k),
                 "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{ \"n\":1}}\n"
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":"
                 "\"User rejected it\"}}\n"
                 "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32601,\"message\":"
                 "\"Method not found\"}}\n");
    phi__mcp_answer(k.mcp, f.asks[0], phi_str_of("{}"), 0, NULL);
    phi__mcp_answer(k.mcp, f.asks[0], phi_str_of("{}"), 0, NULL);
    phi__mcp_answer(k.mcp, 4711, phi_str_of("{}"), 0, NULL);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
    link_end(&k);
    CHECK_EQ_INT(f.frees, 1);
    CHECK_EQ_INT(f.unasked, 0);
}

TEST(a_question_that_the_server_cancels_is_not_answered) {
    link_kit k;
    fake f;
    start(&k, &f, "2025-06-18");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"x/later\"}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                  "\"requestId\":\"b\"}}");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
    link_run(&k);
    CHECK_EQ_INT(f.unasked, 0);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                  "\"requestId\":\"a\"}}");
    link_run(&k);
    CHECK_EQ_INT(f.unasked, 1);
    phi__mcp_answer(k.mcp, f.asks[0], phi_str_of("{}"), 0, NULL);
    CHECK_EQ_STR(link_sent(&k), "");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"x/later\"}");
    link_run(&k);
    link_down(&k, PHI_NETWORK, false, "died");
    link_run(&k);
    CHECK_EQ_INT(f.unasked, 2);
    CHECK_EQ_INT(f.downs, 1);
    link_end(&k);
}

static void call_of(link_kit *k, got *g, uint32_t agent) {
    phi__req_desc desc;
    memset(g, 0, sizeof *g);
    memset(&desc, 0, sizeof desc);
    desc.method = "m";
    desc.done = got_done;
    desc.ctx = g;
    desc.timeout_ms = 50;
    desc.agent.rt = k->rt;
    desc.agent.index = agent;
    CHECK_EQ_INT(phi__mcp_send(k->mcp, &desc, NULL), PHI_OK);
}

TEST(the_agent_of_several_calls_is_asked_and_all_of_them_wait) {
    link_kit k;
    fake f;
    got g[3];
    start(&k, &f, "2025-06-18");
    call_of(&k, &g[0], 7);
    call_of(&k, &g[1], 7);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x/later\"}");
    link_run(&k);
    CHECK_EQ_INT(f.agent.index, 7);
    link_pass(&k, 1000); /* a person thinks, and it is not known for which of the two */
    CHECK_EQ_INT(g[0].times + g[1].times, 0);
    phi__mcp_answer(k.mcp, f.asks[0], phi_str_of("{}"), 0, NULL);
    call_of(&k, &g[2], 8); /* of two agents: nobody knows who is meant */
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x/later\"}");
    link_run(&k);
    CHECK(f.agent.rt == NULL);
    link_pass(&k, 1000);
    CHECK_EQ_INT(g[0].status, PHI_TIMEOUT);
    CHECK_EQ_INT(g[2].status, PHI_TIMEOUT);
    link_end(&k);
}

TEST(at_most_64_questions_are_open) {
    link_kit k;
    fake f;
    int i;
    start(&k, &f, "2025-06-18");
    for (i = 0; i < 65; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"x/l\"}", i);
        link_says(&k, text);
    }
    link_run(&k);
    CHECK_EQ_INT(f.count, 64);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":64,\"error\":{\"code\":-32603,"
                                "\"message\":\"Too many requests\"}}\n");
    link_end(&k);
    CHECK_EQ_INT(f.unasked, 64);
}

TEST(a_request_waits_for_the_person_whom_its_server_asks) {
    link_kit k;
    fake f;
    got g;
    phi__req_desc desc;
    start(&k, &f, "2025-06-18");
    memset(&g, 0, sizeof g);
    memset(&desc, 0, sizeof desc);
    desc.method = "tools/call";
    desc.done = got_done;
    desc.ctx = &g;
    desc.agent.rt = k.rt; /* of an agent: the question is on its behalf */
    CHECK_EQ_INT(phi__mcp_send(k.mcp, &desc, NULL), PHI_OK);
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"x/later\"}");
    link_pass(&k, 700000);
    CHECK_EQ_INT(g.times, 0);
    phi__mcp_answer(k.mcp, f.asks[0], phi_str_of("{}"), 0, NULL);
    link_pass(&k, 40000);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_TIMEOUT);
    link_end(&k);
}

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"phi\",\"version\":\"0.1.0\"},"             \
    "\"io.modelcontextprotocol/"                                                                   \
    "clientCapabilities\":{\"x\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}}"

TEST(input_that_is_required_is_got_from_parts_and_the_request_repeated) {
    link_kit k;
    fake f;
    got g;
    start(&k, &f, "2026-07-28");
    CHECK_EQ_INT(send(&k, &f, &g, "tools/call"), PHI_OK);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
                                "\"params\":{\"name\":\"t\"," META "}}\n");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"input_required\","
                  "\"inputRequests\":{\"k \\\"1\":{\"method\":\"x/now\",\"params\":{}},"
                  "\"k2\":{\"method\":\"x/later\"}},\"requestState\":\"s\\u0000\\n\\/\"}}");
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "");
    link_pass(&k, 700000); /* a person may take as long as it takes */
    CHECK_EQ_INT(g.times, 0);
    phi__mcp_answer(k.mcp, f.asks[0], phi_str_of("{\"b\":2}"), 0, NULL);
    CHECK_EQ_STR(link_sent(&k), "");
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k),
                 "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"t\",\"inputResponses\":{\"k \\\"1\":{ \"n\":1},\"k2\":{\"b\":2}},"
                 "\"requestState\":\"s\\u0000\\n/\"," META "}}\n");
    /* the second round asks for nothing, and has no state any more */
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"input_required\"}}");
    link_run(&k);
    CHECK_EQ_STR(link_sent(&k), "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\","
                                "\"params\":{\"name\":\"t\"," META "}}\n");
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"resultType\":\"complete\"}}");
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, PHI_OK);
    CHECK_EQ_STR(link_story(&k), "");
    link_end(&k);
}

static void input_ends(const char *method, const char *result, phi_status status,
                       const char *want) {
    char text[400];
    link_kit k;
    fake f;
    got g;
    start(&k, &f, "2026-07-28");
    CHECK_EQ_INT(send(&k, &f, &g, method), PHI_OK);
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":%s}", result);
    link_says(&k, text);
    link_run(&k);
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_INT(g.status, status);
    CHECK_EQ_STR(g.text, want);
    link_end(&k);
}

TEST(input_that_cannot_be_given_fails_the_request_with_words) {
    input_ends("tools/call",
               "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{\"method\":"
               "\"sampling/createMessage\"}}}",
               PHI_REFUSED, "the server asks for sampling/createMessage, which is not offered");
    input_ends("prompts/get",
               "{\"resultType\":\"input_required\",\"inputRequests\":{\"l\":{\"method\":"
               "\"x/later\"},\"a\":{\"method\":\"x/no\"}}}",
               PHI_REFUSED, "User rejected it");
    input_ends("resources/read", "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":7}}",
               PHI_REFUSED, "the server asks for , which is not offered");
    input_ends("tools/list", "{\"resultType\":\"input_required\"}", PHI_PARSE,
               "a result of the type \"input_required\", which is unknown");
    input_ends("tools/call", "{\"resultType\":\"odd\"}", PHI_PARSE,
               "a result of the type \"odd\", which is unknown");
}

TEST(input_is_asked_for_16_times_at_most) {
    link_kit k;
    fake f;
    got g;
    int i;
    start(&k, &f, "2026-07-28");
    CHECK_EQ_INT(send(&k, &f, &g, "tools/call"), PHI_OK);
    for (i = 0; i < 17; i++) {
        char text[100];
        CHECK_EQ_INT(g.times, 0);
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"resultType\":"
                       "\"input_required\"}}",
                       i + 2);
        link_says(&k, text);
        link_run(&k);
    }
    CHECK_EQ_INT(g.times, 1);
    CHECK_EQ_STR(g.text, "the server asked for input more than 16 times");
    link_end(&k);
}

TEST(a_request_that_is_cancelled_while_input_is_asked_for_is_gone) {
    int inside;
    for (inside = 0; inside < 2; inside++) {
        link_kit k;
        fake f;
        got g;
        start(&k, &f, "2026-07-28");
        f.cancels = inside == 1;
        CHECK_EQ_INT(send(&k, &f, &g, "tools/call"), PHI_OK);
        link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"input_required\","
                      "\"inputRequests\":{\"a\":{\"method\":\"x/later\"},\"b\":{\"method\":"
                      "\"x/later\"}}}}");
        link_run(&k);
        phi__mcp_cancel(f.request, "outside");
        CHECK_EQ_INT(f.unasked, inside ? 1 : 2);
        phi__mcp_answer(k.mcp, f.asks[0], phi_str_of("{}"), 0, NULL);
        link_run(&k);
        CHECK_EQ_INT(g.times, 0);
        link_end(&k);
    }
}

TEST(the_stream_of_changes_is_opened_and_opened_again) {
    link_kit k;
    size_t i;
    link_begin(&k, NULL);
    link_answers(&k, "2026-07-28",
                 "{\"tools\":{\"listChanged\":true},\"prompts\":{},\"resources\":{\"listChanged\":"
                 "true}}");
    CHECK_EQ_INT(link_connect(&k, NULL, NULL, 0), PHI_OK);
    link_run(&k);
    CHECK(strstr(link_sent(&k), "\"id\":2,\"method\":\"subscriptions/listen\",\"params\":{"
                                "\"notifications\":{\"toolsListChanged\":true,"
                                "\"resourcesListChanged\":true}") != NULL);
    link_pass(&k, 3600000);
    for (i = 0; i < 3; i++) {
        char text[140], want[60];
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                       "\"requestId\":%d}}",
                       (int)i + 2);
        (void)snprintf(want, sizeof want, "\"id\":%d,\"method\":\"subscriptions/listen\"",
                       (int)i + 3);
        link_says(&k, text);
        link_run(&k);
        CHECK_EQ_STR(link_sent(&k), "");
        link_pass(&k, 2200 << i);
        CHECK(strstr(link_sent(&k), want) != NULL);
    }
    link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32601,\"message\":\"?\"}}");
    link_pass(&k, 100000);
    CHECK_EQ_STR(link_sent(&k), "");
    link_end(&k);
}

TEST(a_connection_whose_tools_are_held_is_not_freed) {
    link_kit k;
    fake f;
    const char *words = NULL;
    start(&k, &f, "2025-06-18");
    f.held = true;
    CHECK(!link_freed(k.mcp));
    words = phi_last_error(k.rt).message;
    CHECK_EQ_INT(phi_last_error(k.rt).status, PHI_MISUSE);
    CHECK_EQ_STR(words, "phi_mcp_free: agents have its tools: free them first");
    f.held = false;
    link_end(&k);
}

/* ---- failing memory ---- */

/* A handshake, a request with input, a question and a loss; whatever fails, each end comes once. */
static void scenario(const char *era, got *g) {
    static const phi__mcp_open_join joins[] = {fake_join};
    link_kit k;
    fake f;
    memset(&f, 0, sizeof f);
    memset(g, 0, sizeof *g);
    fake_current = &f;
    link_begin(&k, NULL);
    if (k.rig == NULL) {
        link_end(&k);
        return;
    }
    link_answers(&k, era, "{\"tools\":{\"listChanged\":true}}");
    if (link_connect(&k, NULL, joins, 1) == PHI_OK) {
        link_run(&k);
        if (send(&k, &f, g, "tools/call") == PHI_OK) {
            g->times--; /* one end is owed */
            link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"x/now\"}");
            link_says(&k, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":"
                          "\"input_required\",\"inputRequests\":{\"a\":{\"method\":\"x/now\"}},"
                          "\"requestState\":\"s\"}}");
            link_run(&k);
            link_down(&k, PHI_NETWORK, false, "died");
            link_run(&k);
        }
    }
    link_end(&k);
}

TEST(every_failed_allocation_of_a_connection_leaves_one_end_and_nothing_behind) {
    static const char *const eras[] = {"2025-06-18", "2026-07-28"};
    size_t i;
    for (i = 0; i < 2; i++) {
        int n = 0;
        bool tripped;
        do {
            got g;
            test_alloc_fail_at(n++);
            scenario(eras[i], &g);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(g.times, 0);
            if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) break;
        } while (tripped && n < 2000);
        CHECK(n > 30);
    }
}

TEST_MAIN(TEST_ENTRY(a_request_of_the_servers_is_answered_now_or_later_by_a_part),
          TEST_ENTRY(a_question_that_the_server_cancels_is_not_answered),
          TEST_ENTRY(the_agent_of_several_calls_is_asked_and_all_of_them_wait),
          TEST_ENTRY(at_most_64_questions_are_open),
          TEST_ENTRY(a_request_waits_for_the_person_whom_its_server_asks),
          TEST_ENTRY(input_that_is_required_is_got_from_parts_and_the_request_repeated),
          TEST_ENTRY(input_that_cannot_be_given_fails_the_request_with_words),
          TEST_ENTRY(input_is_asked_for_16_times_at_most),
          TEST_ENTRY(a_request_that_is_cancelled_while_input_is_asked_for_is_gone),
          TEST_ENTRY(the_stream_of_changes_is_opened_and_opened_again),
          TEST_ENTRY(a_connection_whose_tools_are_held_is_not_freed),
          TEST_ENTRY(every_failed_allocation_of_a_connection_leaves_one_end_and_nothing_behind))
