/* mcp_serve_in.h - the server between its transports and its methods.

   A transport (mcp_serve_stdio.c, mcp_serve_http.c) passes messages to phi__serve_message, each
   with a way. A way is the place where answers are sent. Stdio has one way for everything. Over
   HTTP, each POST and each listening stream (GET) is a way. A client (phi__client) is a session of
   a legacy era; requests of 2026-07-28 have none.

   Functions of a way queue a message or fail. They never call the server. */
#ifndef PHI_MCP_MCP_SERVE_IN_H
#define PHI_MCP_MCP_SERVE_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp_serve.h"
#include "text/text_in.h"

typedef struct phi__mcp_way phi__mcp_way;

typedef struct phi__client phi__client;

typedef struct phi__mcp_way_table {
    /* Sends a message, which is copied; json may be empty. last: no message follows on this way
       (ignored over stdio). http_status: the status of the answer, used if this message is the
       answer's first. If the first message is also the last, it is sent as application/json (an
       empty one as 202). Otherwise a stream of events begins. This function must not call the
       server. False: the message is lost; the transport later reports the end of the way with
       phi__serve_way_gone, in another phi_step. After `last`, only the transport uses the way. */
    bool (*send)(phi__mcp_way *way, phi_str json, int http_status, bool last);
    /* Called when `initialize` on this way has begun a session, so that its answer can have the
       header Mcp-Session-Id. NULL for stdio, which needs no session ids. */
    void (*session)(phi__mcp_way *way, phi__client *client);
    /* Called when a long message was read and answered, or is being handled. The transport may then
       free the message's text and headers, and pass the next message. */
    void (*taken)(phi__mcp_way *way);
} phi__mcp_way_table;

/* The transport owns the struct, zeroes it and sets `table`. */
struct phi__mcp_way {
    const phi__mcp_way_table *table;
    phi__list waiting;         /* set by the server: requests that are answered here */
    phi__client *client;       /* set by the server: the client whose own stream this is */
    struct phi__long *reading; /* set by the server: a long message that is being read */
};

/* Headers of an HTTP request; NULL for stdio. */
typedef struct phi__heads {
    phi_str version, method, name; /* MCP-Protocol-Version, Mcp-Method, Mcp-Name; may be empty */
    /* Returns any header, such as "Mcp-Param-Region". at is NULL if the header is missing. */
    phi_str (*get)(void *ctx, const char *name);
    void *ctx;
} phi__heads;

/* Handles a message or a batch, borrowed during the call. client: the session that the transport
   found, or NULL. Answers are sent to the way, now or later. For every message, `send` is called
   once with `last`, and with status 202 if there is no answer. A long message is read in slices in
   later steps. Then way->reading is set: until `taken` is called, the transport keeps the text and
   the headers, and passes no other message of this way. False: a callback freed the server; the
   transport must not touch its fields. */
PHI__FN bool phi__serve_message(phi_mcp_server *server, phi__client *client, phi__mcp_way *way,
                                phi_str json, const phi__heads *heads);

/* Called when the peer is gone or accepts no more messages. Forgets the way, which the transport
   then frees. Cancels calls that were to be answered there, except those of a legacy session over
   HTTP. */
PHI__FN void phi__serve_way_gone(phi_mcp_server *server, phi__mcp_way *way);

/* ---- sessions ---- */

/* True if too many HTTP streams are open to add one. */
PHI__FN bool phi__sv_crowded(const phi_mcp_server *server);

/* Makes the way the client's stream for messages outside of requests. False: the client has a
   stream already. */
PHI__FN bool phi__serve_listen(phi_mcp_server *server, phi__client *client, phi__mcp_way *way);
PHI__FN void phi__client_end(phi__client *client); /* ends a session, after DELETE or when idle */
PHI__FN const char *phi__client_id(const phi__client *client); /* 32 hex digits */

/* Finds a session by the value of Mcp-Session-Id. NULL: none (HTTP 404). */
PHI__FN phi__client *phi__client_find(phi_mcp_server *server, phi_str id);

/* ---- functions for transports ---- */
/* for stdio; `why` is "" after EOF */
PHI__FN void phi__mcp_serve_ended(phi_mcp_server *server, const char *why);

/* ---- the transports ---- */
#ifndef PHI_NO_PROCESS
typedef struct phi__serve_stdio phi__serve_stdio;
PHI__FN phi_status phi__sio_new(phi_mcp_server *server, phi__serve_stdio **out);
PHI__FN bool phi__sio_sent(const phi__serve_stdio *stdio); /* true if nothing waits to be sent */
PHI__FN void phi__sio_free(phi__serve_stdio *stdio);
#endif
#ifndef PHI_NO_LISTEN
typedef struct phi__serve_http phi__serve_http;

/* True if `host`, from a request, is a loopback name, the address of the server, or one of
   desc->allowed_hosts. The port in `host` is ignored, but an allowed host that is listed with a
   port matches only with this port. With any_address, a token and no allowed_hosts, any name is
   allowed. */
PHI__FN bool phi__admit_host(const phi_mcp_server_desc *desc, phi_str host);

/* Listens as the desc says. After a failure, phi_last_error has the message. */
PHI__FN phi_status phi__web_new(phi_mcp_server *server, phi__serve_http **out);
PHI__FN uint16_t phi__web_port(const phi__serve_http *http);

/* Frees the transport. The server must not use the transport's ways afterwards. */
PHI__FN void phi__web_free(phi__serve_http *http);
#endif

#endif
