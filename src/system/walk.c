/* walk.c - walks a directory tree, one entry at a time. walk_posix.c and walk_windows.c open and
   read single directories.

   Each directory being walked is a level. Entries are returned as they are read. Names of
   directories are queued until their level is read to its end, or until their bytes reach a limit.
   So time is linear in the tree, and memory does not grow with the tree. A directory is opened from
   the root, part by part, and never through a link. */
#include "system/system_in.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "system/files_in.h"

#ifndef PHI_NO_FILES

enum { PHI__WALK_HELD = 65536, /* max. bytes of queued names at one level */ PHI__WALK_DEPTH = 64 };

typedef struct phi__walk_level {
    phi__dir *dir;   /* NULL after it was read to its end */
    phi__buf names;  /* queued names of directories, each after a NUL */
    size_t path_len; /* bytes of the path before a name, including the slash */
} phi__walk_level;

struct phi__walk {
    phi_memory *memory;
    phi__fd root;
    phi__buf path; /* path of the entry returned last */
    phi__walk_level *levels;
    size_t count, cap;
    bool enter; /* enter the directory at `path` next */
    bool wait;  /* queue the directory at `path` */
};

/* Opens the directory at `path` below the root, part by part, never through a link. */
static int phi__walk_open(phi__fd root, phi_str path, phi__fd *out) {
    int error = phi__dir_open(root, PHI__LIT("."), out);
    size_t at = 0;
    while (error == 0 && at < path.len) {
        phi__fd above = *out;
        size_t n = 0;
        while (at + n < path.len && path.at[at + n] != '/') n++;
        error = phi__dir_open(above, phi__str(path.at + at, n), out);
        phi__walk_close(above);
        at += n + 1;
    }
    return error;
}

/* Reads the next entry of a level. PHI_BUSY: the level has no more entries. */
static phi_status phi__walk_read(phi__walk *walk, phi__walk_level *level, phi__walk_entry *out) {
    const char *name = phi__dir_next(level->dir, &out->kind);
    if (name == NULL) {
        phi__dir_free(level->dir);
        level->dir = NULL;
        return PHI_BUSY;
    }
    walk->path.len = level->path_len;
    phi__buf_text(&walk->path, name);
    if (walk->path.failed) return PHI_NO_MEMORY;
    out->path = phi__buf_str(&walk->path);
    walk->wait = out->kind == PHI__FILE_DIRECTORY && walk->count < PHI__WALK_DEPTH;
    return PHI_OK;
}

/* Makes the directory at walk->path the deepest level. */
static phi_status phi__walk_enter(phi__walk *walk, phi__walk_entry *out) {
    void *levels =
        phi__grow(walk->memory, walk->levels, &walk->cap, walk->count + 1, sizeof *walk->levels);
    if (levels == NULL) return PHI_NO_MEMORY;
    walk->levels = (phi__walk_level *)levels;
    phi__fd fd;
    if (phi__walk_open(walk->root, phi__buf_str(&walk->path), &fd) != 0) return PHI_BUSY;
    if (walk->path.len > 0) phi__buf_char(&walk->path, '/');
    phi__walk_level *level = &walk->levels[walk->count];
    memset(level, 0, sizeof *level);
    phi__buf_init(&level->names, walk->memory);
    level->path_len = walk->path.len;
    level->dir = walk->path.failed ? NULL : phi__dir_new(walk->memory, fd);
    if (level->dir == NULL) {
        phi__walk_close(fd);
        return PHI_NO_MEMORY;
    }
    walk->count++;
    out->entered = true;
    out->path = phi__buf_str(&walk->path);
    return PHI_BUSY;
}

static void phi__walk_leave(phi__walk *walk) {
    phi__walk_level *level = &walk->levels[--walk->count];
    phi__dir_free(level->dir);
    phi__buf_free(&level->names);
}

