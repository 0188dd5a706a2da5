/* poller_epoll.c - the poller on Linux. */
#include "io/os_in.h"
#include "io/poller_in.h"

#if defined(PHI__POLLER_EPOLL)

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

struct phi__poller {
    phi_memory *memory;
    int fd;
};

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    poller->fd = epoll_create1(EPOLL_CLOEXEC);
    if (poller->fd < 0) {
        phi__free(memory, poller, sizeof *poller);
        return PHI_IO;
    }
    *out = poller;
    return PHI_OK;
}

PHI__FN void phi__poller_free(phi__poller *poller) {
    if (poller == NULL) return;
    (void)close(poller->fd);
    phi__free(poller->memory, poller, sizeof *poller);
}

static phi_status phi__poller_status(void) {
    switch (errno) {
    case ENOMEM:
    case ENOSPC: return PHI_NO_MEMORY;
    case EBADF: return PHI_BAD_ARG;
    default: return PHI_IO;
    }
}

/* A descriptor that was closed and opened again may not be in the set any more, or may be in it
   though `was` is 0. Then the call uses the other operation. */
PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    int op = was != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    struct epoll_event event = PHI_ZERO;
    event.events = ((want & PHI__READ) != 0 ? (uint32_t)EPOLLIN : 0u) |
                   ((want & PHI__WRITE) != 0 ? (uint32_t)EPOLLOUT : 0u);
    event.data.u32 = key;
    if (want == 0) {
        if (was != 0) (void)epoll_ctl(poller->fd, EPOLL_CTL_DEL, (int)fd, &event);
        return PHI_OK;
    }
    if (epoll_ctl(poller->fd, op, (int)fd, &event) == 0) return PHI_OK;
    if (errno == ENOENT && op == EPOLL_CTL_MOD)
        op = EPOLL_CTL_ADD;
    else if (errno == EEXIST && op == EPOLL_CTL_ADD)
        op = EPOLL_CTL_MOD;
    else
        return phi__poller_status();
    return epoll_ctl(poller->fd, op, (int)fd, &event) == 0 ? PHI_OK : phi__poller_status();
}

PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms,
                             phi__poller_event out[PHI__POLLER_BATCH]) {
    struct epoll_event events[PHI__POLLER_BATCH];
    int n = epoll_wait(poller->fd, events, PHI__POLLER_BATCH, timeout_ms);
    for (int i = 0; i < n; i++) {
        uint32_t e = events[i].events;
        bool broken = (e & ((uint32_t)EPOLLHUP | (uint32_t)EPOLLERR)) != 0;
        out[i].key = events[i].data.u32;
        out[i].have = ((e & (uint32_t)EPOLLIN) != 0 || broken ? PHI__READ : 0) |
                      ((e & (uint32_t)EPOLLOUT) != 0 || broken ? PHI__WRITE : 0);
    }
    return n < 0 ? 0 : n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) { return poller->fd; }

#endif
