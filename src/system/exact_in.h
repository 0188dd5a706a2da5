/* exact_in.h - opens a checked path: what opens lies where the text says.

   The path is absolute and resolved, so that no part of it is a link. Each part is opened in the
   directory that the part before has opened, and a part that has become a link since the check is
   refused. Another process that swaps a directory and a link leads nowhere else. On Linux
   one system call does it (openat2, since 5.6); elsewhere a walk from the root does. The
   directories on the way must be searchable; where the system has neither O_PATH nor O_SEARCH,
   also readable.

   All return an errno value, or PHI__EXACT_LINK. */
#ifndef PHI_SYSTEM_EXACT_IN_H
#define PHI_SYSTEM_EXACT_IN_H

#include "system/files_in.h"

#ifndef PHI_NO_FILES

/* flags: of open; O_CLOEXEC is added. */
PHI__FN int phi__exact_open(const char *path, int flags, int *out);

/* The directory that holds the last part, to be used for that part alone, and the part: *name, in
   the path; "." for the root. */
PHI__FN int phi__exact_parent(const char *path, int *out, const char **name);

/* The walk alone, as where there is no openat2. */
PHI__FN int phi__exact_walk(const char *path, int flags, int *out);

/* Enters the directories of the path, all but the last part, and makes those that are missing. A
   step costs 2 of *units; EAGAIN: they are used up, come again. way: zeroed at first, with the
   path; phi__exact_leave ends it. */
PHI__FN int phi__exact_make(phi__way *way, size_t *units);
PHI__FN void phi__exact_leave(phi__way *way);

#endif
#endif
