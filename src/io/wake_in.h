/* wake_in.h - wakes the pump with a descriptor that another thread or a signal handler makes
   readable.

   Wakes are merged: between two drains at most one reaches the kernel. A thread's writes before a
   wake are visible to the pumping thread after the drain that swallowed the wake. */
#ifndef PHI_IO_WAKE_IN_H
#define PHI_IO_WAKE_IN_H

#include "io/io_in.h"

typedef struct phi__wake {
    intptr_t read_fd, write_fd; /* one eventfd or socket, or both ends of a pipe; -1: not open */
    PHI__ATOMIC(int) signalled;
    intptr_t process; /* the process that opened it */
} phi__wake;

/* Fills `out` with bytes made of clocks, addresses and the process's number: not secret. */
PHI__FN void phi__clock_mix(unsigned char *out, size_t len, uint64_t process);

PHI__FN phi_status phi__wake_open(phi__wake *wake);
PHI__FN void phi__wake_close(phi__wake *wake);  /* may be called if not open */
PHI__FN void phi__wake_signal(phi__wake *wake); /* any thread, async-signal-safe, keeps errno */
PHI__FN void phi__wake_drain(phi__wake *wake);
PHI__FN bool phi__wake_own(const phi__wake *wake); /* false in a child of fork */

#endif
