/* tool_source.h - tools that come and go while an agent exists, such as the tools of a server, or
   of a place in a game.

       static const phi_tool_source *const sources[] = {&doors};
       desc.tool_options.sources = sources;
       desc.tool_options.source_count = 1;

   An agent asks each source for its version when the agent is made or restored, and when a run and
   each of its turns begin. If the version has changed, the agent takes the source's list and
   releases the previous list. Tool calls run inside turns, so no list changes during a call. The
   model sees the new list in the next request; PHI_EV_TOOLS_CHANGED names the tools that were added
   and removed.

   The agent's own tools come first, then the tools of the sources in order. If two tools have the
   same name, the first is used. A tool that phi_agent_new would refuse, or whose name is taken, is
   left out with a PHI_EV_WARNING. If one change leaves out more than 16 tools, one more warning
   gives the number of the others. PHI_SET_TOOLS replaces only the agent's own tools. A run of
   phi_prompt_with that sets `tools`, `allowed_tools` or `no_tools` keeps the list that it began
   with. */
#ifndef PHI_LOOP_TOOL_SOURCE_H
#define PHI_LOOP_TOOL_SOURCE_H

#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ownership: borrowed with its user_data until phi_agent_free has returned; if the agent is freed
              inside phi_step, until that step has returned. One source may serve many agents; each
              agent has its own lists.
   Threads:   the pumping thread. The functions must not call phi_ functions that take an agent or a
              runtime. */
typedef struct phi_tool_source {
    void *user_data;
    /* Returns a number that changes whenever the list changes. Must be fast, since it is called in
       every turn. */
    uint64_t (*version)(void *user_data);
    /* Gives the current list. The array, everything that it points to, and the user_data of its
       tools must not change until `release`. PHI_NO_MEMORY ends the run. After any other failure
       the agent keeps its list, with a PHI_EV_WARNING, until the version changes again. */
    phi_status (*take)(void *user_data, const phi_tool **tools, size_t *count);
    /* Called once for each `take` that returned PHI_OK, when no call uses its list any more. Gets
       the array from `take`, even an empty one. NULL: nothing to release. */
    void (*release)(void *user_data, const phi_tool *tools);
} phi_tool_source;

#ifdef __cplusplus
}
#endif
#endif
