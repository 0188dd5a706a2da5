/* poller_kqueue.c - the poller on the BSDs and macOS.

   Written to the manual pages kqueue(2) of macOS and FreeBSD. Without an event list, kevent returns
   the error of a change in errno; each call here changes one filter, so a list of changes is never
   applied in part. Without EV_CLEAR a filter is level-triggered: the end of a stream (EV_EOF) and
   an error are reported again and again, by each filter that is watched. EVFILT_READ of a regular
   file is silent at the file's end, so owners do not watch regular files. A child of fork does not
   inherit the queue. */
#include "io/os_in.h"
#include "io/poller_in.h"

#if defined(PHI__POLLER_KQUEUE)

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__NetBSD__) && __NetBSD_Version__ < 1000000000
#define PHI__KQUEUE_UDATA(key) ((intptr_t)(key))
#else
#define PHI__KQUEUE_UDATA(key) ((void *)(uintptr_t)(key))
#endif

struct phi__poller {
    phi_memory *memory;
    int fd;
    pid_t process; /* the process that has the queue */
};

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    poller->process = getpid();
    poller->fd = kqueue();
    if (poller->fd < 0) {
        phi__free(memory, poller, sizeof *poller);
        return PHI_IO;
    }
    (void)fcntl(poller->fd, F_SETFD, FD_CLOEXEC);
    *out = poller;
    return PHI_OK;
}

/* In a child of fork the number of the descriptor is free, or another file of the child has it. */
PHI__FN void phi__poller_free(phi__poller *poller) {
    if (poller == NULL) return;
    if (poller->process == getpid()) (void)close(poller->fd);
    phi__free(poller->memory, poller, sizeof *poller);
}

/* Adds or deletes one filter. Returns an errno value. EINTR comes after the change was made. */
static int phi__poller_filter(phi__poller *poller, intptr_t fd, int filter, int flags,
                              uint32_t notes, uint32_t key) {
    struct kevent change;
    EV_SET(&change, (uintptr_t)fd, (short)filter, (unsigned short)flags, notes, 0,
           PHI__KQUEUE_UDATA(key));
    return kevent(poller->fd, &change, 1, NULL, 0, NULL) == 0 || errno == EINTR ? 0 : errno;
}

/* Adds a filter, or gives it this key if it is there already. FreeBSD, DragonFly and macOS do not
   watch the writing end of a pipe whose reader is gone: EPIPE. Such a pipe is ready, because its
   owner must see the error of a write. So an event of this process reports it until
   phi__poller_drop. */
static int phi__poller_add(phi__poller *poller, intptr_t fd, int filter, uint32_t key) {
    int error = phi__poller_filter(poller, fd, filter, EV_ADD, 0, key);
#if defined(EVFILT_USER)
    if (error == EPIPE && filter == (int)EVFILT_WRITE) {
        error = phi__poller_filter(poller, fd, (int)EVFILT_USER, EV_ADD, 0, key);
        /* a trigger in the call that adds the event is lost on FreeBSD */
        if (error == 0)
            error = phi__poller_filter(poller, fd, (int)EVFILT_USER, 0, NOTE_TRIGGER, key);
    }
#endif
    return error;
}

/* Deletes a filter. It may be missing: a descriptor that is closed takes its filters along. */
static void phi__poller_drop(phi__poller *poller, intptr_t fd, int filter) {
    int error = phi__poller_filter(poller, fd, filter, EV_DELETE, 0, 0);
#if defined(EVFILT_USER)
    if (error != 0 && filter == (int)EVFILT_WRITE)
        (void)phi__poller_filter(poller, fd, (int)EVFILT_USER, EV_DELETE, 0, 0);
#endif
    (void)error;
}

PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    int added = want & ~was, gone = was & ~want, error = 0;
    if ((gone & PHI__READ) != 0) phi__poller_drop(poller, fd, (int)EVFILT_READ);
    if ((gone & PHI__WRITE) != 0) phi__poller_drop(poller, fd, (int)EVFILT_WRITE);
    if ((added & PHI__READ) != 0) error = phi__poller_add(poller, fd, (int)EVFILT_READ, key);
    if (error == 0 && (added & PHI__WRITE) != 0) {
        error = phi__poller_add(poller, fd, (int)EVFILT_WRITE, key);
        if (error != 0 && (added & PHI__READ) != 0) phi__poller_drop(poller, fd, (int)EVFILT_READ);
    }
    if (error == 0) return PHI_OK;
    return error == ENOMEM ? PHI_NO_MEMORY : error == EBADF ? PHI_BAD_ARG : PHI_IO;
}

PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms,
                             phi__poller_event out[PHI__POLLER_BATCH]) {
    struct kevent events[PHI__POLLER_BATCH];
    struct timespec limit;
    int i, n;
    limit.tv_sec = timeout_ms < 0 ? 0 : timeout_ms / 1000;
    limit.tv_nsec = timeout_ms < 0 ? 0 : (long)(timeout_ms % 1000) * 1000000;
    n = kevent(poller->fd, NULL, 0, events, PHI__POLLER_BATCH, timeout_ms < 0 ? NULL : &limit);
    for (i = 0; i < n; i++) {
        out[i].key = (uint32_t)(uintptr_t)events[i].udata;
        out[i].have = (int)events[i].filter == (int)EVFILT_READ ? PHI__READ : PHI__WRITE;
    }
    return n < 0 ? 0 : n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) { return poller->fd; }

#endif
