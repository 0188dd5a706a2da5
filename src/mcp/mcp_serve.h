/* mcp_serve.h - our own server of the Model Context Protocol: tools, resources and prompts of a
   host for any client, an editor or another agent.

       phi_mcp_server_desc desc = PHI_ZERO;
       desc.name = "my-game";
       desc.tools = tools;
       desc.tool_count = 2;
       desc.stdio = true;                     // or desc.http = true: on loopback, port of desc.port
       phi_mcp_server *server = phi_mcp_serve(rt, &desc);
       while (!phi_mcp_server_get_info(server).ended) phi_step(rt, 100);
       phi_mcp_server_free(server);

   It is pumped by phi_step. A call of a client runs as a call of a model does: the schema is
   checked, hooks are called, the deadline counts, and the phi_call_ functions work. Any phi_tool
   can be served, a sub-agent too (phi_subagent_tool, with its own model).
   Eras: 2026-07-28 (each request by itself) and 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05 (a
   session that `initialize` begins), both at once.

   Ownership: a server belongs to its runtime and borrows it: free it first.
   Threads:   the pumping thread.
   Callbacks: on the pumping thread, inside phi_step. They may call every function here, and
   phi_mcp_server_free.

   Stdio needs processes (PHI_NO_PROCESS), http the listener (PHI_NO_LISTEN). */
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

/* A request of a client that a function of the host's is to answer. A value handle; when the
   request was answered, cancelled, or its client is gone, it is stale. phi_mcp_server_free ends
   the lifetime of all of its server's: use none afterwards. */
typedef struct phi_mcp_incoming {
    phi_mcp_server *server; /* NULL: no request */
    uint32_t index, gen;
    uint32_t can; /* what its client can do: PHI_MCP_CAN_... */
} phi_mcp_incoming;

/* What a client can be asked for, and that it takes tasks (only where phi_mcp_server_desc.tasks is
   set); bits of phi_mcp_serve_tool.needs. */
enum {
    PHI_MCP_CAN_SAMPLE = 1,
    PHI_MCP_CAN_ELICIT = 2,
    PHI_MCP_CAN_ROOTS = 4,
    PHI_MCP_CAN_TASKS = 8
};

/* What the protocol says about a tool beyond phi_tool. Zero means default. */
typedef struct phi_mcp_serve_tool {
    const char *title; /* (default: the tool's label, if it has one) */
    const char
        *output_schema;      /* JSON Schema; results then have structured content (default: none) */
    const char *annotations; /* JSON object: {"readOnlyHint":true} (default: none) */
    uint32_t needs;          /* PHI_MCP_CAN_...: clients without them are refused (default: none) */
    bool task;               /* each call of a client that takes tasks becomes one at once */
} phi_mcp_serve_tool;

/* Zero means default for every field but uri. A resource is its text, its bytes, or what `read`
   answers. */
typedef struct phi_mcp_serve_resource {
    const char *uri;
    const char *name;                            /* (default: the uri) */
    const char *title, *description, *mime_type; /* (default: none) */
    const char *annotations;                     /* JSON object (default: none) */
    const char *text;
    const void *bytes;
    size_t byte_count;
    /* uri: borrowed until it returns. It answers now or later, with phi_mcp_answer: text,
       bytes, json or error. */
    void (*read)(void *user_data, phi_mcp_incoming incoming, const char *uri);
    void *user_data;
} phi_mcp_serve_resource;

/* Resources by a pattern. */
typedef struct phi_mcp_serve_template {
    const char *uri;  /* RFC 6570, level 1: "note://{folder}/{name}" */
    const char *name; /* (default: the uri) */
    const char *title, *description, *mime_type, *annotations; /* (default: none) */
    /* values: a JSON object of the variables, decoded; borrowed as uri is, until it returns. */
    void (*read)(void *user_data, phi_mcp_incoming incoming, const char *uri, phi_str values);
    void *user_data;
} phi_mcp_serve_template;

typedef struct phi_mcp_serve_argument {
    const char *name;
    const char *title, *description; /* (default: none) */
    bool required;
} phi_mcp_serve_argument;

/* Zero means default for every field but name, and text or get. */
typedef struct phi_mcp_serve_prompt {
    const char *name;
    const char *title, *description;
    const phi_mcp_serve_argument *arguments;
    size_t argument_count;
    const char *text; /* one user message; "{name}" becomes the value of that argument */
    /* arguments: a JSON object of strings, borrowed until it returns. It answers with
       phi_mcp_answer: text, messages, json or error. */
    void (*get)(void *user_data, phi_mcp_incoming incoming, phi_str arguments);
    void *user_data;
} phi_mcp_serve_prompt;

