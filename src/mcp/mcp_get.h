/* mcp_get.h - what an MCP server offers besides tools: resources to read, list and watch, prompts,
   and completion of arguments.

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
    PHI_MCP_GET_TEMPLATES,     /* the same of resource templates */
    PHI_MCP_GET_RESOURCE,      /* the contents of `uri` */
    PHI_MCP_GET_PROMPTS,       /* all pages of the list of prompts */
    PHI_MCP_GET_PROMPT,        /* the prompt `name` with its arguments, as messages */
    /* values for `argument` of the prompt `name`, or of the resource template `uri` */
    PHI_MCP_GET_COMPLETION
} phi_mcp_what;

/* A resource, or a template of some. Empty strings: not given. */
typedef struct phi_mcp_resource {
    phi_str uri; /* of a template: RFC 6570 */
    phi_str name, title, description, mime_type;
    uint64_t size;        /* in bytes; 0 where it is not known */
    const phi_json *json; /* all that the server said */
} phi_mcp_resource;

typedef struct phi_mcp_contents {
    phi_str uri, mime_type;
    phi_str text;
    phi_str blob; /* base64; empty where it is a text */
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

/* The answer; a field that `what` does not have is zero. */
typedef struct phi_mcp_got {
    phi_mcp_what what;
    /* as phi_mcp_reply; items read before a failure are listed. PHI_TOO_BIG: more than 1,000
       contents */
    phi_status status;
    phi_str message;
    int code;
    size_t count; /* of the array that is there */
    /* there are more: of a list, than phi_mcp_desc.max_list, or pages without an end */
    bool more;
    const phi_mcp_resource *resources; /* of RESOURCES and TEMPLATES */
    const phi_mcp_contents *contents;  /* of RESOURCE */
    const phi_mcp_prompt *prompts;     /* of PROMPTS */
    /* of PROMPT: messages of a user and an assistant, for phi_agent_replace_messages */
    const phi_message *messages;
    phi_str description;   /* of PROMPT */
    const phi_str *values; /* of COMPLETION: at most 100, the best first */
    uint64_t total;        /* of COMPLETION: values that there are; 0: not known */
} phi_mcp_got;

/* Zero means default for every field but what, done_fn, and what `what` names. Copied. */
typedef struct phi_mcp_get_desc {
    phi_mcp_what what;
    const char *uri, *name;
    /* of PROMPT; of COMPLETION: other arguments that are known (default: none) */
    const phi_mcp_pair *arguments;
    size_t argument_count;
    const char *argument; /* of COMPLETION: its name */
    const char *value;    /* of COMPLETION: typed so far (default: nothing) */
    /* Called once, inside phi_step, never inside phi_mcp_get; what it gets is valid until it
       returns. It may free the connection. It is not called after phi_mcp_cancel, nor when the
       connection is freed. */
    void (*done_fn)(void *user_data, const phi_mcp_got *got);
    void *user_data;
} phi_mcp_get_desc;

/* Asks the server. *id, where given, is for phi_mcp_cancel. PHI_MISUSE: the server is not ready;
   PHI_UNSUPPORTED: it has not declared that it offers this; PHI_BAD_ARG; PHI_FULL: 4,096 requests
   are under way; PHI_NO_MEMORY. */
PHI_API phi_status phi_mcp_get(phi_mcp *mcp, const phi_mcp_get_desc *desc, uint64_t *id);

typedef void (*phi_mcp_done_fn)(void *user_data, phi_status status, phi_str message);

/* Watches a resource, or stops that (on: false). PHI_MCP_EV_RESOURCE_UPDATED reports each change
   from now on, also when the server was started again meanwhile. `done`, where given, is called
   once: with the server's answer, or in the era 2026-07-28, where a stream has all subscriptions,
   when the stream was opened; not for a resource that is watched already, nor for `on` at false. At
   most 256. Statuses: as phi_mcp_get; PHI_NOT_FOUND: it is not watched. */
PHI_API phi_status phi_mcp_watch(phi_mcp *mcp, const char *uri, bool on, phi_mcp_done_fn done,
                                 void *user_data);

#ifdef __cplusplus
}
#endif
#endif
