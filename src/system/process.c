/* process.c - a child process: its streams, its exit, its removal.

   A child is RUNNING, then EXITED, then REAPED. An EXITED child is kept as a zombie, so that the
   system cannot give the child's number, which is also its group's number, to another process.
   After its group was killed, it is REAPED, and the rest of its pipes is read. A process that is
   freed while it runs becomes an orphan: it lives on, without streams and callbacks, until it is
   reaped. */
#include "system/process_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

/* ---- starting a program, only by posix_spawn ----

   fork would copy the host's page tables, which takes tens of milliseconds for a large host. */

#ifndef PHI_NO_PROCESS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

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
static char **phi__spawn_host_environment(void) { return environ; }
#endif

static bool phi__spawn_same_name(const char *a, const char *b) {
    while (*a != '\0' && *a != '=' && *a == *b) {
        a++;
        b++;
    }
    return *a == '=' && *b == '=';
}

/* True if a variable most likely holds a secret: OPENAI_API_KEY, AWS_SESSION_TOKEN...
   GIT_CONFIG_KEY_0 does not: it names a setting. */
static bool phi__spawn_is_key(const char *variable, const char *const *keep) {
    static const char *const parts[] = {"KEY",      "TOKEN",  "SECRET",
                                        "PASSWORD", "PASSWD", "CREDENTIAL"};
    const char *end = strchr(variable, '=');
    phi_str name = phi__str(variable, end != NULL ? (size_t)(end - variable) : 0);
    for (; keep != NULL && *keep != NULL; keep++)
        if (phi__str_is(name, *keep)) return false;
    if (phi__str_starts(name, "GIT_CONFIG_KEY_")) return false;
    for (size_t i = 0; i < PHI__COUNT(parts); i++)
        if (phi__str_find_nocase(name, 0, parts[i]) != SIZE_MAX) return true;
    return false;
}

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

PHI__FN int phi__spawn_start(phi_memory *memory, const phi__spawn *spawn, int *pid) {
    size_t bytes;
    char **environment = phi__spawn_environment(memory, spawn, &bytes);
    pid_t child = 0;
    int error;
    if (environment == NULL) return ENOMEM;
#if defined(PHI__SPAWN_CHDIR)
    error = phi__spawn_call(spawn, environment, &child);
#else
    error = spawn->cwd == NULL ? phi__spawn_call(spawn, environment, &child)
                               : phi__spawn_by_shell(memory, spawn, environment, &child);
#endif
    phi__free(memory, (void *)environment, bytes);
    *pid = (int)child;
    return error;
}

/* ---- bytes that wait to be written, for processes and channels ---- */

enum { PHI__OUTGOING_KEPT = 16384 /* a larger buffer is freed when it is empty */ };

PHI__FN phi_status phi__outgoing_add(phi__outgoing *out, const char *bytes, size_t len, size_t most,
                                     size_t *taken) {
    size_t waits = phi__outgoing_waits(out);
    size_t n = phi__min(len, most - phi__min(waits, most));
    *taken = 0;
    if (n > 0 && phi__buf_reserve(&out->bytes, n) == NULL) {
        out->bytes.failed = false; /* the bytes queued before are intact */
        return PHI_NO_MEMORY;
    }
    phi__buf_add(&out->bytes, bytes, n);
    *taken = n;
    return PHI_OK;
}

PHI__FN int phi__outgoing_write(phi__outgoing *out, int fd, size_t most) {
    size_t wrote;
    int error = phi__posix_write(fd, out->bytes.at + out->at,
                                 phi__min(phi__outgoing_waits(out), most), &wrote);
    out->at += wrote;
    if (out->at == out->bytes.len) {
        phi__buf_clear(&out->bytes);
        if (out->bytes.cap > PHI__OUTGOING_KEPT) phi__buf_free(&out->bytes);
        out->at = 0;
    } else if (out->at > 0 && out->at >= out->bytes.len / 2) {
        phi__buf_drop(&out->bytes, out->at);
        out->at = 0;
    }
    return error == EWOULDBLOCK ? EAGAIN : error;
}

PHI__FN void phi__outgoing_free(phi__outgoing *out) {
    phi__buf_free(&out->bytes);
    out->at = 0;
}

