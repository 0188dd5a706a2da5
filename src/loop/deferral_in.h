/* deferral_in.h - deferred tools: a request names them, and their definitions are loaded on demand.

   By the provider's tool search, where it has one (phi__codec_rules.defers): the definitions are
   sent, marked, and the provider shows the model those that it has found. Else by two tools of phi,
   search_tools and load_tools: the system prompt ends with an index of names, and loaded tools are
   defined behind the other tools, in the order of loading, so that a request begins as the one
   before did. The results of load_tools in the view name the loaded tools; the agent keeps their
   names, which outlive a compaction, and are in its snapshots as "loaded_tools":["NAME",...]. */
#ifndef PHI_LOOP_DEFERRAL_IN_H
#define PHI_LOOP_DEFERRAL_IN_H

#include "loop/loop_in.h"
#include "loop/toolset_in.h"

PHI__FN bool phi__defer_defers(phi__defer_plan plan, const phi_tool *tool);
PHI__FN bool phi__defer_is_loaded(const phi__agent *agent, phi_str name);

#endif
