/* mcp_watch_in.h - the resources that a host watches.

   Older eras: a request for each. Era 2026-07-28: one stream that names all of them; where they
   change, a new stream is opened before the old one is closed. A lost connection, or a stream that
   ends, is followed by all of it anew. */
#ifndef PHI_MCP_MCP_WATCH_IN_H
#define PHI_MCP_MCP_WATCH_IN_H

#include "mcp/mcp_in.h"
#include "mcp/mcp_get.h"

typedef struct phi__mcp_watch {
    phi_mcp *mcp;
    phi__list all;
    size_t count;
    phi__mcp_request *stream, *level;
    phi__timer timer;
    bool up;
} phi__mcp_watch;

PHI__FN void phi__mcp_watch_init(phi__mcp_watch *watch, phi_mcp *mcp);
PHI__FN void phi__mcp_watch_free(phi__mcp_watch *watch);
PHI__FN void phi__mcp_watch_ready(phi__mcp_watch *watch);
PHI__FN void phi__mcp_watch_down(phi__mcp_watch *watch);
PHI__FN bool phi__mcp_watch_notified(phi__mcp_watch *watch, phi_str method, const phi_json *params);
PHI__FN phi_status phi__mcp_watch_add(phi__mcp_watch *watch, phi_str uri, phi_mcp_done_fn done,
                                      void *user_data);
PHI__FN phi_status phi__mcp_watch_remove(phi__mcp_watch *watch, phi_str uri);
/* Asks for messages of a level, in the older eras. */
PHI__FN void phi__mcp_watch_level(phi__mcp_watch *watch, const char *level);

#endif
