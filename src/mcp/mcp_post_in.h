/* mcp_post_in.h - messages on their way to the link, in order, and waiting while it is full. */
#ifndef PHI_MCP_MCP_POST_IN_H
#define PHI_MCP_MCP_POST_IN_H

#include "mcp/mcp_core_in.h"

enum { PHI__MCP_POST_OWNED = 256 }; /* notifications and answers that wait */

/* Sends item->out, or queues it. first: before all that wait. Failures other than PHI_FULL,
   which it does not return: the message is lost. */
PHI__FN phi_status phi__mcp_post_item(phi_mcp *mcp, phi__mcp_item *item, bool first);
/* Queues it behind the others, whatever the link has room for. */
PHI__FN void phi__mcp_post_hold(phi_mcp *mcp, phi__mcp_item *item);
/* Out of the queue. */
PHI__FN void phi__mcp_post_take(phi_mcp *mcp, phi__mcp_item *item);
/* Sends a notification or an answer. `json` is taken over and freed in any case; `method` is a
   literal. PHI_FULL: too many wait. */
PHI__FN phi_status phi__mcp_post_text(phi_mcp *mcp, phi__buf *json, phi_str method, bool first);
/* The same, made here. */
PHI__FN phi_status phi__mcp_post_notification(phi_mcp *mcp, const char *method, phi_str params,
                                              bool first);
/* Sends queued messages; not all: up to the first request that is not of the handshake. Returns a
   request's item whose sending failed (it is out of the queue), with *status; NULL: nothing more
   can be sent now. */
PHI__FN phi__mcp_item *phi__mcp_post_flush(phi_mcp *mcp, bool all, phi_status *status);
/* Drops the notifications and answers that wait; requests are their owner's. */
PHI__FN void phi__mcp_post_clear(phi_mcp *mcp);

#endif
