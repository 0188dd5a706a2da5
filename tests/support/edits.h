/* edits.h - phi_call_edit of one edit. */
#ifndef PHI_TESTS_SUPPORT_EDITS_H
#define PHI_TESTS_SUPPORT_EDITS_H

#include "features/context_edits.h"

static inline phi_status call_prune(phi_call call, uint64_t tokens, phi_str memo) {
    phi_prune prune = PHI_ZERO;
    prune.tokens = tokens;
    prune.memo = memo;
    return phi_call_edit(call, &prune, NULL, NULL, 0);
}

static inline phi_status call_revert(phi_call call, phi_revert_category category, uint64_t step,
                                     phi_str summary, char *words, size_t words_size) {
    phi_revert revert = PHI_ZERO;
    revert.category = category;
    revert.step = step;
    revert.summary = summary;
    return phi_call_edit(call, NULL, &revert, words, words_size);
}

#endif
