/* posix.c - the system's error messages, and writes without a signal.

   A write to a pipe without a reader raises SIGPIPE, one past RLIMIT_FSIZE raises SIGXFSZ, and
   either ends a host without a handler. Both are sent to the writing thread, so that blocking them
   there and taking a new one out of the queue leaves no trace. */
#include "io/posix_in.h"

#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES) || !defined(PHI_NO_LISTEN)

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

PHI__FN void phi__posix_words(int error, char *out, size_t size) {
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    char room[128];
    const char *words = strerror_r(error, room, sizeof room); /* GNU: may not use room */
    (void)snprintf(out, size, "%s", words);
#else
    if (strerror_r(error, out, size) != 0) (void)snprintf(out, size, "system error %d", error);
#endif
}

/* Consumes a SIGPIPE that the write made pending; a SIGPIPE that was pending before stays. */
static void phi__posix_take(const sigset_t *before, int signal_number) {
    sigset_t one, now;
    if (sigismember(before, signal_number) == 1) return;
    if (sigpending(&now) != 0 || sigismember(&now, signal_number) != 1) return;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, signal_number);
#if defined(__APPLE__)
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

/* sigprocmask and not pthread_sigmask: it sets the calling thread's mask on every system we know,
   and needs no thread library. */
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
