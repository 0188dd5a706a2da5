/* select.c - selects a branch by its place or its tokens. Of equals the token-efficient evaluation
   takes the first, and the elaborate one the last (behaviours C 62). */
#include "evaluate/select_in.h"

#ifndef PHI_NO_EVALUATION

static bool phi__select_good(const phi_branch *branch) {
    return branch->status == PHI_OK || branch->status == PHI_LIMIT;
}

PHI__FN bool phi__select_may_win(const phi_branch *branches, size_t count, size_t i) {
    size_t k;
    if (phi__select_good(&branches[i])) return true;
    for (k = 0; k < count; k++)
        if (phi__select_good(&branches[k])) return false;
    return true;
}

PHI__FN size_t phi__select_first(const phi_branch *branches, size_t count) {
    size_t i = 0;
    while (i + 1 < count && !phi__select_may_win(branches, count, i)) i++;
    return i;
}

PHI__FN size_t phi__select_by(phi_evaluate_by by, const phi_branch *branches, size_t count) {
    size_t best = phi__select_first(branches, count), i;
    for (i = best + 1; i < count; i++) {
        uint64_t tokens = branches[i].usage.total_tokens, least = branches[best].usage.total_tokens;
        if (!phi__select_may_win(branches, count, i)) continue;
        if ((by == PHI_EVALUATE_TOKEN_EFFICIENT && tokens < least) ||
            (by == PHI_EVALUATE_ELABORATE && tokens >= least))
            best = i;
    }
    return best;
}

#endif
