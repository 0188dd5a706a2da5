/* test_mcp_enemy.c - servers that want to break the client, and hosts that free everything at the worst
   moment: over a scripted link, and as child processes. */
#include "mcp/mcp_asks_in.h"
#include "mcp/mcp_offers_in.h"
#include "mcp/tools.h"
#include "support/mcp_mock.h"

#include <time.h>

/* ---- freed while the link is still at work ---- */

typedef struct freer {
    phi_mcp *mcp;
    int ends;
} freer;

static void frees(void *user_data, const phi_mcp_reply *reply) {
    freer *f = (freer *)user_data;
    (void)reply;
    f->ends++;
    CHECK_EQ_INT(phi_mcp_free(f->mcp), PHI_OK);
}

static void counts(void *user_data, const phi_mcp_reply *reply) {
    (void)reply;
    ++*(int *)user_data;
}

static phi_status ask(phi_mcp *mcp, const char *params,
                      void (*done)(void *user_data, const phi_mcp_reply *reply), void *user_data) {
    phi_mcp_request request;
    memset(&request, 0, sizeof request);
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.done = done;
    request.user_data = user_data;
    return phi_mcp_send(mcp, &request, NULL);
}

/* An answer whose line came in pieces, or is too long: the link's buffers outlive the connection. */
static void freed_at(const char *behaviour, const char *params) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_mcp_desc to = PHI_ZERO;
    time_t last = time(NULL) + 20;
    phi_runtime *rt;
    freer f = {NULL, 0};
    desc.allocator = test_allocator();
    rt = phi_runtime_new(&desc);
    to.argv = mcp_mock_argv("2025-06-18", behaviour, NULL);
    to.max_message_bytes = 65536;
    f.mcp = phi_mcp_connect(rt, &to);
    while (phi_mcp_state_of(f.mcp) == PHI_MCP_CONNECTING && time(NULL) < last)
        (void)phi_step(rt, 20);
    if (CHECK_EQ_INT(ask(f.mcp, params, frees, &f), PHI_OK))
        while (f.ends == 0 && time(NULL) < last) (void)phi_step(rt, 20);
    CHECK_EQ_INT(f.ends, 1);
    phi_runtime_free(rt);
}

TEST(a_connection_may_be_freed_by_an_answer_that_came_in_pieces) {
    freed_at("bytes=20", "{\"name\":\"echo\",\"arguments\":{\"text\":\"a\"}}");
}

TEST(a_connection_may_be_freed_by_an_answer_that_was_too_long) {
    freed_at("bad", "{\"name\":\"huge\",\"arguments\":{\"mb\":1}}");
}

/* ---- batches ---- */

TEST(a_batch_on_the_stream_of_a_request_may_go_on_after_its_answer) {
    static const char batch[] =
        "[{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":\"p\","
        "\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":{}}]";
    char text[300];
    int ends = 0;
    tools_kit t;
    tools_begin(&t, "2025-03-26", NULL);
    t.result = NULL;
    if (CHECK(tools_ready(&t, NULL)) &&
        CHECK_EQ_INT(ask(t.k.mcp, "{\"name\":\"echo\"}", counts, &ends), PHI_OK)) {
        unsigned long long id = strtoull(t.id, NULL, 10);
        (void)snprintf(text, sizeof text, batch, id, id);
        (void)link_sent(&t.k);
        CHECK(phi__mcp_session_message(t.k.mcp, phi_str_of(text), t.k.last));
        CHECK_EQ_INT(ends, 1);
        CHECK(strstr(link_sent(&t.k), "\"id\":\"p\",\"result\":{}") != NULL);
    }
    tools_end(&t);
}

TEST_MAIN(TEST_ENTRY(a_connection_may_be_freed_by_an_answer_that_came_in_pieces),
          TEST_ENTRY(a_connection_may_be_freed_by_an_answer_that_was_too_long),
          TEST_ENTRY(a_batch_on_the_stream_of_a_request_may_go_on_after_its_answer))
