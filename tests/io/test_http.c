/* The transport over libcurl: what arrives, in which order, and what is left behind. */
#include "support/test.h"

#include "io/http_curl_in.h"
#include "io/loopback.h"

#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* ---- system calls that are counted ---- */

static size_t looks; /* for a free descriptor */

/* Stands in for the system's own, in libcurl too. */
int fcntl(int fd, int command, ...) {
    va_list args;
    long argument;
    va_start(args, command);
    argument = va_arg(args, long);
    va_end(args);
    if (command == F_DUPFD_CLOEXEC) looks++;
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* ---- what a transfer told us ---- */

#define XFERS 1000

typedef struct record {
    int started, connected, heads, ends;
    int http_status;
    phi_status status;
    char words[600];
    char headers[20000];
    char *body;
    size_t body_len, pushes;
    size_t full_after; /* room for this many bytes, then PHI_FULL; 0: no end */
    bool full;
    phi_status push_status; /* not PHI_OK: what a push answers */
    phi_request request;
    phi__header lines[4];
    phi__piece pieces[400];
    char url[128];
    /* what to do to another transfer, and when */
    void (*at_push)(uint32_t index);
    void (*at_stage)(uint32_t index, phi_transfer_stage stage);
    void (*at_end)(uint32_t index);
    void (*at_head)(uint32_t index);
} record;

static struct {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
    loopback server;
    record *records;
    int ends, starts_in_step, worst_starts, events_after_death;
    bool dead[XFERS];
    phi_allocator allocator;
} t;

static phi_transfer transfer_of(uint32_t index) {
    phi_transfer transfer;
    memset(&transfer, 0, sizeof transfer);
    transfer.index = index;
    transfer.gen = 7;
    return transfer;
}

static record *record_of(phi_transfer transfer) {
    if (t.dead[transfer.index]) t.events_after_death++;
    return &t.records[transfer.index];
}

static phi_status on_stage(phi_transfer transfer, phi_transfer_stage stage) {
    record *r = record_of(transfer);
    if (stage == PHI_TRANSFER_STARTED) {
        r->started++;
        t.starts_in_step++;
    } else {
        r->connected++;
    }
    if (r->at_stage != NULL) r->at_stage(transfer.index, stage);
    return PHI_OK;
}

static phi_status on_head(phi_transfer transfer, int http_status, const char *headers, size_t len) {
    record *r = record_of(transfer);
    CHECK_EQ_INT(r->pushes, 0);
    r->heads++;
    r->http_status = http_status;
    if (CHECK(len < sizeof r->headers)) {
        if (len > 0) memcpy(r->headers, headers, len);
        r->headers[len] = '\0';
    }
    if (r->at_head != NULL) r->at_head(transfer.index);
    return PHI_OK;
}

static phi_status on_push(phi_transfer transfer, const char *bytes, size_t len) {
    record *r = record_of(transfer);
    char *body;
    if (r->push_status != PHI_OK) return r->push_status;
    if (r->full_after > 0 && r->body_len + len > r->full_after) {
        r->full = true;
        return PHI_FULL;
    }
    body = (char *)realloc(r->body, r->body_len + len + 1);
    if (!CHECK(body != NULL)) return PHI_NO_MEMORY;
    memcpy(body + r->body_len, bytes, len);
    r->body = body;
    r->body_len += len;
    r->body[r->body_len] = '\0';
    r->pushes++;
    if (r->at_push != NULL) r->at_push(transfer.index);
    return PHI_OK;
}

static phi_status on_end(phi_transfer transfer, phi_status status, const char *words) {
    record *r = record_of(transfer);
    r->ends++;
    t.ends++;
    r->status = status;
    (void)snprintf(r->words, sizeof r->words, "%s", words != NULL ? words : "");
    if (r->at_end != NULL) r->at_end(transfer.index);
    return PHI_OK;
}

/* ---- the bench ---- */

static phi__http_desc no_desc(void) {
    phi__http_desc desc;
    memset(&desc, 0, sizeof desc);
    return desc;
}

static bool setup_with(const phi__http_desc *desc, const phi__io_desc *io_desc,
                       void (*answer)(loopback *, loopback_connection *)) {
    phi__transfer_port port;
    const char *words = NULL;
    memset(&t, 0, sizeof t);
    t.allocator = test_allocator();
    phi_memory_init(&t.memory, &t.allocator, 0);
    t.records = (record *)calloc(XFERS, sizeof *t.records);
    port.stage = on_stage;
    port.head = on_head;
    port.push = on_push;
    port.end = on_end;
    t.server.fd = -1;
    if (answer != NULL && !CHECK(loopback_open(&t.server, answer))) return false;
    if (!CHECK_EQ_INT(phi__io_new(&t.memory, io_desc, &t.io), PHI_OK)) return false;
    if (!CHECK_EQ_INT(phi__http_new(t.io, desc, &port, &t.http, &words), PHI_OK)) return false;
    t.transport = phi__http_transport(t.http);
    return true;
}

static bool setup(void (*answer)(loopback *, loopback_connection *)) {
    phi__http_desc desc = no_desc();
    return setup_with(&desc, NULL, answer);
}

static void teardown(void) {
    size_t i;
    phi__http_free(t.http);
    phi__io_free(t.io);
    if (t.server.fd >= 0) loopback_close(&t.server);
    for (i = 0; i < XFERS; i++) free(t.records[i].body);
    free(t.records);
    CHECK_EQ_INT(t.events_after_death, 0);
    CHECK_EQ_INT(t.memory.used_bytes, 0);
}

static void step_wait(int timeout_ms) {
    t.starts_in_step = 0;
    phi__io_step_begin(t.io);
    (void)phi__io_timers(t.io, 64);
    (void)phi__io_wait(t.io, timeout_ms, 64);
    t.transport->pump(t.transport->user_data);
    if (t.starts_in_step > t.worst_starts) t.worst_starts = t.starts_in_step;
    if (t.server.fd >= 0) loopback_step(&t.server);
}

static void step(void) { step_wait(0); }

static uint64_t now_us(void) { return phi__io_now_us(t.io); }

/* Steps until `ends` transfers in all have ended; false after ten seconds. */
static bool run_until_ends(int ends) {
    uint64_t limit = now_us() + 10000000;
    while (t.ends < ends && now_us() < limit) step_wait(t.server.fd >= 0 ? 0 : 20);
    return CHECK_EQ_INT(t.ends, ends);
}

static bool libcurl_before(unsigned version) {
    return curl_version_info(CURLVERSION_NOW)->version_num < version;
}

#define RUN_UNTIL(condition)                                                                       \
    do {                                                                                           \
        uint64_t limit = now_us() + 10000000;                                                      \
        while (!(condition) && now_us() < limit) step();                                           \
        if (!CHECK(condition)) {                                                                   \
            teardown();                                                                            \
            return;                                                                                \
        }                                                                                          \
    } while (0)

static void add_header(phi_request *rq, const char *name, const char *value) {
    rq->headers[rq->header_count].name = phi_str_of(name);
    rq->headers[rq->header_count++].value = phi_str_of(value);
}

static phi_request *request_to(uint32_t index, const char *method, const char *url) {
    record *r = &t.records[index];
    phi_request *rq = &r->request;
    memset(rq, 0, sizeof *rq);
    (void)snprintf(r->url, sizeof r->url, "%s", url);
    rq->method = phi_str_of(method);
    rq->url = phi_str_of(r->url);
    rq->headers = r->lines;
    rq->pieces = r->pieces;
    return rq;
}

static phi_request *request_here(uint32_t index, const char *method, const char *path) {
    char url[128];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d%s", t.server.port, path);
    return request_to(index, method, url);
}

static void set_body(phi_request *rq, const char *body) {
    rq->pieces[0].at = body;
    rq->pieces[0].len = strlen(body);
    rq->piece_count = 1;
    phi__request_seal(rq);
}

static phi_status open_request(uint32_t index) {
    return t.transport->open(t.transport->user_data, transfer_of(index), &t.records[index].request);
}

static void cancel(uint32_t index) {
    t.transport->cancel(t.transport->user_data, transfer_of(index));
    t.dead[index] = true;
    memset(&t.records[index].request, 0xEE, sizeof t.records[index].request);
}

static void resume(uint32_t index) {
    t.transport->resume(t.transport->user_data, transfer_of(index));
}

static bool post_here(uint32_t index, const char *path, const char *body) {
    phi_request *rq = request_here(index, "POST", path);
    set_body(rq, body);
    add_header(rq, "Content-Type", "application/json");
    return CHECK_EQ_INT(open_request(index), PHI_OK);
}

/* ---- one request ---- */

static char seen[LOOPBACK_HEAD];

static void answer_hello(loopback *server, loopback_connection *c) {
    (void)server;
    memcpy(seen, c->head, sizeof seen);
    loopback_answer(c, 200, "X-Request-Id: abc\r\n", "hello", memcmp(seen, "HEAD", 4) == 0 ? 0 : 5);
}

TEST(a_post_is_answered) {
    if (!setup(answer_hello)) return;
    post_here(0, "/v1/messages", "{}");
    add_header(&t.records[0].request, "X-Empty", "");
    if (run_until_ends(1)) {
        record *r = &t.records[0];
        CHECK_EQ_INT(r->status, PHI_OK);
        CHECK_EQ_STR(r->words, "");
        CHECK_EQ_INT(r->http_status, 200);
        CHECK_EQ_STR(r->headers, "X-Request-Id: abc\r\nContent-Length: 5\r\n");
        CHECK_EQ_STR(r->body, "hello");
        CHECK_EQ_INT(r->started, 1);
        CHECK_EQ_INT(r->connected, 1);
        CHECK_EQ_INT(r->heads, 1);
        CHECK(strncmp(seen, "POST /v1/messages HTTP/1.1\r\n", 28) == 0);
        CHECK(strstr(seen, "\r\nContent-Type: application/json\r\n") != NULL);
        CHECK(strstr(seen, "\r\nX-Empty:\r\n") != NULL);
        CHECK(strstr(seen, "\r\nContent-Length: 2\r\n") != NULL);
        CHECK(strstr(seen, "Expect") == NULL);
        CHECK(strstr(seen, "Accept-Encoding") == NULL);
        CHECK(strstr(seen, "User-Agent") == NULL);
        CHECK_EQ_INT(phi__http_pending(t.http), 0);
    }
    teardown();
}

TEST(a_get_has_no_body_and_a_put_keeps_its_method) {
    if (!setup(answer_hello)) return;
    request_here(0, "GET", "/models");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK(strncmp(seen, "GET /models HTTP/1.1\r\n", 22) == 0);
        CHECK(strstr(seen, "Content-") == NULL);
    }
    set_body(request_here(1, "PUT", "/thing"), "abc");
    CHECK_EQ_INT(open_request(1), PHI_OK);
    if (run_until_ends(2)) {
        CHECK(strncmp(seen, "PUT /thing HTTP/1.1\r\n", 21) == 0);
        CHECK(strstr(seen, "Content-Length: 3\r\n") != NULL);
        CHECK(strstr(seen, "Content-Type") == NULL);
    }
    request_here(2, "HEAD", "/thing");
    CHECK_EQ_INT(open_request(2), PHI_OK);
    if (run_until_ends(3)) {
        CHECK_EQ_INT(t.records[2].status, PHI_OK);
        CHECK_EQ_INT(t.records[2].heads, 1);
        CHECK_EQ_INT(t.records[2].pushes, 0);
    }
    teardown();
}