/* What a client wants to complete. Strings are borrowed until the function returns. */
typedef struct phi_mcp_serve_completion {
    const char *prompt; /* of this prompt, or */
    const char *uri;    /* of this template; the other is NULL */
    const char *argument, *value;
    phi_str known; /* JSON object of arguments that are known already */
} phi_mcp_serve_completion;

/* Zero means default for every field but name. Strings, tools, resources, templates and prompts are
   borrowed, with all they point to, until the server is freed or they are replaced
   (phi_mcp_server_set). */
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
    /* It answers with phi_mcp_answer: values, json or error (default: no completion is offered). */
    void (*complete_fn)(void *user_data, phi_mcp_incoming incoming,
                        const phi_mcp_serve_completion *what);

    /* As an agent's: BEFORE_TOOL may wait, deny, or change the arguments (default: none). */
    phi_hook_fn hook_fn;
    uint32_t hook_points;
    uint32_t tool_timeout_ms;     /* of tools that set none (default 120,000) */
    uint32_t decision_timeout_ms; /* of hooks that wait (default 300,000) */
    /* For the answer to phi_mcp_ask (default 600,000). Where more than half of max_calls wait for a
       client of 2026-07-28 to come back, the oldest of them gets PHI_TIMEOUT before. */
    uint32_t ask_timeout_ms;
    void *user_data; /* of complete_fn, hook_fn and client_fn */

    /* Calls may become tasks (phi_mcp_task): the client gets a handle, and comes back for the
       result. Clients of 2026-07-28 with the extension io.modelcontextprotocol/tasks take them. */
    bool tasks;
    /* A task is kept so long after its end; PHI_UNLIMITED is 49 days (default 600,000) */
    uint32_t task_ttl_ms;

    /* "2025-06-18": only this era is spoken (default: all) */
    const char *era;
    uint32_t page;              /* items of a list in one answer (default 100) */
    uint32_t ttl_ms;            /* how long a client may keep a list (default 0: not at all) */
    uint32_t max_sessions;      /* of HTTP (default 16) */
    uint32_t max_calls;         /* requests that wait for the host, over all clients (64) */
    uint32_t max_subscriptions; /* of one client (default 64) */
    uint32_t session_idle_ms;   /* of HTTP: without a request it ends (default 1,800,000) */
    size_t max_message_bytes;   /* of a client (default 4,194,304) */
    size_t max_queue_bytes;     /* that wait for a slow client; then it is dropped (16,777,216) */

    bool stdio;          /* over stdin and stdout of this process; EOF ends it: close_ms */
    int in_fd, out_fd;   /* of stdio, in place of 0 and 1 (default: those) */
    bool http;           /* over HTTP */
    const char *address; /* to listen on (default "127.0.0.1"; others need any_address) */
    bool any_address;    /* an address that other machines reach; needs a token */
    uint16_t port;       /* (default: any free one: phi_mcp_server_info) */
    const char *path;    /* (default "/mcp") */
    const char *token;   /* clients send "Authorization: Bearer TOKEN" (default: none) */
    /* Values of Host and Origin besides loopback names; NULL-ended (default: none) */
    const char *const *allowed_hosts, *const *allowed_origins;
    uint32_t max_connections; /* (default 64) */
    /* How long answers of calls under way are still sent after the end of stdin; then the calls are
       cancelled (default 2,000; PHI_UNLIMITED) */
    uint32_t close_ms;
} phi_mcp_server_desc;

/* Begins to serve. NULL: phi_last_error names the field, or why the port cannot be had. Tools must
   fit the rules of phi_agent_new: one with needs_approval needs hook_fn at BEFORE_TOOL. */
PHI_API phi_mcp_server *phi_mcp_serve(phi_runtime *rt, const phi_mcp_server_desc *desc);

typedef struct phi_mcp_server_info {
    uint16_t port; /* of http; 0: none */
    /* stdin has ended, every call with it, and every answer was sent (never with http) */
    bool ended;
    const char
        *message; /* why stdin or stdout failed; empty: no fault; until the server is freed */
} phi_mcp_server_info;
PHI_API phi_mcp_server_info phi_mcp_server_get_info(const phi_mcp_server *server);
/* Ends all calls (tools are cancelled) and connections at once, and frees it. NULL is harmless. */
PHI_API void phi_mcp_server_free(phi_mcp_server *server);

/* The lists that phi_mcp_server_set replaces, as bits. */
enum {
    PHI_MCP_SERVE_TOOLS = 1,     /* tools, tool_infos */
    PHI_MCP_SERVE_RESOURCES = 2, /* resources and templates */
    PHI_MCP_SERVE_PROMPTS = 4
};

