/* context_tools.h - tools that edit the view, for agents that have some of them. */
#ifndef PHI_TESTS_SUPPORT_CONTEXT_TOOLS_H
#define PHI_TESTS_SUPPORT_CONTEXT_TOOLS_H

#include "tools/context_tools.h"

#include <string.h>

/* prun and prun_with_memo. */
static inline phi_status tools_prun(phi_tool *out) {
    phi_tool all[PHI_CONTEXT_TOOLS];
    phi_status status = phi_tools_context(all);
    memcpy(out, all, 2 * sizeof *all);
    return status;
}

static inline phi_status tools_revert(phi_tool *out) {
    phi_tool all[PHI_CONTEXT_TOOLS];
    phi_status status = phi_tools_context(all);
    *out = all[2];
    return status;
}

#endif
