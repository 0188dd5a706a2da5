/* mcp_rpc_in.h - JSON-RPC messages: read with bounds, and written as one line.

       phi_json *root;
       if (phi__rpc_parse(&arena, text, &root) != PHI_OK) ...     // no JSON
       phi__rpc_read(&arena, root, &message);                     // or each item of an array
       if (message.kind == PHI__RPC_REQUEST) ...

   Shared by our client and our server. The parts of a message are borrowed from the arena and the
   text. */
#ifndef PHI_MCP_MCP_RPC_IN_H
#define PHI_MCP_MCP_RPC_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "text/text_in.h"

/* In memory of the caller's, which zeroes it and sets `sliced`. */
typedef struct phi__slices phi__slices;

/* NONE is above all: no message has it. */
enum { PHI__LEVEL_INFO = 1, PHI__LEVEL_NONE = 8 };

/* From 0, "debug", to 7, "emergency"; -1: unknown. */
PHI__FN int phi__level_of(phi_str name);

enum {
    PHI__RPC_DEPTH = 256,  /* arrays and objects inside of one another */
    PHI__RPC_ID = 1024,    /* bytes of an id's JSON text */
    PHI__RPC_METHOD = 256, /* bytes of a method's name */
    /* codes of JSON-RPC and of the protocol */
    PHI__RPC_PARSE = -32700,
    PHI__RPC_BAD_REQUEST = -32600,
    PHI__RPC_NO_METHOD = -32601,
    PHI__RPC_BAD_PARAMS = -32602,
    PHI__RPC_INTERNAL = -32603,
    PHI__RPC_HEADERS = -32020,     /* headers and body differ */
    PHI__RPC_CAPABILITY = -32021,  /* the client has not declared a capability */
    PHI__RPC_VERSION = -32022,     /* the version is not spoken */
    PHI__RPC_NO_RESOURCE = -32002, /* legacy eras */
    PHI__RPC_OPEN_URL = -32042     /* 2025-11-25: a page is to be opened first */
};

typedef enum phi__rpc_kind {
    PHI__RPC_INVALID, /* fault says why; id where it could be read */
    PHI__RPC_REQUEST,
    PHI__RPC_NOTIFICATION,
    PHI__RPC_RESULT,
    PHI__RPC_ERROR
} phi__rpc_kind;

typedef struct phi__rpc {
    phi__rpc_kind kind;
    phi_str id;             /* its JSON text: 7, "seven"; empty: none, or null */
    phi_str method;         /* of an invalid message, too */
    const phi_json *params; /* an object, or NULL */
    const phi_json *result; /* of any type */
    int code;               /* of an error */
    phi_str message;
    const phi_json *data; /* NULL: none */
    const char *fault;    /* static */
} phi__rpc;

/* Reads one JSON text. PHI_PARSE, PHI_TOO_BIG (nested too deeply), PHI_NO_MEMORY. Bad UTF-8 is
   replaced. Strings point into `text` and are not terminated. */
PHI__FN phi_status phi__rpc_parse(phi_arena *arena, phi_str text, phi_json **root);

/* The same with flags and a depth of the caller's own. */
PHI__FN phi_status phi__rpc_parse_as(phi_arena *arena, phi_str text, uint32_t flags, uint32_t depth,
                                     phi_json **root);

/* A buffer's text in the arena; the buffer is freed. False: no memory, or there was none when it
   was filled. */
PHI__FN bool phi__mcp_keep(phi__buf *buf, phi_arena *arena, phi_str *out);

/* Copies a text to *at, which moves past it and its terminator: for strings that follow a struct in
   memory. */
PHI__FN phi_str phi__mcp_put(char **at, phi_str text);

/* Reads a message. False: no memory. */
PHI__FN bool phi__rpc_read(phi_arena *arena, const phi_json *node, phi__rpc *out);

/* The number of an id that we made, also where it comes back as a string. */
PHI__FN bool phi__rpc_number(phi_str id, uint64_t *out);

/* A new buffer with {"key":"value"; the caller adds members and the last bracket. */
PHI__FN void phi__rpc_open_params(phi__buf *buf, phi_memory *memory, const char *key,
                                  phi_str value);

/* Writes a message at the buffer's end; a failure shows in buf->failed. params, result, data: JSON
   texts, whose line breaks become spaces. params empty: none; an id that is empty: null. */
