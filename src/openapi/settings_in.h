/* settings_in.h - a copy of a document's settings, defaults resolved. */
#ifndef PHI_OPENAPI_SETTINGS_IN_H
#define PHI_OPENAPI_SETTINGS_IN_H

#include "base/arena_in.h"
#include "openapi/openapi.h"

/* The fault of a desc: words for a message, static; NULL: none. */
PHI__FN const char *phi__settings_refuse(const phi_openapi_desc *desc);
/* Copies it with all that it points to. desc: NULL: defaults. False: no memory. */
PHI__FN bool phi__settings_copy(phi_arena *arena, const phi_openapi_desc *desc,
                                phi_openapi_desc *out);

#endif
