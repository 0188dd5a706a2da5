/* server_http.h - as much HTTP as server.c needs: one request on a connection, and an answer
   that may take minutes.

   A connection reads its request into `in`, and keeps the unsent part of its answer in `out`. No
   function here waits: all sockets are non-blocking, and epoll says when to continue. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HTTP_REQUEST_BYTES = 16384 };

typedef struct http {
    int listener, loop; /* loop: the epoll descriptor */
    struct connection *first;
} http;

typedef struct connection {
    http *of;
    struct connection *next, **link; /* *link points to this connection */
    int fd;
    char in[HTTP_REQUEST_BYTES];
    size_t in_len;
    const char *path, *body; /* of a complete request, in `in`; NULL before */
    char *out;
    size_t out_len, out_sent, out_room;
    bool watched, ends; /* watched: for writing, too; ends: closes when `out` is sent */
    void *client;       /* of server.c */
} connection;

/* Watches a descriptor; epoll then names `what`. */
static bool http_watch(http *h, int fd, void *what) {
    struct epoll_event watch = {EPOLLIN | EPOLLRDHUP, {what}};
    return epoll_ctl(h->loop, EPOLL_CTL_ADD, fd, &watch) == 0;
}

/* Listens on the loopback address. epoll names the listener by `h`. */
static bool http_open(http *h, int port) {
    struct sockaddr_in at;
    int on = 1;
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_port = htons((uint16_t)port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    h->loop = epoll_create1(EPOLL_CLOEXEC);
    h->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    (void)setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(h->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
           listen(h->listener, 1024) == 0 && http_watch(h, h->listener, h);
}

static int http_port(const http *h) {
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    return getsockname(h->listener, (struct sockaddr *)&at, &len) == 0 ? ntohs(at.sin_port) : -1;
}

static void http_close(connection *c) {
    if (c->next != NULL) c->next->link = c->link;
    *c->link = c->next;
    (void)close(c->fd);
    free(c->out);
    free(c);
}

/* Takes a client that waits at the door. False: there is none. */
static bool http_accept(http *h) {
    int fd = accept4(h->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    connection *c = fd >= 0 ? (connection *)calloc(1, sizeof *c) : NULL;
    if (c == NULL) {
        if (fd >= 0) (void)close(fd);
        return false;
    }
    c->of = h;
    c->fd = fd;
    c->next = h->first;
    c->link = &h->first;
    if (c->next != NULL) c->next->link = &c->next;
    h->first = c;
    if (!http_watch(h, fd, c)) http_close(c);
    return true;
}

static void http_end(http *h) {
    while (h->first != NULL) http_close(h->first);
    (void)close(h->listener);
    (void)close(h->loop);
}

/* Sends as much as the socket takes. False: the client is gone, or has all of an answer that
   ends. */
static bool http_flush(connection *c) {
    while (c->out_sent < c->out_len) {
        ssize_t n = send(c->fd, c->out + c->out_sent, c->out_len - c->out_sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN) return false;
        if (n < 0) break;
        c->out_sent += (size_t)n;
    }
    bool left = c->out_sent < c->out_len;
    if (!left) c->out_len = c->out_sent = 0;
    if (left != c->watched) {
        struct epoll_event watch = {EPOLLIN | EPOLLRDHUP | (left ? EPOLLOUT : 0u), {c}};
        (void)epoll_ctl(c->of->loop, EPOLL_CTL_MOD, c->fd, &watch);
        c->watched = left;
    }
    return left || !c->ends;
}

/* Appends to the answer. If there is no memory, the answer ends here. */
static void http_add(connection *c, const char *text, size_t len) {
    if (c->out_room - c->out_len < len) {
        size_t room = 2 * c->out_room + len + 1024;
        char *out = (char *)realloc(c->out, room);
        if (out == NULL) {
            c->ends = true;
            return;
        }
        c->out = out;
        c->out_room = room;
    }
    memcpy(c->out + c->out_len, text, len);
    c->out_len += len;
}

static void http_say(connection *c, const char *text) { http_add(c, text, strlen(text)); }

/* A whole answer without a stream. */
static void http_refuse(connection *c, const char *status, const char *text) {
    http_say(c, "HTTP/1.1 ");
    http_say(c, status);
    http_say(c, "\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n");
    http_say(c, text);
    http_say(c, "\n");
    c->ends = true;
}

/* Finds path and body in the bytes so far: "POST /ada HTTP/1.1", headers, the body. */
static void http_parse(connection *c) {
    char *head_end = strstr(c->in, "\r\n\r\n"), *line, *end;
    size_t length = 0;
    if (head_end == NULL) return;
    for (line = c->in; line < head_end; line = strstr(line, "\r\n") + 2)
        if (strncasecmp(line, "Content-Length:", 15) == 0) length = strtoul(line + 15, NULL, 10);
    if (length >= sizeof c->in - (size_t)(head_end + 4 - c->in)) {
        http_refuse(c, "413 Content Too Large", "The request is too long.");
        return;
    }
    if (c->in + c->in_len < head_end + 4 + length) return;
    if (strncmp(c->in, "POST /", 6) != 0 || (end = strchr(c->in + 6, ' ')) == NULL) {
        http_refuse(c, "405 Method Not Allowed", "Say something: curl -N -d Hello .../your_name");
        return;
    }
    *end = '\0';
    head_end[4 + length] = '\0';
    c->path = c->in + 6;
    c->body = head_end + 4;
}

/* Reads the bytes that have arrived, and throws them away after a complete request. False: the
   client is gone. */
static bool http_read(connection *c) {
    char more[256];
    bool open = c->body == NULL && !c->ends;
    char *to = open ? c->in + c->in_len : more;
    ssize_t n = recv(c->fd, to, open ? sizeof c->in - 1 - c->in_len : sizeof more, 0);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    if (!open) return true;
    c->in_len += (size_t)n;
    c->in[c->in_len] = '\0';
    http_parse(c);
    if (c->body == NULL && !c->ends && c->in_len == sizeof c->in - 1)
        http_refuse(c, "413 Content Too Large", "The request is too long.");
    return true;
}

#endif
