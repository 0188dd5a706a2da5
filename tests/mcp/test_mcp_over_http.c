/* test_mcp_over_http.c - connections over real HTTP to the mock server, in each era. */
#include "mcp/mcp.h"
#include "support/mcp_mock.h"
#include "support/test.h"

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
    while (mcp != NULL && phi_mcp_state_of(mcp) == PHI_MCP_CONNECTING && time(NULL) < end)
        (void)phi_step(rt, 20);
    return mcp;
}

static phi_status call(phi_runtime *rt, phi_mcp *mcp, const char *params, heard *h) {
    phi_mcp_request request = PHI_ZERO;
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.progress = progress;
    request.done = done;
    request.user_data = h;
    h->done = 0;
    h->progress = 0;
    CHECK_EQ_INT(phi_mcp_send(mcp, &request, NULL), PHI_OK);
    CHECK(until(rt, &h->done, 20000));
    return h->reply.status;
}

static void close_it(phi_runtime *rt, phi_mcp *mcp) {
    time_t end = time(NULL) + 20;
    phi_mcp_close(mcp);
    while (phi_mcp_state_of(mcp) == PHI_MCP_CLOSING && time(NULL) < end) (void)phi_step(rt, 20);
    CHECK_EQ_INT(phi_mcp_state_of(mcp), PHI_MCP_CLOSED);
    CHECK_EQ_INT(phi_mcp_free(mcp), PHI_OK);
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
        CHECK_EQ_STR(phi_mcp_error(mcp), "");
        CHECK_EQ_INT(phi_mcp_state_of(mcp), PHI_MCP_READY);
        CHECK_STR(phi_mcp_info_of(mcp).era, eras[i]);
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
    CHECK_EQ_STR(phi_mcp_error(mcp), "");
    CHECK_EQ_INT(phi_mcp_state_of(mcp), PHI_MCP_READY);
    CHECK_STR(phi_mcp_info_of(mcp).era, "2024-11-05");
    CHECK_EQ_INT(call(rt, mcp, "{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}", &h), PHI_OK);
    close_it(rt, mcp);
    no_problems();
    phi_runtime_free(rt);
}

MCP_MOCK_MAIN(TEST_ENTRY(each_era_is_found_and_spoken), TEST_ENTRY(the_old_transport_is_spoken))
