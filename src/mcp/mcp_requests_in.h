/* mcp_requests_in.h - requests under way: made, sent, timed, answered exactly once. */
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
    PHI__SETTLING, /* agreed; parts fetch their first lists */
    PHI__LIVE,
    PHI__RESTING,    /* until it is started again */
    PHI__MCP_ENDING, /* phi_mcp_close */
    PHI__BROKEN      /* failed for good */
} phi__phase;

/* mcp_requests.c: messages to the server, in their order. */
typedef struct phi__mcp_item {
    phi__link link; /* of the queue */
    bool waits;     /* in the queue */
    bool sent;      /* the link has it */
    bool early;     /* of the handshake */
    bool owned;     /* a notification or an answer: it is freed once it was sent */
    phi__out out;
    phi__buf json;
} phi__mcp_item;

typedef struct phi__queue {
    phi__list waiting;
    uint32_t owned; /* of those that wait */
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
    uint64_t next_us; /* earlier ones are only counted */
    uint32_t hidden;  /* since the last that was shown */
} phi__warned;

/* mcp_session.c: what both sides have agreed upon. */
typedef struct phi__agreed {
    const phi__era *era; /* NULL: nothing yet */
    phi_arena arena;     /* of what follows; emptied for each handshake */
    const phi_json *capabilities;
    phi_str capabilities_text;
    phi_str name, title, version, instructions;
    phi_str meta;    /* members of _meta on each request: the modern era's */
    bool legacy;     /* known from an earlier start: no probe */
    bool silent;     /* the probe was not answered: a guess, which initialize confirms or not */
    bool second_try; /* a version that was refused is tried again */
    int http_status; /* of the answer that is being reported; 0: none */
    void (*ended)(phi_mcp *mcp, phi_status status, const char *message);
} phi__agreed;

typedef struct phi__life {
    phi__timer timer; /* to be ready, to start again, to close */
    uint64_t opened_us, expired_us;
    uint32_t in_row, restarts;
    uint32_t holds;
    bool link_open; /* a report of its end is to come */
    bool reopen;    /* then */
    bool close;     /* the timer closes it */
    bool waits;     /* for a person: no deadline */
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
    phi_arena arena; /* of desc */
    phi_mcp_desc desc;
    phi__mcp_link *link;
    phi__phase phase;
    uint32_t depth; /* of phi__core_enter */
    bool dead;      /* freed: only the struct is left */
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
    phi__mcp_item item; /* item.out.json is item.json */
    uint64_t id;        /* on the wire: of the newest repetition */
    uint64_t first_id;
    bool mapped;           /* an answer to `id` is expected */
    bool handshake;        /* also before it is agreed, and never cancelled on the wire */
    phi_arena arena;       /* of the copies */
    phi_str members, meta; /* of params, of _meta */
    phi__req_desc desc;
    phi__timer timer;
    uint64_t began_us;
    /* mcp_requests.c: what the server wants to know before it answers */
    struct {
        uint32_t rounds, pending;
        bool busy;         /* asking parts now */
        bool due;          /* the timer brings the repetition, or the failure */
        phi__buf answers;  /* members of inputResponses */
        phi__buf state;    /* JSON text of requestState; empty: none */
        phi_status status; /* of the failure */
        char message[160];
    } input;
    struct phi__task *task; /* NULL: none */
    bool as_task;           /* it asks for one */
    /* mcp_session.c: its answer, which is being read a slice a step; NULL: none */
    struct phi__mcp_reading *reading;
};

/* mcp_session.c: a question of the server's that a part is about to answer. */
typedef struct phi__mcp_ask {
    phi__link link;
    uint64_t ask;
    const phi__mcp_part *table;
    void *part;
    phi__req *request; /* on whose behalf; NULL: unknown */
    phi_agent agent;   /* on whose behalf; zero: unknown */
    bool input;        /* of input_required: `id` is its key */
    size_t id_len;
    char id[1]; /* JSON text, or a key */
} phi__mcp_ask;

PHI__FN void phi__core_enter(phi_mcp *mcp);

