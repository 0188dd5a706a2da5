/* mcp_toolbox_in.h - one list of a server's tools, as agents and hosts see it.

   A box is made from definitions, at once, and never changes but for what `held` says; agents use
   it until the last of them has released it. */
#ifndef PHI_MCP_MCP_TOOLBOX_IN_H
#define PHI_MCP_MCP_TOOLBOX_IN_H

#include "mcp/mcp_in.h"
#include "base/base_in.h"
#include "mcp/mcp_tools.h"
#include "text/text_in.h"

/* A tool; user_data of its phi_tool. */
typedef struct phi__mcp_tool {
    phi_mcp *mcp;
    phi_mcp_tool shown;
    phi_str definition;     /* JSON text that was hashed */
    const phi_json *output; /* the output schema; NULL: none that can be checked */
    const phi_json *marked; /* the input schema with its marks for headers; NULL: none */
    bool task;              /* 2025-11-25: its calls must ask for a task */
    char hash[65];
} phi__mcp_tool;

/* What a box is made from. */
typedef struct phi__definition {
    phi_str original;
    phi_str definition;
    bool held; /* a definition that was accepted earlier, in place of a new one */
} phi__definition;

typedef struct phi__toolbox {
    phi__link link;
    phi_arena arena;
    phi_tool *tools; /* count of each */
    phi__mcp_tool *items;
    size_t count;
    uint64_t version;
    size_t users; /* agents, and the connection itself */
} phi__toolbox;

/* Warns of a tool that is left out. */
typedef void (*phi__toolbox_warn_fn)(void *ctx, phi_str original, const char *message);

/* The text by which definitions are compared: name, title, description, schemas, annotations,
   execution. In the arena. False: no memory. */
PHI__FN bool phi__toolbox_define(const phi_json *tool, phi_arena *arena, phi_str *out);

/* Makes a box with one user. functions: of a phi_tool, those that serve calls. marks: schemas are
   checked for headers. PHI_NO_MEMORY. */
PHI__FN phi_status phi__toolbox_new(phi_mcp *mcp, const phi__definition *definitions, size_t count,
                                    bool marks, const phi_tool *functions,
                                    phi__toolbox_warn_fn warn, void *ctx, phi__toolbox **out);
PHI__FN void phi__toolbox_free(phi_mcp *mcp, phi__toolbox *box);

#endif
