/* tools_in.h - tools by name: what the section [tools] of a configuration chooses from. */
#ifndef PHI_TOOLS_TOOLS_IN_H
#define PHI_TOOLS_TOOLS_IN_H

#include "base/base_in.h"
#include "tools/tools.h"

typedef struct phi__registry phi__registry;

/* An empty registry. allocator: copied; NULL: the C library's. NULL: no memory. */
PHI__FN phi__registry *phi__registry_new(const phi_allocator *allocator);

/* A registry with the built-in tools. It owns them, and must outlive the agents that use them. desc
   as in phi_tools_init. It also knows prun, prun_with_memo and revert_to_state
   (tools/context_tools.h), but only by name: they are not counted, nor found by
   phi__registry_at. */
PHI__FN phi__registry *phi__registry_with_defaults(const phi_allocator *allocator,
                                                   const phi_tools_desc *desc);
PHI__FN void phi__registry_free(phi__registry *registry); /* NULL is harmless */

/* Adds a tool, or replaces the tool of that name. The struct is copied; its pointers are borrowed
   until the registry, and the agents that got the tool from it, are freed. PHI_BAD_ARG: no name, or
   no start. */
PHI__FN phi_status phi__registry_add(phi__registry *registry, const phi_tool *tool);

/* The tool of that name; NULL: there is none. */
PHI__FN const phi_tool *phi__registry_named(const phi__registry *registry, const char *name);
PHI__FN size_t phi__registry_count(const phi__registry *registry);

/* In the order they were added; NULL past the last. Owned by the registry, valid until the next
   add. */
PHI__FN const phi_tool *phi__registry_at(const phi__registry *registry, size_t index);

/* Copies the tools of those names into `out`, in that order, each once; unknown names are skipped
   and, where `unknown` is given, put into unknown[0..count). The name prun brings prun_with_memo
   with it, so `out` has room for count + 1. Returns how many tools; *unknown_count (may be NULL):
   how many names were unknown. */
PHI__FN size_t phi__registry_resolve(const phi__registry *registry, const char *const *names,
                                     size_t count, phi_tool *out, const char **unknown,
                                     size_t *unknown_count);

#endif
