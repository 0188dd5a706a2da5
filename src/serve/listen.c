/* listen.c - listen_in.h over the sockets of POSIX. */
#include "serve/listen_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_LISTEN

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PHI__LISTEN_CONNECTIONS = 64,
    PHI__LISTEN_BACKLOG = 64,
    PHI__LISTEN_ACCEPTS = 4 /* in one turn */
};
#define PHI__LISTEN_RETRY_US 100000u /* the system is out of descriptors or memory */

struct phi__listen {
    phi__io *io;
    phi__listen_desc desc;
    int fd;
    uint16_t port;
    uint32_t count; /* connections that were not reported closed */
    phi__watch watch;
    phi__timer timer;
    bool in_callback, freed;
};

typedef union phi__listen_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} phi__listen_address;

/* ---- addresses ---- */

/* The bytes of the address, or 0: not a literal. */
static socklen_t phi__listen_read(const char *text, uint16_t port, phi__listen_address *out) {
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(port);
        return (socklen_t)sizeof out->v4;
    }
    if (inet_pton(AF_INET6, text, &out->v6.sin6_addr) != 1) return 0;
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(port);
    return (socklen_t)sizeof out->v6;
}

static bool phi__listen_is_loopback(const phi__listen_address *address) {
    static const unsigned char v6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return address->any.sa_family == AF_INET ? ntohl(address->v4.sin_addr.s_addr) >> 24 == 127
                                             : memcmp(&address->v6.sin6_addr, v6, sizeof v6) == 0;
}

/* ---- the socket ---- */

static int phi__listen_flags(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return errno;
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
}

/* Returns an errno value. */
static int phi__listen_bind(phi__listen *l, const phi__listen_address *address, socklen_t len) {
    phi__listen_address got;
    socklen_t got_len = (socklen_t)sizeof got;
    int one = 1, error;
    l->fd = socket(address->any.sa_family, SOCK_STREAM, 0);
    if (l->fd < 0) return errno;
    error = phi__listen_flags(l->fd);
    if (error != 0) return error;
    (void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, (socklen_t)sizeof one);
#if defined(IPV6_V6ONLY)
    if (address->any.sa_family == AF_INET6)
        (void)setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, (socklen_t)sizeof one);
#endif
    memset(&got, 0, sizeof got);
    if (bind(l->fd, &address->any, len) != 0 || listen(l->fd, PHI__LISTEN_BACKLOG) != 0 ||
        getsockname(l->fd, &got.any, &got_len) != 0)
        return errno;
    l->port = ntohs(got.any.sa_family == AF_INET ? got.v4.sin_port : got.v6.sin6_port);
    return 0;
}

/* Watched while a connection may come; without memory the timer tries again. */
static void phi__listen_watch(phi__listen *l) {
    bool full = l->count >= l->desc.max_connections;
    if (phi__io_watch(l->io, &l->watch, l->fd, full ? 0 : PHI__READ) != PHI_OK)
        (void)phi__io_timer_set(l->io, &l->timer, phi__io_now_us(l->io) + PHI__LISTEN_RETRY_US);
}

static void phi__listen_destroy(phi__listen *l) {
    (void)phi__io_watch(l->io, &l->watch, l->fd, 0);
    phi__io_timer_clear(l->io, &l->timer);
    if (l->fd >= 0) (void)close(l->fd);
    phi__free(phi__io_memory(l->io), l, sizeof *l);
}