/* ---- child processes as streams ---- */

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* PHI__PROCESS_POLL forces the timer that polls for the exit, for tests. */
#if defined(__linux__) && !defined(PHI__PROCESS_POLL)
#include <sys/syscall.h>
#if defined(SYS_pidfd_open)
#define PHI__PROCESS_PIDFD
#endif
#endif

enum {
    PHI__PROCESS_TURN_BYTES = 16384,   /* max. bytes read from a stream in one turn */
    PHI__PROCESS_WRITE_BYTES = 65536,  /* max. bytes written in one turn; a pipe's default size */
    PHI__PROCESS_REST_BYTES = 1048576, /* max. bytes read after the grace; a pipe's largest size */
    PHI__PROCESS_GRACE_US = 100000,    /* time after the exit for streams held by grandchildren */
    PHI__PROCESS_POLL_FIRST_US = 1000, /* first pause between polls for the exit; it doubles */
    PHI__PROCESS_POLL_LAST_US = 20000,
    PHI__PROCESS_RETRY_US = 10000,     /* pause after a watch failed for lack of memory */
    PHI__PROCESS_QUEUE_BYTES = 1048576 /* default of max_input_bytes */
};

#ifndef PHI__PROCESS_LAST_MS
#define PHI__PROCESS_LAST_MS 50 /* longest wait for a killed child when the io ends */
#endif

/* With a pidfd the timer is not needed. It stays set, because moving a set timer cannot fail. */
#define PHI__PROCESS_HOUR_US 3600000000u

typedef enum phi__process_state {
    PHI__PROCESS_RUNNING,
    PHI__PROCESS_EXITED,
    PHI__PROCESS_REAPED
} phi__process_state;

struct phi__process {
    phi__io *io;
    bool (*output)(void *ctx, int stream, const char *bytes, size_t len);
    void (*exited)(void *ctx, int code, int signal_number);
    void (*room)(void *ctx);
    void *ctx;
    int pid;
    phi__process_state state;
    int code, signal_number;
    bool lost;       /* another part of the host took the exit status */
    bool stopped[3]; /* `output` returned false */
    bool in_callback, freed;
    int fds[3];                        /* our ends of the pipes; -1: closed */
    phi__watch watches[3], exit_watch; /* exit_watch.fd: the pidfd, or -1 */
    phi__timer timer;
    uint64_t grace_end_us;
    uint32_t poll_us;
    size_t rest_bytes;
    phi__outgoing input;
    size_t input_max; /* max. bytes of `input` that may wait */
    bool keep_input;  /* stdin stays open after all input was written */
    bool wants_room;  /* a write took only a part of its bytes */
    phi__ending ending;
};

/* ---- the timer and the watches ---- */

/* Sets the timer. Cannot fail, because the timer is always set. */
static void phi__process_in(phi__process *p, uint64_t us) {
    (void)phi__io_timer_set(p->io, &p->timer, phi__io_now_us(p->io) + us);
}

static void phi__process_poll_again(phi__process *p) {
    if (p->exit_watch.fd >= 0) {
        phi__process_in(p, PHI__PROCESS_HOUR_US);
        return;
    }
    phi__process_in(p, p->poll_us);
    if (p->poll_us < PHI__PROCESS_POLL_LAST_US) p->poll_us *= 2;
}

static bool phi__process_ended(const phi__process *p) { return p->fds[1] < 0 && p->fds[2] < 0; }

static void phi__process_shut(phi__process *p, int stream) {
    if (p->fds[stream] < 0) return;
    (void)phi__io_watch(p->io, &p->watches[stream], p->fds[stream], 0);
    (void)close(p->fds[stream]);
    p->fds[stream] = -1;
    if (stream == 0) phi__outgoing_free(&p->input);
    /* The exit is near after both streams have ended, so poll more often. */
    if (phi__process_ended(p) && p->state == PHI__PROCESS_RUNNING) {
        p->poll_us = PHI__PROCESS_POLL_FIRST_US;
        phi__process_poll_again(p);
    }
}

