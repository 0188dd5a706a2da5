/* mcp_resources.h - the resources of an MCP server: what it lets hosts read, list and watch.

       static void read_done(void *user_data, const phi_mcp_reading *reading);
       phi_mcp_read_resource(mcp, "file:///notes.txt", read_done, NULL, NULL);

   Callbacks: `done` is called once, inside phi_step, never inside the function that takes it; what
   it gets is valid until it returns. It may free the connection. It is not called after
   phi_mcp_stop, nor when the connection is freed.
   Statuses of the functions: PHI_MISUSE: the server is not ready; PHI_UNSUPPORTED: it has not
   declared that it offers this; PHI_BAD_ARG; PHI_FULL: 4,096 requests are under way; PHI_NO_MEMORY.
   Threads: the pumping thread. */
#ifndef PHI_MCP_MCP_RESOURCES_H
#define PHI_MCP_MCP_RESOURCES_H

#include "mcp/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A resource, or a template of some. Empty strings: not given. */
typedef struct phi_mcp_resource {
    phi_str uri; /* of a template: RFC 6570 */
    phi_str name, title, description, mime_type;
    uint64_t size;        /* in bytes; 0 where it is not known */
    const phi_json *json; /* all that the server said */
} phi_mcp_resource;

typedef struct phi_mcp_resource_list {
    phi_status status; /* as phi_mcp_reply; items read before a failure are listed */
    phi_str message;
    int code;
    const phi_mcp_resource *resources;
    size_t count;
    bool cut; /* there were more than phi_mcp_desc.max_list, or pages without an end */
} phi_mcp_resource_list;

typedef struct phi_mcp_contents {
    phi_str uri, mime_type;
    phi_str text;
    phi_str blob; /* base64; empty where it is a text */
} phi_mcp_contents;

typedef struct phi_mcp_reading {
    phi_status status; /* PHI_TOO_BIG: more than 1,000 contents */
    phi_str message;
    int code;
    const phi_mcp_contents *contents;
    size_t count;
} phi_mcp_reading;

typedef void (*phi_mcp_resources_fn)(void *user_data, const phi_mcp_resource_list *list);
typedef void (*phi_mcp_reading_fn)(void *user_data, const phi_mcp_reading *reading);
typedef void (*phi_mcp_done_fn)(void *user_data, phi_status status, phi_str message);

/* All pages of a list. *id, where given, is for phi_mcp_stop. */
PHI_API phi_status phi_mcp_list_resources(phi_mcp *mcp, phi_mcp_resources_fn done, void *user_data,
                                          uint64_t *id);
PHI_API phi_status phi_mcp_list_templates(phi_mcp *mcp, phi_mcp_resources_fn done, void *user_data,
                                          uint64_t *id);
PHI_API phi_status phi_mcp_read_resource(phi_mcp *mcp, const char *uri, phi_mcp_reading_fn done,
                                         void *user_data, uint64_t *id);

/* PHI_MCP_EV_RESOURCE_UPDATED reports each change from now on, also when the server was started
   again meanwhile. `done`, where given, is called once: with the server's answer, or in the era
   2026-07-28, where a stream has all subscriptions, when the stream was opened. A resource that is
   watched already: PHI_OK, and `done` is not called. At most 256. */
PHI_API phi_status phi_mcp_subscribe(phi_mcp *mcp, const char *uri, phi_mcp_done_fn done,
                                     void *user_data);
/* PHI_NOT_FOUND: it is not watched. */
PHI_API phi_status phi_mcp_unsubscribe(phi_mcp *mcp, const char *uri);

/* Ends an operation of mcp_resources.h or mcp_prompts.h, without its callback.
   Unknown ids are harmless. */
PHI_API void phi_mcp_stop(phi_mcp *mcp, uint64_t id);

#ifdef __cplusplus
}
#endif
#endif
