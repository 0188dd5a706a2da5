/* mcp_serve_in.h - our server between its transports and its parts.

   A transport (mcp_serve_stdio.c, mcp_serve_http.c) hands messages in with phi__serve_message,
   each with a way: the place where its messages go out. Over stdio there is one way for
   all; over HTTP each POST is a way, and so is a listening stream (GET).
   A client (phi__client) is a session of a legacy era; requests of 2026-07-28 have none.

   Nothing here is called back by a way's functions: they queue, or fail. */
#ifndef PHI_MCP_MCP_SERVE_IN_H
#define PHI_MCP_MCP_SERVE_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp_serve.h"
#include "text/text_in.h"

typedef struct phi__mcp_way phi__mcp_way;

typedef struct phi__client phi__client;

typedef struct phi__mcp_way_table {
    /* Sends a message, copied. json empty: none. last: nothing follows on this way; over stdio it
       says nothing. http_status: of the answer, where this message begins it: a first message that
       is the last one goes as application/json (202 with an empty body), any other opens a stream
       of events. It must not call the server. False: it is lost; the transport then reports the
       way's end itself (phi__serve_way_gone), in a later phi_step. After `last` the way is the
       transport's alone. */
    bool (*send)(phi__mcp_way *way, phi_str json, int http_status, bool last);
    /* A session began with this way's `initialize`: the transport names it (HTTP: the header
       Mcp-Session-Id of the answer, which is sent afterwards). NULL: no names (stdio). */
    void (*session)(phi__mcp_way *way, phi__client *client);
    /* A long message was read, and answered or is under way: its text and headers are the
       transport's again. May hand in the next message. */
    void (*taken)(phi__mcp_way *way);
} phi__mcp_way_table;

/* In memory of the transport's, which zeroes it and sets `table`. */
struct phi__mcp_way {
    const phi__mcp_way_table *table;
    phi__list waiting;         /* the server's: requests whose answers go here */
    phi__client *client;       /* the server's: this is the client's own stream */
    struct phi__long *reading; /* the server's: a long message is being read */
};

/* The headers of an HTTP request; NULL for stdio. */
typedef struct phi__heads {
    phi_str version, method, name; /* MCP-Protocol-Version, Mcp-Method, Mcp-Name; empty: none */
    /* Any header, "Mcp-Param-Region"; at NULL: it is not there. */
    phi_str (*get)(void *ctx, const char *name);
    void *ctx;
} phi__heads;

/* A message, or a batch of them, borrowed until it returns. client: the session that the transport
   found, or NULL. Answers go to the way, now or later; every message gets one `last`, with 202
   where there is nothing to answer. A long message is read in slices, in later steps: way->reading
   is set then; its text and headers stay, and no other message is handed in for this way, until
   `taken`. False: the server was freed meanwhile (by a callback of the
   host's): the transport touches none of its fields. */
PHI__FN bool phi__serve_message(phi_mcp_server *server, phi__client *client, phi__mcp_way *way,
                                phi_str json, const phi__heads *heads);

/* The other side is gone, or takes nothing any more: forgets the way, which the transport frees
   then. Calls whose answers went there are cancelled, but those of a legacy session over HTTP. */
PHI__FN void phi__serve_way_gone(phi_mcp_server *server, phi__mcp_way *way);

/* ---- sessions ---- */

/* True if, over HTTP, so many streams are open that none may be added. */
PHI__FN bool phi__sv_crowded(const phi_mcp_server *server);

/* The stream for messages that belong to no request. False: there is one already. */
PHI__FN bool phi__serve_listen(phi_mcp_server *server, phi__client *client, phi__mcp_way *way);
PHI__FN void phi__client_end(phi__client *client); /* HTTP: DELETE; and at an idle end */
PHI__FN const char *phi__client_id(const phi__client *client); /* 32 hex digits */

/* By the text of Mcp-Session-Id; NULL: none of that name (HTTP 404). */
PHI__FN phi__client *phi__client_find(phi_mcp_server *server, phi_str id);

/* ---- what transports see ---- */
PHI__FN void phi__mcp_serve_ended(phi_mcp_server *server, const char *why); /* stdio; "": EOF */

/* ---- the transports ---- */
#ifndef PHI_NO_PROCESS
typedef struct phi__serve_stdio phi__serve_stdio;
PHI__FN phi_status phi__sio_new(phi_mcp_server *server, phi__serve_stdio **out);
PHI__FN bool phi__sio_sent(const phi__serve_stdio *stdio); /* nothing waits */
PHI__FN void phi__sio_free(phi__serve_stdio *stdio);
#endif
#ifndef PHI_NO_LISTEN
typedef struct phi__serve_http phi__serve_http;

/* host: the request's authority. A name of the loopback, the address that the server listens on, or
   one of desc->allowed_hosts, with or without its port. */
PHI__FN bool phi__admit_host(const phi_mcp_server_desc *desc, phi_str host);

/* The desc's fields of http; words: phi_last_error. */
PHI__FN phi_status phi__web_new(phi_mcp_server *server, phi__serve_http **out);
PHI__FN uint16_t phi__web_port(const phi__serve_http *http);

/* Every way of it is gone for the server by then, or forgotten without a call. */
PHI__FN void phi__web_free(phi__serve_http *http);
#endif

#endif
