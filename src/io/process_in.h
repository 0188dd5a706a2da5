/* process_in.h - child processes as streams: spawned without waiting, read as bytes arrive, killed
   as a group, reaped without blocking.

   A child leads a process group of its own, starts with default signals and an empty signal mask,
   in the host's environment with the desc's additions, and holds no descriptor but its three
   streams (where the system cannot close the rest: none of phi's). When it has exited, the rest of
   its group is killed: no background process that it started outlives it, unless that left the
   group.

   A host that ignores SIGCHLD, or waits for any child itself, takes the exit status from us: such
   a child is reported as exited with code -1 and signal 0, and its group is left alone, since its
   number may belong to others by then.

   Ownership: a phi__process belongs to its caller until phi__process_free, which kills and forgets
   it; reaping goes on in the pump, and phi__io_pending says whether there is some to do. All must
   be freed before the phi__io; phi__io_free waits at most 50 ms for each that was killed but is not
   dead yet, and leaves it to the system then.
   Callbacks: every function here may be called inside `output` and `exited`. */
#ifndef PHI_IO_PROCESS_IN_H
#define PHI_IO_PROCESS_IN_H

#include "io/io_in.h"

#ifndef PHI_NO_PROCESS

typedef struct phi__process phi__process;

typedef struct phi__process_desc {
    const char *const *argv; /* NULL-ended; copied; argv[0] is looked up in PATH */
    const char *cwd;         /* NULL: the host's */
    /* "NAME=value", NULL-ended, added to or replacing the host's; NULL: none */
    const char *const *env;
    bool hide_keys; /* the host's variables whose names look like keys are left out */
    phi_str input; /* written to the child's stdin, then closed; copied. None: stdin is /dev/null */
    /* Bytes of stdout (1) or stderr (2), on the pumping thread, at most 16 KiB a stream and turn;
       borrowed until it returns. False stops the reading of that stream until
       phi__process_resume. */
    bool (*output)(void *ctx, int stream, const char *bytes, size_t len);
    /* Once: exited with `code`, or -1 with `signal_number` not 0. Both streams were read to their
       end before it, or for at most 100 ms of the io's clock after the exit (and then 1 MiB) when a
       grandchild holds them open. A stopped stream is waited for. */
    void (*exited)(void *ctx, int code, int signal_number);
    void *ctx;
} phi__process_desc;

/* PHI_BUSY: no start was free this step, or the system is out of descriptors or processes: try
   again; PHI_NOT_FOUND: no such program; PHI_IO: the system refused; PHI_UNSUPPORTED: no cwd here.
   Words of the system's go to `words`, terminated; may be NULL with size 0. */
PHI__FN phi_status phi__process_new(phi__io *io, const phi__process_desc *desc, phi__process **out,
                                    char *words, size_t words_size);

PHI__FN void phi__process_resume(phi__process *process);
/* Kills if alive; no callback after it. NULL is harmless. */
PHI__FN void phi__process_free(phi__process *process);

#endif
#endif
