/* test_mcp_http.c - the link over HTTP: requests, shapes of answers, failures, sessions. */
#include "mcp/http_session.h"

static wires w;
static session_fake m;

static void check_sent(size_t i, const char *want) {
    REQUIRE(CHECK(i < w.count));
    CHECK_EQ_STR(w.sent[i].text, want);
}

/* A session of the era, agreed upon; session: its id, or NULL. */
static void agree(const char *version, const char *session) {
    char headers[200];
    (void)snprintf(headers, sizeof headers, SESSION_JSON "%s%s%s",
                   session ? "Mcp-Session-Id: " : "", session ? session : "",
                   session ? "\r\n" : "");
    session_begin(&m, &w);
    (void)session_send(&m, "initialize", "{1}");
    session_reply(&m, &w, 200, headers, SESSION_ANSWER);
    m.mcp.link->table->agreed(m.mcp.link, version, false);
    session_check(&m, "up\nmessage #1 " SESSION_ANSWER "\n");
}

/* ---- requests ---- */

static void a_legacy_session_sends_what_was_agreed(void) {
    static const phi_mcp_pair own[] = {{"X-Key", "secret-0123"}, {"accept", "nothing"}};
    m.mcp.desc.headers = own;
    m.mcp.desc.header_count = 2;
    agree("2025-06-18", "abc-1");
    check_sent(0, "POST http://h:1/mcp\nAccept: application/json, text/event-stream\n"
                  "Content-Type: application/json\nX-Key: secret-0123\n\n{1}");
    session_tell(&m, "notifications/initialized", "{2}");
    check_sent(1, "POST http://h:1/mcp\nAccept: application/json, text/event-stream\n"
                  "Content-Type: application/json\nMCP-Protocol-Version: 2025-06-18\n"
                  "Mcp-Session-Id: abc-1\nX-Key: secret-0123\n\n{2}");
    session_reply(&m, &w, 202, "", "");
    m.mcp.link->table->listen(m.mcp.link);
    session_step(&m, 2);
    check_sent(2, "GET http://h:1/mcp\nAccept: text/event-stream\n"
                  "MCP-Protocol-Version: 2025-06-18\nMcp-Session-Id: abc-1\n"
                  "X-Key: secret-0123\n\n");
    session_reply(&m, &w, 405, "", "");
    m.mcp.link->table->close(m.mcp.link);
    session_step(&m, 3);
    check_sent(3, "DELETE http://h:1/mcp\nMCP-Protocol-Version: 2025-06-18\n"
                  "Mcp-Session-Id: abc-1\nX-Key: secret-0123\naccept: nothing\n\n");
    session_reply(&m, &w, 405, "", "");
    session_later(&m, &w, 20);
    session_check(&m, "down 0 0 \n");
    session_end(&m, &w);
}

static void what_follows_initialized_waits_for_its_answer(void) {
    agree("2025-06-18", "s");
    session_tell(&m, "notifications/initialized", "{2}");
    m.mcp.link->table->listen(m.mcp.link);
    (void)session_send(&m, "tools/list", "{3}");
    (void)session_send(&m, "ping", "{4}");
    m.mcp.link->table->forget(m.mcp.link, &m.outs[3]);
    CHECK_EQ_INT(w.count, 2);
    session_reply(&m, &w, 202, "", "");
    CHECK_EQ_INT(w.count, 4);
    CHECK(strncmp(w.sent[2].text, "GET ", 4) == 0);
    CHECK(strstr(w.sent[3].text, "\n\n{3}") != NULL);
    session_end(&m, &w);
    agree("2025-06-18", "s"); /* whatever the answer is */
    session_tell(&m, "notifications/initialized", "{2}");
    (void)session_send(&m, "tools/list", "{3}");
    wires_end(&w, 1, PHI_NETWORK, "broken");
    session_step(&m, 3);
    CHECK_EQ_INT(w.count, 3);
    session_end(&m, &w);
}

