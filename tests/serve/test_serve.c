/* test_serve.c - the server, against raw sockets: one request after another, slow, ahead, huge, cut
   off; answers whole and streamed; deadlines; ends inside of callbacks. */
#include "serve/peer.h"
#include "serve/serve_in.h"
#include "support/test.h"

#ifdef _WIN32
#define IN_USE WSAEADDRINUSE
#else
#define IN_USE EADDRINUSE
#endif

enum { PEERS = 40 };

typedef struct rig {
    phi_memory memory;
    phi__io *io;
    uint64_t now_us;
    phi__serve *serve;
    phi__serve_exchange *kept; /* the last that was kept */
    phi__buf body;
    int requests, wholes, gones, pieces;
    bool free_in_body, free_in_whole, drop_in_gone;
    int answers; /* of /later, that were given by the test */
    intptr_t fds[PEERS];
    char *got[PEERS];
    size_t got_len[PEERS];
    bool closed[PEERS];
} rig;

static uint64_t clock_of(void *user_data) { return ((rig *)user_data)->now_us; }

static void on_body(void *ctx, const char *bytes, size_t len) {
    rig *r = (rig *)ctx;
    phi__buf_add(&r->body, bytes, len);
    r->pieces++;
    if (r->free_in_body) {
        phi__serve_free(r->serve);
        r->serve = NULL;
    }
}

static void on_whole_echo(void *ctx) {
    rig *r = (rig *)ctx;
    r->wholes++;
    if (r->free_in_whole) {
        phi__serve_free(r->serve);
        r->serve = NULL;
        return;
    }
    (void)phi__serve_reply(r->kept, 200, NULL, 0, phi__buf_str(&r->body));
    phi__buf_clear(&r->body);
    r->kept = NULL;
}

static void on_whole(void *ctx) { ((rig *)ctx)->wholes++; }

static void on_gone(void *ctx) {
    rig *r = (rig *)ctx;
    r->gones++;
    r->kept = NULL;
    phi__buf_clear(&r->body);
}

static void on_request(void *ctx, phi__serve_exchange *exchange, const phi__http_head *head) {
    rig *r = (rig *)ctx;
    phi__serve_calls calls;
    phi__header header;
    r->requests++;
    memset(&calls, 0, sizeof calls);
    calls.body = on_body;
    calls.whole = on_whole;
    calls.gone = on_gone;
    header.name = phi_str_of("X-Kind");
    header.value = phi_str_of("test");
    if (phi__str_is(head->path, "/hello")) {
        CHECK_EQ_INT(phi__serve_reply(exchange, 200, &header, 1, phi_str_of("hello")), PHI_OK);
    } else if (phi__str_is(head->path, "/echo")) {
        calls.whole = on_whole_echo;
        r->kept = exchange;
        phi__serve_keep(exchange, &calls, r);
    } else if (phi__str_is(head->path, "/later")) {
        r->kept = exchange;
        phi__serve_keep(exchange, &calls, r);
    } else if (phi__str_is(head->path, "/stream")) {
        r->kept = exchange;
        phi__serve_keep(exchange, &calls, r);
        if (phi__serve_begin(exchange, 200, &header, 1) == PHI_NO_MEMORY) {
            phi__serve_drop(exchange);
            r->kept = NULL;
        }
    } else if (phi__str_is(head->path, "/drop")) {
        phi__serve_keep(exchange, &calls, r);
        phi__serve_drop(exchange);
        CHECK_STR(head->path, "/drop"); /* borrowed until this returns */
    } else if (phi__str_is(head->path, "/free")) {
        phi__serve_keep(exchange, &calls, r);
        phi__serve_free(r->serve);
        r->serve = NULL;
        CHECK_STR(head->path, "/free");
    } else if (!phi__str_is(head->path, "/none"))
        phi__serve_refuse(exchange, 404, "no such page");
}

static void rig_open_io(rig *r) {
    phi_allocator allocator = test_allocator();
    phi__io_desc desc;
    int i;
    memset(r, 0, sizeof *r);
    memset(&desc, 0, sizeof desc);
    desc.clock_us_fn = clock_of;
    desc.user_data = r;
    r->now_us = 1000000;
    for (i = 0; i < PEERS; i++) r->fds[i] = -1;
    phi_memory_init(&r->memory, &allocator, 0);
    phi__buf_init(&r->body, &r->memory);
    CHECK_EQ_INT(phi__io_new(&r->memory, &desc, &r->io), PHI_OK);
}

static phi_status rig_serve(rig *r, phi__serve_desc *desc) {
    char message[160];
    desc->request = on_request;
    desc->ctx = r;
    return phi__serve_new(r->io, desc, &r->serve, message, sizeof message);
}

static bool rig_open(rig *r) {
    phi__serve_desc desc;
    memset(&desc, 0, sizeof desc);
    rig_open_io(r);
    return CHECK_EQ_INT(rig_serve(r, &desc), PHI_OK);
}

