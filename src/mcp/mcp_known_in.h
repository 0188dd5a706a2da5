/* mcp_known_in.h - the definitions of tools that were offered: a server that changes one later,
   also after it was taken away, is found out. */
#ifndef PHI_MCP_MCP_KNOWN_IN_H
#define PHI_MCP_MCP_KNOWN_IN_H

#include "base/list_in.h"
#include "base/map_in.h"

typedef struct phi__mcp_known_tool {
    phi__link link; /* in the order of their last list */
    phi_str name;   /* the server's */
    phi_str definition;
    phi_str waiting; /* held: the new definition; empty: none */
    char waiting_hash[65];
    uint32_t round; /* of the last list that had it */
} phi__mcp_known_tool;

typedef struct phi__mcp_known {
    phi_memory *memory;
    phi__map map;
    phi__list tools;
    size_t count, bytes; /* of all texts */
    uint32_t round;
} phi__mcp_known;

PHI__FN void phi__mcp_known_init(phi__mcp_known *known, phi_memory *memory);
PHI__FN void phi__mcp_known_free(phi__mcp_known *known);
PHI__FN phi__mcp_known_tool *phi__mcp_known_find(const phi__mcp_known *known, phi_str name);
/* A tool of the list of this round. *before: the accepted definition, where this one is another and
   was not reported yet; else empty. Borrowed until the tool is accepted. NULL: no memory. */
PHI__FN phi__mcp_known_tool *phi__mcp_known_offer(phi__mcp_known *known, phi_str name,
                                                  phi_str definition, phi_str *before);
/* The waiting definition counts from now on. */
PHI__FN void phi__mcp_known_accept(phi__mcp_known *known, phi__mcp_known_tool *tool);
/* A list is complete: tools that it lacks are forgotten, the oldest first, beyond `most` tools and
   most_bytes. */
PHI__FN void phi__mcp_known_round(phi__mcp_known *known, size_t most, size_t most_bytes);

#endif