PHI__FN phi__fd phi__walk_open_path(phi_str path) {
    char text[PHI__PATH_BYTES];
    phi__fd fd;
    if (path.len >= sizeof text) return -1;
    memcpy(text, path.at, path.len);
    text[path.len] = '\0';
    return phi__dir_open_path(text, PHI__LINKS_REFUSE, &fd) == 0 ? fd : -1;
}

PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__links links,
                                 phi__walk **out, phi__words *words) {
    phi__walk *walk = (phi__walk *)phi__alloc(memory, sizeof *walk);
    *out = NULL;
    if (walk == NULL) return phi__files_refused(PHI__FILES_NO_MEMORY, words);
    walk->memory = memory;
    walk->enter = true;
    phi__buf_init(&walk->path, memory);
    int error = phi__dir_open_path(root, links, &walk->root);
    if (error != 0) {
        phi__free(memory, walk, sizeof *walk);
        return phi__files_refused(error, words);
    }
    *out = walk;
    return PHI_OK;
}

PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out) {
    out->depth = (uint32_t)walk->count;
    out->entered = false;
    if (walk->wait) { /* queue the directory returned last */
        phi__walk_level *last = &walk->levels[walk->count - 1];
        walk->wait = false;
        phi__buf_char(&last->names, '\0');
        phi__buf_add(&last->names, walk->path.at + last->path_len, walk->path.len - last->path_len);
        if (last->names.failed) return PHI_NO_MEMORY;
    }
    if (walk->enter) {
        walk->enter = false;
        return phi__walk_enter(walk, out);
    }
    if (walk->count == 0) return PHI_NOT_FOUND;
    phi__walk_level *level = &walk->levels[walk->count - 1];
    if (level->dir != NULL && level->names.len < PHI__WALK_HELD)
        return phi__walk_read(walk, level, out);
    if (level->names.len == 0) {
        phi__walk_leave(walk);
        return PHI_BUSY;
    }
    /* Enter the directory that was queued last. */
    size_t at = level->names.len;
    while (level->names.at[at - 1] != '\0') at--;
    walk->path.len = level->path_len;
    phi__buf_add(&walk->path, level->names.at + at, level->names.len - at);
    level->names.len = at - 1;
    return walk->path.failed ? PHI_NO_MEMORY : phi__walk_enter(walk, out);
}

PHI__FN phi__fd phi__walk_at(const phi__walk *walk) {
    const phi__walk_level *level = walk->count > 0 ? &walk->levels[walk->count - 1] : NULL;
    return level != NULL && level->dir != NULL ? phi__dir_fd(level->dir) : -1;
}

PHI__FN void phi__walk_skip(phi__walk *walk) { walk->wait = false; }

PHI__FN void phi__walk_free(phi__walk *walk) {
    if (walk == NULL) return;
    while (walk->count > 0) phi__walk_leave(walk);
    phi__free(walk->memory, walk->levels, walk->cap * sizeof *walk->levels);
    phi__buf_free(&walk->path);
    phi__walk_close(walk->root);
    phi__free(walk->memory, walk, sizeof *walk);
}

/* ---- walks in the order of names ----

   A directory is read to its end, some names at a time, before its first entry is returned. Memory
   holds the remaining names of the directories from the root to the current one, so the memory
   grows with the largest directory. Only the root and one directory are open. Links are not
   followed. A path has at most 4,095 bytes. */

enum { PHI__ORDERED_READ = 32 /* names read in one call */ };

typedef struct phi__ordered_level {
    phi__buf names; /* for each entry: a byte for its kind, its name, a NUL */
    uint32_t *heap; /* offsets of entries in `names`; a heap with the first in order on top */
    size_t count, cap;
    size_t path_len; /* bytes of the path before a name, including the slash */
} phi__ordered_level;

struct phi__ordered {
    phi_memory *memory;
    phi__fd root;
    /* The open directory of the deepest level, also after it was read. If NULL, `fd` may be open
       instead. */
    phi__dir *dir;
    phi__fd fd;
    phi__buf path; /* path of the entry returned last; a NUL follows */
    phi__ordered_level *levels;
    size_t count, cap;
    bool enter;   /* enter the directory at `path` next */
    bool reading; /* the deepest level is being read */
};

