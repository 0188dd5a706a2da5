/* mcp.h - servers of the Model Context Protocol: their tools, resources and prompts for agents.

       phi_mcp_desc to = PHI_ZERO;
       const char *const argv[] = {"my-server", "--stdio", NULL};
       to.argv = argv;                                 // or to.url = "https://host/mcp"
       phi_mcp *server = phi_mcp_connect(rt, &to);
       while (phi_mcp_get_info(server).state == PHI_MCP_CONNECTING) phi_step(rt, 10);
       const phi_tool_source *sources[] = {phi_mcp_tools(server)};
       desc.tool_options.sources = sources;                    // desc: a phi_agent_desc
       desc.tool_options.source_count = 1;

   A connection is pumped by phi_step, as everything is. All agents of a runtime can share it. Its
   tools are a source: a server may add, remove and change tools while agents run, and agents take
   the new list when their next turn begins.
   Eras: 2026-07-28 (no handshake) and 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, found out by
   asking the server, as the specification of 2026-07-28 says.

   Ownership: a connection belongs to its runtime and borrows it: free it first. Its memory is
   counted there.
   Threads:   the pumping thread.
   SAFETY     A server's texts are read by the model. Names and schemas are checked; what a tool
   says and does is not.

   Servers by argv need processes (PHI_NO_PROCESS). */
#ifndef PHI_MCP_MCP_H
#define PHI_MCP_MCP_H

#include "agent/runtime.h"
#include "loop/tool.h"
#include "loop/tool_source.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_mcp phi_mcp;
typedef struct phi_mcp_oauth_desc phi_mcp_oauth_desc; /* mcp/mcp_oauth.h */

typedef enum phi_mcp_state {
    PHI_MCP_CONNECTING = 1, /* also while it is started again, or waits for an authorization */
    PHI_MCP_READY,
    PHI_MCP_CLOSING, /* after phi_mcp_close, until nothing of it is left */
    PHI_MCP_CLOSED,
    PHI_MCP_FAILED /* for good: phi_mcp_info.message has the reason */
} phi_mcp_state;

/* What the host answers for its agents, as bits of phi_mcp_desc.answers: a server asks, and the
   hook PHI_HOOK_QUESTION of the agent whose call is under way decides. Nothing else is offered to
   the server. */
enum {
    PHI_MCP_SAMPLING = 1, /* an answer of the agent's own model; kind "sampling" */
    PHI_MCP_FORMS = 2,    /* elicitation: a form for the person; kind "elicitation" */
    PHI_MCP_URLS = 4      /* elicitation: a page to be opened; kind "elicitation_url" */
};

typedef struct phi_mcp_pair {
    const char *name, *value;
} phi_mcp_pair;

typedef struct phi_mcp_root {
    const char *uri;  /* "file:///home/me/project" */
    const char *name; /* NULL: none */
} phi_mcp_root;

/* What a connection reports, besides its state. */
typedef enum phi_mcp_event_kind {
    PHI_MCP_EV_STATE = 1,        /* its state has changed; text: why; READY: the era */
    PHI_MCP_EV_LOG,              /* name: the level; text: the message's JSON text */
    PHI_MCP_EV_TOOLS,            /* the list of tools has changed; text: "+a -b ~c" */
    PHI_MCP_EV_TOOL_CHANGED,     /* name: a tool with another definition; before, text: the two */
    PHI_MCP_EV_RESOURCES,        /* the list of resources has changed */
    PHI_MCP_EV_RESOURCE_UPDATED, /* name: its uri */
    PHI_MCP_EV_PROMPTS,          /* the list of prompts has changed */
    PHI_MCP_EV_WARNING           /* text: what a server did that it must not */
} phi_mcp_event_kind;

/* Strings are valid until the function returns. */
typedef struct phi_mcp_event {
    phi_mcp_event_kind kind;
    phi_mcp *mcp;
    phi_str name, before, text;
} phi_mcp_event;