/* Other lists, borrowed as the first ones: those of `desc` that `lists` names, PHI_MCP_SERVE_...;
   its other fields are not looked at. Clients get a notification. Calls under way go on.
   PHI_BAD_ARG as phi_mcp_serve; nothing changed. */
PHI_API phi_status phi_mcp_server_set(phi_mcp_server *server, const phi_mcp_server_desc *desc,
                                      uint32_t lists);
/* A resource has changed: subscribed clients get a notification. */
PHI_API void phi_mcp_server_updated(phi_mcp_server *server, const char *uri);
/* A log message. incoming: of this request, if its client wants the level; NULL: for every client
   of a legacy era that wants it. level: "debug", "info", "notice", "warning", "error", "critical",
   "alert", "emergency". data: JSON text, or a plain text. Lost where a client is too slow.
   PHI_STALE; PHI_BAD_ARG: no such level, or a request of another server; PHI_NO_MEMORY. */
PHI_API phi_status phi_mcp_server_log(phi_mcp_server *server, const phi_mcp_incoming *incoming,
                                      const char *level, const char *logger, const char *data);

/* ---- a request ---- */

/* The request that a tool call serves, of the call itself or of an agent above it; server NULL: the
   call is no client's. */
PHI_API phi_mcp_incoming phi_mcp_incoming_of(phi_call call);

typedef struct phi_mcp_ask_desc {
    /* "elicitation/create", "sampling/createMessage" or "roots/list" */
    const char *method;
    const char *params; /* JSON object (default {}); copied */
    /* Names the question within its request: a client may answer questions before they are asked,
       by these names; copied (default: the number of the question, "1", or the next free one) */
    const char *key;
    /* Called once, in phi_step, unless the request ends before. PHI_OK: result is the client's
       answer; PHI_REFUSED: the client answered with an error, and message has its words;
       PHI_TIMEOUT. Borrowed until it returns. */
    void (*done_fn)(void *user_data, phi_status status, const phi_json *result, phi_str message);
    void *user_data;
} phi_mcp_ask_desc;

/* Asks the client, or its user. A session is sent a request; a client of
   2026-07-28 gets the question as the result of its request, and repeats that with the answer:
   meanwhile the call goes on waiting. Questions of one phi_step go together.
   PHI_STALE; PHI_UNSUPPORTED: the client cannot (phi_last_error has words); PHI_BAD_ARG, PHI_FULL:
   16 are open; PHI_NO_MEMORY. */
PHI_API phi_status phi_mcp_ask(phi_mcp_incoming incoming, const phi_mcp_ask_desc *ask);
/* Progress in numbers (phi_call_progress sends texts); total 0: unknown; message NULL: none. Sent
   where the client wants it, and where `progress` is more than before. */
PHI_API phi_status phi_mcp_progress(phi_mcp_incoming incoming, double progress, double total,
                                    const char *message);
/* Makes a tool call a task: its client gets a handle at once, sees the last text of the progress as
   its status, answers its questions, may cancel it, and fetches the result. The tool goes on as
   before. In memory: it ends with the server. PHI_OK also where it is one; PHI_UNSUPPORTED: the
   client takes none, and waits for the result; PHI_BUSY: the client was sent a question, and has
   not come back; PHI_STALE; PHI_BAD_ARG: no tool call; PHI_NO_MEMORY. */
PHI_API phi_status phi_mcp_task(phi_mcp_incoming incoming);

/* ---- answers: of functions that read resources, get prompts and complete ---- */

/* An answer: one of these, the first that is set; zero: no values of a completion. */
typedef struct phi_mcp_answer_desc {
    const char *error; /* the client gets an error with this message */
    phi_str json;      /* the result as the protocol has it: {"contents":[...]} */
    phi_str text;      /* a resource's content, or a prompt's one user message */
    const void *bytes; /* a resource's content */
    size_t byte_count;
    const char *mime_type; /* of text and bytes (default: the resource's) */
    /* of a prompt: messages of a user and an assistant; each block of text, image, document or
       audio is one of the protocol's */
    const phi_message *messages;
    size_t message_count;
    /* of a completion: at most 100 are sent */
    const char *const *values;
    size_t value_count, value_total; /* value_total: of all that there are */
    /* of a tool call, which this does not end: a JSON array of blocks of the protocol that
       phi_content does not have (resource links, embedded resources with an address), placed after
       the blocks of its coming result; copied. The last array counts */
    const char *blocks;
} phi_mcp_answer_desc;

/* Each request is answered once: PHI_STALE afterwards. PHI_NO_MEMORY: the client gets an error.
   PHI_BAD_ARG: another kind of request, json is no object, or blocks no array; it waits on. */
PHI_API phi_status phi_mcp_answer(phi_mcp_incoming incoming, const phi_mcp_answer_desc *answer);

#ifdef __cplusplus
}
#endif
#endif
