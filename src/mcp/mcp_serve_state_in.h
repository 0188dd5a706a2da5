/* mcp_serve_state_in.h - the structs of the server.

   The server owns its clients and requests. A request (phi__serving) exists while the host works on
   it: a tool call, a read that is answered later, a subscription. Requests that are answered at
   once need none. A request of 2026-07-28 that waits for the client's input is parked: it has no
   way until the client repeats it. A call that became a task has no way either. When the work of
   such a call has ended, the call is kept for its client as PHI__SERVING_TASK. Callbacks of the
   host may free the server. While `depth` is above 0, the server is not freed, but only marked as
   retired. */
#ifndef PHI_MCP_MCP_SERVE_STATE_IN_H
#define PHI_MCP_MCP_SERVE_STATE_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_rpc_in.h"
#include "mcp/mcp_serve_in.h"

enum {
    PHI__NAME_BYTES = 2048, /* max. bytes of names and URIs in requests */
    PHI__BATCH_MOST = 64,
    PHI__ASKS_MOST = 16
};

/* Answers of a batch (2025-03-26), sent as one array. */
typedef struct phi__batch {
    phi__mcp_way *way; /* NULL if gone */
    size_t waiting;
    phi__buf out;
} phi__batch;

/* The place where the answer to a message is sent, and its form. */
typedef struct phi__origin {
    phi_mcp_server *server;
    phi__client *client; /* NULL without a session */
    phi__mcp_way *way;   /* NULL if gone or parked */
    phi__batch *batch;   /* NULL without a batch */
    phi_str id;          /* JSON text; empty if unknown */
    const phi__era *era; /* a legacy era until known */
    bool http;
} phi__origin;

typedef struct phi__serving phi__serving;

typedef struct phi__mcp_question {
    phi__link link;
    phi__serving *of;
    uint64_t number; /* id of our request to a session */
    bool sent;
    phi_str key, method, params; /* stored after this struct */
    size_t bytes;
    phi__timer timer;
    phi_mcp_ask_desc desc;
} phi__mcp_question;

typedef enum phi__sv_kind {
    PHI__SERVING_CALL = 1,
    PHI__SERVING_READ,
    PHI__SERVING_PROMPT,
    PHI__SERVING_COMPLETE,
    PHI__SERVING_LISTEN,
    PHI__SERVING_TASK /* a task whose work has ended */
} phi__sv_kind;

enum { PHI__MCP_STATE = 40 + PHI__SHA256_HEX, PHI__TASKED_WORDS = 400 };

/* The state of a call that became a task. */
typedef struct phi__tasked {
    const char *status; /* status in the protocol; static */
    int64_t created_ms, updated_ms;
    char words[PHI__TASKED_WORDS]; /* message for the status, or empty */
    const char *key;               /* "result" or "error"; NULL before the end */
    phi__buf outcome;              /* JSON text of the result or error */
    char id[PHI__MCP_STATE];
} phi__tasked;

/* Lists whose changes are reported. */
typedef enum phi__mcp_list {
    PHI__MCP_LIST_TOOLS,
    PHI__MCP_LIST_PROMPTS,
    PHI__MCP_LIST_RESOURCES,
    PHI__MCP_LISTS
} phi__mcp_list;

/* The events that subscriptions/listen asks for. */
typedef struct phi__wanted {
    bool lists[PHI__MCP_LISTS];
    const phi_str *uris;
    size_t uri_count;
} phi__wanted;

struct phi__serving {
    phi__link link, at_way; /* in server->serving; in way->waiting if there is a way */
    phi_mcp_server *server;
    phi__slot *slot;
    uint32_t index, gen;
    phi__sv_kind kind;
    phi__client *client; /* NULL for 2026-07-28 */
    phi__origin origin;
    phi_arena arena;
    phi_str token;   /* progress token as JSON text; empty: no progress is wanted */
    double progress; /* last value that was sent; -1: none */
    uint32_t can;
    int log_level; /* least severe level that the client wants, or PHI__LEVEL_NONE */
    phi__list asks;
    uint32_t ask_count, asked;
    const phi_json *inputs; /* answers that came with the request, or NULL */
    bool parked;
    uint32_t round;
    unsigned char digest[PHI__SHA256_BYTES]; /* hash of the method and its parameters */
    phi__tasked *task;                       /* NULL if the request is no task */
    phi__timer timer;
    /* Stops the work without an answer. May be NULL. */
    void (*drop)(phi__serving *serving);
    phi_str name, arguments; /* for a tool call; for a read, name is the URI */
    phi__agent *agent;
    const phi_tool *tool;
    const char *output_schema, *mime_type;
    phi_str content; /* blocks from phi_mcp_answer */
    phi__wanted wanted;
};

