/* mcp_get.h - resources, prompts and completions of an MCP server.

       static void read_done(void *user_data, const phi_mcp_got *got);
       phi_mcp_get_desc get = PHI_ZERO;
       get.what = PHI_MCP_GET_RESOURCE;
       get.uri = "file:///notes.txt";
       get.done_fn = read_done;
       phi_mcp_get(mcp, &get, NULL);

   Threads: the pumping thread. */
#ifndef PHI_MCP_MCP_GET_H
#define PHI_MCP_MCP_GET_H

#include "mcp/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_mcp_what {
    PHI_MCP_GET_RESOURCES = 1, /* all pages of the list of resources */
    PHI_MCP_GET_TEMPLATES,     /* all pages of the list of resource templates */
    PHI_MCP_GET_RESOURCE,      /* the contents of `uri` */
    PHI_MCP_GET_PROMPTS,       /* all pages of the list of prompts */
    PHI_MCP_GET_PROMPT,        /* the prompt `name` with its arguments, as messages */
    /* values for `argument` of the prompt `name` or the resource template `uri` */
    PHI_MCP_GET_COMPLETION
} phi_mcp_what;

/* A resource or a resource template. Missing strings are empty. */
typedef struct phi_mcp_resource {
    phi_str uri; /* a template has a pattern here (RFC 6570) */
    phi_str name, title, description, mime_type;
    uint64_t size;        /* in bytes; 0 if unknown */
    const phi_json *json; /* everything that the server sent */
} phi_mcp_resource;

typedef struct phi_mcp_contents {
    phi_str uri, mime_type;
    phi_str text;
    phi_str blob; /* base64; empty if the content is text */
} phi_mcp_contents;

typedef struct phi_mcp_prompt_argument {
    phi_str name, title, description;
    bool required;
} phi_mcp_prompt_argument;

typedef struct phi_mcp_prompt {
    phi_str name, title, description;
    const phi_mcp_prompt_argument *arguments;
    size_t argument_count;
} phi_mcp_prompt;

/* An answer. Fields that do not belong to `what` are zero. */
typedef struct phi_mcp_got {
    phi_mcp_what what;
    /* As in phi_mcp_reply. Items received before a failure are listed. PHI_TOO_BIG: more than 1,000
       contents. */
    phi_status status;
    phi_str message;
    int code;
    size_t count; /* number of elements in the array that is set below */
    /* the list was cut: it has more than phi_mcp_desc.max_list items, or too many pages */
    bool more;
    const phi_mcp_resource *resources; /* set for RESOURCES and TEMPLATES */
    const phi_mcp_contents *contents;  /* set for RESOURCE */
    const phi_mcp_prompt *prompts;     /* set for PROMPTS */
    /* set for PROMPT: messages of user and assistant, for phi_agent_replace_messages */
    const phi_message *messages;
    phi_str description;   /* set for PROMPT */
    const phi_str *values; /* set for COMPLETION: at most 100, best first */
    uint64_t total;        /* set for COMPLETION: number of all values; 0 if unknown */
} phi_mcp_got;

/* Zero means default for all fields but `what`, done_fn and the fields that `what` needs. The desc
   is copied. */
typedef struct phi_mcp_get_desc {
    phi_mcp_what what;
    const char *uri, *name;
    /* for PROMPT: its arguments; for COMPLETION: other known arguments (default: none) */
    const phi_mcp_pair *arguments;
    size_t argument_count;
    const char *argument; /* for COMPLETION: name of the argument */
    const char *value;    /* for COMPLETION: text typed so far (default: empty) */
    /* Called once, inside phi_step, never inside phi_mcp_get. `got` is valid during the call.
       done_fn may free the connection. Not called after phi_mcp_cancel or phi_mcp_free. */
    void (*done_fn)(void *user_data, const phi_mcp_got *got);
    void *user_data;
} phi_mcp_get_desc;

/* Sends a request to the server. If id is not NULL, sets *id for phi_mcp_cancel. PHI_MISUSE: the
   server is not ready. PHI_UNSUPPORTED: the server does not offer this. PHI_FULL: 4,096 requests
   are under way. */
PHI_API phi_status phi_mcp_get(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id);

typedef void (*phi_mcp_done_fn)(void *user_data, phi_status status, phi_str message);

/* Watches a resource; if `on` is false, stops watching it. PHI_MCP_EV_RESOURCE_UPDATED reports
   each change, also after a restart of the server. `done` may be NULL. `done` is called once:
   after the server's answer, or in the era 2026-07-28 after the stream for all watched resources
   was opened. `done` is not called if the resource was watched already, or if `on` is false.
   Returns the statuses of phi_mcp_get. PHI_FULL also means that 256 resources are watched
   already. PHI_NOT_FOUND: `on` is false, but the resource is not watched. */
PHI_API phi_status phi_mcp_watch(phi_mcp *mcp, const char *uri, bool on, phi_mcp_done_fn done,
                                 void *user_data);

#ifdef __cplusplus
}
#endif
#endif
