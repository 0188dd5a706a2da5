/* test_mcp_stream.c - streams of the link over HTTP: resumption, messages of the server's own, the
   old HTTP+SSE, authorization, failed allocations. */
#include "mcp/http_session.h"

static wires w;
static session_fake m;

static void push(size_t i, const char *text) {
    CHECK_EQ_INT(wires_push(&w, i, text, strlen(text)), PHI_OK);
    session_step(&m, 2);
}

static void agree(const char *version) {
    session_begin(&m, &w);
    (void)session_send(&m, "initialize", "{1}");
    session_reply(&m, &w, 200, SESSION_JSON "Mcp-Session-Id: s1\r\n", SESSION_ANSWER);
    m.mcp.link->table->agreed(m.mcp.link, version, strcmp(version, "2026-07-28") == 0);
    session_check(&m, "up\nmessage #1 " SESSION_ANSWER "\n");
}

/* ---- resumption ---- */

static void a_broken_stream_is_resumed_after_the_delay(void) {
    int i;
    for (i = 0; i < 2; i++) { /* closed by the server, or broken */
        agree("2025-11-25");
        (void)session_send(&m, "tools/call", "{1}");
        session_reply(&m, &w, 200, SESSION_SSE, "");
        session_end(&m, &w);
        agree("2025-11-25");
        (void)session_send(&m, "tools/call", "{1}");
        wires_head(&w, 1, 200, SESSION_SSE);
        push(1, "id: ev-1\nretry: 500\ndata: \n\n");
        wires_end(&w, 1, i == 0 ? PHI_OK : PHI_NETWORK, "broken");
        session_step(&m, 3);
        session_later(&m, &w, 499);
        CHECK_EQ_INT(w.count, 2);
        session_later(&m, &w, 1);
        REQUIRE(CHECK_EQ_INT(w.count, 3));
        CHECK_EQ_STR(w.sent[2].text, "GET http://h:1/mcp\nAccept: text/event-stream\n"
                                     "MCP-Protocol-Version: 2025-11-25\nMcp-Session-Id: s1\n"
                                     "Last-Event-ID: ev-1\n\n");
        wires_head(&w, 2, 200, SESSION_SSE);
        push(2, "id: ev-2\ndata: " SESSION_ANSWER "\n\n");
        session_check(&m, "message #2 " SESSION_ANSWER "\n");
        CHECK(m.outs[1].of_link == NULL);
        session_end(&m, &w);
    }
}

/* An event that was cut has not come: its id counts for nothing on the next stream. */
static void the_id_of_a_cut_event_is_forgotten(void) {
    agree("2025-11-25");
    (void)session_send(&m, "tools/call", "{1}");
    wires_head(&w, 1, 200, SESSION_SSE);
    push(1, "id: 6\ndata: {\"n\":6}\n\nid: 7\ndata: {\"n\"");
    wires_end(&w, 1, PHI_NETWORK, "broken");
    session_step(&m, 3);
    session_later(&m, &w, 1000);
    REQUIRE(CHECK_EQ_INT(w.count, 3));
    CHECK(strstr(w.sent[2].text, "Last-Event-ID: 6\n") != NULL);
    wires_head(&w, 2, 200, SESSION_SSE);
    push(2, ": alive\n\n"); /* and cut again, before the event came anew */
    wires_end(&w, 2, PHI_NETWORK, "broken");
    session_step(&m, 3);
    session_later(&m, &w, 3000);
    REQUIRE(CHECK_EQ_INT(w.count, 4));
    CHECK(strstr(w.sent[3].text, "Last-Event-ID: 6\n") != NULL);
    session_end(&m, &w);
}

