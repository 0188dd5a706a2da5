/* test_mcp_over_http.c - connections over real HTTP to the mock server, in each era. */
#include "mcp/mcp.h"
#include "support/mcp_mock.h"
#include "support/test.h"
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"

#include <time.h>

typedef struct heard {
    char text[4096];
    size_t len, progress;
    phi_mcp_reply reply;
    char message[400];
    int done;
} heard;

static void event(void *user_data, const phi_mcp_event *e) {
    heard *h = (heard *)user_data;
    int n = snprintf(h->text + h->len, sizeof h->text - h->len, "%d %.*s\n", (int)e->kind,
                     (int)e->text.len, e->text.len > 0 ? e->text.at : "");
    if (n > 0 && h->len + (size_t)n < sizeof h->text) h->len += (size_t)n;
}

static void progress(void *user_data, double at, double total, phi_str message) {
    (void)at;
    (void)total;
    (void)message;
    ((heard *)user_data)->progress++;
}

static void done(void *user_data, const phi_mcp_reply *reply) {
    heard *h = (heard *)user_data;
    h->reply = *reply;
    (void)snprintf(h->message, sizeof h->message, "%.*s", (int)reply->message.len,
                   reply->message.len > 0 ? reply->message.at : "");
    h->done++;
}

static bool until(phi_runtime *rt, const int *flag, int ms) {
    time_t end = time(NULL) + ms / 1000 + 1;
    while (*flag == 0 && time(NULL) < end) (void)phi_step(rt, 20);
    return *flag != 0;
}

#define ECHO "{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}"
#define LOGS                                                                                       \
    "{\"name\":\"logs\",\"arguments\":{},\"_meta\":{\"io.modelcontextprotocol/"                    \
    "logLevel\":\"debug\"}}"
#define SLOW "{\"name\":\"slow\",\"arguments\":{\"ms\":100}}"

static phi_mcp *connect_to(phi_runtime *rt, const char *url, const char *era, heard *h) {
    phi_mcp_desc desc = PHI_ZERO;
    phi_mcp *mcp;
    time_t end = time(NULL) + 20;
    memset(h, 0, sizeof *h);
    desc.url = url;
    desc.era = era;
    desc.event_fn = event;
    desc.user_data = h;
    mcp = phi_mcp_connect(rt, &desc);
    while (mcp != NULL && phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING && time(NULL) < end)
        (void)phi_step(rt, 20);
    return mcp;
}

static phi_status call(phi_runtime *rt, phi_mcp *mcp, const char *params, heard *h) {
    phi_mcp_send_desc request = PHI_ZERO;
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.progress_fn = progress;
    request.done_fn = done;
    request.user_data = h;
    time_t end = time(NULL) + 20;
    h->done = 0;
    h->progress = 0;
    /* a session that was lost is agreed upon again */
    while (phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING && time(NULL) < end)
        (void)phi_step(rt, 20);
    CHECK_EQ_INT(phi_mcp_send(mcp, &request, NULL), PHI_OK);
    CHECK(until(rt, &h->done, 20000));
    return h->reply.status;
}

static void close_it(phi_runtime *rt, phi_mcp *mcp) {
    time_t end = time(NULL) + 20;
    phi_mcp_close(mcp);
    while (phi_mcp_get_info(mcp).state == PHI_MCP_CLOSING && time(NULL) < end)
        (void)phi_step(rt, 20);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_CLOSED);
    phi_mcp_free(mcp);
}

static void no_problems(void) {
    char *problems = mcp_mock_problems();
    CHECK_EQ_STR(problems, "[]");
    free(problems);
}

static phi_runtime *runtime(void) {
    phi_runtime_desc desc = PHI_ZERO;
    desc.allocator = test_allocator();
    return phi_runtime_new(&desc);
}

static void each_era_is_found_and_spoken(void) {
    static const char *const eras[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                       "2024-11-05"};
    phi_runtime *rt = runtime();
    size_t i;
    for (i = 0; i < 5; i++) {
        heard h;
        phi_mcp *mcp = connect_to(rt, mcp_mock_url(eras[i], NULL), NULL, &h);
        CHECK_EQ_STR(phi_mcp_get_info(mcp).message, "");
        CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY);
        CHECK_STR(phi_mcp_get_info(mcp).era, eras[i]);
        CHECK_EQ_INT(call(rt, mcp, "{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}", &h),
                     PHI_OK);
        CHECK_EQ_INT(call(rt, mcp, "{\"name\":\"slow\",\"arguments\":{\"ms\":100}}", &h), PHI_OK);
        close_it(rt, mcp);
        no_problems();
    }
    phi_runtime_free(rt);
}