/* A session of a legacy era. */
struct phi__client {
    phi__link link;
    phi_mcp_server *server;
    char id[33];
    const phi__era *era;
    bool http;
    uint32_t can;
    int log_level;
    phi__mcp_way *own; /* stream for messages that belong to no request, or NULL */
    phi__list uris;    /* list of phi__subscribed */
    uint32_t uri_count;
    phi__timer timer; /* HTTP: ends an idle session */
};

typedef struct phi__subscribed {
    phi__link link;
    size_t bytes;
    phi_str uri; /* stored after this struct */
} phi__subscribed;

/* A long message that is being read or waits to be read. The transport owns its text. */
typedef struct phi__long {
    phi__link link; /* in server->longs */
    phi_mcp_server *server;
    phi__client *client;
    phi__mcp_way *way;
    phi__heads heads;
    bool http;
    phi__slices slices;
} phi__long;

struct phi_mcp_server {
    phi_runtime *rt;
    phi_mcp_server_desc desc; /* the host's desc, with defaults filled in */
    const phi__era *only;     /* the only era that desc.era allows; NULL: all eras */
    unsigned char key[32];    /* key for requestState */
    phi__slots slots;
    phi__list serving, clients, longs;
    /* serving_count excludes subscriptions, and tasks whose work has ended */
    uint32_t serving_count, listen_count, client_count;
    uint32_t task_count;      /* tasks whose work has ended */
    uint64_t asked;           /* number of the last request to a client */
    bool has[PHI__MCP_LISTS]; /* lists of the first desc, which clients know */
    uint32_t depth;
    bool retired;
    bool ended;
    char fault[200];
    void *stdio, *http;                      /* transports; used by mcp_server.c */
    void (*free_fn)(phi_mcp_server *server); /* frees the struct */
};

/* Fills `out` with random bytes that nobody can guess. On a runtime with a tape, the runtime's
   random bytes follow from a seed on the tape, so random bytes of the system are used. */
PHI__FN void phi__client_secret(const phi_mcp_server *server, void *out, size_t len);

/* ---- mcp_serve_request.c ---- */

/* Appends a block for a text, image, audio or document (an embedded resource). Audio becomes a text
   if the era has no audio. */
PHI__FN void phi__send_block(phi__buf *out, const phi_content *block, const phi__era *era);

/* phi__send_open begins a result, the caller writes the members, and phi__send_close ends and sends
   the result. If the buffer has failed, an error is sent. phi__send_open_complete also writes the
   members that each complete result of 2026-07-28 has. */
PHI__FN void phi__send_open(const phi__origin *origin, phi__buf *out);
PHI__FN void phi__send_open_complete(const phi__origin *origin, phi__buf *out);
PHI__FN bool phi__send_close(phi__origin *origin, phi__buf *out); /* false: an error was sent */

/* Appends how long the client may cache the result, if the era has that. */
PHI__FN void phi__send_cache(const phi__origin *origin, phi__buf *out);

PHI__FN bool phi__send_empty(phi__origin *origin); /* result {} */

/* Sends an error. data: JSON text, which is freed; or NULL. */
PHI__FN void phi__send_error(phi__origin *origin, int code, int http_status, phi_str message,
                             phi__buf *data);
/* Each sends an error without data and returns false. phi__refuse_bad: bad params.
   phi__refuse_memory: out of memory. */
PHI__FN bool phi__refuse(phi__origin *origin, int code, int http_status, const char *message);
PHI__FN bool phi__refuse_bad(phi__origin *origin, const char *format, ...) PHI_PRINTF(2, 3);
PHI__FN bool phi__refuse_memory(phi__origin *origin);

/* Ends the answer without a message. */
PHI__FN void phi__send_nothing(phi__origin *origin, int http_status);

/* Begins a notification. The caller then writes the params, and phi__send_noted ends and sends
   it. */
PHI__FN void phi__send_note(phi_mcp_server *server, phi__buf *out, const char *method);
PHI__FN bool phi__send_noted(phi__mcp_way *way, phi__buf *out);
PHI__FN void phi__send_server_info(const phi_mcp_server *server, phi__buf *out,
                                   const phi__era *era);

/* Frees all long messages without an answer. */
PHI__FN void phi__long_end_all(phi_mcp_server *server);

/* ---- mcp_serve_request.c ---- */

/* Makes a request that the host works on. NULL: an error was sent. */
PHI__FN phi__serving *phi__sv_new(const phi__origin *origin, phi__sv_kind kind,
                                  const phi_json *params);