/* A stream that is cut behind each of its bytes brings each message once. */
static void a_stream_cut_at_any_byte_brings_each_message_once(void) {
    static const char *const events[] = {"id: 1\ndata: {\"n\":1}\n\n",
                                         "id: 2\ndata: {\"n\":2}\r\n\r\n",
                                         "data: " SESSION_ANSWER "\nid: 3\n\n"};
    char whole[300];
    size_t cut, first = strlen(events[0]), second = strlen(events[1]);
    (void)snprintf(whole, sizeof whole, "%s%s%s", events[0], events[1], events[2]);
    for (cut = first; cut < strlen(whole); cut++) {
        const char *from;
        agree("2025-11-25");
        (void)session_send(&m, "tools/call", "{1}");
        wires_head(&w, 1, 200, SESSION_SSE);
        CHECK_EQ_INT(wires_push(&w, 1, whole, cut), PHI_OK);
        session_step(&m, 2);
        if (w.sent[1].live) wires_end(&w, 1, PHI_NETWORK, "broken");
        session_step(&m, 3);
        session_later(&m, &w, 1000);
        REQUIRE(CHECK_EQ_INT(w.count, 3));
        from = strstr(w.sent[2].text, "Last-Event-ID: 1\n") != NULL ? events[1] : events[2];
        if (from == events[2]) CHECK(cut + 1 >= first + second);
        wires_head(&w, 2, 200, SESSION_SSE);
        push(2, ":\n\n");
        push(2, from);
        if (from == events[1]) push(2, events[2]);
        session_check(&m, "message #2 {\"n\":1}\nmessage #2 {\"n\":2}\nmessage #2 " SESSION_ANSWER
                          "\n");
        session_end(&m, &w);
    }
}

static void a_resumption_that_is_refused_loses_the_request(void) {
    agree("2025-06-18");
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 200, SESSION_SSE, "id: 1\ndata: {\"n\":1}\n\n");
    session_later(&m, &w, 1000);
    session_reply(&m, &w, 405, "", "");
    session_check(&m, "message #2 {\"n\":1}\nlost #2 -16 405 HTTP 405 from server []\n");
    session_end(&m, &w);
}

static void resumptions_without_a_message_slow_down_and_end(void) {
    int n = 0;
    uint64_t began;
    agree("2025-11-25");
    (void)session_send(&m, "tools/call", "{1}");
    began = w.now_us;
    session_reply(&m, &w, 200, SESSION_SSE, "id: 1\nretry: 0\ndata:\n\n");
    while (m.len == 0 && n < 100000) {
        session_later(&m, &w, 100);
        if (w.sent[w.count - 1].live)
            session_reply(&m, &w, 200, SESSION_SSE, "id: 1\nretry: 0\ndata:\n\n");
        n++;
    }
    session_check(&m, "lost #2 -9 200 the stream has ended without an answer []\n");
    CHECK_EQ_INT(w.count, 10);
    CHECK(w.now_us - began > 60000000);
    session_end(&m, &w);
}

static void the_modern_era_does_not_resume(void) {
    agree("2026-07-28");
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 200, SESSION_SSE, "id: 1\ndata: {\"n\":1}\n\n");
    session_check(&m, "message #2 {\"n\":1}\n"
                      "lost #2 -9 200 the stream has ended without an answer []\n");
    session_end(&m, &w);
}

static void a_request_that_waits_for_its_resumption_can_be_forgotten(void) {
    agree("2025-11-25");
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 200, SESSION_SSE, "id: 1\ndata:\n\n");
    m.mcp.link->table->forget(m.mcp.link, &m.outs[1]);
    session_later(&m, &w, 5000);
    CHECK_EQ_INT(w.count, 2);
    session_end(&m, &w);
}

/* ---- messages of the server's own ---- */

