/* spawn.c - posix_spawn, and its differences between systems. */
#include "system/spawn_in.h"

#ifndef PHI_NO_PROCESS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

/* What this system's posix_spawn can do. PHI__SPAWN_PLAIN forces the least of it, for the tests. */
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

/* A session is a group too, and has no terminal: a child cannot draw on the host's. */
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

/* A variable that most likely holds a secret: OPENAI_API_KEY, AWS_SESSION_TOKEN... GIT_CONFIG_KEY_0
   is none: it names a setting. */
static bool phi__spawn_is_key(const char *variable, const char *const *keep) {
    static const char *const parts[] = {"KEY",      "TOKEN",  "SECRET",
                                        "PASSWORD", "PASSWD", "CREDENTIAL"};
    const char *end = strchr(variable, '=');
    phi_str name = phi__str(variable, end != NULL ? (size_t)(end - variable) : 0);
    size_t i;
    for (; keep != NULL && *keep != NULL; keep++)
        if (phi__str_is(name, *keep)) return false;
    if (phi__str_starts(name, "GIT_CONFIG_KEY_")) return false;
    for (i = 0; i < PHI__COUNT(parts); i++)
        if (phi__str_find_nocase(name, 0, parts[i]) != SIZE_MAX) return true;
    return false;
}

/* The host's environment, where it is wanted, without the names in `env`; and `env`. NULL: no
   memory. */
static char **phi__spawn_environment(phi_memory *memory, const phi__spawn *spawn, size_t *bytes) {
    char **host = phi__spawn_host_environment(), **out;
    const char *const *env = spawn->env;
    size_t hosts = 0, added = 0, n = 0, i, k;
    while (!spawn->env_only && host != NULL && host[hosts] != NULL) hosts++;
    while (env != NULL && env[added] != NULL) added++;
    *bytes = (hosts + added + 1) * sizeof(char *);
    out = (char **)phi__alloc(memory, *bytes);
    if (out == NULL) return NULL;
    for (i = 0; i < hosts; i++) {
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

/* A session or a group of its own, no blocked signal, every disposition the default. */
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

/* Where posix_spawn cannot change the directory, a shell does: it replaces itself by the program,
   so that the process is the same; only "no such program" becomes its exit code 127. */
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

#endif