/* Watches a stream, or stops watching it. Without memory the timer tries again. */
static void phi__process_watch(phi__process *p, int stream, bool on) {
    int want = !on ? 0 : stream == 0 ? PHI__WRITE : PHI__READ;
    if (p->fds[stream] < 0 || p->watches[stream].want == want) return;
    if (phi__io_watch(p->io, &p->watches[stream], p->fds[stream], want) != PHI_OK)
        phi__process_in(p, PHI__PROCESS_RETRY_US);
}

static void phi__process_watch_all(phi__process *p) {
    phi__process_watch(p, 0, phi__outgoing_waits(&p->input) > 0 || p->wants_room);
    phi__process_watch(p, 1, !p->stopped[1]);
    phi__process_watch(p, 2, !p->stopped[2]);
}

/* ---- exit ---- */

static void phi__process_exit_forget(phi__process *p) {
    int fd = (int)p->exit_watch.fd;
    if (fd < 0) return;
    (void)phi__io_watch(p->io, &p->exit_watch, fd, 0);
    (void)close(fd);
    p->exit_watch.fd = -1;
}

/* True if the child has exited. Leaves the child a zombie, and begins the grace of its streams. */
static bool phi__process_look(phi__process *p) {
    int result;
    if (p->state != PHI__PROCESS_RUNNING) return true;
    siginfo_t info = PHI_ZERO;
    do result = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0) return false;
    p->state = PHI__PROCESS_EXITED;
    p->lost = result < 0;
    p->code = !p->lost && info.si_code == CLD_EXITED ? info.si_status : -1;
    p->signal_number = !p->lost && info.si_code != CLD_EXITED ? info.si_status : 0;
    phi__process_exit_forget(p);
    phi__process_shut(p, 0);
    p->grace_end_us = phi__io_now_us(p->io) + PHI__PROCESS_GRACE_US;
    phi__process_in(p, phi__process_ended(p) ? 0 : PHI__PROCESS_GRACE_US);
    return true;
}

/* Kills the group while the child runs or is a zombie. Later another group may have the number. */
static void phi__process_kill_group(const phi__process *p) {
    if (p->state != PHI__PROCESS_REAPED && !p->lost) (void)kill(-(pid_t)p->pid, SIGKILL);
}

static void phi__process_reap(phi__process *p) {
    siginfo_t info;
    PHI_ASSERT(p->state == PHI__PROCESS_EXITED);
    phi__process_kill_group(p);
    if (!p->lost)
        while (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG) < 0 && errno == EINTR)
            continue;
    p->state = PHI__PROCESS_REAPED;
}

/* Closes and frees the process. A running child becomes an orphan of the io. */
static void phi__process_release(phi__process *p) {
    phi__io *io = p->io;
    p->output = NULL;
    p->exited = NULL;
    p->room = NULL;
    for (int i = 0; i < 3; i++) phi__process_shut(p, i);
    if (!phi__process_look(p)) {
        if (p->ending.next == NULL) {
            phi__process_kill_group(p);
            phi__io_ending_add(io, &p->ending);
            p->poll_us = PHI__PROCESS_POLL_FIRST_US;
        }
        phi__process_poll_again(p);
        return;
    }
    if (p->state == PHI__PROCESS_EXITED) phi__process_reap(p);
    phi__io_ending_remove(io, &p->ending);
    phi__io_timer_clear(io, &p->timer);
    phi__free(phi__io_memory(io), p, sizeof *p);
}

/* Called after each callback. False: the callback freed the process. */
static bool phi__process_returned(phi__process *p) {
    p->in_callback = false;
    if (!p->freed) return true;
    phi__process_release(p);
    return false;
}

/* Reads once from a stream. False: the process is gone. */
static bool phi__process_read(phi__process *p, int stream, bool *emptied) {
    char bytes[PHI__PROCESS_TURN_BYTES];
    ssize_t n;
    *emptied = false;
    do n = read(p->fds[stream], bytes, sizeof bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        *emptied = true;
        return true;
    }
    if (n <= 0) {
        phi__process_shut(p, stream);
        return true;
    }
    p->rest_bytes += (size_t)n;
    if (p->output == NULL) return true;
    p->in_callback = true;
    bool more = p->output(p->ctx, stream, bytes, (size_t)n);
    if (!phi__process_returned(p)) return false;
    if (!more) p->stopped[stream] = true;
    phi__process_watch(p, stream, more && p->state != PHI__PROCESS_REAPED);
    return true;
}

