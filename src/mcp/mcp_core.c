/* mcp_core.c - how long the struct of a connection lives. */
#include "mcp/mcp_core_in.h"

#include "loop/state_in.h"

PHI__FN void phi__mcp_core_enter(phi_mcp *mcp) { mcp->depth++; }

PHI__FN bool phi__mcp_core_leave(phi_mcp *mcp) {
    mcp->depth--;
    if (!mcp->dead) return true;
    if (mcp->depth == 0) phi__free(&mcp->rt->memory, mcp, sizeof *mcp);
    return false;
}
