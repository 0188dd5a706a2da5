/* parameters_in.h - the parameters of an operation, and keys for its arguments. */
#ifndef PHI_OPENAPI_PARAMETERS_IN_H
#define PHI_OPENAPI_PARAMETERS_IN_H

#include "openapi/making_in.h"

/* False: skipped, or no memory; so with all that makes a part of an operation. */
PHI__FN bool phi__parameters_make(phi__making *m);
/* "simple", ...; false: no style */
PHI__FN bool phi__parameters_style(phi_str name, phi__operation_style *out);
/* A key that no parameter's argument has. */
PHI__FN bool phi__parameters_argument(phi__making *m, phi_str name, const char *place,
                                      phi_str *out);

#endif
