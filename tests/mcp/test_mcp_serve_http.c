/* test_mcp_serve_http.c - our server over HTTP, against raw sockets: who may speak, sessions, JSON
   and streams, peers that leave. */
#include "mcp/answers.h"
#include "mcp/web.h"
#include "record/replay.h"

/* ---- sessions and answers ---- */

TEST(a_session_begins_is_found_by_its_id_and_ends_by_delete) {
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON, PING),
                  "\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
        CHECK(strstr(w.got[0], "Mcp-Session-Id") == NULL);
        CHECK(has(web_say(&w, 0, "DELETE /mcp", "", ""), "HTTP/1.1 204 No Content\r\n"));
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON, PING),
                  "404 Not Found: there is no such session"));
        CHECK(has(web_say(&w, 0, "GET /mcp", "", ""), "404 Not Found: there is no such session"));
        CHECK(
            has(web_say(&w, 0, "DELETE /mcp", "", ""), "404 Not Found: there is no such session"));
    }
    web_close(&w);
}

static phi_status tape_takes(void *user_data, const char *bytes, size_t len) {
    (void)user_data;
    (void)bytes;
    (void)len;
    return PHI_OK;
}

TEST(names_of_sessions_do_not_follow_from_a_tape_s_seed) {
    char names[2][40];
    int i;
    for (i = 0; i < 2; i++) {
        phi_mcp_server_desc desc;
        phi_runtime_desc settings;
        phi_tape_desc tape;
        web w;
        memset(&desc, 0, sizeof desc);
        memset(&settings, 0, sizeof settings);
        memset(&tape, 0, sizeof tape);
        tape.write_fn = tape_takes;
        settings.tape = phi_tape_record(&tape);
        web_open_with(&w, &desc, rig_new_with(&settings));
        if (CHECK(w.server != NULL)) web_begin(&w);
        (void)snprintf(names[i], sizeof names[i], "%s", w.session);
        web_close(&w);
        CHECK_EQ_INT(phi_tape_end(settings.tape, NULL), PHI_OK);
        phi_tape_free(settings.tape);
    }
    CHECK(strcmp(names[0], names[1]) != 0); /* though both seeds are the same */
}

TEST(a_call_that_shows_progress_is_answered_by_a_stream) {
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        CHECK_EQ_STR(web_say(&w, 1, "POST /mcp", JSON, WAIT ",\"_meta\":{\"progressToken\":1}}}"),
                     "");
        REQUIRE(rig_started(w.r) == 1);
        CHECK_EQ_INT(phi_call_progress(rig_call_at(w.r, 0), "half"), PHI_OK);
        web_turns(&w, 8);
        CHECK(has(w.got[1], "Content-Type: text/event-stream\r\n"));
        CHECK(has(w.got[1], "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\""));
        rig_finish(w.r, 0, "done");
        web_turns(&w, 8);
        CHECK(has(w.got[1], "\"text\":\"done\""));
        CHECK(has(w.got[1], "\r\n0\r\n\r\n"));
        CHECK(!w.closed[1]); /* the connection serves on */
    }
    web_close(&w);
}

TEST(a_call_without_news_is_answered_by_json) {
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        CHECK_EQ_STR(web_say(&w, 1, "POST /mcp", JSON, WAIT "}}"), "");
        rig_finish(w.r, 0, "done");
        web_turns(&w, 8);
        CHECK(has(w.got[1], "Content-Type: application/json\r\n"));
        CHECK(has(w.got[1], "\"text\":\"done\""));
    }
    web_close(&w);
}

TEST(the_modern_era_has_no_session_and_no_get) {
    web w;
    if (web_open(&w)) {
        CHECK(has(
            web_say(&w, 0, "POST /mcp",
                    JSON "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n",
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN),
            "\"name\":\"wait\""));
        CHECK(strstr(w.got[0], "Mcp-Session-Id") == NULL);
        CHECK(has(
            web_say(&w, 0, "POST /mcp",
                    JSON "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n",
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN),
            "HTTP/1.1 400 Bad Request\r\n"));
        CHECK(has(w.got[0], "-32020"));
        CHECK(has(web_say(&w, 0, "GET /mcp", "MCP-Protocol-Version: 2026-07-28\r\n", ""),
                  "HTTP/1.1 405 Method Not Allowed\r\n"));
        CHECK(has(w.got[0], "Allow: POST, GET, DELETE\r\n"));
        CHECK(has(web_say(&w, 0, "DELETE /mcp", "", ""), "HTTP/1.1 405 "));
        CHECK(has(web_say(&w, 0, "OPTIONS /mcp", "", ""), "HTTP/1.1 405 "));
    }
    web_close(&w);
}

