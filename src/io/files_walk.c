/* files_walk.c - a directory tree, a few entries at a time.

   Each directory being walked is a level. Its names go into a heap as they are read, and leave it in
   order, so that neither reading nor sorting a large directory is one long piece of work. A
   directory is opened from the root, part by part, and never through a link. */
#include "io/files_in.h"

#ifndef PHI_NO_FILES

#include "base/buf_in.h"
#include "io/posix_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PHI__WALK_SLICE = 128,    /* entries read in one call */
    PHI__WALK_SORTED = 65536, /* names of one directory in memory */
    PHI__WALK_DEPTH = 64
};

/* A name in the heap: its kind in the first byte, then the name, terminated. */
typedef char *phi__walk_name;

typedef struct phi__walk_level {
    DIR *dir; /* NULL: read to its end */
    phi__walk_name *heap;
    size_t count, cap;
    size_t path_len; /* of the path before a name, its slash included */
} phi__walk_level;

struct phi__walk {
    phi_memory *memory;
    int root;
    phi__buf path; /* of the entry returned last */
    phi__walk_level *levels;
    size_t count, cap;
    bool enter; /* the directory at `path`, next */
};

/* A directory's name sorts as if its slash were part of it: then whole paths are in order. */
static bool phi__walk_before(const char *a, const char *b) {
    size_t i = 1;
    int x, y;
    while (a[i] != '\0' && a[i] == b[i]) i++;
    x = a[i] != '\0' ? (unsigned char)a[i] : a[0] == (char)PHI__FILE_DIRECTORY ? '/' : 0;
    y = b[i] != '\0' ? (unsigned char)b[i] : b[0] == (char)PHI__FILE_DIRECTORY ? '/' : 0;
    return x < y;
}

