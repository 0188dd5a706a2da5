/* mcp_serve.h - a server of the Model Context Protocol. It offers a host's tools, resources and
   prompts to any client, such as an editor or another agent.

       phi_mcp_server_desc desc = PHI_ZERO;
       desc.name = "my-game";
       desc.tools = tools;
       desc.tool_count = 2;
       desc.stdio = true;                     // or desc.http = true and desc.port
       phi_mcp_server *server = phi_mcp_serve(rt, &desc);
       while (!phi_mcp_server_get_info(server).ended) phi_step(rt, 100);
       phi_mcp_server_free(server);

   phi_step does the work of a server. A client's call runs as a model's call does, with schema
   check, hooks and deadline; the phi_call_ functions work. A server can offer any phi_tool, also a
   sub-agent (phi_subagent_tool) that has its own model.
   A server speaks all eras (versions of the protocol) at once. In 2026-07-28, requests are
   independent. In 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05, `initialize` begins a session.

   Ownership: a server borrows its runtime; free the server first.
   Threads:   the pumping thread.
   Callbacks: on the pumping thread, inside phi_step. They may call every function of this header,
   even phi_mcp_server_free.

   PHI_NO_PROCESS leaves out stdio, and PHI_NO_LISTEN leaves out http. */
#ifndef PHI_MCP_MCP_SERVE_H
#define PHI_MCP_MCP_SERVE_H

#include "agent/runtime.h"
#include "loop/hook.h"
#include "loop/tool.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_mcp_server phi_mcp_server;

/* A client's request that a function of the host must answer. This handle is a value. It is stale
   once the request was answered or cancelled, or the client is gone. Do not use it after
   phi_mcp_server_free. */
typedef struct phi_mcp_incoming {
    phi_mcp_server *server; /* NULL if there is no request */
    uint32_t index, gen;
    uint32_t can; /* abilities of the client: PHI_MCP_CAN_ bits */
} phi_mcp_incoming;

/* Questions that a client can answer. PHI_MCP_CAN_TASKS means that the client accepts tasks and
   phi_mcp_server_desc.tasks is set. phi_mcp_serve_tool.needs uses the same bits. */
enum {
    PHI_MCP_CAN_SAMPLE = 1,
    PHI_MCP_CAN_ELICIT = 2,
    PHI_MCP_CAN_ROOTS = 4,
    PHI_MCP_CAN_TASKS = 8
};

/* Properties of a tool that phi_tool does not have. Zero means default. */
typedef struct phi_mcp_serve_tool {
    const char *title;         /* (default: the tool's label) */
    const char *output_schema; /* JSON Schema; results get structured content (default: none) */
    const char *annotations;   /* JSON object such as {"readOnlyHint":true} (default: none) */
    uint32_t needs;            /* PHI_MCP_CAN_ bits; clients without them are refused */
    bool task;                 /* a call becomes a task at once if the client accepts tasks */
} phi_mcp_serve_tool;

/* Set uri and one of text, bytes and read. Zero means default for the other fields. */
typedef struct phi_mcp_serve_resource {
    const char *uri;
    const char *name;                            /* (default: the uri) */
    const char *title, *description, *mime_type; /* (default: none) */
    const char *annotations;                     /* JSON object (default: none) */
    const char *text;
    const void *bytes;
    size_t byte_count;
    /* Reads the resource. uri is borrowed during the call. The host answers with phi_mcp_answer, at
       once or later: text, bytes, json or error. */
    void (*read)(void *user_data, phi_mcp_incoming incoming, const char *uri);
    void *user_data;
} phi_mcp_serve_resource;

/* Resources whose URIs match a pattern. */
typedef struct phi_mcp_serve_template {
    const char *uri;  /* RFC 6570, level 1, such as "note://{folder}/{name}" */
    const char *name; /* (default: the uri) */
    const char *title, *description, *mime_type, *annotations; /* (default: none) */
    /* Reads a resource. values: JSON object of the decoded variables. uri and values are borrowed
       during the call. The host answers as for phi_mcp_serve_resource. */
    void (*read)(void *user_data, phi_mcp_incoming incoming, const char *uri, phi_str values);
    void *user_data;
} phi_mcp_serve_template;

typedef struct phi_mcp_serve_argument {
    const char *name;
    const char *title, *description; /* (default: none) */
    bool required;
} phi_mcp_serve_argument;

/* Set name, and text or get. Zero means default for the other fields. */
typedef struct phi_mcp_serve_prompt {
    const char *name;
    const char *title, *description;
    const phi_mcp_serve_argument *arguments;
    size_t argument_count;
    const char *text; /* one user message; "{name}" is replaced by that argument */
    /* Makes the prompt. arguments: JSON object of strings, borrowed during the call. The host
       answers with phi_mcp_answer, at once or later: text, messages, json or error. */
    void (*get)(void *user_data, phi_mcp_incoming incoming, phi_str arguments);
    void *user_data;
} phi_mcp_serve_prompt;

/* A request to complete an argument. Strings are borrowed during the call. Either prompt or uri is
   NULL. */
