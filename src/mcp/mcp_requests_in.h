/* mcp_requests_in.h - a connection and its requests, each of which ends exactly once. */
#ifndef PHI_MCP_MCP_REQUESTS_IN_H
#define PHI_MCP_MCP_REQUESTS_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp_rpc_in.h"

typedef enum phi__phase {
    PHI__SHUT,    /* not opened, or closed */
    PHI__OPENING, /* the link connects */
    PHI__PROBING,
    PHI__INITIALIZING,
    PHI__SETTLING, /* handshake done; parts fetch their first lists */
    PHI__LIVE,
    PHI__RESTING,    /* waits for the next attempt to connect */
    PHI__MCP_ENDING, /* after phi_mcp_close */
    PHI__BROKEN      /* failed for good */
} phi__phase;

/* mcp_requests.c: a message to the server. */
typedef struct phi__mcp_item {
    phi__link link; /* in the queue */
    bool waits;     /* in the queue */
    bool sent;      /* the link has the message */
    bool early;     /* part of the handshake */
    bool owned;     /* a notification or an answer, freed after it was sent */
    phi__out out;
    phi__buf json;
} phi__mcp_item;

typedef struct phi__queue {
    phi__list waiting;
    uint32_t owned; /* number of owned items in the queue */
} phi__queue;

typedef struct phi__joined {
    const phi__mcp_part *table;
    void *part;
} phi__joined;

typedef struct phi__requests {
    phi__list open;
    size_t count;
    phi__map by_id;
    uint64_t next_id;
} phi__requests;

typedef struct phi__asks {
    phi__list open;
    size_t count;
    uint64_t next;
} phi__asks;

typedef struct phi__warned {
    uint64_t next_us; /* warnings before this time are only counted */
    uint32_t hidden;  /* warnings counted since the last one was shown */
} phi__warned;

/* mcp_session.c: the result of the handshake. */
typedef struct phi__agreed {
    const phi__era *era; /* NULL until the handshake has ended */
    phi_arena arena;     /* memory of the fields below; emptied by each handshake */
    const phi_json *capabilities;
    phi_str capabilities_text;
    phi_str name, title, version, instructions;
    phi_str meta;    /* modern era: members of _meta for each request */
    bool legacy;     /* known to be an old server: begin with initialize */
    bool silent;     /* no answer to the probe; the server may be an old one */
    bool second_try; /* the handshake is in its second attempt */
    int http_status; /* status of the answer being reported; 0: none */
    void (*ended)(phi_mcp *mcp, phi_status status, const char *message);
} phi__agreed;

typedef struct phi__life {
    phi__timer timer; /* fires to connect, to connect again or to close */
    uint64_t opened_us, expired_us;
    uint32_t in_row, restarts;
    uint32_t holds;
    bool link_open; /* phi__mcp_down is still to come */
    bool reopen;    /* open the link again when it has ended */
    bool close;     /* the timer closes the connection */
    bool waits;     /* a person has to authorize; deadlines pause */
    phi_mcp_state told;
    char error[256];
} phi__life;

/* mcp_session.c: the stream of changes. */
typedef struct phi__listening {
    phi__req *request;
    phi__timer timer;
    uint64_t opened_us;
    uint32_t tries;
} phi__listening;

struct phi_mcp {
    phi_runtime *rt;
    phi_memory memory;
    phi_arena arena; /* memory of desc */
    phi_mcp_desc desc;
    phi__mcp_link *link;
    phi__phase phase;
    uint32_t depth; /* calls of phi__core_enter without phi__core_leave so far */
    bool dead;      /* freed; only the struct is left */
    phi__joined parts[PHI__PARTS];
    size_t part_count;
    phi__queue queue;
    phi__requests requests;
    phi__asks asks;
    phi__warned warned;
    phi__agreed agreed;
    phi__life life;
    phi__listening listening;
};

struct phi__req {
    phi_mcp *mcp;
    phi__link open;
    phi__mcp_item item; /* item.out.json points into item.json */
    uint64_t id;        /* id of the newest repetition on the wire */
    uint64_t first_id;
    bool mapped;           /* an answer to `id` is expected */
    bool handshake;        /* sent before the handshake ends; never cancelled at the server */
    phi_arena arena;       /* memory of the copied texts */
    phi_str members, meta; /* members of params, and of _meta */
    phi__req_desc desc;
    phi__timer timer;
    uint64_t began_us;
    /* mcp_requests.c: input that the server wants before it answers */
    struct {
        uint32_t rounds, pending;
        bool busy;         /* parts are being asked */
        bool due;          /* the timer repeats the request or reports the failure */
        phi__buf answers;  /* members of inputResponses */
        phi__buf state;    /* JSON text of requestState, or empty */
        phi_status status; /* status of the failure */
        char message[160];
    } input;
    struct phi__task *task; /* the task that answers the request, or NULL */
    bool as_task;           /* the request asks for a task */
    /* mcp_session.c: a long answer that is being read, or NULL */
    struct phi__mcp_reading *reading;
};

