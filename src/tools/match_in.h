/* match_in.h - patterns of paths, ignore files, regular expressions, names of tools. */
#ifndef PHI_TOOLS_MATCH_IN_H
#define PHI_TOOLS_MATCH_IN_H

#include "tools/tools_in.h"

/* ======== Patterns of paths: *, ?, [a-z], [!a-z], [[:alpha:]], {a,b}, **, and a backslash before
   any of them. Matching compares bytes. Only ** matches across a slash. The work of a match is at
   most the pattern's length times the path's length, for each part between double stars. */

enum {
    PHI__GLOB_PATTERN = 2048, /* max. bytes of a pattern */
    PHI__GLOB_CHOICES = 64,
    PHI__GLOB_SPLITS = 128, /* max. pairs of braces expanded, in all choices */
    PHI__GLOB_BYTES = 8192  /* max. bytes of all choices of a pattern */
};

/* True if the pattern, which has no braces, matches the whole path. Adds the work done to *work. */
PHI__FN bool phi__glob_match(phi_str pattern, phi_str path, size_t *work);

/* True if one of the choices, as phi__glob_expand made them, matches the whole path. Adds to *work
   the number of the pattern's bytes that were compared. */
PHI__FN bool phi__glob_any(phi_str choices, phi_str path, size_t *work);

typedef enum phi__ignore_said {
    PHI__IGNORE_NONE, /* no rule matches */
    PHI__IGNORE_OUT,
    PHI__IGNORE_IN /* a rule with "!" takes the path back in */
} phi__ignore_said;