typedef struct phi_mcp_serve_completion {
    const char *prompt; /* name of a prompt */
    const char *uri;    /* URI of a template */
    const char *argument, *value;
    phi_str known; /* JSON object of the arguments known so far */
} phi_mcp_serve_completion;

/* Zero means default for every field but name, and stdio or http. Strings and lists are borrowed,
   with all they point to, until the server is freed. phi_mcp_server_set replaces lists. */
typedef struct phi_mcp_server_desc {
    const char *name;
    const char *version;              /* (default "0") */
    const char *title, *instructions; /* (default: none) */

    const phi_tool *tools;
    size_t tool_count;
    const phi_mcp_serve_tool *tool_infos; /* one for each tool (default: none) */
    const phi_mcp_serve_resource *resources;
    size_t resource_count;
    const phi_mcp_serve_template *templates;
    size_t template_count;
    const phi_mcp_serve_prompt *prompts;
    size_t prompt_count;
    /* The host answers with phi_mcp_answer: values, json or error (default: no completion). */
    void (*complete_fn)(void *user_data, phi_mcp_incoming incoming,
                        const phi_mcp_serve_completion *what);

    /* As for an agent: BEFORE_TOOL may wait, deny or change the arguments (default: none). */
    phi_hook_fn hook_fn;
    uint32_t hook_points;
    uint32_t tool_timeout_ms;     /* for tools without a timeout (default 120,000) */
    uint32_t decision_timeout_ms; /* for hooks that wait (default 300,000) */
    /* Time for the answer to phi_mcp_ask (default 600,000). If more calls than half of max_calls
       wait for answers of clients of 2026-07-28, the questions of the oldest call get PHI_TIMEOUT
       earlier. */
    uint32_t ask_timeout_ms;
    void *user_data; /* for complete_fn and hook_fn */

    /* Calls may become tasks (phi_mcp_task): the client gets a handle at once and fetches the
       result later. Clients need the era 2026-07-28 and its extension
       io.modelcontextprotocol/tasks. */
    bool tasks;
    /* How long an ended task is kept; PHI_UNLIMITED means 49 days (default 600,000). */
    uint32_t task_ttl_ms;

    /* "2025-06-18": use only this era (default: all) */
    const char *era;
    uint32_t page;              /* max. items of a list in one answer (default 100) */
    uint32_t ttl_ms;            /* how long a client may cache a list (default 0: not at all) */
    uint32_t max_sessions;      /* max. sessions over HTTP (default 16) */
    uint32_t max_calls;         /* max. requests at the host, of all clients (default 64) */
    uint32_t max_subscriptions; /* max. subscriptions of a client (default 64) */
    uint32_t session_idle_ms;   /* over HTTP: idle time that ends a session (default 1,800,000) */
    size_t max_message_bytes;   /* largest message of a client (default 4,194,304) */
    size_t max_queue_bytes;     /* max. unsent bytes before a slow client is dropped (16,777,216) */

    bool stdio;          /* serve over stdin and stdout; after EOF see close_ms */
    int in_fd, out_fd;   /* for stdio, instead of 0 and 1 (default: 0 and 1) */
    bool http;           /* serve over HTTP */
    const char *address; /* address to listen on (default "127.0.0.1"; others need any_address) */
    bool any_address;    /* allow an address that other machines reach; needs a token */
    uint16_t port;       /* (default: any free port; see phi_mcp_server_info) */
    const char *path;    /* (default "/mcp") */
    const char *token;   /* clients must send "Authorization: Bearer TOKEN" (default: none) */
    /* Allowed values of Host and Origin besides loopback names; NULL-ended (default: none). */
    const char *const *allowed_hosts, *const *allowed_origins;
    uint32_t max_connections; /* (default 64) */
    /* After EOF on stdin, calls under way have this time to end; then they are cancelled (default
       2,000; PHI_UNLIMITED). */
    uint32_t close_ms;
} phi_mcp_server_desc;

/* Begins to serve. Returns NULL on failure; phi_last_error names the wrong field or the fault of
   the port. Tools must be valid for phi_agent_new; a tool with needs_approval requires hook_fn at
   BEFORE_TOOL. */
PHI_API phi_mcp_server *phi_mcp_serve(phi_runtime *rt, const phi_mcp_server_desc *desc);

typedef struct phi_mcp_server_info {
    uint16_t port; /* HTTP port; 0: none */
    /* stdin and all calls have ended, and every answer was sent; never true with http */
    bool ended;
    const char *message; /* fault of stdin or stdout, or empty; valid until the server is freed */
} phi_mcp_server_info;
PHI_API phi_mcp_server_info phi_mcp_server_get_info(const phi_mcp_server *server);
/* Ends all connections and calls (tools are cancelled) and frees the server. NULL is harmless. */
PHI_API void phi_mcp_server_free(phi_mcp_server *server);

/* Lists that phi_mcp_server_set replaces, as bits. */
enum {
    PHI_MCP_SERVE_TOOLS = 1,     /* tools and tool_infos */
    PHI_MCP_SERVE_RESOURCES = 2, /* resources and templates */
    PHI_MCP_SERVE_PROMPTS = 4
};

