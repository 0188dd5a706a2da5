/* toolset_in.h - a list of tools: an agent's, or those of one request. */
#ifndef PHI_LOOP_TOOLSET_IN_H
#define PHI_LOOP_TOOLSET_IN_H

#include "loop/loop_in.h"
#include "base/arena.h"
#include "loop/provider.h"
#include "loop/tool.h"
#include "loop/tool_source.h"
#include "model/tokens.h"
#include "text/json.h"
#include "wire/wire_in.h"

/* How a request differs from the set: a mark for each tool, and more tools after the set's. */
enum { PHI__TOOLSET_SHOWN = 0, PHI__TOOLSET_HIDDEN, PHI__TOOLSET_DEFERRED };

#endif