/* mcp_session.c: a question of the server, which a part has to answer. */
typedef struct phi__mcp_ask {
    phi__link link;
    uint64_t ask;
    const phi__mcp_part *table;
    void *part;
    phi__req *request; /* the request that the question concerns; NULL if unknown */
    phi_agent agent;   /* the agent that the question concerns; zero if unknown */
    bool input;        /* from input_required; `id` is the key of the question */
    size_t id_len;
    char id[1]; /* JSON text of the id, or a key */
} phi__mcp_ask;

/* True if the handshake is done and requests can be sent. */
static inline bool phi__core_agreed(const phi_mcp *mcp) {
    return mcp->phase == PHI__LIVE || mcp->phase == PHI__SETTLING;
}

PHI__FN void phi__core_enter(phi_mcp *mcp);

/* False: the connection was freed, and perhaps its struct. */
PHI__FN bool phi__core_leave(phi_mcp *mcp);

static inline uint64_t phi__core_after_ms(uint64_t now_us, uint32_t ms) {
    return ms == PHI_UNLIMITED ? UINT64_MAX : now_us + (uint64_t)ms * 1000;
}

/* mcp.c: cancels a request of phi_mcp_send. Its callback is not called. */
PHI__FN void phi__asking_cancel(phi_mcp *mcp, uint64_t id);

/* Calls desc->event_fn, inside phi__core_enter. False: the connection was freed. */
PHI__FN bool phi__parts_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name, phi_str before,
                             phi_str text);

/* Reports PHI_MCP_EV_WARNING, at most once a second; the others are counted, and the next report
   has their number. False: the connection was freed. */
PHI__FN bool phi__parts_warn(phi_mcp *mcp, const char *format, ...) PHI_PRINTF(2, 3);

/* Each calls a function of all parts. False: the connection was freed. But phi__parts_held returns
   true if agents use a part. */
PHI__FN bool phi__parts_ready(phi_mcp *mcp);
PHI__FN bool phi__parts_down(phi_mcp *mcp);
PHI__FN bool phi__parts_notified(phi_mcp *mcp, phi_str method, const phi_json *params);
PHI__FN void phi__parts_free(phi_mcp *mcp);
PHI__FN bool phi__parts_held(const phi_mcp *mcp);

/* Writes the client's capabilities as JSON text in the arena. */
PHI__FN phi_status phi__parts_capabilities(phi_mcp *mcp, phi_arena *arena, phi_str *out);

/* Sends a notification; `method` is a literal. first: before queued messages. PHI_FULL: too many
   messages wait. */
PHI__FN phi_status phi__post_notification(phi_mcp *mcp, const char *method, phi_str params,
                                          bool first);

/* Frees the notifications and answers that wait. Waiting requests stay. */
PHI__FN void phi__post_clear(phi_mcp *mcp);

/* Makes and sends a request. handshake: send it before the handshake has ended, ahead of queued
   messages. `out` may be NULL. */
PHI__FN phi_status phi__req_new(phi_mcp *mcp, const phi__req_desc *desc, bool handshake,
                                phi__req **out);

/* Calls phi__req_new with these params, and frees them in any case. */
PHI__FN phi_status phi__req_new_buf(phi_mcp *mcp, phi__req_desc *desc, phi__buf *params,
                                    bool handshake, phi__req **out);

/* Finds a request by its newest id on the wire. NULL: no request waits for an answer to this id. */
PHI__FN phi__req *phi__req_find(const phi_mcp *mcp, uint64_t id);

/* Finds a request by its first id. NULL: none. */
PHI__FN phi__req *phi__req_first(const phi_mcp *mcp, uint64_t id);
PHI__FN bool phi__req_issued(const phi_mcp *mcp, uint64_t id);

PHI__FN phi__req *phi__req_of(phi__out *out);

/* Removes the request from the link and the queue, because it was answered or lost. */
PHI__FN void phi__req_off(phi__req *r);

