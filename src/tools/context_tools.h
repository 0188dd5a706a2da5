/* context_tools.h - tools by which a model edits its own view: prun, prun_with_memo,
   revert_to_state.

       phi_tool tools[PHI_CONTEXT_TOOLS];
       phi_tools_context(tools);
       desc.tools = tools;   // desc: a phi_agent_desc
       desc.tool_count = 2;  // prun and prun_with_memo

   phi_tools_init does not include these tools: give them to each agent that should have them. The
   tools only call phi_call_edit. They have no state, so one tool serves any number of agents. */
#ifndef PHI_TOOLS_CONTEXT_TOOLS_H
#define PHI_TOOLS_CONTEXT_TOOLS_H

#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_CONTEXT_TOOLS = 3 };

/* Fills out[0] with prun {tokens}, out[1] with prun_with_memo {tokens, memo}, and out[2] with
   revert_to_state {category, step, summary}. An agent may have only some of them. If it has
   revert_to_state, each tool result ends with a line "[step n12]". PHI_BAD_ARG: out is NULL. */
PHI_API phi_status phi_tools_context(phi_tool *out);

#ifdef __cplusplus
}
#endif
#endif