/* Zero means default for every field but argv or url. */
typedef struct phi_mcp_desc {
    const char *name; /* of the server, for messages and questions (default: its own name) */
    /* One of the two. argv: a program that speaks over its stdin and stdout; NULL-ended. */
    const char *const *argv;
    const char *url; /* http or https */

    /* of argv */
    const char *const *env; /* "NAME=value", NULL-ended, added to the host's (default: none) */
    bool hide_keys;         /* the host's variables whose names look like keys are left out */
    const char *cwd;        /* (default: the host's) */
    /* A program that ends by itself is started again, so often in a row (default 3; PHI_UNLIMITED;
       a start that lasted a minute does not count), after a delay that doubles up to 30 s. */
    uint32_t max_restarts;
    bool no_restart;
    uint32_t restart_delay_ms; /* (default 500) */
    uint32_t close_ms; /* from EOF to the signal to end, and from there to killing (2,000) */

    /* of url */
    const phi_mcp_pair *headers; /* of every request; never shown (default: none) */
    size_t header_count;
    const phi_mcp_oauth_desc *oauth; /* (default: a server that wants one is refused) */

    /* "2025-06-18": only this era is spoken (default: the newest that both know) */
    const char *era;
    uint32_t connect_timeout_ms; /* until it is ready (default 30,000; PHI_UNLIMITED) */
    uint32_t timeout_ms;         /* of a request; renewed by its progress (default 30,000) */
    uint32_t max_timeout_ms;     /* of a request with progress (default 600,000; PHI_UNLIMITED) */
    const char *name_prefix;     /* a tool is "{prefix}__{name}" (default: no prefix) */
    size_t max_message_bytes;    /* of one message (default 16,777,216) */
    uint32_t max_list;           /* tools, resources or prompts in a list (default 2,000) */
    bool needs_approval;         /* tools that are not marked read-only need a hook's approval */
    /* a tool whose definition has changed answers with an error until phi_mcp_accept_tool */
    bool hold_changed_tools;
    /* its tools are deferred (phi_tool.deferred); default: where those that may be are many
       (phi_tool.may_defer) */
    bool deferred;
    bool never_deferred;       /* its tools are not; `deferred` wins */
    uint32_t answers;          /* PHI_MCP_SAMPLING... (default: none) */
    const phi_mcp_root *roots; /* directories that the server may work in (default: none offered) */
    size_t root_count;
    const char *log_level;                    /* "warning"... (default: the server's) */
    phi_agent agent;                          /* asked where no call is under way (default: none) */
    const char *client_name, *client_version; /* (default: "phi" and its version) */
    void (*event_fn)(void *user_data, const phi_mcp_event *event); /* called inside phi_step */
    void *user_data;
} phi_mcp_desc;

/* Begins to connect; `desc` is copied with all that it points to. NULL: a bad argument, or no
   memory: phi_last_error names it. */
PHI_API phi_mcp *phi_mcp_connect(phi_runtime *rt, const phi_mcp_desc *desc);
/* Ends it politely, in phi_step: calls under way get an error result. Repeating is harmless. */
PHI_API void phi_mcp_close(phi_mcp *mcp);
/* Connects again after PHI_MCP_FAILED or PHI_MCP_CLOSED. PHI_MISUSE in other states. */
PHI_API phi_status phi_mcp_reconnect(phi_mcp *mcp);
/* Ends it at once and frees it: a child process is killed, calls under way get an error result.
   While agents still have its tools nothing is freed, and phi_last_error says PHI_MISUSE: free them
   first. NULL is harmless. Allowed inside event_fn and callbacks of requests. */
PHI_API void phi_mcp_free(phi_mcp *mcp);

/* How it is, and what the server says about itself. Strings are valid until the next phi_step. */
typedef struct phi_mcp_info {
    phi_mcp_state state;
    const char *message; /* why it failed, or was lost last; empty: no fault */
    /* of the server; empty before it is ready */
    phi_str name, title, version, era, instructions;
    phi_str capabilities; /* JSON text */
    phi_str stderr_text;  /* the last 64 KB that the program wrote to stderr */
    int process_id;       /* of argv; 0: none now */
    uint32_t restarts;    /* since phi_mcp_connect */
} phi_mcp_info;
PHI_API phi_mcp_info phi_mcp_get_info(const phi_mcp *mcp); /* NULL: PHI_MCP_CLOSED */

/* ---- requests ---- */

typedef struct phi_mcp_reply {
    phi_status status; /* PHI_OK; PHI_REFUSED: the server's error; PHI_TIMEOUT, PHI_CANCELLED... */
    phi_str message;   /* of a failure */
    int code;          /* of the server's error, else 0 */
    const phi_json *result; /* NULL where it failed */
    const phi_json *data;   /* of the server's error; NULL: none */
} phi_mcp_reply;

/* Zero means default for every field but method and done_fn. */
typedef struct phi_mcp_send_desc {
    const char *method;  /* "resources/list"; copied */
    phi_str params;      /* JSON object; copied (default: {}) */
    uint32_t timeout_ms; /* (default: the connection's) */
    void (*progress_fn)(void *user_data, double progress, double total, phi_str message);
    /* Called once, inside phi_step; the reply is valid until it returns. Not called after
       phi_mcp_cancel nor phi_mcp_free. */
    void (*done_fn)(void *user_data, const phi_mcp_reply *reply);
    void *user_data;
} phi_mcp_send_desc;

/* Sends a request of any kind; phi_mcp_get knows the usual ones. *id, where given, is for
   phi_mcp_cancel. PHI_MISUSE: not ready; PHI_BAD_ARG,
   PHI_FULL: 4,096 are under way; PHI_NO_MEMORY. */
PHI_API phi_status phi_mcp_send(phi_mcp *mcp, const phi_mcp_send_desc *request, uint64_t *id);
/* Ends what phi_mcp_send or phi_mcp_get began, without its callback; tells the server. Unknown ids
   are harmless. */
PHI_API void phi_mcp_cancel(phi_mcp *mcp, uint64_t id);

#ifdef __cplusplus
}
#endif
#endif