/* Removes the request from all lists and from the link, calls `done`, and frees the request. */
PHI__FN void phi__req_finish(phi__req *r, const phi_mcp_reply *reply);
PHI__FN void phi__req_fail(phi__req *r, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

/* Fails all open requests; if sent_only, only those that the link has. False: the connection was
   freed. */
PHI__FN bool phi__req_fail_all(phi_mcp *mcp, phi_status status, const char *message,
                               bool sent_only);

/* Ends the request without `done`. Sends notifications/cancelled if the era has it. */
PHI__FN void phi__req_cancel(phi__req *r, const char *reason);

/* Queues the request unchanged. It is sent again after the next handshake. */
PHI__FN void phi__req_again(phi__req *r);

PHI__FN void phi__req_progress(phi_mcp *mcp, const phi_json *params);

/* Starts the deadline again. If `bounded`, it is not later than max_timeout_ms after the request
   began. */
PHI__FN phi_status phi__req_renew(phi__req *r, bool bounded);

/* Sends queued messages; if `all` is false, only those of the handshake. False: the connection was
   freed. */
PHI__FN bool phi__req_flush(phi_mcp *mcp, bool all);

PHI__FN phi_status phi__asks_join(phi_mcp *mcp);

PHI__FN phi_status phi__offers_join(phi_mcp *mcp);

PHI__FN phi_status phi__mtools_join(phi_mcp *mcp);

/* ---- tasks (mcp_requests.c) ---- */

/* Begins to poll the task in the result of `r`. False: the task has no usable id; nothing was
   done. */
PHI__FN bool phi__tasks_begin(phi__req *r, const phi_json *task);

/* ---- mcp_session.c ---- */

enum {
    PHI__ASKED_MOST = 64,  /* max. open questions */
    PHI__ASKED_ROUNDS = 16 /* max. rounds of input for one request */
};

/* Ends the questions of a request's input, because the request ends. If r is NULL, ends all
   questions. */
PHI__FN void phi__asked_unask_of(phi_mcp *mcp, const phi__req *r);

/* Stops reading the request's long answer. */
PHI__FN void phi__incoming_drop(phi__req *r);

/* Asks the parts for the input that the result of `r` requires. False: the connection was freed. */
PHI__FN bool phi__asked_input(phi__req *r, const phi_json *result);
PHI__FN phi_mcp_state phi__life_state(const phi_mcp *mcp);

/* Opens the connection, which must be closed or failed, in the next step. */
PHI__FN phi_status phi__life_open(phi_mcp *mcp);
PHI__FN void phi__life_close(phi_mcp *mcp); /* closes the connection in the next step */

/* Ends requests, parts and link. Frees everything but the struct. */
PHI__FN void phi__life_end(phi_mcp *mcp);

/* ---- reports of the link to the session ---- */
PHI__FN void phi__mcp_up(phi_mcp *mcp);
PHI__FN void phi__mcp_drained(phi_mcp *mcp);

/* Handles a message of the server, a JSON text that is borrowed during the call. from: the request
   in whose answer the message came, or NULL. False: connection and link were freed; do not touch
   the link. */
PHI__FN bool phi__mcp_message(phi_mcp *mcp, phi_str json, phi__out *from);

/* Reports PHI_MCP_EV_WARNING, at most once a second. False: connection and link were freed. */
PHI__FN bool phi__mcp_warn(phi_mcp *mcp, const char *message);

/* Reports a message longer than max_message_bytes, which the link has left out. If `beginning` has
   the id of a request, the request fails. False: connection and link were freed. */
PHI__FN bool phi__mcp_cut(phi_mcp *mcp, phi_str beginning);

/* Fails a request that gets no answer: HTTP refused it, or its stream ended early. body: body of an
   HTTP answer, may be empty. False: connection and link were freed. */
PHI__FN bool phi__mcp_lost(phi_mcp *mcp, phi__out *out, phi_status status, int http_status,
                           phi_str body, const char *message);

/* Reports that the link has ended. PHI_OK: it was closed. Otherwise every request fails, and the
   session may open the link again, but not if `fatal`. False: connection and link were freed. */
PHI__FN bool phi__mcp_down(phi_mcp *mcp, phi_status status, bool fatal, const char *message);

/* Reports that the server has forgotten the session (HTTP 404). Calls `agreed` with NULL and begins
   a new handshake. out: the refused request, which the session sends again, or NULL. Other requests
   that were sent fail. False: connection and link were freed. */
PHI__FN bool phi__mcp_expired(phi_mcp *mcp, phi__out *out);

/* Pauses deadlines while a person has to authorize; false ends the pause. */
PHI__FN void phi__mcp_wait(phi_mcp *mcp, bool waits);

/* ---- makers of links ---- */
#ifndef PHI_NO_PROCESS
PHI__FN phi_status phi__stdio_new(phi_mcp *mcp, phi__mcp_link **out);
#endif
PHI__FN phi_status phi__mhttp_new(phi_mcp *mcp, phi__mcp_link **out);

/* Resolves the URL `to` against `from` (http or https) and writes it to `out` without a fragment.
   False: the result has another origin or is no HTTP URL; or no memory (out->failed). */
PHI__FN bool phi__place_join(phi__buf *out, phi_str from, phi_str to);

/* Returns the link's authorization, or NULL. */
PHI__FN struct phi__oauth *phi__mhttp_oauth(const phi__mcp_link *link);

/* A long answer that is read into a tree, slice by slice. */
struct phi__mcp_reading {
    phi__req *request;
    phi__slices slices;
};

PHI__FN phi__mcp_ask *phi__asked_find(const phi_mcp *mcp, uint64_t ask);
PHI__FN void phi__asked_free(phi_mcp *mcp, phi__mcp_ask *a);
PHI__FN void phi__asked_unask(phi_mcp *mcp, phi__mcp_ask *a);
PHI__FN void phi__asked_reply(phi_mcp *mcp, phi_str id, phi_str result, int code,
                              const char *message);
PHI__FN bool phi__asked_request(phi_mcp *mcp, const phi__rpc *rpc, phi__req *from);
PHI__FN void phi__asked_got(phi__req *r, const phi__mcp_ask *a, phi_str result, int code,
                            const char *message);

#endif
