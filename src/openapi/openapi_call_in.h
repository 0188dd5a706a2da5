/* openapi_call_in.h - the calling side: a tool call becomes a request, its answer a result. */
#ifndef PHI_OPENAPI_OPENAPI_CALL_IN_H
#define PHI_OPENAPI_OPENAPI_CALL_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "openapi/api_in.h"
#include "openapi/operation_in.h"
#include "system/system_in.h"

/* Sets start, cancel, resume and timeout_ms; user_data is a phi__operation. */
PHI__FN void phi__opcall_fill(phi_tool *tool);

/* Frees the memory of the object's calls, none of which is under way. */
PHI__FN void phi__opcall_free(phi_openapi *api);

#endif
