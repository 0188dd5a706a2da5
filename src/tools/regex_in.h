/* regex_in.h - tables of characters; the contract of regular expressions is in match_in.h. */
#ifndef PHI_TOOLS_REGEX_IN_H
#define PHI_TOOLS_REGEX_IN_H

#include "tools/tools_in.h"
#include "base/base_in.h"
#include "tools/match_in.h"

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
