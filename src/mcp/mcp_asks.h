/* mcp_asks.h - questions that a server may ask its client: roots, forms, answers of a model.

   phi answers a question for roots with phi_mcp_desc.roots. For other questions it calls the hook
   PHI_HOOK_QUESTION of the agent whose call led to the question, or else of phi_mcp_desc.agent.
   `source` is the server's name. The kinds are:

     question_kind      arguments
     "elicitation"      the JSON Schema of a form
     "elicitation_url"  {"url":..,"elicitationId":..}
     "sampling"         the request: messages, systemPrompt, maxTokens, tools...

   PHI_ALLOW answers the question. The reply to a form is a JSON object with its values; missing
   members get the schema's defaults. A page needs no reply: the person opens it. Without a reply to
   "sampling", the agent's model answers, without the agent's history and tools; the agent's budget
   and max_tokens apply. The reply {"messages":[..]} replaces the messages that the model gets. Any
   other reply to "sampling" is the answer itself.
   PHI_DENY declines the question. A form or a page counts as dismissed instead if the reply is
   "cancel" or the deadline has passed. A form also counts as dismissed if its values do not fit the
   schema; PHI_MCP_EV_WARNING then tells why. */
#ifndef PHI_MCP_MCP_ASKS_H
#define PHI_MCP_MCP_ASKS_H

#include "mcp/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the roots; they are copied. Servers with a handshake get a notification. PHI_MISUSE: the
   connection was made without roots. PHI_BAD_ARG: a uri does not begin with "file:". */
PHI_API phi_status phi_mcp_set_roots(phi_mcp *mcp, const phi_mcp_root *roots, size_t count);

#ifdef __cplusplus
}
#endif
#endif
