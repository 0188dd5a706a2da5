/* poller_in.h - reports which descriptors are ready, with epoll, kqueue, AFD or poll, chosen at
   build time, or with the host's loop.

   A descriptor is identified by the key that its owner gave it. The poller is level-triggered. An
   error or a hang-up counts as ready for reading and writing. */
#ifndef PHI_IO_POLLER_IN_H
#define PHI_IO_POLLER_IN_H

#include "io/io_in.h"

typedef struct phi__poller phi__poller;

enum { PHI__POLLER_BATCH = 64 }; /* max. descriptors that one wait reports */

typedef struct phi__poller_event {
    uint32_t key;
    int have; /* PHI__READ, PHI__WRITE */
} phi__poller_event;

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out);
PHI__FN void phi__poller_free(phi__poller *poller); /* NULL is allowed */

/* Changes how fd is watched under a small unique `key`. want 0: fd is not watched any more; this
   never fails. */
PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key);

/* Waits up to timeout_ms (<0: without limit) and returns the number of reported descriptors. A
   signal ends the wait with 0. A descriptor may be reported twice, for reading and for writing. */
PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms,
                             phi__poller_event out[PHI__POLLER_BATCH]);
PHI__FN intptr_t phi__poller_fd(const phi__poller *poller); /* one descriptor for all; -1: none */

/* For a host's loop: a map from descriptors to keys, which are not 0. */
typedef struct phi__fd_map {
    phi__map keys; /* a key is stored as an address */
} phi__fd_map;

PHI__FN void phi__fd_map_init(phi__fd_map *map, phi_memory *memory);
PHI__FN void phi__fd_map_free(phi__fd_map *map);
PHI__FN bool phi__fd_map_put(phi__fd_map *map, intptr_t fd, uint32_t key); /* false: no memory */
PHI__FN uint32_t phi__fd_map_get(const phi__fd_map *map, intptr_t fd);     /* 0: unknown */
PHI__FN void phi__fd_map_remove(phi__fd_map *map, intptr_t fd);

#endif
