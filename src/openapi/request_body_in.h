/* request_body_in.h - the body of an operation. */
#ifndef PHI_OPENAPI_REQUEST_BODY_IN_H
#define PHI_OPENAPI_REQUEST_BODY_IN_H

#include "openapi/making_in.h"

/* After the parameters. */
PHI__FN bool phi__request_body_make(phi__making *m);

#endif
