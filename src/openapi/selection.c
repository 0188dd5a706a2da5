/* selection.c - operations that fit a filter become tools, one after another. */
#include "openapi/selection_in.h"

#include "openapi/maker_in.h"

enum { PHI__SELECTION_ENTRY = 64 }; /* units that an operation costs, whatever its size */

typedef struct phi__selection {
    struct phi__selection *next;
    phi_arena arena; /* operations, schemas, messages */
    size_t at;       /* the next operation */
    phi_tool *tools;
    size_t *operations;
    phi_openapi_skip *skipped;
    size_t tool_cap, operation_cap, skip_cap;
} phi__selection;

/* ---- filters ---- */

static bool phi__selection_listed(const char *const *list, phi_str text, bool nocase) {
    for (; list != NULL && *list != NULL; list++)
        if (nocase ? phi__str_is_nocase(text, *list) : phi__str_is(text, *list)) return true;
    return false;
}

/* "/repos" and "/repos/" fit /repos and /repos/a, not /repositories. */
static bool phi__selection_below(const char *const *prefixes, phi_str path) {
    for (; *prefixes != NULL; prefixes++) {
        size_t len = strlen(*prefixes);
        while (len > 0 && (*prefixes)[len - 1] == '/') len--;
        if (path.len < len || (len > 0 && memcmp(path.at, *prefixes, len) != 0)) continue;
        if (path.len == len || path.at[len] == '/') return true;
    }
    return false;
}

static bool phi__selection_fits(const phi__document_operation *op,
                                const phi_openapi_filter *filter) {
    size_t i;
    bool tagged = false;
    if (filter == NULL) return true;
    if (filter->operation_ids != NULL &&
        (op->shown.operation_id.len == 0 ||
         !phi__selection_listed(filter->operation_ids, op->shown.operation_id, false)))
        return false;
    if (filter->methods != NULL && !phi__selection_listed(filter->methods, op->shown.method, true))
        return false;
    if (filter->path_prefixes != NULL &&
        !phi__selection_below(filter->path_prefixes, op->shown.path))
        return false;
    for (i = 0; filter->tags != NULL && i < op->tag_count; i++)
        tagged = tagged || phi__selection_listed(filter->tags, op->tags[i], false);
    return filter->tags == NULL || tagged;
}

/* ---- selections ---- */

static void phi__selection_free(phi_openapi *api, phi__selection *s) {
    phi_memory *memory = &api->memory;
    phi__selection **at = &api->selections;
    while (*at != NULL && *at != s) at = &(*at)->next;
    if (*at != NULL) *at = s->next;
    phi__free(memory, s->tools, s->tool_cap * sizeof *s->tools);
    phi__free(memory, s->operations, s->operation_cap * sizeof *s->operations);
    phi__free(memory, s->skipped, s->skip_cap * sizeof *s->skipped);
    phi_arena_free(&s->arena);
    phi__free(memory, s, sizeof *s);
}

PHI__FN void phi__selection_free_all(phi_openapi *api) {
    while (api->selections != NULL) phi__selection_free(api, api->selections);
}

static phi__selection *phi__selection_new(phi_openapi *api) {
    phi__selection *s = (phi__selection *)phi__alloc(&api->memory, sizeof *s);
    if (s == NULL) return NULL;
    phi_arena_init(&s->arena, &api->memory, 0);
    s->next = api->selections;
    api->selections = s;
    return s;
}

static bool phi__selection_room(phi_openapi *api, phi__selection *s, const phi_openapi_tools *out) {
    phi_memory *memory = &api->memory;
    void *at = s->tools;
    if (out->count == s->tool_cap) {
        at = phi__grow(memory, s->tools, &s->tool_cap, out->count + 1, sizeof *s->tools);
        if (at == NULL) return false;
        s->tools = (phi_tool *)at;
    }
    if (out->count == s->operation_cap) {
        at = phi__grow(memory, s->operations, &s->operation_cap, out->count + 1,
                       sizeof *s->operations);
        if (at == NULL) return false;
        s->operations = (size_t *)at;
    }
    if (out->skip_count == s->skip_cap) {
        at = phi__grow(memory, s->skipped, &s->skip_cap, out->skip_count + 1, sizeof *s->skipped);
        if (at == NULL) return false;
        s->skipped = (phi_openapi_skip *)at;
    }
    return true;
}

static bool phi__selection_add(phi_openapi *api, phi__selection *s, phi_openapi_tools *out,
                               size_t *units) {
    const char *skip = NULL;
    if (!phi__selection_room(api, s, out) ||
        !phi__maker_make(api, s->at, &s->arena, &s->tools[out->count], &skip, units))
        return false;
    if (skip != NULL) {
        s->skipped[out->skip_count].operation = s->at;
        s->skipped[out->skip_count++].message = skip;
    } else
        s->operations[out->count++] = s->at;
    out->tools = s->tools;
    out->operations = s->operations;
    out->skipped = s->skipped;
    return true;
}

/* ---- public ---- */

PHI_API phi_status phi_openapi_select(phi_openapi *api, const phi_openapi_filter *filter,
                                      phi_openapi_tools *out) {
    phi__selection *s;
    size_t units = 0;
    if (api == NULL || out == NULL) return PHI_BAD_ARG;
    if (api->reading.status != PHI_OK)
        return phi__error(api->rt, PHI_MISUSE, "phi_openapi_select: the document is not ready");
    if (out->work == NULL) {
        memset(out, 0, sizeof *out);
        out->work = phi__selection_new(api);
        if (out->work == NULL)
            return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_select: no memory");
    }
    s = (phi__selection *)out->work;
    while (s->at < api->document->count) {
        if (units >= api->step_bytes) return PHI_BUSY;
        units += PHI__SELECTION_ENTRY;
        if (phi__selection_fits(&api->document->operations[s->at], filter) &&
            !phi__selection_add(api, s, out, &units)) {
            phi__selection_free(api, s);
            memset(out, 0, sizeof *out);
            return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_select: no memory");
        }
        s->at++;
    }
    return PHI_OK;
}
