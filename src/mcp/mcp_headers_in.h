/* mcp_headers_in.h - parameters of tools that are mirrored into HTTP headers (x-mcp-header).

   The input schema of a tool may mark parameters: {"type": "string", "x-mcp-header": "Region"}. A
   call over HTTP then carries the argument as the header Mcp-Param-Region as well. A tool whose
   marks break the rules must not be used over HTTP.
   Era: 2026-07-28; over other transports, and in older eras, marks mean nothing. */
#ifndef PHI_MCP_MCP_HEADERS_IN_H
#define PHI_MCP_MCP_HEADERS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp.h"
#include "text/json.h"

/* True if all marks of an input schema keep the rules; a schema without any does. False: `message`
   (of `size` bytes) says which mark breaks which rule. */
PHI__FN bool phi__xhead_valid(const phi_json *schema, char *message, size_t size);

/* The headers of a call, their values encoded; all of it in the arena. Arguments that are not
   there, or null, have none. A schema that is not valid gives what it can. PHI_BAD_ARG: an integer
   that a double cannot carry; PHI_NO_MEMORY. */
PHI__FN phi_status phi__xhead_of(const phi_json *schema, const phi_json *arguments,
                                 phi_arena *arena, phi_mcp_pair **out, size_t *count);

/* A value for a header: itself where it is plain (0x20 to 0x7E, no space at an end, not of the form
   below), else "=?base64?...?=". Terminated, in the arena. False: no memory. */
PHI__FN bool phi__xhead_encode(phi_arena *arena, phi_str value, phi_str *out);

#endif
