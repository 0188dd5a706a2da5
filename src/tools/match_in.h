/* match_in.h - patterns of paths, ignore files, regular expressions, and names of tools. */
#ifndef PHI_TOOLS_MATCH_IN_H
#define PHI_TOOLS_MATCH_IN_H

#include "tools/tools_in.h"

/* ======== Patterns of paths: *, ?, [a-z], [!a-z], [[:alpha:]], {a,b}, **, and a backslash
   before any of them. Bytes are compared; only ** reaches beyond a slash. A match takes at most the
   pattern's length times the path's, for each part between double stars. */

enum {
    PHI__GLOB_PATTERN = 2048, /* bytes of a pattern */
    PHI__GLOB_CHOICES = 64,
    PHI__GLOB_SPLITS = 128, /* pairs of braces taken apart, in all choices */
    PHI__GLOB_BYTES = 8192  /* of all choices of a pattern */
};

/* True if one pattern without braces matches the whole path. */
PHI__FN bool phi__glob_match(phi_str pattern, phi_str path, size_t *work);

/* True if one of the choices, as phi__glob_expand left them, matches the whole path. Adds the bytes
   of the pattern that were compared to *work. */
PHI__FN bool phi__glob_any(phi_str choices, phi_str path, size_t *work);

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

/* ======== Which entries of a directory walk the ignore files leave out, as ripgrep reads
   them.

   Each directory may have a .rgignore, an .ignore and a .gitignore; nearer files count before
   farther ones, and the kinds in that order. A .gitignore counts inside a repository alone, up to
   its top, and so does the .git/info/exclude of that. The directories above the walk count, too.
   The first PHI__IGNORED_BYTES of a file count, up to the last whole line. */

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

/* Tables of characters. */
typedef struct phi__range {
    uint32_t first, last;
} phi__range;

/* Characters from first to last, every step-th: the representative is `down` below. */
typedef struct phi__re_fold {
    uint32_t first, last, step, down;
} phi__re_fold;

PHI__FN const phi__range *phi__re_word(size_t *count);
PHI__FN const phi__range *phi__re_digit(size_t *count);
PHI__FN const phi__range *phi__re_space(size_t *count);
PHI__FN const phi__re_fold *phi__re_folds(size_t *count);

/* ======== Names of tools within the rules of every provider: a-z A-Z 0-9 _ - and at most
   64 bytes, the first of them a letter or "_".

   All tools of a set are counted first, then each claims its name. Characters that are not allowed
   become "_". A name that is cut, and a name that several tools would have, ends in eight hex
   digits of a hash; of several the one keeps it whose own name it is. So a name depends on the set
   of tools, not on their order. */

#endif
