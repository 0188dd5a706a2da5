/* ignored_in.h - which entries of a directory walk the ignore files leave out, as ripgrep reads
   them.

   Each directory may have a .rgignore, an .ignore and a .gitignore; nearer files count before
   farther ones, and the kinds in that order. A .gitignore counts inside a repository alone, up to
   its top, and so does the .git/info/exclude of that. The directories above the walk count, too.
   The first PHI__IGNORED_BYTES of a file count, up to the last whole line. */
#ifndef PHI_TOOLS_IGNORED_IN_H
#define PHI_TOOLS_IGNORED_IN_H

#include "tools/tools_in.h"
#include "tools/match_in.h"

#ifndef PHI_NO_FILES
enum {
    PHI__IGNORED_KINDS = 4,
    PHI__IGNORED_BYTES = 262144,
    PHI__IGNORED_BYTE = 8 /* units for a byte read: rules are made of it */
};

typedef struct phi__ignored_level {
    phi__ignore *files[PHI__IGNORED_KINDS]; /* NULL: there is none */
    size_t from; /* where paths begin that are relative to it, in `path` */
    bool git;    /* it is the top of a repository */
} phi__ignored_level;

/* How far the question about an entry is answered. */
typedef struct phi__ignored_asked {
    bool open;
    size_t level, kind, left; /* above the level being looked at; its kind; rules left of that */
    phi__ignore_said said[PHI__IGNORED_KINDS];
    bool in_git, past_git;
} phi__ignored_asked;

typedef struct phi__ignored {
    phi_memory *memory;
    phi__ignored_level *levels; /* from the farthest directory above to the deepest */
    size_t count, cap;
    size_t above;  /* of them above the walk's root */
    size_t rules;  /* of all levels */
    phi__buf path; /* the walk's root, a slash, and the path of an entry */
    size_t root;   /* bytes of it up to that */
    phi__ignored_asked asked;
    size_t spent; /* units for the files read, for the caller to count and to reset */
} phi__ignored;

PHI__FN void phi__ignored_init(phi__ignored *ignored, phi_memory *memory);
PHI__FN void phi__ignored_free(phi__ignored *ignored); /* twice is harmless */

/* place: the walk's root, resolved. Reads the files of the directories above, one directory in a
   call: PHI_BUSY until all are read. Begin with an initialised one. */
PHI__FN phi_status phi__ignored_above(phi__ignored *ignored, const char *place);

/* The walk is in the directory `path` now, which is open; depth: 0 for the root. */
PHI__FN phi_status phi__ignored_enter(phi__ignored *ignored, uint32_t depth, int dir, phi_str path);

/* What the files say of an entry; depth: 1 in the root itself. PHI_BUSY: the units of
   phi__ignore_says are used up, ask the same again; PHI_NO_MEMORY. */
PHI__FN phi_status phi__ignored_says(phi__ignored *ignored, uint32_t depth, phi_str path,
                                     bool directory, size_t *units, phi__ignore_said *out);
#endif

#endif