static void older_eras_have_no_version_header(void) {
    agree("2025-03-26", NULL);
    (void)session_send(&m, "tools/list", "{2}");
    check_sent(1, "POST http://h:1/mcp\nAccept: application/json, text/event-stream\n"
                  "Content-Type: application/json\n\n{2}");
    session_end(&m, &w);
}

static void the_modern_era_says_in_headers_what_the_message_says(void) {
    static const phi_mcp_pair more[] = {{"Mcp-Param-Region", "us"}};
    phi__out *out;
    session_begin(&m, &w);
    m.mcp.link->table->agreed(m.mcp.link, "2026-07-28", true);
    out = session_out(&m, "tools/call", "{1}");
    out->name = PHI__LIT("my tool\xC3\xA9");
    out->headers = more;
    out->header_count = 1;
    CHECK_EQ_INT(m.mcp.link->table->send(m.mcp.link, out), PHI_OK);
    session_step(&m, 1);
    check_sent(0, "POST http://h:1/mcp\nAccept: application/json, text/event-stream\n"
                  "Content-Type: application/json\nMCP-Protocol-Version: 2026-07-28\n"
                  "Mcp-Method: tools/call\nMcp-Name: =?base64?bXkgdG9vbMOp?=\n"
                  "Mcp-Param-Region: us\n\n{1}");
    session_reply(&m, &w, 200, SESSION_JSON "Mcp-Session-Id: ignored\r\n", SESSION_ANSWER);
    (void)session_send(&m, "tools/list", "{2}");
    check_sent(1, "POST http://h:1/mcp\nAccept: application/json, text/event-stream\n"
                  "Content-Type: application/json\nMCP-Protocol-Version: 2026-07-28\n"
                  "Mcp-Method: tools/list\n\n{2}");
    session_end(&m, &w);
}

static void session_ids_must_be_visible_ascii(void) {
    static const char *const bad[] = {"a b", "a\tb", "\xC3\xA9", "a\x7f"};
    size_t i;
    for (i = 0; i < 4; i++) {
        char headers[100];
        (void)snprintf(headers, sizeof headers, SESSION_JSON "Mcp-Session-Id: %s\r\n", bad[i]);
        session_begin(&m, &w);
        (void)session_send(&m, "initialize", "{1}");
        session_reply(&m, &w, 200, headers, SESSION_ANSWER);
        CHECK(strstr(m.notes, "a session id with characters that are not visible ASCII") != NULL);
        session_end(&m, &w);
    }
}

/* ---- answers ---- */

/* One request answered that way; the notes afterwards. */
static void check_answer(int status, const char *headers, const char *body, const char *want) {
    session_begin(&m, &w);
    session_check(&m, "up\n");
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, status, headers, body);
    session_check(&m, want);
    session_end(&m, &w);
}

static void answers_have_many_shapes(void) {
    check_answer(200, SESSION_JSON, SESSION_ANSWER, "message #1 " SESSION_ANSWER "\n");
    check_answer(200, "content-type:  Application/JSON;charset=utf-8\r\n", SESSION_ANSWER,
                 "message #1 " SESSION_ANSWER "\n");
    check_answer(200, "Content-Type: application/vnd.x+json\r\n", SESSION_ANSWER,
                 "message #1 " SESSION_ANSWER "\n");
    check_answer(200, "", SESSION_ANSWER, "message #1 " SESSION_ANSWER "\n");
    check_answer(200, "Content-Type: Text/Event-Stream; charset=utf-8\r\n",
                 "data: " SESSION_ANSWER "\n\n", "message #1 " SESSION_ANSWER "\n");
    check_answer(200, SESSION_SSE,
                 ": hi\n\nevent: message\r\ndata: {\"n\":1}\r\n\r\nevent: other\ndata: {}\n\n"
                 "data: " SESSION_ANSWER "\n\n",
                 "message #1 {\"n\":1}\nmessage #1 " SESSION_ANSWER "\n");
    check_answer(200, SESSION_SSE, "data: " SESSION_ANSWER, "message #1 " SESSION_ANSWER "\n");
    check_answer(200, SESSION_SSE, "data: " SESSION_ANSWER "\n\ndata: {\"late\":1}\n\n",
                 "message #1 " SESSION_ANSWER "\nmessage - {\"late\":1}\n");
}