TEST(a_request_that_would_smuggle_a_line_is_refused) {
    phi_request *rq;
    if (!setup(answer_hello)) return;
    rq = request_here(0, "POST", "/");
    set_body(rq, "{}");
    add_header(rq, "X-Key", "a\r\nX-Evil: b");
    CHECK_EQ_INT(open_request(0), PHI_BAD_ARG);
    request_to(0, "GET", "ftp://127.0.0.1/");
    CHECK_EQ_INT(open_request(0), PHI_BAD_ARG);
    request_to(0, "GET", "http:///nowhere");
    CHECK_EQ_INT(open_request(0), PHI_BAD_ARG);
    request_to(0, "GET", "127.0.0.1/x");
    CHECK_EQ_INT(open_request(0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__http_pending(t.http), 0);
    teardown();
}

TEST(opening_the_same_handle_twice_is_busy) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    CHECK_EQ_INT(open_request(0), PHI_BUSY);
    run_until_ends(1);
    t.records[0].pushes = 0;
    CHECK_EQ_INT(open_request(0), PHI_OK);
    run_until_ends(2);
    CHECK_EQ_STR(t.records[0].body, "hellohello");
    teardown();
}

/* ---- streaming ---- */

static void answer_alphabet(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_answer(c, 200, "", "abcdefghijklmnopqrstuvwxyz", 26);
    c->piece = 1;
}

TEST(bytes_sent_one_at_a_time_arrive_in_order) {
    if (!setup(answer_alphabet)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        CHECK_EQ_STR(t.records[0].body, "abcdefghijklmnopqrstuvwxyz");
        CHECK(t.records[0].pushes >= 20);
        CHECK_EQ_INT(t.records[0].heads, 1);
    }
    teardown();
}

static void answer_interim(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, "HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n"
                     "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                     "HTTP/1.1 201 Created\r\nX-Final: 2\r\nTransfer-Encoding: chunked\r\n"
                     "Trailer: X-After\r\n\r\n3\r\nabc\r\n0\r\nX-After: 3\r\n\r\n");
}

TEST(the_head_is_told_once_without_interim_answers_and_trailers) {
    if (!setup(answer_interim)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        record *r = &t.records[0];
        CHECK_EQ_INT(r->heads, 1);
        CHECK_EQ_INT(r->http_status, 201);
        CHECK_EQ_STR(r->headers,
                     "X-Final: 2\r\nTransfer-Encoding: chunked\r\nTrailer: X-After\r\n");
        CHECK_EQ_STR(r->body, "abc");
    }
    teardown();
}

static void answer_many_headers(loopback *server, loopback_connection *c) {
    char line[128];
    int i;
    (void)server;
    loopback_text(c, "HTTP/1.1 200 OK\r\n");
    for (i = 0; i < 400; i++) {
        (void)snprintf(line, sizeof line, "X-Long-%03d: %080d\r\n", i, i);
        loopback_text(c, line);
    }
    loopback_text(c, "Content-Length: 2\r\n\r\nok");
}

TEST(header_lines_past_16_kib_are_dropped) {
    if (!setup(answer_many_headers)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        record *r = &t.records[0];
        CHECK_EQ_INT(r->status, PHI_OK);
        CHECK(strlen(r->headers) <= 16384);
        CHECK(strlen(r->headers) > 16384 - 100);
        CHECK(strstr(r->headers, "X-Long-000: ") != NULL);
        CHECK(strstr(r->headers, "X-Long-399: ") == NULL);
        CHECK_EQ_STR(r->body, "ok");
    }
    teardown();
}

/* ---- what an answer may not be ---- */

/* "hello", through gzip. */
static const char gzip_hello[] =
    "\037\213\010\000\000\000\000\000\000\377\313\110\315\311\311\007\000\206\246\020"
    "\066\005\000\000\000";

static const char *odd_head; /* of the answer, with its empty line; then gzip_hello */

static void answer_odd(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, odd_head);
    loopback_send(c, gzip_hello, sizeof gzip_hello - 1);
    c->close_after = true;
}

