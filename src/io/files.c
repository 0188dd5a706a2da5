/* files.c - creates and writes files, creates directories, and implements a store's disk. */
#include "io/io_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_FILES)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

PHI__FN phi_status phi__files_refused(int error, phi__words *words) {
    if (error == PHI__FILES_NO_MEMORY) error = ENOMEM;
    if (error == PHI__FILES_TOO_LONG) error = ENAMETOOLONG;
    if (words != NULL && error == PHI__EXACT_LINK)
        (void)snprintf(words->text, sizeof words->text,
                       "It has become a symbolic link since it was checked");
    else if (words != NULL)
        phi__os_words(error, words->text, sizeof words->text);
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
    *out = NULL;
    if (file == NULL) return phi__files_refused(ENOMEM, words);
    file->bytes = strlen(path) + 1;
    file->path = (char *)phi__alloc(memory, file->bytes);
    if (file->path == NULL) {
        phi__files_close(file);
        return phi__files_refused(ENOMEM, words);
    }
    memcpy(file->path, path, file->bytes);
    file->temp = file->path; /* the file is removed unless it is committed */
    file->fd = phi__files_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    int error = file->fd < 0 ? errno : 0;
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

/* Returns 0 or an errno value. */
static int phi__files_make_directory(const char *path) {
    struct stat info;
    int error = mkdir(path, 0777) == 0 ? 0 : errno;
    /* on a read-only file system other errors come before EEXIST */
    if (error != 0 && stat(path, &info) == 0) error = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
    return error;
}

PHI__FN phi_status phi__files_make_directories(const char *path, phi__words *words) {
    char part[PHI__PATH_BYTES];
    size_t n = strlen(path);
    int error = 0;
    if (n == 0) return phi__files_refused(ENOENT, words);
    if (n >= sizeof part) return phi__files_refused(ENAMETOOLONG, words);
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (i < n && part[i] != '/') continue;
        part[i] = '\0';
        error = phi__files_make_directory(part);
        if (error != 0) return phi__files_refused(error, words);
        if (i < n) part[i] = '/';
    }
    return PHI_OK;
}

/* ---- the file system calls of a store ---- */

/* The functions are in a table, so that a test can replace them, for example by a full disk. If
   `words` is not NULL, it gets the system's message of a failure. Statuses: PHI_NOT_FOUND for
   ENOENT; PHI_FULL if space, quota or file size is used up; PHI_BUSY if the lock is taken;
   PHI_NO_MEMORY for ENOMEM; PHI_TOO_BIG for an offset beyond the system's range; PHI_IO for any
   other error. Started programs inherit no descriptor, no signal is raised, and nothing waits for a
   lock.
   Threads: one at a time for each file. */

static phi_status phi__disk_refused(int error, phi__words *words) {
    phi_status status = phi__files_refused(error, words);
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return PHI_FULL;
    case EWOULDBLOCK: return PHI_BUSY;
    case EOVERFLOW: return PHI_TOO_BIG;
    default: return status;
    }
}

static phi_status phi__disk_said(int result, phi__words *words) {
    return result == 0 ? PHI_OK : phi__disk_refused(errno, words);
}

static void phi__disk_describe(const struct stat *info, phi__disk_info *out) {
    memset(out, 0, sizeof *out);
    out->bytes = info->st_size > 0 ? (uint64_t)info->st_size : 0;
    out->device = (uint64_t)info->st_dev;
    out->file = (uint64_t)info->st_ino;
    out->regular = S_ISREG(info->st_mode);
#if defined(__APPLE__)
    out->changed_ns = (int64_t)info->st_mtimespec.tv_sec * 1000000000 + info->st_mtimespec.tv_nsec;
#else
    out->changed_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
#endif
}

/* Systems report a symbolic link with different errors: ELOOP, EMLINK, EFTYPE. */
static phi_status phi__disk_not_opened(const char *path, int error, phi__words *words) {
    struct stat info;
    if (error == ENOENT || lstat(path, &info) != 0 || !S_ISLNK(info.st_mode))
        return phi__disk_refused(error, words);
    if (words != NULL)
        (void)snprintf(words->text, sizeof words->text,
                       "It is a symbolic link, which is not followed");
    return PHI_IO;
}

