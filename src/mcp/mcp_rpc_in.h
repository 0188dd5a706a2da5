/* mcp_rpc_in.h - JSON-RPC messages: read with bounds, and written as one line.

       phi_json *root;
       if (phi__rpc_parse(&arena, text, &root) != PHI_OK) ...     // no JSON
       phi__rpc_read(&arena, root, &message);                     // or each item of an array
       if (message.kind == PHI__RPC_REQUEST) ...

   The client and the server of this room use this file. A message points into the arena and the
   text. */
#ifndef PHI_MCP_MCP_RPC_IN_H
#define PHI_MCP_MCP_RPC_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "text/text_in.h"

/* The caller owns the struct, zeroes it and sets `sliced`. */
typedef struct phi__slices phi__slices;

/* PHI__LEVEL_NONE is above the level of every message. */
enum { PHI__LEVEL_INFO = 1, PHI__LEVEL_NONE = 8 };

/* Returns 0 for "debug" to 7 for "emergency". -1: unknown. */
PHI__FN int phi__level_of(phi_str name);

enum {
    PHI__RPC_DEPTH = 256,  /* max. levels of nested arrays and objects */
    PHI__RPC_ID = 1024,    /* max. bytes of an id's JSON text */
    PHI__RPC_METHOD = 256, /* max. bytes of a method's name */
    /* error codes of JSON-RPC and of MCP */
    PHI__RPC_PARSE = -32700,
    PHI__RPC_BAD_REQUEST = -32600,
    PHI__RPC_NO_METHOD = -32601,
    PHI__RPC_BAD_PARAMS = -32602,
    PHI__RPC_INTERNAL = -32603,
    PHI__RPC_HEADERS = -32020,    /* headers and body differ */
    PHI__RPC_CAPABILITY = -32021, /* the client lacks a capability */
    PHI__RPC_VERSION = -32022,    /* the version is not supported */
    PHI__RPC_NO_RESOURCE = -32002 /* sent in legacy eras */
};

typedef enum phi__rpc_kind {
    PHI__RPC_INVALID, /* `fault` has the reason; `id` is set if it could be read */
    PHI__RPC_REQUEST,
    PHI__RPC_NOTIFICATION,
    PHI__RPC_RESULT,
    PHI__RPC_ERROR
} phi__rpc_kind;

typedef struct phi__rpc {
    phi__rpc_kind kind;
    phi_str id;             /* JSON text such as 7 or "seven"; empty if missing or null */
    phi_str method;         /* also set for an invalid message */
    const phi_json *params; /* an object, or NULL */
    const phi_json *result; /* any type */
    int code;               /* code of an error */
    phi_str message;
    const phi_json *data; /* data of an error, or NULL */
    const char *fault;    /* static text */
} phi__rpc;

/* Reads one JSON text. Replaces bad UTF-8. Strings point into `text` and are not terminated.
   PHI_TOO_BIG: nested too deeply. */
PHI__FN phi_status phi__rpc_parse(phi_arena *arena, phi_str text, phi_json **root);

/* Reads one JSON text with the caller's flags and depth. */
PHI__FN phi_status phi__rpc_parse_as(phi_arena *arena, phi_str text, uint32_t flags, uint32_t depth,
                                     phi_json **root);

/* Moves the buffer's text to the arena. False: no memory, now or when the buffer was filled. */
PHI__FN bool phi__mcp_keep(phi__buf *buf, phi_arena *arena, phi_str *out);

/* Copies a text, terminated, to *at and advances *at. For strings that follow a struct in
   memory. */
PHI__FN phi_str phi__mcp_put(char **at, phi_str text);

/* Reads a message. False: no memory. */
PHI__FN bool phi__rpc_read(phi_arena *arena, const phi_json *node, phi__rpc *out);

/* Reads the number of an id that this library made. Some servers send it back as a string. */
PHI__FN bool phi__rpc_number(phi_str id, uint64_t *out);

/* Initialises a buffer with {"key":"value" in it. The caller adds members and the last bracket. */
PHI__FN void phi__rpc_open_params(phi__buf *buf, phi_memory *memory, const char *key,
                                  phi_str value);