TEST(a_transfer_coding_that_nobody_asked_for_is_refused_before_the_body) {
    static const char *const heads[] = {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, gzip, gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip,gzip,gzip,gzip,gzip,gzip,gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntRANSFER-eNCODING:\tGZIP\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: x-gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: deflate\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: br\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: zstd\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: none\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: made-up\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: ,, gzip ,\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: \vgzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : gzip\r\n\r\n",
        "HTTP/1.1 200 OK\nTransfer-Encoding: gzip\n\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\t,\r\n gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 25\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 500 No\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 100 Continue\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    };
    uint32_t i;
    if (!setup(answer_odd)) return;
    for (i = 0; i < PHI__COUNT(heads); i++) {
        record *r = &t.records[i];
        odd_head = heads[i];
        post_here(i, "/", "{}");
        if (!run_until_ends((int)i + 1)) break;
        CHECK_EQ_INT(r->status, PHI_UNSUPPORTED);
        CHECK_EQ_STR(r->words, "the answer of 127.0.0.1 has a transfer coding that was not asked "
                               "for: only chunked is read");
        if (!CHECK_EQ_INT(r->pushes, 0) || !CHECK_EQ_INT(r->heads, 0)) printf("%s\n", odd_head);
    }
    teardown();
}

TEST(chunked_and_identity_are_read_in_any_spelling) {
    static const char *const heads[] = {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n19\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding:CHUNKED\r\n\r\n19\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, chunked \r\n\r\n19\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Identity\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Transfer-Encoding: gzip\r\nTransfer: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Long: a\r\n gzip\r\n\r\n",
    };
    uint32_t i;
    if (!setup(answer_odd)) return;
    for (i = 0; i < PHI__COUNT(heads); i++) {
        record *r = &t.records[i];
        odd_head = heads[i];
        post_here(i, "/", "{}");
        if (!run_until_ends((int)i + 1)) break;
        CHECK_EQ_INT(r->heads, 1);
        CHECK_EQ_INT(r->body_len, sizeof gzip_hello - 1);
        CHECK(r->body_len > 0 && memcmp(r->body, gzip_hello, r->body_len) == 0);
    }
    teardown();
}

/* Nothing asks libcurl for it, so a server's word alone changes nothing. */
TEST(a_content_coding_is_never_undone) {
    record *r = &t.records[0];
    if (!setup(answer_odd)) return;
    r = &t.records[0];
    odd_head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n";
    post_here(0, "/", "{}");
    add_header(&r->request, "Accept-Encoding", "gzip");
    if (run_until_ends(1)) {
        CHECK_EQ_INT(r->status, PHI_OK);
        CHECK_EQ_INT(r->body_len, sizeof gzip_hello - 1);
        CHECK(r->body_len > 0 && memcmp(r->body, gzip_hello, r->body_len) == 0);
    }
    teardown();
}

/* Lines without end: of the head, of interim answers, of trailers. */
static const char *endless_start, *endless_line;

static void endless_more(loopback *server) {
    size_t i;
    for (i = 0; i < LOOPBACK_CONNECTIONS; i++) {
        loopback_connection *c = &server->connections[i];
        while (c->fd >= 0 && c->requests > 0 && c->out_len < 65536) loopback_text(c, endless_line);
    }
}

static void answer_endless(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, endless_start);
}

static void check_endless(const char *start, const char *line, phi_status status,
                          const char *words) {
    int steps = 0;
    endless_start = start;
    endless_line = line;
    if (!setup(answer_endless)) return;
    post_here(0, "/", "{}");
    while (t.ends == 0 && steps++ < 50000) {
        step();
        endless_more(&t.server);
    }
    if (CHECK_EQ_INT(t.ends, 1)) {
        CHECK_EQ_INT(t.records[0].status, status);
        CHECK_EQ_STR(t.records[0].words, words);
        CHECK(t.memory.peak_bytes < 200000);
    }
    teardown();
}

/* Of 100 bytes: libcurl 8.22 reads 5,000 lines of any length. */
#define ENDLESS_LINE                                                                               \
    "X-More: and more and more and more and more and more and more and more and more and more "    \
    "and mor\r\n"
#define TOO_MANY "the header lines of the answer of 127.0.0.1 are longer than 262144 bytes in all"

TEST(header_lines_without_end_fail_at_256_kib) {
    check_endless("HTTP/1.1 200 OK\r\n", ENDLESS_LINE, PHI_TOO_BIG, TOO_MANY);
}

TEST(interim_answers_without_end_fail_at_256_kib) {
    check_endless("HTTP/1.1 100 Continue\r\n\r\n",
                  "HTTP/1.1 103 Early Hints\r\n" ENDLESS_LINE "\r\n", PHI_TOO_BIG, TOO_MANY);
}

TEST(trailers_without_end_fail_at_256_kib) {
    check_endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
                  ENDLESS_LINE, PHI_TOO_BIG, TOO_MANY);
}

TEST(very_many_short_header_lines_fail) {
    check_endless("HTTP/1.1 200 OK\r\n", "X: 1\r\n", PHI_TOO_BIG,
                  libcurl_before(0x081400)
                      ? TOO_MANY
                      : "the answer of 127.0.0.1 has more header lines than libcurl takes");
}

TEST(a_header_line_without_end_is_not_a_lack_of_memory) {
    check_endless("HTTP/1.1 200 OK\r\nX-Long: ", "and more and more and more and more and more ",
                  PHI_TOO_BIG, "a header line of the answer of 127.0.0.1 is too long");
}

TEST(a_trailer_without_end_is_not_a_lack_of_memory) {
    if (libcurl_before(0x074700)) {
        test_skip("libcurl before 7.71 has no limit for such a trailer");
        return;
    }
    check_endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Long: ",
                  "and more and more and more and more and more ", PHI_TOO_BIG,
                  "a header line of the answer of 127.0.0.1 is too long");
}

static void answer_much_head(loopback *server, loopback_connection *c) {
    char line[1024];
    int i;
    (void)server;
    loopback_text(c, "HTTP/1.1 103 Early Hints\r\n");
    for (i = 0; i < 100; i++) {
        (void)snprintf(line, sizeof line, "X-Long-%03d: %0980d\r\n", i, i);
        loopback_text(c, line);
    }
    loopback_text(c, "\r\nHTTP/1.1 200 OK\r\n");
    for (i = 0; i < 100; i++) {
        (void)snprintf(line, sizeof line, "X-Long-%03d: %0980d\r\n", i, i);
        loopback_text(c, line);
    }
    loopback_text(c, "Content-Length: 2\r\n\r\nok");
}

TEST(two_hundred_kib_of_header_lines_are_an_answer) {
    uint32_t i;
    if (!setup(answer_much_head)) return;
    for (i = 0; i < 3; i++) { /* the count is an answer's, not a connection's */
        post_here(i, "/", "{}");
        if (!run_until_ends((int)i + 1)) break;
        CHECK_EQ_INT(t.records[i].status, PHI_OK);
        CHECK_EQ_STR(t.records[i].body, "ok");
    }
    CHECK_EQ_INT(t.server.accepts, 1);
    teardown();
}

#define BIG (3 * 1024 * 1024)
static char *big_body;

static void answer_big(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_answer(c, 200, "", big_body, BIG);
}

TEST(a_full_push_pauses_and_resume_loses_nothing) {
    size_t i, most = 0;
    record *r;
    if (!setup(answer_big)) return;
    big_body = (char *)malloc(BIG);
    for (i = 0; i < BIG; i++) big_body[i] = (char)('a' + i % 23);
    post_here(0, "/", "{}");
    r = &t.records[0];
    r->full_after = 65536;
    while (t.ends == 0) {
        size_t before = r->body_len;
        for (i = 0; i < 20; i++) step();
        if (r->body_len == before && !r->full && !CHECK(t.ends > 0)) break;
        if (r->body_len - before > most) most = r->body_len - before;
        if (!r->full) continue;
        CHECK(r->body_len <= r->full_after);
        r->full = false;
        r->full_after += 65536;
        resume(0);
    }
    CHECK(most <= 2 * 65536);
    CHECK_EQ_INT(r->status, PHI_OK);
    CHECK_EQ_INT(r->body_len, BIG);
    CHECK(r->body_len == BIG && memcmp(r->body, big_body, BIG) == 0);
    free(big_body);
    teardown();
}

static void resume_at_once(uint32_t index) {
    t.records[index].full_after += 65536;
    resume(index);
}

TEST(a_resume_inside_a_push_is_kept_for_the_pump) {
    size_t i;
    if (!setup(answer_big)) return;
    big_body = (char *)malloc(BIG);
    for (i = 0; i < BIG; i++) big_body[i] = (char)('a' + i % 23);
    post_here(0, "/", "{}");
    t.records[0].full_after = 65536;
    t.records[0].at_push = resume_at_once;
    if (run_until_ends(1)) CHECK_EQ_INT(t.records[0].body_len, BIG);
    free(big_body);
    teardown();
}

TEST(a_push_that_fails_ends_the_transfer_with_its_status) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    t.records[0].push_status = PHI_TOO_BIG;
    if (run_until_ends(1)) CHECK_EQ_INT(t.records[0].status, PHI_TOO_BIG);
    post_here(1, "/", "{}");
    t.records[1].push_status = PHI_NO_MEMORY;
    if (run_until_ends(2)) {
        CHECK_EQ_INT(t.records[1].status, PHI_NO_MEMORY);
        CHECK_EQ_STR(t.records[1].words, "the answer of 127.0.0.1 could not be taken: the "
                                         "allocator or a memory limit said no");
    }
    teardown();
}