static void answers_that_are_none_are_lost_with_words(void) {
    check_answer(200, SESSION_JSON, "",
                 "lost #1 -11 200 HTTP 200 from server: an empty answer []\n");
    check_answer(200, SESSION_JSON, "{\"x\":1}",
                 "message #1 {\"x\":1}\n"
                 "lost #1 -11 200 HTTP 200 from server: no answer to the request [{\"x\":1}]\n");
    check_answer(200, SESSION_SSE, "",
                 "lost #1 -9 200 the stream has ended without an answer []\n");
    check_answer(202, "", "", "lost #1 -11 202 HTTP 202 from server: no answer to a request []\n");
    check_answer(204, "", "", "lost #1 -11 204 HTTP 204 from server: no answer to a request []\n");
    check_answer(200, "Content-Type: text/html\r\n", "<p>",
                 "lost #1 -11 200 HTTP 200 from server: content type \"text/html\", expected "
                 "application/json or text/event-stream [<p>]\n");
    check_answer(200, SESSION_JSON "Content-Encoding: gzip\r\n", "zzz",
                 "lost #1 -11 200 HTTP 200 from server: the answer is compressed, which was not "
                 "asked for [zzz]\n");
    check_answer(500, "", "", "lost #1 -16 500 HTTP 500 from server []\n");
    check_answer(400, SESSION_JSON, "{\"error\":{\"code\":-32000,\"message\":\"no\\nway\"}}",
                 "lost #1 -16 400 HTTP 400 from server: no?way "
                 "[{\"error\":{\"code\":-32000,\"message\":\"no\\nway\"}}]\n");
    check_answer(401, "", "",
                 "lost #1 -16 401 HTTP 401 from server (phi_mcp_desc.oauth is not set) []\n");
}

static void headers_of_any_size_are_read_in_bounded_memory(void) {
    enum { HUGE_HEADER = 5 << 20 };
    char *headers = (char *)malloc(HUGE_HEADER + 100);
    size_t n = (size_t)sprintf(headers, "X: ");
    memset(headers + n, 'x', HUGE_HEADER);
    (void)sprintf(headers + n + HUGE_HEADER, "\r\n" SESSION_SSE);
    session_begin(&m, &w);
    session_check(&m, "up\n");
    (void)session_send(&m, "tools/call", "{1}");
    wires_head(&w, 0, 200, headers); /* only the first 16 KiB count */
    session_step(&m, 2);
    CHECK(test_alloc_live_bytes() < 500000);
    (void)wires_push(&w, 0, SESSION_ANSWER, sizeof SESSION_ANSWER - 1);
    wires_end(&w, 0, PHI_OK, NULL);
    session_step(&m, 2);
    session_check(&m, "message #1 " SESSION_ANSWER "\n");
    session_end(&m, &w);
    free(headers);
}

static void event_ids_with_a_nul_are_never_sent_back(void) {
    static const char stream[] = "id: a\ndata: {}\n\nid: b\0\r\nX: 1\ndata: {}\n\n";
    session_begin(&m, &w);
    (void)session_send(&m, "tools/call", "{1}");
    wires_head(&w, 0, 200, SESSION_SSE);
    CHECK_EQ_INT(wires_push(&w, 0, stream, sizeof stream - 1), PHI_OK);
    session_step(&m, 2);
    wires_end(&w, 0, PHI_OK, NULL);
    session_step(&m, 2);
    session_later(&m, &w, 1000);
    REQUIRE(CHECK_EQ_INT(w.count, 2));
    CHECK(strstr(w.sent[1].text, "\nLast-Event-ID: a\n\n") != NULL);
    session_end(&m, &w);
    check_answer(200, SESSION_SSE, "id: a\x01z\ndata: {}\n\n", /* nor those no header can carry */
                 "message #1 {}\nlost #1 -9 200 the stream has ended without an answer []\n");
}