/* After the group was killed, reads the rest of each pipe, a piece a turn, by timer. Stops at an
   empty pipe or a limit, because an escaped grandchild may keep writing. False: the process is
   gone. */
static bool phi__process_rest(phi__process *p) {
    bool again = false, emptied;
    for (int i = 1; i < 3; i++) {
        phi__process_watch(p, i, false);
        if (p->fds[i] < 0 || p->stopped[i]) continue;
        if (!phi__process_read(p, i, &emptied)) return false;
        if (emptied || p->rest_bytes >= PHI__PROCESS_REST_BYTES) phi__process_shut(p, i);
        again = again || (p->fds[i] >= 0 && !p->stopped[i]);
    }
    phi__process_in(p, again ? 0 : PHI__PROCESS_HOUR_US);
    return true;
}

/* Advances as far as possible: the exit, the grace, the end. The process may be gone afterwards. */
static void phi__process_settle(phi__process *p) {
    if (!phi__process_look(p)) return;
    if (p->state == PHI__PROCESS_EXITED) {
        if (!phi__process_ended(p) && phi__io_now_us(p->io) < p->grace_end_us) return;
        phi__process_reap(p);
        p->rest_bytes = 0;
        if (!phi__process_rest(p)) return;
    }
    if (phi__process_ended(p) && p->exited != NULL) {
        void (*exited)(void *, int, int) = p->exited;
        p->exited = NULL;
        p->in_callback = true;
        exited(p->ctx, p->code, p->signal_number);
        (void)phi__process_returned(p);
    }
}

static void phi__process_on_stream(phi__process *p, int stream) {
    bool emptied;
    if (p->fds[stream] < 0 || p->stopped[stream]) return;
    if (phi__process_read(p, stream, &emptied) && p->fds[stream] < 0) phi__process_settle(p);
}

static void phi__process_on_out(phi__watch *watch, int have) {
    (void)have;
    phi__process_on_stream(PHI__OWNER(watch, phi__process, watches[1]), 1);
}

static void phi__process_on_err(phi__watch *watch, int have) {
    (void)have;
    phi__process_on_stream(PHI__OWNER(watch, phi__process, watches[2]), 2);
}

/* Writes as much as the pipe takes. False: the child closed its stdin. */
static bool phi__process_send(phi__process *p) {
    int error = phi__outgoing_write(&p->input, p->fds[0], PHI__PROCESS_WRITE_BYTES);
    return error == 0 || error == EAGAIN;
}

/* Closes stdin at the end of the input, or watches it while input waits. */
static void phi__process_sent(phi__process *p) {
    bool waits = phi__outgoing_waits(&p->input) > 0;
    if (!waits && !p->keep_input)
        phi__process_shut(p, 0);
    else
        phi__process_watch(p, 0, waits || p->wants_room);
}

static void phi__process_on_in(phi__watch *watch, int have) {
    phi__process *p = PHI__OWNER(watch, phi__process, watches[0]);
    void (*room)(void *) = NULL;
    (void)have;
    if (p->fds[0] < 0) return;
    if (phi__outgoing_waits(&p->input) > 0 && !phi__process_send(p)) {
        phi__process_shut(p, 0);
        return;
    }
    if (p->wants_room && phi__outgoing_waits(&p->input) <= p->input_max / 2) {
        p->wants_room = false;
        room = p->room;
    }
    phi__process_sent(p);
    if (room == NULL) return;
    p->in_callback = true;
    room(p->ctx);
    (void)phi__process_returned(p);
}

static void phi__process_on_exit(phi__watch *watch, int have) {
    phi__process *p = PHI__OWNER(watch, phi__process, exit_watch);
    (void)have;
    if (p->freed)
        phi__process_release(p);
    else
        phi__process_settle(p);
}

