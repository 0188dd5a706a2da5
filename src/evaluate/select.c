/* select.c - selects a branch by its place or its tokens. Of equals the token-efficient evaluation
   takes the first, and the elaborate one the last (behaviours C 62). */
#include "evaluate/select_in.h"

/* With an answer, also where a limit has ended its run; without one; failed. */
static int phi__select_rank(const phi_branch *branch) {
    if (branch->status != PHI_OK && branch->status != PHI_LIMIT) return 0;
    if (branch->text.len > 0) return 2;
    return branch->status == PHI_OK ? 1 : 0;
}

PHI__FN bool phi__select_may_win(const phi_branch *branches, size_t count, size_t i) {
    int rank = phi__select_rank(&branches[i]);
    size_t k;
    for (k = 0; k < count; k++)
        if (phi__select_rank(&branches[k]) > rank) return false;
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
