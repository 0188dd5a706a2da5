/* mcp_pages_in.h - a list that a server gives page by page, bounded: by phi_mcp_desc.max_list
   items, by the memory that they take (four times max_message_bytes), by a number of pages, and
   where a cursor comes back. */
#ifndef PHI_MCP_MCP_PAGES_IN_H
#define PHI_MCP_MCP_PAGES_IN_H

#include "mcp/mcp_in.h"

typedef struct phi__pages phi__pages;

struct phi__pages {
    phi_mcp *mcp;
    const char *method, *key; /* "tools/list", "tools"; borrowed */
    /* An object of the list, valid until it returns. False: no memory. */
    bool (*item)(phi__pages *pages, const phi_json *item);
    /* Once, inside of phi_step: the list is complete, or failed. It may free the connection. */
    void (*done)(phi__pages *pages, const phi_mcp_reply *reply);
    /* its own */
    phi__req *request;
    phi__buf cursor;
    size_t count, page;
    size_t bytes; /* of memory that `item` took */
    uint64_t ttl_ms;
    bool cut;     /* there was more than the bounds allow */
    bool has_ttl; /* of the last page, ttl_ms */
};

/* Asks for the first page. The caller has set the fields above `request` and zeroed the others. The
   statuses of phi__mcp_send. */
PHI__FN phi_status phi__pages_begin(phi__pages *pages);
PHI__FN void phi__pages_stop(phi__pages *pages); /* `done` is not called; harmless twice */

#endif
