/* deferral_in.h - deferred tools: a request names them, and their definitions are loaded on demand.

   By the provider's tool search, where it has one (phi__codec_rules.defers): the definitions are
   sent, marked, and the provider shows the model those that it has found. Else by two tools of phi,
   search_tools and load_tools: the system prompt ends with an index of names, and loaded tools are
   defined behind the other tools, in the order of loading, so that a request begins as the one
   before did. The results of load_tools in the view name the loaded tools; the agent keeps their
   names, which outlive a compaction, and are in its snapshots as "loaded_tools":["NAME",...]. */
#ifndef PHI_LOOP_DEFERRAL_IN_H
#define PHI_LOOP_DEFERRAL_IN_H

#include "loop/toolset_in.h"
#include "loop/types_in.h"

/* The names of tools loaded in an agent's conversation. */
typedef struct phi__deferral {
    phi_arena arena;
    phi_str *names;
    size_t count, cap;
} phi__deferral;

typedef enum phi__deferral_way {
    PHI__DEFERRAL_NONE = 0, /* no tool is deferred */
    PHI__DEFERRAL_NATIVE,
    PHI__DEFERRAL_OWN
} phi__deferral_way;

/* How the agent's effective tools are deferred for its model. */
typedef struct phi__deferral_plan {
    phi__deferral_way way;
    bool above; /* may_defer counts */
} phi__deferral_plan;

PHI__FN bool phi__deferral_defers(phi__deferral_plan plan, const phi_tool *tool);

/* By pointer: phi_feature_deferral names them. */
typedef struct phi__deferral_ops {
    phi__deferral_plan (*plan)(const phi__agent *agent);
    bool (*change)(phi__agent *agent, phi_arena *arena, phi__toolset_change *change,
                   phi_str *system_prompt);
    const phi_tool *(*find)(phi__agent *agent, phi_str name);
    const char *(*refuses)(const phi_tool *tools, size_t count);
    void (*free)(phi__agent *agent);
    void (*save)(phi__buf *out, const phi__agent *agent);
    bool (*load)(phi__agent *agent, const phi_json *names);
} phi__deferral_ops;

PHI__FN const phi__deferral_ops *phi__deferral_tools_ops(void);

/* What it changes in a request, and in its system prompt; in the arena. False: no memory. */
PHI__FN bool phi__deferral_change(phi__agent *agent, phi_arena *arena, phi__toolset_change *change,
                                  phi_str *system_prompt);
PHI__FN bool phi__deferral_is_loaded(const phi__agent *agent, phi_str name);

#endif