typedef struct phi__ignore_rule {
    size_t at, len; /* place of the rule's choices in the text */
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
PHI__FN void phi__ignore_free(phi__ignore *ignore); /* calling it twice is harmless */

/* Reads the lines of a file. PHI_NO_MEMORY: some rules are missing. */
PHI__FN phi_status phi__ignore_add(phi__ignore *ignore, phi_str file);

/* Reads one line. PHI_BAD_ARG: the line is no valid pattern, and *wrong says why. */
PHI__FN phi_status phi__ignore_add_line(phi__ignore *ignore, phi_str line, const char **wrong);

/* Tests a path relative to the ignore file's directory, without "./". *left is the number of rules
   still to test; begin with `count`. A rule costs PHI__IGNORE_RULE of *units, and more for the
   bytes compared. If the result is PHI__IGNORE_NONE and *left is not 0, the units are used up: call
   again. */
PHI__FN phi__ignore_said phi__ignore_says(const phi__ignore *ignore, phi_str path, bool directory,
                                          size_t *left, size_t *units);

/* ======== Directory walks: which entries do the ignore files leave out? The rules are those of
   ripgrep.

   Each directory may have a .rgignore, an .ignore and a .gitignore. These kinds take precedence in
   this order; within a kind, nearer files take precedence over farther ones. A .gitignore counts
   only inside a repository, up to the repository's top. The same holds for .git/info/exclude, to
   which all other files take precedence. Files in directories above the walk count, too. Only whole
   lines in the first PHI__IGNORED_BYTES of a file count. */

#ifndef PHI_NO_FILES
enum {
    PHI__IGNORED_KINDS = 4,
    PHI__IGNORED_BYTES = 262144,
    PHI__IGNORED_BYTE = 8 /* units for a byte read, because it must be parsed, too */
};

typedef struct phi__ignored_level {
    phi__ignore *files[PHI__IGNORED_KINDS]; /* NULL: no such file */
    size_t from; /* offset in `path` of the part relative to this directory */
    bool git;    /* this directory is the top of a repository */
} phi__ignored_level;

/* State of an entry's test, which may take several calls. */
typedef struct phi__ignored_asked {
    bool open;
    size_t level, kind, left; /* next level + 1; next kind; rules left */
    phi__ignore_said said[PHI__IGNORED_KINDS];
    bool in_git, past_git;
} phi__ignored_asked;

typedef struct phi__ignored {
    phi_memory *memory;
    phi__ignored_level *levels; /* from the farthest directory above to the deepest */
    size_t count, cap;
    size_t above;  /* number of levels above the walk's root */
    size_t rules;  /* number of rules of all levels */
    phi__buf path; /* the walk's root, a slash, and the path of an entry */
    size_t root;   /* offset in `path` of the entry's path */
    phi__ignored_asked asked;
    size_t spent; /* units for files read; the caller takes them and sets 0 */
} phi__ignored;

PHI__FN void phi__ignored_init(phi__ignored *ignored, phi_memory *memory);
PHI__FN void phi__ignored_free(phi__ignored *ignored); /* calling it twice is harmless */

/* Reads the files of the directories above `place`, the walk's resolved root, one directory a call.
   Returns PHI_BUSY until all are read. Initialise `ignored` before the first call. */
PHI__FN phi_status phi__ignored_above(phi__ignored *ignored, const char *place);

/* Call this when the walk enters the directory `path`, which is open as `dir`. depth is 0 for the
   root. */
PHI__FN phi_status phi__ignored_enter(phi__ignored *ignored, uint32_t depth, phi__fd dir,
                                      phi_str path);

/* Tests an entry; depth is 1 for entries of the root. PHI_BUSY: the units are used up; repeat the
   call with the same arguments. The only other failure is PHI_NO_MEMORY. */
PHI__FN phi_status phi__ignored_says(phi__ignored *ignored, uint32_t depth, phi_str path,
                                     bool directory, size_t *units, phi__ignore_said *out);
#endif

/* ======== Regular expressions over lines of text, in time linear in the text.

   The syntax is a subset of ripgrep's with the same meaning; docs/tools.md lists it. A pattern
   becomes a program of at most PHI__RE_CODES instructions. The program runs as a machine whose
   states are computed when the text first needs them. A bounded cache keeps the states, and is
   emptied when it is full. So a byte of text costs at most one pass over the program, whatever the
   pattern. A scan only decides if a line contains a match, not where the match is.

   Text is UTF-8. A byte that belongs to no valid character matches nothing, not even '.'. No match
   contains a newline. Threads: one at a time. */

typedef struct phi__regex phi__regex;

typedef struct phi__regex_error {
    size_t column;     /* counted in bytes, from 1 */
    char message[120]; /* terminated */
} phi__regex_error;

/* Compiles a pattern, which is borrowed until return. PHI_BAD_ARG: the pattern is invalid, and
   *error says where and why. The only other failure is PHI_NO_MEMORY. */
PHI__FN phi_status phi__regex_new(phi_memory *memory, phi_str pattern, bool ignore_case,
                                  phi__regex **out, phi__regex_error *error);
PHI__FN void phi__regex_free(phi__regex *regex); /* NULL is harmless */

/* Begins a line. Then pass the line's text to phi__regex_scan. */
PHI__FN void phi__regex_begin(phi__regex *regex);

typedef enum phi__regex_found {
    PHI__REGEX_NONE,     /* no match so far; bytes left after *at are an incomplete character */
    PHI__REGEX_MATCH,    /* the line at *at matches; *at may be at the line's newline */
    PHI__REGEX_BUSY,     /* the units are used up */
    PHI__REGEX_NO_MEMORY /* begin the line again */
} phi__regex_found;

/* Scans text from *at on and advances *at. A byte costs about one of *units. A byte that needs a
   new state costs as many units as the program has instructions. `last`: no text follows. After a
   match, skip the rest of the line and call phi__regex_begin. */
PHI__FN phi__regex_found phi__regex_scan(phi__regex *regex, phi_str text, bool last, size_t *at,
                                         size_t *units);

/* Ends a line that has no newline, and says if the line matches. */
PHI__FN phi__regex_found phi__regex_finish(phi__regex *regex);

/* Decodes the character at *at and advances *at past it. The text must be valid UTF-8. */
PHI__FN uint32_t phi__regex_next(phi_str text, size_t *at);

/* Tables of characters. */
typedef struct phi__range {
    uint32_t first, last;
} phi__range;

/* Describes every step-th character from first to last. The case-fold representative of such a
   character is the character minus `down`. */
typedef struct phi__re_fold {
    uint32_t first, last, step, down;
} phi__re_fold;

PHI__FN const phi__range *phi__re_word(size_t *count);
PHI__FN const phi__range *phi__re_digit(size_t *count);
PHI__FN const phi__range *phi__re_space(size_t *count);
PHI__FN const phi__re_fold *phi__re_folds(size_t *count);

/* ======== Names of tools within the rules of every provider: a-z A-Z 0-9 _ - and at most 64 bytes,
   the first of them a letter or "_".

   All tools of a set are counted first; then each tool claims its name. Characters that are not
   allowed become "_". A name ends in eight hex digits of a hash if it was cut, or if several tools
   would have that name. But if only one of these tools has exactly that name, this tool keeps the
   name without a hash. So a name depends on the set of tools, not on their order. */

#endif
