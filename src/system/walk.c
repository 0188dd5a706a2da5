/* walk.c - walks a directory tree, one entry at a time.

   Each directory being walked is a level. Its entries are returned as they are read; names of
   directories wait until their level is read to its end, or their bytes are many. So time is linear
   in the tree, and memory does not grow with it. A directory is opened from the root, part by part,
   and never through a link. */
#include "system/files_in.h"

#ifndef PHI_NO_FILES

#include "base/buf_in.h"
#include "system/exact_in.h"
#include "system/walk_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHI__WALK_HELD = 65536, /* bytes of names of one level that wait */ PHI__WALK_DEPTH = 64 };

typedef struct phi__walk_level {
    DIR *dir;        /* NULL: read to its end */
    phi__buf names;  /* of directories that wait, each behind a NUL */
    size_t path_len; /* of the path before a name, its slash included */
} phi__walk_level;

struct phi__walk {
    phi_memory *memory;
    int root;
    phi__buf path; /* of the entry returned last */
    phi__walk_level *levels;
    size_t count, cap;
    bool enter; /* the directory at `path`, next */
    bool wait;  /* the directory at `path` is to wait */
};

/* The next entry of a level; PHI_BUSY: there is none. */
static phi_status phi__walk_read(phi__walk *walk, phi__walk_level *level, phi__walk_entry *out) {
    const struct dirent *entry;
    do entry = readdir(level->dir);
    while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    if (entry == NULL) {
        (void)closedir(level->dir);
        level->dir = NULL;
        return PHI_BUSY;
    }
    walk->path.len = level->path_len;
    phi__buf_text(&walk->path, entry->d_name);
    if (walk->path.failed) return PHI_NO_MEMORY;
    out->kind = phi__walk_kind(dirfd(level->dir), entry);
    out->path = phi__buf_str(&walk->path);
    walk->wait = out->kind == PHI__FILE_DIRECTORY && walk->count < PHI__WALK_DEPTH;
    return PHI_OK;
}

/* The directory that was returned last waits in its level. */
static phi_status phi__walk_push(phi__walk *walk) {
    phi__walk_level *level = &walk->levels[walk->count - 1];
    walk->wait = false;
    phi__buf_char(&level->names, '\0');
    phi__buf_add(&level->names, walk->path.at + level->path_len, walk->path.len - level->path_len);
    return level->names.failed ? PHI_NO_MEMORY : PHI_OK;
}

/* Sets the path to the directory that was queued last. */
static bool phi__walk_pop(phi__walk *walk, phi__walk_level *level) {
    size_t at = level->names.len;
    while (level->names.at[at - 1] != '\0') at--;
    walk->path.len = level->path_len;
    phi__buf_add(&walk->path, level->names.at + at, level->names.len - at);
    level->names.len = at - 1;
    return !walk->path.failed;
}

/* Makes the directory at walk->path the deepest level. */
static phi_status phi__walk_enter(phi__walk *walk, phi__walk_entry *out) {
    void *levels =
        phi__grow(walk->memory, walk->levels, &walk->cap, walk->count + 1, sizeof *walk->levels);
    phi__walk_level *level;
    int fd;
    if (levels == NULL) return PHI_NO_MEMORY;
    walk->levels = (phi__walk_level *)levels;
    fd = phi__walk_open(walk->root, phi__buf_str(&walk->path));
    if (fd < 0) return PHI_BUSY;
    if (walk->path.len > 0) phi__buf_char(&walk->path, '/');
    level = &walk->levels[walk->count];
    memset(level, 0, sizeof *level);
    phi__buf_init(&level->names, walk->memory);
    level->path_len = walk->path.len;
    level->dir = walk->path.failed ? NULL : fdopendir(fd);
    if (level->dir == NULL) {
        (void)close(fd);
        return PHI_NO_MEMORY;
    }
    walk->count++;
    out->entered = true;
    out->path = phi__buf_str(&walk->path);
    return PHI_BUSY;
}

static void phi__walk_leave(phi__walk *walk) {
    phi__walk_level *level = &walk->levels[--walk->count];
    if (level->dir != NULL) (void)closedir(level->dir);
    phi__buf_free(&level->names);
}

/* ---- for other modules ---- */

