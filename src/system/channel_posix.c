/* channel_posix.c - channel_in.h on POSIX: reads and writes only after poll reported readiness. */
#include "system/channel_in.h"

#include "io/io_in.h"

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_PROCESS)

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

/* The bytes that a ready pipe takes without blocking. POSIX guarantees at least 512. */
#if defined(PIPE_BUF)
#define PHI__SIDE_PIECE PIPE_BUF
#else
#define PHI__SIDE_PIECE 512
#endif

PHI__FN bool phi__side_open(phi__side *side, phi_memory *memory, int fd, bool writes) {
    (void)memory;
    (void)writes;
    side->fd = fd;
    if (fcntl(fd, F_GETFD) < 0) return false;
    /* Pollers take pipes, sockets and terminals, but may refuse seekable files and /dev/null. */
    side->plain = lseek(fd, 0, SEEK_CUR) != (off_t)-1 && isatty(fd) == 0;
    return true;
}

/* True if reading or writing would not block. A file is always ready. */
static bool phi__side_ready(const phi__side *side, short events) {
    struct pollfd one;
    one.fd = side->fd;
    one.events = events;
    one.revents = 0;
    return poll(&one, 1, 0) > 0;
}

PHI__FN int phi__side_read(phi__side *side, char *out, size_t n, size_t *got) {
    ssize_t result;
    *got = 0;
    if (!phi__side_ready(side, POLLIN)) return PHI__SIDE_BUSY;
    do result = read(side->fd, out, n);
    while (result < 0 && errno == EINTR);
    if (result < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? PHI__SIDE_BUSY : errno;
    *got = (size_t)result;
    return 0;
}

PHI__FN int phi__side_write(phi__side *side, const char *bytes, size_t n, size_t *wrote) {
    *wrote = 0;
    if (!phi__side_ready(side, POLLOUT)) return PHI__SIDE_BUSY;
    int error = phi__posix_write(side->fd, bytes, phi__min(n, PHI__SIDE_PIECE), wrote);
    return error == EAGAIN || error == EWOULDBLOCK ? PHI__SIDE_BUSY : error;
}

PHI__FN void phi__side_close(phi__side *side) { (void)side; }

#endif