static void phi__ordered_shut(phi__ordered *tree) {
    if (tree->dir != NULL)
        phi__dir_free(tree->dir);
    else if (tree->fd != -1)
        phi__walk_close(tree->fd);
    tree->dir = NULL;
    tree->fd = -1;
}

/* ---- the heap ---- */

static const char *phi__ordered_name(const phi__ordered_level *level, uint32_t at) {
    return level->names.at + at + 1;
}

static bool phi__ordered_above(const void *a, const void *b, const void *ctx) {
    const phi__ordered_level *level = (const phi__ordered_level *)ctx;
    return strcmp(phi__ordered_name(level, *(const uint32_t *)a),
                  phi__ordered_name(level, *(const uint32_t *)b)) < 0;
}

static phi_status phi__ordered_push(phi__ordered *tree, phi__ordered_level *level,
                                    phi__file_kind kind, const char *name) {
    const phi__heap order = {sizeof(uint32_t), phi__ordered_above, level};
    size_t from = level->names.len;
    uint32_t *heap = (uint32_t *)phi__grow(tree->memory, level->heap, &level->cap, level->count + 1,
                                           sizeof *heap);
    if (heap == NULL || from > UINT32_MAX - 1024) return PHI_NO_MEMORY;
    level->heap = heap;
    phi__buf_char(&level->names, (char)kind);
    phi__buf_add(&level->names, name, strlen(name) + 1);
    if (level->names.failed) return PHI_NO_MEMORY;
    heap[level->count] = (uint32_t)from;
    phi__heap_rise(&order, heap, level->count++);
    return PHI_OK;
}

static uint32_t phi__ordered_pop(phi__ordered_level *level) {
    const phi__heap order = {sizeof(uint32_t), phi__ordered_above, level};
    phi__heap_pop(&order, level->heap, level->count--);
    return level->heap[level->count];
}

/* ---- levels ---- */

static bool phi__ordered_set_path(phi__ordered *tree, size_t from, const char *name) {
    tree->path.len = from;
    phi__buf_add(&tree->path, name, strlen(name) + 1);
    if (tree->path.failed) return false;
    tree->path.len--;
    return true;
}

/* PHI_NOT_FOUND would mean the end of the walk. */
static phi_status phi__ordered_refused(int error, phi__words *words) {
    phi_status status = phi__files_refused(error, words);
    return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_IO;
}

/* Makes the directory at tree->path the deepest level. */
static phi_status phi__ordered_enter(phi__ordered *tree, phi__words *words) {
    void *levels =
        phi__grow(tree->memory, tree->levels, &tree->cap, tree->count + 1, sizeof *tree->levels);
    if (levels == NULL) return PHI_NO_MEMORY;
    tree->levels = (phi__ordered_level *)levels;
    if (tree->path.len >= PHI__PATH_BYTES - 1)
        return phi__ordered_refused(PHI__FILES_TOO_LONG, words);
    /* Open it from its parent if the parent is open. */
    phi__fd fd, parent = tree->dir != NULL ? phi__dir_fd(tree->dir) : tree->fd;
    phi_str path = phi__buf_str(&tree->path);
    size_t name = tree->count > 0 ? tree->levels[tree->count - 1].path_len : 0;
    int error = parent == -1 || path.len == 0
                    ? phi__walk_open(tree->root, path, &fd)
                    : phi__dir_open(parent, phi__str_from(path, name), &fd);
    if (error != 0) return phi__ordered_refused(error, words);
    phi__ordered_shut(tree);
    tree->dir = phi__dir_new(tree->memory, fd);
    if (tree->dir == NULL) {
        phi__walk_close(fd);
        return PHI_NO_MEMORY;
    }
    if (tree->path.len > 0 && !phi__ordered_set_path(tree, tree->path.len, "/"))
        return PHI_NO_MEMORY;
    phi__ordered_level *level = &tree->levels[tree->count++];
    memset(level, 0, sizeof *level);
    phi__buf_init(&level->names, tree->memory);
    level->path_len = tree->path.len;
    tree->reading = true;
    return PHI_BUSY;
}

