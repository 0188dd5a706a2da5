/* wake_posix.c - the wake-up as an eventfd on Linux, a pipe elsewhere. */
#include "io/os_in.h"
#include "io/wake_in.h"

#if defined(PHI__OS_POSIX)

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(PHI__OS_LINUX)
#include <sys/eventfd.h>

static bool phi__wake_make(int fds[2]) {
    fds[0] = fds[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fds[0] >= 0;
}

#else

static bool phi__wake_set(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool phi__wake_make(int fds[2]) {
    if (pipe(fds) != 0) return false;
    if (phi__wake_set(fds[0]) && phi__wake_set(fds[1])) return true;
    (void)close(fds[0]);
    (void)close(fds[1]);
    return false;
}

#endif

PHI__FN phi_status phi__wake_open(phi__wake *wake) {
    int fds[2];
    wake->read_fd = wake->write_fd = -1;
    wake->signalled = 0;
    wake->process = (intptr_t)getpid();
    if (!phi__wake_make(fds)) return PHI_IO;
    wake->read_fd = fds[0];
    wake->write_fd = fds[1];
    return PHI_OK;
}

PHI__FN void phi__wake_close(phi__wake *wake) {
    if (wake->read_fd >= 0) (void)close((int)wake->read_fd);
    if (wake->write_fd >= 0 && wake->write_fd != wake->read_fd) (void)close((int)wake->write_fd);
    wake->read_fd = wake->write_fd = -1;
}

PHI__FN bool phi__wake_own(const phi__wake *wake) { return wake->process == (intptr_t)getpid(); }

PHI__FN void phi__wake_signal(phi__wake *wake) {
    static const uint64_t one = 1; /* eventfd wants 8 bytes; a pipe does not mind */
    int kept = errno, idle = 0;
    if (PHI__CAS(&wake->signalled, &idle, 1))
        while (write((int)wake->write_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
    errno = kept;
}

/* Emptied first and re-armed after: a wake in between is swallowed, but its poster's writes are
   visible to a reader after the drain. The other order could leave it armed and empty. */
PHI__FN void phi__wake_drain(phi__wake *wake) {
    char bytes[64];
    ssize_t n;
    int signalled = 1;
    do n = read((int)wake->read_fd, bytes, sizeof bytes);
    while (n == (ssize_t)sizeof bytes || (n < 0 && errno == EINTR));
    (void)PHI__CAS(&wake->signalled, &signalled, 0);
}

#endif
