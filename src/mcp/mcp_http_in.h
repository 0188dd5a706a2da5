/* mcp_http_in.h - the link over HTTP: streamable HTTP of all eras, and the old HTTP+SSE.

   mcp_http.c owns the connection and its POSTs; mcp_stream.c the streams that a GET opens: messages
   of the server's own, and the whole traffic from the server in the old transport. Both use
   mcp_exchange.c. */
#ifndef PHI_MCP_MCP_HTTP_IN_H
#define PHI_MCP_MCP_HTTP_IN_H

#include "mcp/mcp_exchange_in.h"

typedef struct phi__mcp_http {
    phi__mcp_link link;
    phi__mcp_wire wire;
    phi__timer timer;
    bool opening, closing;
    bool ended;           /* DELETE was sent */
    uint64_t close_by_us; /* closing ends then at the latest */

    /* mcp_stream.c */
    phi__mcp_exchange *listening;        /* NULL: there is no such stream */
    phi__mcp_exchange *stream;           /* of the old transport */
    phi__mcp_exchange *first;            /* its initialize, which waits for the endpoint */
    const phi__mcp_exchange_kind *posts; /* of its POSTs; mcp_http.c's */
    phi__buf endpoint;                   /* where it takes messages; empty: not connected by it */
    bool old;                            /* the server has been found to speak it */
} phi__mcp_http;

/* NULL: none. */
PHI__FN phi__mcp_oauth *phi__mcp_http_oauth(const phi__mcp_link *link);

/* ---- mcp_stream.c ---- */

PHI__FN void phi__mcp_stream_listen(phi__mcp_http *http);
PHI__FN void phi__mcp_stream_deafen(phi__mcp_http *http); /* not listening: harmless */
/* Opens the stream of the old transport for an initialize, which is sent once the endpoint is
   known, or lost as e->words say. False: all is freed. */
PHI__FN bool phi__mcp_stream_old(phi__mcp_http *http, phi__mcp_exchange *first);
/* The same where that transport is known: calls no function of the session. */
PHI__FN phi_status phi__mcp_stream_again(phi__mcp_http *http, phi__mcp_exchange *first);
PHI__FN void phi__mcp_stream_close(phi__mcp_http *http); /* closed: harmless */
/* Reports a request as lost, and closes its exchange. False: all is freed. */
PHI__FN bool phi__mcp_stream_lose(phi__mcp_exchange *e, phi_status status);
/* The delay before a stream is opened again; counts the tries. */
PHI__FN uint64_t phi__mcp_stream_delay(phi__mcp_exchange *e);

#endif
