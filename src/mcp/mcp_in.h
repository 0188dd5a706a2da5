/* mcp_in.h - a connection to a server, for the files of this room.

   The session (mcp_session.c, mcp_requests.c) owns the state and the requests. A link moves
   messages. Parts (tools, resources, questions) are tables of functions, so the session does not
   depend on them. mcp.c connects session, link and parts. */
#ifndef PHI_MCP_MCP_IN_H
#define PHI_MCP_MCP_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/run.h"
#include "mcp/mcp.h"
#include "text/json.h"

/* These return an empty buffer and an empty arena, to initialise variables. */
static inline phi__buf phi__buf_of(phi_memory *memory) {
    phi__buf buf;
    phi__buf_init(&buf, memory);
    return buf;
}

static inline phi_arena phi__arena_of(phi_memory *memory, size_t first_block_bytes) {
    phi_arena arena;
    phi_arena_init(&arena, memory, first_block_bytes);
    return arena;
}

/* Sets a timer. With PHI_UNLIMITED the timer has a place in the heap but does not fire. */
static inline phi_status phi__mcp_timer_in(phi__io *io, phi__timer *timer, uint64_t ms) {
    bool never = ms == PHI_UNLIMITED;
    return phi__io_timer_set(io, timer, never ? UINT64_MAX : phi__io_now_us(io) + ms * 1000);
}

/* Returns a member that is an array. NULL: missing, or not an array. */
static inline const phi_json *phi__mcp_array(const phi_json *node, const char *key) {
    const phi_json *list = phi_json_get(node, key);
    return phi_json_is(list, PHI_JSON_ARRAY) ? list : NULL;
}

typedef struct phi__req phi__req;

typedef struct phi__mcp_link phi__mcp_link;

/* A message to the server, owned by the session. A request lives until the link has reported its
   answer or loss, or until `forget` has returned. Other messages live until `send` has returned. */
typedef struct phi__out {
    phi_str json;                /* one line, without a line break */
    phi_str method;              /* empty for our answer to a request */
    phi_str name;                /* value of the header Mcp-Name, or empty */
    const phi_mcp_pair *headers; /* headers Mcp-Param-..., encoded; valid as long as json */
    size_t header_count;
    bool request;  /* an answer is expected */
    bool stream;   /* subscriptions/listen: its stream may stay silent and open */
    void *of_link; /* set by the link; NULL at first */
} phi__out;

typedef struct phi__mcp_link_table {
    /* Begins to connect. phi__mcp_up or phi__mcp_down follows. May be called again after
       phi__mcp_down. */
    phi_status (*open)(phi__mcp_link *link);
    /* Sends a message, and copies data that the link needs later. PHI_FULL: too many messages wait;
       phi__mcp_drained follows. After other failures the message is lost. */
    phi_status (*send)(phi__mcp_link *link, phi__out *out);
    /* Ends the link's use of `out`: the answer was reported or is not wanted any more. The session
       may free `out` afterwards. Called only while out->of_link is not NULL. */
    void (*forget)(phi__mcp_link *link, phi__out *out);
    /* Sets the version for headers. `modern`: the version is of the modern era. If `version` is
       NULL, both are unknown until the next handshake. */
    void (*agreed)(phi__mcp_link *link, const char *version, bool modern);
    /* Legacy eras, after the handshake: opens the stream for the server's own messages, if any. */
    void (*listen)(phi__mcp_link *link);
    /* Ends the connection politely. phi__mcp_down with PHI_OK follows. */
    void (*close)(phi__mcp_link *link);
    void (*free)(phi__mcp_link *link);                          /* frees at once, in any state */
    void (*info)(const phi__mcp_link *link, phi_mcp_info *out); /* adds to *out; may be NULL */
    phi_str (*errors)(const phi__mcp_link *link);               /* text from stderr; may be NULL */
} phi__mcp_link_table;

struct phi__mcp_link {
    const phi__mcp_link_table *table;
    phi_mcp *mcp;
};

/* Makes the link of a new connection. mcp->desc is already set. */
typedef phi_status (*phi__mcp_open_link)(phi_mcp *mcp, phi__mcp_link **out);

typedef phi_status (*phi__mcp_open_join)(phi_mcp *mcp);

/* Makes a connection, which begins to open in the next step. `joins` are functions that make the
   parts; each calls phi__mcp_join. After a failure, phi_last_error has the message. */
PHI__FN phi_status phi__mcp_open_new(phi_runtime *rt, const phi_mcp_desc *desc,
                                     phi__mcp_open_link link, const phi__mcp_open_join *joins,
                                     size_t count, phi_mcp **out);

