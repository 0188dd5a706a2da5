/* mcp_forms_in.h - forms that a server wants filled in (elicitation). */
#ifndef PHI_MCP_MCP_FORMS_IN_H
#define PHI_MCP_MCP_FORMS_IN_H

#include "base/buf_in.h"
#include "text/json.h"
#include "text/schema.h"

/* The host's values for a form: writes the object, with the schema's defaults for members that are
   missing. PHI_PARSE: no object, or it does not fit; PHI_TOO_BIG: the schema is too much work;
   error says why. PHI_NO_MEMORY. */
PHI__FN phi_status phi__mcp_forms_fill(phi_arena *arena, const phi_json *schema, phi_str values,
                                       phi__buf *out, phi_schema_error *error);

#endif