static void hang_up(rig *r, int peer) {
    if (r->fds[peer] >= 0) peer_close(r->fds[peer]);
    r->fds[peer] = -1;
}

static void rig_close(rig *r) {
    int i;
    phi__serve_free(r->serve);
    phi__io_free(r->io);
    for (i = 0; i < PEERS; i++) {
        hang_up(r, i);
        free(r->got[i]);
    }
    phi__buf_free(&r->body);
    CHECK_EQ_INT(r->memory.used_bytes, 0);
}

static void turn(rig *r) {
    phi__io_step_begin(r->io);
    (void)phi__io_wait(r->io, 0, 64);
    (void)phi__io_timers(r->io, 64);
}

/* What has come for a peer, terminated. */
static void take(rig *r, int peer) {
    char bytes[65536];
    long n;
    if (r->fds[peer] < 0) return;
    while ((n = peer_recv(r->fds[peer], bytes, sizeof bytes)) > 0) {
        r->got[peer] = (char *)realloc(r->got[peer], r->got_len[peer] + (size_t)n + 1);
        memcpy(r->got[peer] + r->got_len[peer], bytes, (size_t)n);
        r->got_len[peer] += (size_t)n;
        r->got[peer][r->got_len[peer]] = '\0';
    }
    if (n == 0 || !peer_busy()) r->closed[peer] = true;
}

static void turns(rig *r, int n) {
    int i, k;
    for (i = 0; i < n; i++) {
        peer_pause(i % 4 == 3 ? 1 : 0); /* loopback needs a moment now and then */
        turn(r);
        for (k = 0; k < PEERS; k++) take(r, k);
    }
}

static bool dial(rig *r, int peer) {
    r->fds[peer] = peer_dial(phi__serve_port(r->serve));
    r->closed[peer] = false;
    return r->fds[peer] >= 0;
}

static void say(rig *r, int peer, const char *text) {
    (void)peer_send(r->fds[peer], text, strlen(text));
}

static const char *heard(const rig *r, int peer) {
    return r->got[peer] != NULL ? r->got[peer] : "";
}

static void hush(rig *r, int peer) {
    free(r->got[peer]);
    r->got[peer] = NULL;
    r->got_len[peer] = 0;
}

static bool has(const rig *r, int peer, const char *part) {
    bool so = strstr(heard(r, peer), part) != NULL;
    if (!so) printf("    heard: %s\n", heard(r, peer));
    return so;
}

static int count(const rig *r, int peer, const char *part) {
    const char *at = heard(r, peer);
    int n = 0;
    while ((at = strstr(at, part)) != NULL) {
        n++;
        at += strlen(part);
    }
    return n;
}

#define HELLO "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

/* ---- answers ---- */

TEST(one_connection_serves_many_requests_with_exact_answers) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, HELLO);
        turns(&r, 8);
        CHECK_EQ_STR(heard(&r, 0), "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\n"
                                   "X-Kind: test\r\nContent-Length: 5\r\n\r\nhello");
        hush(&r, 0);
        say(&r, 0, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
        turns(&r, 8);
        CHECK(has(&r, 0, "Content-Length: 3\r\n\r\nabc"));
        hush(&r, 0);
        say(&r, 0,
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            "2\r\nde\r\n1\r\nf\r\n0\r\n\r\n");
        turns(&r, 8);
        CHECK(has(&r, 0, "Content-Length: 3\r\n\r\ndef"));
        hush(&r, 0);
        say(&r, 0, "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 8);
        CHECK_EQ_STR(heard(&r, 0), "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\n"
                                   "X-Kind: test\r\nContent-Length: 5\r\n\r\n");
        hush(&r, 0);
        say(&r, 0, "GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        turns(&r, 8);
        CHECK(has(&r, 0, "HTTP/1.1 404 Not Found\r\n"));
        CHECK(has(&r, 0, "Connection: close\r\n\r\n404 Not Found: no such page\n"));
        CHECK(r.closed[0]);
        CHECK_EQ_INT(r.requests, 5);
        hang_up(&r, 0);
        turns(&r, 4);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 0);
    }
    rig_close(&r);
}

TEST(a_request_may_come_in_any_two_pieces_and_byte_by_byte) {
    static const char text[] =
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nde\r\n1\r\nf\r\n0\r\n\r\n";
    size_t len = sizeof text - 1, i;
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        for (i = 1; i < len; i++) {
            (void)peer_send(r.fds[0], text, i);
            turns(&r, 3);
            (void)peer_send(r.fds[0], text + i, len - i);
            turns(&r, 5);
        }
        for (i = 0; i < len; i++) {
            (void)peer_send(r.fds[0], text + i, 1);
            turns(&r, 1);
        }
        turns(&r, 8);
        CHECK_EQ_INT(count(&r, 0, "\r\n\r\ndef"), len);
        CHECK_EQ_INT(r.requests, len);
    }
    rig_close(&r);
}

