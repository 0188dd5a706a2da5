/* mcp_exchange_in.h - one HTTP request to a server and its answer, for the link over HTTP.

   mcp_exchange.c sends it with what the connection has agreed upon, waits for an authorization,
   follows redirects within the origin, and cuts messages out of the answer. What messages and ends
   mean is its kind's (mcp_http.c). mcp_head.c has the headers.
   An exchange that calls the session may find itself detached or freed when the call returns: see
   phi__mcp_exchange_kind. Threads: the pumping thread. */
#ifndef PHI_MCP_MCP_EXCHANGE_IN_H
#define PHI_MCP_MCP_EXCHANGE_IN_H

#include "io/io_in.h"
#include "loop/fetch_in.h"
#include "mcp/mcp_eras_in.h"
#include "mcp/mcp_link_in.h"
#include "mcp/mcp_oauth_in.h"
#include "text/sse_in.h"

typedef struct phi__mcp_exchange phi__mcp_exchange;

/* What the requests of a connection share. */
typedef struct phi__mcp_wire {
    phi_mcp *mcp;
    phi_runtime *rt;
    phi_memory *memory; /* lives as long as mcp */
    const phi_mcp_desc *desc;
    phi_str url;
    const phi__mcp_era *era; /* NULL: not agreed */
    char version[32];        /* for the header; empty: none */
    phi__buf session;        /* Mcp-Session-Id; empty: none */
    phi__mcp_oauth *oauth;   /* NULL: none */
    phi__list exchanges;
    uint32_t waiting; /* exchanges that wait for an authorization */
    uint32_t epoch;   /* of the agreement: session ids of an older one mean nothing */
    /* notifications/initialized: later messages wait for its answer, for each message may take
       another connection, and arrive first. NULL: nothing waits */
    phi__mcp_exchange *gate;
    phi__timer opened; /* sends the messages that have waited */
    uint32_t notes;    /* notifications, and answers of ours, under way */
    bool full;         /* one was refused: phi__mcp_session_drained follows */
} phi__mcp_wire;

/* How the body of an answer is read. */
typedef enum phi__mcp_shape {
    PHI__MCP_SHAPE_NONE, /* no head has come */
    PHI__MCP_SHAPE_JSON,
    PHI__MCP_SHAPE_SSE,
    PHI__MCP_SHAPE_SKIP, /* a body that nobody wants */
    PHI__MCP_SHAPE_FAULT /* the answer is a refusal: e->words says of what */
} phi__mcp_shape;

typedef struct phi__mcp_exchange_kind {
    const char *method; /* of HTTP */
    const char *accept; /* NULL: none */
    bool stands;        /* a stream that may stay silent for ever */
    bool skips;         /* the body of a good answer is not wanted */
    /* A message: the body, or an event of a stream with its name. False: all is freed. */
    bool (*message)(phi__mcp_exchange *e, phi_str event, phi_str json);
    /* The answer has ended: e->words, e->http_status and e->body say what failed. It closes the
       exchange, or sends it again. PHI_OK: whole, and of the 2xx. False: all is freed. */
    bool (*ended)(phi__mcp_exchange *e, phi_status status);
    /* Its timer has fired. NULL: it is sent again. */
    void (*late)(phi__mcp_exchange *e);
} phi__mcp_exchange_kind;

struct phi__mcp_exchange {
    phi__mcp_wire *wire;
    phi__link link; /* of wire->exchanges */
    const phi__mcp_exchange_kind *kind;
    void *owner;       /* the kind's */
    phi__mcp_out *out; /* the request that is answered; NULL: none, or not any more */
    phi__buf json;     /* the message of a kind without out */
    phi__buf url;      /* empty: the connection's */
    phi__fetch *fetch; /* NULL: not under way */
    phi__timer timer;
    phi__buf sent;     /* Authorization; wiped */
    bool held;         /* for wire->gate */
    bool waits, again; /* for an authorization; again: it has changed */
    bool denied;       /* that has failed: a person is not asked again for its sake */
    bool busy, closed; /* busy: in a call of kind's; closed meanwhile */
    bool note;         /* counted by wire->notes */
    bool initialize;   /* its answer gives the session id */
    bool in_session;   /* a session id was sent, in that epoch */
    uint32_t epoch;
    uint8_t redirects, challenges;
    /* of the answer */
    int http_status;
    phi__mcp_shape shape;
    phi__buf body; /* JSON, or the beginning of a refusal */
    phi__sse sse;
    phi__sse_resume resume;
    uint64_t opened_us;
    uint32_t tries;  /* to resume it, without a message since */
    char words[400]; /* of a failure */
};

enum { PHI__MCP_EXCHANGE_NOTES = 64 }; /* more wait in the session */

/* json: copied unless out is given, whose message is sent. NULL: no memory. */
PHI__FN phi__mcp_exchange *phi__mcp_exchange_new(phi__mcp_wire *wire,
                                                 const phi__mcp_exchange_kind *kind,
                                                 phi__mcp_out *out, phi_str json);
/* It is a notification or an answer of ours, of which few are under way. */
PHI__FN void phi__mcp_exchange_count(phi__mcp_exchange *e);
/* Sends it, or has it wait for wire->gate or for an authorization. Not PHI_OK: nothing was sent;
   e->words says why. Calls no function of kind's. */
PHI__FN phi_status phi__mcp_exchange_send(phi__mcp_exchange *e);
/* After a delay: kind->late. */
PHI__FN phi_status phi__mcp_exchange_later(phi__mcp_exchange *e, uint64_t ms);
/* Ends the fetch and the timer; the exchange can be sent again. */
PHI__FN void phi__mcp_exchange_stop(phi__mcp_exchange *e);
/* At once, from anywhere; out is left alone but for out->of_link. */
PHI__FN void phi__mcp_exchange_close(phi__mcp_exchange *e);
/* out is the session's again: it was answered, lost, or is unwanted. */
PHI__FN void phi__mcp_exchange_detach(phi__mcp_exchange *e);

/* Before the first exchange: PHI_NO_MEMORY. And behind the last. */
PHI__FN phi_status phi__mcp_exchange_begin_wire(phi__mcp_wire *wire);
PHI__FN void phi__mcp_exchange_end_wire(phi__mcp_wire *wire);

/* For phi__mcp_oauth_listener. */
PHI__FN void phi__mcp_exchange_authorized(phi__mcp_wire *wire, phi_status status,
                                          const char *message);

#endif
