/* update.h - phi_call_update of a text. */
#ifndef PHI_TESTS_SUPPORT_UPDATE_H
#define PHI_TESTS_SUPPORT_UPDATE_H

#include "loop/tool.h"

static inline phi_status call_update(phi_call call, const char *text) {
    phi_tool_result part = PHI_ZERO;
    part.text = text;
    return phi_call_update(call, text != NULL ? &part : NULL);
}

#endif
