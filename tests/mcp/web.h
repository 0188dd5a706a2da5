/* web.h - our server over HTTP, and up to eight peers on raw sockets. */
#ifndef PHI_TESTS_MCP_WEB_H
#define PHI_TESTS_MCP_WEB_H

#include "mcp/mcp_serve.h"
#include "support/rig.h"
#include "mcp/mcp_serve_state_in.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEERS = 8, ROOM = 1 << 20 };

typedef struct web {
    rig *r;
    phi_tool tools[2];
    phi_mcp_server *server;
    int fds[PEERS];
    char *got[PEERS];
    size_t len[PEERS];
    bool closed[PEERS];
    char session[40];
} web;

static inline void web_open_with(web *w, phi_mcp_server_desc *desc, rig *r) {
    int i;
    memset(w, 0, sizeof *w);
    w->r = r;
    for (i = 0; i < PEERS; i++) {
        w->fds[i] = -1;
        w->got[i] = (char *)calloc(1, ROOM + 1);
    }
    w->tools[0] = rig_echo();
    if (r != NULL) w->tools[1] = rig_wait(r);
    desc->name = "game";
    desc->tools = w->tools;
    desc->tool_count = 2;
    desc->http = true;
    w->server = r != NULL ? phi_mcp_serve(rig_runtime(r), desc) : NULL;
}

static inline bool web_open(web *w) {
    phi_mcp_server_desc desc;
    memset(&desc, 0, sizeof desc);
    web_open_with(w, &desc, rig_new());
    return CHECK(w->server != NULL);
}

static inline void web_hang_up(web *w, int peer) {
    if (w->fds[peer] >= 0) (void)close(w->fds[peer]);
    w->fds[peer] = -1;
    w->len[peer] = 0;
    w->got[peer][0] = '\0';
    w->closed[peer] = false;
}

static inline void web_close(web *w) {
    int i;
    phi_mcp_server_free(w->server);
    for (i = 0; i < PEERS; i++) {
        web_hang_up(w, i);
        free(w->got[i]);
    }
    if (w->r != NULL) rig_free(w->r);
}

static inline void web_turns(web *w, int n) {
    int i, k;
    for (i = 0; i < n; i++) {
        struct pollfd none;
        none.fd = -1;
        none.events = 0;
        (void)poll(&none, 1, i % 4 == 3 ? 1 : 0);
        (void)phi_step(rig_runtime(w->r), 0);
        for (k = 0; k < PEERS; k++) {
            ssize_t got = -1;
            if (w->fds[k] < 0) continue;
            got = read(w->fds[k], w->got[k] + w->len[k], ROOM - w->len[k]);
            if (got > 0) w->len[k] += (size_t)got;
            if (got == 0) w->closed[k] = true;
            w->got[k][w->len[k]] = '\0';
        }
    }
}

static inline void web_dial(web *w, int peer) {
    struct sockaddr_in address;
    int one = 1;
    web_hang_up(w, peer);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(phi_mcp_server_get_info(w->server).port);
    w->fds[peer] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(w->fds[peer], (struct sockaddr *)&address, sizeof address) == 0);
    (void)fcntl(w->fds[peer], F_SETFL, O_NONBLOCK);
    (void)setsockopt(w->fds[peer], IPPROTO_TCP, TCP_NODELAY, &one, (socklen_t)sizeof one);
}

/* Says it on a new connection. `heads`: lines with CRLF each. */
static inline const char *web_say(web *w, int peer, const char *first, const char *heads,
                                  const char *body) {
    char *text = (char *)malloc(strlen(heads) + strlen(body) + 400);
    web_dial(w, peer);
    (void)sprintf(text, "%s HTTP/1.1\r\n%s%s%s%s%sContent-Length: %u\r\n\r\n%s", first,
                  strstr(heads, "Host:") != NULL ? "" : "Host: localhost:1\r\n",
                  w->session[0] != '\0' ? "Mcp-Session-Id: " : "", w->session,
                  w->session[0] != '\0' ? "\r\n" : "", heads, (unsigned)strlen(body), body);
    (void)send(w->fds[peer], text, strlen(text), MSG_NOSIGNAL);
    free(text);
    web_turns(w, 12);
    return w->got[peer];
}

#define JSON "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
#define INITIALIZE                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define WAIT "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\""
#define MODERN                                                                                     \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}"

static inline bool has(const char *text, const char *part) {
    if (strstr(text, part) != NULL) return true;
    (void)printf("expected %s\n      in %s\n", part, text);
    return false;
}

static inline void web_begin(web *w) {
    const char *at = web_say(w, 0, "POST /mcp", JSON, INITIALIZE);
    CHECK(has(at, "HTTP/1.1 200 OK\r\n"));
    CHECK(has(at, "Content-Type: application/json\r\n"));
    CHECK(has(at, "\"protocolVersion\":\"2025-11-25\""));
    at = strstr(at, "Mcp-Session-Id: ");
    REQUIRE(at != NULL);
    (void)snprintf(w->session, sizeof w->session, "%.32s", at + 16);
    CHECK_EQ_INT(strlen(w->session), 32);
    CHECK(has(web_say(w, 0, "POST /mcp", JSON,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"),
              "HTTP/1.1 202 Accepted\r\n"));
    CHECK(has(w->got[0], "Content-Length: 0\r\n"));
}

#endif
