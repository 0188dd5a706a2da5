/* circles_in.h - circles among definitions that refer to each other, and where to cut them. */
#ifndef PHI_OPENAPI_CIRCLES_IN_H
#define PHI_OPENAPI_CIRCLES_IN_H

#include "openapi/tool_schema_in.h"

/* A reference; the list grows. False: no memory. */
PHI__FN bool phi__circles_add(phi_memory *memory, phi__tool_schema_edge **edges, size_t *count,
                              size_t *cap, size_t from, size_t to);
/* Marks references so that no circle is left among `nodes` definitions; *any: there was one.
   False: no memory. */
PHI__FN bool phi__circles_cut(phi_memory *memory, phi__tool_schema_edge *edges, size_t count,
                              size_t nodes, bool *any);
PHI__FN bool phi__circles_is_cut(const phi__tool_schema_edge *edges, size_t count, size_t from,
                                 size_t to);

#endif
