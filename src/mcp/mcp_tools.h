/* mcp_tools.h - the tools of an MCP server: a source for agents, a list for hosts.

   A model sees a tool as "{name_prefix}__{name}", with changes if a provider's rules need them.
   Calls to the server use the server's own name of the tool. Keywords of an input schema that phi
   cannot check move into descriptions. A tool is left out, with PHI_MCP_EV_WARNING, if its schema
   is too large or malformed, if its references lead too far, or if its name is taken.

   The model gets a result's texts, images and audio, and binary resources that are images, audio or
   PDFs. Links and other resources become a line with their type and size. Structured content is
   checked against the tool's output schema and kept in the result's details:
   {"structuredContent": ..., "_meta": ...}. */
#ifndef PHI_MCP_MCP_TOOLS_H
#define PHI_MCP_MCP_TOOLS_H

#include "mcp/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the source for phi_tool_options.sources of any agent of the runtime. The pointer is
   always the same. The source is valid until phi_mcp_free, which fails while agents have the tools.
   The list is empty before the server is ready. During a restart, the last list stays. */
PHI_API const phi_tool_source *phi_mcp_tools(phi_mcp *mcp);
/* Returns the connection whose tools a source has. NULL: phi_mcp_tools did not return this source.
   So a host finds the connections that a configuration has made for an agent. */
PHI_API phi_mcp *phi_mcp_of_source(const phi_tool_source *source);

/* A tool for a host to show. Strings are terminated. */
typedef struct phi_mcp_tool {
    phi_str name;        /* the name that models use */
    phi_str original;    /* the server's name; may have any characters */
    phi_str title;       /* for people; same as name if the server sent none */
    phi_str description; /* may be empty */
    phi_str schema;      /* JSON Schema of the arguments, as models get it */
    phi_str input;       /* JSON Schema of the arguments, as the server sent it, or empty */
    phi_str output;      /* output schema as the server sent it, or empty */
    phi_str annotations; /* JSON text, or empty */
    /* The server's hints, with the specification's defaults. The server may be wrong. */
    bool read_only, destructive, idempotent, open_world;
    /* The definition has changed; this struct shows the accepted one. Calls fail until
       phi_mcp_accept_tool. */
    bool held;
    const char *hash;     /* SHA-256 of the definition, 64 hex digits */
    const char *new_hash; /* hash of the new definition if held, else NULL */
} phi_mcp_tool;

/* Returns the tool at `index`, or NULL past the last. Valid until the next phi_step. */
PHI_API const phi_mcp_tool *phi_mcp_tool_at(const phi_mcp *mcp, size_t index);

/* Accepts the changed definition of a held tool. `name` is the name that models use. PHI_OK also if
   the tool is not held. PHI_NOT_FOUND: no such tool. */
PHI_API phi_status phi_mcp_accept_tool(phi_mcp *mcp, const char *name);

#ifdef __cplusplus
}
#endif
#endif
