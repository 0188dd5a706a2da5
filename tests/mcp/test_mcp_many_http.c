/* test_mcp_many_http.c - many servers over HTTP on one runtime: 100 connections, 1,000 calls at once;
   what one costs, and that nothing is left. The transport answers by itself. */
#include "mcp/mcp.h"
#include "support/test.h"
#include "log/revert.h"
#include "io/transport.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"

#include <stdlib.h>
#include <time.h>

enum { SERVERS = 100, CALLS = 1000, WIRES = 4096 };

typedef struct wire {
    phi_transfer transfer;
    long id; /* of the message; -1: a notification */
    bool live, listens, modern, discovers;
} wire;

static wire wires[WIRES];
static size_t wire_count, first;
static bool held; /* calls are not answered yet */
static int answered, failed;

static phi_status open_wire(void *user_data, phi_transfer transfer, const phi_request *request) {
    char body[2000];
    const char *at;
    size_t n = phi_request_read(request, 0, body, sizeof body - 1);
    wire *w = &wires[wire_count];
    (void)user_data;
    if (wire_count++ == WIRES) abort();
    body[n] = '\0';
    memset(w, 0, sizeof *w);
    w->transfer = transfer;
    w->live = true;
    w->listens = strstr(body, "subscriptions/listen") != NULL;
    w->discovers = strstr(body, "server/discover") != NULL;
    at = strstr(body, "\"id\":");
    w->id = at != NULL ? strtol(at + 5, NULL, 10) : -1;
    return PHI_OK;
}

static void resume_wire(void *user_data, phi_transfer transfer) {
    (void)user_data;
    (void)transfer;
}

static void cancel_wire(void *user_data, phi_transfer transfer) {
    size_t i;
    (void)user_data;
    for (i = 0; i < wire_count; i++)
        if (wires[i].transfer.index == transfer.index && wires[i].transfer.gen == transfer.gen)
            wires[i].live = false;
}

static void answer(wire *w) {
    static const char json[] = "Content-Type: application/json\r\n";
    char text[600];
    w->live = false;
    (void)snprintf(text, sizeof text,
                   "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"resultType\":\"complete\","
                   "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{},"
                   "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}",
                   w->id);
    (void)phi_transfer_head(w->transfer, 200, json, sizeof json - 1);
    (void)phi_transfer_push(w->transfer, text, strlen(text));
    (void)phi_transfer_end(w->transfer, PHI_OK, NULL);
}

static void pump(void *user_data) {
    size_t i, done = 0;
    (void)user_data;
    while (first < wire_count && !wires[first].live) first++;
    for (i = first; i < wire_count && done < 50; i++) {
        if (!wires[i].live || wires[i].listens || (held && !wires[i].discovers)) continue;
        answer(&wires[i]);
        done++;
    }
}

static void done(void *user_data, const phi_mcp_reply *reply) {
    (void)user_data;
    answered++;
    if (reply->status != PHI_OK) failed++;
}

static void step(phi_runtime *rt, int times) {
    while (times-- > 0) (void)phi_step(rt, 0);
}

static void many_servers_and_calls_share_a_thread(void) {
    static phi_mcp *servers[SERVERS];
    phi_transport transport = PHI_ZERO;
    phi_runtime_desc desc = PHI_ZERO;
    phi_mcp_desc to = PHI_ZERO;
    phi_mcp_send_desc request = PHI_ZERO;
    phi_runtime *rt;
    size_t i, alone, idle, busy;
    clock_t began;
    transport.open = open_wire;
    transport.resume = resume_wire;
    transport.cancel = cancel_wire;
    transport.pump = pump;
    desc.transport = &transport;
    desc.allocator = test_allocator();
    rt = phi_runtime_new(&desc);
    alone = test_alloc_live_bytes();
    to.url = "http://host/mcp";
    for (i = 0; i < SERVERS; i++) REQUIRE(CHECK((servers[i] = phi_mcp_connect(rt, &to)) != NULL));
    for (i = 0; i < 1000 && phi_mcp_get_info(servers[SERVERS - 1]).state != PHI_MCP_READY; i++)
        step(rt, 1);
    step(rt, 50);
    for (i = 0; i < SERVERS; i++) CHECK_EQ_INT(phi_mcp_get_info(servers[i]).state, PHI_MCP_READY);
    idle = (test_alloc_live_bytes() - alone) / SERVERS;
    held = true;
    request.method = "x/y";
    request.done_fn = done;
    for (i = 0; i < CALLS; i++)
        CHECK_EQ_INT(phi_mcp_send(servers[i % SERVERS], &request, NULL), PHI_OK);
    step(rt, 50);
    busy = (test_alloc_live_bytes() - alone - idle * SERVERS) / CALLS;
    CHECK_EQ_INT(answered, 0);
    began = clock();
    step(rt, 1000);
    printf("a step with %d calls under way: %.2f us\n", (int)CALLS,
           (double)(clock() - began) * 1e3 / CLOCKS_PER_SEC);
    held = false;
    for (i = 0; i < 1000 && answered < CALLS; i++) step(rt, 1);
    CHECK_EQ_INT(answered, CALLS);
    CHECK_EQ_INT(failed, 0);
    printf("bytes of an idle server: %u, of a call under way: %u\n", (unsigned)idle,
           (unsigned)busy);
    CHECK(idle < 12000);
    CHECK(busy < 12000);
    for (i = 0; i < SERVERS; i++) phi_mcp_free(servers[i]);
    CHECK(test_alloc_live_bytes() < alone + 100000); /* tables that grew */
    phi_runtime_free(rt);
}

TEST_MAIN(TEST_ENTRY(many_servers_and_calls_share_a_thread))
