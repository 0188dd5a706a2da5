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
