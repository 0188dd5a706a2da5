/* registry.c - an array of tools, searched by name. */
#include "tools/registry.h"

#include "base/base_in.h"

struct phi_tool_registry {
    phi_memory memory;
    phi_tool *tools;
    size_t count, cap;
    phi_toolset defaults;
};

static size_t phi__registry_find(const phi_tool_registry *registry, const char *name) {
    size_t i;
    for (i = 0; i < registry->count; i++)
        if (strcmp(registry->tools[i].name, name) == 0) return i;
    return SIZE_MAX;
}

static bool phi__registry_has(const phi_tool *tools, size_t count, const char *name) {
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(tools[i].name, name) == 0) return true;
    return false;
}

/* ---- public ---- */

PHI_API phi_tool_registry *phi_tool_registry_new(const phi_allocator *allocator) {
    phi_memory memory;
    phi_tool_registry *registry;
    phi_memory_init(&memory, allocator, 0);
    registry = (phi_tool_registry *)phi__alloc(&memory, sizeof *registry);
    if (registry != NULL) registry->memory = memory;
    return registry;
}

PHI_API phi_tool_registry *phi_tool_registry_with_defaults(const phi_allocator *allocator,
                                                           const phi_tools_desc *desc) {
    phi_tool_registry *registry = phi_tool_registry_new(allocator);
    size_t i;
    if (registry == NULL) return NULL;
    (void)phi_tools_init(&registry->defaults, desc);
    for (i = 0; i < registry->defaults.count; i++) {
        if (phi_tool_registry_add(registry, &registry->defaults.tools[i]) == PHI_OK) continue;
        phi_tool_registry_free(registry);
        return NULL;
    }
    return registry;
}

PHI_API void phi_tool_registry_free(phi_tool_registry *registry) {
    phi_memory memory;
    if (registry == NULL) return;
    phi__free(&registry->memory, registry->tools, registry->cap * sizeof *registry->tools);
    memory = registry->memory; /* its own block is counted in itself */
    phi__free(&memory, registry, sizeof *registry);
}

PHI_API phi_status phi_tool_registry_add(phi_tool_registry *registry, const phi_tool *tool) {
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

PHI_API bool phi_tool_registry_contains(const phi_tool_registry *registry, const char *name) {
    return registry != NULL && name != NULL && phi__registry_find(registry, name) != SIZE_MAX;
}

PHI_API size_t phi_tool_registry_count(const phi_tool_registry *registry) {
    return registry != NULL ? registry->count : 0;
}

PHI_API const phi_tool *phi_tool_registry_at(const phi_tool_registry *registry, size_t index) {
    return registry != NULL && index < registry->count ? &registry->tools[index] : NULL;
}

PHI_API size_t phi_tool_registry_resolve(const phi_tool_registry *registry,
                                         const char *const *names, size_t count, phi_tool *out,
                                         const char **unknown, size_t *unknown_count) {
    size_t found = 0, missing = 0, i;
    for (i = 0; i < count; i++) {
        size_t at = registry != NULL ? phi__registry_find(registry, names[i]) : SIZE_MAX;
        if (at == SIZE_MAX) {
            if (unknown != NULL) unknown[missing] = names[i];
            missing++;
        } else if (!phi__registry_has(out, found, names[i])) {
            out[found++] = registry->tools[at];
        }
    }
    if (unknown_count != NULL) *unknown_count = missing;
    return found;
}