static void the_old_transport_is_spoken(void) {
    phi_runtime *rt = runtime();
    heard h;
    phi_mcp *mcp = connect_to(rt, mcp_mock_sse_url(NULL), NULL, &h);
    CHECK_EQ_STR(phi_mcp_get_info(mcp).message, "");
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY);
    CHECK_STR(phi_mcp_get_info(mcp).era, "2024-11-05");
    CHECK_EQ_INT(call(rt, mcp, "{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}", &h), PHI_OK);
    close_it(rt, mcp);
    no_problems();
    phi_runtime_free(rt);
}

/* Connects to a server that misbehaves, calls echo and slow; both must be answered well. */
static void check_survives(const char *eras, const char *behaviour) {
    phi_runtime *rt = runtime();
    heard h;
    phi_mcp *mcp = connect_to(rt, mcp_mock_url(eras, behaviour), NULL, &h);
    CHECK_EQ_STR(phi_mcp_get_info(mcp).message, "");
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY);
    if (CHECK_EQ_INT(call(rt, mcp, ECHO, &h), PHI_OK) == false)
        printf("%s %s: %s\n", eras, behaviour, h.message);
    CHECK_EQ_INT(call(rt, mcp, SLOW, &h), PHI_OK);
    close_it(rt, mcp);
    no_problems();
    phi_runtime_free(rt);
}

static void odd_transports_are_survived(void) {
    static const char *const all[] = {"json+escaped", "sse+crlf+chunks", "pings+sse+twice",
                                      "bytes=0+sse"};
    static const char *const legacy[] = {"no-session+no-get", "no-delete+retry=20+sse",
                                         "no-ids+sse", "lose-session=3"};
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        check_survives("2026-07-28", all[i]);
        check_survives("2025-11-25", all[i]);
    }
    for (i = 0; i < sizeof legacy / sizeof *legacy; i++) check_survives("2025-06-18", legacy[i]);
}

static void a_stream_that_is_cut_is_resumed(void) {
    phi_runtime *rt = runtime();
    heard h;
    phi_mcp *mcp = connect_to(rt, mcp_mock_url("2025-11-25", "cut=1+sse+retry=30"), NULL, &h);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY);
    CHECK_EQ_INT(call(rt, mcp, SLOW, &h), PHI_OK);
    close_it(rt, mcp);
    no_problems();
    /* the modern era loses the request, and no more */
    mcp = connect_to(rt, mcp_mock_url("2026-07-28", "cut=1+sse"), NULL, &h);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY);
    CHECK_EQ_INT(call(rt, mcp, LOGS, &h), PHI_NETWORK);
    CHECK_EQ_INT(call(rt, mcp, ECHO, &h), PHI_OK);
    close_it(rt, mcp);
    phi_runtime_free(rt);
}

/* One call that fails so; the next one is good, unless `lasts`. */
static void check_fails(const char *behaviour, phi_status status, const char *message, bool lasts) {
    phi_runtime *rt = runtime();
    heard h;
    phi_mcp *mcp = connect_to(rt, mcp_mock_url("2025-06-18", behaviour), NULL, &h);
    CHECK_EQ_STR(phi_mcp_get_info(mcp).message, "");
    CHECK_EQ_INT(call(rt, mcp, ECHO, &h), status);
    CHECK_EQ_STR(h.message, message);
    if (!lasts) CHECK_EQ_INT(call(rt, mcp, ECHO, &h), PHI_OK);
    close_it(rt, mcp);
    no_problems();
    phi_runtime_free(rt);
}

static void failures_have_words(void) {
    check_fails("status=503,1+method=tools|call", PHI_REFUSED, "HTTP 503 from server", false);
    check_fails("status=500,1+plain-errors+method=tools|call", PHI_REFUSED, "HTTP 500 from server",
                false);
    check_fails("type=text|html+method=tools|call", PHI_PARSE,
                "HTTP 200 from server: content type \"text/html\", expected application/json or "
                "text/event-stream",
                true);
    check_fails("redirect=http:||127.0.0.1:1|x,302+method=tools|call", PHI_REFUSED,
                "HTTP 302 from server: a redirect that is not followed", true);
    check_fails("redirect=http:||127.0.0.1:1|x,307+method=tools|call", PHI_REFUSED,
                "HTTP 307 or 308 from server: a redirect to another place is not followed", true);
}

