/* opened.h - documents by text, file and address. */
#ifndef PHI_TESTS_OPENAPI_OPENED_H
#define PHI_TESTS_OPENAPI_OPENED_H

#include "openapi/openapi.h"
#include "loop/loop_in.h"
#include "openapi/api_in.h"

static inline phi_openapi *open_text(phi_runtime *rt, const phi_openapi_desc *desc, phi_str text) {
    phi_openapi_desc of = PHI_ZERO;
    if (desc != NULL) of = *desc;
    of.text = text;
    return phi_openapi_new(rt, &of);
}

static inline phi_openapi *open_file(phi_runtime *rt, const phi_openapi_desc *desc,
                                     const char *path) {
    phi_openapi_desc of = PHI_ZERO;
    if (desc != NULL) of = *desc;
    of.path = path;
    return phi_openapi_new(rt, &of);
}

static inline phi_openapi *open_url(phi_runtime *rt, const phi_openapi_desc *desc,
                                    const char *url) {
    phi_openapi_desc of = PHI_ZERO;
    if (desc != NULL) of = *desc;
    of.url = url;
    return phi_openapi_new(rt, &of);
}

/* The fault so far, in a static struct: a document of none has no fault. */
static inline const phi_parse_error *open_error(phi_openapi *api) {
    static phi_parse_error error;
    (void)phi_openapi_step(api, &error);
    return &error;
}

static inline size_t open_count(const phi_openapi *api) {
    size_t n = 0;
    while (phi_openapi_operation_at(api, n) != NULL) n++;
    return n;
}

static inline bool open_at(const phi_openapi *api, size_t index, phi_openapi_operation *out) {
    const phi_openapi_operation *op = phi_openapi_operation_at(api, index);
    if (op != NULL) *out = *op;
    return op != NULL;
}

#endif
