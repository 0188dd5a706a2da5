/* files_in.h - opening a checked path, and reading a directory. system_in.h has the contract of
   files. Functions return 0 or an error for phi__files_refused, and set a descriptor to -1 on
   failure. */
#ifndef PHI_SYSTEM_FILES_IN_H
#define PHI_SYSTEM_FILES_IN_H

#include "system/system_in.h"
#include "io/io_in.h"
#include "io/os_in.h"

#ifndef PHI_NO_FILES
#if defined(PHI__OS_POSIX)
/* Opens a path. `flags` are those of open(); O_CLOEXEC is added. */
PHI__FN int phi__exact_open(const char *path, int flags, int *out);

/* Opens the directory that holds the last part of a path. *name is set to that part, in `path`, or
   to "." for the root. */
PHI__FN int phi__exact_parent(const char *path, int *out, const char **name);

/* Opens a path part by part, as on systems without openat2. */
PHI__FN int phi__exact_walk(const char *path, int flags, int *out);
#else
/* Opens the directory at a resolved path, with the given access. A link in any part is an error. */
PHI__FN int phi__exact_directory(const char *path, unsigned long access, phi__fd *out);
#endif

/* An open directory that is being read. */
typedef struct phi__dir phi__dir;

/* Opens the directory at a path, to read it. */
PHI__FN int phi__dir_open_path(const char *path, phi__links links, phi__fd *out);

/* Opens a directory in an open one, to read it. Refuses a link. The name "." opens `dir` again. */
PHI__FN int phi__dir_open(phi__fd dir, phi_str name, phi__fd *out);

/* Makes a reader of an open directory, which it owns. NULL: no memory, and `fd` is still the
   caller's. */
PHI__FN phi__dir *phi__dir_new(phi_memory *memory, phi__fd fd);
PHI__FN phi__fd phi__dir_fd(const phi__dir *dir);

/* Returns the next name except "." and "..", valid until the next call. NULL: there are no more. */
PHI__FN const char *phi__dir_next(phi__dir *dir, phi__file_kind *kind);
PHI__FN void phi__dir_free(phi__dir *dir); /* closes it; NULL is allowed */
#endif

#endif
