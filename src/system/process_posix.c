/* process_posix.c - the POSIX calls of processes: posix_spawn, pipes, waiting, killing.

   fork would copy the host's page tables, which takes tens of milliseconds for a large host. */
#include "system/process_in.h"

#include "base/base_in.h"
#include "io/io_in.h"

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_PROCESS)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- starting a program ---- */

/* The features of this system's posix_spawn. PHI__SPAWN_PLAIN disables them, for tests. */
#if defined(__GLIBC__) && !defined(PHI__SPAWN_PLAIN)
#if __GLIBC_PREREQ(2, 29)
#define PHI__SPAWN_CHDIR
#endif
#if __GLIBC_PREREQ(2, 34)
#define PHI__SPAWN_CLOSE
#endif
#elif defined(__APPLE__) && !defined(PHI__SPAWN_PLAIN)
#define PHI__SPAWN_CHDIR
#endif

/* A session is also a group, but has no terminal, so a child cannot draw on the host's terminal. */
#if defined(POSIX_SPAWN_SETSID) && !defined(PHI__SPAWN_PLAIN)
#define PHI__SPAWN_APART POSIX_SPAWN_SETSID
#else
#define PHI__SPAWN_APART POSIX_SPAWN_SETPGROUP
#endif

#if defined(__APPLE__)
#include <crt_externs.h>
static char **phi__spawn_host_environment(void) { return *_NSGetEnviron(); }
#else
#if defined(PHI__OS_BSD) /* no header of the BSDs declares it */
#ifdef __cplusplus
extern "C" char **environ;
#else
extern char **environ;
#endif
#endif
static char **phi__spawn_host_environment(void) { return environ; }
#endif

/* Returns `env` and the host's wanted variables that are not in `env`. NULL: no memory. */
static char **phi__spawn_environment(phi_memory *memory, const phi__spawn *spawn, size_t *bytes) {
    char **host = phi__spawn_host_environment();
    const char *const *env = spawn->env;
    size_t hosts = 0, added = 0, n = 0, k;
    while (!spawn->env_only && host != NULL && host[hosts] != NULL) hosts++;
    while (env != NULL && env[added] != NULL) added++;
    *bytes = (hosts + added + 1) * sizeof(char *);
    char **out = (char **)phi__alloc(memory, *bytes);
    if (out == NULL) return NULL;
    for (size_t i = 0; i < hosts; i++) {
        for (k = 0; k < added && !phi__spawn_same_name(env[k], host[i]); k++) continue;
        if (k < added || (spawn->hide_keys && phi__spawn_is_key(host[i], spawn->keep_keys)))
            continue;
        out[n++] = host[i];
    }
    for (k = 0; k < added; k++) out[n++] = (char *)(uintptr_t)env[k]; /* posix_spawn's signature */
    return out;
}

static int phi__spawn_actions(posix_spawn_file_actions_t *actions, const phi__spawn *spawn) {
    int i, error = 0;
    for (i = 0; i < 3 && error == 0; i++)
        error = spawn->fds[i] < 0 ? posix_spawn_file_actions_addopen(
                                        actions, i, "/dev/null", i == 0 ? O_RDONLY : O_WRONLY, 0)
                                  : posix_spawn_file_actions_adddup2(actions, spawn->fds[i], i);
#if defined(PHI__SPAWN_CLOSE)
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
#if defined(PHI__SPAWN_CHDIR)
    if (error == 0 && spawn->cwd != NULL)
        error = posix_spawn_file_actions_addchdir_np(actions, spawn->cwd);
#endif
    return error;
}

/* Sets a new session or group, no blocked signals, and default dispositions of all signals. */
static int phi__spawn_attributes(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    int flags = PHI__SPAWN_APART | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF, error;
#if defined(__APPLE__)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGKILL);
    (void)sigdelset(&all, SIGSTOP);
    error = posix_spawnattr_setflags(attributes, (short)flags);
    if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0) error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
    return error;
}

