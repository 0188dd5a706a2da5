/* ordered.c - walks a directory tree in order. The names of a directory are a heap, so that reading
   and sorting them can stop after each name. */
#include "system/ordered_in.h"

#ifndef PHI_NO_FILES

#include "base/buf_in.h"
#include "io/posix_in.h"
#include "system/walk_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { PHI__ORDERED_READ = 32 /* names read at once */ };

typedef struct phi__ordered_level {
    phi__buf names; /* of each entry its kind, in a byte, its name, and a NUL */
    uint32_t *heap; /* where entries begin in the names, the first in order on top */
    size_t count, cap;
    size_t path_len; /* of the path before a name, its slash included */
} phi__ordered_level;

struct phi__ordered {
    phi_memory *memory;
    int root;
    /* of the deepest level while, and after, it is read; else NULL, and `fd` may be open */
    DIR *dir;
    int fd;
    phi__buf path; /* of the entry returned last, terminated behind its length */
    phi__ordered_level *levels;
    size_t count, cap;
    bool enter;   /* the directory at `path`, next */
    bool reading; /* the deepest level */
};

static void phi__ordered_shut(phi__ordered *tree) {
    if (tree->dir != NULL)
        (void)closedir(tree->dir);
    else if (tree->fd >= 0)
        (void)close(tree->fd);
    tree->dir = NULL;
    tree->fd = -1;
}

/* ---- the heap ---- */

static const char *phi__ordered_name(const phi__ordered_level *level, uint32_t at) {
    return level->names.at + at + 1;
}

static bool phi__ordered_before(const phi__ordered_level *level, uint32_t a, uint32_t b) {
    return strcmp(phi__ordered_name(level, a), phi__ordered_name(level, b)) < 0;
}