static void messages_of_the_servers_own_are_heard(void) {
    agree("2025-06-18");
    m.mcp.link->table->listen(m.mcp.link);
    m.mcp.link->table->listen(m.mcp.link);
    session_step(&m, 1);
    CHECK_EQ_INT(w.count, 2);
    wires_head(&w, 1, 200, SESSION_SSE);
    push(1, ": ping\n\nid: 7\ndata: {\"a\":1}\n\nevent: other\ndata: {}\n\n");
    session_check(&m, "message - {\"a\":1}\n");
    session_later(&m, &w, 3600000); /* silence is no fault */
    CHECK(w.sent[1].live);
    wires_end(&w, 1, PHI_NETWORK, "broken");
    session_step(&m, 2);
    session_later(&m, &w, 1000);
    REQUIRE(CHECK_EQ_INT(w.count, 3));
    CHECK(strstr(w.sent[2].text, "Last-Event-ID: 7\n") != NULL);
    session_reply(&m, &w, 503, "", "");
    session_later(&m, &w, 1000);
    REQUIRE(CHECK_EQ_INT(w.count, 4));
    session_reply(&m, &w, 503, "", "");
    session_later(&m, &w, 1000);
    CHECK_EQ_INT(w.count, 4); /* slower and slower */
    session_later(&m, &w, 1000);
    REQUIRE(CHECK_EQ_INT(w.count, 5));
    session_reply(&m, &w, 404, "", "");
    session_check(&m, "expired -\n");
    session_later(&m, &w, 100000);
    CHECK_EQ_INT(w.count, 5);
    session_end(&m, &w);
}

/* A server that ends its stream behind each message, and names no delay. */
static void streams_that_end_at_once_are_not_opened_without_a_pause(void) {
    uint64_t began;
    agree("2025-11-25");
    m.mcp.link->table->listen(m.mcp.link);
    session_step(&m, 1);
    began = w.now_us;
    while (w.count < 40 && w.now_us - began < 60000000) {
        if (w.sent[w.count - 1].live)
            session_reply(&m, &w, 200, SESSION_SSE, "id: 1\nretry: 0\ndata: {}\n\n");
        session_later(&m, &w, 10);
    }
    CHECK_EQ_INT(w.count, 40);
    CHECK(w.now_us - began > 3500000);
    session_end(&m, &w);
}

static void a_server_without_a_stream_is_asked_once(void) {
    static const char *const kinds[] = {SESSION_JSON, "Content-Type: text/html\r\n", ""};
    size_t i;
    for (i = 0; i < 3; i++) {
        agree("2025-06-18");
        m.mcp.link->table->listen(m.mcp.link);
        session_step(&m, 1);
        session_reply(&m, &w, i == 2 ? 405 : 200, kinds[i], "{}");
        session_later(&m, &w, 100000);
        CHECK_EQ_INT(w.count, 2);
        session_check(&m, "");
        session_end(&m, &w);
    }
}

static void streams_that_stay_open_leave_half_of_the_connections(void) {
    phi_runtime_desc desc = PHI_ZERO;
    phi__out *first, *second;
    desc.max_connections = 2;
    session_settings = &desc;
    session_begin(&m, &w);
    m.mcp.link->table->agreed(m.mcp.link, "2026-07-28", true);
    first = session_out(&m, "subscriptions/listen", "{1}");
    second = session_out(&m, "subscriptions/listen", "{2}");
    first->stream = second->stream = true;
    CHECK_EQ_INT(m.mcp.link->table->send(m.mcp.link, first), PHI_OK);
    CHECK_EQ_INT(m.mcp.link->table->send(m.mcp.link, second), PHI_OK);
    (void)session_send(&m, "tools/list", "{3}");
    CHECK_EQ_INT(w.count, 2);
    CHECK(strstr(w.sent[1].text, "\n\n{3}") != NULL);
    session_later(&m, &w, 5000);
    CHECK_EQ_INT(w.count, 2);
    m.mcp.link->table->forget(m.mcp.link, first);
    session_later(&m, &w, 5000);
    CHECK_EQ_INT(w.count, 3);
    CHECK(strstr(w.sent[2].text, "\n\n{2}") != NULL);
    session_settings = NULL;
    session_end(&m, &w);
}

/* ---- the old HTTP+SSE ---- */

/* initialize was refused, and a stream is asked for. */
static void begin_old(int status) {
    session_begin(&m, &w);
    (void)session_send(&m, "initialize", "{1}");
    session_reply(&m, &w, status, "", "nothing here");
    session_check(&m, "up\n");
    REQUIRE(CHECK_EQ_INT(w.count, 2));
    CHECK_EQ_STR(w.sent[1].text, "GET http://h:1/mcp\nAccept: text/event-stream\n\n");
}

