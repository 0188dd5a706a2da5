/* walk_in.h - shared by the two walks of directory trees, walk.c and walk.c. */
#ifndef PHI_SYSTEM_WALK_IN_H
#define PHI_SYSTEM_WALK_IN_H

#include "system/files_in.h"

#ifndef PHI_NO_FILES
typedef struct phi__ordered phi__ordered;

/* A resolved path. */
PHI__FN int phi__walk_open_path(phi_str path);
PHI__FN void phi__walk_close(int dir);

/* Whether a directory holds a name. */
PHI__FN bool phi__walk_has(int dir, const char *name, bool *directory);

typedef struct phi__ordered_entry {
    phi_str path; /* relative to the root, a terminator behind it; borrowed until the next call */
    phi__file_kind kind;
    uint32_t depth; /* 1: in the root itself */
    /* The directory `path`, which ends with a slash unless it is the root, was read: its entries
       come next. */
    bool entered;
} phi__ordered_entry;

/* root: a resolved path, as with PHI__LINKS_REFUSE. */
PHI__FN phi_status phi__ordered_new(phi_memory *memory, const char *root, phi__ordered **out,
                                    phi__words *words);

/* PHI_OK: an entry, or a directory that was entered; PHI_BUSY: come again; PHI_NOT_FOUND: the end;
   PHI_IO: the directory at out->path cannot be read, and the words say why. */
PHI__FN phi_status phi__ordered_next(phi__ordered *tree, phi__ordered_entry *out,
                                     phi__words *words);
PHI__FN void phi__ordered_skip(phi__ordered *tree); /* do not enter the directory just returned */

/* The open directory of the last entry; -1: it cannot be opened again. Costs two system calls for
   each part of its path where it was closed meanwhile. */
PHI__FN int phi__ordered_at(phi__ordered *tree);
PHI__FN void phi__ordered_free(phi__ordered *tree); /* NULL is harmless */
#endif

#endif
