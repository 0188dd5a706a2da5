/* mcp_session_in.h - what the server sends: each message to where it belongs. */
#ifndef PHI_MCP_MCP_SESSION_IN_H
#define PHI_MCP_MCP_SESSION_IN_H

#include "mcp/mcp_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_rpc_in.h"

enum {
    PHI__ASKED_MOST = 64,  /* at once */
    PHI__ASKED_ROUNDS = 16 /* of input for one request */
};

PHI__FN void phi__asked_init(phi_mcp *mcp);

/* The result of `r` is input_required. False as above. */
PHI__FN bool phi__asked_input(phi__mcp_request *r, const phi_json *result);
PHI__FN phi_mcp_state phi__life_state(const phi_mcp *mcp);

/* Opens it in the next step. Only where it is shut or broken. */
PHI__FN phi_status phi__life_open(phi_mcp *mcp);
PHI__FN void phi__life_close(phi_mcp *mcp); /* in the next step */

/* Ends requests, parts and link, and frees all but the struct. */
PHI__FN void phi__life_end(phi_mcp *mcp);
PHI__FN void phi__incoming_init(phi_mcp *mcp);

#endif