PHI__FN phi__file_kind phi__walk_kind(int dir, const struct dirent *entry) {
    struct stat info;
    switch (entry->d_type) {
    case DT_REG: return PHI__FILE_REGULAR;
    case DT_DIR: return PHI__FILE_DIRECTORY;
    case DT_LNK: return PHI__FILE_LINK;
    case DT_UNKNOWN: break; /* some file systems do not say */
    default: return PHI__FILE_OTHER;
    }
    if (fstatat(dir, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return PHI__FILE_OTHER;
    if (S_ISREG(info.st_mode)) return PHI__FILE_REGULAR;
    if (S_ISDIR(info.st_mode)) return PHI__FILE_DIRECTORY;
    return S_ISLNK(info.st_mode) ? PHI__FILE_LINK : PHI__FILE_OTHER;
}

PHI__FN int phi__walk_open(int root, phi_str path) {
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(root, ".", flags);
    size_t at = 0;
    while (fd >= 0 && at < path.len) {
        char part[256];
        size_t n = 0;
        int next = -1;
        while (at + n < path.len && path.at[at + n] != '/') n++;
        if (n < sizeof part) {
            memcpy(part, path.at + at, n);
            part[n] = '\0';
            next = openat(fd, part, flags);
        }
        (void)close(fd);
        fd = next;
        at += n + 1;
    }
    return fd;
}

PHI__FN int phi__walk_open_root(const char *root, phi__links links, int *error) {
    int fd, flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    if (links == PHI__LINKS_REFUSE) {
        *error = phi__exact_open(root, flags, &fd);
        return fd;
    }
    fd = open(root, flags);
    *error = fd < 0 ? errno : 0;
    return fd;
}

PHI__FN int phi__walk_open_path(phi_str path) {
    char text[PHI__PATH_BYTES];
    int error;
    if (path.len >= sizeof text) return -1;
    memcpy(text, path.at, path.len);
    text[path.len] = '\0';
    return phi__walk_open_root(text, PHI__LINKS_REFUSE, &error);
}

PHI__FN void phi__walk_close(int dir) { (void)close(dir); }

PHI__FN bool phi__walk_has(int dir, const char *name, bool *directory) {
    struct stat info;
    if (fstatat(dir, name, &info, 0) != 0) return false;
    *directory = S_ISDIR(info.st_mode);
    return true;
}

PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__links links,
                                 phi__walk **out, phi__words *words) {
    phi__walk *walk = (phi__walk *)phi__alloc(memory, sizeof *walk);
    int error;
    *out = NULL;
    if (walk == NULL) return phi__files_refused(ENOMEM, words);
    walk->memory = memory;
    walk->enter = true;
    phi__buf_init(&walk->path, memory);
    walk->root = phi__walk_open_root(root, links, &error);
    if (walk->root < 0) {
        phi__free(memory, walk, sizeof *walk);
        return phi__files_refused(error, words);
    }
    *out = walk;
    return PHI_OK;
}

PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out) {
    phi__walk_level *level;
    out->depth = (uint32_t)walk->count;
    out->entered = false;
    if (walk->wait && phi__walk_push(walk) != PHI_OK) return PHI_NO_MEMORY;
    if (walk->enter) {
        walk->enter = false;
        return phi__walk_enter(walk, out);
    }
    if (walk->count == 0) return PHI_NOT_FOUND;
    level = &walk->levels[walk->count - 1];
    if (level->dir != NULL && level->names.len < PHI__WALK_HELD)
        return phi__walk_read(walk, level, out);
    if (level->names.len > 0)
        return phi__walk_pop(walk, level) ? phi__walk_enter(walk, out) : PHI_NO_MEMORY;
    phi__walk_leave(walk);
    return PHI_BUSY;
}

PHI__FN int phi__walk_at(const phi__walk *walk) {
    const phi__walk_level *level = walk->count > 0 ? &walk->levels[walk->count - 1] : NULL;
    return level != NULL && level->dir != NULL ? dirfd(level->dir) : -1;
}

PHI__FN void phi__walk_skip(phi__walk *walk) { walk->wait = false; }

PHI__FN void phi__walk_free(phi__walk *walk) {
    if (walk == NULL) return;
    while (walk->count > 0) phi__walk_leave(walk);
    phi__free(walk->memory, walk->levels, walk->cap * sizeof *walk->levels);
    phi__buf_free(&walk->path);
    (void)close(walk->root);
    phi__free(walk->memory, walk, sizeof *walk);
}

#endif
