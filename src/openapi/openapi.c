/* openapi.c - the object of a document: made, read, looked at and freed. */
#include "openapi/api_in.h"

#include "openapi/address_in.h"
#include "openapi/openapi_call_in.h"
#include "openapi/selection_in.h"
#include "openapi/settings_in.h"

static void phi__openapi_destroy(phi_openapi *api) {
    phi_memory *memory = &api->rt->memory;
    if (api->document != NULL) {
        phi__reading_end(&api->reading);
        phi__document_free(api->document);
    }
    phi_arena_free(&api->arena);
    phi__free(memory, api, sizeof *api);
}

static bool phi__openapi_fill(phi_openapi *api, const phi_openapi_desc *desc) {
    phi__document *doc = (phi__document *)phi__arena_zero(&api->arena, sizeof *doc);
    if (doc == NULL || !phi__settings_copy(&api->arena, desc, &api->desc)) return false;
    phi__document_init(doc, &api->memory);
    phi__reading_init(&api->reading, doc, api->desc.max_document_bytes);
    api->reading.prefix = api->desc.name_prefix;
    api->reading.skip_unnamed = api->desc.skip_unnamed;
    api->document = doc;
    return true;
}

static phi_openapi *phi__openapi_make(phi_runtime *rt, const phi_openapi_desc *desc) {
    const char *fault = phi__settings_refuse(desc);
    phi_openapi *api;
    if (fault != NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_new: %s", fault);
        return NULL;
    }
    api = (phi_openapi *)phi__alloc(&rt->memory, sizeof *api);
    if (api != NULL) {
        api->rt = rt;
        api->step_bytes = rt->slice.budget_bytes;
        phi_memory_init(&api->memory, &rt->memory.allocator, 0);
        api->memory.parent = &rt->memory;
        phi_arena_init(&api->arena, &api->memory, 0);
        if (phi__openapi_fill(api, desc)) return api;
        phi__openapi_destroy(api);
    }
    (void)phi__error(rt, PHI_NO_MEMORY, "phi_openapi_new: no memory");
    return NULL;
}

/* ---- public ---- */

PHI_API phi_openapi *phi_openapi_new(phi_runtime *rt, const phi_openapi_desc *desc) {
    phi_openapi *api;
    if (rt == NULL) return NULL;
    if (desc == NULL || (desc->text.at != NULL) + (desc->path != NULL) + (desc->url != NULL) != 1) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_new: expected one of text, path and url");
        return NULL;
    }
    api = phi__openapi_make(rt, desc);
    if (api == NULL) return NULL;
    if (desc->path != NULL)
        (void)phi__reading_open(&api->reading, desc->path);
    else if (desc->url == NULL)
        (void)phi__reading_add(&api->reading, desc->text);
    else if (!phi__address_open(api, phi_str_of(desc->url))) {
        phi__openapi_destroy(api);
        return NULL;
    }
    return api;
}

PHI_API phi_status phi_openapi_step(phi_openapi *api, phi_parse_error *error) {
    phi_status status;
    if (error != NULL) memset(error, 0, sizeof *error);
    if (api == NULL) return PHI_BAD_ARG;
    status = api->reading.status;
    if (status == PHI_BUSY && api->address.fetch == NULL) {
        status = phi__reading_advance(&api->reading, api->step_bytes);
        if (status != PHI_BUSY) phi__reading_end(&api->reading);
    }
    if (error != NULL) *error = api->reading.error;
    return status;
}

PHI_API void phi_openapi_free(phi_openapi *api) {
    if (api == NULL) return;
    if (api->calls_open > 0) {
        (void)phi__error(api->rt, PHI_MISUSE,
                         "phi_openapi_free: %u calls are under way: free or abort their agents",
                         (unsigned)api->calls_open);
        return;
    }
    phi__address_close(api);
    phi__openapi_call_free(api);
    phi__selection_free_all(api);
    phi__openapi_destroy(api);
}

PHI_API const phi_openapi_operation *phi_openapi_operation_at(const phi_openapi *api,
                                                              size_t index) {
    if (api == NULL || api->reading.status != PHI_OK || index >= api->document->count) return NULL;
    return &api->document->operations[index].shown;
}
