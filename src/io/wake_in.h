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
static inline void phi__clock_mix(unsigned char *out, size_t len, uint64_t process) {
    uint64_t x = phi__clock_us() ^ (process << 40) ^ (uint64_t)(uintptr_t)out ^
                 (uint64_t)phi__clock_wall_ms() * 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < len; i++) { /* the generator splitmix64 */
        uint64_t z = (x += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        out[i] = (unsigned char)((z ^ (z >> 31)) & 0xFF);
    }
}

PHI__FN phi_status phi__wake_open(phi__wake *wake);
PHI__FN void phi__wake_close(phi__wake *wake);  /* may be called if not open */
PHI__FN void phi__wake_signal(phi__wake *wake); /* any thread, async-signal-safe, keeps errno */
PHI__FN void phi__wake_drain(phi__wake *wake);
PHI__FN bool phi__wake_own(const phi__wake *wake); /* false in a child of fork */

#endif
