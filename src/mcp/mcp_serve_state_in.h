/* mcp_serve_state_in.h - the structures of our server, for its files.

   The server owns its clients and requests. A request (phi__serving) exists while the host
   works on it: a tool call, a read that answers later, a subscription. Answers at once need none.
   A request of 2026-07-28 that waits for the client's input is parked: it has no way until the
   client repeats it. A call that became a task has no way either; when its work has ended, it is
   kept for its client as PHI__SERVING_TASK.
   Callbacks of the host's may free the server: it is then only retired while `depth` is above 0. */
#ifndef PHI_MCP_MCP_SERVE_STATE_IN_H
#define PHI_MCP_MCP_SERVE_STATE_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_rpc_in.h"
#include "mcp/mcp_serve_in.h"

enum {
    PHI__NAME_BYTES = 2048, /* of names and addresses in requests; ours to choose, as all here */
    PHI__BATCH_MOST = 64,
    PHI__ASKS_MOST = 16
};

/* Answers of a batch (2025-03-26), which go as one array. */
typedef struct phi__batch {
    phi__mcp_way *way; /* NULL: gone */
    size_t waiting;
    phi__buf out;
} phi__batch;

/* Where the answer to a message goes, and how. */
typedef struct phi__origin {
    phi_mcp_server *server;
    phi__client *client; /* NULL: no session */
    phi__mcp_way *way;   /* NULL: gone, or parked */
    phi__batch *batch;   /* NULL: none */
    phi_str id;          /* JSON text; empty: unknown */
    const phi__era *era; /* legacy until it is known */
    bool http;
} phi__origin;

typedef struct phi__serving phi__serving;

typedef struct phi__mcp_question {
    phi__link link;
    phi__serving *of;
    uint64_t number; /* the id of our request to a session */
    bool sent;
    phi_str key, method, params; /* behind this */
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
    PHI__SERVING_TASK /* that has ended */
} phi__sv_kind;

enum { PHI__MCP_STATE = 40 + PHI__SHA256_HEX, PHI__TASKED_WORDS = 400 };

/* The state of a call that became a task. */
typedef struct phi__tasked {
    const char *status; /* of the protocol; static */
    int64_t created_ms, updated_ms;
    char words[PHI__TASKED_WORDS]; /* about its status; empty: none */
    const char *key;               /* of its outcome: "result" or "error"; NULL: none */
    phi__buf outcome;              /* JSON text */
    char id[PHI__MCP_STATE];
} phi__tasked;

/* The lists whose changes are reported. */
typedef enum phi__mcp_list {
    PHI__MCP_LIST_TOOLS,
    PHI__MCP_LIST_PROMPTS,
    PHI__MCP_LIST_RESOURCES,
    PHI__MCP_LISTS
} phi__mcp_list;

/* What subscriptions/listen asks for. */
typedef struct phi__wanted {
    bool lists[PHI__MCP_LISTS];
    const phi_str *uris;
    size_t uri_count;
} phi__wanted;

struct phi__serving {
    phi__link link, at_way; /* of server->serving; of way->waiting, where there is a way */
    phi_mcp_server *server;
    phi__slot *slot;
    uint32_t index, gen;
    phi__sv_kind kind;
    phi__client *client; /* NULL: 2026-07-28 */
    phi__origin origin;
    phi_arena arena;
    phi_str token;   /* of progress, JSON text; empty: none is wanted */
    double progress; /* the last that was sent; -1: none */
    uint32_t can;
    int log_level; /* the least severe that is wanted; PHI__LEVEL_NONE */
    /* questions */
    phi__list asks;
    uint32_t ask_count, asked;
    const phi_json *inputs; /* answers that came with the request; NULL: none */
    bool parked;
    uint32_t round;
    unsigned char digest[PHI__SHA256_BYTES]; /* of the method and its parameters */
    phi__tasked *task;                       /* NULL: it is none */
    phi__timer timer;
    /* Ends the work on it, without an answer; NULL: nothing to end. */
    void (*drop)(phi__serving *serving);
    phi_str name, arguments; /* of a tool call; the uri of a read */
    phi__agent *agent;
    const phi_tool *tool;
    const char *output_schema, *mime_type;
    phi_str content; /* phi_mcp_content */
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
    phi__mcp_way *own; /* for messages that belong to no request; NULL: none */
    phi__list uris;    /* phi__subscribed */
    uint32_t uri_count;
    phi__timer timer; /* http: its idle end */
};

