/* test_mcp_serve_web.c - our server over HTTP: whose answers count, headers that repeat parameters,
   bounds of streams, and what is given back when an answer was sent. */
#include "mcp/answers.h"
#include "mcp/mcp_serve_in.h"
#include "serve/serve_in.h"
#include "mcp/web.h"

static size_t used(const web *w) { return phi_memory_used(rig_runtime(w->r), NULL); }

/* ---- whose answers count ---- */

static void on_answer(void *user_data, phi_status status, const phi_json *result, phi_str message) {
    (void)result;
    (void)message;
    CHECK_EQ_INT(status, PHI_OK);
    ++*(int *)user_data;
}

static phi_status ask_roots(phi_call call, int *answers) {
    phi_mcp_ask_desc ask;
    memset(&ask, 0, sizeof ask);
    ask.method = "roots/list";
    ask.done_fn = on_answer;
    ask.user_data = answers;
    return phi_mcp_ask(phi_mcp_incoming_of(call), &ask);
}

TEST(a_session_cannot_answer_a_question_to_another) {
    static const char begins[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{\"roots\":{}},\"clientInfo\":{\"name\":\"c\","
        "\"version\":\"1\"}}}";
    static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}";
    char asked[40];
    int answers = 0;
    web w;
    if (web_open(&w)) {
        const char *at = strstr(web_say(&w, 0, "POST /mcp", JSON, begins), "Mcp-Session-Id: ");
        REQUIRE(at != NULL);
        (void)snprintf(w.session, sizeof w.session, "%.32s", at + 16);
        memcpy(asked, w.session, sizeof asked);
        (void)web_say(&w, 1, "POST /mcp", JSON, WAIT "}}");
        REQUIRE(rig_started(w.r) == 1);
        CHECK_EQ_INT(ask_roots(rig_call_at(w.r, 0), &answers), PHI_OK);
        web_turns(&w, 6);
        CHECK(has(w.got[1], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\""));
        w.session[0] = '\0';
        web_begin(&w);
        CHECK(strcmp(asked, w.session) != 0);
        (void)web_say(&w, 2, "POST /mcp", JSON, answer);
        CHECK_EQ_INT(answers, 0);
        memcpy(w.session, asked, sizeof asked);
        CHECK(has(web_say(&w, 2, "POST /mcp", JSON, answer), "202 Accepted"));
        CHECK_EQ_INT(answers, 1);
    }
    web_close(&w);
}

/* A modern call of "wait", whose client can tell its roots; `more`: members of params. */
static const char *wait_with_roots(web *w, int peer, const char *more) {
    char body[900];
    (void)snprintf(body, sizeof body,
                   WAIT ",%s\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                        "\"io.modelcontextprotocol/clientCapabilities\":{\"roots\":{}}}}}",
                   more);
    return web_say(w, peer, "POST /mcp",
                   JSON "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                        "Mcp-Name: wait\r\n",
                   body);
}

TEST(a_modern_client_answers_over_another_connection) {
    char more[400];
    const char *state;
    int answers = 0;
    web w;
    if (web_open(&w)) {
        (void)wait_with_roots(&w, 1, "");
        REQUIRE(rig_started(w.r) == 1);
        CHECK_EQ_INT(ask_roots(rig_call_at(w.r, 0), &answers), PHI_OK);
        web_turns(&w, 6);
        state = strstr(w.got[1], "\"requestState\":\"");
        REQUIRE(state != NULL);
        (void)snprintf(more, sizeof more,
                       "\"inputResponses\":{\"1\":{\"roots\":[]}},\"requestState\":\"%.*s\",",
                       (int)strcspn(state + 16, "\""), state + 16);
        web_hang_up(&w, 1);
        rig_pass_ms(w.r, 20000);
        web_turns(&w, 6);
        CHECK_EQ_INT(rig_cancelled(w.r), 0);
        (void)wait_with_roots(&w, 2, more);
        CHECK_EQ_INT(answers, 1);
        rig_finish(w.r, 0, "over there");
        web_turns(&w, 6);
        CHECK(has(w.got[2], "over there"));
    }
    web_close(&w);
}

/* ---- tokens and headers ---- */

TEST(a_token_that_goes_on_behind_the_right_one_is_refused) {
    phi_mcp_server_desc desc;
    web w;
    memset(&desc, 0, sizeof desc);
    desc.token = "sesame";
    web_open_with(&w, &desc, rig_new());
    if (CHECK(w.server != NULL)) {
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON "Authorization: Bearer sesame2\r\n", PING),
                  "HTTP/1.1 401 Unauthorized\r\n"));
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON "Authorization: Bearer sesame\r\n", PING),
                  "result"));
    }
    web_close(&w);
}