TEST(requests_that_come_ahead_wait_and_are_answered_in_order) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0,
            "GET /later HTTP/1.1\r\nHost: a\r\n\r\n" HELLO
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" HELLO);
        turns(&r, 8);
        CHECK_EQ_INT(r.requests, 1);
        CHECK_EQ_STR(heard(&r, 0), "");
        if (CHECK(r.kept != NULL))
            CHECK_EQ_INT(phi__serve_reply(r.kept, 200, NULL, 0, phi_str_of("first")), PHI_OK);
        turns(&r, 12);
        CHECK_EQ_INT(r.requests, 4);
        CHECK_EQ_INT(count(&r, 0, "HTTP/1.1 200 OK"), 4);
        CHECK(strstr(heard(&r, 0), "first") < strstr(heard(&r, 0), "hello"));
        CHECK(strstr(heard(&r, 0), "hello") < strstr(heard(&r, 0), "\r\n\r\nhi"));
        CHECK_EQ_INT(r.gones, 0);
    }
    rig_close(&r);
}

TEST(a_peer_that_is_far_ahead_is_kept_in_a_bounded_buffer) {
    rig r;
    int i;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 4);
        for (i = 0; i < 3000; i++) say(&r, 0, HELLO);
        turns(&r, 20);
        CHECK(r.memory.used_bytes < 100000);
        if (CHECK(r.kept != NULL)) (void)phi__serve_reply(r.kept, 200, NULL, 0, phi_str_of("x"));
        for (i = 0; i < 200 && r.requests < 3001; i++) turns(&r, 32);
        CHECK(r.requests > 400);
    }
    rig_close(&r);
}

TEST(http_1_0_gets_an_end_by_closing) {
    rig r;
    if (rig_open(&r) && dial(&r, 0) && dial(&r, 1)) {
        say(&r, 0, "GET /stream HTTP/1.0\r\n\r\n");
        turns(&r, 5);
        if (CHECK(r.kept != NULL)) {
            CHECK_EQ_INT(phi__serve_write(r.kept, phi_str_of("plain")), PHI_OK);
            phi__serve_end(r.kept);
        }
        turns(&r, 6);
        CHECK(has(&r, 0, "Connection: close\r\n\r\nplain"));
        CHECK_EQ_INT(count(&r, 0, "chunked"), 0);
        CHECK(r.closed[0]);
        say(&r, 1, "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        turns(&r, 6);
        CHECK(has(&r, 1, "Connection: keep-alive\r\n\r\nhello"));
        CHECK(!r.closed[1]);
    }
    rig_close(&r);
}

TEST(a_streamed_answer_goes_out_in_chunks_and_the_connection_goes_on) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 5);
        CHECK(has(&r, 0, "Transfer-Encoding: chunked\r\n\r\n"));
        if (CHECK(r.kept != NULL)) {
            CHECK_EQ_INT(phi__serve_write(r.kept, phi_str_of("one")), PHI_OK);
            CHECK_EQ_INT(phi__serve_write(r.kept, phi_str_of("")), PHI_OK);
            turns(&r, 5);
            CHECK(has(&r, 0, "\r\n\r\n3\r\none\r\n"));
            CHECK_EQ_INT(phi__serve_write(r.kept, phi_str_of("two two two two two")), PHI_OK);
            CHECK_EQ_INT(phi__serve_reply(r.kept, 200, NULL, 0, phi_str_of("no")), PHI_BAD_ARG);
            phi__serve_end(r.kept);
        }
        turns(&r, 5);
        CHECK(has(&r, 0, "3\r\none\r\n13\r\ntwo two two two two\r\n0\r\n\r\n"));
        hush(&r, 0);
        say(&r, 0, HELLO);
        turns(&r, 5);
        CHECK(has(&r, 0, "hello"));
        CHECK_EQ_INT(r.gones, 0);
    }
    rig_close(&r);
}

TEST(answers_that_cannot_be_sent_are_refused_and_leave_the_exchange) {
    rig r;
    phi__header bad;
    static const char *const names[] = {
        "", "A B", "A:", "Content-Length", "date", "CONNECTION", "Transfer-Encoding"};
    size_t i;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 5);
        REQUIRE(r.kept != NULL);
        bad.value = phi_str_of("x");
        for (i = 0; i < sizeof names / sizeof names[0]; i++) {
            bad.name = phi_str_of(names[i]);
            CHECK_EQ_INT(phi__serve_reply(r.kept, 200, &bad, 1, phi_str_of("")), PHI_BAD_ARG);
        }
        bad.name = phi_str_of("X");
        bad.value = phi_str_of("a\r\nSet-Cookie: b");
        CHECK_EQ_INT(phi__serve_begin(r.kept, 200, &bad, 1), PHI_BAD_ARG);
        CHECK_EQ_INT(phi__serve_reply(r.kept, 100, NULL, 0, phi_str_of("")), PHI_BAD_ARG);
        CHECK_EQ_INT(phi__serve_write(r.kept, phi_str_of("x")), PHI_BAD_ARG);
        phi__serve_end(r.kept);
        CHECK_EQ_INT(phi__serve_reply(r.kept, 204, NULL, 0, phi_str_of("")), PHI_OK);
        turns(&r, 5);
        CHECK_EQ_STR(heard(&r, 0),
                     "HTTP/1.1 204 No Content\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\n\r\n");
    }
    rig_close(&r);
}

