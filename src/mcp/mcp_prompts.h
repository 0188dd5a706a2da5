/* mcp_prompts.h - the prompts of an MCP server, and completion of arguments.

   Callbacks, statuses and ids: as mcp_resources.h says; phi_mcp_stop ends these, too. */
#ifndef PHI_MCP_MCP_PROMPTS_H
#define PHI_MCP_MCP_PROMPTS_H

#include "mcp/mcp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_mcp_prompt_argument {
    phi_str name, title, description;
    bool required;
} phi_mcp_prompt_argument;

typedef struct phi_mcp_prompt {
    phi_str name, title, description;
    const phi_mcp_prompt_argument *arguments;
    size_t argument_count;
} phi_mcp_prompt;

typedef struct phi_mcp_prompt_list {
    phi_status status; /* as phi_mcp_reply; items read before a failure are listed */
    phi_str message;
    int code;
    const phi_mcp_prompt *prompts;
    size_t count;
    bool cut; /* there were more than phi_mcp_desc.max_list, or pages without an end */
} phi_mcp_prompt_list;

/* A prompt as messages of a user and an assistant, for phi_agent_replace_messages. */
typedef struct phi_mcp_prompted {
    phi_status status;
    phi_str message;
    int code;
    phi_str description;
    const phi_message *messages;
    size_t count;
} phi_mcp_prompted;

typedef struct phi_mcp_completion {
    phi_status status;
    phi_str message;
    int code;
    const phi_str *values; /* at most 100, the best first */
    size_t count;
    uint64_t total; /* that there are; 0: not known */
    bool more;      /* there are more than these */
} phi_mcp_completion;

typedef void (*phi_mcp_prompts_fn)(void *user_data, const phi_mcp_prompt_list *list);
typedef void (*phi_mcp_prompted_fn)(void *user_data, const phi_mcp_prompted *prompt);
typedef void (*phi_mcp_completion_fn)(void *user_data, const phi_mcp_completion *completion);

PHI_API phi_status phi_mcp_list_prompts(phi_mcp *mcp, phi_mcp_prompts_fn done, void *user_data,
                                        uint64_t *id);
/* Arguments are copied. */
PHI_API phi_status phi_mcp_get_prompt(phi_mcp *mcp, const char *name, const phi_mcp_pair *arguments,
                                      size_t argument_count, phi_mcp_prompted_fn done,
                                      void *user_data, uint64_t *id);

/* What may stand for an argument of a prompt or a resource template. Copied. */
typedef struct phi_mcp_complete_desc {
    const char *prompt;          /* its name; or */
    const char *resource;        /* the template's uri */
    const char *argument;        /* its name */
    const char *value;           /* typed so far (default: nothing) */
    const phi_mcp_pair *context; /* other arguments that are known (default: none) */
    size_t context_count;
} phi_mcp_complete_desc;
PHI_API phi_status phi_mcp_complete(phi_mcp *mcp, const phi_mcp_complete_desc *desc,
                                    phi_mcp_completion_fn done, void *user_data, uint64_t *id);

#ifdef __cplusplus
}
#endif
#endif
