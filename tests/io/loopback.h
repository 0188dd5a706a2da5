/* loopback.h - a small HTTP server on loopback, stepped by the test itself: no thread, no process.

   Each request is given to `answer`, which says what to send and how. Everything is non-blocking;
   loopback_step does what is possible now. */
#ifndef PHI_TESTS_IO_LOOPBACK_H
#define PHI_TESTS_IO_LOOPBACK_H

#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK_CONNECTIONS 256
#define LOOPBACK_HEAD 16384

typedef struct loopback_connection {
    int fd; /* -1: free */
    char head[LOOPBACK_HEAD];
    size_t head_len, head_end; /* head_end: where the body begins; 0: not yet seen */
    uint64_t body_len, body_got;
    uint32_t body_hash; /* FNV-1a */
    int requests;
    /* set by `answer` */
    char *out; /* malloc'ed */
    size_t out_len, out_at;
    size_t piece;      /* bytes a step; 0: all */
    size_t stop_after; /* sends no more than this many and then waits for ever; 0: none */
    bool close_after;  /* when all was sent */
    bool reset_after;  /* the same, with a reset */
} loopback_connection;

typedef struct loopback loopback;
struct loopback {
    int fd;
    int port;
    int accepts, requests, open;
    bool refuse_accept; /* leaves connections in the backlog */
    size_t read_most;   /* bytes read from a connection a step; 0: what is there */
    void (*on_accept)(loopback *server, loopback_connection *c); /* may be NULL */
    void (*answer)(loopback *server, loopback_connection *c);
    void *user_data;
    loopback_connection connections[LOOPBACK_CONNECTIONS];
};

static inline void loopback_nonblocking(int fd) {
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static inline bool loopback_open(loopback *server,
                                 void (*answer)(loopback *, loopback_connection *)) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    size_t i;
    memset(server, 0, sizeof *server);
    memset(&address, 0, sizeof address);
    for (i = 0; i < LOOPBACK_CONNECTIONS; i++) server->connections[i].fd = -1;
    server->answer = answer;
    server->fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (server->fd < 0 || bind(server->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->fd, 512) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &len) != 0)
        return false;
    loopback_nonblocking(server->fd);
    server->port = ntohs(address.sin_port);
    return true;
}

static inline void loopback_drop(loopback *server, loopback_connection *c, bool reset) {
    struct linger linger;
    linger.l_onoff = 1;
    linger.l_linger = 0;
    if (reset) (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    (void)close(c->fd);
    free(c->out);
    memset(c, 0, sizeof *c);
    c->fd = -1;
    server->open--;
}

static inline void loopback_close(loopback *server) {
    size_t i;
    for (i = 0; i < LOOPBACK_CONNECTIONS; i++)
        if (server->connections[i].fd >= 0) loopback_drop(server, &server->connections[i], false);
    if (server->fd >= 0) (void)close(server->fd);
    server->fd = -1;
}

static inline void loopback_send(loopback_connection *c, const char *bytes, size_t len) {
    char *out = (char *)realloc(c->out, c->out_len + len + 1);
    if (out == NULL) abort();
    memcpy(out + c->out_len, bytes, len);
    c->out = out;
    c->out_len += len;
}

static inline void loopback_text(loopback_connection *c, const char *text) {
    loopback_send(c, text, strlen(text));
}

/* A whole answer with its Content-Length. */
static inline void loopback_answer(loopback_connection *c, int status, const char *headers,
                                   const char *body, size_t len) {
    char head[512];
    (void)snprintf(head, sizeof head, "HTTP/1.1 %d Said\r\n%sContent-Length: %zu\r\n\r\n", status,
                   headers, len);
    loopback_text(c, head);
    loopback_send(c, body, len);
}

static inline uint32_t loopback_hash(uint32_t hash, const char *at, size_t len) {
    size_t i;
    for (i = 0; i < len; i++) hash = (hash ^ (unsigned char)at[i]) * 16777619u;
    return hash;
}

static inline void loopback_body(loopback_connection *c, const char *at, size_t len) {
    c->body_hash = loopback_hash(c->body_hash, at, len);
    c->body_got += len;
}

static inline void loopback_head(loopback_connection *c) {
    char *end, *length;
    c->head[c->head_len] = '\0';
    end = strstr(c->head, "\r\n\r\n");
    if (end == NULL) return;
    c->head_end = (size_t)(end - c->head) + 4;
    c->body_len = 0;
    c->body_got = 0;
    c->body_hash = 2166136261u;
    length = strstr(c->head, "Content-Length: ");
    if (length != NULL && length < end) c->body_len = strtoull(length + 16, NULL, 10);
    loopback_body(c, c->head + c->head_end, c->head_len - c->head_end);
    end[2] = '\0';
}

static inline void loopback_read(loopback *server, loopback_connection *c) {
    static char buffer[65536];
    size_t left = server->read_most > 0 ? server->read_most : SIZE_MAX;
    while (left > 0 && c->fd >= 0) {
        size_t want = phi__min(left, sizeof buffer);
        ssize_t n;
        if (c->head_end == 0) want = phi__min(want, LOOPBACK_HEAD - 1 - c->head_len);
        n = recv(c->fd, buffer, want, 0);
        if (n < 0) return;
        if (n == 0) {
            loopback_drop(server, c, false);
            return;
        }
        left -= (size_t)n;
        if (c->head_end == 0) {
            memcpy(c->head + c->head_len, buffer, (size_t)n);
            c->head_len += (size_t)n;
            loopback_head(c);
        } else {
            loopback_body(c, buffer, (size_t)n);
        }
        if (c->head_end == 0 || c->body_got < c->body_len) continue;
        c->requests++;
        server->requests++;
        server->answer(server, c);
        c->head_len = c->head_end = 0;
    }
}

static inline void loopback_write(loopback *server, loopback_connection *c) {
    size_t n = c->out_len - c->out_at;
    ssize_t sent;
    if (c->piece > 0) n = phi__min(n, c->piece);
    if (c->stop_after > 0) n = phi__min(n, c->stop_after - phi__min(c->out_at, c->stop_after));
    sent = n == 0 ? 0 : send(c->fd, c->out + c->out_at, n, MSG_NOSIGNAL);
    if (sent > 0) c->out_at += (size_t)sent;
    if (c->out_len == 0 || c->out_at < c->out_len) return;
    free(c->out);
    c->out = NULL;
    c->out_len = c->out_at = 0;
    if (c->close_after || c->reset_after) loopback_drop(server, c, c->reset_after);
}

static inline void loopback_accept(loopback *server) {
    int one = 1;
    while (!server->refuse_accept) {
        size_t i;
        int fd;
        for (i = 0; i < LOOPBACK_CONNECTIONS && server->connections[i].fd >= 0;) i++;
        if (i == LOOPBACK_CONNECTIONS) return;
        fd = accept(server->fd, NULL, NULL);
        if (fd < 0) return;
        loopback_nonblocking(fd);
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        memset(&server->connections[i], 0, sizeof server->connections[i]);
        server->connections[i].fd = fd;
        server->accepts++;
        server->open++;
        if (server->on_accept != NULL) server->on_accept(server, &server->connections[i]);
    }
}

static inline void loopback_step(loopback *server) {
    size_t i;
    loopback_accept(server);
    for (i = 0; i < LOOPBACK_CONNECTIONS; i++) {
        loopback_connection *c = &server->connections[i];
        if (c->fd >= 0) loopback_read(server, c);
        if (c->fd >= 0) loopback_write(server, c);
    }
}

#endif
