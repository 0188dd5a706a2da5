/* spec.h - a document that was read, and the tools of it, for tests. */
#ifndef PHI_TESTS_OPENAPI_SPEC_H
#define PHI_TESTS_OPENAPI_SPEC_H

#include "openapi/opened.h"
#include "openapi/openapi.h"
#include "openapi/api_in.h"
#include "support/test.h"

typedef struct spec {
    phi_runtime *rt;
    phi_openapi *api;
    phi_openapi_tools tools;
    phi_status status;
} spec;

static inline void spec_runtime(spec *s) {
    phi_runtime_desc desc;
    memset(&desc, 0, sizeof desc);
    memset(s, 0, sizeof *s);
    desc.allocator = test_allocator();
    s->rt = phi_runtime_new(&desc);
}

static inline void spec_read(spec *s) {
    while ((s->status = phi_openapi_step(s->api, NULL)) == PHI_BUSY) (void)phi_step(s->rt, 0);
    if (s->status != PHI_OK) return;
    while ((s->status = phi_openapi_select(s->api, NULL, &s->tools)) == PHI_BUSY) {}
}

static inline void spec_open(spec *s, const phi_openapi_desc *desc, const char *text) {
    spec_runtime(s);
    s->api = open_text(s->rt, desc, phi_str_of(text));
    spec_read(s);
}

static inline void spec_close(spec *s) {
    phi_openapi_free(s->api);
    phi_runtime_free(s->rt);
}

static inline const phi_tool *spec_tool(const spec *s, const char *name) {
    size_t i;
    for (i = 0; i < s->tools.count; i++)
        if (strcmp(s->tools.tools[i].name, name) == 0) return &s->tools.tools[i];
    return NULL;
}

static inline const phi__operation *spec_operation(const spec *s, const char *name) {
    const phi_tool *tool = spec_tool(s, name);
    return tool != NULL ? (const phi__operation *)tool->user_data : NULL;
}

static inline const char *spec_schema(const spec *s, const char *name) {
    const phi_tool *tool = spec_tool(s, name);
    return tool != NULL ? tool->schema : "(no such tool)";
}

#endif
