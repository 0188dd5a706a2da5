/* maker_in.h - makes one operation callable: parameters, body, security, server, and the tool's
   schema. */
#ifndef PHI_OPENAPI_MAKER_IN_H
#define PHI_OPENAPI_MAKER_IN_H

#include "openapi/making_in.h"

/* Makes the operation at `index`, and its tool, in the arena. False: no memory. *skip: NULL, or why
   it becomes no tool, in the arena. *units grows by the bytes that were read and written. */
PHI__FN bool phi__maker_make(phi_openapi *api, size_t index, phi_arena *arena, phi_tool *tool,
                             const char **skip, size_t *units);

#endif