static void phi__process_on_timer(phi__timer *timer) {
    phi__process *p = PHI__OWNER(timer, phi__process, timer);
    if (p->freed) {
        phi__process_release(p);
        return;
    }
    phi__process_poll_again(p); /* cannot fail: the slot of the fired timer is free */
    if (p->state != PHI__PROCESS_REAPED) phi__process_watch_all(p);
    if (p->state == PHI__PROCESS_REAPED && !phi__process_rest(p)) return;
    phi__process_settle(p);
}

/* Called when the io ends, after which no poll can reap the child. A killed process dies within
   about a millisecond. A short wait for that is better than a zombie as long as the host lives. */
static void phi__process_on_end(phi__ending *ending) {
    phi__process *p = PHI__OWNER(ending, phi__process, ending);
    phi__io *io = p->io;
    for (int i = 0; i < PHI__PROCESS_LAST_MS && !phi__process_look(p); i++) (void)poll(NULL, 0, 1);
    if (p->state == PHI__PROCESS_EXITED) phi__process_reap(p);
    phi__process_exit_forget(p);
    phi__io_ending_remove(io, ending);
    phi__io_timer_clear(io, &p->timer);
    phi__free(phi__io_memory(io), p, sizeof *p);
}

/* ---- starting ---- */

/* Makes a pipe. Both ends are close-on-exec and 3 or more, so that they can become 0, 1 and 2 in
   any order. Our end, `ours` (0: reading, 1: writing), does not block. Returns an errno value. */
static int phi__process_pipe(int *our_end, int *child_end, int ours) {
    int ends[2], i, error = 0;
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
    *our_end = ends[ours];
    *child_end = ends[1 - ours];
    return error;
}

/* Makes the pipes, their watches and the timer. Only these need memory, so they are made before the
   child exists. */
static phi_status phi__process_prepare(phi__process *p, bool with_input, int *child, int *error) {
    phi_status status =
        phi__io_timer_set(p->io, &p->timer, phi__io_now_us(p->io) + PHI__PROCESS_HOUR_US);
    p->timer.fire = phi__process_on_timer;
    p->watches[0].ready = phi__process_on_in;
    p->watches[1].ready = phi__process_on_out;
    p->watches[2].ready = phi__process_on_err;
    p->exit_watch.ready = phi__process_on_exit;
    p->ending.end = phi__process_on_end;
    for (int i = with_input || p->keep_input ? 0 : 1; i < 3 && status == PHI_OK; i++) {
        *error = phi__process_pipe(&p->fds[i], &child[i], i == 0 ? 1 : 0);
        if (*error != 0) return PHI_IO;
        if (i > 0 || phi__outgoing_waits(&p->input) > 0)
            status =
                phi__io_watch(p->io, &p->watches[i], p->fds[i], i == 0 ? PHI__WRITE : PHI__READ);
    }
    return status;
}

/* Watches for the exit. A pidfd becomes readable at the exit, even if the status is lost. */
static void phi__process_watch_exit(phi__process *p) {
#if defined(PHI__PROCESS_PIDFD)
    int fd = (int)syscall(SYS_pidfd_open, (long)p->pid, 0L);
    if (fd >= 0) {
        p->exit_watch.fd = fd;
        if (phi__io_watch(p->io, &p->exit_watch, fd, PHI__READ) != PHI_OK) {
            (void)close(fd);
            p->exit_watch.fd = -1;
        }
    }
#endif
    phi__process_poll_again(p);
}

/* Maps a refusal to a status. A missing program and a missing directory have the same errno. */
static phi_status phi__process_refusal(int error, const phi__process_desc *desc) {
    bool has_cwd = desc->cwd == NULL;
#if !defined(PHI_NO_FILES)
    struct stat info;
    has_cwd = has_cwd || stat(desc->cwd, &info) == 0;
#endif
    if (error == EMFILE || error == ENFILE || error == EAGAIN) return PHI_BUSY;
    if (error == ENOMEM) return PHI_NO_MEMORY;
    return error == ENOENT && has_cwd ? PHI_NOT_FOUND : PHI_IO;
}

