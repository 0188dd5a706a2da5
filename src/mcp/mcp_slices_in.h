/* mcp_slices_in.h - long JSON texts of the other side, read into a tree a budget a step, so that no
   step takes long. Texts up to PHI__MCP_SLICES_WHOLE are read at once. */
#ifndef PHI_MCP_MCP_SLICES_IN_H
#define PHI_MCP_MCP_SLICES_IN_H

#include "base/arena_in.h"
#include "loop/loop_in.h"
#include "text/json_in.h"

enum { PHI__MCP_SLICES_WHOLE = 131072 };

/* In memory of the caller's, which zeroes it and sets `sliced`. */
typedef struct phi__mcp_slices phi__mcp_slices;
struct phi__mcp_slices {
    phi_runtime *rt;
    phi_arena arena; /* of the tree; the caller may take it out when the reading is over */
    phi__json_reader reader;
    phi__timer timer;
    /* After each slice, in phi_step. PHI_BUSY: more follow, unless it ends them. Else the reading
       is over, root may be NULL, and the caller ends it. */
    void (*sliced)(phi__mcp_slices *slices, phi_status status, phi_json *root);
};

/* text: borrowed until the end, or copied. Nothing is read before phi__mcp_slices_go, which cannot
   fail. PHI_NO_MEMORY: nothing has begun. */
PHI__FN phi_status phi__mcp_slices_begin(phi__mcp_slices *slices, phi_runtime *rt,
                                         phi_memory *memory, phi_str text, bool copy);
PHI__FN void phi__mcp_slices_go(phi__mcp_slices *slices); /* from the next step on */
PHI__FN void phi__mcp_slices_end(phi__mcp_slices *slices);

#endif