static phi_status phi__walk_push(phi__walk *walk, phi__walk_level *level, const char *name,
                                 phi__file_kind kind) {
    size_t n = strlen(name) + 2, at;
    void *heap = phi__grow(walk->memory, (void *)level->heap, &level->cap, level->count + 1,
                           sizeof *level->heap);
    phi__walk_name entry;
    if (heap == NULL) return PHI_NO_MEMORY;
    level->heap = (phi__walk_name *)heap;
    entry = (phi__walk_name)phi__alloc(walk->memory, n);
    if (entry == NULL) return PHI_NO_MEMORY;
    entry[0] = (char)kind;
    memcpy(entry + 1, name, n - 1);
    for (at = level->count++; at > 0 && phi__walk_before(entry, level->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        level->heap[at] = level->heap[(at - 1) / 2];
    level->heap[at] = entry;
    return PHI_OK;
}

static phi__walk_name phi__walk_pop(phi__walk_level *level) {
    phi__walk_name first = level->heap[0], last = level->heap[--level->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < level->count) {
        if (child + 1 < level->count &&
            phi__walk_before(level->heap[child + 1], level->heap[child]))
            child++;
        if (!phi__walk_before(level->heap[child], last)) break;
        level->heap[at] = level->heap[child];
        at = child;
    }
    level->heap[at] = last;
    return first;
}

static void phi__walk_forget(phi__walk *walk, phi__walk_name name) {
    phi__free(walk->memory, name, strlen(name + 1) + 2);
}

static phi__file_kind phi__walk_kind(DIR *dir, const struct dirent *entry) {
    struct stat info;
    switch (entry->d_type) {
    case DT_REG: return PHI__FILE_REGULAR;
    case DT_DIR: return PHI__FILE_DIRECTORY;
    case DT_LNK: return PHI__FILE_LINK;
    case DT_UNKNOWN: break; /* some file systems do not say */
    default: return PHI__FILE_OTHER;
    }
    if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return PHI__FILE_OTHER;
    if (S_ISREG(info.st_mode)) return PHI__FILE_REGULAR;
    if (S_ISDIR(info.st_mode)) return PHI__FILE_DIRECTORY;
    return S_ISLNK(info.st_mode) ? PHI__FILE_LINK : PHI__FILE_OTHER;
}

/* Reads names until the slice is done, the heap is full or the directory ends. */
static phi_status phi__walk_read(phi__walk *walk, phi__walk_level *level) {
    int i;
    for (i = 0; i < PHI__WALK_SLICE && level->count < PHI__WALK_SORTED; i++) {
        const struct dirent *entry = readdir(level->dir);
        phi_status status;
        if (entry == NULL) {
            (void)closedir(level->dir);
            level->dir = NULL;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        status = phi__walk_push(walk, level, entry->d_name, phi__walk_kind(level->dir, entry));
        if (status != PHI_OK) return status;
    }
    return PHI_BUSY;
}

/* Opens the directory at walk->path, from the root on; -1: it cannot be read. */
static int phi__walk_open(const phi__walk *walk) {
    phi_str path = phi__buf_str(&walk->path);
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(walk->root, ".", flags);
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

/* Makes the directory at walk->path the deepest level. */
static phi_status phi__walk_enter(phi__walk *walk) {
    void *levels =
        phi__grow(walk->memory, walk->levels, &walk->cap, walk->count + 1, sizeof *walk->levels);
    phi__walk_level *level;
    int fd;
    if (levels == NULL) return PHI_NO_MEMORY;
    walk->levels = (phi__walk_level *)levels;
    fd = phi__walk_open(walk);
    if (fd < 0) return PHI_BUSY;
    if (walk->path.len > 0) phi__buf_char(&walk->path, '/');
    level = &walk->levels[walk->count];
    memset(level, 0, sizeof *level);
    level->path_len = walk->path.len;
    level->dir = walk->path.failed ? NULL : fdopendir(fd);
    if (level->dir == NULL) {
        (void)close(fd);
        return PHI_NO_MEMORY;
    }
    walk->count++;
    return PHI_BUSY;
}

static void phi__walk_leave(phi__walk *walk) {
    phi__walk_level *level = &walk->levels[--walk->count];
    size_t i;
    if (level->dir != NULL) (void)closedir(level->dir);
    for (i = 0; i < level->count; i++) phi__walk_forget(walk, level->heap[i]);
    phi__free(walk->memory, (void *)level->heap, level->cap * sizeof *level->heap);
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__walk **out,
                                 phi__words *words) {
    phi__walk *walk = (phi__walk *)phi__alloc(memory, sizeof *walk);
    *out = NULL;
    if (walk == NULL) {
        if (words != NULL) phi__posix_words(ENOMEM, words->text, sizeof words->text);
        return PHI_NO_MEMORY;
    }
    walk->memory = memory;
    walk->enter = true;
    phi__buf_init(&walk->path, memory);
    walk->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (walk->root < 0) {
        int error = errno;
        if (words != NULL) phi__posix_words(error, words->text, sizeof words->text);
        phi__free(memory, walk, sizeof *walk);
        return error == ENOENT ? PHI_NOT_FOUND : PHI_IO;
    }
    *out = walk;
    return PHI_OK;
}

PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out) {
    phi__walk_level *level;
    phi__walk_name name;
    if (walk->enter) {
        walk->enter = false;
        return phi__walk_enter(walk);
    }
    if (walk->count == 0) return PHI_NOT_FOUND;
    level = &walk->levels[walk->count - 1];
    if (level->dir != NULL && level->count < PHI__WALK_SORTED) return phi__walk_read(walk, level);
    if (level->count == 0) {
        phi__walk_leave(walk);
        return PHI_BUSY;
    }
    name = phi__walk_pop(level);
    walk->path.len = level->path_len;
    phi__buf_text(&walk->path, name + 1);
    out->kind = (phi__file_kind)name[0];
    phi__walk_forget(walk, name);
    if (walk->path.failed) return PHI_NO_MEMORY;
    out->path = phi__buf_str(&walk->path);
    out->depth = (uint32_t)walk->count;
    walk->enter = out->kind == PHI__FILE_DIRECTORY && walk->count < PHI__WALK_DEPTH;
    return PHI_OK;
}

PHI__FN void phi__walk_skip(phi__walk *walk) { walk->enter = false; }

PHI__FN void phi__walk_free(phi__walk *walk) {
    if (walk == NULL) return;
    while (walk->count > 0) phi__walk_leave(walk);
    phi__free(walk->memory, walk->levels, walk->cap * sizeof *walk->levels);
    phi__buf_free(&walk->path);
    (void)close(walk->root);
    phi__free(walk->memory, walk, sizeof *walk);
}

#endif