TEST(a_listening_stream_has_what_belongs_to_no_request) {
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        CHECK(has(web_say(&w, 1, "GET /mcp", "Accept: text/event-stream\r\n", ""),
                  "Content-Type: text/event-stream\r\n"));
        CHECK(has(web_say(&w, 2, "GET /mcp", "Accept: application/json\r\n", ""), "HTTP/1.1 406 "));
        CHECK(
            has(web_say(&w, 2, "GET /mcp", "Accept: text/event-stream\r\n", ""), "HTTP/1.1 409 "));
        CHECK_EQ_INT(serve_tools(w.server, w.tools, NULL, 1), PHI_OK);
        web_turns(&w, 8);
        CHECK(has(w.got[1],
                  "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\""));
        rig_pass_ms(w.r, 25001);
        web_turns(&w, 8);
        CHECK(has(w.got[1], "\r\n:\n\n\r\n")); /* keeps it open */
        web_hang_up(&w, 1);
        web_turns(&w, 8);
        CHECK(has(web_say(&w, 1, "GET /mcp", "Accept: */*\r\n", ""), "text/event-stream"));
        CHECK(has(web_say(&w, 2, "DELETE /mcp", "", ""), "204"));
        web_turns(&w, 8);
        CHECK(has(w.got[1], "\r\n0\r\n\r\n"));
    }
    web_close(&w);
}

TEST(a_step_that_waits_for_ever_wakes_for_a_client) {
    struct pollfd none;
    web w;
    int i;
    if (web_open(&w)) {
        web_dial(&w, 0);
        (void)phi_step(rig_runtime(w.r), -1);
        (void)send(w.fds[0], "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", 38, MSG_NOSIGNAL);
        for (i = 0; i < 3; i++) CHECK_EQ_INT(phi_step(rig_runtime(w.r), i == 0 ? -1 : 0), 0);
        none.fd = w.fds[0];
        none.events = POLLIN;
        CHECK_EQ_INT(poll(&none, 1, 1000), 1);
    }
    web_close(&w);
}

/* ---- streams that are cut ---- */

/* The last id of an event that a peer heard, as a header line. */
static const char *last_id(const web *w, int peer) {
    static char line[80];
    const char *at = w->got[peer], *next;
    line[0] = '\0';
    while ((next = strstr(at, "id: ")) != NULL) {
        (void)snprintf(line, sizeof line, "Last-Event-ID: %.*s\r\n", (int)strcspn(next + 4, "\n"),
                       next + 4);
        at = next + 4;
    }
    return line;
}

TEST(a_stream_that_was_cut_is_taken_up_behind_the_last_event) {
    char heads[80];
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        (void)web_say(&w, 1, "POST /mcp", JSON, WAIT ",\"_meta\":{\"progressToken\":1}}}");
        REQUIRE(rig_started(w.r) == 1);
        CHECK_EQ_INT(phi_call_progress(rig_call_at(w.r, 0), "first"), PHI_OK);
        web_turns(&w, 8);
        CHECK(has(w.got[1], "\ndata: {"));
        (void)snprintf(heads, sizeof heads, "%s", last_id(&w, 1));
        CHECK(has(heads, "Last-Event-ID: "));
        web_hang_up(&w, 1);
        web_turns(&w, 8);
        CHECK_EQ_INT(rig_cancelled(w.r), 0);
        CHECK_EQ_INT(phi_call_progress(rig_call_at(w.r, 0), "second"), PHI_OK);
        web_turns(&w, 8);
        CHECK(has(web_say(&w, 2, "GET /mcp", heads, ""), "second"));
        CHECK(strstr(w.got[2], "first") == NULL);
        rig_finish(w.r, 0, "done");
        web_turns(&w, 8);
        CHECK(has(w.got[2], "\"text\":\"done\""));
        CHECK(has(w.got[2], "\r\n0\r\n\r\n"));
        /* the end may be lost as well */
        CHECK(has(web_say(&w, 3, "GET /mcp", heads, ""), "\"text\":\"done\""));
        CHECK(has(w.got[3], "second"));
        CHECK(has(w.got[3], "\r\n0\r\n\r\n"));
        rig_pass_ms(w.r, 60001);
        web_turns(&w, 4);
        (void)web_say(&w, 4, "GET /mcp", heads, "");
        CHECK(has(w.got[4], "text/event-stream"));
        CHECK(strstr(w.got[4], "done") == NULL);
    }
    web_close(&w);
}