/* A server that asks and asks, and takes no answer, does not make us keep one request for each. */
static void answers_of_ours_wait_while_many_are_under_way(void) {
    phi__out *out;
    int i;
    session_begin(&m, &w);
    m.mcp.link->table->agreed(m.mcp.link, "2025-06-18", false);
    for (i = 0; i < 64; i++) {
        m.out_count = 0;
        session_tell(&m, "", "{\"id\":1,\"result\":{}}");
    }
    m.out_count = 0;
    out = session_out(&m, "", "{}");
    out->request = false;
    CHECK_EQ_INT(m.mcp.link->table->send(m.mcp.link, out), PHI_FULL);
    (void)session_send(&m, "tools/list", "{2}"); /* a request has its own place */
    session_check(&m, "up\n");
    wires_reply(&w, 0, 202, "", "");
    session_step(&m, 3);
    session_check(&m, "drained\n");
    CHECK_EQ_INT(m.mcp.link->table->send(m.mcp.link, out), PHI_OK);
    wires_end(&w, 1, PHI_NETWORK, "broken");
    session_step(&m, 3);
    CHECK(strstr(m.notes, "drained") == NULL); /* nothing was refused since */
    session_end(&m, &w);
}

static void large_answers_are_refused_in_bounded_memory(void) {
    char *body = (char *)malloc(3 << 20);
    memset(body, 'x', (3 << 20) - 1);
    body[(3 << 20) - 1] = '\0';
    check_answer(200, SESSION_JSON, body,
                 "lost #1 -12 200 the answer is larger than 100000 bytes "
                 "[]\n" +
                     0);
    free(body);
}

/* ---- in pieces ---- */

/* The answer in two pieces, cut at every place; then cut off there, which ends it. */
static void check_pieces(const char *headers, const char *body, const char *want) {
    size_t cut, len = strlen(body);
    for (cut = 0; cut <= len; cut++) {
        session_begin(&m, &w);
        session_check(&m, "up\n");
        (void)session_send(&m, "tools/call", "{1}");
        wires_head(&w, 0, 200, headers);
        session_step(&m, 1);
        if (cut > 0) CHECK_EQ_INT(wires_push(&w, 0, body, cut), PHI_OK);
        session_step(&m, 1);
        if (cut < len) CHECK_EQ_INT(wires_push(&w, 0, body + cut, len - cut), PHI_OK);
        session_step(&m, 1);
        wires_end(&w, 0, PHI_OK, NULL);
        session_step(&m, 2);
        session_check(&m, want);
        session_end(&m, &w);
        session_begin(&m, &w);
        m.quiet = true;
        (void)session_send(&m, "tools/call", "{1}");
        wires_head(&w, 0, 200, headers);
        if (cut > 0) CHECK_EQ_INT(wires_push(&w, 0, body, cut), PHI_OK);
        session_step(&m, 1);
        wires_end(&w, 0, PHI_NETWORK, "it broke");
        session_step(&m, 2);
        /* answered, lost, or to be resumed: one of them */
        CHECK_EQ_INT(
            (strstr(m.notes, "lost") != NULL) + (m.outs[0].of_link != NULL) +
                (m.messages > 0 && strstr(m.notes, "lost") == NULL && m.outs[0].of_link == NULL),
            1);
        session_end(&m, &w);
    }
}

static void answers_are_read_at_every_split(void) {
    check_pieces(SESSION_JSON, SESSION_ANSWER, "message #1 " SESSION_ANSWER "\n");
    check_pieces(SESSION_SSE,
                 "id: 1\nretry: 10\ndata:\n\nid: 2\ndata: {\"n\":1}\n\n"
                 "id: 3\r\ndata: " SESSION_ANSWER "\r\n\r\n",
                 "message #1 {\"n\":1}\nmessage #1 " SESSION_ANSWER "\n");
}

