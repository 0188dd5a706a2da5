/* glob_in.h - patterns of paths: *, ?, [a-z], [!a-z], [[:alpha:]], {a,b}, **, and a backslash
   before any of them. Bytes are compared; only ** reaches beyond a slash. A match takes at most the
   pattern's length times the path's, for each part between double stars. */
#ifndef PHI_TOOLS_GLOB_IN_H
#define PHI_TOOLS_GLOB_IN_H

#include "tools/tools_in.h"
#include "base/base_in.h"
#include "tools/match_in.h"

/* The same of one pattern without braces. */
PHI__FN bool phi__glob_match(phi_str pattern, phi_str path, size_t *work);

#endif
