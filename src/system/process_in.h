/* process_in.h - child processes as streams: spawned without waiting, read as bytes arrive, killed
   as a group, reaped without blocking.

   A child leads a process group of its own, starts with default signals and an empty signal mask,
   in the host's environment with the desc's additions, and holds no descriptor but its three
   streams (where the system cannot close the rest: none of phi's). When it has exited, the rest of
   its group is killed: no background process that it started outlives it, unless that left the
   group.

   A conversation: with keep_input, stdin stays open and phi__process_write queues bytes for it. To
   end one, end its input, later terminate it, and later free it: the caller owns these deadlines.

   A host that ignores SIGCHLD, or waits for any child itself, takes the exit status from us: such
   a child is reported as exited with code -1 and signal 0, and its group is left alone, since its
   number may belong to others by then.

   Ownership: a phi__process belongs to its caller until phi__process_free, which kills and forgets
   it; reaping goes on in the pump, and phi__io_pending says whether there is some to do. All must
   be freed before the phi__io; phi__io_free waits at most 50 ms for each that was killed but is not
   dead yet, and leaves it to the system then.
   Callbacks: every function here may be called inside `output`, `room` and `exited`. */
#ifndef PHI_SYSTEM_PROCESS_IN_H
#define PHI_SYSTEM_PROCESS_IN_H

#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_PROCESS
typedef struct phi__process phi__process;

typedef struct phi__spawn {
    const char *const *argv, *const *env, *const *keep_keys; /* as in phi__process_desc */
    const char *cwd;
    bool hide_keys, env_only;
    int fds[3]; /* become 0, 1 and 2; each is 3 or more; -1: /dev/null */
} phi__spawn;

/* 0 and *pid, or an errno value. `memory` holds the environment until it returns. */
PHI__FN int phi__spawn_start(phi_memory *memory, const phi__spawn *spawn, int *pid);

typedef struct phi__process_desc {
    const char *const *argv; /* NULL-ended; copied; argv[0] is looked up in PATH */
    const char *cwd;         /* NULL: the host's */
    /* "NAME=value", NULL-ended, added to or replacing the host's; NULL: none */
    const char *const *env;
    bool hide_keys;               /* the host's variables whose names look like keys are left out */
    const char *const *keep_keys; /* NULL-ended names that hide_keys leaves in; NULL: none */
    bool env_only;                /* the child's environment is `env`, and nothing of the host's */
    /* Written to the child's stdin, which is then closed; copied. None, without keep_input: stdin
       is /dev/null. */
    phi_str input;
    bool keep_input;        /* stdin stays open until phi__process_end_input */
    size_t max_input_bytes; /* with keep_input, of bytes that wait for the child (default 1 MiB) */
    /* After a write that was not taken whole: half of the queue is free. On the pumping thread; may
       be NULL. */
    void (*room)(void *ctx);
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

/* With keep_input: queues bytes for the child's stdin, copied, and writes what fits at once. Never
   waits. PHI_OK: *taken says how many, perhaps fewer than len: `room` follows. PHI_STALE: stdin is
   closed, by phi__process_end_input, by the child or by its end. PHI_NO_MEMORY: none was taken. */
PHI__FN phi_status phi__process_write(phi__process *process, const char *bytes, size_t len,
                                      size_t *taken);

/* Closes stdin once the child has read the queued bytes. Harmless when it is closed. */
PHI__FN void phi__process_end_input(phi__process *process);

/* Sends SIGTERM to the child's group. Harmless when it has exited. */
PHI__FN void phi__process_terminate(phi__process *process);
PHI__FN int phi__process_id(const phi__process *process); /* the system's number of it */

/* Kills if alive; no callback after it. NULL is harmless. */
PHI__FN void phi__process_free(phi__process *process);
#endif

#endif
