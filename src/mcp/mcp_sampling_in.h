/* mcp_sampling_in.h - an answer of an agent's model for a server (sampling): one model call of a
   hidden agent below it, whose history is the server's messages. */
#ifndef PHI_MCP_MCP_SAMPLING_IN_H
#define PHI_MCP_MCP_SAMPLING_IN_H

#include "base/buf_in.h"
#include "loop/state_in.h"

typedef struct phi__mcp_sampling {
    phi_agent child; /* rt NULL: none */
    phi_memory *memory;
    bool tools;      /* the request has some, so its answer may be a list of blocks */
    phi_arena arena; /* the child's tools */
    /* Once, from phi_step: the result as JSON text, or, with PHI_OK not, a message. The child is
       gone. */
    void (*done)(void *ctx, phi_status status, phi_str result);
    void *ctx;
} phi__mcp_sampling;

/* params: of sampling/createMessage. `sampling` must stay until done or drop. PHI_OK: `done` will
   be called; else it will not, and *words says why: static, or phi_last_error's. */
PHI__FN phi_status phi__mcp_sampling_start(phi__mcp_sampling *sampling, phi__agent *agent,
                                           const phi_json *params, const char **words);
PHI__FN void phi__mcp_sampling_drop(phi__mcp_sampling *sampling); /* without `done` */
/* The result that a host has written itself: a text, or {"content":..}. False: no memory. */
PHI__FN bool phi__mcp_sampling_own(const phi__agent *agent, phi_arena *arena, phi_str reply,
                                   phi__buf *out);

#endif
