/* headers_in.h - reads the header lines of an answer, "Name: value\r\n", and the delay that they
   ask for. */
#ifndef PHI_WIRE_HEADERS_IN_H
#define PHI_WIRE_HEADERS_IN_H

#include "base/base_in.h"

/* The value of a header, case-insensitively; empty when absent. */
PHI__FN phi_str phi__headers_value(phi_str headers, const char *name);

/* The delay of an answer: by its headers, an HTTP date counted from the answer's own Date; else
   `given` ("46s"); else by the text of `message` or `detail` ("try again in 5.2s"). False: none. */
PHI__FN bool phi__headers_delay(phi_str headers, phi_str given, phi_str message, phi_str detail,
                                uint64_t *ms);

#endif
