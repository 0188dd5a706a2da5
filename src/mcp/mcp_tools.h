/* mcp_tools.h - the tools of an MCP server: a source for agents, a list for hosts.

   A model sees a tool as "{name_prefix}__{its name}", within every provider's rule for names; calls
   use the server's own name. An input schema that phi's check does not understand whole is adapted:
   such keywords move into descriptions. A tool with a schema that is too large, explodes through
   its references or is no schema is left out, with PHI_MCP_EV_WARNING.

   A result's texts, images and audio go to the model, and binary resources that are images, audio
   or PDFs; links and other resources become a line with their type and size. Structured content is
   checked against the tool's output schema, and is kept in the details of the result:
   {"structuredContent": ..., "_meta": ...}. */
#ifndef PHI_MCP_MCP_TOOLS_H
#define PHI_MCP_MCP_TOOLS_H

#include "mcp/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For phi_tool_options.sources of any agent of the runtime; the same pointer each time. Valid
   until phi_mcp_free, which is refused while agents have tools of it. Before the server is ready,
   the list is empty; while it is started again, it is the last one. */
PHI_API const phi_tool_source *phi_mcp_tools(phi_mcp *mcp);

/* A tool as a host sees it. Strings are terminated. */
typedef struct phi_mcp_tool {
    phi_str name;        /* that models use */
    phi_str original;    /* of the server, as it is: it may hold any characters */
    phi_str title;       /* for people; name where the server has none */
    phi_str description; /* empty: none */
    phi_str schema;      /* of the arguments, JSON text as models get it */
    phi_str input;       /* the same with every keyword of the server; empty: none */
    phi_str output;      /* the output schema as the server sent it; empty: none */
    phi_str annotations; /* JSON text; empty: none */
    /* The server's hints, with the specification's defaults. They are claims of the server. */
    bool read_only, destructive, idempotent, open_world;
    /* Its definition has changed: it is shown as it was accepted, its calls are refused until
       phi_mcp_accept_tool. */
    bool held;
    const char *hash;     /* SHA-256 of the definition, 64 hex digits */
    const char *new_hash; /* held: of the definition that waits; else NULL */
} phi_mcp_tool;

/* NULL past the last. Valid until the next phi_step. */
PHI_API const phi_mcp_tool *phi_mcp_tool_at(const phi_mcp *mcp, size_t index);

/* Accepts the changed definition of a held tool, by the name that models use. PHI_NOT_FOUND: no
   such tool; PHI_OK also where it was not held. */
PHI_API phi_status phi_mcp_accept_tool(phi_mcp *mcp, const char *name);

#ifdef __cplusplus
}
#endif
#endif