static void the_old_transport_is_found_and_spoken(void) {
    static const int refusals[] = {400, 404, 405};
    size_t i;
    for (i = 0; i < 3; i++) {
        begin_old(refusals[i]);
        wires_head(&w, 1, 200, SESSION_SSE);
        push(1, "event: endpoint\ndata: /messages?id=9\n\n");
        REQUIRE(CHECK_EQ_INT(w.count, 3));
        CHECK_EQ_STR(w.sent[2].text, "POST http://h:1/messages?id=9\n"
                                     "Accept: application/json, text/event-stream\n"
                                     "Content-Type: application/json\n\n{1}");
        session_reply(&m, &w, 202, "", "Accepted");
        CHECK(m.outs[0].of_link == NULL);
        push(1, "event: message\ndata: " SESSION_ANSWER "\n\n");
        session_check(&m, "message - " SESSION_ANSWER "\n");
        m.mcp.link->table->agreed(m.mcp.link, "2024-11-05", false);
        m.mcp.link->table->listen(m.mcp.link);
        session_tell(&m, "notifications/initialized", "{2}");
        REQUIRE(CHECK_EQ_INT(w.count, 4));
        CHECK(strstr(w.sent[3].text, "POST http://h:1/messages?id=9\n") != NULL);
        session_reply(&m, &w, 202, "", "");
        push(1, "event: endpoint\ndata: /elsewhere\n\n");
        (void)session_send(&m, "tools/list", "{3}");
        CHECK(strstr(w.sent[4].text, "POST http://h:1/messages?id=9\n") != NULL);
        session_reply(&m, &w, 500, "", "");
        session_check(&m, "lost #3 -16 500 HTTP 500 from server []\n");
        wires_end(&w, 1, PHI_NETWORK, "broken");
        session_step(&m, 2);
        session_check(&m, "down -9 0 the server's stream has ended: broken\n");
        /* it is known now */
        CHECK_EQ_INT(m.mcp.link->table->open(m.mcp.link), PHI_OK);
        session_step(&m, 2);
        m.mcp.link->table->agreed(m.mcp.link, NULL, false);
        (void)session_send(&m, "initialize", "{1}");
        REQUIRE(CHECK_EQ_INT(w.count, 6));
        CHECK(strncmp(w.sent[5].text, "GET ", 4) == 0);
        session_end(&m, &w);
    }
}

static void an_endpoint_of_another_origin_is_refused(void) {
    static const char *const to[] = {"http://evil:1/m", "https://h:1/m",      "//evil/m",
                                     "http://h:2/",     "file:///etc/passwd", "/a b"};
    size_t i;
    for (i = 0; i < sizeof to / sizeof *to; i++) {
        char text[100];
        begin_old(404);
        wires_head(&w, 1, 200, SESSION_SSE);
        (void)snprintf(text, sizeof text, "event: endpoint\ndata: %s\n\n", to[i]);
        push(1, text);
        CHECK_EQ_INT(w.count, 2);
        session_check(&m, "lost #1 -16 404 the server's endpoint event names another place than "
                          "its own origin, which is not followed [nothing here]\n");
        session_end(&m, &w);
    }
}

static void a_server_that_is_not_old_keeps_its_first_refusal(void) {
    int i;
    for (i = 0; i < 4; i++) {
        begin_old(404);
        if (i == 0) session_reply(&m, &w, 405, "", "");
        if (i == 1) session_reply(&m, &w, 200, SESSION_JSON, "{}");
        if (i == 2) session_reply(&m, &w, 200, SESSION_SSE, "data: {}\n\n");
        if (i == 3) session_later(&m, &w, 10000);
        session_check(&m, i < 3 ? "lost #1 -16 404 HTTP 404 from server [nothing here]\n"
                                : "lost #1 -8 404 HTTP 404 from server [nothing here]\n");
        session_end(&m, &w);
    }
    session_begin(&m, &w);
    (void)session_send(&m, "initialize", "{1}");
    session_reply(&m, &w, 400, SESSION_JSON, "{\"error\":{\"code\":-32022,\"message\":\"no\"}}");
    session_check(&m, "up\nlost #1 -16 400 HTTP 400 from server: no "
                      "[{\"error\":{\"code\":-32022,\"message\":\"no\"}}]\n");
    CHECK_EQ_INT(w.count, 1);
    session_end(&m, &w);
}

