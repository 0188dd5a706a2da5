/* walk_in.h - shared by the two walks of directory trees, walk.c and ordered.c. */
#ifndef PHI_SYSTEM_WALK_IN_H
#define PHI_SYSTEM_WALK_IN_H

#include "system/files_in.h"

#ifndef PHI_NO_FILES

struct dirent;

PHI__FN phi__file_kind phi__walk_kind(int dir, const struct dirent *entry);
/* Opens the directory at `path` below the root, part by part and never through a link; -1: it
   cannot be read. */
PHI__FN int phi__walk_open(int root, phi_str path);
/* The root of a walk; -1 and *error, for phi__files_refused. */
PHI__FN int phi__walk_open_root(const char *root, phi__links links, int *error);
/* A resolved path. */
PHI__FN int phi__walk_open_path(phi_str path);
PHI__FN void phi__walk_close(int dir);
/* Whether a directory holds a name. */
PHI__FN bool phi__walk_has(int dir, const char *name, bool *directory);

#endif
#endif