static void a_server_that_is_not_there_fails_with_words(void) {
    phi_runtime *rt = runtime();
    heard h;
    phi_mcp *mcp = connect_to(rt, "http://127.0.0.1:1/mcp", NULL, &h);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_FAILED);
    CHECK(strstr(phi_mcp_get_info(mcp).message, "connection refused by http://127.0.0.1:1/mcp") !=
          NULL);
    phi_mcp_free(mcp);
    mcp = connect_to(rt, mcp_mock_url("2025-06-18", "token=abc"), NULL, &h);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_FAILED);
    CHECK(strstr(phi_mcp_get_info(mcp).message,
                 "server/discover: HTTP 401 from server (phi_mcp_desc.oauth is not set)") != NULL);
    phi_mcp_free(mcp);
    mcp = connect_to(rt, mcp_mock_sse_url("far-endpoint"), NULL, &h);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_FAILED);
    CHECK(strstr(phi_mcp_get_info(mcp).message,
                 "initialize: the server's endpoint event names another place than its own") !=
          NULL);
    phi_mcp_free(mcp);
    phi_runtime_free(rt);
}

static void many_calls_at_once_share_a_connection(void) {
    enum { MANY = 200 };
    phi_runtime *rt = runtime();
    heard h;
    phi_mcp *mcp = connect_to(rt, mcp_mock_url("2025-11-25", NULL), NULL, &h);
    time_t end = time(NULL) + 20;
    int i;
    for (i = 0; i < MANY; i++) {
        phi_mcp_send_desc request = PHI_ZERO;
        request.method = "tools/call";
        request.params = phi_str_of(ECHO);
        request.done_fn = done;
        request.user_data = &h;
        CHECK_EQ_INT(phi_mcp_send(mcp, &request, NULL), PHI_OK);
    }
    while (h.done < MANY && time(NULL) < end) (void)phi_step(rt, 20);
    CHECK_EQ_INT(h.done, MANY);
    CHECK_EQ_INT(h.reply.status, PHI_OK);
    close_it(rt, mcp);
    phi_runtime_free(rt);
}

static void the_headers_of_the_host_are_sent(void) {
    phi_runtime *rt = runtime();
    static const phi_mcp_pair own[] = {{"Authorization", "Bearer abc"}};
    phi_mcp_desc desc = PHI_ZERO;
    phi_mcp *mcp;
    time_t end = time(NULL) + 20;
    desc.url = mcp_mock_url("2025-06-18", "token=abc");
    desc.headers = own;
    desc.header_count = 1;
    mcp = phi_mcp_connect(rt, &desc);
    while (phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING && time(NULL) < end)
        (void)phi_step(rt, 20);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY);
    close_it(rt, mcp);
    phi_runtime_free(rt);
}

static void free_it(void *user_data, const phi_mcp_event *e) {
    if (e->kind != PHI_MCP_EV_WARNING || ++*(int *)user_data > 1) return;
    phi_mcp_free(e->mcp);
}

TEST(a_refused_notification_is_a_warning_inside_of_which_the_host_may_free_the_connection) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_mcp_send_desc request = PHI_ZERO;
    phi_mcp_desc desc = PHI_ZERO;
    uint64_t id = 0;
    int warnings = 0;
    phi_mcp *mcp;
    heard h;
    desc.url = mcp_mock_url("2025-06-18", "status=400,0+method=notifications|cancelled");
    desc.event_fn = free_it;
    desc.user_data = &warnings;
    mcp = phi_mcp_connect(rt, &desc);
    while (phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING) (void)phi_step(rt, 20);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY);
    memset(&h, 0, sizeof h);
    request.method = "tools/call";
    request.params = phi_str_of("{\"name\":\"slow\",\"arguments\":{\"ms\":3000}}");
    request.done_fn = done;
    request.user_data = &h;
    CHECK_EQ_INT(phi_mcp_send(mcp, &request, &id), PHI_OK);
    (void)phi_step(rt, 20);
    phi_mcp_cancel(mcp, id);
    CHECK(until(rt, &warnings, 5000));
    if (warnings == 0) phi_mcp_free(mcp);
    CHECK_EQ_INT(h.done, 0);
    phi_runtime_free(rt);
}

MCP_MOCK_MAIN(
    TEST_ENTRY(each_era_is_found_and_spoken), TEST_ENTRY(the_old_transport_is_spoken),
    TEST_ENTRY(odd_transports_are_survived), TEST_ENTRY(a_stream_that_is_cut_is_resumed),
    TEST_ENTRY(failures_have_words), TEST_ENTRY(a_server_that_is_not_there_fails_with_words),
    TEST_ENTRY(many_calls_at_once_share_a_connection), TEST_ENTRY(the_headers_of_the_host_are_sent),
    TEST_ENTRY(
        a_refused_notification_is_a_warning_inside_of_which_the_host_may_free_the_connection))
