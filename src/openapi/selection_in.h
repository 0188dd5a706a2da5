/* selection_in.h - the tools of some operations of a document. */
#ifndef PHI_OPENAPI_SELECTION_IN_H
#define PHI_OPENAPI_SELECTION_IN_H

#include "openapi/api_in.h"

/* Frees every selection of the object. */
PHI__FN void phi__selection_free_all(phi_openapi *api);

#endif
