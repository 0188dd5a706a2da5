/* files_in.h - opening a checked path. system_in.h has the contract of files. */
#ifndef PHI_SYSTEM_FILES_IN_H
#define PHI_SYSTEM_FILES_IN_H

#include "system/system_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_FILES
/* Opens a path. `flags` are those of open(); O_CLOEXEC is added. */
PHI__FN int phi__exact_open(const char *path, int flags, int *out);

/* Opens the directory that holds the last part of a path. *name is set to that part, in `path`, or
   to "." for the root. */
PHI__FN int phi__exact_parent(const char *path, int *out, const char **name);

/* Opens a path part by part, as on systems without openat2. */
PHI__FN int phi__exact_walk(const char *path, int flags, int *out);
#endif

#endif
