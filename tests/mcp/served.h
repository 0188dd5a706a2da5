/* served.h - our server over two pipes, and a client that is written by hand: a line a message. */
#ifndef PHI_TESTS_MCP_SERVED_H
#define PHI_TESTS_MCP_SERVED_H

#include "mcp/mcp_serve.h"
#include "support/rig.h"
#include "mcp/mcp_serve_state_in.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct served {
    rig *r;
    phi_mcp_server *server; /* NULL: it was not made */
    int to, from;           /* the client's ends; -1: closed */
    int theirs[2];          /* the server's */
    char *text;             /* that came from the server */
    size_t len, at;
    char *line; /* the one that was heard last */
} served;

enum { SERVED_ROOM = 8 * 1024 * 1024 };

static inline void served_close(int *fd) {
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

static inline void served_open_with(served *s, const phi_mcp_server_desc *given, rig *r) {
    phi_mcp_server_desc desc = *given;
    int in[2], out[2];
    memset(s, 0, sizeof *s);
    s->r = r;
    s->text = (char *)malloc(SERVED_ROOM + 1);
    CHECK(s->text != NULL && pipe(in) == 0 && pipe(out) == 0);
    s->to = in[1];
    s->from = out[0];
    s->theirs[0] = in[0];
    s->theirs[1] = out[1];
    CHECK(fcntl(s->from, F_SETFL, O_NONBLOCK) == 0);
    desc.stdio = true;
    desc.in_fd = in[0];
    desc.out_fd = out[1];
    if (desc.name == NULL) desc.name = "test";
    s->server = r != NULL ? phi_mcp_serve(rig_runtime(r), &desc) : NULL;
}

static inline void served_open(served *s, const phi_mcp_server_desc *given) {
    served_open_with(s, given, rig_new());
    CHECK(s->server != NULL);
}

static inline void served_free(served *s) {
    phi_mcp_server_free(s->server);
    if (s->r != NULL) rig_free(s->r);
    served_close(&s->to);
    served_close(&s->from);
    served_close(&s->theirs[0]);
    served_close(&s->theirs[1]);
    free(s->text);
}

static inline void served_read(served *s) {
    ssize_t n;
    while (s->len < SERVED_ROOM && (n = read(s->from, s->text + s->len, SERVED_ROOM - s->len)) > 0)
        s->len += (size_t)n;
    s->text[s->len] = '\0';
}

/* A step. On Windows no poller takes pipes that a host has made: the server looks at them by the
   clock, which goes on by 1 ms. */
static inline void served_step(served *s) {
#if defined(_WIN32)
    rig_pass_ms(s->r, 1);
#endif
    (void)phi_step(rig_runtime(s->r), 0);
}

/* Writes a line; long ones with steps between. */
static inline void served_say(served *s, const char *line) {
    size_t len = strlen(line), at = 0;
    int stuck = 0;
    CHECK(fcntl(s->to, F_SETFL, O_NONBLOCK) == 0);
    while (at <= len && stuck < 1000) {
        ssize_t n = at < len ? write(s->to, line + at, len - at) : write(s->to, "\n", 1);
        if (n > 0) {
            at += (size_t)n;
            continue;
        }
        stuck++;
        served_step(s);
        served_read(s);
    }
    CHECK(stuck < 1000);
}

/* The next line of the server's; "": none comes. */
static inline const char *served_hear(served *s) {
    int steps;
    for (steps = 0; steps < 60; steps++) {
        char *end;
        served_read(s);
        end = strchr(s->text + s->at, '\n');
        if (end != NULL) {
            *end = '\0';
            s->line = s->text + s->at;
            s->at = (size_t)(end - s->text) + 1;
            return s->line;
        }
        served_step(s);
    }
    return "";
}

static inline const char *served_ask(served *s, const char *line) {
    served_say(s, line);
    return served_hear(s);
}

/* Whether the line has the text. */
static inline bool has(const char *line, const char *text) {
    if (strstr(line, text) != NULL) return true;
    (void)printf("expected %s\n      in %s\n", text, line);
    return false;
}

/* A session of an era. */
static inline void served_begin(served *s, const char *version, const char *capabilities) {
    char line[400];
    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"%s\",\"capabilities\":%s,"
                   "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
                   version, capabilities);
    (void)snprintf(line + 360, 40, "\"protocolVersion\":\"%s\"", version);
    CHECK(has(served_ask(s, line), line + 360));
    served_say(s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

/* A request of 2026-07-28: method, members of params (with a comma behind them, or empty),
   capabilities. In a buffer that is used again. */
static inline const char *modern(int id, const char *method, const char *params,
                                 const char *capabilities) {
    static char line[4096];
    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s\"_meta\":{"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                   "\"io.modelcontextprotocol/clientCapabilities\":%s}}}",
                   id, method, params, capabilities);
    return line;
}

static inline const char *legacy(int id, const char *method, const char *params) {
    static char line[4096];
    (void)snprintf(line, sizeof line,
                   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}", id, method,
                   params);
    return line;
}

#endif
