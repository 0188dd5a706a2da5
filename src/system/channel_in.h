/* channel_in.h - two descriptors of our own process, as a stream of bytes in and one out: what a
   program that serves its parent over stdin and stdout talks through.

   The descriptors may be shared with other processes (a terminal, a pipe of the shell), so their
   flags stay as they are: each read and write follows a poll that says it cannot wait, and a write
   is at most PIPE_BUF bytes. One other reader or writer of the same descriptor can still make such
   a call wait. Files and devices that no poller takes are read by a timer, 16 KiB a step.

   Ownership: the caller's until phi__channel_free, which closes neither descriptor and drops the
   queued bytes. Free it before the phi__io.
   Callbacks: on the pumping thread, never inside a function of this file; every function here may
   be called inside them. Threads: the pumping thread. */
#ifndef PHI_SYSTEM_CHANNEL_IN_H
#define PHI_SYSTEM_CHANNEL_IN_H

#include "io/io_in.h"

#ifndef PHI_NO_PROCESS

typedef struct phi__channel phi__channel;

typedef struct phi__channel_desc {
    int in_fd;            /* default 0: stdin */
    int out_fd;           /* default 0: stdout, which is 1. Not equal to in_fd */
    size_t max_out_bytes; /* that wait for the reader (default 1 MiB) */
    /* Bytes of in_fd, at most 16 KiB a turn; borrowed until it returns. False stops the reading
       until phi__channel_resume. */
    bool (*input)(void *ctx, const char *bytes, size_t len);
    /* After a write that was not taken whole: half of the queue is free. May be NULL. */
    void (*room)(void *ctx);
    /* Once, and no `input` after it. PHI_OK: the end of in_fd; queued bytes are still sent.
       PHI_IO: in_fd cannot be read, or nobody reads out_fd any more: writes are refused from now.
       The message is borrowed until it returns. */
    void (*ended)(void *ctx, phi_status status, const char *message);
    void *ctx;
} phi__channel_desc;

/* PHI_BAD_ARG: a descriptor is not open, or both are the same; PHI_NO_MEMORY. */
PHI__FN phi_status phi__channel_new(phi__io *io, const phi__channel_desc *desc, phi__channel **out);
PHI__FN void phi__channel_resume(phi__channel *channel);
/* Queues bytes, copied. Never waits. PHI_OK: *taken says how many, perhaps fewer than len: `room`
   follows. PHI_STALE: nobody reads out_fd any more (after `ended` only this tells). PHI_NO_MEMORY:
   none was taken. */
PHI__FN phi_status phi__channel_write(phi__channel *channel, const char *bytes, size_t len,
                                      size_t *taken);
PHI__FN size_t phi__channel_waiting(const phi__channel *channel); /* bytes that are queued */
PHI__FN void phi__channel_free(phi__channel *channel);            /* NULL is harmless */

#endif
#endif