/* False: it was freed meanwhile, and is gone now. */
PHI__FN bool phi__core_leave(phi_mcp *mcp);

static inline uint64_t phi__core_after_ms(uint64_t now_us, uint32_t ms) {
    return ms == PHI_UNLIMITED ? UINT64_MAX : now_us + (uint64_t)ms * 1000;
}

/* mcp.c: a request of the host's (phi_mcp_send), without its callback. */
PHI__FN void phi__asking_cancel(phi_mcp *mcp, uint64_t id);

/* As phi__mcp_tell. */
PHI__FN bool phi__parts_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name, phi_str before,
                             phi_str text);

/* PHI_MCP_EV_WARNING, one a second at most; those between are counted in the next. False: freed. */
PHI__FN bool phi__parts_warn(phi_mcp *mcp, const char *format, ...) PHI_PRINTF(2, 3);

/* Each calls all parts. False: freed inside of one. */
PHI__FN bool phi__parts_ready(phi_mcp *mcp);
PHI__FN bool phi__parts_down(phi_mcp *mcp);
PHI__FN bool phi__parts_notified(phi_mcp *mcp, phi_str method, const phi_json *params);
PHI__FN void phi__parts_free(phi_mcp *mcp);
PHI__FN bool phi__parts_held(const phi_mcp *mcp);

/* The client's capabilities, as JSON text in the arena. */
PHI__FN phi_status phi__parts_capabilities(phi_mcp *mcp, phi_arena *arena, phi_str *out);

/* The same, made here. */
PHI__FN phi_status phi__post_notification(phi_mcp *mcp, const char *method, phi_str params,
                                          bool first);

/* Drops the notifications and answers that wait; requests are their owner's. */
PHI__FN void phi__post_clear(phi_mcp *mcp);

/* handshake: sent before the era is agreed upon, ahead of queued messages. *out: may be NULL. */
PHI__FN phi_status phi__req_new(phi_mcp *mcp, const phi__req_desc *desc, bool handshake,
                                phi__req **out);

/* The same with these params, which are freed in any case. */
PHI__FN phi_status phi__req_new_buf(phi_mcp *mcp, phi__req_desc *desc, phi__buf *params,
                                    bool handshake, phi__req **out);

/* By the id on the wire; NULL: none waits for it. */
PHI__FN phi__req *phi__req_find(const phi_mcp *mcp, uint64_t id);

/* That has this first id; NULL: none. */
PHI__FN phi__req *phi__req_first(const phi_mcp *mcp, uint64_t id);
PHI__FN bool phi__req_issued(const phi_mcp *mcp, uint64_t id);

PHI__FN phi__req *phi__req_of(phi__out *out);

/* The link has no more to do with it: it was answered, or lost. */
PHI__FN void phi__req_off(phi__req *r);