static void a_stream_of_100_mb_is_read_in_bounded_memory(void) {
    static char piece[30000];
    size_t pushed = 0, n = 0, peak = 0;
    session_begin(&m, &w);
    m.quiet = true;
    (void)session_send(&m, "tools/call", "{1}");
    wires_head(&w, 0, 200, SESSION_SSE);
    while (n + 40 < sizeof piece)
        n += (size_t)sprintf(piece + n, "data: {\"n\":%u}\n\n", (unsigned)n);
    while (pushed < (size_t)100 << 20) {
        if (wires_push(&w, 0, piece, n) == PHI_OK) pushed += n;
        session_step(&m, 1);
        peak = phi__max(peak, test_alloc_live_bytes());
    }
    CHECK(m.messages > 1000000);
    CHECK(peak < 700000);
    m.mcp.link->table->forget(m.mcp.link, &m.outs[0]);
    session_end(&m, &w);
}

static void an_event_that_never_ends_is_refused(void) {
    static char piece[30000];
    int i;
    memset(piece, 'x', sizeof piece);
    session_begin(&m, &w);
    session_check(&m, "up\n");
    (void)session_send(&m, "tools/call", "{1}");
    wires_head(&w, 0, 200, SESSION_SSE);
    (void)wires_push(&w, 0, "data: ", 6);
    for (i = 0; i < 10 && w.sent[0].live; i++) {
        (void)wires_push(&w, 0, piece, sizeof piece);
        session_step(&m, 2);
    }
    session_check(&m, "lost #1 -12 200 an event is larger than 100000 bytes []\n");
    session_end(&m, &w);
}

/* ---- two at once, forgotten, freed ---- */

static void push(size_t i, const char *text) {
    CHECK_EQ_INT(wires_push(&w, i, text, strlen(text)), PHI_OK);
}

static void streams_of_two_requests_do_not_mix(void) {
    phi__out *second;
    session_begin(&m, &w);
    session_check(&m, "up\n");
    (void)session_send(&m, "tools/call", "{1}");
    second = session_send(&m, "tools/call", "{2}");
    wires_head(&w, 0, 200, SESSION_SSE);
    wires_head(&w, 1, 200, SESSION_SSE);
    push(0, "data: {\"a\":1}\n\nda");
    push(1, "data: {\"b\":1}\n\n");
    session_step(&m, 2);
    push(0, "ta: {\"a\":2}\n\n");
    session_step(&m, 2);
    session_check(&m, "message #1 {\"a\":1}\nmessage #2 {\"b\":1}\nmessage #1 {\"a\":2}\n");
    m.mcp.link->table->forget(m.mcp.link, second);
    CHECK(second->of_link == NULL);
    CHECK(!w.sent[1].live);
    push(0, "data: " SESSION_ANSWER "\n\n");
    session_step(&m, 2);
    session_check(&m, "message #1 " SESSION_ANSWER "\n");
    CHECK(w.sent[0].live); /* it may end by itself */
    session_later(&m, &w, 1100);
    CHECK(!w.sent[0].live);
    session_end(&m, &w);
}

static void the_link_can_be_freed_inside_of_each_report(void) {
    int n;
    for (n = 1; n <= 4; n++) {
        session_begin(&m, &w);
        m.frees_after = n;
        (void)session_send(&m, "tools/call", "{1}");
        (void)session_send(&m, "tools/call", "{2}");
        (void)session_send(&m, "tools/list", "{3}");
        wires_reply(&w, 0, 200, SESSION_SSE, "data: {}\n\ndata: {\"b\":1}\n\n");
        session_step(&m, 2);
        if (!m.gone) wires_reply(&w, 2, 200, SESSION_JSON, SESSION_ANSWER);
        session_step(&m, 2);
        CHECK(m.gone);
        session_step(&m, 2);
        session_end(&m, &w);
    }
}