static void an_initialize_that_waits_for_the_endpoint_can_be_forgotten(void) {
    begin_old(404);
    m.mcp.link->table->forget(m.mcp.link, &m.outs[0]);
    CHECK(!w.sent[1].live);
    session_later(&m, &w, 20000);
    session_check(&m, "");
    session_end(&m, &w);
}

/* ---- authorization ---- */

static const phi_mcp_oauth_desc *some_oauth(void) {
    static phi_mcp_oauth_desc oauth;
    return &oauth;
}

static void begin_oauth(void) {
    m.mcp.desc.oauth = some_oauth();
    session_begin(&m, &w);
    session_check(&m, "up\n");
}

static void requests_wait_for_the_authorization_and_are_sent_again(void) {
    begin_oauth();
    m.challenge = PHI_BUSY;
    (void)session_send(&m, "tools/call", "{1}");
    (void)session_send(&m, "tools/call", "{2}");
    wires_reply(&w, 0, 401, "WWW-Authenticate: Bearer\r\n", "");
    wires_reply(&w, 1, 401, "WWW-Authenticate: Bearer\r\n", "");
    session_step(&m, 2);
    session_check(&m, "challenge 401 WWW-Authenticate: Bearer\r\n sent \"\"\nwait 1\n"
                      "challenge 401 WWW-Authenticate: Bearer\r\n sent \"\"\n");
    m.header = PHI_BUSY; /* one that comes later waits, too */
    session_tell(&m, "notifications/x", "{3}");
    CHECK_EQ_INT(w.count, 2);
    m.header = PHI_OK;
    (void)snprintf(m.token, sizeof m.token, "Bearer token-000001");
    m.listener.changed(m.listener.ctx, PHI_OK, "");
    session_step(&m, 1);
    session_check(&m, "wait 0\n");
    REQUIRE(CHECK_EQ_INT(w.count, 5));
    CHECK_EQ_STR(w.sent[2].text, "POST http://h:1/mcp\n"
                                 "Accept: application/json, text/event-stream\n"
                                 "Content-Type: application/json\n"
                                 "Authorization: Bearer token-000001\n\n{1}");
    CHECK(strstr(w.sent[4].text, "\n\n{3}") != NULL);
    m.challenge = PHI_OK; /* more scopes: at once */
    wires_reply(&w, 2, 403, "", "");
    session_step(&m, 2);
    session_check(&m, "challenge 403  sent \"Bearer token-000001\"\n");
    CHECK_EQ_INT(w.count, 6);
    wires_reply(&w, 5, 200, SESSION_JSON, SESSION_ANSWER);
    session_step(&m, 2);
    session_check(&m, "message #1 " SESSION_ANSWER "\n");
    session_end(&m, &w);
}