static int phi__spawn_call(const phi__spawn *spawn, char **environment, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = phi__spawn_actions(&actions, spawn);
        if (error == 0) error = phi__spawn_attributes(&attributes);
        if (error == 0)
            error = posix_spawnp(pid, spawn->argv[0], &actions, &attributes,
                                 (char *const *)(uintptr_t)spawn->argv, environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* If posix_spawn cannot change the directory, a shell changes it, and then replaces itself by the
   program in the same process. One difference: if there is no such program, the shell exits with
   code 127. */
#if !defined(PHI__SPAWN_CHDIR)
static int phi__spawn_by_shell(phi_memory *memory, const phi__spawn *spawn, char **environment,
                               pid_t *pid) {
    static const char *const head[] = {"sh", "-c", "cd -- \"$0\" && exec \"$@\""};
    phi__spawn shell = *spawn;
    size_t n = 0, bytes, i;
    const char **argv;
    int error;
    while (spawn->argv[n] != NULL) n++;
    bytes = (n + 5) * sizeof *argv;
    argv = (const char **)phi__alloc(memory, bytes);
    if (argv == NULL) return ENOMEM;
    for (i = 0; i < 3; i++) argv[i] = head[i];
    argv[3] = spawn->cwd;
    for (i = 0; i < n; i++) argv[4 + i] = spawn->argv[i];
    shell.argv = argv;
    error = phi__spawn_call(&shell, environment, pid);
    phi__free(memory, (void *)argv, bytes);
    return error;
}
#endif

PHI__FN int phi__child_start(phi_memory *memory, const phi__spawn *spawn, phi__os_child *child) {
    size_t bytes;
    char **environment = phi__spawn_environment(memory, spawn, &bytes);
    pid_t pid = 0;
    int error;
    if (environment == NULL) return ENOMEM;
#if defined(PHI__SPAWN_CHDIR)
    error = phi__spawn_call(spawn, environment, &pid);
#else
    error = spawn->cwd == NULL ? phi__spawn_call(spawn, environment, &pid)
                               : phi__spawn_by_shell(memory, spawn, environment, &pid);
#endif
    phi__free(memory, (void *)environment, bytes);
    child->id = (int)pid;
    return error;
}

/* A missing program and a missing directory have the same errno. */
PHI__FN phi_status phi__child_refusal(int error, const char *cwd) {
    bool has_cwd = cwd == NULL;
#if !defined(PHI_NO_FILES)
    struct stat info;
    has_cwd = has_cwd || stat(cwd, &info) == 0;
#endif
    if (error == EMFILE || error == ENFILE || error == EAGAIN) return PHI_BUSY;
    if (error == ENOMEM) return PHI_NO_MEMORY;
    return error == ENOENT && has_cwd ? PHI_NOT_FOUND : PHI_IO;
}

/* ---- a running child ---- */

PHI__FN bool phi__child_look(phi__os_child *child) {
    int result;
    siginfo_t info = PHI_ZERO;
    do result = waitid(P_PID, (id_t)child->id, &info, WEXITED | WNOHANG | WNOWAIT);
    while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0) return false;
    child->lost = result < 0;
    child->code = !child->lost && info.si_code == CLD_EXITED ? info.si_status : -1;
    child->signal_number = !child->lost && info.si_code != CLD_EXITED ? info.si_status : 0;
    return true;
}

PHI__FN void phi__child_kill(const phi__os_child *child) {
    if (!child->lost) (void)kill(-(pid_t)child->id, SIGKILL);
}

PHI__FN void phi__child_reap(phi__os_child *child) {
    siginfo_t info;
    phi__child_kill(child);
    if (!child->lost)
        while (waitid(P_PID, (id_t)child->id, &info, WEXITED | WNOHANG) < 0 && errno == EINTR)
            continue;
}

PHI__FN void phi__child_terminate(phi__os_child *child) { (void)kill(-(pid_t)child->id, SIGTERM); }

/* PHI__PROCESS_POLL forces the timer that polls for the exit, for tests. */
#if defined(__linux__) && !defined(PHI__PROCESS_POLL)
#include <sys/syscall.h>
#endif
#if defined(SYS_pidfd_open)
PHI__FN phi__fd phi__child_exit_fd(const phi__os_child *child) {
    return (int)syscall(SYS_pidfd_open, (long)child->id, 0L);
}
#else
PHI__FN phi__fd phi__child_exit_fd(const phi__os_child *child) {
    (void)child;
    return -1;
}
#endif

PHI__FN void phi__child_pause(void) { (void)poll(NULL, 0, 1); }

/* ---- its pipes ---- */

/* Both ends are close-on-exec and 3 or more, so that they can become 0, 1 and 2 in any order. */
PHI__FN int phi__child_pipe(phi__io *io, bool we_read, phi__fd *our_end, phi__fd *child_end) {
    int ends[2], i, error = 0, ours = we_read ? 0 : 1;
    (void)io;
#if defined(__APPLE__)
    if (pipe(ends) != 0) return errno;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#else
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
#endif
    for (i = 0; i < 2; i++) {
        int moved;
        if (ends[i] > 2) continue;
        moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
        if (moved < 0) error = errno;
        (void)close(ends[i]);
        ends[i] = moved;
    }
    if (error == 0 && fcntl(ends[ours], F_SETFL, O_NONBLOCK) != 0) error = errno;
#if defined(F_SETNOSIGPIPE)
    /* macOS sends SIGPIPE to the process, where another thread may take it. */
    if (error == 0 && !we_read) (void)fcntl(ends[ours], F_SETNOSIGPIPE, 1);
#endif
    *our_end = ends[ours];
    *child_end = ends[1 - ours];
    return error;
}

PHI__FN int phi__stream_read(phi__fd fd, char *out, size_t n, size_t *got) {
    ssize_t result;
    *got = 0;
    do result = read(fd, out, n);
    while (result < 0 && errno == EINTR);
    if (result < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? PHI__STREAM_LATER : errno;
    *got = (size_t)result;
    return 0;
}

PHI__FN int phi__stream_write(phi__fd fd, const char *bytes, size_t n, size_t *wrote) {
    int error = phi__posix_write(fd, bytes, n, wrote);
    return error == EAGAIN || error == EWOULDBLOCK ? PHI__STREAM_LATER : error;
}

PHI__FN void phi__stream_close(phi__fd fd) { (void)close(fd); }

PHI__FN void phi__child_end_close(phi__fd childs) { (void)close(childs); }

#endif