TEST(a_request_that_nobody_takes_is_answered_with_500) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "GET /none HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 5);
        CHECK(has(&r, 0, "500 Internal Server Error: no answer\n"));
    }
    rig_close(&r);
}

/* ---- bodies ---- */

TEST(a_body_is_invited_by_100_continue_only_when_it_is_wanted) {
    rig r;
    if (rig_open(&r) && dial(&r, 0) && dial(&r, 1)) {
        say(&r, 0,
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        turns(&r, 5);
        CHECK_EQ_STR(heard(&r, 0), "HTTP/1.1 100 Continue\r\n\r\n");
        say(&r, 0, "ok");
        turns(&r, 5);
        CHECK(has(&r, 0, "\r\n\r\nok"));
        CHECK(!r.closed[0]);
        say(&r, 1,
            "POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        turns(&r, 5);
        CHECK_EQ_INT(count(&r, 1, "100 Continue"), 0);
        CHECK(has(&r, 1, "Connection: close"));
        CHECK(r.closed[1]);
        hush(&r, 0);
        say(&r, 0,
            "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n"
            "not");
        turns(&r, 5);
        if (CHECK(r.kept != NULL)) /* it has begun: the rest comes, and then another request */
            CHECK_EQ_INT(phi__serve_reply(r.kept, 200, NULL, 0, phi_str_of("early")), PHI_OK);
        say(&r, 0, "yet" HELLO);
        turns(&r, 8);
        CHECK_EQ_INT(count(&r, 0, "100 Continue"), 0);
        CHECK(has(&r, 0, "early"));
        CHECK(has(&r, 0, "hello"));
    }
    rig_close(&r);
}

TEST(a_body_of_a_refused_request_is_dropped_and_the_connection_goes_on) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0,
            "POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nGET /hello HTTP/1.1");
        turns(&r, 5);
        CHECK(has(&r, 0, "404 Not Found"));
        hush(&r, 0);
        {
            char rest[482];
            memset(rest, 'x', sizeof rest);
            rest[481] = '\0';
            say(&r, 0, rest);
        }
        say(&r, 0, HELLO);
        turns(&r, 8);
        CHECK(has(&r, 0, "hello"));
        CHECK_EQ_INT(r.requests, 2);
        CHECK_EQ_INT(r.pieces, 0);
    }
    rig_close(&r);
}

TEST(bodies_beyond_the_cap_are_refused_by_length_and_by_count) {
    phi__serve_desc desc;
    int i;
    rig r;
    memset(&desc, 0, sizeof desc);
    desc.max_body_bytes = 10;
    rig_open_io(&r);
    if (CHECK_EQ_INT(rig_serve(&r, &desc), PHI_OK) && dial(&r, 0) && dial(&r, 1) && dial(&r, 2)) {
        say(&r, 0, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n");
        say(&r, 1,
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            "8\r\n12345678\r\n3\r\nabc\r\n");
        turns(&r, 8);
        CHECK(has(&r, 0, "413 Content Too Large: the body is too long\n"));
        CHECK(r.closed[0]);
        CHECK(has(&r, 1, "413 Content Too Large: the body is too long\n"));
        CHECK_EQ_INT(r.gones, 1);
        CHECK_EQ_INT(r.requests, 1);
        for (i = 0; i < 3; i++) { /* it is a cap of each */
            hush(&r, 2);
            say(&r, 2, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1234567890");
            turns(&r, 8);
            CHECK(has(&r, 2, "\r\n\r\n1234567890"));
        }
    }
    rig_close(&r);
}

TEST(a_body_that_breaks_a_rule_ends_its_exchange) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0,
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n");
        turns(&r, 6);
        CHECK(has(&r, 0, "400 Bad Request: a bad line end in a chunked body\n"));
        CHECK_EQ_INT(r.gones, 1);
        CHECK(r.closed[0]);
    }
    rig_close(&r);
}