TEST(ids_of_other_sessions_and_of_nothing_begin_a_new_stream) {
    static const char *const ids[] = {"0-0", "99-1", "1", "-", "1-99999999999999999999", "x-1", ""};
    char heads[80], first[40];
    size_t i;
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        (void)web_say(&w, 1, "GET /mcp", "", "");
        CHECK_EQ_INT(serve_tools(w.server, w.tools, NULL, 1), PHI_OK);
        web_turns(&w, 8);
        (void)snprintf(heads, sizeof heads, "%s", last_id(&w, 1));
        memcpy(first, w.session, sizeof first);
        w.session[0] = '\0';
        web_begin(&w);
        CHECK(strcmp(first, w.session) != 0);
        heads[strlen(heads) - 3] = '0'; /* from the beginning */
        (void)web_say(&w, 2, "GET /mcp", heads, "");
        CHECK(has(w.got[2], "text/event-stream"));
        CHECK(strstr(w.got[2], "data:") == NULL);
        for (i = 0; i < sizeof ids / sizeof ids[0]; i++) {
            web_hang_up(&w, 2);
            web_turns(&w, 6);
            (void)snprintf(heads, sizeof heads, "Last-Event-ID: %s\r\n", ids[i]);
            CHECK(has(web_say(&w, 2, "GET /mcp", heads, ""), "HTTP/1.1 200 OK\r\n"));
            CHECK(strstr(w.got[2], "data:") == NULL);
        }
    }
    web_close(&w);
}

TEST(a_listening_stream_that_was_cut_keeps_what_is_said_meanwhile) {
    char heads[80];
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        (void)web_say(&w, 1, "GET /mcp", "", "");
        CHECK_EQ_INT(serve_tools(w.server, w.tools, NULL, 1), PHI_OK);
        web_turns(&w, 8);
        (void)snprintf(heads, sizeof heads, "%s", last_id(&w, 1));
        web_hang_up(&w, 1);
        web_turns(&w, 8);
        (void)phi_mcp_server_log(w.server, NULL, "error", "game", "\"meanwhile\"");
        CHECK(has(web_say(&w, 1, "GET /mcp", heads, ""), "meanwhile"));
        (void)phi_mcp_server_log(w.server, NULL, "error", "game", "\"afterwards\"");
        web_turns(&w, 8);
        CHECK(has(w.got[1], "afterwards"));
    }
    web_close(&w);
}

TEST(an_answer_that_takes_long_begins_as_a_stream_that_can_be_taken_up) {
    char heads[80];
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        CHECK_EQ_STR(web_say(&w, 1, "POST /mcp", JSON, WAIT "}}"), "");
        rig_pass_ms(w.r, 15001);
        web_turns(&w, 8);
        CHECK(has(w.got[1], "text/event-stream"));
        CHECK(has(w.got[1], "-0\ndata: \n\n"));
        (void)snprintf(heads, sizeof heads, "%s", last_id(&w, 1));
        web_hang_up(&w, 1);
        web_turns(&w, 6);
        rig_finish(w.r, 0, "late");
        web_turns(&w, 6);
        CHECK(has(web_say(&w, 1, "GET /mcp", heads, ""), "\"text\":\"late\""));
    }
    web_close(&w);
}

TEST(streams_that_nobody_takes_up_are_bounded) {
    size_t before, i;
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        before = phi_memory_used(rig_runtime(w.r), NULL);
        for (i = 0; i < 60; i++) {
            (void)web_say(&w, 1, "POST /mcp", JSON, WAIT ",\"_meta\":{\"progressToken\":1}}}");
            (void)phi_call_progress(rig_call_at(w.r, i), "x");
            rig_finish(w.r, i, "done");
            web_turns(&w, 6);
        }
        CHECK(phi_memory_used(rig_runtime(w.r), NULL) < before + 100000);
        rig_pass_ms(w.r, 60001);
        web_turns(&w, 6);
        CHECK(phi_memory_used(rig_runtime(w.r), NULL) < before + 40000);
    }
    web_close(&w);
}

