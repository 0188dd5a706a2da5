/* mcp_tasks_in.h - calls that a server answers with a task: it is asked for its state until it is
   over, is given the input that it wants, and its result becomes that of the call.

   A request with a task stays open, and ends as others do; a task that nobody waits for any more is
   cancelled at the server. */
#ifndef PHI_MCP_MCP_TASKS_IN_H
#define PHI_MCP_MCP_TASKS_IN_H

#include "mcp/mcp_in.h"
#include "mcp/mcp_requests_in.h"

PHI__FN void phi__tasks_init(phi_mcp *mcp);

/* The result of `r` is a task. False: none that can be understood; nothing was done. */
PHI__FN bool phi__tasks_begin(phi__mcp_request *r, const phi_json *task);

#endif