/* ---- uploads ---- */

static uint32_t got_hash;
static uint64_t got_len;

static void answer_hash(loopback *server, loopback_connection *c) {
    (void)server;
    got_hash = c->body_hash;
    got_len = c->body_len;
    loopback_answer(c, 200, "", "ok", 2);
}

static void answer_then_hang_up(loopback *server, loopback_connection *c) {
    answer_hash(server, c);
    c->close_after = server->requests == 1;
}

static char *upload;
#define UPLOAD (5 * 1024 * 1024)

static uint32_t make_upload(void) {
    size_t i;
    uint32_t state = 1;
    upload = (char *)malloc(UPLOAD);
    for (i = 0; i < UPLOAD; i++) upload[i] = (char)test_random(&state);
    return loopback_hash(2166136261u, upload, UPLOAD);
}

/* Pieces of odd sizes, empty ones among them. */
static void set_upload(phi_request *rq, size_t pieces) {
    size_t i, at = 0;
    for (i = 0; i < pieces; i++) {
        size_t len = i + 1 == pieces ? UPLOAD - at : (i % 5 == 0 ? 0 : i * 131);
        rq->pieces[i].at = upload + at;
        rq->pieces[i].len = len;
        at += len;
    }
    rq->piece_count = pieces;
    phi__request_seal(rq);
}

TEST(a_large_body_is_read_from_its_pieces) {
    uint32_t hash;
    if (!setup(answer_hash)) return;
    hash = make_upload();
    set_upload(request_here(0, "POST", "/"), 200);
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_OK);
        CHECK_EQ_INT(got_len, UPLOAD);
        CHECK_EQ_INT(got_hash, hash);
        CHECK_EQ_INT(t.records[0].connected, 1);
    }
    free(upload);
    teardown();
}

TEST(a_large_body_is_read_again_when_a_kept_connection_was_dead) {
    uint32_t hash;
    if (libcurl_before(0x075800)) {
        test_skip("libcurl 7.68 does not send again what it could not send");
        return;
    }
    if (!setup(answer_then_hang_up)) return;
    hash = make_upload();
    set_upload(request_here(0, "POST", "/"), 7);
    CHECK_EQ_INT(open_request(0), PHI_OK);
    run_until_ends(1);
    set_upload(request_here(1, "POST", "/"), 200);
    CHECK_EQ_INT(open_request(1), PHI_OK);
    got_len = 0;
    if (run_until_ends(2)) {
        CHECK_EQ_INT(t.records[1].status, PHI_OK);
        CHECK_EQ_INT(got_len, UPLOAD);
        CHECK_EQ_INT(got_hash, hash);
        CHECK_EQ_INT(t.records[1].http_status, 200);
        CHECK_EQ_INT(t.server.accepts, 2);
    }
    free(upload);
    teardown();
}

/* Reads the second request's head on the first connection, and drops it: only then does curl
   learn that the connection is dead, with part of the body sent. */
static void hang_up_on_second(loopback *server, loopback_connection *c) {
    answer_hash(server, c);
    if (server->requests == 1) server->read_most = 1; /* so that the drop below comes early */
}

TEST(a_large_body_is_sent_again_after_part_of_it_was_lost) {
    uint32_t hash;
    if (!setup(hang_up_on_second)) return;
    hash = make_upload();
    post_here(0, "/", "{}");
    run_until_ends(1);
    set_upload(request_here(1, "POST", "/"), 200);
    CHECK_EQ_INT(open_request(1), PHI_OK);
    RUN_UNTIL(t.records[1].connected == 1);
    step();
    loopback_drop(&t.server, &t.server.connections[0], true);
    t.server.read_most = 0;
    got_len = 0;
    if (run_until_ends(2)) {
        CHECK_EQ_INT(t.records[1].status, PHI_OK);
        CHECK_EQ_INT(got_len, UPLOAD);
        CHECK_EQ_INT(got_hash, hash);
        CHECK_EQ_INT(t.server.accepts, 2);
    }
    free(upload);
    teardown();
}

TEST(sequential_requests_share_one_connection) {
    uint32_t i;
    if (!setup(answer_hello)) return;
    for (i = 0; i < 10; i++) {
        post_here(i, "/", "{}");
        if (!run_until_ends((int)i + 1)) break;
        CHECK_EQ_INT(t.records[i].connected, 1);
    }
    CHECK_EQ_INT(t.server.accepts, 1);
    CHECK_EQ_INT(t.server.requests, 10);
    teardown();
}

/* An answer to HEAD has no body: libcurl does not use a connection again that has more to say. */
static void answer_warm(loopback *server, loopback_connection *c) {
    if (strncmp(c->head, "HEAD ", 5) != 0) {
        answer_hello(server, c);
        return;
    }
    memcpy(seen, c->head, sizeof seen);
    loopback_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
}

TEST(a_warm_connection_is_used_by_the_first_request) {
    char url[64];
    if (!setup(answer_warm)) return;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/x?key=secret", t.server.port);
    CHECK_EQ_INT(phi__http_warm(t.http, phi_str_of(url)), PHI_OK);
    CHECK_EQ_INT(phi__http_pending(t.http), 1);
    RUN_UNTIL(phi__http_pending(t.http) == 0);
    CHECK(strncmp(seen, "HEAD / HTTP/1.1\r\n", 17) == 0);
    CHECK_EQ_INT(t.server.accepts, 1);
    post_here(0, "/", "{}");
    run_until_ends(1);
    CHECK_EQ_INT(t.server.accepts, 1);
    CHECK_EQ_INT(phi__http_warm(t.http, phi_str_of("nothing")), PHI_BAD_ARG);
    teardown();
}

/* ---- trouble ---- */

static int unused_port(void) {
    static loopback s;
    int port;
    loopback_open(&s, NULL);
    port = s.port;
    loopback_close(&s);
    return port;
}

/* The words of the first transfer, which went to "/" of the test's server. */
static void check_words_at(const char *what, const char *detail) {
    char want[300];
    (void)snprintf(want, sizeof want, "%s http://127.0.0.1:%d/ (%s)", what, t.server.port, detail);
    CHECK_EQ_STR(t.records[0].words, want);
}

TEST(a_refused_connection_is_said_so) {
    char url[64];
    if (!setup(NULL)) return;
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/", unused_port());
    set_body(request_to(0, "POST", url), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_REFUSED);
        CHECK(strncmp(t.records[0].words, "connection refused by http://127.0.0.1:", 39) == 0);
        CHECK_EQ_INT(t.records[0].connected, 0);
        CHECK_EQ_INT(t.records[0].heads, 0);
    }
    teardown();
}

TEST(a_host_that_does_not_exist_is_said_so) {
    if (!setup(NULL)) return;
    set_body(request_to(0, "POST", "http://user:secret@no-such-host.invalid/v1?key=secret"), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_NOT_FOUND);
        static const char words[] = "no such host: http://[redacted]@no-such-host.invalid/v1 "
                                    "(Could not resolve host: no-such-host.invalid";
        CHECK(strncmp(t.records[0].words, words, sizeof words - 1) == 0); /* c-ares says more */
    }
    teardown();
}

TEST(tls_to_a_plain_port_is_a_tls_failure) {
    char url[64];
    if (!setup(answer_hello)) return;
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", t.server.port);
    t.server.on_accept = NULL;
    set_body(request_to(0, "POST", url), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    RUN_UNTIL(t.server.open == 1 && t.server.connections[0].head_len > 0);
    loopback_text(&t.server.connections[0], "HTTP/1.1 400 Bad Request\r\n\r\n");
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_TLS);
        CHECK(strncmp(t.records[0].words, "no secure connection with https://127.0.0.1:", 44) == 0);
    }
    teardown();
}

static void answer_half(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    c->close_after = true;
}

TEST(a_body_that_is_cut_is_a_network_failure) {
    if (!setup(answer_half)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_NETWORK);
        CHECK_EQ_STR(t.records[0].body, "half");
        CHECK(strncmp(t.records[0].words, "the connection was cut, to http://127.0.0.1:", 44) == 0);
        CHECK(strstr(t.records[0].words, " 96 bytes ") != NULL);
    }
    teardown();
}

static void answer_cut_chunk(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
    c->close_after = true;
}

