/* sys/socket.h - sockets and pipes of POSIX over those of Windows, for tests with a server of their
   own. Structs and numbers are those of winsock2.h, which has too many names for a test.

   A descriptor is a socket, or a file or pipe of the C library. socketpair() makes a connection over
   loopback. Functions are in os_windows.c; they set errno. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_SYS_SOCKET_H
#define PHI_TESTS_SUPPORT_WINDOWS_SYS_SOCKET_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#ifndef _WINSOCK2API_ /* the test has not included libcurl */
typedef int socklen_t;

struct in_addr {
    uint32_t s_addr;
};

struct sockaddr {
    uint16_t sa_family;
    char sa_data[14];
};

struct sockaddr_in {
    int16_t sin_family;
    uint16_t sin_port;
    struct in_addr sin_addr;
    char sin_zero[8];
};

struct linger {
    uint16_t l_onoff, l_linger;
};

struct pollfd {
    int fd;
    int16_t events, revents;
};

enum {
    AF_UNIX = 1,
    AF_INET = 2,
    SOCK_STREAM = 1,
    IPPROTO_TCP = 6,
    TCP_NODELAY = 1,
    SOL_SOCKET = 0xffff,
    SO_REUSEADDR = 4,
    SO_LINGER = 0x80,
    SO_SNDBUF = 0x1001,
    SO_RCVBUF = 0x1002,
    SO_ERROR = 0x1007,
    MSG_PEEK = 2,
    POLLERR = 1,
    POLLHUP = 2,
    POLLOUT = 0x10,
    POLLIN = 0x300
};
#define INADDR_LOOPBACK 0x7f000001u

static inline uint16_t htons(uint16_t n) { return (uint16_t)(n << 8 | n >> 8); }
static inline uint16_t ntohs(uint16_t n) { return htons(n); }
static inline uint32_t htonl(uint32_t n) {
    return (uint32_t)htons((uint16_t)n) << 16 | htons((uint16_t)(n >> 16));
}

int test_poll(struct pollfd *fds, size_t count, int timeout_ms);
#define poll(fds, count, timeout_ms) test_poll(fds, count, timeout_ms)
#endif

enum {
    SOCK_CLOEXEC = 0x100,
    SOCK_NONBLOCK = 0x200,
    MSG_NOSIGNAL = 0,
    MSG_DONTWAIT = 0x10000,
    SHUT_RD = 0,
    SHUT_WR = 1,
    SHUT_RDWR = 2
};

int test_socket(int family, int type, int protocol);
int test_socketpair(int family, int type, int protocol, int *fds);
int test_accept(int fd, struct sockaddr *address, socklen_t *len);
int test_bind(int fd, const struct sockaddr *address, socklen_t len);
int test_listen(int fd, int backlog);
int test_connect(int fd, const struct sockaddr *address, socklen_t len);
int test_shutdown(int fd, int how);
int test_getsockname(int fd, struct sockaddr *address, socklen_t *len);
int test_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int test_setsockopt(int fd, int level, int name, const void *value, size_t len);
ptrdiff_t test_send(int fd, const void *bytes, size_t len, int flags);
ptrdiff_t test_recv(int fd, void *out, size_t cap, int flags);

#define socket(family, type, protocol) test_socket(family, type, protocol)
#define socketpair(family, type, protocol, fds) test_socketpair(family, type, protocol, fds)
#define accept(fd, address, len) test_accept(fd, address, len)
#define bind(fd, address, len) test_bind(fd, address, len)
#define listen(fd, backlog) test_listen(fd, backlog)
#define connect(fd, address, len) test_connect(fd, address, len)
#define shutdown(fd, how) test_shutdown(fd, how)
#define getsockname(fd, address, len) test_getsockname(fd, address, len)
#define getsockopt(fd, level, name, value, len) test_getsockopt(fd, level, name, value, len)
#define setsockopt(fd, level, name, value, len) test_setsockopt(fd, level, name, value, len)
#define send(fd, bytes, len, flags) test_send(fd, bytes, len, flags)
#define recv(fd, out, cap, flags) test_recv(fd, out, cap, flags)

#endif