static void phi__listen_on_ready(phi__watch *watch, int have) {
    phi__listen *l = PHI__OWNER(watch, phi__listen, watch);
    (void)have;
    for (int i = 0; i < PHI__LISTEN_ACCEPTS && l->count < l->desc.max_connections; i++) {
        int fd = accept(l->fd, NULL, NULL);
        if (fd < 0) {
            /* No descriptor or no memory is left: the connection stays in the queue, and a watch
               would report it over and over. Else none is waiting, or it has gone already. */
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                uint64_t at = phi__io_now_us(l->io) + PHI__LISTEN_RETRY_US;
                (void)phi__io_watch(l->io, &l->watch, l->fd, 0);
                (void)phi__io_timer_set(l->io, &l->timer, at);
            }
            return;
        }
        /* A small answer must not wait for the acknowledgement of the one before. */
        int one = 1;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, (socklen_t)sizeof one);
        if (phi__listen_flags(fd) != 0) {
            (void)close(fd);
            continue;
        }
        l->count++;
        l->in_callback = true;
        l->desc.accepted(l->desc.ctx, fd);
        l->in_callback = false;
        if (l->freed) {
            phi__listen_destroy(l);
            return;
        }
    }
    phi__listen_watch(l);
}

static void phi__listen_on_timer(phi__timer *timer) {
    phi__listen *l = PHI__OWNER(timer, phi__listen, timer);
    (void)phi__io_timer_set(l->io, timer, UINT64_MAX); /* its place stays taken */
    phi__listen_watch(l);
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__listen_new(phi__io *io, const phi__listen_desc *desc, phi__listen **out,
                                   char *message, size_t message_size) {
    const char *text = desc->address != NULL ? desc->address : "127.0.0.1";
    phi__listen_address address;
    socklen_t len = phi__listen_read(text, desc->port, &address);
    phi__listen *l;
    char words[96] = "no memory";
    int error = 0;
    *out = NULL;
    if (message_size > 0) message[0] = '\0';
    if (len == 0 || (!desc->any_address && !phi__listen_is_loopback(&address))) {
        (void)snprintf(message, message_size, "cannot listen on \"%.60s\": expected %s", text,
                       len == 0 ? "an IP address"
                                : "127.0.0.1 or ::1 (others only with any_address)");
        return PHI_BAD_ARG;
    }
    l = (phi__listen *)phi__alloc(phi__io_memory(io), sizeof *l);
    if (l == NULL) return PHI_NO_MEMORY;
    l->io = io;
    l->desc = *desc;
    l->fd = -1;
    if (l->desc.max_connections == 0) l->desc.max_connections = PHI__LISTEN_CONNECTIONS;
    l->watch.ready = phi__listen_on_ready;
    l->timer.fire = phi__listen_on_timer;
    phi_status status = phi__io_timer_set(io, &l->timer, UINT64_MAX);
    if (status == PHI_OK) error = phi__listen_bind(l, &address, len);
    if (error != 0) {
        bool refused = error == EADDRINUSE || error == EACCES || error == EADDRNOTAVAIL;
        bool no_memory = error == ENOMEM || error == ENOBUFS;
        status = refused ? PHI_REFUSED : no_memory ? PHI_NO_MEMORY : PHI_IO;
        phi__posix_words(error, words, sizeof words);
    }
    if (status == PHI_OK) status = phi__io_watch(io, &l->watch, l->fd, PHI__READ);
    if (status != PHI_OK) {
        (void)snprintf(message, message_size, "cannot listen on %.60s port %u: %s", text,
                       (unsigned)desc->port, words);
        phi__listen_destroy(l);
        return status;
    }
    *out = l;
    return PHI_OK;
}

PHI__FN uint16_t phi__listen_port(const phi__listen *listen) { return listen->port; }

PHI__FN bool phi__listen_full(const phi__listen *listen) {
    return listen->count >= listen->desc.max_connections;
}

PHI__FN void phi__listen_closed(phi__listen *listen) {
    PHI_ASSERT(listen->count > 0);
    listen->count--;
    if (!listen->freed && !listen->in_callback) phi__listen_watch(listen);
}

PHI__FN void phi__listen_free(phi__listen *listen) {
    if (listen == NULL || listen->freed) return;
    listen->freed = true;
    if (!listen->in_callback) phi__listen_destroy(listen);
}

#endif
