/* mcp_connect.c - makes a connection from its link and its parts. */
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"

static phi_status phi__connect_link(phi_mcp *mcp, phi__mcp_link **out) {
#ifndef PHI_NO_PROCESS
    if (mcp->desc.argv != NULL) return phi__stdio_new(mcp, out);
#endif
    return phi__mhttp_new(mcp, out);
}

PHI_API phi_mcp *phi_mcp_connect(phi_runtime *rt, const phi_mcp_desc *desc) {
    static const phi__mcp_open_join joins[] = {phi__mtools_join, phi__offers_join, phi__asks_join};
    phi_mcp *mcp;
    if (rt == NULL) return NULL;
    if (desc == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_mcp_connect: desc is missing");
        return NULL;
    }
    (void)phi__mcp_open_new(rt, desc, phi__connect_link, joins, PHI__COUNT(joins), &mcp);
    return mcp;
}