TEST(a_request_without_a_host_is_refused) {
    static const char request[] = "POST /mcp HTTP/1.0\r\n" JSON
                                  "Authorization: Bearer sesame\r\nContent-Length: 40\r\n\r\n" PING;
    phi_mcp_server_desc desc;
    web w;
    memset(&desc, 0, sizeof desc);
    desc.any_address = true; /* for which any other host is good */
    desc.token = "sesame";
    web_open_with(&w, &desc, rig_new());
    web_dial(&w, 0);
    (void)send(w.fds[0], request, sizeof request - 1, MSG_NOSIGNAL);
    web_turns(&w, 8);
    CHECK(has(w.got[0], "HTTP/1.1 421 "));
    web_close(&w);
}

static bool admits(const phi_mcp_server_desc *desc, const char *host) {
    return phi__admit_host(desc, phi_str_of(host));
}

TEST(a_host_may_be_the_address_that_is_listened_on) {
    phi_mcp_server_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.address = "fe80::1";
    CHECK(admits(&desc, "[fe80::1]:80") && admits(&desc, "[fe80::1]"));
    CHECK(!admits(&desc, "[fe80::2]") && !admits(&desc, "fe80::1"));
    desc.address = "10.0.0.1";
    CHECK(admits(&desc, "10.0.0.1:80") && !admits(&desc, "10.0.0.11") && !admits(&desc, ""));
}

/* A modern call of "go" with those headers and arguments. */
static const char *go(web *w, const char *heads, const char *arguments) {
    char all[400], body[600];
    (void)snprintf(all, sizeof all,
                   JSON "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                        "Mcp-Name: go\r\n%s",
                   heads);
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"go\",\"arguments\":%s," MODERN,
                   arguments);
    return web_say(w, 1, "POST /mcp", all, body);
}

TEST(headers_of_parameters_must_be_the_arguments) {
    static const struct {
        const char *heads, *arguments, *want;
    } cases[] = {
        {"Mcp-Param-Region: north\r\n", "{\"region\":\"north\"}", "\"result\""},
        {"Mcp-Param-Region: =?base64?bm9ydGg=?=\r\n", "{\"region\":\"north\"}", "\"result\""},
        {"Mcp-Param-Count: 42.0\r\n", "{\"count\":42}", "\"result\""},
        {"", "{}", "\"result\""},
        {"", "{\"region\":\"north\"}", "-32020"},
        {"Mcp-Param-Region: south\r\n", "{\"region\":\"north\"}", "-32020"},
        {"Mcp-Param-Region: =?base64?!?=\r\n", "{\"region\":\"north\"}", "-32020"},
        {"Mcp-Param-Region: north\r\n", "{\"region\":\"north\",\"count\":1}", "-32020"},
        {"Mcp-Param-Count: 43\r\n", "{\"count\":42}", "-32020"},
    };
    phi_mcp_server_desc desc;
    size_t i;
    web w;
    memset(&desc, 0, sizeof desc);
    web_open_with(&w, &desc, rig_new());
    w.tools[0].name = "go";
    w.tools[0].schema = "{\"type\":\"object\",\"properties\":{"
                        "\"region\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"},"
                        "\"count\":{\"type\":\"integer\",\"x-mcp-header\":\"Count\"}}}";
    CHECK_EQ_INT(serve_tools(w.server, w.tools, NULL, 1), PHI_OK);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(has(go(&w, cases[i].heads, cases[i].arguments), cases[i].want));
    web_close(&w);
}

TEST(a_post_to_an_unknown_session_is_refused_before_its_body) {
    web w;
    if (web_open(&w)) {
        static const char head[] = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" JSON
                                   "Mcp-Session-Id: none\r\nContent-Length: 9\r\n\r\n";
        web_dial(&w, 0);
        (void)send(w.fds[0], head, sizeof head - 1, MSG_NOSIGNAL);
        web_turns(&w, 8);
        CHECK(has(w.got[0], "HTTP/1.1 404 Not Found\r\n"));
        CHECK(has(w.got[0], "there is no such session"));
    }
    web_close(&w);
}

/* ---- bounds ---- */

/* A stream on the first peer that has shown progress; its end is sent when the peer has gone, or
   before. Returns the header that takes it up from its first event. */
static void streamed(web *w, size_t call, char heads[80]) {
    const char *id;
    (void)web_say(w, 1, "POST /mcp", JSON, WAIT ",\"_meta\":{\"progressToken\":1}}}");
    REQUIRE(rig_started(w->r) == call + 1);
    CHECK_EQ_INT(phi_call_progress(rig_call_at(w->r, call), "x"), PHI_OK);
    web_turns(w, 6);
    id = strstr(w->got[1], "id: ");
    heads[0] = '\0';
    if (CHECK(id != NULL))
        (void)snprintf(heads, 80, "Last-Event-ID: %.*s\r\n", (int)strcspn(id + 4, "\n"), id + 4);
    rig_finish(w->r, call, "done");
    web_turns(w, 6);
}

