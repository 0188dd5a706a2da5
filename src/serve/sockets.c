/* sockets.c - sockets_in.h. Winsock has the calls of POSIX; the first part has the differences. */
#include "serve/sockets_in.h"

#if !defined(PHI_NO_LISTEN)

#if defined(PHI__OS_WINDOWS)

#include "io/windows_in.h"

#include <limits.h>

typedef SOCKET phi__socket;
typedef int phi__socket_len;
/* SO_REUSEADDR would let any other process take the port as well. */
#define PHI__SOCKET_ADDRESS_USE SO_EXCLUSIVEADDRUSE

static int phi__socket_error(void) { return WSAGetLastError(); }

static phi__fd phi__socket_new(int family) {
    SOCKET made = WSASocketW(family, SOCK_STREAM, IPPROTO_TCP, NULL, 0,
                             WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    return made != INVALID_SOCKET ? (phi__fd)made : -1;
}

static phi__fd phi__socket_take(phi__fd listening) {
    SOCKET made = accept((SOCKET)listening, NULL, NULL);
    return made != INVALID_SOCKET ? (phi__fd)made : -1;
}

static int phi__socket_prepare(phi__fd fd) {
    u_long on = 1;
    (void)SetHandleInformation((HANDLE)fd, HANDLE_FLAG_INHERIT, 0);
    return ioctlsocket((SOCKET)fd, (long)FIONBIO, &on) == 0 ? 0 : WSAGetLastError();
}

PHI__FN phi_status phi__socket_status(int error) {
    if (error == WSAEADDRINUSE || error == WSAEACCES || error == WSAEADDRNOTAVAIL)
        return PHI_REFUSED;
    return error == WSA_NOT_ENOUGH_MEMORY || error == WSAENOBUFS ? PHI_NO_MEMORY : PHI_IO;
}

static bool phi__socket_is_full(int error) {
    return error == WSAEMFILE || error == WSAENOBUFS || error == WSA_NOT_ENOUGH_MEMORY;
}

PHI__FN int phi__socket_read(phi__fd fd, char *out, size_t n, size_t *got) {
    int result = recv((SOCKET)fd, out, (int)phi__min(n, INT_MAX), 0);
    *got = result > 0 ? (size_t)result : 0;
    if (result >= 0) return 0;
    int error = WSAGetLastError();
    return error == WSAEWOULDBLOCK ? PHI__SOCKET_BUSY : error;
}

PHI__FN int phi__socket_write(phi__fd fd, const char *bytes, size_t n, size_t *wrote) {
    int result = send((SOCKET)fd, bytes, (int)phi__min(n, INT_MAX), 0);
    *wrote = result > 0 ? (size_t)result : 0;
    if (result >= 0) return 0;
    int error = WSAGetLastError();
    return error == WSAEWOULDBLOCK || error == WSAENOBUFS ? PHI__SOCKET_BUSY : error;
}

PHI__FN void phi__socket_end_sending(phi__fd fd) { (void)shutdown((SOCKET)fd, SD_SEND); }

PHI__FN void phi__socket_close(phi__fd fd) { (void)closesocket((SOCKET)fd); }

#else

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int phi__socket;
typedef socklen_t phi__socket_len;
#define PHI__SOCKET_ADDRESS_USE SO_REUSEADDR

static int phi__socket_error(void) { return errno; }

static phi__fd phi__socket_new(int family) { return socket(family, SOCK_STREAM, 0); }

static phi__fd phi__socket_take(phi__fd listening) { return accept(listening, NULL, NULL); }

static int phi__socket_prepare(phi__fd fd) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return errno;
#if defined(SO_NOSIGPIPE) /* on macOS SIGPIPE is sent to the process (io/posix.c) */
    int one = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, (socklen_t)sizeof one);
#endif
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno;
}

PHI__FN phi_status phi__socket_status(int error) {
    if (error == EADDRINUSE || error == EACCES || error == EADDRNOTAVAIL) return PHI_REFUSED;
    return error == ENOMEM || error == ENOBUFS ? PHI_NO_MEMORY : PHI_IO;
}

static bool phi__socket_is_full(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
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

/* ---- on every system ---- */

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

static phi__socket_len phi__socket_name_of(const phi__socket_address *address,
                                           phi__socket_name *out) {
    memset(out, 0, sizeof *out);
    if (!address->v6) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(address->port);
        memcpy(&out->v4.sin_addr, address->bytes, sizeof out->v4.sin_addr);
        return (phi__socket_len)sizeof out->v4;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(address->port);
    memcpy(&out->v6.sin6_addr, address->bytes, sizeof out->v6.sin6_addr);
    return (phi__socket_len)sizeof out->v6;
}

/* Sets an option; it is no harm if the system lacks it. */
static void phi__socket_set(phi__fd fd, int level, int option) {
    const int one = 1;
    (void)setsockopt((phi__socket)fd, level, option, (const char *)&one,
                     (phi__socket_len)sizeof one);
}

static int phi__socket_bind(phi__fd fd, const phi__socket_address *address, int backlog,
                            uint16_t *port) {
    phi__socket_name name;
    phi__socket_len len = phi__socket_name_of(address, &name);
    phi__socket_len got_len = (phi__socket_len)sizeof name;
    int error = phi__socket_prepare(fd);
    if (error != 0) return error;
    phi__socket_set(fd, SOL_SOCKET, PHI__SOCKET_ADDRESS_USE);
#if defined(IPV6_V6ONLY)
    if (address->v6) phi__socket_set(fd, IPPROTO_IPV6, IPV6_V6ONLY);
#endif
    if (bind((phi__socket)fd, &name.any, len) != 0 || listen((phi__socket)fd, backlog) != 0)
        return phi__socket_error();
    memset(&name, 0, sizeof name);
    if (getsockname((phi__socket)fd, &name.any, &got_len) != 0) return phi__socket_error();
    *port = ntohs(name.any.sa_family == AF_INET ? name.v4.sin_port : name.v6.sin6_port);
    return 0;
}

PHI__FN int phi__socket_listen(const phi__socket_address *address, int backlog, phi__fd *fd,
                               uint16_t *port) {
    *fd = phi__socket_new(address->v6 ? AF_INET6 : AF_INET);
    if (*fd < 0) return phi__socket_error();
    int error = phi__socket_bind(*fd, address, backlog, port);
    if (error == 0) return 0;
    phi__socket_close(*fd);
    *fd = -1;
    return error;
}

PHI__FN int phi__socket_accept(phi__fd listening, phi__fd *out) {
    *out = phi__socket_take(listening);
    if (*out < 0) {
        int error = phi__socket_error();
        return phi__socket_is_full(error) ? PHI__SOCKET_FULL : error;
    }
    /* a small answer does not wait for an acknowledgement */
    phi__socket_set(*out, IPPROTO_TCP, TCP_NODELAY);
    int error = phi__socket_prepare(*out);
    if (error == 0) return 0;
    phi__socket_close(*out);
    *out = -1;
    return error;
}

#endif
