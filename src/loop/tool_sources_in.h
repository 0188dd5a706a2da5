/* tool_sources_in.h - the tool sources of an agent: whose lists it has taken, and which of their
   tools are in its toolset. An agent without sources has none of this (agent->sources is NULL). */
#ifndef PHI_LOOP_TOOL_SOURCES_IN_H
#define PHI_LOOP_TOOL_SOURCES_IN_H

#include "loop/tool_source.h"
#include "loop/types_in.h"

typedef struct phi__tool_sources phi__tool_sources;

/* Of an agent that is being made; no list is taken yet. The array is copied into the agent's arena.
   False: no memory. */
PHI__FN bool phi__tool_sources_make(phi__agent *agent, const phi_tool_source *const *sources,
                                    size_t count);
/* Asks for versions, and takes the lists that have changed into agent->toolset; not below open
   calls. quiet: without PHI_EV_TOOLS_CHANGED. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__tool_sources_refresh(phi__agent *agent, bool quiet);
/* The agent has other tools of its own, which were checked. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__tool_sources_own(phi__agent *agent, const phi_tool *tools, size_t count);
/* What tools must fit has changed: the next refresh checks all of them. */
PHI__FN void phi__tool_sources_recheck(phi__agent *agent);
/* Gives all lists back: the agent goes, and its calls are gone. */
PHI__FN void phi__tool_sources_free(phi__agent *agent);

/* By pointer: phi_feature_tool_sources names them. */
typedef struct phi__sources_ops {
    bool (*make)(phi__agent *agent, const phi_tool_source *const *sources, size_t count);
    phi_status (*refresh)(phi__agent *agent, bool quiet);
    phi_status (*own)(phi__agent *agent, const phi_tool *tools, size_t count);
    void (*free)(phi__agent *agent);
} phi__sources_ops;
PHI__FN const phi__sources_ops *phi__tool_sources_ops(void);

#endif