static void a_connection_can_be_closed_inside_of_a_message(void) {
    agree("2025-11-25", "s");
    m.closes_inside = true;
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 200, SESSION_JSON, SESSION_ANSWER);
    session_later(&m, &w, 20);
    CHECK(strstr(w.sent[w.count - 1].text, "DELETE") != NULL);
    session_reply(&m, &w, 200, "", "");
    session_later(&m, &w, 20);
    session_check(&m, "message #2 " SESSION_ANSWER "\ndown 0 0 \n");
    session_end(&m, &w);
}

static void closing_ends_by_its_deadline(void) {
    agree("2025-11-25", "s");
    (void)session_send(&m, "tools/call", "{1}");
    m.mcp.link->table->close(m.mcp.link);
    session_later(&m, &w, 1000);
    session_check(&m, "");
    session_later(&m, &w, 1000);
    session_check(&m, "down 0 0 \n");
    CHECK(m.outs[1].of_link == NULL);
    CHECK_EQ_INT(m.mcp.link->table->open(m.mcp.link), PHI_OK);
    session_step(&m, 1);
    session_check(&m, "up\n");
    session_end(&m, &w);
}

static void a_runtime_that_closes_ends_all(void) {
    agree("2025-11-25", "s");
    m.mcp.link->table->listen(m.mcp.link);
    (void)session_send(&m, "tools/call", "{1}");
    while (phi_runtime_close(m.mcp.rt) == PHI_BUSY) session_step(&m, 1);
    session_check(&m, "lost #2 -7 0 cancelled []\n");
    CHECK(m.mcp.link->table->send(m.mcp.link, session_out(&m, "ping", "{3}")) == PHI_MISUSE);
    session_end(&m, &w);
}

/* ---- sessions, redirects ---- */

static void a_session_that_the_server_forgot_is_told(void) {
    agree("2025-06-18", "abc");
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 404, SESSION_JSON, "{}");
    session_check(&m, "expired #2\n");
    m.mcp.link->table->agreed(m.mcp.link, NULL, false);
    (void)session_send(&m, "initialize", "{1}");
    CHECK(strstr(w.sent[w.count - 1].text, "Mcp-Session-Id") == NULL);
    session_end(&m, &w);
    agree("2025-06-18", NULL);
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 404, "", "");
    session_check(&m, "lost #2 -16 404 HTTP 404 from server []\n");
    session_tell(&m, "notifications/x", "{}");
    session_reply(&m, &w, 400, "", "");
    session_check(&m, "warn a notification was refused: HTTP 400 from server\n");
    session_end(&m, &w);
}

static void redirects_within_the_origin_keep_method_and_body(void) {
    int i;
    session_begin(&m, &w);
    session_check(&m, "up\n");
    (void)session_send(&m, "tools/call", "{1}");
    for (i = 0; i < 3; i++)
        session_reply(&m, &w, i % 2 ? 307 : 308, "Location: /other?x=1\r\n", "");
    CHECK_EQ_INT(w.count, 4);
    check_sent(3, "POST http://h:1/other?x=1\nAccept: application/json, text/event-stream\n"
                  "Content-Type: application/json\n\n{1}");
    session_reply(&m, &w, 307, "Location: /more\r\n", "");
    session_check(&m, "lost #1 -16 307 HTTP 307 from server: a redirect that is not followed []\n");
    session_end(&m, &w);
}

static void redirects_with_a_token_go_nowhere_else(void) {
    static const phi_mcp_pair own[] = {{"Authorization", "Bearer secret-token-1"}};
    static const char *const to[] = {"http://evil:1/mcp", "https://h:1/mcp", "//evil/mcp",
                                     "http://h:2/mcp", "file:///etc/passwd"};
    size_t i;
    for (i = 0; i < sizeof to / sizeof *to; i++) {
        char headers[100];
        m.mcp.desc.headers = own;
        m.mcp.desc.header_count = 1;
        session_begin(&m, &w);
        session_check(&m, "up\n");
        (void)session_send(&m, "tools/call", "{1}");
        (void)snprintf(headers, sizeof headers, "Location: %s\r\n", to[i]);
        session_reply(&m, &w, 307, headers, "");
        session_check(&m, "lost #1 -16 307 HTTP 307 or 308 from server: a redirect to another "
                          "place is not followed []\n");
        (void)session_send(&m, "tools/call", "{1}");
        session_reply(&m, &w, 302, headers, "");
        session_check(&m,
                      "lost #2 -16 302 HTTP 302 from server: a redirect that is not followed []\n");
        CHECK_EQ_INT(w.count, 2);
        session_end(&m, &w);
    }
}

