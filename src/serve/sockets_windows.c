/* sockets_windows.c - sockets_in.h by Winsock. */
#include "serve/sockets_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_LISTEN)

#include "io/windows_in.h"

#include <limits.h>

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

static int phi__socket_name_of(const phi__socket_address *address, phi__socket_name *out) {
    memset(out, 0, sizeof *out);
    if (!address->v6) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(address->port);
        memcpy(&out->v4.sin_addr, address->bytes, sizeof out->v4.sin_addr);
        return (int)sizeof out->v4;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(address->port);
    memcpy(&out->v6.sin6_addr, address->bytes, sizeof out->v6.sin6_addr);
    return (int)sizeof out->v6;
}

static int phi__socket_bind(SOCKET fd, const phi__socket_address *address, int backlog,
                            uint16_t *port) {
    phi__socket_name name;
    int len = phi__socket_name_of(address, &name), got_len = (int)sizeof name;
    const DWORD one = 1;
    u_long on = 1;
    if (ioctlsocket(fd, (long)FIONBIO, &on) != 0) return WSAGetLastError();
    /* SO_REUSEADDR would let any other process take the port as well. */
    (void)setsockopt(fd, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *)&one, (int)sizeof one);
    if (address->v6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, (const char *)&one, (int)sizeof one);
    if (bind(fd, &name.any, len) != 0 || listen(fd, backlog) != 0) return WSAGetLastError();
    memset(&name, 0, sizeof name);
    if (getsockname(fd, &name.any, &got_len) != 0) return WSAGetLastError();
    *port = ntohs(name.any.sa_family == AF_INET ? name.v4.sin_port : name.v6.sin6_port);
    return 0;
}

PHI__FN int phi__socket_listen(const phi__socket_address *address, int backlog, phi__fd *fd,
                               uint16_t *port) {
    SOCKET made = WSASocketW(address->v6 ? AF_INET6 : AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0,
                             WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    *fd = -1;
    if (made == INVALID_SOCKET) return WSAGetLastError();
    int error = phi__socket_bind(made, address, backlog, port);
    if (error == 0)
        *fd = (phi__fd)made;
    else
        (void)closesocket(made);
    return error;
}

PHI__FN phi_status phi__socket_status(int error) {
    if (error == WSAEADDRINUSE || error == WSAEACCES || error == WSAEADDRNOTAVAIL)
        return PHI_REFUSED;
    return error == WSA_NOT_ENOUGH_MEMORY || error == WSAENOBUFS ? PHI_NO_MEMORY : PHI_IO;
}

PHI__FN int phi__socket_accept(phi__fd listening, phi__fd *out) {
    const DWORD one = 1; /* send a small answer without waiting for an acknowledgement */
    u_long on = 1;
    SOCKET made = accept((SOCKET)listening, NULL, NULL);
    *out = -1;
    if (made == INVALID_SOCKET) {
        int error = WSAGetLastError();
        return error == WSAEMFILE || error == WSAENOBUFS || error == WSA_NOT_ENOUGH_MEMORY
                   ? PHI__SOCKET_FULL
                   : error;
    }
    (void)setsockopt(made, IPPROTO_TCP, TCP_NODELAY, (const char *)&one, (int)sizeof one);
    (void)SetHandleInformation((HANDLE)made, HANDLE_FLAG_INHERIT, 0);
    if (ioctlsocket(made, (long)FIONBIO, &on) != 0) {
        int error = WSAGetLastError();
        (void)closesocket(made);
        return error;
    }
    *out = (phi__fd)made;
    return 0;
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

#endif