TEST(a_large_body_comes_whole) {
    enum { ALL = 2000000 };
    char *bytes = (char *)malloc(ALL);
    size_t sent = 0, i;
    rig r;
    for (i = 0; i < ALL; i++) bytes[i] = (char)('a' + i % 23);
    if (rig_open(&r) && dial(&r, 0)) {
        int k;
        say(&r, 0, "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
        for (k = 0; k < 3000 && r.wholes == 0; k++) {
            long n = peer_send(r.fds[0], bytes + sent, ALL - sent);
            if (n > 0) sent += (size_t)n;
            turn(&r);
        }
        CHECK_EQ_INT(r.wholes, 1);
        CHECK(r.body.len == ALL && memcmp(r.body.at, bytes, ALL) == 0);
        if (CHECK(r.kept != NULL)) (void)phi__serve_reply(r.kept, 200, NULL, 0, phi_str_of("all"));
        turns(&r, 6);
        CHECK(has(&r, 0, "all"));
    }
    free(bytes);
    rig_close(&r);
}

/* ---- peers that are slow, silent or gone ---- */

TEST(writes_beyond_the_queue_are_refused_until_it_drains) {
    phi__serve_desc desc;
    char *bytes = (char *)malloc(100000);
    rig r;
    int i, fulls = 0;
    memset(bytes, 'x', 100000);
    memset(&desc, 0, sizeof desc);
    desc.max_queue_bytes = 300000;
    rig_open_io(&r);
    if (CHECK_EQ_INT(rig_serve(&r, &desc), PHI_OK) && dial(&r, 0)) {
        size_t written = 0;
        say(&r, 0, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 5);
        REQUIRE(r.kept != NULL);
        for (i = 0; i < 400 && fulls == 0; i++) {
            phi_status status = phi__serve_write(r.kept, phi__str(bytes, 100000));
            if (status == PHI_OK) written += 100000;
            if (status == PHI_FULL) fulls++;
            turn(&r); /* the peer does not read */
        }
        CHECK_EQ_INT(fulls, 1);
        CHECK(r.memory.used_bytes < 1200000);
        for (i = 0; i < 2000 && phi__serve_write(r.kept, phi_str_of("end")) == PHI_FULL; i++)
            turns(&r, 1);
        CHECK(i < 2000);
        phi__serve_end(r.kept);
        for (i = 0; i < 2000 && r.got_len[0] < written; i++) turns(&r, 1);
        turns(&r, 10);
        CHECK(r.got_len[0] > written);
        CHECK(strstr(heard(&r, 0) + r.got_len[0] - 20, "3\r\nend\r\n0\r\n\r\n") != NULL);
    }
    free(bytes);
    rig_close(&r);
}

static void pass(rig *r, uint64_t ms) {
    r->now_us += ms * 1000;
    turns(r, 6);
}

TEST(slow_heads_bodies_and_idle_peers_lose_their_connection) {
    rig r;
    if (rig_open(&r) && dial(&r, 0) && dial(&r, 1) && dial(&r, 2)) {
        int i;
        turns(&r, 4);
        say(&r, 1, "GET /hel");
        say(&r, 2, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n1");
        turns(&r, 4);
        for (i = 0; i < 9; i++) { /* a byte now and then does not help */
            pass(&r, 1000);
            say(&r, 1, "l");
            say(&r, 2, "2");
        }
        CHECK_EQ_STR(heard(&r, 1), "");
        pass(&r, 1001);
        CHECK(has(&r, 1, "408 Request Timeout: the head of the request is late\n"));
        CHECK(r.closed[1]);
        CHECK(!r.closed[0] && !r.closed[2]);
        pass(&r, 49000);
        CHECK(!r.closed[2]);
        pass(&r, 1500);
        CHECK(r.closed[0]);
        CHECK_EQ_STR(heard(&r, 0), "");
        CHECK(has(&r, 2, "408 Request Timeout: the body of the request is late\n"));
        CHECK_EQ_INT(r.gones, 1);
        pass(&r, 1100);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 0);
    }
    rig_close(&r);
}

TEST(a_peer_that_goes_on_sending_after_its_last_answer_is_cut_off) {
    int i;
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        turns(&r, 6);
        CHECK(has(&r, 0, "hello"));
        CHECK_EQ_INT(phi__serve_connections(r.serve), 1);
        for (i = 0; i < 4; i++) {
            pass(&r, 300);
            say(&r, 0, "and more");
        }
        turns(&r, 4);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 0);
    }
    rig_close(&r);
}

TEST(a_refused_body_that_does_not_come_loses_its_connection) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nx");
        turns(&r, 5);
        CHECK(has(&r, 0, "404 Not Found"));
        pass(&r, 59000);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 1);
        pass(&r, 1001);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 0);
    }
    rig_close(&r);
}

TEST(deadlines_of_bodies_count_from_the_head_and_the_answer) {
    static const char later[] = "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx";
    phi__serve_desc desc;
    rig r;
    memset(&desc, 0, sizeof desc);
    desc.body_ms = 5000;
    rig_open_io(&r);
    if (CHECK_EQ_INT(rig_serve(&r, &desc), PHI_OK) && dial(&r, 0) && dial(&r, 1)) {
        turns(&r, 4);
        pass(&r, 3000);
        say(&r, 0, later);
        turns(&r, 5);
        pass(&r, 4900);
        CHECK_EQ_STR(heard(&r, 0), "");
        if (CHECK(r.kept != NULL)) (void)phi__serve_reply(r.kept, 200, NULL, 0, phi_str_of("ok"));
        pass(&r, 4900);
        CHECK(has(&r, 0, "ok"));
        CHECK_EQ_INT(phi__serve_connections(r.serve), 2);
        pass(&r, 101);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 1);
        say(&r, 1, later);
        turns(&r, 5);
        pass(&r, 4900);
        CHECK_EQ_STR(heard(&r, 1), "");
        pass(&r, 101);
        CHECK(has(&r, 1, "408 Request Timeout: the body of the request is late\n"));
    }
    rig_close(&r);
}

