/* edit_file_in.h - finds a text in a longer text in slices, in linear time (Knuth-Morris-Pratt). */
#ifndef PHI_TOOLS_EDIT_FILE_IN_H
#define PHI_TOOLS_EDIT_FILE_IN_H

#include "tools/tools_in.h"
#include "base/base_in.h"

typedef struct phi__finder {
    phi_memory *memory;
    phi_str needle, text; /* borrowed */
    uint32_t *back;       /* the table of Knuth, Morris and Pratt: lengths of prefixes */
    size_t built;         /* entries of `back` computed so far */
    size_t at, matched;   /* place in text; bytes of the needle matched there */
    size_t found, first;  /* number of matches without overlap; place of the first */
    size_t most;          /* number of matches after which the search stops */
} phi__finder;

/* Begins a search in *finder, which must be zero. False: no memory, or needle.len is 0 or 1 GiB or
   more. */
PHI__FN bool phi__finder_begin(phi__finder *finder, phi_memory *memory, phi_str needle,
                               phi_str text, size_t most);

/* Searches about `units` bytes. True: the search is finished. */
PHI__FN bool phi__finder_advance(phi__finder *finder, size_t units);
PHI__FN void phi__finder_end(phi__finder *finder); /* harmless if zeroed, or if called twice */

#endif
