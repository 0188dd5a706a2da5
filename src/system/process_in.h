/* process_in.h - starting a program, and bytes that wait to be written. system_in.h has the
   contracts of processes and channels. */
#ifndef PHI_SYSTEM_PROCESS_IN_H
#define PHI_SYSTEM_PROCESS_IN_H

#include "system/system_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_PROCESS
/* Bytes that wait to be written to a descriptor. */
typedef struct phi__outgoing {
    phi__buf bytes;
    size_t at; /* how many of `bytes` were written; fewer than bytes.len, or both are 0 */
} phi__outgoing;

static inline size_t phi__outgoing_waits(const phi__outgoing *out) {
    return out->bytes.len - out->at;
}

/* Appends as many of the bytes as fit into a queue of `most` bytes; *taken says how many.
   PHI_NO_MEMORY: no byte was appended, and the bytes queued before are intact. */
PHI__FN phi_status phi__outgoing_add(phi__outgoing *out, const char *bytes, size_t len, size_t most,
                                     size_t *taken);

/* Writes at most `most` bytes once. Returns an errno value; a full descriptor is EAGAIN. */
PHI__FN int phi__outgoing_write(phi__outgoing *out, int fd, size_t most);

/* Drops all bytes. Calling it twice is harmless. */
PHI__FN void phi__outgoing_free(phi__outgoing *out);

typedef struct phi__spawn {
    const char *const *argv, *const *env, *const *keep_keys; /* as in phi__process_desc */
    const char *cwd;
    bool hide_keys, env_only;
    int fds[3]; /* descriptors that become the child's 0, 1 and 2; each 3 or more; -1: /dev/null */
} phi__spawn;

/* Returns 0 and sets *pid, or returns an errno value. The environment is built in `memory`. */
PHI__FN int phi__spawn_start(phi_memory *memory, const phi__spawn *spawn, int *pid);
#endif

#endif
