/* exact.c - opens a checked path, by openat2 or part by part. */
#include "system/exact_in.h"

#ifndef PHI_NO_FILES

#include "io/os_in.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(PHI__OS_LINUX)
#include <sys/syscall.h>
#endif

/* To pass through a directory. */
#if defined(O_PATH)
#define PHI__EXACT_PASS O_PATH
#elif defined(O_SEARCH)
#define PHI__EXACT_PASS O_SEARCH
#else
#define PHI__EXACT_PASS O_RDONLY
#endif

enum {
    PHI__EXACT_PASS_FLAGS = PHI__EXACT_PASS | O_DIRECTORY | O_CLOEXEC,
    PHI__EXACT_PART = 256, /* bytes of a part, with the terminator */
    PHI__EXACT_UNITS = 2   /* of a part: files_in.h */
};

static int phi__exact_open_at(int dir, const char *name, int flags, int *out) {
    do *out = openat(dir, name, flags);
    while (*out < 0 && errno == EINTR);
    return *out >= 0 ? 0 : errno;
}

/* ---- the walk ---- */

/* Opens one part. Systems refuse a link by different errors: ELOOP, ENOTDIR, EMLINK, EFTYPE. */
static int phi__exact_part(int dir, const char *name, int flags, int *out) {
    struct stat info;
    int error = phi__exact_open_at(dir, name, flags | O_NOFOLLOW, out);
    if (error == 0 || error == ENOENT || error == EACCES) return error;
    if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return error;
    if (S_ISLNK(info.st_mode) || error == ELOOP) return PHI__EXACT_LINK;
    return error == ENOTDIR && S_ISDIR(info.st_mode) ? (int)PHI__EXACT_LINK : error; /* it was */
}

/* Replaces the way's directory by the next one. */
static int phi__exact_enter(phi__way *way, const char *name, bool make) {
    int next, error = phi__exact_part(way->dir, name, PHI__EXACT_PASS_FLAGS, &next);
    if (error == ENOENT && make) {
        error = mkdirat(way->dir, name, 0777) == 0 || errno == EEXIST ? 0 : errno;
        if (error == 0) error = phi__exact_part(way->dir, name, PHI__EXACT_PASS_FLAGS, &next);
    }
    if (error != 0) return error;
    (void)close(way->dir);
    way->dir = next;
    return 0;
}

/* Enters all directories but the last part, which begins at way->at. */
static int phi__exact_descend(phi__way *way, bool make, size_t *units) {
    int error = 0;
    if (!way->open) {
        error = phi__exact_open_at(AT_FDCWD, "/", PHI__EXACT_PASS_FLAGS, &way->dir);
        if (error != 0) return error;
        way->open = true;
        way->at = 1;
    }
    for (;;) {
        const char *part = way->path + way->at, *slash = strchr(part, '/');
        size_t n = slash != NULL ? (size_t)(slash - part) : strlen(part);
        char name[PHI__EXACT_PART];
        if (n >= sizeof name) return ENAMETOOLONG;
        if (slash == NULL) return 0;
        if (*units == 0) return EAGAIN;
        *units -= phi__min(*units, PHI__EXACT_UNITS);
        memcpy(name, part, n);
        name[n] = '\0';
        error = phi__exact_enter(way, name, make);
        if (error != 0) return error;
        way->at += n + 1;
    }
}

static const char *phi__exact_last(const phi__way *way) {
    const char *name = way->path + way->at;
    return *name != '\0' ? name : ".";
}

/* ---- openat2 ---- */

#if defined(SYS_openat2) && !defined(PHI__EXACT_PLAIN)

enum { PHI__EXACT_NO_SYMLINKS = 0x04 }; /* as the kernel's linux/openat2.h, not on every system */

typedef struct phi__exact_how {
    uint64_t flags, mode, resolve;
} phi__exact_how;

/* False: there is no such call, or a filter of system calls forbids it, which may say EPERM. */
static bool phi__exact_at_once(const char *path, int flags, int *out, int *error) {
    phi__exact_how how;
    memset(&how, 0, sizeof how);
    how.flags = (uint64_t)(unsigned)flags;
    how.resolve = PHI__EXACT_NO_SYMLINKS;
    do *out = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    while (*out < 0 && (errno == EINTR || errno == EAGAIN));
    *error = *out >= 0 ? 0 : errno == ELOOP ? (int)PHI__EXACT_LINK : errno;
    return *error != ENOSYS && *error != EPERM;
}

#else

static bool phi__exact_at_once(const char *path, int flags, int *out, int *error) {
    (void)path;
    (void)flags;
    (void)out;
    (void)error;
    return false;
}

#endif

/* ---- for other modules ---- */

PHI__FN int phi__exact_walk(const char *path, int flags, int *out) {
    size_t units = SIZE_MAX;
    phi__way way;
    int error;
    memset(&way, 0, sizeof way);
    way.path = path;
    *out = -1;
    error = phi__exact_descend(&way, false, &units);
    if (error == 0) error = phi__exact_part(way.dir, phi__exact_last(&way), flags | O_CLOEXEC, out);
    phi__exact_leave(&way);
    return error;
}

PHI__FN int phi__exact_open(const char *path, int flags, int *out) {
    int error;
    if (phi__exact_at_once(path, flags | O_CLOEXEC, out, &error)) return error;
    return phi__exact_walk(path, flags, out);
}

PHI__FN int phi__exact_parent(const char *path, int *out, const char **name) {
    char parent[PHI__PATH_BYTES];
    const char *slash = strrchr(path, '/');
    size_t n = (size_t)(slash - path);
    *out = -1;
    *name = slash[1] != '\0' ? slash + 1 : ".";
    if (n >= sizeof parent) return ENAMETOOLONG;
    memcpy(parent, path, n);
    if (n == 0) parent[n++] = '/';
    parent[n] = '\0';
    return phi__exact_open(parent, PHI__EXACT_PASS_FLAGS, out);
}

PHI__FN int phi__exact_make(phi__way *way, size_t *units) {
    return phi__exact_descend(way, true, units);
}

PHI__FN void phi__exact_leave(phi__way *way) {
    if (way->open) (void)close(way->dir);
    way->open = false;
}

#endif