static void each_try_of_a_request_carries_a_proof_of_its_own(void) {
    begin_oauth();
    m.header = m.challenge = PHI_OK;
    (void)snprintf(m.token, sizeof m.token, "DPoP token-000001");
    (void)session_send(&m, "tools/call", "{1}");
    CHECK_EQ_STR(w.sent[0].text, "POST http://h:1/mcp\n"
                                 "Accept: application/json, text/event-stream\n"
                                 "Content-Type: application/json\n"
                                 "Authorization: DPoP token-000001\n"
                                 "DPoP: 1 POST http://h:1/mcp\n\n{1}");
    wires_reply(&w, 0, 401, "DPoP-Nonce: n\r\n", "");
    session_step(&m, 2);
    session_check(&m, "nonce\nchallenge 401 DPoP-Nonce: n\r\n sent \"DPoP token-000001\"\n");
    REQUIRE(CHECK_EQ_INT(w.count, 2));
    CHECK(strstr(w.sent[1].text, "\nDPoP: 2 POST http://h:1/mcp\n") != NULL);
    m.proof = PHI_DENIED;
    CHECK_EQ_INT(m.mcp.link->table->send(m.mcp.link, session_out(&m, "tools/call", "{2}")),
                 PHI_DENIED);
    session_check(&m, "");
    CHECK_EQ_INT(w.count, 2);
    session_end(&m, &w);
}

/* The old transport's deadline for its endpoint does not run while a person is asked. */
static void an_old_stream_waits_for_its_authorization(void) {
    begin_oauth();
    (void)session_send(&m, "initialize", "{1}");
    m.header = PHI_BUSY;
    session_reply(&m, &w, 405, "", "");
    session_check(&m, "wait 1\n");
    CHECK_EQ_INT(w.count, 1);
    session_later(&m, &w, 60000);
    session_check(&m, "");
    m.header = PHI_OK;
    m.listener.changed(m.listener.ctx, PHI_OK, "");
    session_step(&m, 1);
    session_check(&m, "wait 0\n");
    REQUIRE(CHECK_EQ_INT(w.count, 2));
    wires_head(&w, 1, 200, SESSION_SSE);
    push(1, "event: endpoint\ndata: /m\n\n");
    REQUIRE(CHECK_EQ_INT(w.count, 3));
    CHECK(strncmp(w.sent[2].text, "POST http://h:1/m\n", 18) == 0);
    session_end(&m, &w);
}

static void challenges_of_one_request_are_bounded(void) {
    int i;
    begin_oauth();
    m.header = PHI_OK;
    (void)snprintf(m.token, sizeof m.token, "Bearer token-000001");
    (void)session_send(&m, "tools/call", "{1}");
    for (i = 0; i < 5; i++)
        session_reply(&m, &w, 401, SESSION_JSON, "{\"error\":{\"message\":\"token-000001?\"}}");
    CHECK_EQ_INT(m.challenges, 4);
    CHECK_EQ_INT(w.count, 5);
    CHECK(strstr(m.notes, "lost #1 -16 401 HTTP 401 from server: ************? ") != NULL);
    session_end(&m, &w);
}

/* The person has said no, or has not come: a stream in the background does not ask again. */
static void streams_do_not_ask_a_person_again(void) {
    static const phi_status ends[] = {PHI_DENIED, PHI_TIMEOUT, PHI_REFUSED, PHI_CANCELLED};
    size_t i;
    for (i = 0; i < PHI__COUNT(ends); i++) {
        m.mcp.desc.oauth = some_oauth();
        agree("2025-11-25");
        m.challenge = PHI_BUSY;
        m.mcp.link->table->listen(m.mcp.link);
        session_step(&m, 1);
        session_reply(&m, &w, 401, "", "");
        m.listener.changed(m.listener.ctx, ends[i], "no");
        session_later(&m, &w, 100000);
        CHECK_EQ_INT(w.count, 2);
        session_end(&m, &w);
        m.mcp.desc.oauth = some_oauth();
        agree("2025-11-25");
        m.challenge = PHI_BUSY;
        (void)session_send(&m, "tools/call", "{1}");
        session_reply(&m, &w, 200, SESSION_SSE, "id: 1\ndata: {}\n\n");
        session_later(&m, &w, 1000);
        session_reply(&m, &w, 401, "", "");
        m.listener.changed(m.listener.ctx, ends[i], "no");
        session_later(&m, &w, 100000);
        CHECK_EQ_INT(w.count, 3);
        CHECK(strstr(m.notes, "lost #2 ") != NULL);
        session_end(&m, &w);
        m.mcp.desc.oauth = some_oauth();
        agree("2026-07-28");
        m.challenge = PHI_BUSY;
        session_out(&m, "subscriptions/listen", "{1}")->stream = true;
        CHECK_EQ_INT(m.mcp.link->table->send(m.mcp.link, &m.outs[1]), PHI_OK);
        session_step(&m, 1);
        session_reply(&m, &w, 401, "", "");
        m.len = 0;
        m.listener.changed(m.listener.ctx, ends[i], "no");
        session_check(&m, "wait 0\nlost #2 -19 401 no []\n"); /* PHI_DENIED: not again */
        session_end(&m, &w);
    }
}

