/* fuzz_mcp_lines.c - lines of any bytes as what an MCP server says, in any era.

   The first byte chooses the era and what the host does; each line is a message. Requests are always
   under way; each must end once. The link is the fuzzer's own: it answers the handshake itself. */
#include "agent/runtime.h"
#include "loop/state_in.h"
#include "mcp/mcp_rpc_in.h"
#include "mcp/mcp_in.h"
#include "mcp/mcp_requests_in.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

enum { REQUESTS = 6 };

static struct {
    phi_mcp *mcp;
    phi__mcp_link link;
    const char *era;
    phi__timer timer;
    bool up;
    char handshake[400];
    int ends[REQUESTS];
    uint64_t asks[16];
    size_t ask_count;
} f;

static void fire(phi__timer *timer) {
    char text[sizeof f.handshake];
    (void)timer;
    if (f.up) {
        f.up = false;
        phi__mcp_up(f.mcp);
    } else if (f.handshake[0] != '\0') {
        memcpy(text, f.handshake, sizeof text);
        f.handshake[0] = '\0';
        (void)phi__mcp_message(f.mcp, phi_str_of(text), NULL);
    }
}

static void soon(void) {
    phi__io *io = f.mcp->rt->io;
    f.timer.fire = fire;
    (void)phi__io_timer_set(io, &f.timer, phi__io_now_us(io));
}

static phi_status link_open(phi__mcp_link *link) {
    f.mcp = link->mcp;
    f.up = true;
    soon();
    return PHI_OK;
}

static phi_status link_send(phi__mcp_link *link, phi__out *out) {
    bool discover = phi__str_is(out->method, "server/discover");
    phi__json_found id;
    (void)link;
    if (out->request) out->of_link = &f;
    if (!discover && !phi__str_is(out->method, "initialize")) return PHI_OK;
    must(phi__json_cursor_find(out->json, "id", &id) == PHI_OK);
    if (discover == phi__eras_find(phi_str_of(f.era))->handshake)
        (void)snprintf(f.handshake, sizeof f.handshake,
                       "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32601,\"message\":"
                       "\"no\"}}",
                       (int)id.raw.len, id.raw.at);
    else
        (void)snprintf(f.handshake, sizeof f.handshake,
                       "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{\"protocolVersion\":\"%s\","
                       "\"supportedVersions\":[\"%s\"],\"capabilities\":{}}}",
                       (int)id.raw.len, id.raw.at, f.era, f.era);
    soon();
    return PHI_OK;
}

static void link_forget(phi__mcp_link *link, phi__out *out) {
    (void)link;
    out->of_link = NULL;
}

static void link_agreed(phi__mcp_link *link, const char *version, bool modern) {
    (void)link;
    (void)version;
    (void)modern;
}

static void link_nothing(phi__mcp_link *link) { (void)link; }

static void link_free(phi__mcp_link *link) { phi__io_timer_clear(link->mcp->rt->io, &f.timer); }

static phi_status link_make(phi_mcp *mcp, phi__mcp_link **out) {
    static const phi__mcp_link_table table = {link_open,   link_send,    link_forget,
                                              link_agreed, link_nothing, link_nothing,
                                              link_free,   NULL,         NULL};
    f.link.table = &table;
    f.link.mcp = mcp;
    *out = &f.link;
    return PHI_OK;
}

/* A part that takes whatever is asked, and answers some of it at once. */
static bool part_asked(phi_mcp *mcp, void *part, phi_str method, const phi_json *params,
                       phi_call call, phi_agent agent, uint64_t ask) {
    (void)part;
    (void)params;
    (void)call;
    (void)agent;
    if (method.len % 3 == 0) return false;
    if (method.len % 3 == 1)
        phi__mcp_answer(mcp, ask, phi_str_of("{}"), 0, NULL);
    else
        f.asks[f.ask_count++ % 16] = ask;
    return true;
}

static phi_status part_join(phi_mcp *mcp) {
    static const phi__mcp_part table = {NULL, NULL, NULL, part_asked, NULL, NULL, NULL, NULL};
    phi__mcp_join(mcp, &table, NULL);
    return PHI_OK;
}

static void on_done(void *user_data, const phi_mcp_reply *reply) {
    int *ends = (int *)user_data;
    ++*ends;
    must(*ends == 1);
    must((reply->status == PHI_OK) == (reply->result != NULL));
}

static void on_progress(void *user_data, double progress, double total, phi_str message) {
    (void)progress;
    (void)total;
    must(*(int *)user_data == 0);
    must(message.len == 0 || message.at != NULL);
}

static void send(const char *method, int *ends) {
    phi_mcp_send_desc request;
    memset(&request, 0, sizeof request);
    request.method = method;
    request.done_fn = on_done;
    request.progress_fn = on_progress;
    request.user_data = ends;
    must(phi_mcp_send(f.mcp, &request, NULL) == PHI_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const eras[] = {"2026-07-28", "2025-11-25", "2025-03-26", "2024-11-05"};
    static const char *const methods[] = {"tools/call", "prompts/get", "resources/read", "a"};
    static const char *const argv[] = {"x", NULL};
    static const phi__mcp_open_join joins[] = {part_join};
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_mcp_desc desc = PHI_ZERO;
    size_t i, at = 1;
    must(rt != NULL);
    memset(&f, 0, sizeof f);
    if (size > 0) {
        f.era = eras[data[0] & 3];
        desc.argv = argv;
        must(phi__mcp_open_new(rt, &desc, link_make, joins, 1, &f.mcp) == PHI_OK);
        for (i = 0; i < 8; i++) (void)phi_step(rt, 0);
        must(phi_mcp_get_info(f.mcp).state == PHI_MCP_READY);
        for (i = 0; i < REQUESTS; i++) send(methods[i % 4], &f.ends[i]);
        while (at < size) {
            const uint8_t *end = (const uint8_t *)memchr(data + at, '\n', size - at);
            size_t len = end != NULL ? (size_t)(end - data) - at : size - at;
            char *line = (char *)malloc(len + 1);
            if (line == NULL) abort();
            memcpy(line, data + at, len);
            must(phi__mcp_message(f.mcp, phi__str(line, len), NULL));
            free(line);
            if ((data[0] & 4) != 0) (void)phi_step(rt, 0);
            if ((data[0] & 8) != 0 && f.ask_count > 0)
                phi__mcp_answer(f.mcp, f.asks[at % 16], phi_str_of("{\"a\":1}"), 0, NULL);
            at += len + 1;
        }
        (void)phi_step(rt, 0);
        must(phi_memory_used(rt, NULL) < 4000000 + 64 * size);
        phi_mcp_free(f.mcp);
    }
    phi_runtime_free(rt);
    return 0;
}
