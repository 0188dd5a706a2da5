/* regex_in.h - regular expressions over text in lines, in time linear in the text.

   The syntax is a subset of that of ripgrep, with the same meaning; docs/tools.md has its table. A
   pattern becomes a program of at most PHI__REGEX_CODES instructions, and the program a machine of
   states that are computed when the text first needs them. They are kept in a bounded cache, which
   is emptied when it is full: so a byte of text costs at most one pass over the program, whatever
   the pattern. The only question is whether a line contains a match.

   Text is UTF-8. A byte that belongs to no valid character matches nothing, not even '.'. No match
   contains a newline. Threads: one at a time. */
#ifndef PHI_MATCH_REGEX_IN_H
#define PHI_MATCH_REGEX_IN_H

#include "base/base_in.h"

typedef struct phi__regex phi__regex;

typedef struct phi__range {
    uint32_t first, last;
} phi__range;

/* Characters from first to last, every step-th: the representative is `down` below. */
typedef struct phi__regex_fold {
    uint32_t first, last, step, down;
} phi__regex_fold;

PHI__FN const phi__range *phi__regex_tables_word(size_t *count);
PHI__FN const phi__range *phi__regex_tables_digit(size_t *count);
PHI__FN const phi__range *phi__regex_tables_space(size_t *count);
PHI__FN const phi__regex_fold *phi__regex_tables_folds(size_t *count);

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
    PHI__REGEX_MATCH,    /* the line in which *at stands matches; its newline may be at *at */
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

#endif