static void a_stream_whose_proof_fails_once_is_opened_later(void) {
    m.mcp.desc.oauth = some_oauth();
    agree("2025-11-25");
    m.header = PHI_OK;
    m.proof = PHI_DENIED;
    (void)snprintf(m.token, sizeof m.token, "DPoP token-000001");
    m.mcp.link->table->listen(m.mcp.link);
    session_step(&m, 1);
    CHECK_EQ_INT(w.count, 1);
    m.proof = PHI_OK;
    session_later(&m, &w, 100000);
    REQUIRE(CHECK_EQ_INT(w.count, 2));
    CHECK(strncmp(w.sent[1].text, "GET http://h:1/mcp\n", 19) == 0);
    CHECK(strstr(w.sent[1].text, "\nDPoP: 1 GET http://h:1/mcp\n") != NULL);
    session_check(&m, "");
    session_end(&m, &w);
}

/* A stream of days meets more refused tokens than one request may. */
static void a_stream_that_was_opened_may_be_challenged_again(void) {
    int i;
    m.mcp.desc.oauth = some_oauth();
    agree("2025-11-25");
    m.challenge = PHI_OK;
    m.mcp.link->table->listen(m.mcp.link);
    session_step(&m, 1);
    for (i = 0; i < 6; i++) {
        session_reply(&m, &w, 401, "", "");
        session_reply(&m, &w, 200, SESSION_SSE, "data: {}\n\n");
        session_later(&m, &w, 1000);
    }
    CHECK_EQ_INT(m.challenges, 6);
    CHECK_EQ_INT(w.count, 14);
    session_end(&m, &w);
}

static void an_authorization_that_fails_loses_what_waits(void) {
    begin_oauth();
    m.challenge = PHI_BUSY;
    (void)session_send(&m, "tools/call", "{1}");
    session_reply(&m, &w, 401, "", "");
    m.len = 0;
    m.listener.changed(m.listener.ctx, PHI_DENIED, "the person declined");
    session_step(&m, 1);
    session_check(&m, "wait 0\nlost #1 -19 401 the person declined []\n");
    m.challenge = PHI_REFUSED;
    (void)session_send(&m, "tools/call", "{2}");
    session_reply(&m, &w, 401, "", "");
    CHECK(strstr(m.notes, "lost #2 -16 401 HTTP 401 from server: the person said no") != NULL);
    m.challenge = PHI_BUSY;
    (void)session_send(&m, "tools/call", "{3}");
    session_reply(&m, &w, 401, "", "");
    session_end(&m, &w); /* freed while one waits */
}

/* ---- no memory ---- */

