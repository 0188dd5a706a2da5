/* glob_in.h - file name patterns: *, ?, [a-z], [!a-z], and a backslash before any of them. */
#ifndef PHI_TOOLS_GLOB_IN_H
#define PHI_TOOLS_GLOB_IN_H

#include "base/base_in.h"

/* A pattern without a slash is matched with the last part of the path; one with a slash with all of
   it: then * and ? stop at slashes, and ** does not (and "**" with a slash behind it may be
   nothing). Bytes are compared. */
PHI__FN bool phi__glob_match(const char *pattern, phi_str path);

#endif