/* ---- who may speak ---- */

TEST(other_hosts_and_origins_are_refused) {
    static const struct {
        const char *heads, *want;
    } cases[] = {
        {"Host: evil.example\r\n", "421 Misdirected Request: Host is not a name of this server\n"},
        {"Host: localhost.evil.example\r\n", "421 "},
        {"Host: 127.0.0.1.evil.example:80\r\n", "421 "},
        {"Host: [::2]\r\n", "421 "},
        {"Host:\r\n", "421 "},
        {"Host: 127.0.0.1:99\r\n", "\"result\":{}"},
        {"Host: [::1]:99\r\n", "\"result\":{}"},
        {"Host: LocalHost\r\n", "\"result\":{}"},
        {"Origin: http://evil.example\r\n", "403 Forbidden: Origin is not allowed\n"},
        {"Origin: null\r\n", "403 "},
        {"Origin:\r\n", "403 "},
        {"Origin: localhost\r\n", "403 "},
        {"Origin: http://localhost.evil.example\r\n", "403 "},
        {"Origin: file://localhost\r\n", "403 "},
        {"Host: localhost.\r\n", "421 "},
        {"Host: 0.0.0.0\r\n", "421 "},
        {"Host: 127.1\r\n", "421 "},
        {"Host: [::ffff:127.0.0.1]\r\n", "421 "},
        {"Host: localhost@evil.example\r\n", "400 "},
        {"Host: localhost:80@evil.example\r\n", "400 "},
        {"Host: localhost, evil.example\r\n", "400 "},
        {"Host: [::1].evil.example\r\n", "400 "},
        {"Origin: http://localhost.\r\n", "403 "},
        {"Origin: http://0.0.0.0\r\n", "403 "},
        {"Origin: http://localhost@evil.example\r\n", "403 "},
        {"Origin: http://localhost:80@evil.example\r\n", "403 "},
        {"Origin: http://localhost:80.evil.example\r\n", "403 "},
        {"Origin: http://[::1].evil.example\r\n", "403 "},
        {"Origin: http://[::1]evil.example:80\r\n", "403 "},
        {"Origin: http://localhost/evil\r\n", "403 "},
        {"Origin: http://localhost:1, http://evil.example\r\n", "403 "},
        {"Origin: http://localhost:\xd9\xa1\r\n", "403 "},
        {"Origin: http://\xef\xbd\x8cocalhost\r\n", "403 "},
        {"Origin: http://localhost\r\nOrigin: http://evil.example\r\n", "400 "},
        {"Mcp-Param-Region: a\r\nmcp-param-region: b\r\n", "400 "},
        {"Mcp-Param-Region: a\r\nmcp-param-regiom: b\r\n", "\"result\":{}"},
        {"Origin: HTTP://LOCALHOST:3000\r\n", "\"result\":{}"},
        {"Origin: http://[::1]:3000\r\n", "\"result\":{}"},
        {"Origin: http://localhost:3000\r\n", "\"result\":{}"},
        {"Origin: https://127.0.0.1\r\n", "\"result\":{}"},
    };
    size_t i;
    web w;
    if (web_open(&w)) {
        for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            char heads[300];
            (void)snprintf(heads, sizeof heads, "%s%s", JSON, cases[i].heads);
            if (!CHECK(has(web_say(&w, 0, "POST /mcp", heads, PING), cases[i].want)))
                (void)printf("    with %s\n", cases[i].heads);
        }
    }
    web_close(&w);
}

TEST(listed_hosts_and_origins_are_let_in) {
    static const char *const hosts[] = {"game.example", NULL};
    static const char *const origins[] = {"https://game.example:8443", NULL};
    phi_mcp_server_desc desc;
    web w;
    memset(&desc, 0, sizeof desc);
    desc.allowed_hosts = hosts;
    desc.allowed_origins = origins;
    web_open_with(&w, &desc, rig_new());
    if (CHECK(w.server != NULL)) {
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON "Host: Game.Example:80\r\n", PING), "result"));
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON "Host: other.example\r\n", PING), "421"));
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON "Origin: https://game.example:8443\r\n", PING),
                  "result"));
        CHECK(
            has(web_say(&w, 0, "POST /mcp", JSON "Origin: https://game.example\r\n", PING), "403"));
    }
    web_close(&w);
}