/* Out of all lists, then `done`, then gone. The link forgets it, if it has it. */
PHI__FN void phi__req_finish(phi__req *r, const phi_mcp_reply *reply);
PHI__FN void phi__req_fail(phi__req *r, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

/* Each that is open; sent_only: that the link has. False: freed inside of a `done`. */
PHI__FN bool phi__req_fail_all(phi_mcp *mcp, phi_status status, const char *message,
                               bool sent_only);

/* Without `done`. The server gets notifications/cancelled, where the era has that. */
PHI__FN void phi__req_cancel(phi__req *r, const char *reason);

/* Sent once more as it is: a connection that was agreed upon again. */
PHI__FN void phi__req_again(phi__req *r);

/* Takes notifications/progress. */
PHI__FN void phi__req_progress(phi_mcp *mcp, const phi_json *params);

/* The deadline begins again; bounded: within max_timeout_ms. */
PHI__FN phi_status phi__req_renew(phi__req *r, bool bounded);

/* Sends what waited; not all: of the handshake alone. False: freed inside of a `done`. */
PHI__FN bool phi__req_flush(phi_mcp *mcp, bool all);

/* ---- mcp_asks.c ---- */
PHI__FN phi_status phi__asks_join(phi_mcp *mcp);

/* ---- mcp_offers.c ---- */
PHI__FN phi_status phi__offers_join(phi_mcp *mcp);

/* ---- mcp_tools.c ---- */
PHI__FN phi_status phi__mtools_join(phi_mcp *mcp);

/* ---- tasks (mcp_requests.c) ---- */

/* The result of `r` is a task. False: none that can be understood; nothing was done. */
PHI__FN bool phi__tasks_begin(phi__req *r, const phi_json *task);

/* ---- mcp_session.c ---- */

enum {
    PHI__ASKED_MOST = 64,  /* at once */
    PHI__ASKED_ROUNDS = 16 /* of input for one request */
};

/* A request is about to end: its questions need no answer. NULL: all. */
PHI__FN void phi__asked_unask_of(phi_mcp *mcp, const phi__req *r);

/* The long answer that is being read is not wanted any more. */
PHI__FN void phi__incoming_drop(phi__req *r);

/* The result of `r` is input_required. False as above. */
PHI__FN bool phi__asked_input(phi__req *r, const phi_json *result);
PHI__FN phi_mcp_state phi__life_state(const phi_mcp *mcp);

/* Opens it in the next step. Only where it is shut or broken. */
PHI__FN phi_status phi__life_open(phi_mcp *mcp);
PHI__FN void phi__life_close(phi_mcp *mcp); /* in the next step */

/* Ends requests, parts and link, and frees all but the struct. */
PHI__FN void phi__life_end(phi_mcp *mcp);

/* ---- the session's side ---- */
PHI__FN void phi__mcp_up(phi_mcp *mcp);
PHI__FN void phi__mcp_drained(phi_mcp *mcp);

/* A message of the server's: a JSON text, borrowed until it returns. from: the request on whose
   answer it came, or NULL. False: the session has freed itself with the link, which then touches
   none of its fields. */
PHI__FN bool phi__mcp_message(phi_mcp *mcp, phi_str json, phi__out *from);

/* PHI_MCP_EV_WARNING, one a second at most. False as above. */
PHI__FN bool phi__mcp_warn(phi_mcp *mcp, const char *message);

/* A message that is longer than max_message_bytes and left out: its beginning, in which the id of
   the request is looked for that it answers. False as above. */
PHI__FN bool phi__mcp_cut(phi_mcp *mcp, phi_str beginning);

/* This request gets no answer over the link: HTTP refused it, or its stream ended without one.
   body: of an HTTP answer, may be empty. As _message: false when the session is gone. */
PHI__FN bool phi__mcp_lost(phi_mcp *mcp, phi__out *out, phi_status status, int http_status,
                           phi_str body, const char *message);

/* PHI_OK: after close. Else the connection is lost, and every request under way with it: the
   session may open it again. fatal: it will not work when it is opened again. False as above. */
PHI__FN bool phi__mcp_down(phi_mcp *mcp, phi_status status, bool fatal, const char *message);

/* The server has forgotten the session (HTTP 404): all is to be agreed upon again (`agreed` with
   NULL, then initialize). out: the request that was refused for it, to be sent again afterwards, or
   NULL; the link forgets it. Other requests that were sent are lost. False as above. */
PHI__FN bool phi__mcp_expired(phi_mcp *mcp, phi__out *out);

/* A person is waited for (an authorization): deadlines pause until it is false again. */
PHI__FN void phi__mcp_wait(phi_mcp *mcp, bool waits);

/* ---- the makers ---- */
#ifndef PHI_NO_PROCESS
PHI__FN phi_status phi__stdio_new(phi_mcp *mcp, phi__mcp_link **out);
#endif
PHI__FN phi_status phi__mhttp_new(phi_mcp *mcp, phi__mcp_link **out);

/* Puts the address that `to` means, seen from `from` (http or https), into `out`, which is cleared;
   a fragment is cut off. False: it leads to another origin, or is no address of HTTP; or no memory
   (out->failed). */
PHI__FN bool phi__place_join(phi__buf *out, phi_str from, phi_str to);

/* NULL: none. */
PHI__FN struct phi__oauth *phi__mhttp_oauth(const phi__mcp_link *link);

/* A long answer on its way into a tree. */
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