static void secrets_that_a_server_echoes_are_hidden(void) {
    static const phi_mcp_pair own[] = {{"X-Api-Key", "secret-key-0001"}};
    m.mcp.desc.headers = own;
    m.mcp.desc.header_count = 1;
    session_begin(&m, &w);
    session_check(&m, "up\n");
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 400, SESSION_JSON,
                  "{\"error\":{\"message\":\"bad key secret-key-0001\"}}");
    session_check(&m, "lost #1 -16 400 HTTP 400 from server: bad key *************** "
                      "[{\"error\":{\"message\":\"bad key ***************\"}}]\n");
    /* whether the status is one of HTTP or of JSON-RPC, in JSON or in a stream */
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 200, SESSION_JSON,
                  "{\"id\":1,\"error\":{\"message\":\"bad secret-key-000\\u0031\"}}");
    CHECK(strstr(m.notes, "message #2 {\"id\":1,\"error\":{\"message\":\"bad ****") == m.notes);
    CHECK(strstr(m.notes, "secret") == NULL);
    m.len = 0;
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 200, SESSION_SSE,
                  "data: {\"id\":1,\"error\":{\"message\":\"bad secret-key-0001\"}}\n\n");
    CHECK(strstr(m.notes, "message #3 {\"id\":1,\"error\":{\"message\":\"bad ****") == m.notes);
    CHECK(strstr(m.notes, "secret") == NULL);
    session_end(&m, &w);
}

static void the_network_fails(void) {
    session_begin(&m, &w);
    session_check(&m, "up\n");
    (void)session_send(&m, "tools/call", "{1}");
    wires_end(&w, 0, PHI_UNREACHABLE, "nobody there");
    session_step(&m, 2);
    session_check(&m, "lost #1 -9 0 nobody there []\n");
    session_end(&m, &w);
}

TEST_MAIN(TEST_ENTRY(a_legacy_session_sends_what_was_agreed),
          TEST_ENTRY(what_follows_initialized_waits_for_its_answer),
          TEST_ENTRY(older_eras_have_no_version_header),
          TEST_ENTRY(the_modern_era_says_in_headers_what_the_message_says),
          TEST_ENTRY(session_ids_must_be_visible_ascii), TEST_ENTRY(answers_have_many_shapes),
          TEST_ENTRY(answers_that_are_none_are_lost_with_words),
          TEST_ENTRY(headers_of_any_size_are_read_in_bounded_memory),
          TEST_ENTRY(event_ids_with_a_nul_are_never_sent_back),
          TEST_ENTRY(answers_of_ours_wait_while_many_are_under_way),
          TEST_ENTRY(large_answers_are_refused_in_bounded_memory),
          TEST_ENTRY(answers_are_read_at_every_split),
          TEST_ENTRY(a_stream_of_100_mb_is_read_in_bounded_memory),
          TEST_ENTRY(an_event_that_never_ends_is_refused),
          TEST_ENTRY(streams_of_two_requests_do_not_mix),
          TEST_ENTRY(the_link_can_be_freed_inside_of_each_report),
          TEST_ENTRY(a_connection_can_be_closed_inside_of_a_message),
          TEST_ENTRY(closing_ends_by_its_deadline), TEST_ENTRY(a_runtime_that_closes_ends_all),
          TEST_ENTRY(a_session_that_the_server_forgot_is_told),
          TEST_ENTRY(redirects_within_the_origin_keep_method_and_body),
          TEST_ENTRY(redirects_with_a_token_go_nowhere_else),
          TEST_ENTRY(secrets_that_a_server_echoes_are_hidden), TEST_ENTRY(the_network_fails))