static phi_status phi__ordered_push(phi__ordered *tree, phi__ordered_level *level,
                                    phi__file_kind kind, const char *name) {
    size_t at = level->count, from = level->names.len;
    uint32_t *heap = (uint32_t *)phi__grow(tree->memory, level->heap, &level->cap, level->count + 1,
                                           sizeof *heap);
    if (heap == NULL || from > UINT32_MAX - 512) return PHI_NO_MEMORY;
    level->heap = heap;
    phi__buf_char(&level->names, (char)kind);
    phi__buf_add(&level->names, name, strlen(name) + 1);
    if (level->names.failed) return PHI_NO_MEMORY;
    level->count++;
    for (; at > 0 && phi__ordered_before(level, (uint32_t)from, heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = (uint32_t)from;
    return PHI_OK;
}

static uint32_t phi__ordered_pop(phi__ordered_level *level) {
    uint32_t *heap = level->heap, top = heap[0], last = heap[--level->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < level->count) {
        if (child + 1 < level->count && phi__ordered_before(level, heap[child + 1], heap[child]))
            child++;
        if (!phi__ordered_before(level, heap[child], last)) break;
        heap[at] = heap[child];
        at = child;
    }
    if (level->count > 0) heap[at] = last;
    return top;
}

/* ---- levels ---- */

static bool phi__ordered_set_path(phi__ordered *tree, size_t from, const char *name) {
    tree->path.len = from;
    phi__buf_add(&tree->path, name, strlen(name) + 1);
    if (tree->path.failed) return false;
    tree->path.len--;
    return true;
}

static phi_status phi__ordered_refused(phi__words *words) {
    if (words != NULL) phi__posix_words(errno, words->text, sizeof words->text);
    return errno == ENOMEM ? PHI_NO_MEMORY : PHI_IO;
}

/* Opens the directory at tree->path, out of its parent where that is open. */
static int phi__ordered_open(phi__ordered *tree, size_t parent_len) {
    int parent = tree->dir != NULL ? dirfd(tree->dir) : tree->fd;
    if (parent < 0 || tree->path.len == 0)
        return phi__walk_open(tree->root, phi__buf_str(&tree->path));
    return openat(parent, tree->path.at + parent_len,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Makes the directory at tree->path the deepest level. */
static phi_status phi__ordered_enter(phi__ordered *tree, phi__words *words) {
    void *levels =
        phi__grow(tree->memory, tree->levels, &tree->cap, tree->count + 1, sizeof *tree->levels);
    phi__ordered_level *level;
    int fd;
    if (levels == NULL) return PHI_NO_MEMORY;
    tree->levels = (phi__ordered_level *)levels;
    if (tree->path.len >= PHI__PATH_BYTES - 1) {
        errno = ENAMETOOLONG;
        return phi__ordered_refused(words);
    }
    errno = 0;
    fd = phi__ordered_open(tree, tree->count > 0 ? tree->levels[tree->count - 1].path_len : 0);
    if (fd < 0) return phi__ordered_refused(words);
    phi__ordered_shut(tree);
    tree->dir = fdopendir(fd);
    if (tree->dir == NULL) {
        (void)close(fd);
        return PHI_NO_MEMORY;
    }
    if (tree->path.len > 0 && !phi__ordered_set_path(tree, tree->path.len, "/"))
        return PHI_NO_MEMORY;
    level = &tree->levels[tree->count++];
    memset(level, 0, sizeof *level);
    phi__buf_init(&level->names, tree->memory);
    level->path_len = tree->path.len;
    tree->reading = true;
    return PHI_BUSY;
}

static phi_status phi__ordered_read(phi__ordered *tree, phi__ordered_entry *out) {
    phi__ordered_level *level = &tree->levels[tree->count - 1];
    int i;
    for (i = 0; i < PHI__ORDERED_READ; i++) {
        const struct dirent *entry = readdir(tree->dir);
        if (entry == NULL) {
            tree->reading = false;
            out->entered = true;
            out->kind = PHI__FILE_DIRECTORY;
            out->path = phi__str(tree->path.at, level->path_len);
            return PHI_OK;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (phi__ordered_push(tree, level, phi__walk_kind(dirfd(tree->dir), entry),
                              entry->d_name) != PHI_OK)
            return PHI_NO_MEMORY;
    }
    return PHI_BUSY;
}

static void phi__ordered_leave(phi__ordered *tree) {
    phi__ordered_level *level = &tree->levels[--tree->count];
    phi__ordered_shut(tree);
    phi__buf_free(&level->names);
    phi__free(tree->memory, level->heap, level->cap * sizeof *level->heap);
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__ordered_new(phi_memory *memory, const char *root, phi__ordered **out,
                                    phi__words *words) {
    phi__ordered *tree = (phi__ordered *)phi__alloc(memory, sizeof *tree);
    int error;
    *out = NULL;
    if (tree == NULL) return phi__files_refused(ENOMEM, words);
    tree->memory = memory;
    tree->fd = -1;
    tree->enter = true;
    phi__buf_init(&tree->path, memory);
    tree->root = phi__walk_open_root(root, PHI__LINKS_REFUSE, &error);
    if (tree->root < 0) {
        phi__free(memory, tree, sizeof *tree);
        return phi__files_refused(error, words);
    }
    *out = tree;
    return PHI_OK;
}

PHI__FN phi_status phi__ordered_next(phi__ordered *tree, phi__ordered_entry *out,
                                     phi__words *words) {
    phi__ordered_level *level;
    uint32_t at;
    memset(out, 0, sizeof *out);
    out->depth = (uint32_t)tree->count;
    if (tree->enter) {
        phi_status status;
        tree->enter = false;
        status = phi__ordered_enter(tree, words);
        out->path = phi__buf_str(&tree->path);
        return status;
    }
    if (tree->count == 0) return PHI_NOT_FOUND;
    if (tree->reading) return phi__ordered_read(tree, out);
    level = &tree->levels[tree->count - 1];
    if (level->count == 0) {
        phi__ordered_leave(tree);
        return PHI_BUSY;
    }
    at = phi__ordered_pop(level);
    if (!phi__ordered_set_path(tree, level->path_len, phi__ordered_name(level, at)))
        return PHI_NO_MEMORY;
    out->kind = (phi__file_kind)level->names.at[at];
    out->path = phi__buf_str(&tree->path);
    tree->enter = out->kind == PHI__FILE_DIRECTORY;
    return PHI_OK;
}

PHI__FN void phi__ordered_skip(phi__ordered *tree) { tree->enter = false; }

PHI__FN int phi__ordered_at(phi__ordered *tree) {
    size_t len = tree->count > 0 ? tree->levels[tree->count - 1].path_len : 0;
    if (tree->dir != NULL) return dirfd(tree->dir);
    if (tree->fd < 0 && tree->count > 0)
        tree->fd = phi__walk_open(tree->root, phi__str(tree->path.at, len > 0 ? len - 1 : 0));
    return tree->fd;
}

PHI__FN void phi__ordered_free(phi__ordered *tree) {
    if (tree == NULL) return;
    while (tree->count > 0) phi__ordered_leave(tree);
    phi__ordered_shut(tree);
    phi__free(tree->memory, tree->levels, tree->cap * sizeof *tree->levels);
    phi__buf_free(&tree->path);
    (void)close(tree->root);
    phi__free(tree->memory, tree, sizeof *tree);
}

#endif
