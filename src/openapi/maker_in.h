/* maker_in.h - makes one operation callable: parameters, body, security, server, and the tool's
   schema. */
#ifndef PHI_OPENAPI_MAKER_IN_H
#define PHI_OPENAPI_MAKER_IN_H

#include "openapi/api_in.h"
#include "openapi/tool_schema_in.h"

/* Frees every selection of the object. */
PHI__FN void phi__selection_free_all(phi_openapi *api);

#endif
