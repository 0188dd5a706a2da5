/* edit_file_in.h - finds a text in a longer one, a slice at a time, in linear time (Knuth, Morris,
   Pratt). */
#ifndef PHI_TOOLS_EDIT_FILE_IN_H
#define PHI_TOOLS_EDIT_FILE_IN_H

#include "tools/tools_in.h"
#include "base/base_in.h"

typedef struct phi__finder {
    phi_memory *memory;
    phi_str needle, text; /* borrowed */
    uint32_t *back;       /* how much of the needle's start is at the end of each of its starts */
    size_t built;         /* of back */
    size_t at, matched;   /* in text; of the needle */
    size_t found, first;  /* matches that do not overlap; where the first one begins */
    size_t most;          /* matches after which it may stop */
} phi__finder;

/* False: no memory, or a needle of 0 or of 4 GiB bytes. Zero it before. */
PHI__FN bool phi__finder_begin(phi__finder *finder, phi_memory *memory, phi_str needle,
                               phi_str text, size_t most);

/* Searches about so many bytes; true: done. */
PHI__FN bool phi__finder_advance(phi__finder *finder, size_t units);
PHI__FN void phi__finder_end(phi__finder *finder); /* of a zeroed one, and twice: harmless */

#endif
