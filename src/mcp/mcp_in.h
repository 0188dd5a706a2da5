/* mcp_in.h - a connection to a server, for the files of this room.

   mcp_session.c owns the state and the requests; the link moves messages; parts (tools, resources,
   asks) take part at the points of a table, so that the session names none of them; mcp.c puts all
   together. */
#ifndef PHI_MCP_MCP_IN_H
#define PHI_MCP_MCP_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/run.h"
#include "mcp/mcp.h"
#include "text/json.h"

/* An empty buffer, and an empty arena, as initialisers. */
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

/* Sets a timer; PHI_UNLIMITED: it keeps a place and does not fire. */
static inline phi_status phi__mcp_timer_in(phi__io *io, phi__timer *timer, uint64_t ms) {
    bool never = ms == PHI_UNLIMITED;
    return phi__io_timer_set(io, timer, never ? UINT64_MAX : phi__io_now_us(io) + ms * 1000);
}

typedef struct phi__req phi__req;

typedef struct phi__mcp_link phi__mcp_link;

/* A message on its way. The session's; lives until `lost` or its answer was reported, or until
   after `forget`. A notification or an answer of ours: until `send` has returned. */
typedef struct phi__out {
    phi_str json;                /* one line, without a line break */
    phi_str method;              /* empty: an answer of ours */
    phi_str name;                /* for the header Mcp-Name; empty: none */
    const phi_mcp_pair *headers; /* Mcp-Param-..., encoded; borrowed as long as json */
    size_t header_count;
    bool request;  /* it expects an answer */
    bool stream;   /* subscriptions/listen: no deadline of silence, its stream stays open */
    void *of_link; /* the link's, NULL at first */
} phi__out;

typedef struct phi__mcp_link_table {
    /* Begins to connect: phi__mcp_up or _down follows. Also again after a down. */
    phi_status (*open)(phi__mcp_link *link);
    /* Copies what it must keep. PHI_FULL: too much waits to be sent: phi__mcp_drained
       follows. Other failures: the message is lost. */
    phi_status (*send)(phi__mcp_link *link, phi__out *out);
    /* The answer is not wanted any more, or was reported; the session may free `out` when it
       returns. Called only while out->of_link is not NULL. */
    void (*forget)(phi__mcp_link *link, phi__out *out);
    /* The era, and the version to put into headers; NULL: unknown again (a new connection). */
    void (*agreed)(phi__mcp_link *link, const char *version, bool modern);
    /* Legacy eras, once initialized was sent: opens the stream for messages of the server's own,
       where the transport has one. */
    void (*listen)(phi__mcp_link *link);
    /* Ends the connection politely: phi__mcp_down(PHI_OK) follows. */
    void (*close)(phi__mcp_link *link);
    void (*free)(phi__mcp_link *link);                          /* at once, from any state */
    void (*info)(const phi__mcp_link *link, phi_mcp_info *out); /* NULL: nothing to add */
    phi_str (*errors)(const phi__mcp_link *link);               /* of stderr; NULL: none */
} phi__mcp_link_table;

struct phi__mcp_link {
    const phi__mcp_link_table *table;
    phi_mcp *mcp;
};

/* Makes the link of a new connection; mcp->desc is there. */
typedef phi_status (*phi__mcp_open_link)(phi_mcp *mcp, phi__mcp_link **out);

typedef phi_status (*phi__mcp_open_join)(phi_mcp *mcp);

/* joins: of parts, each of which calls phi__mcp_join. The connection begins to open in the
   next step. PHI_BAD_ARG and others: phi_last_error has the message. */
PHI__FN phi_status phi__mcp_open_new(phi_runtime *rt, const phi_mcp_desc *desc,
                                     phi__mcp_open_link link, const phi__mcp_open_join *joins,
                                     size_t count, phi_mcp **out);