TEST(a_token_is_asked_for) {
    static const char *const wrong[] = {"",
                                        "Authorization: Bearer sesam2\r\n",
                                        "Authorization: Bearer sesa\r\n",
                                        "Authorization: Basic sesame\r\n",
                                        "Authorization: sesame\r\n",
                                        "Authorization: Bearer\r\n"};
    phi_mcp_server_desc desc;
    size_t i;
    web w;
    memset(&desc, 0, sizeof desc);
    desc.token = "sesame";
    web_open_with(&w, &desc, rig_new());
    if (CHECK(w.server != NULL)) {
        for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            char heads[300];
            (void)snprintf(heads, sizeof heads, "%s%s", JSON, wrong[i]);
            CHECK(has(web_say(&w, 0, "POST /mcp", heads, PING), "HTTP/1.1 401 Unauthorized\r\n"));
            CHECK(has(w.got[0], "WWW-Authenticate: Bearer realm=\"mcp\"\r\n"));
        }
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON "Authorization: bearer sesame\r\n", PING),
                  "result"));
        CHECK(has(web_say(&w, 0, "POST /mcp",
                          JSON "Authorization: Bearer sesame\r\nAuthorization: Bearer other\r\n",
                          PING),
                  "400 Bad Request: a header that counts came twice\n"));
    }
    web_close(&w);
}

TEST(paths_types_and_sizes_are_checked_before_the_body) {
    phi_mcp_server_desc desc;
    web w;
    memset(&desc, 0, sizeof desc);
    desc.max_message_bytes = 200;
    desc.path = "/rpc";
    web_open_with(&w, &desc, rig_new());
    if (CHECK(w.server != NULL)) {
        char big[300];
        memset(big, ' ', 299);
        big[299] = '\0';
        CHECK(has(web_say(&w, 0, "POST /mcp", JSON, PING), "404 Not Found\n"));
        CHECK(has(web_say(&w, 0, "POST /rpc", "Content-Type: text/plain\r\n", PING),
                  "415 Unsupported Media Type: expected application/json\n"));
        CHECK(has(web_say(&w, 0, "POST /rpc", "", PING), "415"));
        CHECK(has(web_say(&w, 0, "POST /rpc?x=1",
                          "content-type: Application/JSON ; charset=utf-8\r\n", PING),
                  "result"));
        CHECK(has(web_say(&w, 0, "POST /rpc", JSON, big), "413 Content Too Large"));
        CHECK(has(web_say(&w, 0, "POST /rpc", JSON, ""), "HTTP/1.1 400 Bad Request\r\n"));
        CHECK(has(web_say(&w, 0, "POST /rpc", JSON, "{"), "-32700"));
    }
    web_close(&w);
}

TEST(a_server_for_other_machines_needs_a_token_and_a_path_a_slash) {
    const char *words;
    phi_mcp_server_desc desc;
    web w;
    memset(&desc, 0, sizeof desc);
    desc.any_address = true;
    web_open_with(&w, &desc, rig_new());
    CHECK(w.server == NULL);
    words = phi_last_error(rig_runtime(w.r)).message;
    CHECK_EQ_STR(words, "phi_mcp_serve: any_address: needs a token");
    web_close(&w);
    memset(&desc, 0, sizeof desc);
    desc.path = "mcp";
    web_open_with(&w, &desc, rig_new());
    CHECK(w.server == NULL);
    words = phi_last_error(rig_runtime(w.r)).message;
    CHECK_EQ_STR(words, "phi_mcp_serve: path \"mcp\": expected a '/' first");
    web_close(&w);
    memset(&desc, 0, sizeof desc);
    desc.address = "10.0.0.1";
    web_open_with(&w, &desc, rig_new());
    CHECK(w.server == NULL);
    words = phi_last_error(rig_runtime(w.r)).message;
    CHECK(has(words, "phi_mcp_serve: cannot listen on \"10.0.0.1\": expected 127.0.0.1"));
    web_close(&w);
}

/* ---- clients that leave ---- */

