/* fuzz_mcp_sse.c - any bytes as what a server sends over HTTP: never a crash, never a request that is
   answered twice or not at all, never unbounded memory. The first byte chooses the era, whose
   handshake is answered well; the rest is a script: heads, pieces of bodies, ends, time, requests. */
#include "agent/runtime.h"
#include "mcp/mcp.h"
#include "io/transport.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIRES = 256, ASKED = 64, BYTES_MOST = 4 << 20 };

typedef struct wire {
    phi_transfer transfer;
    bool live, headed;
} wire;

static struct {
    const uint8_t *at, *end;
    uint64_t now_us;
    wire wires[WIRES];
    size_t count;
    const char *era;
    int asked, answered[ASKED];
    size_t bytes, peak;
} f;

static void must(bool held, const char *what) {
    if (held) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void *take(void *user_data, void *ptr, size_t old, size_t now) {
    (void)user_data;
    f.bytes += now - old;
    must(f.bytes <= BYTES_MOST, "memory grows");
    if (now > 0) return realloc(ptr, now);
    free(ptr);
    return NULL;
}

static uint64_t clock_us(void *user_data) {
    (void)user_data;
    return f.now_us;
}

/* ---- the server ---- */

static void say(wire *w, int status, const char *headers, const char *body) {
    w->live = false;
    (void)phi_transfer_head(w->transfer, status, headers, strlen(headers));
    if (body[0] != '\0') (void)phi_transfer_push(w->transfer, body, strlen(body));
    (void)phi_transfer_end(w->transfer, PHI_OK, NULL);
}

static long id_of(const char *body) {
    const char *at = strstr(body, "\"id\":");
    return at != NULL ? strtol(at + 5, NULL, 10) : -1;
}

/* The handshake, and what comes before it. */
static bool shake(wire *w, const char *body) {
    char text[600];
    bool modern = strcmp(f.era, "2026-07-28") == 0;
    if (strstr(body, "server/discover") != NULL && !modern) {
        say(w, 400, "", "");
        return true;
    }
    if (strstr(body, "notifications/initialized") != NULL) {
        say(w, 202, "", "");
        return true;
    }
    if (strstr(body, "server/discover") == NULL && strstr(body, "\"initialize\"") == NULL)
        return false;
    (void)snprintf(
        text, sizeof text,
        "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{%s\"%s\","
        "\"capabilities\":{\"logging\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}"
        "}}",
        id_of(body),
        modern ? "\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"v\":"
               : "\"protocolVersion\":",
        f.era);
    say(w, 200, "Content-Type: application/json\r\nMcp-Session-Id: abc\r\n", text);
    return true;
}

static phi_status open_wire(void *user_data, phi_transfer transfer, const phi_request *request) {
    char body[2000];
    wire *w = &f.wires[f.count];
    size_t n = phi_request_read(request, 0, body, sizeof body - 1);
    (void)user_data;
    if (f.count == WIRES) return PHI_NETWORK;
    f.count++;
    body[n] = '\0';
    w->transfer = transfer;
    w->live = true;
    w->headed = false;
    (void)shake(w, body);
    return PHI_OK;
}

static void resume_wire(void *user_data, phi_transfer transfer) {
    (void)user_data;
    (void)transfer;
}

static void cancel_wire(void *user_data, phi_transfer transfer) {
    size_t i;
    (void)user_data;
    for (i = 0; i < f.count; i++)
        if (f.wires[i].transfer.index == transfer.index && f.wires[i].transfer.gen == transfer.gen)
            f.wires[i].live = false;
}

/* ---- the host ---- */

static void done(void *user_data, const phi_mcp_reply *reply) {
    int i = (int)(intptr_t)user_data;
    must(++f.answered[i] == 1, "answered twice");
    must(reply->status != PHI_OK || reply->result != NULL, "an answer without a result");
}

static void ask(phi_mcp *mcp) {
    phi_mcp_send_desc request = PHI_ZERO;
    if (f.asked == ASKED) return;
    request.method = "tools/call";
    request.params = phi_str_of("{\"name\":\"x\"}");
    request.done_fn = done;
    request.user_data = (void *)(intptr_t)f.asked;
    if (phi_mcp_send(mcp, &request, NULL) == PHI_OK) f.asked++;
}

/* ---- the script ---- */

static wire *chosen(unsigned op) {
    size_t i, n = f.count < 8 ? f.count : 8, skip = op % 4;
    for (i = 0; i < n; i++)
        if (f.wires[f.count - 1 - i].live && skip-- == 0) return &f.wires[f.count - 1 - i];
    return NULL;
}

static void push(wire *w, unsigned op) {
    size_t n = (size_t)(op >> 3) * 8 + 1, left = (size_t)(f.end - f.at);
    if (n > left) n = left;
    if (!w->headed) {
        const char *headers = "Content-Type: text/event-stream\r\n";
        w->headed = true;
        (void)phi_transfer_head(w->transfer, 200, headers, strlen(headers));
    }
    (void)phi_transfer_push(w->transfer, (const char *)f.at, n);
    f.at += n;
}

static void refuse(wire *w, unsigned op) {
    static const int statuses[] = {200, 202, 204, 307, 400, 401, 404, 503};
    static const char *const headers[] = {"Content-Type: application/json\r\n", "Location: /x\r\n",
                                          "",
                                          "Location: http://evil/\r\nContent-Type: text/html\r\n"};
    say(w, statuses[(op >> 3) % 8], headers[(op >> 6) % 4], "{\"error\":{\"message\":\"no\"}}");
}

static void play(phi_runtime *rt, phi_mcp *mcp) {
    while (f.at < f.end) {
        unsigned op = *f.at++;
        wire *w = chosen(op);
        if (op % 8 == 7 && op >> 3 < 16)
            ask(mcp);
        else if (op % 8 == 6 || w == NULL)
            f.now_us += (uint64_t)100000 << ((op >> 3) % 8);
        else if (op % 8 == 7)
            refuse(w, op);
        else if (op % 8 == 5) {
            w->live = false;
            (void)phi_transfer_end(w->transfer, op >> 3 & 1 ? PHI_NETWORK : PHI_OK, NULL);
        } else
            push(w, op);
        (void)phi_step(rt, 0);
    }
}

static void run(phi_runtime *rt) {
    phi_mcp_desc desc = PHI_ZERO;
    phi_mcp *mcp;
    int i;
    desc.url = "http://h/mcp";
    desc.max_message_bytes = 4096;
    mcp = phi_mcp_connect(rt, &desc);
    must(mcp != NULL, "not connected");
    for (i = 0; i < 40 && phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING; i++)
        (void)phi_step(rt, 0);
    must(phi_mcp_get_info(mcp).state == PHI_MCP_READY, phi_mcp_get_info(mcp).message);
    ask(mcp);
    ask(mcp);
    (void)phi_step(rt, 0);
    play(rt, mcp);
    phi_mcp_close(mcp);
    for (i = 0; i < 100 && phi_mcp_get_info(mcp).state == PHI_MCP_CLOSING; i++) {
        f.now_us += 100000;
        (void)phi_step(rt, 0);
    }
    phi_mcp_free(mcp);
    for (i = 0; i < f.asked; i++) must(f.answered[i] == 1, "a request without an answer");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const eras[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                       "2024-11-05"};
    phi_transport transport = PHI_ZERO;
    phi_runtime_desc desc = PHI_ZERO;
    phi_runtime *rt;
    if (size < 2) return 0;
    memset(&f, 0, sizeof f);
    f.now_us = 1000000;
    f.era = eras[data[0] % 5];
    f.at = data + 1;
    f.end = data + size;
    transport.open = open_wire;
    transport.resume = resume_wire;
    transport.cancel = cancel_wire;
    desc.transport = &transport;
    desc.clock_us_fn = clock_us;
    desc.allocator.realloc_fn = take;
    rt = phi_runtime_new(&desc);
    must(rt != NULL, "no runtime");
    run(rt);
    phi_runtime_free(rt);
    must(f.bytes == 0, "a leak");
    return 0;
}
