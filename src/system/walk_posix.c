/* walk_posix.c - opens and reads single directories, for walk.c. */
#include "system/system_in.h"
#include "io/io_in.h"
#include "io/os_in.h"
#include "system/files_in.h"

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_FILES)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A phi__dir is a DIR. */
static DIR *phi__dir_of(phi__dir *dir) { return (DIR *)(void *)dir; }

PHI__FN int phi__dir_open_path(const char *path, phi__links links, phi__fd *out) {
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    if (links == PHI__LINKS_REFUSE) return phi__exact_open(path, flags, out);
    *out = open(path, flags);
    return *out < 0 ? errno : 0;
}

PHI__FN int phi__dir_open(phi__fd dir, phi_str name, phi__fd *out) {
    char text[256];
    *out = -1;
    if (name.len >= sizeof text) return ENAMETOOLONG;
    memcpy(text, name.at, name.len);
    text[name.len] = '\0';
    *out = openat(dir, text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *out < 0 ? errno : 0;
}

PHI__FN phi__dir *phi__dir_new(phi_memory *memory, phi__fd fd) {
    (void)memory; /* the C library has its own */
    return (phi__dir *)(void *)fdopendir(fd);
}

PHI__FN phi__fd phi__dir_fd(const phi__dir *dir) { return dirfd((DIR *)(uintptr_t)dir); }

static phi__file_kind phi__dir_kind(int dir, const struct dirent *entry) {
    struct stat info;
    switch (entry->d_type) {
    case DT_REG: return PHI__FILE_REGULAR;
    case DT_DIR: return PHI__FILE_DIRECTORY;
    case DT_LNK: return PHI__FILE_LINK;
    case DT_UNKNOWN: break; /* some file systems do not report it */
    default: return PHI__FILE_OTHER;
    }
    if (fstatat(dir, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return PHI__FILE_OTHER;
    if (S_ISREG(info.st_mode)) return PHI__FILE_REGULAR;
    if (S_ISDIR(info.st_mode)) return PHI__FILE_DIRECTORY;
    return S_ISLNK(info.st_mode) ? PHI__FILE_LINK : PHI__FILE_OTHER;
}

PHI__FN const char *phi__dir_next(phi__dir *dir, phi__file_kind *kind) {
    const struct dirent *entry;
    do entry = readdir(phi__dir_of(dir));
    while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    if (entry == NULL) return NULL;
    *kind = phi__dir_kind(dirfd(phi__dir_of(dir)), entry);
    return entry->d_name;
}

PHI__FN void phi__dir_free(phi__dir *dir) {
    if (dir != NULL) (void)closedir(phi__dir_of(dir));
}

PHI__FN void phi__walk_close(phi__fd dir) { (void)close(dir); }

PHI__FN bool phi__walk_has(phi__fd dir, const char *name, bool *directory) {
    struct stat info;
    if (fstatat(dir, name, &info, 0) != 0) return false;
    *directory = S_ISDIR(info.st_mode);
    return true;
}

#endif
