/* openapi_call.c - the calling side. */
#include "openapi/openapi_call_in.h"

#ifndef PHI_NO_OPENAPI

static phi_flow phi__openapi_call_start(void *user_data, phi_call call, phi_str arguments) {
    static const char words[] = "Error: operations cannot be called in this version";
    (void)user_data;
    (void)arguments;
    (void)phi_call_finish(call, words, sizeof words - 1, true);
    return PHI_DONE;
}

PHI__FN void phi__openapi_call_fill(phi_tool *tool) { tool->start = phi__openapi_call_start; }

PHI__FN void phi__openapi_call_free(phi_openapi *api) { (void)api; }

#endif