static phi_status phi__ordered_read(phi__ordered *tree, phi__ordered_entry *out) {
    phi__ordered_level *level = &tree->levels[tree->count - 1];
    for (int i = 0; i < PHI__ORDERED_READ; i++) {
        phi__file_kind kind;
        const char *name = phi__dir_next(tree->dir, &kind);
        if (name == NULL) {
            tree->reading = false;
            out->entered = true;
            out->kind = PHI__FILE_DIRECTORY;
            out->path = phi__str(tree->path.at, level->path_len);
            return PHI_OK;
        }
        if (phi__ordered_push(tree, level, kind, name) != PHI_OK) return PHI_NO_MEMORY;
    }
    return PHI_BUSY;
}

static void phi__ordered_leave(phi__ordered *tree) {
    phi__ordered_level *level = &tree->levels[--tree->count];
    phi__ordered_shut(tree);
    phi__buf_free(&level->names);
    phi__free(tree->memory, level->heap, level->cap * sizeof *level->heap);
}

PHI__FN phi_status phi__ordered_new(phi_memory *memory, const char *root, phi__ordered **out,
                                    phi__words *words) {
    phi__ordered *tree = (phi__ordered *)phi__alloc(memory, sizeof *tree);
    *out = NULL;
    if (tree == NULL) return phi__files_refused(PHI__FILES_NO_MEMORY, words);
    tree->memory = memory;
    tree->fd = -1;
    tree->enter = true;
    phi__buf_init(&tree->path, memory);
    int error = phi__dir_open_path(root, PHI__LINKS_REFUSE, &tree->root);
    if (error != 0) {
        phi__free(memory, tree, sizeof *tree);
        return phi__files_refused(error, words);
    }
    *out = tree;
    return PHI_OK;
}

PHI__FN phi_status phi__ordered_next(phi__ordered *tree, phi__ordered_entry *out,
                                     phi__words *words) {
    memset(out, 0, sizeof *out);
    out->depth = (uint32_t)tree->count;
    if (tree->enter) {
        tree->enter = false;
        phi_status status = phi__ordered_enter(tree, words);
        out->path = phi__buf_str(&tree->path);
        return status;
    }
    if (tree->count == 0) return PHI_NOT_FOUND;
    if (tree->reading) return phi__ordered_read(tree, out);
    phi__ordered_level *level = &tree->levels[tree->count - 1];
    if (level->count == 0) {
        phi__ordered_leave(tree);
        return PHI_BUSY;
    }
    uint32_t at = phi__ordered_pop(level);
    if (!phi__ordered_set_path(tree, level->path_len, phi__ordered_name(level, at)))
        return PHI_NO_MEMORY;
    out->kind = (phi__file_kind)level->names.at[at];
    out->path = phi__buf_str(&tree->path);
    tree->enter = out->kind == PHI__FILE_DIRECTORY;
    return PHI_OK;
}

PHI__FN void phi__ordered_skip(phi__ordered *tree) { tree->enter = false; }

PHI__FN phi__fd phi__ordered_at(phi__ordered *tree) {
    size_t len = tree->count > 0 ? tree->levels[tree->count - 1].path_len : 0;
    if (tree->dir != NULL) return phi__dir_fd(tree->dir);
    if (tree->fd == -1 && tree->count > 0)
        (void)phi__walk_open(tree->root, phi__str(tree->path.at, len > 0 ? len - 1 : 0), &tree->fd);
    return tree->fd;
}

PHI__FN void phi__ordered_free(phi__ordered *tree) {
    if (tree == NULL) return;
    while (tree->count > 0) phi__ordered_leave(tree);
    phi__ordered_shut(tree);
    phi__free(tree->memory, tree->levels, tree->cap * sizeof *tree->levels);
    phi__buf_free(&tree->path);
    phi__walk_close(tree->root);
    phi__free(tree->memory, tree, sizeof *tree);
}

#endif