/* A part of a connection. Functions may be NULL. */
typedef struct phi__mcp_part {
    void (*ready)(phi_mcp *mcp, void *part); /* agreed: requests can be sent */
    /* The connection is lost, closed or frozen: requests have ended by now. */
    void (*down)(phi_mcp *mcp, void *part);
    /* A notification; params may be NULL. True: it was ours. */
    bool (*notified)(phi_mcp *mcp, void *part, phi_str method, const phi_json *params);
    /* A request of the server's; params are borrowed until it returns. call: the tool call on
       whose stream it came, or whose request is under way alone; zero: unknown. True: it is
       ours, and phi__mcp_answer follows, now or later, once. */
    bool (*asked)(phi_mcp *mcp, void *part, phi_str method, const phi_json *params, phi_call call,
                  phi_agent agent, uint64_t ask);
    void (*unasked)(phi_mcp *mcp, void *part, uint64_t ask); /* cancelled; no answer is wanted */
    /* Adds members to the capabilities of the client, for this era. */
    phi_status (*capabilities)(phi_mcp *mcp, void *part, phi_json *into, phi_arena *arena);
    /* True if agents have something of it: phi_mcp_free refuses then. */
    bool (*held)(const phi_mcp *mcp, const void *part);
    void (*free)(phi_mcp *mcp, void *part);
} phi__mcp_part;

enum { PHI__PARTS = 6 };

/* A field of a desc that is 0 by default, and its value then. */
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

/* Copies texts of a desc into the arena, in their places; NULL stays. False: no memory. */
PHI__FN bool phi__mcp_own(phi_arena *arena, const char **text);
PHI__FN bool phi__mcp_own_all(phi_arena *arena, const char **const *texts, size_t count);
PHI__FN bool phi__mcp_own_pairs(phi_arena *arena, const phi_mcp_pair **pairs, size_t count);

/* Before the connection opens. The part is NULL or memory of mcp's. */
PHI__FN void phi__mcp_join(phi_mcp *mcp, const phi__mcp_part *table, void *part);
PHI__FN bool phi__mcp_modern(const phi_mcp *mcp);
PHI__FN phi_str phi__mcp_name(const phi_mcp *mcp); /* for messages */

/* The part that was joined with this table; NULL: none. */
PHI__FN void *phi__mcp_session_part(const phi_mcp *mcp, const phi__mcp_part *table);

/* From inside of `ready`: the state stays PHI_MCP_CONNECTING until as many calls of _settle; a part
   asks for its first list meanwhile. Forgotten when the connection is lost. */
PHI__FN void phi__mcp_hold(phi_mcp *mcp);
PHI__FN void phi__mcp_settle(phi_mcp *mcp);

/* Calls desc->event_fn. It may free mcp: false. */
PHI__FN bool phi__mcp_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name, phi_str before,
                           phi_str text);

typedef struct phi__req_desc {
    const char *method;
    phi_str params;              /* JSON object without _meta; copied; empty: {} */
    phi_str name;                /* for the header Mcp-Name */
    const phi_mcp_pair *headers; /* copied */
    size_t header_count;
    uint32_t timeout_ms, max_timeout_ms; /* 0: the connection's */
    phi_call call;                       /* the tool call that it serves; zero: none */
    phi_agent agent;                     /* to be asked; zero: that of call, or desc->agent */
    bool task;                           /* may be answered as a task, where the era has them */
    bool stream;                         /* subscriptions/listen */
    void (*progress)(void *ctx, double progress, double total, phi_str message);
    /* Once, in phi_step; the request is gone when it returns. It may free mcp. */
    void (*done)(void *ctx, const phi_mcp_reply *reply);
    void *ctx;
    phi_str meta; /* members of _meta of the caller's own, JSON text without brackets; copied */
} phi__req_desc;

/* `done` is never called inside of it; it is called with PHI_CANCELLED when mcp is freed.
   PHI_MISUSE: not ready. A stream has no deadline; its `done` says that it has ended. Input that
   a server of the modern era asks for (input_required) is got from the parts (`asked`), and the
   request repeated, by the session. */
PHI__FN phi_status phi__mcp_send(phi_mcp *mcp, const phi__req_desc *desc, phi__req **out);

/* The same with these params, which are freed in any case. */
PHI__FN phi_status phi__mcp_send_buf(phi_mcp *mcp, phi__req_desc *desc, phi__buf *params,
                                     phi__req **out);

/* Tells the server, where the era has that; `done` is not called. NULL is harmless. */
PHI__FN void phi__mcp_cancel(phi__req *request, const char *reason);

/* method: a literal. */
PHI__FN phi_status phi__mcp_notify(phi_mcp *mcp, const char *method, phi_str params);

/* Answers a request of the server's: result is JSON text of an object; or code not 0 and a message:
   an error. */
PHI__FN void phi__mcp_answer(phi_mcp *mcp, uint64_t ask, phi_str result, int code,
                             const char *message);
PHI__FN void phi__url_escape(phi__buf *out, phi_str text); /* all but A-Za-z0-9-._~ */

#endif