PHI__FN phi__serving *phi__sv_find(phi_mcp_incoming incoming); /* NULL if the handle is stale */
PHI__FN phi_mcp_incoming phi__sv_handle(const phi__serving *serving);

/* Removes the request from its way. */
PHI__FN void phi__sv_detach(phi__serving *serving);

/* Returns PHI_MCP_CAN_ bits from the capabilities that a session's client has declared. */
PHI__FN uint32_t phi__sv_session_can(const phi_json *capabilities);

/* Returns PHI_MCP_CAN_ bits from _meta of a request of 2026-07-28. */
PHI__FN uint32_t phi__sv_can(const phi_mcp_server *server, const phi_json *params);

/* Sends an error because the client lacks capabilities. Returns false. */
PHI__FN bool phi__sv_needs(phi__origin *origin, uint32_t missing);

/* Frees a request that was answered or is not wanted any more. */
PHI__FN void phi__sv_free(phi__serving *serving);
PHI__FN void phi__sv_free_questions(phi__serving *serving);

/* Keeps a task whose work has ended. Frees the oldest ended tasks if there are too many. */
PHI__FN void phi__sv_keep(phi__serving *serving);

/* Stops the work and frees the request. Unless `answered`, its way gets an empty last message. */
PHI__FN void phi__sv_drop(phi__serving *serving, bool answered);

/* Returns the way of the request, or the stream of its session, or NULL. */
PHI__FN phi__mcp_way *phi__sv_stream(const phi__serving *serving);
PHI__FN void phi__sv_progress(phi__serving *serving, double progress, double total,
                              phi_str message);
PHI__FN phi_status phi__sv_log(phi_mcp_server *server, phi__mcp_way *way, const char *level,
                               const char *logger, const char *data);

/* Handles a session's answer to our request. If the answer is malformed, `message` tells why. */
PHI__FN void phi__sask_answered(phi_mcp_server *server, const phi__client *client,
                                const phi__rpc *answer);

/* Writes a name of the request that only its client knows: "index.gen.round." and a keyed hash. */
PHI__FN void phi__sask_state(const phi__serving *serving, char out[PHI__MCP_STATE]);

/* Finds the request that phi__sask_state has named. NULL: none. */
PHI__FN phi__serving *phi__sask_named(phi_mcp_server *server, phi_str state);

/* Starts the deadline of a task's question. */
PHI__FN phi_status phi__sask_wait(phi__mcp_question *ask);

/* Appends an object with the open questions. */
PHI__FN void phi__sask_write(const phi__serving *serving, phi__buf *out);

/* Answers open questions from `inputs`. The callbacks may end the request. */
PHI__FN void phi__sask_take(phi__serving *serving, const phi_json *inputs);

/* True if the answers in a request are well formed. Otherwise an error was sent. */
PHI__FN bool phi__sask_inputs(phi__origin *origin, const phi_json *params);

/* Keeps the answers, and a digest that identifies repetitions of the request. False: no memory. */
PHI__FN bool phi__sask_keep(phi__serving *serving, phi_str method, const phi_json *params);

/* Continues a parked request, or sends an error. False: the params have no requestState. */
PHI__FN bool phi__sask_repeated(phi__origin *origin, phi_str method, const phi_json *params);

/* Called around callbacks of the host, which may free the server. */
PHI__FN void phi__sask_enter(phi_mcp_server *server);
PHI__FN bool phi__sask_leave(phi_mcp_server *server); /* false: the server is retired */

/* ---- mcp_serve_call.c: methods; they return false after an error was sent ---- */

PHI__FN bool phi__tasked_get(phi__origin *origin, const phi_json *params);
PHI__FN bool phi__tasked_update(phi__origin *origin, const phi_json *params);
PHI__FN bool phi__tasked_cancel(phi__origin *origin, const phi_json *params);
PHI__FN bool phi__srun_begin(phi__origin *origin, const phi_json *params);
PHI__FN bool phi__data_read(phi__origin *origin, const phi_json *params);
PHI__FN bool phi__data_prompt(phi__origin *origin, const phi_json *params);
PHI__FN bool phi__data_complete(phi__origin *origin, const phi_json *params);
PHI__FN bool phi__data_unknown(phi__origin *origin, phi_str uri);
PHI__FN bool phi__data_known(const phi_mcp_server *server, phi_str uri);

/* ---- mcp_serve.c ---- */

/* Notifies clients. uri: the resource that has changed. If uri.at is NULL, the list itself has
   changed. */
PHI__FN void phi__notify_changed(phi_mcp_server *server, phi__mcp_list list, phi_str uri);
PHI__FN void phi__notify_log(phi_mcp_server *server, const char *level, const char *logger,
                             const char *data);

#endif
