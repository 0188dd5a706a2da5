/* registry.h - tools by name, for hosts that put agents together from lists of names. */
#ifndef PHI_TOOLS_REGISTRY_H
#define PHI_TOOLS_REGISTRY_H

#include "tools/tools.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_tool_registry phi_tool_registry;

/* An empty registry. allocator: copied; NULL: the C library's. NULL: no memory. */
PHI_API phi_tool_registry *phi_tool_registry_new(const phi_allocator *allocator);

/* A registry with the built-in tools. It owns them, and must outlive the agents that use them. desc
   as in phi_tools_init. It also knows prun, prun_with_memo and revert_to_state
   (tools/context_tools.h), but only by name: they are not counted, nor found by
   phi_tool_registry_at. */
PHI_API phi_tool_registry *phi_tool_registry_with_defaults(const phi_allocator *allocator,
                                                           const phi_tools_desc *desc);
PHI_API void phi_tool_registry_free(phi_tool_registry *registry); /* NULL is harmless */

/* Adds a tool, or replaces the one of that name. The struct is copied; its pointers are borrowed
   until the registry, and the agents that got the tool from it, are freed. PHI_BAD_ARG: no name, or
   no start. */
PHI_API phi_status phi_tool_registry_add(phi_tool_registry *registry, const phi_tool *tool);

PHI_API bool phi_tool_registry_contains(const phi_tool_registry *registry, const char *name);
PHI_API size_t phi_tool_registry_count(const phi_tool_registry *registry);
/* In the order they were added; NULL past the last. Owned by the registry, valid until the next
   add. */
PHI_API const phi_tool *phi_tool_registry_at(const phi_tool_registry *registry, size_t index);

/* Copies the tools of those names into `out`, in that order, each once; unknown names are skipped
   and, where `unknown` is given, put into unknown[0..count). The name prun brings prun_with_memo
   with it, so `out` has room for count + 1. Returns how many tools; *unknown_count (may be NULL):
   how many names were unknown. */
PHI_API size_t phi_tool_registry_resolve(const phi_tool_registry *registry,
                                         const char *const *names, size_t count, phi_tool *out,
                                         const char **unknown, size_t *unknown_count);

#ifdef __cplusplus
}
#endif
#endif
