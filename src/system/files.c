/* files.c - reads and replaces files, on POSIX. */
#include "system/files_in.h"
#include "io/io_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_FILES)
/* ---- paths without links ---- */

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHI__PATH_LINKS = 40 }; /* max. links followed in one path, as on Linux */

static int phi__path_prepend(phi__resolve *p, const char *text, size_t n) {
    if (n > p->at) return ENAMETOOLONG;
    p->at -= n;
    memcpy(p->rest + p->at, text, n);
    return 0;
}

static void phi__path_up(phi__resolve *p) {
    while (p->len > 0 && p->out[--p->len] != '/') continue;
    p->out[p->len] = '\0';
}

static int phi__path_link(phi__resolve *p) {
    char target[PHI__PATH_BYTES];
    ssize_t n = readlink(p->out, target, sizeof target);
    if (n < 0) return errno;
    if (n == 0) return ENOENT;
    if ((size_t)n == sizeof target) return ENAMETOOLONG;
    if (++p->links > PHI__PATH_LINKS) return ELOOP;
    if (target[0] == '/')
        p->len = 0;
    else
        phi__path_up(p);
    int error = phi__path_prepend(p, "/", 1);
    return error != 0 ? error : phi__path_prepend(p, target, (size_t)n);
}

/* Resolves the part of n bytes at p->at. */
static int phi__path_part(phi__resolve *p, size_t n) {
    const char *part = p->rest + p->at;
    struct stat info;
    p->at += n;
    if (n == 1 && part[0] == '.') return 0;
    if (n == 2 && part[0] == '.' && part[1] == '.') {
        phi__path_up(p);
        return 0;
    }
    if (p->len + n + 2 > sizeof p->out) return ENAMETOOLONG;
    p->out[p->len] = '/';
    memcpy(p->out + p->len + 1, part, n);
    p->len += n + 1;
    p->out[p->len] = '\0';
    if (lstat(p->out, &info) != 0) return errno == ENOENT ? 0 : errno;
    if (S_ISLNK(info.st_mode)) return phi__path_link(p);
    if (S_ISDIR(info.st_mode)) return 0;
    for (size_t i = p->at; i < sizeof p->rest; i++)
        if (p->rest[i] != '/') return ENOTDIR; /* more parts follow */
    return 0;
}

static phi_status phi__path_refused(int error, phi__words *words) {
    if (words != NULL) phi__os_words(error, words->text, sizeof words->text);
    return error == ENOENT ? PHI_NOT_FOUND : PHI_IO;
}

PHI__FN phi_status phi__path_resolve_begin(phi__resolve *r, const char *base, const char *path,
                                           phi__words *words) {
    char here[PHI__PATH_BYTES];
    r->at = sizeof r->rest;
    r->len = 0;
    r->links = 0;
    r->out[0] = '\0';
    int error = path[0] == '\0' ? ENOENT : phi__path_prepend(r, path, strlen(path));
    if (error == 0 && path[0] != '/' && base != NULL) {
        error = phi__path_prepend(r, "/", 1);
        if (error == 0) error = phi__path_prepend(r, base, strlen(base));
    }
    if (error == 0 && r->rest[r->at] != '/') {
        error = getcwd(here, sizeof here) == NULL ? errno : phi__path_prepend(r, "/", 1);
        if (error == 0) error = phi__path_prepend(r, here, strlen(here));
    }
    return error == 0 ? PHI_OK : phi__path_refused(error, words);
}

PHI__FN phi_status phi__path_resolve_advance(phi__resolve *r, size_t *units, phi__words *words) {
    while (r->at < sizeof r->rest) {
        size_t n = 0;
        while (r->at + n < sizeof r->rest && r->rest[r->at + n] != '/') n++;
        if (n == 0) {
            r->at++;
            continue;
        }
        if (*units == 0) return PHI_BUSY;
        *units -= phi__min(*units, 1 + r->len / 64);
        int error = phi__path_part(r, n);
        if (error != 0) return phi__path_refused(error, words);
    }
    if (r->len == 0) memcpy(r->out, "/", 2);
    return PHI_OK;
}

