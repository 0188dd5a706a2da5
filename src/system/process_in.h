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

/* Writes at most `most` bytes once. Returns what phi__stream_write returns. */
PHI__FN int phi__outgoing_write(phi__outgoing *out, phi__fd fd, size_t most);

/* Drops all bytes. Calling it twice is harmless. */
PHI__FN void phi__outgoing_free(phi__outgoing *out);

/* ---- variables.c ---- */

/* True if two variables "NAME=value" have the same name. */
PHI__FN bool phi__spawn_same_name(const char *a, const char *b);

/* True if a variable "NAME=value" most likely holds a secret: OPENAI_API_KEY, AWS_SESSION_TOKEN...
   GIT_CONFIG_KEY_0 does not: it names a setting. */
PHI__FN bool phi__spawn_is_key(const char *variable, const char *const *keep);

/* ---- process_posix.c, process_windows.c ----

   Errors are those of the system; 0 is success. */

typedef struct phi__spawn {
    const char *const *argv, *const *env, *const *keep_keys; /* as in phi__process_desc */
    const char *cwd;
    bool hide_keys, env_only;
    phi__fd fds[3]; /* ends of pipes, which become the child's 0, 1 and 2; -1: the null device */
} phi__spawn;

typedef struct phi__os_child {
    int id; /* the system's process id; on POSIX that of its group, too */
#if defined(PHI__OS_WINDOWS)
    phi__fd process, job; /* the job holds the child and all that it starts */
    bool terminated;
#endif
    /* set by phi__child_look; as in phi__process_desc.exited */
    int code, signal_number;
    bool lost; /* another part of the host took the exit status */
} phi__os_child;

/* Starts a child. Temporary texts are built in `memory`. */
PHI__FN int phi__child_start(phi_memory *memory, const phi__spawn *spawn, phi__os_child *child);

/* Returns the status of an error of phi__child_start or phi__child_pipe, as phi__process_new has
   it. */
PHI__FN phi_status phi__child_refusal(int error, const char *cwd);

/* True if the child has exited. It stays a zombie, so that nothing else gets its number. */
PHI__FN bool phi__child_look(phi__os_child *child);

/* Kills the child and its descendants. Only before phi__child_reap, after which others may have
   the number. */
PHI__FN void phi__child_kill(const phi__os_child *child);

/* Kills what the child has started, and removes the zombie. */
PHI__FN void phi__child_reap(phi__os_child *child);
PHI__FN void phi__child_terminate(phi__os_child *child);

/* Returns a descriptor that becomes readable at the exit; the caller closes it with
   phi__stream_close. -1: the system has none. */
PHI__FN phi__fd phi__child_exit_fd(const phi__os_child *child);
PHI__FN void phi__child_pause(void); /* sleeps for about a millisecond */

/* Makes a pipe. Our end does not block. *childs is for phi__spawn.fds; phi__child_end_close closes
   it. After an error, ends that were made are set, else they are -1. */
PHI__FN int phi__child_pipe(phi__io *io, bool we_read, phi__fd *ours, phi__fd *childs);
PHI__FN void phi__child_end_close(phi__fd childs);

enum { PHI__STREAM_LATER = -2 }; /* the stream is empty or full now */

/* Read or write once, on our end of a pipe. 0 with *got 0: the stream has ended. */
PHI__FN int phi__stream_read(phi__fd fd, char *out, size_t n, size_t *got);
PHI__FN int phi__stream_write(phi__fd fd, const char *bytes, size_t n, size_t *wrote);
PHI__FN void phi__stream_close(phi__fd fd);
#endif

#endif