TEST(a_refused_head_after_head_has_a_body) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 6);
        say(&r, 0, "nonsense\r\n\r\n");
        turns(&r, 6);
        CHECK(has(&r, 0, "400 Bad Request: a request line without a version\n"));
    }
    rig_close(&r);
}

TEST(a_whole_answer_has_a_deadline_and_a_peer_that_sends_no_more_gets_all_of_it) {
    enum { ALL = 16000000 };
    char *bytes = (char *)calloc(1, ALL);
    int i, k;
    for (i = 0; i < 2; i++) {
        rig r;
        if (rig_open(&r) && dial(&r, 0)) {
            say(&r, 0, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
            for (k = 0; k < 8; k++) turn(&r);
            REQUIRE(r.kept != NULL);
            CHECK_EQ_INT(phi__serve_reply(r.kept, 200, NULL, 0, phi__str(bytes, ALL)), PHI_OK);
            for (k = 0; k < 300; k++) turn(&r); /* until the sockets are full */
            if (i == 0) {
                r.now_us += 29000000;
                turn(&r);
                CHECK_EQ_INT(phi__serve_connections(r.serve), 1);
                r.now_us += 1100000;
                turn(&r);
            } else {
                peer_end_sending(r.fds[0]);
                for (k = 0; k < 4000 && !r.closed[0]; k++) turns(&r, 1);
                CHECK(r.got_len[0] > ALL);
                turns(&r, 2);
            }
            CHECK_EQ_INT(phi__serve_connections(r.serve), 0);
        }
        rig_close(&r);
    }
    free(bytes);
}

TEST(a_peer_that_reads_nothing_loses_its_connection) {
    char *bytes = (char *)calloc(1, 1000000);
    rig r;
    int i;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 5);
        REQUIRE(r.kept != NULL);
        for (i = 0; i < 100 && phi__serve_write(r.kept, phi__str(bytes, 1000000)) == PHI_OK; i++) {
            int k;
            for (k = 0; k < 40; k++) turn(&r);
        }
        r.now_us += 29000000;
        turn(&r);
        turn(&r);
        CHECK_EQ_INT(r.gones, 0);
        r.now_us += 1100000;
        turn(&r);
        turn(&r);
        CHECK_EQ_INT(r.gones, 1);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 0);
    }
    free(bytes);
    rig_close(&r);
}

TEST(a_quiet_stream_has_no_deadline_and_its_end_is_noticed) {
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        say(&r, 0, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 5);
        pass(&r, 3600000);
        CHECK(!r.closed[0]);
        CHECK(r.kept != NULL);
        hang_up(&r, 0);
        turns(&r, 5);
        CHECK_EQ_INT(r.gones, 1);
        REQUIRE(dial(&r, 1));
        say(&r, 1, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 5);
        peer_end_sending(r.fds[1]);
        turns(&r, 5);
        CHECK_EQ_INT(r.gones, 2);
    }
    rig_close(&r);
}

TEST(a_peer_that_leaves_at_any_byte_leaves_nothing) {
    static const char text[] = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    size_t i;
    rig r;
    if (rig_open(&r)) {
        for (i = 0; i <= sizeof text - 1; i++) {
            REQUIRE(dial(&r, 0));
            (void)peer_send(r.fds[0], text, i);
            turns(&r, 3);
            if (i % 2 == 0) peer_reset_at_close(r.fds[0]);
            hang_up(&r, 0);
            turns(&r, 4);
            CHECK_EQ_INT(phi__serve_connections(r.serve), 0);
        }
        CHECK_EQ_INT(r.wholes, 1);
    }
    rig_close(&r);
}

/* ---- many connections ---- */

TEST(an_idle_connection_makes_room_and_busy_ones_do_not) {
    phi__serve_desc desc;
    rig r;
    int i;
    memset(&desc, 0, sizeof desc);
    desc.max_connections = 4;
    rig_open_io(&r);
    if (CHECK_EQ_INT(rig_serve(&r, &desc), PHI_OK)) {
        for (i = 0; i < 8; i++) {
            r.now_us += 1000;
            CHECK(dial(&r, i));
            turns(&r, 4);
        }
        CHECK(r.closed[0] && r.closed[1] && r.closed[4] && !r.closed[5] && !r.closed[7]);
        CHECK_EQ_INT(phi__serve_connections(r.serve), 3);
        for (i = 5; i < 8; i++) say(&r, i, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK(dial(&r, 8));
        turns(&r, 4);
        say(&r, 8, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 4);
        CHECK(dial(&r, 9)); /* waits in the system's queue */
        say(&r, 9, HELLO);
        turns(&r, 8);
        CHECK_EQ_STR(heard(&r, 9), "");
        CHECK_EQ_INT(phi__serve_connections(r.serve), 4);
        hang_up(&r, 5);
        turns(&r, 8);
        CHECK(has(&r, 9, "hello"));
        CHECK(has(&r, 9, "Connection: close")); /* all places are taken */
    }
    rig_close(&r);
}

#ifndef _WIN32
TEST(without_descriptors_it_waits_and_does_not_spin) {
    struct rlimit before, few;
    int dummies[8], i, called = 0;
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        (void)getrlimit(RLIMIT_NOFILE, &before);
        few = before;
        for (i = 0; i < 8; i++) dummies[i] = dup(0);
        few.rlim_cur = (rlim_t)dummies[7] + 1;
        (void)setrlimit(RLIMIT_NOFILE, &few);
        say(&r, 0, HELLO);
        for (i = 0; i < 50; i++) {
            phi__io_step_begin(r.io);
            called += phi__io_wait(r.io, 0, 64);
            called += phi__io_timers(r.io, 64);
        }
        CHECK(called <= 3);
        for (i = 0; i < 8; i++) (void)close(dummies[i]);
        (void)setrlimit(RLIMIT_NOFILE, &before);
        pass(&r, 101);
        pass(&r, 101);
        CHECK(has(&r, 0, "hello"));
    }
    rig_close(&r);
}
#else
TEST(without_descriptors_it_waits_and_does_not_spin) {
    test_skip("Windows has no limit of descriptors");
}
#endif