typedef struct phi__subscribed {
    phi__link link;
    size_t bytes;
    phi_str uri; /* behind this */
} phi__subscribed;

/* A long message that is being read, or waits for others; its text is the transport's. */
typedef struct phi__long {
    phi__link link; /* of server->longs */
    phi_mcp_server *server;
    phi__client *client;
    phi__mcp_way *way;
    phi__heads heads;
    bool http;
    phi__slices slices;
} phi__long;

struct phi_mcp_server {
    phi_runtime *rt;
    phi_mcp_server_desc desc; /* with its defaults */
    const phi__era *only;     /* the era of desc.era; NULL: all */
    unsigned char key[32];    /* of requestState */
    phi__slots slots;
    phi__list serving, clients, longs;
    uint32_t serving_count, listen_count, client_count; /* serving_count: without the others */
    uint32_t task_count;                                /* that have ended */
    uint64_t asked;                                     /* numbers of our requests */
    bool has[PHI__MCP_LISTS];                           /* declared once and for all */
    uint32_t depth;
    bool retired;
    bool ended;
    char fault[200];
    void *stdio, *http;                      /* the transports; mcp_server.c */
    void (*free_fn)(phi_mcp_server *server); /* frees it at last */
};

/* ---- mcp_serve.c ---- */

/* Random bytes that nobody guesses: those of a runtime with a tape follow from its seed, which is
   on the tape, so they are then the system's. */
PHI__FN void phi__client_secret(const phi_mcp_server *server, void *out, size_t len);

/* ---- mcp_serve_request.c ---- */

/* A block of the protocol: of a text, an image, audio, or a document, which is an embedded
   resource. Audio is a text where the era has none. */
PHI__FN void phi__send_block(phi__buf *out, const phi_content *block, const phi__era *era);

/* A result: its members are written between the two; a buffer that failed becomes an error.
   _open_complete also writes the members that each whole result of 2026-07-28 has. */
PHI__FN void phi__send_open(const phi__origin *origin, phi__buf *out);
PHI__FN void phi__send_open_complete(const phi__origin *origin, phi__buf *out);
PHI__FN bool phi__send_close(phi__origin *origin, phi__buf *out); /* false: an error was sent */

/* How long a client may keep it, where the era's results say so. */
PHI__FN void phi__send_cache(const phi__origin *origin, phi__buf *out);

PHI__FN bool phi__send_empty(phi__origin *origin); /* {} */

/* data: JSON text, which is freed; NULL: none. */
PHI__FN void phi__send_error(phi__origin *origin, int code, int http_status, phi_str message,
                             phi__buf *data);
/* The same without data; each returns false, for the caller to return. _bad: PHI__RPC_BAD_PARAMS;
   _memory: there is none. */
PHI__FN bool phi__refuse(phi__origin *origin, int code, int http_status, const char *message);
PHI__FN bool phi__refuse_bad(phi__origin *origin, const char *format, ...) PHI_PRINTF(2, 3);
PHI__FN bool phi__refuse_memory(phi__origin *origin);

/* There is nothing to answer. */
PHI__FN void phi__send_nothing(phi__origin *origin, int http_status);

/* A message that is no answer, with its method; params are written between the two. */
PHI__FN void phi__send_note(phi_mcp_server *server, phi__buf *out, const char *method);
PHI__FN bool phi__send_noted(phi__mcp_way *way, phi__buf *out);
PHI__FN void phi__send_server_info(const phi_mcp_server *server, phi__buf *out,
                                   const phi__era *era);

/* ---- mcp_serve.c ---- */

