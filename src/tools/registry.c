/* registry.c - an array of tools, searched by name. */
#include "tools/registry_in.h"

#include "base/base_in.h"
#include "tools/context_tools.h"

enum { PHI__REGISTRY_APART = PHI_CONTEXT_TOOLS };

struct phi__registry {
    phi_memory memory;
    phi_tool *tools;
    size_t count, cap;
    phi_toolset defaults;
    phi_tool apart[PHI__REGISTRY_APART]; /* tools outside of the set, found by name only */
    size_t apart_count;
};

static size_t phi__registry_find(const phi__registry *registry, const char *name) {
    size_t i;
    for (i = 0; i < registry->count; i++)
        if (strcmp(registry->tools[i].name, name) == 0) return i;
    return SIZE_MAX;
}

PHI__FN const phi_tool *phi__registry_named(const phi__registry *registry, const char *name) {
    size_t i, at;
    if (registry == NULL || name == NULL) return NULL;
    at = phi__registry_find(registry, name);
    if (at != SIZE_MAX) return &registry->tools[at];
    for (i = 0; i < registry->apart_count; i++)
        if (strcmp(registry->apart[i].name, name) == 0) return &registry->apart[i];
    return NULL;
}

static bool phi__registry_has(const phi_tool *tools, size_t count, const char *name) {
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(tools[i].name, name) == 0) return true;
    return false;
}

PHI__FN phi__registry *phi__registry_new(const phi_allocator *allocator) {
    phi_memory memory;
    phi__registry *registry;
    phi_memory_init(&memory, allocator, 0);
    registry = (phi__registry *)phi__alloc(&memory, sizeof *registry);
    if (registry != NULL) registry->memory = memory;
    return registry;
}

PHI__FN phi__registry *phi__registry_with_defaults(const phi_allocator *allocator,
                                                   const phi_tools_desc *desc) {
    phi__registry *registry = phi__registry_new(allocator);
    size_t i;
    if (registry == NULL) return NULL;
    (void)phi_tools_init(&registry->defaults, desc);
    (void)phi_tools_context(registry->apart);
    registry->apart_count = PHI__REGISTRY_APART;
    for (i = 0; i < registry->defaults.count; i++) {
        if (phi__registry_add(registry, &registry->defaults.tools[i]) == PHI_OK) continue;
        phi__registry_free(registry);
        return NULL;
    }
    return registry;
}

PHI__FN void phi__registry_free(phi__registry *registry) {
    phi_memory memory;
    if (registry == NULL) return;
    phi__free(&registry->memory, registry->tools, registry->cap * sizeof *registry->tools);
    memory = registry->memory; /* its own block is counted in itself */
    phi__free(&memory, registry, sizeof *registry);
}

PHI__FN phi_status phi__registry_add(phi__registry *registry, const phi_tool *tool) {
    phi_tool *tools;
    size_t at;
    if (registry == NULL || tool == NULL || tool->name == NULL || tool->name[0] == '\0' ||
        tool->start == NULL)
        return PHI_BAD_ARG;
    at = phi__registry_find(registry, tool->name);
    if (at == SIZE_MAX) {
        tools = (phi_tool *)phi__grow(&registry->memory, registry->tools, &registry->cap,
                                      registry->count + 1, sizeof *tools);
        if (tools == NULL) return PHI_NO_MEMORY;
        registry->tools = tools;
        at = registry->count++;
    }
    registry->tools[at] = *tool;
    return PHI_OK;
}

PHI__FN size_t phi__registry_count(const phi__registry *registry) {
    return registry != NULL ? registry->count : 0;
}

PHI__FN const phi_tool *phi__registry_at(const phi__registry *registry, size_t index) {
    return registry != NULL && index < registry->count ? &registry->tools[index] : NULL;
}

PHI__FN size_t phi__registry_resolve(const phi__registry *registry, const char *const *names,
                                     size_t count, phi_tool *out, const char **unknown,
                                     size_t *unknown_count) {
    size_t found = 0, missing = 0, i;
    for (i = 0; i < count; i++) {
        const phi_tool *tool = phi__registry_named(registry, names[i]);
        if (tool == NULL) {
            if (unknown != NULL) unknown[missing] = names[i];
            missing++;
            continue;
        }
        if (!phi__registry_has(out, found, names[i])) out[found++] = *tool;
        if (strcmp(names[i], "prun") != 0 || phi__registry_has(out, found, "prun_with_memo"))
            continue;
        tool = phi__registry_named(registry, "prun_with_memo");
        if (tool != NULL) out[found++] = *tool;
    }
    if (unknown_count != NULL) *unknown_count = missing;
    return found;
}
