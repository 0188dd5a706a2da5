/* mcp_requests_in.h - requests under way: made, sent, timed, answered exactly once. */
#ifndef PHI_MCP_MCP_REQUESTS_IN_H
#define PHI_MCP_MCP_REQUESTS_IN_H

#include "mcp/mcp_core_in.h"

enum { PHI__MCP_REQUESTS_MOST = 4096 };

PHI__FN void phi__mcp_requests_init(phi_mcp *mcp);
/* handshake: sent before the era is agreed upon, ahead of queued messages. *out: may be NULL. */
PHI__FN phi_status phi__mcp_requests_new(phi_mcp *mcp, const phi__mcp_request_desc *desc,
                                         bool handshake, phi__mcp_request **out);
/* By the id on the wire; NULL: none waits for it. */
PHI__FN phi__mcp_request *phi__mcp_requests_find(const phi_mcp *mcp, uint64_t id);
/* That has this first id; NULL: none. */
PHI__FN phi__mcp_request *phi__mcp_requests_first(const phi_mcp *mcp, uint64_t id);
PHI__FN bool phi__mcp_requests_issued(const phi_mcp *mcp, uint64_t id);
/* The agent that waits for it; zero: none. */
PHI__FN phi_agent phi__mcp_requests_agent(const phi__mcp_request *r);
PHI__FN bool phi__mcp_requests_same_call(phi_call a, phi_call b); /* false for no call */
/* The agent that all requests of agents under way belong to; zero: none, or several. *only: the
   request, where they are of one call; a task's own requests count as those of its call. NULL. */
PHI__FN phi_agent phi__mcp_requests_calling(const phi_mcp *mcp, phi__mcp_request **only);
PHI__FN phi__mcp_request *phi__mcp_requests_of(phi__mcp_out *out);
/* The link has no more to do with it: it was answered, or lost. */
PHI__FN void phi__mcp_requests_off(phi__mcp_request *r);
/* Out of all lists, then `done`, then gone. The link forgets it, if it has it. */
PHI__FN void phi__mcp_requests_finish(phi__mcp_request *r, const phi_mcp_reply *reply);
PHI__FN void phi__mcp_requests_fail(phi__mcp_request *r, phi_status status, const char *message);
/* Each that is open; sent_only: that the link has. False: freed inside of a `done`. */
PHI__FN bool phi__mcp_requests_fail_all(phi_mcp *mcp, phi_status status, const char *message,
                                        bool sent_only);
/* Without `done`. The server gets notifications/cancelled, where the era has that. */
PHI__FN void phi__mcp_requests_cancel(phi__mcp_request *r, const char *reason);
/* Sent once more under a new id, with further members of params. */
PHI__FN phi_status phi__mcp_requests_repeat(phi__mcp_request *r, phi_str members);
/* Sent once more as it is: a connection that was agreed upon again. */
PHI__FN void phi__mcp_requests_again(phi__mcp_request *r);
/* Of the notification. */
PHI__FN void phi__mcp_requests_progress(phi_mcp *mcp, const phi_json *params);
/* The deadline begins anew; bounded: within max_timeout_ms. */
PHI__FN phi_status phi__mcp_requests_renew(phi__mcp_request *r, bool bounded);
/* Sends what waited; not all: of the handshake alone. False: freed inside of a `done`. */
PHI__FN bool phi__mcp_requests_flush(phi_mcp *mcp, bool all);

#endif