/* `message` is copied; json is borrowed until its end. The first one begins in the next step. */
PHI__FN void phi__long_end_all(phi_mcp_server *server);

/* ---- mcp_serve_request.c ---- */

/* A request that the host works on; NULL: it was refused, and answered so. */
PHI__FN phi__serving *phi__sv_new(const phi__origin *origin, phi__sv_kind kind,
                                  const phi_json *params);
PHI__FN phi__serving *phi__sv_find(phi_mcp_incoming incoming); /* NULL: stale */
PHI__FN phi_mcp_incoming phi__sv_handle(const phi__serving *serving);

/* Puts its answer's way. */
PHI__FN void phi__sv_detach(phi__serving *serving);

/* What the client can do, by the capabilities that it has declared to a session. */
PHI__FN uint32_t phi__sv_session_can(const phi_json *capabilities);

/* The same, by the _meta of a request of 2026-07-28. */
PHI__FN uint32_t phi__sv_can(const phi_mcp_server *server, const phi_json *params);

/* Refuses a request for capabilities that its client has not declared. */
PHI__FN bool phi__sv_needs(phi__origin *origin, uint32_t missing);

/* It was answered, or nobody waits for it: frees it. */
PHI__FN void phi__sv_free(phi__serving *serving);
PHI__FN void phi__sv_free_questions(phi__serving *serving);

/* The work on a task has ended: other tasks may have to go for it. */
PHI__FN void phi__sv_keep(phi__serving *serving);

/* Ends the work on it and frees it. answered: its way hears nothing more. */
PHI__FN void phi__sv_drop(phi__serving *serving, bool answered);

/* Its stream, or that of its session; NULL: none. */
PHI__FN phi__mcp_way *phi__sv_stream(const phi__serving *serving);
PHI__FN void phi__sv_progress(phi__serving *serving, double progress, double total,
                              phi_str message);
PHI__FN phi_status phi__sv_log(phi_mcp_server *server, phi__mcp_way *way, const char *level,
                               const char *logger, const char *data);

/* An answer of a session to one of our requests, or a malformed one (`message` says why). */
PHI__FN void phi__sask_answered(phi_mcp_server *server, const phi__client *client,
                                const phi__rpc *answer);

/* "index.gen.round." of a request and a keyed hash: a name that its client alone knows. */
PHI__FN void phi__sask_state(const phi__serving *serving, char out[PHI__MCP_STATE]);

/* The request of such a name; NULL: there is none. */
PHI__FN phi__serving *phi__sask_named(phi_mcp_server *server, phi_str state);

/* The deadline of a question of a task. */
PHI__FN phi_status phi__sask_wait(phi__mcp_question *ask);

/* The open questions: an object. */
PHI__FN void phi__sask_write(const phi__serving *serving, phi__buf *out);

/* Gives open questions their answers, which may end the request. */
PHI__FN void phi__sask_take(phi__serving *serving, const phi_json *inputs);

/* True if the answers that came with a request are well formed; else it was refused. */
PHI__FN bool phi__sask_inputs(phi__origin *origin, const phi_json *params);

/* Keeps these answers, and what makes the request the same one. False: no memory. */
PHI__FN bool phi__sask_keep(phi__serving *serving, phi_str method, const phi_json *params);

/* A request with requestState goes on where it was parked, or is refused. False: it has none. */
PHI__FN bool phi__sask_repeated(phi__origin *origin, phi_str method, const phi_json *params);

/* Around callbacks of the host's, which may free the server. */
PHI__FN void phi__sask_enter(phi_mcp_server *server);
PHI__FN bool phi__sask_leave(phi_mcp_server *server); /* false: it is retired */

/* ---- mcp_serve_call.c: methods; false: refused, and answered so ---- */

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

/* uri: of a resource that has changed; at NULL: the list has. */
PHI__FN void phi__notify_changed(phi_mcp_server *server, phi__mcp_list list, phi_str uri);
PHI__FN void phi__notify_log(phi_mcp_server *server, const char *level, const char *logger,
                             const char *data);

#endif
