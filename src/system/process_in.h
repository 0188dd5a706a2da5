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

#include "system/system_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_PROCESS
typedef struct phi__spawn {
    const char *const *argv, *const *env, *const *keep_keys; /* as in phi__process_desc */
    const char *cwd;
    bool hide_keys, env_only;
    int fds[3]; /* become 0, 1 and 2; each is 3 or more; -1: /dev/null */
} phi__spawn;

/* 0 and *pid, or an errno value. `memory` holds the environment until it returns. */
PHI__FN int phi__spawn_start(phi_memory *memory, const phi__spawn *spawn, int *pid);
#endif

#endif
