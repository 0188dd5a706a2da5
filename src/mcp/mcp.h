/* mcp.h - servers of the Model Context Protocol: their tools, resources and prompts for agents.

       phi_mcp_desc to = PHI_ZERO;
       const char *const argv[] = {"my-server", "--stdio", NULL};
       to.argv = argv;                                 // or to.url = "https://host/mcp"
       phi_mcp *server = phi_mcp_connect(rt, &to);
       while (phi_mcp_get_info(server).state == PHI_MCP_CONNECTING) phi_step(rt, 10);
       const phi_tool_source *sources[] = {phi_mcp_tools(server)};
       desc.tool_options.sources = sources;                    // desc: a phi_agent_desc
       desc.tool_options.source_count = 1;

   phi_step does the work of a connection. All agents of a runtime can share a connection. A server
   may add, remove and change tools while agents run; agents take the new list when their next turn
   begins.
   Eras (versions of the protocol): 2026-07-28 (without initialize), 2025-11-25, 2025-06-18,
   2025-03-26, 2024-11-05. phi asks the server for its eras as the specification of 2026-07-28 says.

   Ownership: a connection borrows its runtime; free the connection first. Its memory counts against
   the runtime's.
   Threads:   the pumping thread.
   SAFETY     The model reads a server's texts. Names and schemas are checked; the texts and actions
   of a tool are not.

   Servers with argv are left out by PHI_NO_PROCESS. */
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
    PHI_MCP_CONNECTING = 1, /* also during a restart or an authorization */
    PHI_MCP_READY,
    PHI_MCP_CLOSING, /* after phi_mcp_close, until the link has ended */
    PHI_MCP_CLOSED,
    PHI_MCP_FAILED /* failed for good; phi_mcp_info.message has the reason */
} phi_mcp_state;

/* Questions that the host answers for its agents, as bits of phi_mcp_desc.answers. The hook
   PHI_HOOK_QUESTION of the agent whose call is under way decides. Questions whose bit is not set
   are not offered to the server. */
enum {
    PHI_MCP_SAMPLING = 1, /* answers of the agent's own model; kind "sampling" */
    PHI_MCP_FORMS = 2,    /* forms for the person; kind "elicitation" */
    PHI_MCP_URLS = 4      /* pages that the person opens; kind "elicitation_url" */
};

typedef struct phi_mcp_pair {
    const char *name, *value;
} phi_mcp_pair;

typedef struct phi_mcp_root {
    const char *uri;  /* "file:///home/me/project" */
    const char *name; /* may be NULL */
} phi_mcp_root;

/* Events of a connection. */
typedef enum phi_mcp_event_kind {
    PHI_MCP_EV_STATE = 1, /* the state has changed; text: the reason, or for READY the era */
    PHI_MCP_EV_LOG,       /* name: the level; text: the message as JSON text */
    PHI_MCP_EV_TOOLS,     /* the list of tools has changed; text: "+a -b ~c" */
    /* name: the server's name of a tool; before: its old definition; text: the new one */
    PHI_MCP_EV_TOOL_CHANGED,
    PHI_MCP_EV_RESOURCES,        /* the list of resources has changed */
    PHI_MCP_EV_RESOURCE_UPDATED, /* name: URI of the resource */
    PHI_MCP_EV_PROMPTS,          /* the list of prompts has changed */
    PHI_MCP_EV_WARNING           /* the server broke a rule; text: which one */
} phi_mcp_event_kind;

/* Strings are valid during the call. */
typedef struct phi_mcp_event {
    phi_mcp_event_kind kind;
    phi_mcp *mcp;
    phi_str name, before, text;
} phi_mcp_event;