TEST(a_modern_client_that_leaves_cancels_its_call) {
    web w;
    if (web_open(&w)) {
        CHECK_EQ_STR(web_say(&w, 1, "POST /mcp",
                             JSON "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                                  "Mcp-Name: wait\r\n",
                             WAIT "," MODERN),
                     "");
        CHECK_EQ_INT(rig_started(w.r), 1);
        web_hang_up(&w, 1);
        web_turns(&w, 8);
        CHECK_EQ_INT(rig_cancelled(w.r), 1);
    }
    web_close(&w);
}

TEST(a_server_that_is_freed_with_open_calls_and_streams_leaves_nothing) {
    web w;
    if (web_open(&w)) {
        web_begin(&w);
        CHECK_EQ_STR(web_say(&w, 1, "POST /mcp", JSON, WAIT "}}"), "");
        (void)web_say(&w, 2, "GET /mcp", "", "");
        phi_mcp_server_free(w.server);
        w.server = NULL;
        CHECK_EQ_INT(rig_cancelled(w.r), 1);
        web_turns(&w, 4);
        CHECK(w.closed[1] && w.closed[2]);
    }
    web_close(&w);
}

/* A call of `echo` with 300,000 bytes, sent while the server takes no more than it must. */
static void say_long(web *w, int peer) {
    static const char head[] =
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"echo\",\"arguments\":{\"text\":\"";
    enum { FILL = 300000, END = 4 };
    char *text = (char *)malloc(FILL + 1000);
    size_t at = 0, len;
    int stuck = 0, n;
    web_dial(w, peer);
    n = snprintf(text, 900,
                 "POST /mcp HTTP/1.1\r\nHost: localhost:1\r\nMcp-Session-Id: %s\r\n" JSON
                 "Content-Length: %u\r\n\r\n%s",
                 w->session, (unsigned)(sizeof head - 1 + FILL + END), head);
    memset(text + n, 'x', FILL);
    memcpy(text + n + FILL, "\"}}}", END);
    len = (size_t)n + FILL + END;
    while (at < len && stuck++ < 1000) {
        ssize_t sent = send(w->fds[peer], text + at, len - at, MSG_NOSIGNAL);
        if (sent > 0) at += (size_t)sent;
        if (at < len) web_turns(w, 1);
    }
    CHECK_EQ_INT(at, len);
    free(text);
}

TEST(long_messages_are_read_one_after_another_and_hold_up_no_other) {
    web w;
    int i;
    if (web_open(&w)) {
        web_begin(&w);
        for (i = 1; i < 5; i++) say_long(&w, i);
        web_hang_up(&w, 2);
        web_turns(&w, 80);
        for (i = 1; i < 5; i++) CHECK(i == 2 || has(w.got[i], "\"id\":9,\"result\""));
        for (i = 1; i < 5; i++) say_long(&w, i);
        web_turns(&w, 2);
        CHECK(has(web_say(&w, 0, "DELETE /mcp", "", ""), "204"));
        web_turns(&w, 80);
        /* the session may have ended before it was read, or while it waited */
        for (i = 1; i < 5; i++) CHECK(w.len[i] > 0);
    }
    web_close(&w);
    if (web_open(&w)) {
        web_begin(&w);
        for (i = 1; i < 5; i++) say_long(&w, i);
        web_turns(&w, 1);
    }
    web_close(&w);
}

TEST(streams_that_stand_open_leave_connections_for_requests) {
    phi_mcp_server_desc desc;
    char first[40];
    web w;
    int i;
    memset(&desc, 0, sizeof desc);
    desc.max_connections = 5;
    web_open_with(&w, &desc, rig_new());
    if (CHECK(w.server != NULL)) {
        web_begin(&w);
        (void)snprintf(first, sizeof first, "%s", w.session);
        CHECK(has(web_say(&w, 1, "GET /mcp", "", ""), "200 OK"));
        w.session[0] = '\0';
        for (i = 2; i < 6; i++) {
            (void)web_say(&w, i, "POST /mcp",
                          JSON "MCP-Protocol-Version: 2026-07-28\r\n"
                               "Mcp-Method: subscriptions/listen\r\n",
                          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\","
                          "\"params\":{\"notifications\":{}," MODERN);
            if (i < 5)
                CHECK(has(w.got[i], "acknowledged"));
            else
                CHECK(has(w.got[i], "503 ") && has(w.got[i], "Too many requests"));
        }
        web_hang_up(&w, 5);
        web_begin(&w);
        CHECK(strcmp(w.session, first) != 0);
        CHECK(has(web_say(&w, 0, "GET /mcp", "", ""), "503 Service Unavailable: too many streams"));
        web_hang_up(&w, 2);
        web_turns(&w, 8);
        CHECK(has(web_say(&w, 0, "GET /mcp", "", ""), "200 OK"));
    }
    web_close(&w);
}

