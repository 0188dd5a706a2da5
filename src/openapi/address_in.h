/* address_in.h - requests a document from its URL. */
#ifndef PHI_OPENAPI_ADDRESS_IN_H
#define PHI_OPENAPI_ADDRESS_IN_H

#include "openapi/api_in.h"

/* False: the URL cannot be asked, or no memory; phi_last_error says which. */
PHI__FN bool phi__address_open(phi_openapi *api, phi_str url);
PHI__FN void phi__address_close(phi_openapi *api); /* twice is harmless */

#endif