/* Zero means default for every field except argv and url. Set one of these two. */
typedef struct phi_mcp_desc {
    const char *name; /* name of the server in messages and questions (default: the server's own) */
    /* A program that speaks over its stdin and stdout, and its arguments; NULL-ended. */
    const char *const *argv;
    const char *url; /* http or https */

    /* The next fields are only for argv. But the three fields about restarts also apply to a url
       with the HTTP transport of 2024-11-05, whose lost stream counts as an exit. */
    const char *const *env; /* "NAME=value", NULL-ended, added to the host's (default: none) */
    bool hide_keys;         /* leave out the host's variables whose names look like keys */
    const char *cwd;        /* (default: the host's) */
    /* Most restarts in a row of a program that exits (default 3; PHI_UNLIMITED). The delay before a
       restart doubles up to 30 s. After a minute without an exit, the count is 0 again. */
    uint32_t max_restarts;
    bool no_restart;
    uint32_t restart_delay_ms; /* (default 500) */
    uint32_t close_ms; /* from EOF to the signal, and from the signal to killing (default 2,000) */

    /* the next fields are only for url */
    const phi_mcp_pair *headers; /* sent with every request; never shown (default: none) */
    size_t header_count;
    const phi_mcp_oauth_desc *oauth; /* (default: servers that require an authorization fail) */

    /* "2025-06-18": use only this era (default: the newest that both sides know) */
    const char *era;
    uint32_t connect_timeout_ms; /* longest time until READY (default 30,000; PHI_UNLIMITED) */
    uint32_t timeout_ms;         /* of a request; each progress restarts it (default 30,000) */
    uint32_t max_timeout_ms;     /* max. time with progress (default 600,000; PHI_UNLIMITED) */
    const char *name_prefix;     /* a model sees "{prefix}__{name}" (default: no prefix) */
    size_t max_message_bytes;    /* (default 16,777,216) */
    uint32_t max_list;           /* max. tools, resources or prompts in a list (default 2,000) */
    bool needs_approval;         /* a hook must approve calls of tools not marked read-only */
    /* after a tool's definition has changed, its calls fail until phi_mcp_accept_tool */
    bool hold_changed_tools;
    /* defer the tools (phi_tool.deferred); default: only if there are many (phi_tool.may_defer) */
    bool deferred;
    bool never_deferred;       /* never defer the tools; `deferred` wins */
    uint32_t answers;          /* bits, PHI_MCP_SAMPLING and others (default: none) */
    const phi_mcp_root *roots; /* directories that the server may work in (default: none) */
    size_t root_count;
    const char *log_level;                    /* level such as "warning" (default: the server's) */
    phi_agent agent;                          /* gets questions outside of calls (default: none) */
    const char *client_name, *client_version; /* (default: "phi" and its version) */
    void (*event_fn)(void *user_data, const phi_mcp_event *event); /* called inside phi_step */
    void *user_data;
} phi_mcp_desc;

/* Begins to connect. Copies `desc` deeply. NULL: it failed, and phi_last_error has the message. */
PHI_API phi_mcp *phi_mcp_connect(phi_runtime *rt, const phi_mcp_desc *desc);
/* Ends the connection politely, in phi_step. Calls under way get an error. May be called twice. */
PHI_API void phi_mcp_close(phi_mcp *mcp);
/* Connects again after PHI_MCP_FAILED or PHI_MCP_CLOSED. PHI_MISUSE in other states. */
PHI_API phi_status phi_mcp_reconnect(phi_mcp *mcp);
/* Ends the connection at once and frees it. A child process is killed; calls under way get an error
   result. While agents have the connection's tools, nothing is freed and phi_last_error has
   PHI_MISUSE. NULL is harmless. May be called inside event_fn and callbacks of requests. */
PHI_API void phi_mcp_free(phi_mcp *mcp);

/* State of a connection, and the server's description of itself. Strings are valid until
   phi_step. */
typedef struct phi_mcp_info {
    phi_mcp_state state;
    const char *label;   /* phi_mcp_desc.name, else the server's own name; may be empty */
    const char *message; /* reason of the last failure or loss; may be empty */
    /* sent by the server; empty until READY */
    phi_str name, title, version, era, instructions;
    phi_str capabilities; /* JSON text */
    phi_str stderr_text;  /* last 64 KB that the program wrote to stderr */
    int process_id;       /* id of the program; 0: none */
    uint32_t restarts;    /* number of restarts since phi_mcp_connect */
} phi_mcp_info;
PHI_API phi_mcp_info phi_mcp_get_info(const phi_mcp *mcp); /* PHI_MCP_CLOSED if mcp is NULL */

/* ---- requests ---- */

typedef struct phi_mcp_reply {
    phi_status status;      /* PHI_REFUSED: error of the server; PHI_TIMEOUT, PHI_CANCELLED... */
    phi_str message;        /* message of a failure */
    int code;               /* code of the server's error, else 0 */
    const phi_json *result; /* NULL after a failure */
    const phi_json *data;   /* data of the server's error, or NULL */
} phi_mcp_reply;

/* Zero means default for every field but method and done_fn. */
typedef struct phi_mcp_send_desc {
    const char *method;  /* for example "resources/list"; copied */
    phi_str params;      /* JSON object; copied (default: {}) */
    uint32_t timeout_ms; /* (default: the connection's) */
    void (*progress_fn)(void *user_data, double progress, double total, phi_str message);
    /* Called once, in phi_step; `reply` is valid during the call. Not called after phi_mcp_cancel
       or phi_mcp_free. */
    void (*done_fn)(void *user_data, const phi_mcp_reply *reply);
    void *user_data;
} phi_mcp_send_desc;

/* Sends any request; for common ones, phi_mcp_get is simpler. If id is not NULL, sets *id for
   phi_mcp_cancel. PHI_MISUSE: the connection is not ready. PHI_FULL: 4,096 requests are under
   way. */
PHI_API phi_status phi_mcp_send(phi_mcp *mcp, const phi_mcp_send_desc *request, uint64_t *id);
/* Ends a request of phi_mcp_send or phi_mcp_get without its callback, and tells the server. Ignores
   unknown ids. */
PHI_API void phi_mcp_cancel(phi_mcp *mcp, uint64_t id);

#ifdef __cplusplus
}
#endif
#endif