/* Their heads, up to params and result: the caller writes the JSON text in one line, and "}". */
PHI__FN void phi__rpc_open_result(phi__buf *buf, phi_str id);
PHI__FN void phi__rpc_open_notification(phi__buf *buf, const char *method);
PHI__FN void phi__rpc_open_request(phi__buf *buf, uint64_t id, phi_str method);
PHI__FN void phi__rpc_notification(phi__buf *buf, const char *method, phi_str params);
PHI__FN void phi__rpc_result(phi__buf *buf, phi_str id, phi_str result);
PHI__FN void phi__rpc_error(phi__buf *buf, phi_str id, int code, phi_str message, phi_str data);

/* A JSON text whose line breaks become spaces. */
PHI__FN void phi__rpc_line(phi__buf *buf, phi_str json);

/* The members of an object's text, without its brackets; empty: there are none. *out is borrowed.
   False: it is no object's text. Only the brackets are looked at. */
PHI__FN bool phi__rpc_members(phi_str object, phi_str *out);

enum { PHI__SLICES_WHOLE = 131072 };

struct phi__slices {
    phi_runtime *rt;
    phi_arena arena; /* of the tree; the caller may take it out when the reading is over */
    phi__json_reader reader;
    phi__timer timer;
    /* After each slice, in phi_step. PHI_BUSY: more follow, unless it ends them. Else the reading
       is over, root may be NULL, and the caller ends it. */
    void (*sliced)(phi__slices *slices, phi_status status, phi_json *root);
};

/* text: borrowed until the end, or copied. Nothing is read before phi__slices_go, which cannot
   fail. PHI_NO_MEMORY: nothing has begun. */
PHI__FN phi_status phi__slices_begin(phi__slices *slices, phi_runtime *rt, phi_memory *memory,
                                     phi_str text, bool copy);
PHI__FN void phi__slices_go(phi__slices *slices); /* from the next step on */
PHI__FN void phi__slices_end(phi__slices *slices);

typedef enum phi__tasks {
    PHI__TASKS_NONE,
    PHI__TASKS_ASKED,    /* by params.task of a call: 2025-11-25 */
    PHI__TASKS_EXTENSION /* io.modelcontextprotocol/tasks: 2026-07-28 */
} phi__tasks;

typedef struct phi__era {
    const char *version;
    phi__tasks tasks;
    bool handshake;       /* initialize; else _meta on each request, and server/discover */
    bool old_sse;         /* HTTP has a stream that names its endpoint */
    bool batches;         /* arrays of messages */
    bool version_header;  /* MCP-Protocol-Version on each HTTP request after the handshake */
    bool session_id;      /* Mcp-Session-Id */
    bool resumption;      /* Last-Event-ID */
    bool primes;          /* a stream that can be resumed begins with an id alone */
    bool message_headers; /* Mcp-Method, Mcp-Name, Mcp-Param-... */
    bool asks;            /* servers send requests; else input_required and a repetition */
    bool ping;
    bool log_request;      /* logging/setLevel; else the level is in _meta */
    bool listen;           /* subscriptions/listen; else changes come by themselves */
    bool subscribe;        /* resources/subscribe */
    bool cancel_by_stream; /* HTTP: closing its stream cancels a request */
    bool progress_message;
    bool annotations; /* of tools */
    bool audio;       /* content */
    bool links;       /* content: resource_link */
    bool structured;  /* structuredContent, outputSchema */
    bool any_output;  /* structuredContent may be of any type, not an object alone */
    bool titles;
    bool completions;         /* the capability of completion/complete */
    bool completions_context; /* context.arguments of completion/complete */
    bool forms;               /* elicitation */
    bool urls;                /* elicitation by a page */
    bool sampling_tools;
    bool result_type; /* resultType, ttlMs and cacheScope in results */
} phi__era;

enum { PHI__ERAS = 5 };

/* Newest first; i is less than PHI__ERAS. */
PHI__FN const phi__era *phi__eras_at(size_t i);

/* NULL: unknown. */
PHI__FN const phi__era *phi__eras_find(phi_str version);

/* The newest with a handshake. */
PHI__FN const phi__era *phi__eras_legacy(void);
PHI__FN const phi__era *phi__eras_modern(void);

#endif