/* A part of a connection. Every function may be NULL. */
typedef struct phi__mcp_part {
    void (*ready)(phi_mcp *mcp, void *part); /* the handshake is done; requests can be sent */
    /* The connection is lost or closed. All requests have ended. */
    void (*down)(phi_mcp *mcp, void *part);
    /* Handles a notification; params may be NULL. True: the notification belongs to this part. */
    bool (*notified)(phi_mcp *mcp, void *part, phi_str method, const phi_json *params);
    /* Handles a request of the server; params are borrowed during the call. call: the tool call
       that the request concerns, or zero. True: the part takes the request and answers once, now or
       later, with phi__mcp_answer. */
    bool (*asked)(phi_mcp *mcp, void *part, phi_str method, const phi_json *params, phi_call call,
                  phi_agent agent, uint64_t ask);
    void (*unasked)(phi_mcp *mcp, void *part, uint64_t ask); /* request cancelled; do not answer */
    /* Adds members to the client's capabilities for the current era. */
    phi_status (*capabilities)(phi_mcp *mcp, void *part, phi_json *into, phi_arena *arena);
    /* True if agents use the part. phi_mcp_free then refuses. */
    bool (*held)(const phi_mcp *mcp, const void *part);
    void (*free)(phi_mcp *mcp, void *part);
} phi__mcp_part;

enum { PHI__PARTS = 6 };

/* The offset of a field in a desc, and the default that replaces 0. */
typedef struct phi__mcp_standard {
    size_t offset;
    uint32_t value;
} phi__mcp_standard;

static inline void phi__mcp_standards(void *desc, const phi__mcp_standard *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t *field = (uint32_t *)(void *)((char *)desc + rows[i].offset);
        if (*field == 0) *field = rows[i].value;
    }
}

/* These replace texts of a desc by copies in the arena. NULL stays NULL. False: no memory. */
PHI__FN bool phi__mcp_own_all(phi_arena *arena, const char **const *texts, size_t count);
PHI__FN bool phi__mcp_own_pairs(phi_arena *arena, const phi_mcp_pair **pairs, size_t count);

/* Adds a part before the connection opens. `part` is NULL or allocated from mcp->memory. */
PHI__FN void phi__mcp_join(phi_mcp *mcp, const phi__mcp_part *table, void *part);
PHI__FN bool phi__mcp_modern(const phi_mcp *mcp);
PHI__FN phi_str phi__mcp_name(const phi_mcp *mcp); /* name of the server for messages */

/* Returns the part that was joined with this table, or NULL. */
PHI__FN void *phi__mcp_session_part(const phi_mcp *mcp, const phi__mcp_part *table);

/* phi__mcp_hold, called in `ready`, keeps the state PHI_MCP_CONNECTING until phi__mcp_settle was
   called for each hold. A part fetches its first list meanwhile. A lost connection ends all
   holds. */
PHI__FN void phi__mcp_hold(phi_mcp *mcp);
PHI__FN void phi__mcp_settle(phi_mcp *mcp);

/* Calls desc->event_fn, which may free the connection. False: the connection was freed. */
PHI__FN bool phi__mcp_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name, phi_str before,
                           phi_str text);

typedef struct phi__req_desc {
    const char *method;
    phi_str params;              /* JSON object without _meta; copied; empty means {} */
    phi_str name;                /* value of the header Mcp-Name */
    const phi_mcp_pair *headers; /* copied */
    size_t header_count;
    uint32_t timeout_ms, max_timeout_ms; /* 0: the connection's */
    phi_call call;                       /* the tool call that the request serves; zero: none */
    phi_agent agent;                     /* gets questions; zero: agent of call, else of desc */
    bool task;                           /* the answer may be a task, if the era has tasks */
    bool stream;                         /* true for subscriptions/listen */
    void (*progress)(void *ctx, double progress, double total, phi_str message);
    /* Called once, in phi_step. The request is freed after `done` returns. `done` may free mcp. */
    void (*done)(void *ctx, const phi_mcp_reply *reply);
    void *ctx;
    phi_str meta; /* the caller's members of _meta, JSON text without brackets; copied */
} phi__req_desc;

/* Makes a request. PHI_MISUSE: the connection is not ready. `done` is called later, never inside
   phi__mcp_send. If mcp is freed, `done` gets PHI_CANCELLED. A stream has no deadline, and `done`
   is called when the stream has ended. If a server of the modern era asks for input
   (input_required), the session gets the input from the parts (`asked`) and repeats the request. */
PHI__FN phi_status phi__mcp_send(phi_mcp *mcp, const phi__req_desc *desc, phi__req **out);

/* Calls phi__mcp_send with these params, and frees them in any case. */
PHI__FN phi_status phi__mcp_send_buf(phi_mcp *mcp, phi__req_desc *desc, phi__buf *params,
                                     phi__req **out);

/* Ends a request without `done`, and tells the server if the era allows it. NULL is harmless. */
PHI__FN void phi__mcp_cancel(phi__req *request, const char *reason);

/* Sends a notification. `method` is a literal. */
PHI__FN phi_status phi__mcp_notify(phi_mcp *mcp, const char *method, phi_str params);

/* Answers a request of the server. If code is 0, result is the JSON text of an object; else the
   answer is an error with the code and the message. */
PHI__FN void phi__mcp_answer(phi_mcp *mcp, uint64_t ask, phi_str result, int code,
                             const char *message);
PHI__FN void phi__url_escape(phi__buf *out, phi_str text); /* keeps only A-Za-z0-9-._~ */

#endif