/* Requests of all shapes, whatever fails. */
static void story(void) {
    phi__out *out;
    session_step(&m, 2);
    out = session_out(&m, "initialize", "{1}");
    if (m.mcp.link->table->send(m.mcp.link, out) == PHI_OK) {
        session_step(&m, 1);
        if (w.count > 0 && w.sent[0].live)
            wires_reply(&w, 0, 200, SESSION_JSON "Mcp-Session-Id: s1\r\n", SESSION_ANSWER);
    }
    session_step(&m, 2);
    m.mcp.link->table->agreed(m.mcp.link, "2025-11-25", false);
    m.mcp.link->table->listen(m.mcp.link);
    out = session_out(&m, "tools/call", "{2}");
    if (m.mcp.link->table->send(m.mcp.link, out) == PHI_OK) {
        size_t i = w.count - 1;
        wires_head(&w, i, 200, SESSION_SSE);
        (void)wires_push(&w, i, "id: 1\nretry: 10\nda", 18);
        session_step(&m, 2);
        (void)wires_push(&w, i, "ta: {\"n\":1}\n\n", 13);
        session_step(&m, 2);
        if (w.sent[i].live) wires_end(&w, i, PHI_NETWORK, "broken");
        session_step(&m, 2);
        session_later(&m, &w, 100);
        if (w.count > i + 1)
            wires_reply(&w, w.count - 1, 200, SESSION_SSE, "data: " SESSION_ANSWER "\n\n");
        session_step(&m, 2);
        CHECK(out->of_link == NULL || w.count > 0);
    }
    out = session_out(&m, "tools/list", "{3}");
    if (m.mcp.link->table->send(m.mcp.link, out) == PHI_OK && w.sent[w.count - 1].live)
        wires_reply(&w, w.count - 1, 400, SESSION_JSON, "{\"error\":{\"message\":\"no\"}}");
    session_step(&m, 2);
    m.mcp.link->table->close(m.mcp.link);
    session_later(&m, &w, 3000);
}

static void each_failed_allocation_leaves_a_link_that_can_be_freed(void) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 1000; n++) {
        session_open(&m, &w);
        test_alloc_fail_at(n);
        if (phi__mhttp_new(&m.mcp, &m.mcp.link) == PHI_OK &&
            m.mcp.link->table->open(m.mcp.link) == PHI_OK)
            story();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped)
            CHECK_EQ_STR(m.notes, "up\nmessage #1 " SESSION_ANSWER
                                  "\nmessage #2 {\"n\":1}\nmessage #2 " SESSION_ANSWER
                                  "\nlost #3 -16 400 HTTP 400 from server: no "
                                  "[{\"error\":{\"message\":\"no\"}}]\ndown 0 0 \n");
        session_end(&m, &w);
    }
    CHECK(n > 30);
}

TEST_MAIN(TEST_ENTRY(a_broken_stream_is_resumed_after_the_delay),
          TEST_ENTRY(the_id_of_a_cut_event_is_forgotten),
          TEST_ENTRY(a_stream_cut_at_any_byte_brings_each_message_once),
          TEST_ENTRY(a_resumption_that_is_refused_loses_the_request),
          TEST_ENTRY(resumptions_without_a_message_slow_down_and_end),
          TEST_ENTRY(the_modern_era_does_not_resume),
          TEST_ENTRY(a_request_that_waits_for_its_resumption_can_be_forgotten),
          TEST_ENTRY(messages_of_the_servers_own_are_heard),
          TEST_ENTRY(streams_that_end_at_once_are_not_opened_without_a_pause),
          TEST_ENTRY(streams_do_not_ask_a_person_again),
          TEST_ENTRY(a_stream_whose_proof_fails_once_is_opened_later),
          TEST_ENTRY(a_stream_that_was_opened_may_be_challenged_again),
          TEST_ENTRY(a_server_without_a_stream_is_asked_once),
          TEST_ENTRY(streams_that_stay_open_leave_half_of_the_connections),
          TEST_ENTRY(the_old_transport_is_found_and_spoken),
          TEST_ENTRY(an_endpoint_of_another_origin_is_refused),
          TEST_ENTRY(a_server_that_is_not_old_keeps_its_first_refusal),
          TEST_ENTRY(an_initialize_that_waits_for_the_endpoint_can_be_forgotten),
          TEST_ENTRY(requests_wait_for_the_authorization_and_are_sent_again),
          TEST_ENTRY(each_try_of_a_request_carries_a_proof_of_its_own),
          TEST_ENTRY(an_old_stream_waits_for_its_authorization),
          TEST_ENTRY(challenges_of_one_request_are_bounded),
          TEST_ENTRY(an_authorization_that_fails_loses_what_waits),
          TEST_ENTRY(each_failed_allocation_leaves_a_link_that_can_be_freed))
