/* header.h - one header of a request; false past the last one. */
#ifndef PHI_TESTS_SUPPORT_HEADER_H
#define PHI_TESTS_SUPPORT_HEADER_H

#include "io/transport.h"
#include "io/io_in.h"

static inline bool header_at(const phi_request *request, size_t i, phi_str *name, phi_str *value) {
    phi_request_info info = phi_request_get_info(request);
    if (i >= info.header_count) return false;
    *name = info.headers[i].name;
    *value = info.headers[i].value;
    return true;
}

#endif
