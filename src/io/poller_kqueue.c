/* poller_kqueue.c - the poller on the BSDs and macOS. */
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
};

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    poller->fd = kqueue();
    if (poller->fd < 0) {
        phi__free(memory, poller, sizeof *poller);
        return PHI_IO;
    }
    (void)fcntl(poller->fd, F_SETFD, FD_CLOEXEC);
    *out = poller;
    return PHI_OK;
}

PHI__FN void phi__poller_free(phi__poller *poller) {
    if (poller == NULL) return;
    (void)close(poller->fd);
    phi__free(poller->memory, poller, sizeof *poller);
}

/* Adds or deletes one filter. Deleting a missing filter is no error. */
static bool phi__poller_filter(phi__poller *poller, intptr_t fd, int filter, bool add,
                               uint32_t key) {
    struct kevent change;
    EV_SET(&change, (uintptr_t)fd, (short)filter, add ? EV_ADD : EV_DELETE, 0, 0,
           PHI__KQUEUE_UDATA(key));
    return kevent(poller->fd, &change, 1, NULL, 0, NULL) == 0 || !add;
}

PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    int added = want & ~was, gone = was & ~want;
    bool ok = true;
    if ((gone & PHI__READ) != 0) (void)phi__poller_filter(poller, fd, EVFILT_READ, false, key);
    if ((gone & PHI__WRITE) != 0) (void)phi__poller_filter(poller, fd, EVFILT_WRITE, false, key);
    if ((added & PHI__READ) != 0) ok = phi__poller_filter(poller, fd, EVFILT_READ, true, key);
    if (ok && (added & PHI__WRITE) != 0) {
        ok = phi__poller_filter(poller, fd, EVFILT_WRITE, true, key);
        if (!ok && (added & PHI__READ) != 0)
            (void)phi__poller_filter(poller, fd, EVFILT_READ, false, key);
    }
    if (ok) return PHI_OK;
    return errno == ENOMEM ? PHI_NO_MEMORY : errno == EBADF ? PHI_BAD_ARG : PHI_IO;
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
        out[i].have = (int)events[i].filter == (int)EVFILT_WRITE ? PHI__WRITE : PHI__READ;
    }
    return n < 0 ? 0 : n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) { return poller->fd; }

#endif
