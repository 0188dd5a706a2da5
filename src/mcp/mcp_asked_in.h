/* mcp_asked_in.h - what the server asks: as a request of its own (legacy eras), or as input that a
   request of ours needs before it is answered (input_required, the modern era). */
#ifndef PHI_MCP_MCP_ASKED_IN_H
#define PHI_MCP_MCP_ASKED_IN_H

#include "mcp/mcp_core_in.h"
#include "mcp/mcp_rpc_in.h"

enum {
    PHI__MCP_ASKED_MOST = 64,  /* at once */
    PHI__MCP_ASKED_ROUNDS = 16 /* of input for one request */
};

PHI__FN void phi__mcp_asked_init(phi_mcp *mcp);
/* A request of the server's; from: on whose stream, or NULL. False: freed inside of it. */
PHI__FN bool phi__mcp_asked_request(phi_mcp *mcp, const phi__mcp_rpc *rpc, phi__mcp_request *from);
/* The result of `r` is input_required. False as above. */
PHI__FN bool phi__mcp_asked_input(phi__mcp_request *r, const phi_json *result);
/* notifications/cancelled: the server wants no answer any more. */
PHI__FN void phi__mcp_asked_cancelled(phi_mcp *mcp, phi_str id);
/* As phi__mcp_session_answer. */
PHI__FN void phi__mcp_asked_answer(phi_mcp *mcp, uint64_t ask, phi_str result, int code,
                                   const char *message);
/* Drops all of the connection, by `unasked` of their parts. */
PHI__FN void phi__mcp_asked_drop(phi_mcp *mcp);

#endif
