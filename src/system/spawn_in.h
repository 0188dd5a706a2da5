/* spawn_in.h - starts a program with three given descriptors, by posix_spawn only: fork
   would copy the page tables of the host, which takes tens of milliseconds when it is large. */
#ifndef PHI_SYSTEM_SPAWN_IN_H
#define PHI_SYSTEM_SPAWN_IN_H

#include "base/base_in.h"

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
