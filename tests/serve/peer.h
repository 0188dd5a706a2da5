/* peer.h - the clients of the server's tests: raw sockets of POSIX or of Windows. */
#ifndef PHI_TESTS_SERVE_PEER_H
#define PHI_TESTS_SERVE_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#include <winsock2.h>
#include <windows.h>
#include <ws2tcpip.h>

enum { PEER_SHUT = SD_SEND, PEER_FLAGS = 0 };

static void peer_close(intptr_t fd) { (void)closesocket((SOCKET)fd); }
static bool peer_busy(void) { return WSAGetLastError() == WSAEWOULDBLOCK; }
static void peer_pause(int ms) { Sleep((DWORD)ms); }

static bool peer_unblock(intptr_t fd) {
    u_long on = 1;
    return ioctlsocket((SOCKET)fd, (long)FIONBIO, &on) == 0;
}
#define PEER_FD(fd) ((SOCKET)(fd))
typedef int peer_len;

#else
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEER_SHUT = SHUT_WR, PEER_FLAGS = MSG_NOSIGNAL };

static void peer_close(intptr_t fd) { (void)close((int)fd); }
static bool peer_busy(void) { return errno == EAGAIN || errno == EWOULDBLOCK; }

static void peer_pause(int ms) {
    struct pollfd none;
    none.fd = -1;
    none.events = 0;
    (void)poll(&none, 1, ms);
}

static bool peer_unblock(intptr_t fd) {
    (void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    return fcntl((int)fd, F_SETFL, O_NONBLOCK) == 0;
}
#define PEER_FD(fd) ((int)(fd))
typedef socklen_t peer_len;
#endif

/* Returns the number of bytes, or -1. */
static long peer_send(intptr_t fd, const char *bytes, size_t n) {
#ifdef _WIN32
    return send(PEER_FD(fd), bytes, (int)n, PEER_FLAGS);
#else
    return (long)send(PEER_FD(fd), bytes, n, PEER_FLAGS);
#endif
}

static long peer_recv(intptr_t fd, char *out, size_t n) {
#ifdef _WIN32
    return recv(PEER_FD(fd), out, (int)n, 0);
#else
    return (long)recv(PEER_FD(fd), out, n, 0);
#endif
}

static void peer_end_sending(intptr_t fd) { (void)shutdown(PEER_FD(fd), PEER_SHUT); }

/* The socket's close then resets the connection. */
static void peer_reset_at_close(intptr_t fd) {
    struct linger hard;
    hard.l_onoff = 1;
    hard.l_linger = 0;
    (void)setsockopt(PEER_FD(fd), SOL_SOCKET, SO_LINGER, (const char *)&hard,
                     (peer_len)sizeof hard);
}

/* Connects to a port of 127.0.0.1. The socket does not block. -1: refused. */
static intptr_t peer_dial(uint16_t port) {
    struct sockaddr_in address;
    int one = 1;
    intptr_t fd;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    fd = (intptr_t)socket(AF_INET, SOCK_STREAM, 0);
    if (connect(PEER_FD(fd), (struct sockaddr *)&address, (peer_len)sizeof address) != 0 ||
        !peer_unblock(fd)) {
        peer_close(fd);
        return -1;
    }
    (void)setsockopt(PEER_FD(fd), IPPROTO_TCP, TCP_NODELAY, (const char *)&one,
                     (peer_len)sizeof one);
    return fd;
}

#endif
