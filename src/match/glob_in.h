/* glob_in.h - patterns of paths: *, ?, [a-z], [!a-z], [[:alpha:]], {a,b}, **, and a backslash
   before any of them. Bytes are compared; only ** reaches beyond a slash. A match takes at most the
   pattern's length times the path's, for each part between double stars. */
#ifndef PHI_MATCH_GLOB_IN_H
#define PHI_MATCH_GLOB_IN_H

#include "base/arena_in.h"

enum {
    PHI__GLOB_PATTERN = 2048, /* bytes of a pattern */
    PHI__GLOB_CHOICES = 64,
    PHI__GLOB_SPLITS = 128, /* pairs of braces taken apart, in all choices */
    PHI__GLOB_BYTES = 8192  /* of all choices of a pattern */
};

/* Appends the pattern to `out`, once for each choice that its braces leave, a NUL behind each.
   NULL, or an error message; `out` is then as it was. A buffer without memory is failed. */
PHI__FN const char *phi__glob_expand(phi__buf *out, phi_str pattern);

/* Whether one of the choices, as phi__glob_expand left them, matches the whole path. Adds the bytes
   of the pattern that were compared to *work. */
PHI__FN bool phi__glob_any(phi_str choices, phi_str path, size_t *work);

/* The same of one pattern without braces. */
PHI__FN bool phi__glob_match(phi_str pattern, phi_str path, size_t *work);

/* The last part of a path. */
PHI__FN phi_str phi__glob_name(phi_str path);

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
PHI__FN phi__ignore_said phi__ignore_says(const phi__ignore *ignore, phi_str path, bool directory,
                                          size_t *left, size_t *units);

#endif
