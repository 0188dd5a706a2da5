/* test_mcp_serve_ends.c - our server is freed by the host inside a tool's cancel function, whichever
   way the call came to its end. */
#include "mcp/served.h"

typedef struct ender {
    served s;
    phi_tool tool;
    int cancels;
} ender;

static phi_flow ender_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

static void ender_cancel(void *user_data, phi_call call) {
    ender *e = (ender *)user_data;
    (void)call;
    e->cancels++;
    phi_mcp_server_free(e->s.server);
    e->s.server = NULL;
}

static void ender_begin(ender *e, int calls, const char *version) {
    phi_mcp_server_desc desc;
    int i;
    memset(e, 0, sizeof *e);
    memset(&desc, 0, sizeof desc);
    e->tool.name = "wait";
    e->tool.start = ender_start;
    e->tool.cancel = ender_cancel;
    e->tool.user_data = e;
    desc.tools = &e->tool;
    desc.tool_count = 1;
    served_open(&e->s, &desc);
    if (version != NULL) served_begin(&e->s, version, "{}");
    for (i = 0; i < calls; i++)
        CHECK_EQ_STR(
            served_ask(&e->s, version != NULL
                                  ? legacy(i + 1, "tools/call", "{\"name\":\"wait\"}")
                                  : modern(i + 1, "tools/call", "\"name\":\"wait\",", "{}")),
            "");
}

static void ender_end(ender *e, int cancels) {
    CHECK_EQ_STR(served_hear(&e->s), "");
    CHECK_EQ_INT(e->cancels, cancels);
    CHECK(e->s.server == NULL);
    served_free(&e->s);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

#define CANCELLED                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"

TEST(a_cancelled_call_may_free_the_server) {
    static const char *const versions[] = {NULL, "2025-11-25", "2024-11-05"};
    size_t i;
    for (i = 0; i < sizeof versions / sizeof *versions; i++) {
        ender e;
        ender_begin(&e, 2, versions[i]);
        served_say(&e.s, CANCELLED);
        ender_end(&e, 2);
    }
}

TEST(a_cancelled_call_of_a_batch_may_free_the_server) {
    ender e;
    ender_begin(&e, 1, "2025-03-26");
    served_say(&e.s, "[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}," CANCELLED
                     ",{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"ping\"}]");
    ender_end(&e, 1);
}

TEST(the_end_of_stdin_may_free_the_server) {
    static const char *const versions[] = {NULL, "2025-11-25"};
    size_t i;
    for (i = 0; i < sizeof versions / sizeof *versions; i++) {
        ender e;
        ender_begin(&e, 3, versions[i]);
        served_close(&e.s.to);
        CHECK_EQ_STR(served_hear(&e.s), "");
        CHECK_EQ_INT(e.cancels, 0); /* until close_ms is over they may answer */
        rig_pass_ms(e.s.r, 2000);
        ender_end(&e, 3);
    }
}

TEST(a_client_that_takes_nothing_may_free_the_server) {
    ender e;
    ender_begin(&e, 1, "2025-11-25");
    served_close(&e.s.from);
    served_say(&e.s, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}");
    served_step(&e.s);
    e.s.from = -1;
    ender_end(&e, 1);
}

TEST(the_server_may_be_freed_while_it_is_freed) {
    ender e;
    ender_begin(&e, 3, "2025-11-25");
    phi_mcp_server_free(e.s.server);
    ender_end(&e, 3);
}

TEST_MAIN(TEST_ENTRY(a_cancelled_call_may_free_the_server),
          TEST_ENTRY(a_cancelled_call_of_a_batch_may_free_the_server),
          TEST_ENTRY(the_end_of_stdin_may_free_the_server),
          TEST_ENTRY(a_client_that_takes_nothing_may_free_the_server),
          TEST_ENTRY(the_server_may_be_freed_while_it_is_freed))
