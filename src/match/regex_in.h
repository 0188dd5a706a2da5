/* regex_in.h - regular expressions over text in lines, in time linear in the text.

   The syntax is a subset of that of ripgrep, with the same meaning; docs/tools.md has its table. A
   pattern becomes a program of at most PHI__RE_CODES instructions, and the program a machine of
   states that are computed when the text first needs them. They are kept in a bounded cache, which
   is emptied when it is full: so a byte of text costs at most one pass over the program, whatever
   the pattern. The only question is whether a line contains a match.

   Text is UTF-8. A byte that belongs to no valid character matches nothing, not even '.'. No match
   contains a newline. Threads: one at a time. */
#ifndef PHI_MATCH_REGEX_IN_H
#define PHI_MATCH_REGEX_IN_H

#include "match/match_in.h"
#include "base/base_in.h"

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

#endif