TEST(a_chunked_body_without_its_end_is_a_network_failure) {
    if (!setup(answer_cut_chunk)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_NETWORK);
        CHECK_EQ_STR(t.records[0].body, "half");
    }
    teardown();
}

static void answer_reset(loopback *server, loopback_connection *c) {
    answer_cut_chunk(server, c);
    c->close_after = false;
    c->reset_after = true;
}

TEST(a_reset_connection_is_a_network_failure) {
    if (!setup(answer_reset)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) CHECK_EQ_INT(t.records[0].status, PHI_NETWORK);
    teardown();
}

static void answer_nothing(loopback *server, loopback_connection *c) {
    loopback_drop(server, c, false);
}

TEST(a_close_without_an_answer_is_said_so) {
    if (!setup(answer_nothing)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_NETWORK);
        check_words_at("the connection was closed without an answer by", "Empty reply from server");
    }
    teardown();
}

static void answer_garbage(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, "220 smtp.example.com ESMTP\r\n");
    c->close_after = true;
}

TEST(an_answer_that_is_not_http_is_said_so) {
    if (!setup(answer_garbage)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_NETWORK);
        CHECK(strncmp(t.records[0].words, "what answers is not HTTP, at http://127.0.0.1:", 46) ==
              0);
    }
    teardown();
}

static void answer_529(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_answer(c, 529, "Retry-After: 3\r\n", "{\"error\":1}", 11);
}

TEST(an_error_status_is_an_answer) {
    if (!setup(answer_529)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_OK);
        CHECK_EQ_INT(t.records[0].http_status, 529);
        CHECK_EQ_STR(t.records[0].headers, "Retry-After: 3\r\nContent-Length: 11\r\n");
        CHECK_EQ_STR(t.records[0].body, "{\"error\":1}");
    }
    teardown();
}

static void answer_at_once(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_answer(c, 413, "Connection: close\r\n", "too large", 9);
}

TEST(an_error_before_the_body_was_sent_is_an_answer) {
    if (!setup(answer_hello)) return;
    make_upload();
    t.server.on_accept = answer_at_once;
    t.server.read_most = 100;
    set_upload(request_here(0, "POST", "/"), 200);
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_OK);
        CHECK_EQ_INT(t.records[0].http_status, 413);
        CHECK_EQ_STR(t.records[0].body, "too large");
    }
    free(upload);
    teardown();
}

/* ---- cancel ---- */

static void drain_removals(void) {
    int i;
    for (i = 0; i < 50 && phi__http_pending(t.http) > 0; i++) step();
    CHECK_EQ_INT(phi__http_pending(t.http), 0);
}

TEST(cancel_while_waiting_forgets_the_request) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    cancel(0);
    CHECK_EQ_INT(phi__http_pending(t.http), 0);
    post_here(1, "/", "{}");
    run_until_ends(1);
    CHECK_EQ_INT(t.server.requests, 1);
    teardown();
}

TEST(cancel_after_the_start_releases_the_connection) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    step();
    CHECK_EQ_INT(t.records[0].started, 1);
    cancel(0);
    drain_removals();
    step();
    RUN_UNTIL(t.server.open == 0);
    teardown();
}

TEST(cancel_while_connecting_is_quiet) {
    if (!setup(NULL)) return;
    /* TEST-NET-1: nobody answers */
    set_body(request_to(0, "POST", "http://192.0.2.1:9/"), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    step();
    step();
    cancel(0);
    drain_removals();
    teardown();
}

static int open_descriptors(void) {
    int fd, n = 0;
    for (fd = 0; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* A lookup that is given up ends when the system's resolver says so; until then it keeps two
   descriptors. */
static void settle(int descriptors) {
    int tries;
    for (tries = 0; tries < 500 && open_descriptors() > descriptors; tries++) {
        struct timespec pause = {0, 10000000};
        (void)nanosleep(&pause, NULL);
    }
}

TEST(cancel_during_a_lookup_does_not_wait) {
    int descriptors = open_descriptors();
    uint64_t before;
    if (!setup(NULL)) return;
    set_body(request_to(0, "POST", "http://no-such-host.invalid/"), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    step();
    before = now_us();
    cancel(0);
    if (t.http->quick_exit)
        drain_removals();
    else
        step();
    CHECK(now_us() - before < 1000000);
    teardown();
    settle(descriptors);
}

static void answer_never(loopback *server, loopback_connection *c) {
    (void)server;
    (void)c;
}

TEST(cancel_while_waiting_for_the_head_is_quiet) {
    if (!setup(answer_never)) return;
    post_here(0, "/", "{}");
    RUN_UNTIL(t.server.requests == 1);
    cancel(0);
    drain_removals();
    RUN_UNTIL(t.server.open == 0);
    teardown();
}

static void answer_head_only(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
}

TEST(cancel_in_the_middle_of_a_body_is_quiet) {
    if (!setup(answer_head_only)) return;
    post_here(0, "/", "{}");
    RUN_UNTIL(t.records[0].body_len == 3);
    cancel(0);
    loopback_text(&t.server.connections[0], "def");
    loopback_step(&t.server);
    drain_removals();
    RUN_UNTIL(t.server.open == 0);
    teardown();
}

TEST(cancel_in_the_middle_of_an_upload_is_quiet) {
    if (!setup(answer_hash)) return;
    make_upload();
    t.server.read_most = 100;
    set_upload(request_here(0, "POST", "/"), 200);
    CHECK_EQ_INT(open_request(0), PHI_OK);
    RUN_UNTIL(t.server.open == 1);
    cancel(0);
    free(upload);
    t.server.read_most = 0;
    drain_removals();
    RUN_UNTIL(t.server.open == 0);
    teardown();
}

static void cancel_index(uint32_t index) { cancel(index); }

TEST(cancel_inside_a_push_is_the_last_push) {
    if (!setup(answer_alphabet)) return;
    post_here(0, "/", "{}");
    t.records[0].at_push = cancel_index;
    RUN_UNTIL(t.records[0].pushes == 1);
    drain_removals();
    CHECK_EQ_INT(t.records[0].pushes, 1);
    CHECK_EQ_INT(t.ends, 0);
    teardown();
}

TEST(cancel_inside_the_head_means_no_push) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    t.records[0].at_head = cancel_index;
    RUN_UNTIL(t.records[0].heads == 1);
    drain_removals();
    CHECK_EQ_INT(t.records[0].pushes, 0);
    CHECK_EQ_INT(t.ends, 0);
    teardown();
}

static void cancel_when_connected(uint32_t index, phi_transfer_stage stage) {
    if (stage == PHI_TRANSFER_CONNECTED) cancel(index);
}

TEST(cancel_when_connected_sends_nothing) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    t.records[0].at_stage = cancel_when_connected;
    RUN_UNTIL(t.records[0].connected == 1);
    drain_removals();
    RUN_UNTIL(t.server.open == 0);
    /* without the callback before a request, its head has left by then */
    CHECK_EQ_INT(t.server.requests, t.http->prereq ? 0 : 1);
    teardown();
}

static void cancel_when_started(uint32_t index, phi_transfer_stage stage) {
    if (stage == PHI_TRANSFER_STARTED) cancel(index);
}

TEST(cancel_inside_the_start_is_quiet) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    t.records[0].at_stage = cancel_when_started;
    RUN_UNTIL(t.records[0].started == 1);
    drain_removals();
    CHECK_EQ_INT(t.ends, 0);
    teardown();
}

TEST(cancel_of_a_paused_transfer_is_quiet) {
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    t.records[0].full_after = 1;
    RUN_UNTIL(t.records[0].full);
    cancel(0);
    drain_removals();
    CHECK_EQ_INT(t.ends, 0);
    teardown();
}

TEST(a_stale_push_ends_the_transfer) {
    if (!setup(answer_alphabet)) return;
    post_here(0, "/", "{}");
    t.records[0].push_status = PHI_STALE;
    RUN_UNTIL(t.records[0].heads == 1);
    drain_removals();
    RUN_UNTIL(t.server.open == 0);
    teardown();
}

static void open_next(uint32_t index) {
    if (index + 1 < 5) post_here(index + 1, "/", "{}");
}

TEST(an_end_may_open_and_cancel_others) {
    uint32_t i;
    if (!setup(answer_hello)) return;
    for (i = 0; i < 5; i++) t.records[i].at_end = open_next;
    post_here(0, "/", "{}");
    run_until_ends(5);
    CHECK_EQ_INT(t.server.accepts, 1);
    teardown();
}

static void cancel_next(uint32_t index) {
    if (!t.dead[index + 1]) cancel(index + 1);
}

TEST(an_end_may_cancel_one_that_has_finished_too) {
    if (!setup(answer_hello)) return;
    t.records[0].at_end = cancel_next;
    post_here(0, "/", "{}");
    post_here(1, "/", "{}");
    RUN_UNTIL(t.ends == 1);
    drain_removals();
    CHECK_EQ_INT(t.ends, 1);
    teardown();
}

TEST(free_with_everything_under_way_is_safe) {
    uint32_t i;
    int descriptors = open_descriptors();
    phi__http_desc desc = no_desc();
    desc.max_connections = 8;
    if (!setup_with(&desc, NULL, answer_head_only)) return;
    for (i = 0; i < 20; i++) post_here(i, "/", "{}");
    set_body(request_to(20, "POST", "http://no-such-host.invalid/"), "{}");
    open_request(20);
    RUN_UNTIL(t.server.requests >= 5);
    cancel(0);
    memset(t.dead, 1, sizeof t.dead);
    teardown();
    settle(descriptors);
}

/* ---- admission ---- */

TEST(a_thousand_opens_start_four_a_step_and_eight_at_once) {
    uint32_t i;
    size_t most = 0;
    phi__http_desc desc = no_desc();
    desc.max_connections = 8;
    if (!setup_with(&desc, NULL, answer_hello)) return;
    for (i = 0; i < 1000; i++) post_here(i, "/", "{}");
    CHECK_EQ_INT(phi__http_pending(t.http), 1000);
    while (t.ends < 1000) {
        int before = t.ends;
        uint64_t limit = now_us() + 5000000;
        while (t.ends == before && now_us() < limit) step();
        if (!CHECK(t.ends > before)) break;
        if ((size_t)t.server.open > most) most = (size_t)t.server.open;
    }
    CHECK_EQ_INT(t.ends, 1000);
    CHECK_EQ_INT(t.worst_starts, 4);
    CHECK(most <= 8);
    CHECK(t.server.accepts <= 8);
    CHECK_EQ_INT(t.server.requests, 1000);
    for (i = 0; i < 1000; i++)
        if (!CHECK_EQ_INT(t.records[i].status, PHI_OK)) break;
    teardown();
}

TEST(a_thousand_starts_look_for_descriptors_a_thousand_times) {
    uint32_t i;
    phi__http_desc desc = no_desc();
    desc.max_connections = 64;
    if (!setup_with(&desc, NULL, answer_hello)) return;
    for (i = 0; i < 1000; i++) post_here(i, "/", "{}");
    looks = 0;
    run_until_ends(1000);
    CHECK(looks > 0 && looks <= 6 * 1000); /* a start may need six */
    teardown();
}

TEST(one_start_a_step_when_told_so) {
    uint32_t i;
    phi__http_desc desc = no_desc();
    phi__io_desc io_desc;
    memset(&io_desc, 0, sizeof io_desc);
    io_desc.max_starts_per_step = 1;
    if (!setup_with(&desc, &io_desc, answer_hello)) return;
    for (i = 0; i < 20; i++) post_here(i, "/", "{}");
    run_until_ends(20);
    CHECK_EQ_INT(t.worst_starts, 1);
    teardown();
}

TEST(out_of_descriptors_means_wait) {
    struct rlimit before, low;
    uint32_t i;
    phi__http_desc desc = no_desc();
    if (!setup_with(&desc, NULL, answer_hello)) return;
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    low = before;
    low.rlim_cur = 32;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    for (i = 0; i < 60; i++) post_here(i, "/", "{}");
    run_until_ends(60);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    for (i = 0; i < 60; i++)
        if (!CHECK_EQ_INT(t.records[i].status, PHI_OK)) break;
    CHECK_EQ_INT(t.server.requests, 60);
    teardown();
}

TEST(no_descriptor_at_all_is_an_error_with_words) {
    struct rlimit before, low;
    int fds[64], n = 0;
    if (!setup(answer_hello)) return;
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    low = before;
    low.rlim_cur = 40;
    CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    while (n < 64 && (fds[n] = dup(t.server.fd)) >= 0) n++;
    post_here(0, "/", "{}");
    run_until_ends(1);
    while (n > 0) (void)close(fds[--n]);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK_EQ_INT(t.records[0].status, PHI_IO);
    CHECK(strncmp(t.records[0].words,
                  "no file descriptor was left for a connection to http://127.0.0.1:", 65) == 0);
    teardown();
}

/* ---- what this libcurl does not need, and others do ---- */

TEST(without_asynchronous_lookups_only_addresses_are_allowed) {
    if (!setup(answer_hello)) return;
    t.http->async_dns = false;
    set_body(request_to(0, "POST", "http://api.invalid/"), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_UNSUPPORTED);
        CHECK_EQ_STR(t.records[0].words,
                     "this libcurl looks names up without AsynchDNS, which would stop the pump: "
                     "give an address, or pin the name with resolve");
    }
    CHECK_EQ_INT(phi__http_warm(t.http, phi_str_of("https://api.invalid/")), PHI_UNSUPPORTED);
    post_here(1, "/", "{}");
    if (run_until_ends(2)) CHECK_EQ_INT(t.records[1].status, PHI_OK);
    teardown();
}

