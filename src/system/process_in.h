/* process_in.h - starting a program. system_in.h has the contract of processes. */
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
    int fds[3]; /* descriptors for 0, 1 and 2; each is 3 or more; -1: /dev/null */
} phi__spawn;

/* Returns 0 and sets *pid, or returns an errno value. The environment is built in `memory`. */
PHI__FN int phi__spawn_start(phi_memory *memory, const phi__spawn *spawn, int *pid);
#endif

#endif
