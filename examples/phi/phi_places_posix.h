/* phi_places_posix.h - the files of the command on POSIX. phi_places_windows.h has the same functions. */
#ifndef PHI_PLACES_POSIX_H
#define PHI_PLACES_POSIX_H

#include "phi_text.h"
#include "../pick_model.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PLACES_PATH = PATH_MAX };

/* The words of the command line. */
static inline char **places_words(int *count, char **words) {
    (void)count;
    return words;
}

/* A stream that was closed stays unusable: the next file that is opened would take its number, and the answer would
   be written into it. */
static inline void places_streams(void) {
    int fd;
    do fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) (void)close(fd);
}

/* The working directory. */
static inline bool places_here(char *out, size_t size) { return getcwd(out, size) != NULL; }

/* NULL: unknown. */
static inline const char *places_home(void) { return getenv("HOME"); }

/* To be read. NULL: errno says why. */
static inline FILE *places_open(const char *path) { return fopen(path, "rb"); }

/* A file for its owner alone, new or emptied: it holds a conversation. */
static inline FILE *places_own(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct stat info;
    if (fd < 0) return NULL;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) (void)fchmod(fd, 0600);
    return fdopen(fd, "wb");
}

/* A whole file, or its first bytes, more than `most`; with `own`: one that nobody else can have written. False: there is
   none. */
static inline bool places_read(const char *path, bool own, size_t most, text *out) {
    char part[4096];
    ssize_t got = -1;
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (own ? O_NOFOLLOW : 0));
    bool good = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                (!own || (info.st_uid == getuid() && (info.st_mode & 022) == 0));
    while (good && out->len <= most && (got = read(fd, part, sizeof part)) > 0)
        text_add(out, part, (size_t)got);
    if (fd >= 0) (void)close(fd);
    return good && got == 0;
}

/* Writes a file for its owner alone, whole or not at all. */
static inline bool places_write(const char *path, const text *all) {
    text temp = {NULL, 0, 0};
    int fd;
    bool done;
    text_print(&temp, "%s.XXXXXX", path);
    fd = mkstemp(temp.at); /* 0600 */
    done = fd >= 0 && write(fd, all->at, all->len) == (ssize_t)all->len && fsync(fd) == 0;
    if (fd >= 0) (void)close(fd);
    done = done && rename(temp.at, path) == 0;
    if (!done && fd >= 0) (void)unlink(temp.at);
    free(temp.at);
    return done;
}

/* Where a file is, by its directory: what it names begins there, also where it is a link to another one. `out` has
   PLACES_PATH bytes. */
static inline bool places_whole(const char *path, char *out) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    text place = {NULL, 0, 0};
    size_t n;
    text_print(&place, "%.*s.", (int)(name - path), path);
    n = place.at != NULL && realpath(place.at, out) != NULL ? strlen(out) : PATH_MAX;
    free(place.at);
    return n < PATH_MAX && snprintf(out + n, PATH_MAX - n, "/%s", name) < (int)(PATH_MAX - n);
}

/* The command's directory in the user's configuration directory; it is made. */
static inline bool places_settings(text *out) {
    const char *base = pick_env("XDG_CONFIG_HOME"), *home = pick_env("HOME");
    bool given = base != NULL && base[0] == '/';
    if (!given && (home == NULL || home[0] != '/')) return false;
    text_print(out, "%s%s", given ? base : home, given ? "" : "/.config");
    (void)mkdir(out->at, 0700);
    text_say(out, "/phi");
    (void)mkdir(out->at, 0700);
    return true;
}

/* True if the path is a file, and no directory, pipe or device. With `plain`: no link either. */
static inline bool places_is_file(const char *path, bool plain) {
    struct stat info;
    return (plain ? lstat(path, &info) : stat(path, &info)) == 0 && S_ISREG(info.st_mode);
}

/* True if a path begins at the root. */
static inline bool places_is_absolute(const char *path) { return path[0] == '/'; }

/* True if it is the absolute path of a directory. */
static inline bool places_is_directory(const char *path) {
    struct stat info;
    return places_is_absolute(path) && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The last part of a path. */
static inline const char *places_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* A directory for its owner alone; it is there afterwards, or files in it cannot be made. */
static inline void places_directory(const char *path) { (void)mkdir(path, 0700); }

/* The directory of the conversations that were begun in a directory, by its name and its hash; it is made. */
static inline bool places_state(text *out, const char *name, const char *hash) {
    static const char *const parts[] = {"/phi", "/sessions"};
    const char *base = pick_env("XDG_STATE_HOME"), *home = pick_env("HOME");
    size_t i;
    if (base != NULL && base[0] == '/') {
        text_say(out, base);
    } else {
        if (home == NULL || home[0] != '/') return false;
        text_print(out, "%s/.local", home);
        places_directory(out->at);
        text_say(out, "/state");
    }
    places_directory(out->at);
    for (i = 0; i < 2; i++) {
        text_say(out, parts[i]);
        places_directory(out->at);
    }
    text_print(out, "/%s-%.16s", name, hash);
    places_directory(out->at);
    return access(out->at, W_OK | X_OK) == 0;
}

/* Adds to the end of a file for its owner alone. */
static inline bool places_append(const char *path, const text *words) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool done = fd >= 0 && write(fd, words->at, words->len) == (ssize_t)words->len;
    if (fd >= 0) (void)close(fd);
    return done;
}

/* The system's name, for a model. */
static inline void places_system(text *out) {
    struct utsname name;
    if (uname(&name) == 0) text_print(out, "%s %s", name.sysname, name.machine);
}

/* A number of this process. */
static inline unsigned long places_process(void) { return (unsigned long)getpid(); }

#endif
