/* mcp_level.c - mcp_level_in.h. */
#include "mcp/mcp_level_in.h"

PHI__FN int phi__mcp_level_of(phi_str name) {
    static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency"};
    int i;
    for (i = 0; i < (int)PHI__COUNT(levels); i++)
        if (phi__str_is(name, levels[i])) return i;
    return -1;
}
