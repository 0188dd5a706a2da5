/* tool_source.h - tools that come and go while an agent lives: a server's, or a game's places.

       static const phi_tool_source *const sources[] = {&doors};
       desc.tool_options.sources = sources;
       desc.tool_options.source_count = 1;

   An agent asks each source for its version when the agent is made or restored, and when a run and
   each of its turns begin. Where the number is another one, the agent takes the source's list and
   gives the one before back. Tool calls run inside turns, so no list changes below a call. The
   model sees the new list in the next request, PHI_EV_TOOLS_CHANGED names the tools added and
   removed.

   The agent's own tools come first, then the sources in order. If two tools have one name, the
   first counts. A tool that phi_agent_new would refuse, or whose name is taken, is left out with
   a PHI_EV_WARNING; from the 17th of an exchange on, one warning counts them.
   PHI_SET_TOOLS replaces the agent's own tools alone. A run of phi_prompt_with with `tools`,
   `allowed_tools` or `no_tools` keeps the list it began with. */
#ifndef PHI_LOOP_TOOL_SOURCE_H
#define PHI_LOOP_TOOL_SOURCE_H

#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ownership: borrowed, with user_data, until phi_agent_free has returned; freed inside of a
              phi_step, until that step is over. One source may serve many agents, each with its own
              lists.
   Threads:   the pumping thread. The functions must not call any phi_ function with an agent or a
              runtime. */
typedef struct phi_tool_source {
    void *user_data;
    /* A number that changes with the list: a look at a field, for it is called in every turn. */
    uint64_t (*version)(void *user_data);
    /* The list as it is now. The array and all that it points to stay as they are until `release`;
       the user_data of its tools too. PHI_NO_MEMORY ends the run; for any other failure the agent
       keeps the list that it has, with a PHI_EV_WARNING, until the version is another one. */
    phi_status (*take)(void *user_data, const phi_tool **tools, size_t *count);
    /* Called once for each take that said PHI_OK, with its array, also where that is empty: no call
       uses the list any more. NULL: nothing is to be done. */
    void (*release)(void *user_data, const phi_tool *tools);
} phi_tool_source;

#ifdef __cplusplus
}
#endif
#endif