TEST(without_quick_exit_a_cancelled_lookup_is_removed_when_it_is_over) {
    if (!setup(NULL)) return;
    t.http->quick_exit = false;
    set_body(request_to(0, "POST", "http://no-such-host.invalid/"), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    step();
    CHECK(t.http->active.count == 1 && phi__http_curl_first(&t.http->active)->resolving);
    cancel(0);
    CHECK_EQ_INT(phi__http_pending(t.http), 1);
    RUN_UNTIL(phi__http_pending(t.http) == 0);
    teardown();
}

TEST(a_transfer_works_with_the_pipe_signal_held_back) {
    sigset_t before, after;
    if (!setup(answer_hello)) return;
    t.http->mask_sigpipe = true;
    CHECK_EQ_INT(pthread_sigmask(SIG_SETMASK, NULL, &before), 0);
    post_here(0, "/", "{}");
    if (run_until_ends(1)) CHECK_EQ_INT(t.records[0].status, PHI_OK);
    phi__http_enter(t.http);
    CHECK_EQ_INT(raise(SIGPIPE), 0); /* would end this program */
    phi__http_leave(t.http);
    CHECK_EQ_INT(pthread_sigmask(SIG_SETMASK, NULL, &after), 0);
    CHECK_EQ_INT(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
    teardown();
}

/* curl reads the status line of its HTTP/2 layer with the same parser: this is a stream of a
   version 2 to it and to us. */
static void answer_as_http2(loopback *server, loopback_connection *c) {
    char head[64];
    (void)server;
    (void)snprintf(head, sizeof head, "HTTP/2 200\r\nContent-Length: %d\r\n\r\n", BIG / 4);
    loopback_text(c, head);
    loopback_send(c, big_body, BIG / 4);
}

TEST(a_full_push_does_not_pause_http2) {
    record *r;
    size_t i;
    if (!setup(answer_as_http2)) return;
    big_body = (char *)malloc(BIG);
    for (i = 0; i < BIG; i++) big_body[i] = (char)('a' + i % 23);
    post_here(0, "/", "{}");
    r = &t.records[0];
    r->full_after = 20000;
    for (i = 0; i < 300; i++) step();
    CHECK_EQ_INT(r->ends, 0);
    CHECK(r->body_len <= 20000);
    CHECK(t.http->done.count == 1); /* all was read, and waits in our buffer */
    for (i = 0; r->ends == 0 && i < 1000; i++) {
        r->full_after += 20000;
        resume(0);
        step();
    }
    CHECK_EQ_INT(r->status, PHI_OK);
    CHECK_EQ_INT(r->body_len, BIG / 4);
    CHECK(memcmp(r->body, big_body, r->body_len) == 0);
    free(big_body);
    teardown();
}

static void answer_too_much_as_http2(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, "HTTP/2 200\r\nContent-Length: 3145728\r\n\r\n");
    loopback_send(c, big_body, BIG);
}

TEST(an_http2_stream_that_nobody_reads_fails_at_a_mebibyte) {
    if (!setup(answer_too_much_as_http2)) return;
    big_body = (char *)calloc(1, BIG);
    post_here(0, "/", "{}");
    t.records[0].full_after = 1;
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_TOO_BIG);
        CHECK_EQ_STR(t.records[0].words, "127.0.0.1 answers faster than is read: 1048576 bytes "
                                         "wait (an HTTP/2 stream is not paused)");
    }
    free(big_body);
    teardown();
}

