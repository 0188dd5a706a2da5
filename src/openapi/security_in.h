/* security_in.h - the security and the server of an operation. */
#ifndef PHI_OPENAPI_SECURITY_IN_H
#define PHI_OPENAPI_SECURITY_IN_H

#include "openapi/making_in.h"

PHI__FN bool phi__security_make(phi__making *m);
PHI__FN bool phi__security_server(phi__making *m);

#endif
