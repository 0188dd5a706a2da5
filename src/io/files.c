/* files.c - makes and writes files, and makes directories. */
#include "io/files_in.h"

#ifndef PHI_NO_FILES

#include "io/posix_in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

PHI__FN phi_status phi__files_refused(int error, phi__words *words) {
    if (words != NULL && error == PHI__EXACT_LINK)
        (void)snprintf(words->text, sizeof words->text,
                       "It has become a symbolic link since it was checked");
    else if (words != NULL)
        phi__posix_words(error, words->text, sizeof words->text);
    return error == ENOENT ? PHI_NOT_FOUND : error == ENOMEM ? PHI_NO_MEMORY : PHI_IO;
}

PHI__FN int phi__files_open(int dir, const char *path, int flags, unsigned mode) {
    int fd;
    do fd = openat(dir, path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, (mode_t)mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

PHI__FN phi__file *phi__files_new(phi_memory *memory) {
    phi__file *file = (phi__file *)phi__alloc(memory, sizeof *file);
    if (file == NULL) return NULL;
    file->memory = memory;
    file->fd = file->dir = -1;
    return file;
}

PHI__FN phi_status phi__files_open_new(phi_memory *memory, const char *path, phi__file **out,
                                       phi__words *words) {
    phi__file *file = phi__files_new(memory);
    int error;
    *out = NULL;
    if (file == NULL) return phi__files_refused(ENOMEM, words);
    file->bytes = strlen(path) + 1;
    file->path = (char *)phi__alloc(memory, file->bytes);
    if (file->path == NULL) {
        phi__files_close(file);
        return phi__files_refused(ENOMEM, words);
    }
    memcpy(file->path, path, file->bytes);
    file->temp = file->path; /* removed unless it is committed */
    file->fd = phi__files_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    error = file->fd < 0 ? errno : 0;
    file->has_temp = error == 0;
    if (error == 0)
        *out = file;
    else
        phi__files_close(file);
    if (error == EEXIST) return PHI_BUSY;
    return error == 0 ? PHI_OK : phi__files_refused(error, words);
}

PHI__FN phi_status phi__files_write(phi__file *file, const char *bytes, size_t n,
                                    phi__words *words) {
    size_t at = 0, wrote;
    int error = file->failed ? EIO : 0;
    while (error == 0 && at < n) {
        error = phi__posix_write(file->fd, bytes + at, n - at, &wrote);
        at += wrote;
        if (error == 0 && wrote == 0) error = ENOSPC;
    }
    if (error == 0) return PHI_OK;
    file->failed = true;
    return phi__files_refused(error, words);
}

PHI__FN phi_status phi__files_commit(phi__file *file, phi__words *words) {
    int fd = file->fd;
    if (file->failed) return phi__files_refused(EIO, words);
    file->fd = -1;
    if (fd >= 0 && close(fd) != 0 && errno != EINTR) {
        file->failed = true; /* some file systems report a full disk only here */
        return phi__files_refused(errno, words);
    }
    if (file->has_temp) {
        if (file->temp != file->path && renameat(file->dir, file->temp, file->dir, file->path) != 0)
            return phi__files_refused(errno, words);
        file->has_temp = false;
    }
    return PHI_OK;
}

PHI__FN void phi__files_close(phi__file *file) {
    if (file == NULL) return;
    if (file->fd >= 0) (void)close(file->fd);
    if (file->has_temp) (void)unlinkat(file->dir >= 0 ? file->dir : AT_FDCWD, file->temp, 0);
    if (file->dir >= 0) (void)close(file->dir);
    phi__free(file->memory, file->path, file->bytes);
    phi__free(file->memory, file, sizeof *file);
}

/* An errno value. */
static int phi__files_make_directory(const char *path) {
    struct stat info;
    int error = mkdir(path, 0777) == 0 ? 0 : errno;
    /* Other refusals than EEXIST come first for a root that is read-only, or not ours. */
    if (error != 0 && stat(path, &info) == 0) error = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
    return error;
}

PHI__FN phi_status phi__files_make_directories(const char *path, phi__words *words) {
    char part[PHI__PATH_BYTES];
    size_t n = strlen(path), i;
    int error = 0;
    if (n == 0) return phi__files_refused(ENOENT, words);
    if (n >= sizeof part) return phi__files_refused(ENAMETOOLONG, words);
    memcpy(part, path, n + 1);
    for (i = 1; i <= n; i++) {
        if (i < n && part[i] != '/') continue;
        part[i] = '\0';
        error = phi__files_make_directory(part);
        if (error != 0) return phi__files_refused(error, words);
        if (i < n) part[i] = '/';
    }
    return PHI_OK;
}

#endif
