/* mcp_pages_in.h - reads a list that a server sends in pages. Reading stops at
   phi_mcp_desc.max_list items, when the items take four times max_message_bytes of memory, after
   1,000 pages, or at a cursor that comes twice in a row. */
#ifndef PHI_MCP_MCP_PAGES_IN_H
#define PHI_MCP_MCP_PAGES_IN_H

#include "mcp/mcp_in.h"

typedef struct phi__pages phi__pages;

struct phi__pages {
    phi_mcp *mcp;
    const char *method, *key; /* for example "tools/list" and "tools"; borrowed */
    /* Gets an object of the list, valid during the call. False: no memory. */
    bool (*item)(phi__pages *pages, const phi_json *item);
    /* Called once, in phi_step, at the list's end or failure. `done` may free the connection. */
    void (*done)(phi__pages *pages, const phi_mcp_reply *reply);
    phi__req *request;
    phi__buf cursor;
    size_t count, page;
    size_t bytes; /* memory that `item` took */
    uint64_t ttl_ms;
    bool cut;     /* the list was longer than the limits allow */
    bool has_ttl; /* the last page has ttl_ms */
};

/* Asks for the first page. The caller has set the fields above `request` and zeroed the rest.
   Returns the statuses of phi__mcp_send. */
PHI__FN phi_status phi__pages_begin(phi__pages *pages);
PHI__FN void phi__pages_stop(phi__pages *pages); /* does not call `done`; may be called twice */

#endif