/* ---- ends ---- */

TEST(an_exchange_and_the_server_may_end_in_each_callback) {
    static const char *const first[] = {
        "GET /drop HTTP/1.1\r\nHost: a\r\n\r\n", "GET /free HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"};
    int i;
    for (i = 0; i < 4; i++) {
        rig r;
        if (rig_open(&r) && dial(&r, 0) && dial(&r, 1)) {
            r.free_in_body = i == 2;
            r.free_in_whole = i == 3;
            say(&r, 1, "GET /lat");
            turns(&r, 4);
            say(&r, 0, first[i]);
            turns(&r, 8);
            CHECK(r.closed[0]);
            CHECK_EQ_STR(heard(&r, 0), "");
            CHECK_EQ_INT(r.gones, i == 0 ? 0 : 1);
            CHECK_EQ_INT(r.closed[1], i != 0);
        }
        rig_close(&r);
    }
}

TEST(a_server_that_is_freed_tells_its_open_exchanges) {
    rig r;
    if (rig_open(&r) && dial(&r, 0) && dial(&r, 1)) {
        say(&r, 0, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        say(&r, 1, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        turns(&r, 6);
        phi__serve_free(r.serve);
        r.serve = NULL;
        CHECK_EQ_INT(r.gones, 2);
        turns(&r, 3);
        CHECK(r.closed[0] && r.closed[1]);
    }
    rig_close(&r);
}

TEST(a_port_in_use_and_an_address_that_is_not_loopback_are_refused) {
    phi__serve_desc desc;
    phi__serve *other = NULL;
    char message[160], in_use[128];
    rig r;
    phi__os_words(IN_USE, in_use, sizeof in_use);
    if (rig_open(&r)) {
        memset(&desc, 0, sizeof desc);
        desc.request = on_request;
        desc.port = phi__serve_port(r.serve);
        CHECK_EQ_INT(phi__serve_new(r.io, &desc, &other, message, sizeof message), PHI_REFUSED);
        CHECK(strstr(message, "cannot listen on 127.0.0.1 port ") == message);
        CHECK(strstr(message, in_use) != NULL);
        desc.port = 0;
        desc.address = "0.0.0.0";
        CHECK_EQ_INT(phi__serve_new(r.io, &desc, &other, message, sizeof message), PHI_BAD_ARG);
        CHECK_EQ_STR(message,
                     "cannot listen on \"0.0.0.0\": expected 127.0.0.1 or ::1 (others only "
                     "with any_address)");
        desc.address = "localhost";
        CHECK_EQ_INT(phi__serve_new(r.io, &desc, &other, message, sizeof message), PHI_BAD_ARG);
        CHECK_EQ_STR(message, "cannot listen on \"localhost\": expected an IP address");
        desc.address = "0.0.0.0";
        desc.any_address = true;
        CHECK_EQ_INT(phi__serve_new(r.io, &desc, &other, message, sizeof message), PHI_OK);
        CHECK_EQ_STR(message, "");
        phi__serve_free(other);
        desc.address = "::1";
        desc.any_address = false;
        other = NULL;
        if (phi__serve_new(r.io, &desc, &other, message, sizeof message) == PHI_OK)
            CHECK(phi__serve_port(other) != 0);
        phi__serve_free(other);
    }
    rig_close(&r);
}

/* ---- memory ---- */

TEST(an_idle_connection_holds_no_buffer) {
    size_t before;
    rig r;
    if (rig_open(&r) && dial(&r, 0)) {
        turns(&r, 4);
        before = r.memory.used_bytes;
        say(&r, 0, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
        turns(&r, 6);
        phi__buf_free(&r.body);
        CHECK(r.memory.used_bytes <= before + 1024);
        CHECK(before < 8192);
    }
    rig_close(&r);
}

static void talk(rig *r) {
    if (!dial(r, 0)) return;
    say(r, 0,
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nde\r\n1\r\nf\r\n0\r\n\r\n");
    turns(r, 12);
    pass(r, 20); /* a watch that failed for lack of memory is tried again */
    say(r, 0, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    turns(r, 8);
    if (r->kept != NULL) {
        if (phi__serve_write(r->kept, phi_str_of("streamed")) == PHI_NO_MEMORY)
            CHECK_EQ_INT(phi__serve_write(r->kept, phi_str_of("streamed")), PHI_OK);
        phi__serve_end(r->kept);
    }
    turns(r, 8);
}

/* Both answers are whole, or the peer sees the end of its connection behind what came. */
static bool whole_or_closed(const rig *r) {
    const char *length = strstr(heard(r, 0), "Content-Length: "), *body;
    size_t want;
    if (r->closed[0]) return true;
    if (length == NULL || (body = strstr(length, "\r\n\r\n")) == NULL) return false;
    want = (size_t)strtoul(length + 16, NULL, 10);
    return strlen(body + 4) > want && strncmp(body + 4 + want, "HTTP/1.1 ", 9) == 0 &&
           strstr(body, "\r\n\r\n8\r\nstreamed\r\n0\r\n\r\n") != NULL;
}

TEST(a_conversation_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 300; n++) {
        phi__serve_desc desc;
        rig r;
        rig_open_io(&r);
        memset(&desc, 0, sizeof desc);
        test_alloc_fail_at(n);
        if (rig_serve(&r, &desc) == PHI_OK) talk(&r);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        phi__buf_clear(&r.body);
        if (r.serve != NULL && !CHECK(whole_or_closed(&r)))
            printf("    allocation %d: %s\n", n, heard(&r, 0));
        if (r.serve != NULL) { /* it is as good as new */
            r.kept = NULL;
            hang_up(&r, 0);
            hush(&r, 0);
            pass(&r, 100);
            talk(&r);
            CHECK(has(&r, 0, "\r\n\r\ndef"));
            CHECK(has(&r, 0, "8\r\nstreamed\r\n0\r\n\r\n"));
        }
        rig_close(&r);
    }
    CHECK(n >= 10);
}

TEST_MAIN(TEST_ENTRY(one_connection_serves_many_requests_with_exact_answers),
          TEST_ENTRY(a_request_may_come_in_any_two_pieces_and_byte_by_byte),
          TEST_ENTRY(requests_that_come_ahead_wait_and_are_answered_in_order),
          TEST_ENTRY(a_peer_that_is_far_ahead_is_kept_in_a_bounded_buffer),
          TEST_ENTRY(http_1_0_gets_an_end_by_closing),
          TEST_ENTRY(a_streamed_answer_goes_out_in_chunks_and_the_connection_goes_on),
          TEST_ENTRY(answers_that_cannot_be_sent_are_refused_and_leave_the_exchange),
          TEST_ENTRY(a_request_that_nobody_takes_is_answered_with_500),
          TEST_ENTRY(a_body_is_invited_by_100_continue_only_when_it_is_wanted),
          TEST_ENTRY(a_body_of_a_refused_request_is_dropped_and_the_connection_goes_on),
          TEST_ENTRY(bodies_beyond_the_cap_are_refused_by_length_and_by_count),
          TEST_ENTRY(a_body_that_breaks_a_rule_ends_its_exchange),
          TEST_ENTRY(a_large_body_comes_whole),
          TEST_ENTRY(writes_beyond_the_queue_are_refused_until_it_drains),
          TEST_ENTRY(slow_heads_bodies_and_idle_peers_lose_their_connection),
          TEST_ENTRY(a_peer_that_goes_on_sending_after_its_last_answer_is_cut_off),
          TEST_ENTRY(a_refused_body_that_does_not_come_loses_its_connection),
          TEST_ENTRY(deadlines_of_bodies_count_from_the_head_and_the_answer),
          TEST_ENTRY(a_refused_head_after_head_has_a_body),
          TEST_ENTRY(a_whole_answer_has_a_deadline_and_a_peer_that_sends_no_more_gets_all_of_it),
          TEST_ENTRY(a_peer_that_reads_nothing_loses_its_connection),
          TEST_ENTRY(a_quiet_stream_has_no_deadline_and_its_end_is_noticed),
          TEST_ENTRY(a_peer_that_leaves_at_any_byte_leaves_nothing),
          TEST_ENTRY(an_idle_connection_makes_room_and_busy_ones_do_not),
          TEST_ENTRY(without_descriptors_it_waits_and_does_not_spin),
          TEST_ENTRY(an_exchange_and_the_server_may_end_in_each_callback),
          TEST_ENTRY(a_server_that_is_freed_tells_its_open_exchanges),
          TEST_ENTRY(a_port_in_use_and_an_address_that_is_not_loopback_are_refused),
          TEST_ENTRY(an_idle_connection_holds_no_buffer),
          TEST_ENTRY(a_conversation_survives_every_failed_allocation))
