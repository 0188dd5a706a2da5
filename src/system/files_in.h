/* files_in.h - opening a checked path; the contract of files is in system_in.h. */
#ifndef PHI_SYSTEM_FILES_IN_H
#define PHI_SYSTEM_FILES_IN_H

#include "system/system_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_FILES
/* flags: of open; O_CLOEXEC is added. */
PHI__FN int phi__exact_open(const char *path, int flags, int *out);

/* The directory that holds the last part, to be used for that part alone, and the part: *name, in
   the path; "." for the root. */
PHI__FN int phi__exact_parent(const char *path, int *out, const char **name);

/* The walk alone, as where there is no openat2. */
PHI__FN int phi__exact_walk(const char *path, int flags, int *out);
#endif

#endif
