/* ignore_in.h - the rules of .gitignore files: which paths are left out.

   A rule is a line: "#" begins a comment, "!" takes a path back in, a slash at its beginning or in
   its middle binds it to the file's directory, one at its end to directories. Blanks at its end
   count where a backslash stands before them. The last rule that matches decides. Within a pattern
   the syntax is glob_in.h's; a line that is no pattern is left out. docs/tools.md says where this
   follows ripgrep, and where git. */
#ifndef PHI_MATCH_IGNORE_IN_H
#define PHI_MATCH_IGNORE_IN_H

#include "match/glob_in.h"

typedef enum phi__ignore_said {
    PHI__IGNORE_NONE, /* no rule matches */
    PHI__IGNORE_OUT,
    PHI__IGNORE_IN /* by a rule with a "!" */
} phi__ignore_said;

typedef struct phi__ignore_rule {
    size_t at, len; /* of its choices, in the text */
    bool in, directories, name_alone;
} phi__ignore_rule;

typedef struct phi__ignore {
    phi_memory *memory; /* borrowed */
    phi__buf text;
    phi__ignore_rule *rules;
    size_t count, cap;
    size_t outs; /* rules without a "!" */
} phi__ignore;

PHI__FN void phi__ignore_init(phi__ignore *ignore, phi_memory *memory);
PHI__FN void phi__ignore_free(phi__ignore *ignore); /* twice is harmless */

/* Reads the lines of a file. PHI_NO_MEMORY: some are missing. */
PHI__FN phi_status phi__ignore_add(phi__ignore *ignore, phi_str file);
/* One line. PHI_BAD_ARG: it is no pattern; *wrong says why. */
PHI__FN phi_status phi__ignore_add_line(phi__ignore *ignore, phi_str line, const char **wrong);

/* `path`: relative to the directory of the file, without "./". *left: rules to look at, from the
   last on; begin with `count`. A rule takes PHI__IGNORE_RULE out of *units, and the bytes compared.
   PHI__IGNORE_NONE with *left above 0: the units are used up, come again. */
enum { PHI__IGNORE_RULE = 8 };
PHI__FN phi__ignore_said phi__ignore_says(const phi__ignore *ignore, phi_str path, bool directory,
                                          size_t *left, size_t *units);

#endif
