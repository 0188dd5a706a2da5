/* http_posix.c - the POSIX calls of the libcurl transport. */
#include "io/http_curl_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_CURL)

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The socket is close-on-exec: otherwise a background child would keep libcurl's socket open. */
PHI__FN curl_socket_t phi__http_open_socket(int family, int type, int protocol, bool *none_left) {
    int fd;
#if defined(SOCK_CLOEXEC)
    fd = socket(family, type | SOCK_CLOEXEC, protocol);
#else
    fd = socket(family, type, protocol);
    if (fd >= 0) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
    if (fd < 0)
        *none_left = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    return fd;
}

PHI__FN void phi__http_close(curl_socket_t fd) {
    if (fd != CURL_SOCKET_BAD) (void)close(fd);
}

PHI__FN curl_socket_t phi__http_listen(int *port) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    bool none_left;
    curl_socket_t fd = phi__http_open_socket(AF_INET, SOCK_STREAM, 0, &none_left);
    if (fd == CURL_SOCKET_BAD) return fd;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
        *port = (int)ntohs(address.sin_port);
        return fd;
    }
    phi__http_close(fd);
    return CURL_SOCKET_BAD;
}

PHI__FN bool phi__http_heard(curl_socket_t listener, curl_socket_t *peer) {
    char byte;
    if (*peer == CURL_SOCKET_BAD) *peer = accept(listener, NULL, NULL);
    if (*peer == CURL_SOCKET_BAD) return false;
    return recv(*peer, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

PHI__FN bool phi__http_descriptors_left(intptr_t any_fd, int count) {
    bool left = true;
    if (count <= 0) return true;
    int fd = fcntl((int)any_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return errno != EMFILE && errno != ENFILE;
    left = phi__http_descriptors_left(any_fd, count - 1);
    (void)close(fd);
    return left;
}

PHI__FN phi_status phi__http_connect_status(long os_error) {
    if (os_error == ECONNREFUSED) return PHI_REFUSED;
    return os_error == ETIMEDOUT ? PHI_TIMEOUT : PHI_NETWORK;
}

PHI__FN bool phi__http_can_read(const char *path) {
#if defined(PHI_NO_FILES)
    (void)path;
    return true; /* libcurl reports an unreadable file */
#else
    return access(path, R_OK) == 0;
#endif
}

PHI__FN void phi__http_yield(void) { (void)sched_yield(); }

#if defined(PHI__OS_LINUX) || defined(__FreeBSD__) || defined(__NetBSD__)

/* Blocks SIGPIPE. False: release must not follow. Either a SIGPIPE was already pending, which
   belongs to the host, and nothing changed; or the host itself blocks the signal. */
PHI__FN bool phi__http_signal_hold(void) {
    sigset_t pipe_set, before, pending;
    (void)sigemptyset(&pipe_set);
    (void)sigaddset(&pipe_set, SIGPIPE);
    if (sigpending(&pending) != 0 || sigismember(&pending, SIGPIPE) == 1) return false;
    if (pthread_sigmask(SIG_BLOCK, &pipe_set, &before) != 0) return false;
    return sigismember(&before, SIGPIPE) == 0;
}

PHI__FN void phi__http_signal_release(void) {
    sigset_t pipe_set;
    struct timespec none = PHI_ZERO;
    (void)sigemptyset(&pipe_set);
    (void)sigaddset(&pipe_set, SIGPIPE);
    while (sigtimedwait(&pipe_set, NULL, &none) < 0 && errno == EINTR) continue;
    (void)pthread_sigmask(SIG_UNBLOCK, &pipe_set, NULL);
}

#else /* libcurl sets SO_NOSIGPIPE if the system has it */

PHI__FN bool phi__http_signal_hold(void) { return false; }
PHI__FN void phi__http_signal_release(void) {}

#endif

#endif
