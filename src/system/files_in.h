/* files_in.h - reads and replaces files in slices: the caller's size bounds the disk time of a
   step.

   What io/files_in.h says about words, paths and descriptors holds here, too.

   Another process may change a path between a check and its use. So a path that was resolved and
   compared is opened with PHI__LINKS_REFUSE: what opens lies where the text says, or it is refused
   (PHI_IO, "It has become a symbolic link since it was checked").

   Memory is the budget's, except that of the C library's opendir while a directory is read.
   Threads: one at a time. */
#ifndef PHI_SYSTEM_FILES_IN_H
#define PHI_SYSTEM_FILES_IN_H

#include "io/files_in.h"

#ifndef PHI_NO_FILES
typedef struct phi__walk phi__walk;

/* flags: of open; O_CLOEXEC is added. */
PHI__FN int phi__exact_open(const char *path, int flags, int *out);

/* The directory that holds the last part, to be used for that part alone, and the part: *name, in
   the path; "." for the root. */
PHI__FN int phi__exact_parent(const char *path, int *out, const char **name);

/* The walk alone, as where there is no openat2. */
PHI__FN int phi__exact_walk(const char *path, int flags, int *out);

typedef enum phi__file_kind {
    PHI__FILE_NONE,
    PHI__FILE_REGULAR,
    PHI__FILE_DIRECTORY,
    PHI__FILE_LINK,
    PHI__FILE_OTHER
} phi__file_kind;

typedef struct phi__file_info {
    phi__file_kind kind;
    uint64_t bytes;
} phi__file_info;

typedef enum phi__links {
    PHI__LINKS_FOLLOW, /* a path of the host's */
    PHI__LINKS_REFUSE  /* a resolved path, in every part */
} phi__links;

PHI__FN phi_status phi__files_stat(const char *path, phi__links links, phi__file_info *out,
                                   phi__words *words);

/* A regular file; anything else is refused, without waiting for a pipe's other end. */
PHI__FN phi_status phi__files_open_read(phi_memory *memory, const char *path, phi__links links,
                                        phi__file **out, phi__words *words);

/* The same of a name in an open directory; a link is refused. */
PHI__FN phi_status phi__files_open_in(phi_memory *memory, int dir, const char *name,
                                      phi__file **out, phi__words *words);

/* Writes next to `path` and renames over it at commit: a torn write leaves the old file, with the
   old mode (and owner, where allowed). `path` is a resolved one, as with PHI__LINKS_REFUSE, so that
   a link's target is replaced; other names of the same file (hard links) keep the old content.
   Anything but a regular file is refused. */
PHI__FN phi_status phi__files_open_replace(phi_memory *memory, const char *path, phi__file **out,
                                           phi__words *words);

/* What replaces a file will be for its owner alone (0600), whatever the old mode; before any
   write. */
PHI__FN void phi__files_private(phi__file *file);

/* Up to n bytes; *got 0 at the end. */
PHI__FN phi_status phi__files_read(phi__file *file, char *out, size_t n, size_t *got,
                                   phi__words *words);

/* Makes the directories that a resolved path lies in, in slices, as with PHI__LINKS_REFUSE. Zeroed
   at first, with the path; phi__files_leave ends it. */
typedef struct phi__way {
    const char *path; /* borrowed */
    size_t at;        /* of the next part */
    int dir;          /* holds that part */
    bool open;
} phi__way;

PHI__FN phi_status phi__files_make_way(phi__way *way, size_t *units, phi__words *words);
PHI__FN void phi__files_leave(phi__way *way); /* twice is harmless */

/* Resolves `path` against `base` (NULL: the working directory) to an absolute one without "..", "."
   or links, at every level, dangling ones too; last parts that do not exist are allowed, and ".."
   takes such a part back. In slices: a chain of links can cost a second. `rest` holds the part
   still to be resolved, at its right end, so that a link's target can be put before it. */
typedef struct phi__resolve {
    char out[PHI__PATH_BYTES]; /* terminated; the result after PHI_OK */
    char rest[PHI__PATH_BYTES];
    size_t len, at;
    int links;
} phi__resolve;

PHI__FN phi_status phi__path_resolve_begin(phi__resolve *r, const char *base, const char *path,
                                           phi__words *words);
PHI__FN phi_status phi__path_resolve_advance(phi__resolve *r, size_t *units, phi__words *words);

/* True if a resolved path is `directory` (resolved too) or lies in it. */
PHI__FN bool phi__path_inside(const char *directory, const char *path);

/* A directory walk, an entry at a time, in no order; its time is linear in the entries. Directories
   that cannot be read, or lie more than 64 deep, are returned and not entered. Holds one descriptor
   for the root, one for the directory being read, and one for each directory above that has more
   than 64 KiB of names of directories; of those 64 KiB are in memory. */
typedef struct phi__walk_entry {
    phi_str path;        /* relative to the walk's root; borrowed until the next call */
    phi__file_kind kind; /* links are not followed */
    uint32_t depth;      /* 1: in the root itself; also of PHI_BUSY */
    /* with PHI_BUSY: the directory `path` was opened; its slash is in the path */
    bool entered;
} phi__walk_entry;

PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__links links,
                                 phi__walk **out, phi__words *words);

/* PHI_OK: an entry; PHI_BUSY: a directory was opened, with two system calls a part of its path, or
   closed: come again; PHI_NOT_FOUND: the end. */
PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out);

/* The descriptor of the directory that was entered last, until the next call; -1: it has none. */
PHI__FN int phi__walk_at(const phi__walk *walk);
PHI__FN void phi__walk_skip(phi__walk *walk); /* do not enter the directory just returned */
PHI__FN void phi__walk_free(phi__walk *walk); /* NULL is harmless */
#endif

#endif
