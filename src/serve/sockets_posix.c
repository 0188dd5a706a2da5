/* sockets_posix.c - sockets_in.h by the sockets of POSIX. */
#include "serve/sockets_in.h"

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_LISTEN)

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union phi__socket_name {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} phi__socket_name;

PHI__FN bool phi__socket_parse(const char *text, phi__socket_address *out) {
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, out->bytes) == 1) return true;
    out->v6 = true;
    return inet_pton(AF_INET6, text, out->bytes) == 1;
}

static socklen_t phi__socket_name_of(const phi__socket_address *address, phi__socket_name *out) {
    memset(out, 0, sizeof *out);
    if (!address->v6) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(address->port);
        memcpy(&out->v4.sin_addr, address->bytes, sizeof out->v4.sin_addr);
        return (socklen_t)sizeof out->v4;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(address->port);
    memcpy(&out->v6.sin6_addr, address->bytes, sizeof out->v6.sin6_addr);
    return (socklen_t)sizeof out->v6;
}

static int phi__socket_flags(int fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return errno;
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
}

static int phi__socket_bind(int fd, const phi__socket_address *address, int backlog,
                            uint16_t *port) {
    phi__socket_name name;
    socklen_t len = phi__socket_name_of(address, &name), got_len = (socklen_t)sizeof name;
    int one = 1;
    int error = phi__socket_flags(fd);
    if (error != 0) return error;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, (socklen_t)sizeof one);
#if defined(IPV6_V6ONLY)
    if (address->v6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, (socklen_t)sizeof one);
#endif
    if (bind(fd, &name.any, len) != 0 || listen(fd, backlog) != 0) return errno;
    memset(&name, 0, sizeof name);
    if (getsockname(fd, &name.any, &got_len) != 0) return errno;
    *port = ntohs(name.any.sa_family == AF_INET ? name.v4.sin_port : name.v6.sin6_port);
    return 0;
}

PHI__FN int phi__socket_listen(const phi__socket_address *address, int backlog, phi__fd *fd,
                               uint16_t *port) {
    *fd = socket(address->v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    if (*fd < 0) return errno;
    int error = phi__socket_bind(*fd, address, backlog, port);
    if (error == 0) return 0;
    (void)close(*fd);
    *fd = -1;
    return error;
}

PHI__FN phi_status phi__socket_status(int error) {
    if (error == EADDRINUSE || error == EACCES || error == EADDRNOTAVAIL) return PHI_REFUSED;
    return error == ENOMEM || error == ENOBUFS ? PHI_NO_MEMORY : PHI_IO;
}

PHI__FN int phi__socket_accept(phi__fd listening, phi__fd *out) {
    int one = 1; /* send a small answer without waiting for an acknowledgement */
    *out = accept(listening, NULL, NULL);
    if (*out < 0) {
        bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return full ? PHI__SOCKET_FULL : errno;
    }
    (void)setsockopt(*out, IPPROTO_TCP, TCP_NODELAY, &one, (socklen_t)sizeof one);
#if defined(SO_NOSIGPIPE) /* on macOS SIGPIPE is sent to the process (io/posix.c) */
    (void)setsockopt(*out, SOL_SOCKET, SO_NOSIGPIPE, &one, (socklen_t)sizeof one);
#endif
    int error = phi__socket_flags(*out);
    if (error == 0) return 0;
    (void)close(*out);
    *out = -1;
    return error;
}

PHI__FN int phi__socket_read(phi__fd fd, char *out, size_t n, size_t *got) {
    ssize_t result;
    do result = read(fd, out, n);
    while (result < 0 && errno == EINTR);
    *got = result > 0 ? (size_t)result : 0;
    if (result >= 0) return 0;
    return errno == EAGAIN || errno == EWOULDBLOCK ? PHI__SOCKET_BUSY : errno;
}

PHI__FN int phi__socket_write(phi__fd fd, const char *bytes, size_t n, size_t *wrote) {
    int error = phi__posix_write(fd, bytes, n, wrote);
    return error == EAGAIN || error == EWOULDBLOCK ? PHI__SOCKET_BUSY : error;
}

PHI__FN void phi__socket_end_sending(phi__fd fd) { (void)shutdown(fd, SHUT_WR); }

PHI__FN void phi__socket_close(phi__fd fd) { (void)close(fd); }

#endif
