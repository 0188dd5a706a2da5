/* mcp_asks.h - what a server may ask of its client: directories, forms, answers of a model.

   Roots are answered by themselves, where phi_mcp_desc.roots offers some. The others are questions
   to the host of the agent whose call led to them, or else of phi_mcp_desc.agent: PHI_HOOK_QUESTION
   with `source`, the server's name, and

     question_kind      arguments
     "elicitation"      the JSON Schema of a form
     "elicitation_url"  {"url":..,"elicitationId":..}
     "sampling"         the request: messages, systemPrompt, maxTokens, tools...

   PHI_ALLOW answers. To a form its reply has the values, a JSON object; members that are missing
   get the schema's defaults. To a page it has none: the person will open it. To sampling it has
   none, and the agent's own model answers, without its history and tools; the agent's budget pays,
   and its max_tokens holds; or {"messages":[..]}, which are asked instead; or any other text, which
   is the answer itself.
   PHI_DENY declines; with the reply "cancel" a form counts as dismissed. So it does after the
   deadline, and when the values do not fit the schema, which PHI_MCP_EV_WARNING reports. */
#ifndef PHI_MCP_MCP_ASKS_H
#define PHI_MCP_MCP_ASKS_H

#include "mcp/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Other directories from now on; copied. Servers with a handshake get a notification. PHI_MISUSE:
   the connection was made without roots, so none are offered; PHI_BAD_ARG: a root without a uri
   that begins with "file:"; PHI_NO_MEMORY. */
PHI_API phi_status phi_mcp_set_roots(phi_mcp *mcp, const phi_mcp_root *roots, size_t count);

#ifdef __cplusplus
}
#endif
#endif