TEST(http2_is_asked_for_only_when_enabled) {
    phi__http_desc desc = no_desc();
    desc.enable_http2 = true;
    if (!setup_with(&desc, NULL, answer_hello)) return;
    post_here(0, "/", "{}"); /* over plain HTTP nobody upgrades */
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_OK);
        CHECK(strstr(seen, "Upgrade") == NULL);
    }
    teardown();
}

/* ---- memory ---- */

TEST(every_failed_allocation_ends_with_a_status) {
    int n;
    for (n = 0; n < 200; n++) {
        phi__http_desc desc = no_desc();
        uint64_t limit;
        bool tripped;
        memset(&t, 0, sizeof t);
        if (!setup_with(&desc, NULL, answer_hello)) return;
        test_alloc_fail_at(n);
        set_body(request_here(0, "POST", "/"), "{}");
        if (open_request(0) == PHI_OK) {
            limit = now_us() + 3000000;
            while (t.ends == 0 && now_us() < limit) step();
            if (!CHECK_EQ_INT(t.ends, 1)) n = 1000;
            CHECK(t.records[0].status == PHI_OK || t.records[0].status == PHI_NO_MEMORY);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (tripped) { /* and the transport still works */
            post_here(1, "/", "{}");
            limit = now_us() + 3000000;
            while (t.records[1].ends == 0 && now_us() < limit) step();
            CHECK_EQ_INT(t.records[1].status, PHI_OK);
            CHECK_EQ_STR(t.records[1].body, "hello");
        }
        teardown();
        if (!tripped) break;
    }
    CHECK(n > 3 && n < 200);
}

TEST(every_failed_allocation_of_the_set_up_is_survived) {
    int n;
    for (n = 0; n < 200; n++) {
        phi_allocator a = test_allocator();
        phi_memory memory;
        phi__io *io = NULL;
        phi__http *http = NULL;
        phi__transfer_port port;
        phi__http_desc desc = no_desc();
        const char *resolve[2] = {"api.example:443:127.0.0.1", NULL};
        const char *words = NULL;
        bool tripped;
        memset(&port, 0, sizeof port);
        desc.proxy = "http://127.0.0.1:1";
        desc.ca_file = "/nowhere.pem";
        desc.resolve = resolve;
        phi_memory_init(&memory, &a, 0);
        test_alloc_fail_at(n);
        if (phi__io_new(&memory, NULL, &io) == PHI_OK) {
            phi_status status = phi__http_new(io, &desc, &port, &http, &words);
            CHECK(status == PHI_OK || (status == PHI_NO_MEMORY && words != NULL));
            phi__http_free(http);
            phi__io_free(io);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(memory.used_bytes, 0);
        if (!tripped) break;
    }
    CHECK(n > 3 && n < 200);
}

/* ---- pinned names, proxies ---- */

TEST(a_pinned_name_needs_no_lookup) {
    char entry[64], url[64];
    const char *resolve[2];
    phi__http_desc desc = no_desc();
    loopback *server = &t.server;
    if (!setup(answer_hello)) return;
    phi__http_free(t.http);
    (void)snprintf(entry, sizeof entry, "api.invalid:%d:127.0.0.1", server->port);
    resolve[0] = entry;
    resolve[1] = NULL;
    desc.resolve = resolve;
    {
        phi__transfer_port port;
        const char *words;
        port.stage = on_stage;
        port.head = on_head;
        port.push = on_push;
        port.end = on_end;
        REQUIRE(phi__http_new(t.io, &desc, &port, &t.http, &words) == PHI_OK);
        t.transport = phi__http_transport(t.http);
    }
    (void)snprintf(url, sizeof url, "http://api.invalid:%d/", server->port);
    set_body(request_to(0, "POST", url), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) CHECK_EQ_INT(t.records[0].status, PHI_OK);
    teardown();
}

TEST(proxy_variables_are_not_read_unless_asked) {
    char proxy[64];
    phi__http_desc desc = no_desc();
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", unused_port());
    (void)setenv("http_proxy", proxy, 1);
    if (!setup(answer_hello)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) CHECK_EQ_INT(t.records[0].status, PHI_OK);
    teardown();
    desc.use_environment = true;
    if (!setup_with(&desc, NULL, answer_hello)) return;
    post_here(0, "/", "{}");
    if (run_until_ends(1)) CHECK_EQ_INT(t.records[0].status, PHI_REFUSED);
    (void)unsetenv("http_proxy");
    teardown();
}

TEST(a_proxy_is_used_when_given) {
    char proxy[64];
    phi__http_desc desc = no_desc();
    static loopback other;
    loopback_open(&other, answer_hello);
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", other.port);
    desc.proxy = proxy;
    if (!setup_with(&desc, NULL, NULL)) return;
    t.server = other;
    (void)setenv("no_proxy", "*", 1);
    set_body(request_to(0, "POST", "http://api.invalid/v1"), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, PHI_OK);
        CHECK(strncmp(seen, "POST http://api.invalid/v1 HTTP/1.1\r\n", 37) == 0);
    }
    (void)unsetenv("no_proxy");
    teardown();
}

static const char *proxy_says;

static void answer_as_proxy(loopback *server, loopback_connection *c) {
    (void)server;
    loopback_text(c, proxy_says);
}

static void check_refused_tunnel(const char *answer, phi_status status, const char *words) {
    char proxy[64];
    phi__http_desc desc = no_desc();
    static loopback other;
    proxy_says = answer;
    loopback_open(&other, answer_as_proxy);
    (void)snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", other.port);
    desc.proxy = proxy;
    if (!setup_with(&desc, NULL, NULL)) return;
    t.server = other;
    set_body(request_to(0, "POST", "https://api.invalid/v1"), "{}");
    CHECK_EQ_INT(open_request(0), PHI_OK);
    if (run_until_ends(1)) {
        CHECK_EQ_INT(t.records[0].status, status);
        CHECK(strncmp(t.records[0].words, words, strlen(words)) == 0);
        CHECK(strstr(t.records[0].words, " https://api.invalid/v1 (") != NULL);
    }
    teardown();
}

TEST(a_proxy_that_refuses_the_tunnel_is_said_so) {
    check_refused_tunnel("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
                         "Content-Length: 2\r\n\r\nno",
                         PHI_TLS, "the proxy refused a secure connection with");
    check_refused_tunnel("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", PHI_TLS,
                         "the proxy refused a secure connection with");
    check_refused_tunnel("HTTP/1.1 429 Slow\r\nContent-Length: 0\r\n\r\n", PHI_NETWORK,
                         "the proxy has no connection with");
    check_refused_tunnel("HTTP/1.1 502 Down\r\nContent-Length: 0\r\n\r\n", PHI_NETWORK,
                         "the proxy has no connection with");
}

/* ---- TLS, with openssl's own server where there is one ---- */

static pid_t spawn_tls_server(const char *dir, int port) {
    char command[1024];
    pid_t pid;
    (void)snprintf(command, sizeof command,
                   "cd '%s' && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out "
                   "cert.pem -days 2 -subj /CN=api.invalid -addext "
                   "subjectAltName=DNS:api.invalid >/dev/null 2>&1",
                   dir);
    if (system(command) != 0) return -1;
    (void)snprintf(command, sizeof command,
                   "cd '%s' && exec openssl s_server -accept 127.0.0.1:%d -cert cert.pem -key "
                   "key.pem -www >/dev/null 2>&1 </dev/null",
                   dir, port);
    pid = fork();
    if (pid == 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static bool wait_for_port(int port) {
    struct sockaddr_in address;
    int tries;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    for (tries = 0; tries < 200; tries++) {
        struct timespec pause = {0, 20000000};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        bool ok = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
        (void)close(fd);
        if (ok) return true;
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static void tls_get(int port, const char *host, const char *ca_file) {
    char url[64], entry[64];
    const char *resolve[2];
    phi__http_desc desc = no_desc();
    (void)snprintf(entry, sizeof entry, "%s:%d:127.0.0.1", host, port);
    resolve[0] = entry;
    resolve[1] = NULL;
    desc.resolve = resolve;
    desc.ca_file = ca_file;
    if (!setup_with(&desc, NULL, NULL)) return;
    (void)snprintf(url, sizeof url, "https://%s:%d/", host, port);
    request_to(0, "GET", url);
    CHECK_EQ_INT(open_request(0), PHI_OK);
    run_until_ends(1);
}

TEST(certificates_are_verified) {
    char dir[256], ca[300];
    int port = unused_port();
    pid_t pid;
    if (system("openssl version >/dev/null 2>&1") != 0) {
        test_skip("no openssl command");
        return;
    }
    REQUIRE(test_temp_dir(dir, sizeof dir));
    pid = spawn_tls_server(dir, port);
    REQUIRE(pid > 0);
    if (CHECK(wait_for_port(port))) {
        (void)snprintf(ca, sizeof ca, "%s/cert.pem", dir);
        tls_get(port, "api.invalid", NULL);
        CHECK_EQ_INT(t.records[0].status, PHI_TLS);
        /* other TLS libraries have other words */
        if (strncmp(curl_version_info(CURLVERSION_NOW)->ssl_version, "OpenSSL", 7) == 0)
            CHECK(strstr(t.records[0].words, "self") != NULL);
        teardown();
        tls_get(port, "api.invalid", ca);
        CHECK_EQ_INT(t.records[0].status, PHI_OK);
        CHECK_EQ_INT(t.records[0].http_status, 200);
        teardown();
        tls_get(port, "other.invalid", ca);
        CHECK_EQ_INT(t.records[0].status, PHI_TLS);
        teardown();
        tls_get(port, "api.invalid", "/nowhere/ca.pem");
        CHECK_EQ_INT(t.records[0].status, PHI_TLS);
        teardown();
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

TEST(a_warm_up_loads_the_certificates_in_the_call) {
    char url[64];
    if (!setup(answer_hello)) return;
    if (!t.http->ca_cache) {
        test_skip("this libcurl keeps no certificate store");
    } else {
        (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", unused_port());
        CHECK_EQ_INT(phi__http_warm(t.http, phi_str_of(url)), PHI_OK);
        CHECK(t.http->ca_loaded);
        CHECK_EQ_INT(phi__http_pending(t.http), 1);
        RUN_UNTIL(phi__http_pending(t.http) == 0);
    }
    teardown();
}

TEST(every_failed_allocation_of_a_warm_up_is_survived) {
    char url[64];
    int n;
    bool tripped = true;
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", unused_port());
    for (n = 0; tripped && n < 100; n++) {
        phi_status status;
        if (!setup(NULL)) return;
        test_alloc_fail_at(n);
        status = phi__http_warm(t.http, phi_str_of(url));
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        RUN_UNTIL(phi__http_pending(t.http) == 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        teardown();
    }
    CHECK(n > 3);
}

TEST_MAIN(
    TEST_ENTRY(a_post_is_answered), TEST_ENTRY(a_get_has_no_body_and_a_put_keeps_its_method),
    TEST_ENTRY(a_request_that_would_smuggle_a_line_is_refused),
    TEST_ENTRY(opening_the_same_handle_twice_is_busy),
    TEST_ENTRY(bytes_sent_one_at_a_time_arrive_in_order),
    TEST_ENTRY(the_head_is_told_once_without_interim_answers_and_trailers),
    TEST_ENTRY(header_lines_past_16_kib_are_dropped),
    TEST_ENTRY(a_transfer_coding_that_nobody_asked_for_is_refused_before_the_body),
    TEST_ENTRY(chunked_and_identity_are_read_in_any_spelling),
    TEST_ENTRY(a_content_coding_is_never_undone),
    TEST_ENTRY(header_lines_without_end_fail_at_256_kib),
    TEST_ENTRY(interim_answers_without_end_fail_at_256_kib),
    TEST_ENTRY(trailers_without_end_fail_at_256_kib), TEST_ENTRY(very_many_short_header_lines_fail),
    TEST_ENTRY(a_header_line_without_end_is_not_a_lack_of_memory),
    TEST_ENTRY(a_trailer_without_end_is_not_a_lack_of_memory),
    TEST_ENTRY(two_hundred_kib_of_header_lines_are_an_answer),
    TEST_ENTRY(a_full_push_pauses_and_resume_loses_nothing),
    TEST_ENTRY(a_resume_inside_a_push_is_kept_for_the_pump),
    TEST_ENTRY(a_push_that_fails_ends_the_transfer_with_its_status),
    TEST_ENTRY(a_large_body_is_read_from_its_pieces),
    TEST_ENTRY(a_large_body_is_read_again_when_a_kept_connection_was_dead),
    TEST_ENTRY(a_large_body_is_sent_again_after_part_of_it_was_lost),
    TEST_ENTRY(sequential_requests_share_one_connection),
    TEST_ENTRY(a_warm_connection_is_used_by_the_first_request),
    TEST_ENTRY(a_refused_connection_is_said_so), TEST_ENTRY(a_host_that_does_not_exist_is_said_so),
    TEST_ENTRY(tls_to_a_plain_port_is_a_tls_failure),
    TEST_ENTRY(a_body_that_is_cut_is_a_network_failure),
    TEST_ENTRY(a_chunked_body_without_its_end_is_a_network_failure),
    TEST_ENTRY(a_reset_connection_is_a_network_failure),
    TEST_ENTRY(a_close_without_an_answer_is_said_so),
    TEST_ENTRY(an_answer_that_is_not_http_is_said_so), TEST_ENTRY(an_error_status_is_an_answer),
    TEST_ENTRY(cancel_while_waiting_forgets_the_request),
    TEST_ENTRY(cancel_after_the_start_releases_the_connection),
    TEST_ENTRY(cancel_while_connecting_is_quiet), TEST_ENTRY(cancel_during_a_lookup_does_not_wait),
    TEST_ENTRY(cancel_while_waiting_for_the_head_is_quiet),
    TEST_ENTRY(cancel_in_the_middle_of_a_body_is_quiet),
    TEST_ENTRY(cancel_in_the_middle_of_an_upload_is_quiet),
    TEST_ENTRY(cancel_inside_a_push_is_the_last_push),
    TEST_ENTRY(cancel_inside_the_head_means_no_push),
    TEST_ENTRY(cancel_when_connected_sends_nothing), TEST_ENTRY(cancel_inside_the_start_is_quiet),
    TEST_ENTRY(cancel_of_a_paused_transfer_is_quiet), TEST_ENTRY(a_stale_push_ends_the_transfer),
    TEST_ENTRY(an_end_may_open_and_cancel_others),
    TEST_ENTRY(an_end_may_cancel_one_that_has_finished_too),
    TEST_ENTRY(free_with_everything_under_way_is_safe),
    TEST_ENTRY(a_thousand_opens_start_four_a_step_and_eight_at_once),
    TEST_ENTRY(a_thousand_starts_look_for_descriptors_a_thousand_times),
    TEST_ENTRY(one_start_a_step_when_told_so), TEST_ENTRY(out_of_descriptors_means_wait),
    TEST_ENTRY(no_descriptor_at_all_is_an_error_with_words),
    TEST_ENTRY(an_error_before_the_body_was_sent_is_an_answer),
    TEST_ENTRY(without_asynchronous_lookups_only_addresses_are_allowed),
    TEST_ENTRY(without_quick_exit_a_cancelled_lookup_is_removed_when_it_is_over),
    TEST_ENTRY(a_transfer_works_with_the_pipe_signal_held_back),
    TEST_ENTRY(a_full_push_does_not_pause_http2),
    TEST_ENTRY(an_http2_stream_that_nobody_reads_fails_at_a_mebibyte),
    TEST_ENTRY(http2_is_asked_for_only_when_enabled),
    TEST_ENTRY(every_failed_allocation_ends_with_a_status),
    TEST_ENTRY(every_failed_allocation_of_the_set_up_is_survived),
    TEST_ENTRY(a_pinned_name_needs_no_lookup),
    TEST_ENTRY(proxy_variables_are_not_read_unless_asked), TEST_ENTRY(a_proxy_is_used_when_given),
    TEST_ENTRY(a_proxy_that_refuses_the_tunnel_is_said_so), TEST_ENTRY(certificates_are_verified),
    TEST_ENTRY(a_warm_up_loads_the_certificates_in_the_call),
    TEST_ENTRY(every_failed_allocation_of_a_warm_up_is_survived))
