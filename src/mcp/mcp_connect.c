/* mcp_connect.c - puts a connection together: its link, and its parts. */
#include "mcp/mcp.h"

#include "loop/state_in.h"
#include "mcp/mcp_asks_in.h"
#include "mcp/mcp_offers_in.h"
#include "mcp/mcp_open_in.h"
#include "mcp/mcp_tools_in.h"

static phi_status phi__mcp_connect_link(phi_mcp *mcp, phi__mcp_link **out) {
#ifndef PHI_NO_PROCESS
    if (phi__mcp_session_desc(mcp)->argv != NULL) return phi__mcp_stdio_new(mcp, out);
#endif
    return phi__mcp_http_new(mcp, out);
}

/* The parts of a connection, one line each. */
static const phi__mcp_open_join *phi__mcp_connect_joins(size_t *count) {
    static const phi__mcp_open_join joins[] = {phi__mcp_tools_join, phi__mcp_offers_join,
                                               phi__mcp_asks_join};
    *count = PHI__COUNT(joins);
    return joins;
}

PHI_API phi_mcp *phi_mcp_connect(phi_runtime *rt, const phi_mcp_desc *desc) {
    size_t count;
    const phi__mcp_open_join *joins = phi__mcp_connect_joins(&count);
    phi_mcp *mcp;
    if (rt == NULL) return NULL;
    if (desc == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_mcp_connect: desc is missing");
        return NULL;
    }
    (void)phi__mcp_open_new(rt, desc, phi__mcp_connect_link, joins, count, &mcp);
    return mcp;
}
