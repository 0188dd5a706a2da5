/* mcp_events_in.h - the events of a stream that a client may take up again: the last of them are
   kept, up to 256 KiB.

   Ownership: in its owner. Threads: the pumping thread. */
#ifndef PHI_MCP_MCP_EVENTS_IN_H
#define PHI_MCP_MCP_EVENTS_IN_H

#include "base/buf_in.h"

#ifndef PHI_NO_LISTEN

typedef struct phi__mcp_events {
    uint64_t stream;      /* its number; 0: its events have no ids, and none is kept */
    uint64_t first, next; /* of those kept; the next one to come; from 1 */
    phi__buf kept;
} phi__mcp_events;

PHI__FN void phi__mcp_events_init(phi__mcp_events *events, phi_memory *memory, uint64_t stream);
PHI__FN void phi__mcp_events_free(phi__mcp_events *events);
/* The next event as text, into `out`: "id: 3-1\ndata: {...}\n\n". json is one line. */
PHI__FN void phi__mcp_events_put(phi__mcp_events *events, phi_str json, phi__buf *out);
/* The kept ones behind number `last`. False: some of them are gone, or are still to come. */
PHI__FN bool phi__mcp_events_after(const phi__mcp_events *events, uint64_t last, phi_str *out);
/* Reads an id of such an event. */
PHI__FN bool phi__mcp_events_id(phi_str text, uint64_t *stream, uint64_t *number);

#endif
#endif