/* For each bit in `lists`, replaces the server's list by the list in `desc`. Ignores other
   fields of `desc`. The new lists are borrowed as the first ones were. Clients get a
   notification. Calls under way continue. A list that was NULL in the first desc is never
   offered; resources and templates count as one list here. PHI_BAD_ARG: as for phi_mcp_serve;
   nothing changed. */
PHI_API phi_status phi_mcp_server_set(phi_mcp_server *server, const phi_mcp_server_desc *desc,
                                      uint32_t lists);
/* Tells subscribed clients that a resource has changed. */
PHI_API void phi_mcp_server_updated(phi_mcp_server *server, const char *uri);
/* Sends a log message to the client of `incoming`. If incoming is NULL, sends it to all clients of
   legacy eras. Only clients that want the level get the message. level: "debug", "info", "notice",
   "warning", "error", "critical", "alert" or "emergency". data: JSON text or plain text. Slow
   clients may lose the message; with `incoming`, PHI_FULL reports that. PHI_STALE: the request has
   ended. PHI_BAD_ARG: unknown level, or a request of another server. */
PHI_API phi_status phi_mcp_server_log(phi_mcp_server *server, const phi_mcp_incoming *incoming,
                                      const char *level, const char *logger, const char *data);

/* ---- requests ---- */

/* Returns the request that a tool call serves, directly or through the call of a parent agent.
   server is NULL if no client made the call. */
PHI_API phi_mcp_incoming phi_mcp_incoming_of(phi_call call);

typedef struct phi_mcp_ask_desc {
    /* "elicitation/create", "sampling/createMessage" or "roots/list" */
    const char *method;
    const char *params; /* JSON object; copied (default {}) */
    /* Names the question within its request; copied. A client may answer a question by its name
       before the question is asked. Ignored for a task. By default the key is the number of the
       question, such as "1", or the next free number. */
    const char *key;
    /* Called once, in phi_step, unless the request ends earlier; arguments are borrowed during the
       call. PHI_OK: result is the client's answer. PHI_REFUSED: `message` is the client's error.
       PHI_TIMEOUT: no answer. */
    void (*done_fn)(void *user_data, phi_status status, const phi_json *result, phi_str message);
    void *user_data;
} phi_mcp_ask_desc;

/* Asks the client or its user. A client with a session gets the question as a request. A client of
   2026-07-28 gets the question as the result of its own request, and repeats that request with the
   answer. The call waits meanwhile. Questions of one phi_step are sent together. PHI_UNSUPPORTED:
   the client cannot answer (phi_last_error has the message). PHI_FULL: 16 questions are open, or
   the question does not fit into the session's queue (max_queue_bytes). PHI_STALE: the request has
   ended, or its session has no open stream. */
PHI_API phi_status phi_mcp_ask(phi_mcp_incoming incoming, const phi_mcp_ask_desc *ask);
/* Reports progress as numbers (phi_call_progress sends texts). total may be 0 (unknown), message
   may be NULL. Sent if the client wants progress and `progress` has grown. */
PHI_API phi_status phi_mcp_progress(phi_mcp_incoming incoming, double progress, double total,
                                    const char *message);
/* Makes a tool call a task. Its client gets a handle at once. Later the client reads the status
   (the last text of the progress), answers questions, cancels, or fetches the result. The tool
   continues as before. Tasks are in memory only. Returns PHI_OK also if the call is already a task.
   PHI_UNSUPPORTED: the client accepts no tasks, and waits for the result. PHI_BUSY: the client has
   a question that is not answered yet. PHI_BAD_ARG: not a tool call. */
PHI_API phi_status phi_mcp_task(phi_mcp_incoming incoming);

/* ---- answers to reads, prompts and completions ---- */

/* An answer. The first field that is set is used. If none is set, a completion has no values. */
typedef struct phi_mcp_answer_desc {
    const char *error; /* message of an error */
    phi_str json;      /* the result as in the protocol, such as {"contents":[...]} */
    phi_str text;      /* content of a resource, or the one user message of a prompt */
    const void *bytes; /* content of a resource */
    size_t byte_count;
    const char *mime_type; /* for text and bytes (default: the resource's) */
    /* prompt: messages of user and assistant; blocks of text, image, document and audio are sent */
    const phi_message *messages;
    size_t message_count;
    /* completion: at most 100 are sent */
    const char *const *values;
    size_t value_count, value_total; /* value_total: number of all values */
    /* For a tool call: a JSON array of protocol blocks that phi_content does not have (resource
       links, embedded resources with a URI). The blocks follow those of the call's result; this
       does not end the call. Copied. A later array replaces an earlier one. */
    const char *blocks;
} phi_mcp_answer_desc;

/* Answers a request. A second answer returns PHI_STALE. PHI_BAD_ARG: the field does not fit the
   kind of request, json is no object, or blocks is no array; the request still waits.
   PHI_NO_MEMORY: the client gets an error in place of json. For `blocks`, PHI_NO_MEMORY means that
   no blocks are added; the call continues. */
PHI_API phi_status phi_mcp_answer(phi_mcp_incoming incoming, const phi_mcp_answer_desc *answer);

#ifdef __cplusplus
}
#endif
#endif