PHI__FN phi_status phi__process_new(phi__io *io, const phi__process_desc *desc, phi__process **out,
                                    char *words, size_t words_size) {
    phi__process *p;
    phi__spawn spawn;
    int error = 0;
    *out = NULL;
    if (words_size > 0) words[0] = '\0';
    if (desc->argv == NULL || desc->argv[0] == NULL) return PHI_BAD_ARG;
    if (!phi__io_may_start(io)) return PHI_BUSY;
    p = (phi__process *)phi__alloc(phi__io_memory(io), sizeof *p);
    if (p == NULL) return PHI_NO_MEMORY;
    p->io = io;
    p->output = desc->output;
    p->exited = desc->exited;
    p->room = desc->room;
    p->ctx = desc->ctx;
    p->keep_input = desc->keep_input;
    p->input_max =
        desc->max_input_bytes != 0 ? desc->max_input_bytes : (size_t)PHI__PROCESS_QUEUE_BYTES;
    p->poll_us = PHI__PROCESS_POLL_FIRST_US;
    p->exit_watch.fd = -1;
    for (int i = 0; i < 3; i++) p->fds[i] = spawn.fds[i] = -1;
    phi__buf_init(&p->input.bytes, phi__io_memory(io));
    phi__buf_add(&p->input.bytes, desc->input.at, desc->input.len);
    phi_status status = p->input.bytes.failed
                            ? PHI_NO_MEMORY
                            : phi__process_prepare(p, desc->input.len > 0, spawn.fds, &error);
    if (status == PHI_OK) {
        spawn.argv = desc->argv;
        spawn.env = desc->env;
        spawn.hide_keys = desc->hide_keys;
        spawn.keep_keys = desc->keep_keys;
        spawn.env_only = desc->env_only;
        spawn.cwd = desc->cwd;
        error = phi__spawn_start(phi__io_memory(io), &spawn, &p->pid);
    }
    for (int i = 0; i < 3; i++)
        if (spawn.fds[i] >= 0) (void)close(spawn.fds[i]);
    if (error != 0) {
        status = phi__process_refusal(error, desc);
        if (words_size > 0) phi__os_words(error, words, words_size);
    }
    if (status != PHI_OK) {
        /* No child exists yet. */
        p->state = PHI__PROCESS_REAPED;
        for (int i = 0; i < 3; i++) phi__process_shut(p, i);
        phi__outgoing_free(&p->input);
        phi__io_timer_clear(p->io, &p->timer);
        phi__free(phi__io_memory(p->io), p, sizeof *p);
        return status;
    }
    phi__process_watch_exit(p);
    *out = p;
    return PHI_OK;
}

PHI__FN void phi__process_resume(phi__process *process) {
    process->stopped[1] = process->stopped[2] = false;
    if (process->state == PHI__PROCESS_REAPED)
        phi__process_in(process, 0);
    else
        phi__process_watch_all(process);
}

PHI__FN phi_status phi__process_write(phi__process *process, const char *bytes, size_t len,
                                      size_t *taken) {
    phi__process *p = process;
    bool idle = phi__outgoing_waits(&p->input) == 0;
    *taken = 0;
    if (p->fds[0] < 0 || !p->keep_input) return PHI_STALE;
    phi_status status = phi__outgoing_add(&p->input, bytes, len, p->input_max, taken);
    if (status != PHI_OK) return status;
    if (idle && *taken > 0 && !phi__process_send(p)) {
        phi__process_shut(p, 0);
        *taken = 0;
        return PHI_STALE;
    }
    if (*taken < len) p->wants_room = true;
    phi__process_sent(p);
    return PHI_OK;
}

PHI__FN void phi__process_end_input(phi__process *process) {
    process->keep_input = false;
    if (process->fds[0] >= 0) phi__process_sent(process);
}

PHI__FN void phi__process_terminate(phi__process *process) {
    if (!phi__process_look(process)) (void)kill(-(pid_t)process->pid, SIGTERM);
}

PHI__FN int phi__process_id(const phi__process *process) { return process->pid; }

PHI__FN void phi__process_free(phi__process *process) {
    if (process == NULL || process->freed) return;
    process->freed = true;
    process->output = NULL;
    process->exited = NULL;
    process->room = NULL;
    if (!process->in_callback) phi__process_release(process);
}

#endif