PHI__FN bool phi__path_inside(const char *directory, const char *path) {
    size_t n = strlen(directory);
    if (n == 1) return true; /* the root */
    return strncmp(directory, path, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* ---- opening a checked path ----

   The path is absolute and resolved, so no part of it is a link. Each part is opened in the
   directory opened before it, and is refused if it has become a link since the check. So another
   process that swaps a directory for a link cannot lead us elsewhere. On Linux one system call does
   this (openat2, since 5.6); other systems walk from the root. The directories on the way must be
   searchable. On systems without O_PATH and O_SEARCH they must also be readable. Functions return
   an errno value, or PHI__EXACT_LINK. */

#include <fcntl.h>

#if defined(PHI__OS_LINUX)
#include <sys/syscall.h>
#endif

/* The flag for passing through a directory. */
#if defined(O_PATH)
#define PHI__EXACT_PASS O_PATH
#elif defined(O_SEARCH)
#define PHI__EXACT_PASS O_SEARCH
#else
#define PHI__EXACT_PASS O_RDONLY
#endif

enum {
    PHI__EXACT_PASS_FLAGS = PHI__EXACT_PASS | O_DIRECTORY | O_CLOEXEC,
    PHI__EXACT_PART = 256, /* max. bytes of a part, with the terminator */
    PHI__EXACT_UNITS = 2   /* units of phi__files_make_way for a part */
};

static int phi__exact_open_at(int dir, const char *name, int flags, int *out) {
    do *out = openat(dir, name, flags);
    while (*out < 0 && errno == EINTR);
    return *out >= 0 ? 0 : errno;
}

/* ---- the walk ---- */

/* Opens one part. Systems refuse links by different errors: ELOOP, ENOTDIR, EMLINK, EFTYPE. */
static int phi__exact_part(int dir, const char *name, int flags, int *out) {
    struct stat info;
    int error = phi__exact_open_at(dir, name, flags | O_NOFOLLOW, out);
    if (error == 0 || error == ENOENT || error == EACCES) return error;
    if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return error;
    if (S_ISLNK(info.st_mode) || error == ELOOP) return PHI__EXACT_LINK;
    /* openat failed with ENOTDIR for a directory: at that time the name was a link. */
    return error == ENOTDIR && S_ISDIR(info.st_mode) ? (int)PHI__EXACT_LINK : error;
}

/* Replaces the way's directory by its subdirectory `name`. If `make`, makes a missing
   subdirectory. */
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

/* Enters all directories above the last part, which begins at way->at. EAGAIN: no more units. */
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

/* ---- openat2 ---- */

#if defined(SYS_openat2) && !defined(PHI__EXACT_PLAIN)

enum { PHI__EXACT_NO_SYMLINKS = 0x04 }; /* value in linux/openat2.h, which not every system has */

typedef struct phi__exact_how {
    uint64_t flags, mode, resolve;
} phi__exact_how;

/* Opens a path by openat2. False: not available, or a filter of system calls forbids it (EPERM). */
static bool phi__exact_at_once(const char *path, int flags, int *out, int *error) {
    phi__exact_how how = PHI_ZERO;
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

PHI__FN int phi__exact_walk(const char *path, int flags, int *out) {
    size_t units = SIZE_MAX;
    phi__way way = PHI_ZERO;
    way.path = path;
    *out = -1;
    int error = phi__exact_descend(&way, false, &units);
    const char *last = way.path + way.at;
    if (*last == '\0') last = ".";
    if (error == 0) error = phi__exact_part(way.dir, last, flags | O_CLOEXEC, out);
    phi__files_leave(&way);
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

/* ---- reading and replacing files in slices ---- */

#include <stdio.h>
#include <time.h>

enum { PHI__FILE_TEMP_TRIES = 100, PHI__FILE_TEMP_BYTES = 40 /* ".phi-", two numbers, ".tmp" */ };

static phi_status phi__files_refused_as(const char *text, phi__words *words) {
    if (words != NULL) (void)snprintf(words->text, sizeof words->text, "%s", text);
    return PHI_IO;
}

enum { PHI__FILES_FLAGS = O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

/* Makes a new file in file->dir, with a short name, which always fits. Returns an errno value. */
static int phi__files_open_temp(phi__file *file, mode_t mode) {
    struct timespec now;
    for (int i = 0; i < PHI__FILE_TEMP_TRIES; i++) {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        (void)snprintf(file->temp, PHI__FILE_TEMP_BYTES, ".phi-%08x%08x.tmp", (unsigned)getpid(),
                       (unsigned)now.tv_nsec + (unsigned)i);
        file->fd = phi__files_open(file->dir, file->temp, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (file->fd >= 0) {
            file->has_temp = true;
            return 0;
        }
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

/* Gives the temporary file the old file's owner and mode. Until then only this user can read it. */
static int phi__files_take_after(phi__file *file, const struct stat *old) {
    struct stat now;
    if (fstat(file->fd, &now) != 0) return errno;
    if (now.st_uid != old->st_uid || now.st_gid != old->st_gid)
        if (fchown(file->fd, old->st_uid, old->st_gid) != 0 && errno != EPERM) return errno;
    return fchmod(file->fd, old->st_mode & 07777) != 0 ? errno : 0;
}

static phi_status phi__files_begin_replace(phi__file *file, phi__words *words) {
    struct stat old;
    bool exists = fstatat(file->dir, file->path, &old, AT_SYMLINK_NOFOLLOW) == 0;
    int error = exists || errno == ENOENT ? 0 : errno;
    if (error == 0 && exists) {
        if (S_ISDIR(old.st_mode)) error = EISDIR;
        if (S_ISLNK(old.st_mode)) error = PHI__EXACT_LINK;
        if (error == 0 && !S_ISREG(old.st_mode))
            return phi__files_refused_as("Not a regular file", words);
        if (error == 0 && faccessat(file->dir, file->path, W_OK, AT_EACCESS) != 0) error = errno;
    }
    if (error == 0) error = phi__files_open_temp(file, exists ? 0600 : 0666);
    if (error == 0 && exists) error = phi__files_take_after(file, &old);
    return error == 0 ? PHI_OK : phi__files_refused(error, words);
}

/* Makes a phi__file of `fd`. If fd is -1, opening failed with `error`. */
static phi_status phi__files_begin_read(phi_memory *memory, int fd, int error, phi__file **out,
                                        phi__words *words) {
    phi__file *file = phi__files_new(memory);
    phi_status status = PHI_OK;
    struct stat info;
    *out = NULL;
    if (file == NULL) {
        if (fd >= 0) (void)close(fd);
        return phi__files_refused(ENOMEM, words);
    }
    file->fd = fd;
    if (fd < 0 || fstat(fd, &info) != 0)
        status = phi__files_refused(fd < 0 ? error : errno, words);
    else if (S_ISDIR(info.st_mode))
        status = phi__files_refused(EISDIR, words);
    else if (!S_ISREG(info.st_mode))
        status = phi__files_refused_as("Not a regular file", words);
    if (status == PHI_OK)
        *out = file;
    else
        phi__files_close(file);
    return status;
}

PHI__FN phi_status phi__files_stat(const char *path, phi__links links, phi__file_info *out,
                                   phi__words *words) {
    struct stat info;
    int error = 0;
    out->kind = PHI__FILE_NONE;
    out->bytes = 0;
    if (links == PHI__LINKS_REFUSE) {
        const char *name;
        int dir;
        error = phi__exact_parent(path, &dir, &name);
        if (error == 0 && fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0) error = errno;
        if (dir >= 0) (void)close(dir);
        if (error == 0 && S_ISLNK(info.st_mode)) error = PHI__EXACT_LINK;
    } else if (stat(path, &info) != 0)
        error = errno;
    if (error != 0) return phi__files_refused(error, words);
    out->kind = S_ISREG(info.st_mode)   ? PHI__FILE_REGULAR
                : S_ISDIR(info.st_mode) ? PHI__FILE_DIRECTORY
                : S_ISLNK(info.st_mode) ? PHI__FILE_LINK
                                        : PHI__FILE_OTHER;
    out->bytes = info.st_size > 0 ? (uint64_t)info.st_size : 0;
    return PHI_OK;
}

PHI__FN phi_status phi__files_open_read(phi_memory *memory, const char *path, phi__links links,
                                        phi__file **out, phi__words *words) {
    int fd, error;
    if (links == PHI__LINKS_REFUSE) {
        error = phi__exact_open(path, O_RDONLY | PHI__FILES_FLAGS, &fd);
    } else {
        fd = phi__files_open(AT_FDCWD, path, O_RDONLY, 0);
        error = errno;
    }
    return phi__files_begin_read(memory, fd, error, out, words);
}

PHI__FN phi_status phi__files_open_in(phi_memory *memory, int dir, const char *name,
                                      phi__file **out, phi__words *words) {
    int fd = phi__files_open(dir, name, O_RDONLY | O_NOFOLLOW, 0);
    return phi__files_begin_read(memory, fd, errno, out, words);
}

PHI__FN phi_status phi__files_open_replace(phi_memory *memory, const char *path, phi__file **out,
                                           phi__words *words) {
    phi__file *file = phi__files_new(memory);
    const char *name;
    *out = NULL;
    if (file == NULL) return phi__files_refused(ENOMEM, words);
    int error = phi__exact_parent(path, &file->dir, &name);
    size_t n = strlen(name) + 1;
    if (error == 0) {
        file->bytes = n + PHI__FILE_TEMP_BYTES;
        file->path = (char *)phi__alloc(memory, file->bytes);
        if (file->path == NULL) error = ENOMEM;
    }
    if (error != 0) {
        phi__files_close(file);
        return phi__files_refused(error, words);
    }
    memcpy(file->path, name, n);
    file->temp = file->path + n;
    phi_status status = phi__files_begin_replace(file, words);
    if (status == PHI_OK)
        *out = file;
    else
        phi__files_close(file);
    return status;
}

PHI__FN void phi__files_private(phi__file *file) {
    if (file->has_temp) (void)fchmod(file->fd, 0600);
}

PHI__FN phi_status phi__files_read(phi__file *file, char *out, size_t n, size_t *got,
                                   phi__words *words) {
    ssize_t result;
    *got = 0;
    do result = read(file->fd, out, n);
    while (result < 0 && errno == EINTR);
    if (result < 0) return phi__files_refused(errno, words);
    *got = (size_t)result;
    return PHI_OK;
}

PHI__FN phi_status phi__files_make_way(phi__way *way, size_t *units, phi__words *words) {
    int error = phi__exact_descend(way, true, units);
    if (error == EAGAIN) return PHI_BUSY;
    return error == 0 ? PHI_OK : phi__files_refused(error, words);
}

PHI__FN void phi__files_leave(phi__way *way) {
    if (way->open) (void)close(way->dir);
    way->open = false;
}

#endif
