/* mcp_schema_in.h - the input schema of a server's tool, adapted so that an agent takes it.

   A schema that phi's check understands whole stays as it is. Else keywords that it does not
   understand move into descriptions, as does a reference to another document, which is never
   followed. */
#ifndef PHI_MCP_MCP_SCHEMA_IN_H
#define PHI_MCP_MCP_SCHEMA_IN_H

#include "base/arena_in.h"
#include "text/json_in.h"

enum { PHI__MCP_SCHEMA_BYTES = 65536 }; /* of a schema's text */

/* *out: JSON text, terminated, in the arena. schema NULL, or JSON's null: an object without
   properties. PHI_NO_MEMORY; PHI_BAD_ARG, PHI_TOO_BIG: no tool can have it, `message` says why. */
PHI__FN phi_status phi__mcp_schema_adapt(const phi_json *schema, phi_arena *arena, phi_str *out,
                                         char *message, size_t size);
/* Whether following its references stays within bounds. */
PHI__FN bool phi__mcp_schema_bounded(const phi_json *schema);

#endif
