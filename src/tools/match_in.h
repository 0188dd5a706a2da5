/* match_in.h - what match/ offers to other rooms. */
#ifndef PHI_TOOLS_MATCH_IN_H
#define PHI_TOOLS_MATCH_IN_H

#include "tools/tools_in.h"
#include "base/base_in.h"
#include "text/text_in.h"

/* ======== Patterns of paths: *, ?, [a-z], [!a-z], [[:alpha:]], {a,b}, **, and a backslash
   before any of them. Bytes are compared; only ** reaches beyond a slash. A match takes at most the
   pattern's length times the path's, for each part between double stars. */

enum {
    PHI__GLOB_PATTERN = 2048, /* bytes of a pattern */
    PHI__GLOB_CHOICES = 64,
    PHI__GLOB_SPLITS = 128, /* pairs of braces taken apart, in all choices */
    PHI__GLOB_BYTES = 8192  /* of all choices of a pattern */
};

/* True if one of the choices, as phi__glob_expand left them, matches the whole path. Adds the bytes
   of the pattern that were compared to *work. */
PHI__FN bool phi__glob_any(phi_str choices, phi_str path, size_t *work);

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

/* ======== The keywords of schemas, and how a tool's schema treats each. */

/* ======== Regular expressions over text in lines, in time linear in the text.

   The syntax is a subset of that of ripgrep, with the same meaning; docs/tools.md has its table. A
   pattern becomes a program of at most PHI__RE_CODES instructions, and the program a machine of
   states that are computed when the text first needs them. They are kept in a bounded cache, which
   is emptied when it is full: so a byte of text costs at most one pass over the program, whatever
   the pattern. The only question is whether a line contains a match.

   Text is UTF-8. A byte that belongs to no valid character matches nothing, not even '.'. No match
   contains a newline. Threads: one at a time. */

typedef struct phi__regex phi__regex;

typedef struct phi__regex_error {
    size_t column;     /* in bytes, from 1 */
    char message[120]; /* terminated */
} phi__regex_error;

/* `pattern` is read before return. PHI_BAD_ARG: the error says where and why; PHI_NO_MEMORY. */
PHI__FN phi_status phi__regex_new(phi_memory *memory, phi_str pattern, bool ignore_case,
                                  phi__regex **out, phi__regex_error *error);
PHI__FN void phi__regex_free(phi__regex *regex); /* NULL is harmless */

/* Begins a line: its bytes come next. */
PHI__FN void phi__regex_begin(phi__regex *regex);

typedef enum phi__regex_found {
    PHI__REGEX_NONE,     /* no line so far matches; the rest is the beginning of a character */
    PHI__REGEX_MATCH,    /* the line at *at matches; its newline may be at *at */
    PHI__REGEX_BUSY,     /* the units are used up */
    PHI__REGEX_NO_MEMORY /* begin again */
} phi__regex_found;

/* Reads text from *at on and moves *at along. A byte takes about one of *units, and one that needs
   a new state as many as the program has instructions. `last`: the text ends here. After a match
   the rest of the line must be skipped, and phi__regex_begin called. */
PHI__FN phi__regex_found phi__regex_scan(phi__regex *regex, phi_str text, bool last, size_t *at,
                                         size_t *units);

/* At the end of a line that has no newline: whether it matches. */
PHI__FN phi__regex_found phi__regex_finish(phi__regex *regex);

/* ======== Names of tools within the rules of every provider: a-z A-Z 0-9 _ - and at most
   64 bytes, the first of them a letter or "_".

   All tools of a set are counted first, then each claims its name. Characters that are not allowed
   become "_". A name that is cut, and a name that several tools would have, ends in eight hex
   digits of a hash; of several the one keeps it whose own name it is. So a name depends on the set
   of tools, not on their order. */

#endif
