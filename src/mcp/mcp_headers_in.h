/* mcp_headers_in.h - parameters of tools that are repeated in HTTP headers (x-mcp-header).

   The input schema of a tool may mark parameters: {"type": "string", "x-mcp-header": "Region"}. A
   call over HTTP then also carries the argument in the header Mcp-Param-Region. A tool whose marks
   break the rules must not be used over HTTP. Marks mean nothing over other transports and before
   the era 2026-07-28. */
#ifndef PHI_MCP_MCP_HEADERS_IN_H
#define PHI_MCP_MCP_HEADERS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp.h"
#include "text/json.h"

/* True if all marks of an input schema follow the rules, or if there are none. False: `message`
   (`size` bytes) tells which mark breaks which rule. */
PHI__FN bool phi__xhead_valid(const phi_json *schema, char *message, size_t size);

/* Makes the headers of a call in the arena, with encoded values. Arguments that are missing or null
   get no header. Invalid marks are skipped. PHI_BAD_ARG: a number is not an integer, or is beyond
   2^53 - 1 in either direction. PHI_NO_MEMORY. */
PHI__FN phi_status phi__xhead_of(const phi_json *schema, const phi_json *arguments,
                                 phi_arena *arena, phi_mcp_pair **out, size_t *count);

/* Encodes a header's value. A plain value is kept. A value is plain if its characters are 0x20 to
   0x7E, no space is at either end, and it does not have the form "=?base64?...?=". Other values are
   encoded in that form. The result is terminated, in the arena. False: no memory. */
PHI__FN bool phi__xhead_encode(phi_arena *arena, phi_str value, phi_str *out);

#endif
