/* poller_poll.c - the poller for systems that have only poll(): an array indexed by key. Unused
   entries hold -1, which poll() skips. A call takes time for each watched descriptor. */
#include "io/os_in.h"
#include "io/poller_in.h"

#if defined(PHI__POLLER_POLL)

#include <poll.h>

struct phi__poller {
    phi_memory *memory;
    struct pollfd *fds;
    size_t len, cap;
    size_t cursor; /* where the next report starts, so each descriptor gets its turn */
};

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    *out = poller;
    return PHI_OK;
}

PHI__FN void phi__poller_free(phi__poller *poller) {
    if (poller == NULL) return;
    phi__free(poller->memory, poller->fds, poller->cap * sizeof *poller->fds);
    phi__free(poller->memory, poller, sizeof *poller);
}

PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    (void)was;
    if (want == 0) {
        if (key < poller->len) poller->fds[key].fd = -1;
        while (poller->len > 0 && poller->fds[poller->len - 1].fd < 0) poller->len--;
        return PHI_OK;
    }
    struct pollfd *fds = (struct pollfd *)phi__grow(poller->memory, poller->fds, &poller->cap,
                                                    (size_t)key + 1, sizeof *fds);
    if (fds == NULL) return PHI_NO_MEMORY;
    poller->fds = fds;
    while (poller->len <= key) {
        fds[poller->len].fd = -1;
        fds[poller->len].events = 0;
        fds[poller->len++].revents = 0;
    }
    fds[key].fd = (int)fd;
    fds[key].events =
        (short)(((want & PHI__READ) != 0 ? POLLIN : 0) | ((want & PHI__WRITE) != 0 ? POLLOUT : 0));
    fds[key].revents = 0;
    return PHI_OK;
}

PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms,
                             phi__poller_event out[PHI__POLLER_BATCH]) {
    int n = 0, left = poll(poller->fds, (nfds_t)poller->len, timeout_ms);
    size_t i;
    for (i = 0; i < poller->len && left > 0 && n < PHI__POLLER_BATCH; i++) {
        size_t at = (poller->cursor + i) % poller->len;
        int got = poller->fds[at].fd < 0 ? 0 : poller->fds[at].revents;
        bool broken = (got & (POLLHUP | POLLERR | POLLNVAL)) != 0;
        if (got == 0) continue;
        left--;
        out[n].key = (uint32_t)at;
        out[n++].have = ((got & POLLIN) != 0 || broken ? PHI__READ : 0) |
                        ((got & POLLOUT) != 0 || broken ? PHI__WRITE : 0);
    }
    if (poller->len > 0) poller->cursor = (poller->cursor + i) % poller->len;
    return n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) {
    (void)poller;
    return -1;
}

#endif
