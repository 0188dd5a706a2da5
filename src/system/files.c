/* files.c - reads and replaces files. */
#include "system/files_in.h"

#ifndef PHI_NO_FILES

#include "system/exact_in.h"
#include "io/posix_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PHI__FILE_TEMP_TRIES = 100, PHI__FILE_TEMP_BYTES = 40 /* ".phi-" two numbers ".tmp" */ };

static phi_status phi__files_refused_as(const char *text, phi__words *words) {
    if (words != NULL) (void)snprintf(words->text, sizeof words->text, "%s", text);
    return PHI_IO;
}

static phi__file_kind phi__files_kind_of(mode_t mode) {
    if (S_ISREG(mode)) return PHI__FILE_REGULAR;
    if (S_ISDIR(mode)) return PHI__FILE_DIRECTORY;
    return S_ISLNK(mode) ? PHI__FILE_LINK : PHI__FILE_OTHER;
}

enum { PHI__FILES_FLAGS = O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

/* Makes a new file in the directory of file->path, with a short name, so that a long one fits too.
   Returns an errno value. */
static int phi__files_open_temp(phi__file *file, mode_t mode) {
    struct timespec now;
    int i;
    for (i = 0; i < PHI__FILE_TEMP_TRIES; i++) {
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

/* The temporary file becomes like the one it will replace: readable to no one else meanwhile. */
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

/* fd: opened for reading; -1: it was not, for `error`. */
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

static int phi__files_stat_exact(const char *path, struct stat *info) {
    const char *name;
    int dir, error = phi__exact_parent(path, &dir, &name);
    if (error != 0) return error;
    if (fstatat(dir, name, info, AT_SYMLINK_NOFOLLOW) != 0) error = errno;
    (void)close(dir);
    return error == 0 && S_ISLNK(info->st_mode) ? (int)PHI__EXACT_LINK : error;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__files_stat(const char *path, phi__links links, phi__file_info *out,
                                   phi__words *words) {
    struct stat info;
    int error = 0;
    out->kind = PHI__FILE_NONE;
    out->bytes = 0;
    if (links == PHI__LINKS_REFUSE)
        error = phi__files_stat_exact(path, &info);
    else if (stat(path, &info) != 0)
        error = errno;
    if (error != 0) return phi__files_refused(error, words);
    out->kind = phi__files_kind_of(info.st_mode);
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
    phi_status status;
    const char *name;
    size_t n;
    int error;
    *out = NULL;
    if (file == NULL) return phi__files_refused(ENOMEM, words);
    error = phi__exact_parent(path, &file->dir, &name);
    n = strlen(name) + 1;
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
    status = phi__files_begin_replace(file, words);
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
    int error = phi__exact_make(way, units);
    if (error == EAGAIN) return PHI_BUSY;
    return error == 0 ? PHI_OK : phi__files_refused(error, words);
}

PHI__FN void phi__files_leave(phi__way *way) { phi__exact_leave(way); }

#endif