/* These append a message to the buffer; failures set buf->failed. The open functions stop before
   params or result: the caller writes that JSON text on one line, then "}". The others replace line
   breaks in JSON texts by spaces, leave out empty params, and write an empty id as null. */
PHI__FN void phi__rpc_open_result(phi__buf *buf, phi_str id);
PHI__FN void phi__rpc_open_notification(phi__buf *buf, const char *method);
PHI__FN void phi__rpc_open_request(phi__buf *buf, uint64_t id, phi_str method);
PHI__FN void phi__rpc_notification(phi__buf *buf, const char *method, phi_str params);
PHI__FN void phi__rpc_result(phi__buf *buf, phi_str id, phi_str result);
PHI__FN void phi__rpc_error(phi__buf *buf, phi_str id, int code, phi_str message, phi_str data);

/* Appends a JSON text with its line breaks replaced by spaces. */
PHI__FN void phi__rpc_line(phi__buf *buf, phi_str json);

/* Sets *out to an object's text without its brackets; empty if the object has no members. *out
   points into `object`. False: the text has no brackets. Nothing else is checked. */
PHI__FN bool phi__rpc_members(phi_str object, phi_str *out);

enum { PHI__SLICES_WHOLE = 131072 };

struct phi__slices {
    phi_runtime *rt;
    phi_arena arena; /* memory of the tree; after reading, the caller may take it */
    phi__json_reader reader;
    phi__timer timer;
    /* Called after each slice, in phi_step. PHI_BUSY: more slices follow, unless the caller ends
       the reading here. Any other status ends the reading; root is NULL after a failure. The caller
       then calls phi__slices_end. */
    void (*sliced)(phi__slices *slices, phi_status status, phi_json *root);
};

/* Prepares to read a text. If `copy`, it is copied; otherwise it is borrowed until phi__slices_end.
   Reading starts after phi__slices_go, which cannot fail. PHI_NO_MEMORY: nothing was begun. */
PHI__FN phi_status phi__slices_begin(phi__slices *slices, phi_runtime *rt, phi_memory *memory,
                                     phi_str text, bool copy);
PHI__FN void phi__slices_go(phi__slices *slices); /* reading starts in the next step */
PHI__FN void phi__slices_end(phi__slices *slices);

typedef enum phi__tasks {
    PHI__TASKS_NONE,
    PHI__TASKS_ASKED,    /* 2025-11-25: a call asks with params.task */
    PHI__TASKS_EXTENSION /* 2026-07-28: io.modelcontextprotocol/tasks */
} phi__tasks;

typedef struct phi__era {
    const char *version;
    phi__tasks tasks;
    bool handshake;        /* begins with initialize; else with server/discover */
    bool batches;          /* arrays of messages are allowed */
    bool version_header;   /* MCP-Protocol-Version on each HTTP request after the handshake */
    bool resumption;       /* HTTP: Last-Event-ID */
    bool primes;           /* the first event of a resumable stream has only an id */
    bool message_headers;  /* HTTP: Mcp-Method, Mcp-Name, Mcp-Param-... */
    bool asks;             /* servers send requests; else they answer input_required */
    bool listen;           /* subscriptions/listen; else servers report changes unasked */
    bool cancel_by_stream; /* HTTP: a request is cancelled by closing its stream */
    bool progress_message;
    bool annotations; /* tools have annotations */
    bool audio;       /* content of type audio */
    bool structured;  /* structuredContent and outputSchema */
    bool any_output;  /* structuredContent may be of any type; else only an object */
    bool titles;
    bool completions; /* there is a capability for completion/complete */
    bool forms;       /* elicitation by a form */
    bool urls;        /* elicitation by a web page */
    bool sampling_tools;
    bool result_type; /* results have resultType, ttlMs and cacheScope */
} phi__era;

enum { PHI__ERAS = 5 };

/* Returns an era, newest first. i must be less than PHI__ERAS. */
PHI__FN const phi__era *phi__eras_at(size_t i);

/* Finds an era by its version. NULL: unknown. */
PHI__FN const phi__era *phi__eras_find(phi_str version);

/* phi__eras_legacy returns the newest era with initialize, phi__eras_modern the newest era. */
PHI__FN const phi__era *phi__eras_legacy(void);
PHI__FN const phi__era *phi__eras_modern(void);

#endif
