/* mcp_eras_in.h - the protocol's eras: one row each, whose columns are facts. Code asks for a fact,
   never for a version. */
#ifndef PHI_MCP_MCP_ERAS_IN_H
#define PHI_MCP_MCP_ERAS_IN_H

#include "base/base_in.h"

typedef enum phi__mcp_tasks {
    PHI__MCP_TASKS_NONE,
    PHI__MCP_TASKS_ASKED,    /* by params.task of a call: 2025-11-25 */
    PHI__MCP_TASKS_EXTENSION /* io.modelcontextprotocol/tasks: 2026-07-28 */
} phi__mcp_tasks;

typedef struct phi__mcp_era {
    const char *version;
    phi__mcp_tasks tasks;
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
    bool log_request;      /* logging/setLevel; else the level stands in _meta */
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
} phi__mcp_era;

enum { PHI__MCP_ERAS = 5 };

/* Newest first; i is less than PHI__MCP_ERAS. */
PHI__FN const phi__mcp_era *phi__mcp_eras_at(size_t i);
/* NULL: unknown. */
PHI__FN const phi__mcp_era *phi__mcp_eras_find(phi_str version);
/* The newest with a handshake. */
PHI__FN const phi__mcp_era *phi__mcp_eras_legacy(void);
PHI__FN const phi__mcp_era *phi__mcp_eras_modern(void);

#endif