static phi_status phi__disk_open(void *user_data, const char *path, phi__disk_how how,
                                 intptr_t *out, phi__words *words) {
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, fd, error = 0;
    struct stat info;
    (void)user_data;
    *out = -1;
    flags |= how == PHI__DISK_READ ? O_RDONLY : O_RDWR;
    if (how == PHI__DISK_CREATE || how == PHI__DISK_FRESH) flags |= O_CREAT;
    if (how == PHI__DISK_FRESH) flags |= O_TRUNC;
    do fd = open(path, flags, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return phi__disk_not_opened(path, errno, words);
    if (fstat(fd, &info) != 0)
        error = errno;
    else if (!S_ISREG(info.st_mode))
        error = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    if (error != 0) {
        (void)close(fd);
        return phi__disk_refused(error, words);
    }
    *out = fd;
    return PHI_OK;
}

static phi_status phi__disk_close(void *user_data, intptr_t file, phi__words *words) {
    (void)user_data;
    if (close((int)file) == 0 || errno == EINTR) return PHI_OK;
    return phi__disk_refused(errno, words);
}

static phi_status phi__disk_info_now(void *user_data, intptr_t file, phi__disk_info *out,
                                     phi__words *words) {
    struct stat info;
    (void)user_data;
    if (fstat((int)file, &info) != 0) return phi__disk_refused(errno, words);
    phi__disk_describe(&info, out);
    return PHI_OK;
}

static phi_status phi__disk_info_of(void *user_data, const char *path, phi__disk_info *out,
                                    phi__words *words) {
    struct stat info;
    (void)user_data;
    if (lstat(path, &info) != 0) return phi__disk_refused(errno, words);
    phi__disk_describe(&info, out);
    return PHI_OK;
}

static bool phi__disk_counts(uint64_t at) {
    off_t place = (off_t)at;
    return place >= 0 && (uint64_t)place == at;
}

static phi_status phi__disk_read(void *user_data, intptr_t file, uint64_t at, char *out, size_t n,
                                 size_t *got, phi__words *words) {
    ssize_t result;
    (void)user_data;
    *got = 0;
    if (!phi__disk_counts(at)) return phi__disk_refused(EOVERFLOW, words);
    do result = pread((int)file, out, n, (off_t)at);
    while (result < 0 && errno == EINTR);
    if (result < 0) return phi__disk_refused(errno, words);
    *got = (size_t)result;
    return PHI_OK;
}

static phi_status phi__disk_write(void *user_data, intptr_t file, uint64_t at, const char *bytes,
                                  size_t n, size_t *wrote, phi__words *words) {
    (void)user_data;
    *wrote = 0;
    if (!phi__disk_counts(at)) return phi__disk_refused(EOVERFLOW, words);
    if (lseek((int)file, (off_t)at, SEEK_SET) < 0) return phi__disk_refused(errno, words);
    int error = phi__posix_write((int)file, bytes, n, wrote);
    if (error == 0 && *wrote == 0 && n > 0) error = ENOSPC;
    return error == 0 ? PHI_OK : phi__disk_refused(error, words);
}

static phi_status phi__disk_cut(void *user_data, intptr_t file, uint64_t bytes, phi__words *words) {
    int result;
    (void)user_data;
    if (!phi__disk_counts(bytes)) return phi__disk_refused(EOVERFLOW, words);
    do result = ftruncate((int)file, (off_t)bytes);
    while (result != 0 && errno == EINTR);
    return phi__disk_said(result, words);
}

static phi_status phi__disk_sync(void *user_data, intptr_t file, phi__words *words) {
    int result;
    (void)user_data;
#if defined(F_FULLFSYNC) /* on these systems fsync stops at the drive's own cache */
    if (fcntl((int)file, F_FULLFSYNC) == 0) return PHI_OK;
#endif
#if defined(__linux__)
    do result = fdatasync((int)file);
    while (result != 0 && errno == EINTR);
#else
    do result = fsync((int)file);
    while (result != 0 && errno == EINTR);
#endif
    return phi__disk_said(result, words);
}

static phi_status phi__disk_lock(void *user_data, intptr_t file, phi__words *words) {
    int result;
    (void)user_data;
    do result = flock((int)file, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return phi__disk_said(result, words);
}

static phi_status phi__disk_rename(void *user_data, const char *from, const char *to,
                                   phi__words *words) {
    (void)user_data;
    return phi__disk_said(rename(from, to), words);
}

static phi_status phi__disk_remove(void *user_data, const char *path, phi__words *words) {
    (void)user_data;
    return phi__disk_said(unlink(path), words);
}

static phi_status phi__disk_make_directories(void *user_data, const char *path, phi__words *words) {
    (void)user_data;
    return phi__files_make_directories(path, words);
}

static phi_status phi__disk_sync_directory(void *user_data, const char *path, phi__words *words) {
    int fd;
    (void)user_data;
    do fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return phi__disk_refused(errno, words);
    /* EINVAL means that the system cannot sync directories */
    phi_status status =
        fsync(fd) == 0 || errno == EINVAL ? PHI_OK : phi__disk_refused(errno, words);
    (void)close(fd);
    return status;
}

static phi_status phi__disk_list(void *user_data, const char *path,
                                 phi_status (*each)(void *ctx, const char *name), void *ctx,
                                 phi__words *words) {
    phi_status status = PHI_OK;
    DIR *dir = opendir(path);
    (void)user_data;
    if (dir == NULL) return phi__disk_refused(errno, words);
    while (status == PHI_OK) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            if (errno != 0) status = phi__disk_refused(errno, words);
            break;
        }
        status = each(ctx, entry->d_name);
    }
    (void)closedir(dir);
    return status;
}

PHI__FN const phi__disk *phi__disk_system(void) {
    static const phi__disk disk = {NULL,
                                   phi__disk_open,
                                   phi__disk_close,
                                   phi__disk_info_now,
                                   phi__disk_info_of,
                                   phi__disk_read,
                                   phi__disk_write,
                                   phi__disk_cut,
                                   phi__disk_sync,
                                   phi__disk_lock,
                                   phi__disk_rename,
                                   phi__disk_remove,
                                   phi__disk_make_directories,
                                   phi__disk_sync_directory,
                                   phi__disk_list};
    return &disk;
}

#endif