static web *web_to_free;

static void free_the_server(void *user_data, phi_call call) {
    (void)user_data;
    (void)call;
    phi_mcp_server_free(web_to_free->server);
    web_to_free->server = NULL;
}

TEST(a_call_that_ends_may_free_the_server) {
    static const char gone[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}";
    int way;
    for (way = 0; way < 3; way++) {
        web w;
        if (web_open(&w)) {
            w.tools[1].cancel = free_the_server;
            web_to_free = &w;
            if (way < 2) web_begin(&w);
            if (way < 2)
                (void)web_say(&w, 1, "POST /mcp", JSON, WAIT "}}");
            else
                (void)web_say(&w, 1, "POST /mcp",
                              JSON "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                                   "Mcp-Name: wait\r\n",
                              WAIT "," MODERN);
            CHECK_EQ_INT(rig_started(w.r), 1);
            if (way == 0) (void)web_say(&w, 2, "DELETE /mcp", "", "");
            if (way == 1) (void)web_say(&w, 2, "POST /mcp", JSON, gone);
            if (way == 2) web_hang_up(&w, 1);
            web_turns(&w, 12);
            CHECK(w.server == NULL);
        }
        web_close(&w);
    }
}

TEST(a_call_over_http_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 2000; n += n < 100 ? 1 : 3) {
        phi_mcp_server_desc desc;
        web w;
        memset(&desc, 0, sizeof desc);
        web_open_with(&w, &desc, rig_new());
        REQUIRE(w.server != NULL);
        test_alloc_fail_at(n);
        (void)web_say(
            &w, 0, "POST /mcp",
            JSON "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                 "Mcp-Name: echo\r\n",
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
            "\"echo\",\"arguments\":{\"a\":1}," MODERN);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(tripped || has(w.got[0], "\"isError\":false"));
        if (tripped && n % 7 == 0) CHECK(has(web_say(&w, 0, "POST /mcp", JSON, PING), "result"));
        web_close(&w);
    }
    CHECK(n > 20);
}

TEST_MAIN(TEST_ENTRY(a_session_begins_is_found_by_its_id_and_ends_by_delete),
          TEST_ENTRY(names_of_sessions_do_not_follow_from_a_tape_s_seed),
          TEST_ENTRY(a_call_that_shows_progress_is_answered_by_a_stream),
          TEST_ENTRY(a_call_without_news_is_answered_by_json),
          TEST_ENTRY(the_modern_era_has_no_session_and_no_get),
          TEST_ENTRY(a_listening_stream_has_what_belongs_to_no_request),
          TEST_ENTRY(a_step_that_waits_for_ever_wakes_for_a_client),
          TEST_ENTRY(a_stream_that_was_cut_is_taken_up_behind_the_last_event),
          TEST_ENTRY(ids_of_other_sessions_and_of_nothing_begin_a_new_stream),
          TEST_ENTRY(a_listening_stream_that_was_cut_keeps_what_is_said_meanwhile),
          TEST_ENTRY(an_answer_that_takes_long_begins_as_a_stream_that_can_be_taken_up),
          TEST_ENTRY(streams_that_nobody_takes_up_are_bounded),
          TEST_ENTRY(other_hosts_and_origins_are_refused),
          TEST_ENTRY(listed_hosts_and_origins_are_let_in), TEST_ENTRY(a_token_is_asked_for),
          TEST_ENTRY(paths_types_and_sizes_are_checked_before_the_body),
          TEST_ENTRY(a_server_for_other_machines_needs_a_token_and_a_path_a_slash),
          TEST_ENTRY(a_modern_client_that_leaves_cancels_its_call),
          TEST_ENTRY(a_server_that_is_freed_with_open_calls_and_streams_leaves_nothing),
          TEST_ENTRY(long_messages_are_read_one_after_another_and_hold_up_no_other),
          TEST_ENTRY(streams_that_stand_open_leave_connections_for_requests),
          TEST_ENTRY(a_call_that_ends_may_free_the_server),
          TEST_ENTRY(a_call_over_http_survives_every_failed_allocation))