TEST(of_many_lost_streams_the_oldest_go_and_open_ones_stay) {
    char heads[42][80];
    size_t i;
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        (void)web_say(&w, 3, "POST /mcp", JSON,
                      "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{"
                      "\"name\":\"wait\",\"_meta\":{\"progressToken\":9}}}");
        REQUIRE(rig_started(w.r) == 1);
        CHECK_EQ_INT(phi_call_progress(rig_call_at(w.r, 0), "open"), PHI_OK);
        for (i = 1; i < 40; i++) streamed(&w, i, heads[i]);
        CHECK(strstr(web_say(&w, 2, "GET /mcp", heads[1], ""), "done") == NULL);
        web_hang_up(&w, 2);
        web_turns(&w, 4);
        CHECK(has(web_say(&w, 2, "GET /mcp", heads[39], ""), "done"));
        CHECK(has(web_say(&w, 2, "GET /mcp", heads[20], ""), "done"));
        rig_finish(w.r, 0, "still here");
        web_turns(&w, 6);
        CHECK(has(w.got[3], "still here"));
        rig_pass_ms(w.r, 60001); /* all of them are given up, and do not count any more */
        web_turns(&w, 6);
        streamed(&w, 40, heads[40]);
        streamed(&w, 41, heads[41]);
        CHECK(has(web_say(&w, 2, "GET /mcp", heads[40], ""), "done"));
        CHECK(has(web_say(&w, 2, "GET /mcp", heads[41], ""), "done"));
    }
    web_close(&w);
}

TEST(a_client_that_is_behind_by_more_than_the_queue_is_cut_off) {
    char text[3001] = "";
    phi_mcp_server_desc desc;
    web w;
    memset(&desc, 0, sizeof desc);
    memset(text, 'x', sizeof text - 1);
    desc.max_queue_bytes = 2000;
    web_open_with(&w, &desc, rig_new());
    web_begin(&w);
    (void)web_say(&w, 1, "POST /mcp", JSON, WAIT ",\"_meta\":{\"progressToken\":1}}}");
    CHECK_EQ_INT(phi_call_progress(rig_call_at(w.r, 0), text), PHI_OK);
    web_turns(&w, 6);
    CHECK(!w.closed[1]);
    (void)phi_call_progress(rig_call_at(w.r, 0), text);
    (void)phi_call_progress(rig_call_at(w.r, 0), text);
    web_turns(&w, 6);
    CHECK(w.closed[1]);
    web_close(&w);
}

TEST(what_was_answered_gives_its_memory_back) {
    static const char end[] = "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: ";
    static const char unknown[] =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" JSON "Content-Length: 9\r\nMcp-Session-Id: ";
    size_t before = 0, i;
    web w;
    if (web_open(&w)) {
        for (i = 0; i < 12; i++) {
            web_begin(&w);
            (void)web_say(&w, 1, "POST /mcp", JSON, PING);
            CHECK(has(w.got[1], "\"result\":{}"));
            /* its session ends before its body has come */
            web_dial(&w, 2);
            (void)send(w.fds[2], unknown, sizeof unknown - 1, MSG_NOSIGNAL);
            (void)send(w.fds[2], w.session, 32, MSG_NOSIGNAL);
            (void)send(w.fds[2], "\r\n\r\n", 4, MSG_NOSIGNAL);
            web_turns(&w, 6);
            web_dial(&w, 3);
            (void)send(w.fds[3], end, sizeof end - 1, MSG_NOSIGNAL);
            (void)send(w.fds[3], w.session, 32, MSG_NOSIGNAL);
            (void)send(w.fds[3], "\r\n\r\n", 4, MSG_NOSIGNAL);
            web_turns(&w, 6);
            CHECK(has(w.got[3], "HTTP/1.1 204 No Content\r\n"));
            (void)send(w.fds[2], "{\"id\":99}", 9, MSG_NOSIGNAL);
            web_turns(&w, 6);
            CHECK(has(w.got[2], "HTTP/1.1 404 Not Found\r\n"));
            w.session[0] = '\0';
            rig_pass_ms(w.r, 20000);
            web_turns(&w, 4);
            if (i == 3) before = used(&w);
        }
        CHECK(used(&w) <= before + 600);
    }
    web_close(&w);
}

TEST_MAIN(TEST_ENTRY(a_session_cannot_answer_a_question_to_another),
          TEST_ENTRY(a_modern_client_answers_over_another_connection),
          TEST_ENTRY(a_token_that_goes_on_behind_the_right_one_is_refused),
          TEST_ENTRY(a_request_without_a_host_is_refused),
          TEST_ENTRY(a_host_may_be_the_address_that_is_listened_on),
          TEST_ENTRY(headers_of_parameters_must_be_the_arguments),
          TEST_ENTRY(a_post_to_an_unknown_session_is_refused_before_its_body),
          TEST_ENTRY(of_many_lost_streams_the_oldest_go_and_open_ones_stay),
          TEST_ENTRY(a_client_that_is_behind_by_more_than_the_queue_is_cut_off),
          TEST_ENTRY(what_was_answered_gives_its_memory_back))
