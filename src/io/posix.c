/* posix.c - the system's error messages, writes without signals, clocks, random bytes and the
   wake-up.

   A write to a pipe without a reader raises SIGPIPE, and a write past RLIMIT_FSIZE raises SIGXFSZ.
   Each would end a host without a handler. Both signals are sent to the writing thread, so blocking
   them there and consuming a new one leaves no trace. macOS sends SIGPIPE to the process: a thread
   that does not block it may take it. So phi's own pipes and sockets raise none there. */

#include "io/os_in.h"
#include "io/wake_in.h"

#if defined(PHI__OS_POSIX)
#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES) || !defined(PHI_NO_LISTEN)

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

PHI__FN void phi__os_words(int error, char *out, size_t size) {
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    char room[128];
    const char *words = strerror_r(error, room, sizeof room); /* GNU: may not use `room` */
    (void)snprintf(out, size, "%s", words);
#else
    if (strerror_r(error, out, size) != 0) (void)snprintf(out, size, "system error %d", error);
#endif
}

/* Consumes a signal that the write made pending. A signal that was pending before stays. */
static void phi__posix_take(const sigset_t *before, int signal_number) {
    sigset_t one, now;
    if (sigismember(before, signal_number) == 1) return;
    if (sigpending(&now) != 0 || sigismember(&now, signal_number) != 1) return;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, signal_number);
#if defined(__APPLE__) || defined(__OpenBSD__) /* without sigtimedwait */
    {
        int got;
        (void)sigwait(&one, &got);
    }
#else
    {
        struct timespec zero;
        memset(&zero, 0, sizeof zero);
        while (sigtimedwait(&one, NULL, &zero) < 0 && errno == EINTR) continue;
    }
#endif
}

/* Uses sigprocmask, which needs no thread library and sets only the calling thread's mask. */
PHI__FN int phi__posix_write(int fd, const char *bytes, size_t n, size_t *wrote) {
    sigset_t hold, mask, before;
    ssize_t got;
    int error = 0;
    *wrote = 0;
    (void)sigemptyset(&hold);
    (void)sigaddset(&hold, SIGPIPE);
    (void)sigaddset(&hold, SIGXFSZ);
    (void)sigemptyset(&before);
    (void)sigprocmask(SIG_BLOCK, &hold, &mask);
    (void)sigpending(&before);
    do got = write(fd, bytes, n);
    while (got < 0 && errno == EINTR);
    if (got < 0) error = errno;
    if (error == EPIPE) phi__posix_take(&before, SIGPIPE);
    if (error == EFBIG) phi__posix_take(&before, SIGXFSZ);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    if (got > 0) *wrote = (size_t)got;
    return error;
}

#endif

/* ---- clocks and random bytes ---- */

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#if defined(PHI__OS_LINUX) || defined(PHI__OS_MACOS)
#include <sys/random.h>
#endif

PHI__FN uint64_t phi__clock_us(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

PHI__FN int64_t phi__clock_wall_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + (int64_t)(now.tv_nsec / 1000000);
}

/* Makes one call to the kernel. Returns the number of random bytes that it gave, or 0. */
static size_t phi__clock_kernel_random(char *out, size_t len) {
#if defined(PHI__OS_LINUX)
    ssize_t n = getrandom(out, len, 0);
    while (n < 0 && errno == EINTR) n = getrandom(out, len, 0);
    return n > 0 ? (size_t)n : 0;
#elif defined(PHI__OS_BSD)
    size_t n = phi__min(len, 256); /* getentropy gives at most 256 bytes */
    return getentropy(out, n) == 0 ? n : 0;
#else
    (void)out;
    (void)len;
    return 0;
#endif
}

#if defined(PHI_NO_FILES)
static size_t phi__clock_device_random(char *out, size_t len) {
    (void)out;
    (void)len;
    return 0;
}
#else
static size_t phi__clock_device_random(char *out, size_t len) {
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    if (fd < 0) return 0;
    while (done < len) {
        ssize_t n = read(fd, out + done, len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    (void)close(fd);
    return done;
}
#endif

PHI__FN void phi__clock_random(void *out, size_t len) {
    char *at = (char *)out;
    while (len > 0) {
        size_t n = phi__clock_kernel_random(at, len);
        if (n == 0) n = phi__clock_device_random(at, len);
        if (n == 0) {
            phi__clock_mix((unsigned char *)at, len, (uint64_t)getpid());
            n = len;
        }
        at += n;
        len -= n;
    }
}

/* ---- the wake-up: an eventfd on Linux, a pipe elsewhere ---- */

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
    static const uint64_t one = 1; /* an eventfd needs 8 bytes; a pipe accepts any number */
    int kept = errno, idle = 0;
    if (PHI__CAS(&wake->signalled, &idle, 1))
        while (write((int)wake->write_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
    errno = kept;
}

/* Empties the descriptor first, and then allows wakes again. A wake in between is swallowed, but
   the writes of its thread are visible after the drain. In the other order such a wake could keep
   all later ones from the kernel. */
PHI__FN void phi__wake_drain(phi__wake *wake) {
    char bytes[64];
    ssize_t n;
    int signalled = 1;
    do n = read((int)wake->read_fd, bytes, sizeof bytes);
    while (n == (ssize_t)sizeof bytes || (n < 0 && errno == EINTR));
    (void)PHI__CAS(&wake->signalled, &signalled, 0);
}

#endif
