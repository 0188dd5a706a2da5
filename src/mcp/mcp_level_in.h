/* mcp_level_in.h - the levels of log messages. */
#ifndef PHI_MCP_MCP_LEVEL_IN_H
#define PHI_MCP_MCP_LEVEL_IN_H

#include "base/base_in.h"

/* NONE is above all: no message has it. */
enum { PHI__MCP_LEVEL_INFO = 1, PHI__MCP_LEVEL_NONE = 8 };

/* From 0, "debug", to 7, "emergency"; -1: unknown. */
PHI__FN int phi__mcp_level_of(phi_str name);

#endif
