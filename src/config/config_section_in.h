/* config_section_in.h - a section of the configuration that a room above brings: its table, and the
   functions that give agents what the section says. */
#ifndef PHI_CONFIG_CONFIG_SECTION_IN_H
#define PHI_CONFIG_CONFIG_SECTION_IN_H

#include "config/config_agents.h"
#include "config/config_in.h"
#include "loop/tool_source.h"
#include "agent/profile.h"

/* What sections see of a phi_agents. */
typedef struct phi__config_ground {
    phi_runtime *rt;
    const phi_config *config;
    phi_agents_desc desc; /* zero where the host gave none */
    phi_memory *memory;
    phi_arena *arena; /* freed after the agents and all states */
    phi__config_problems *problems;
    const char *directory; /* of the file, terminated; "." where it has none */
    bool check_only;
} phi__config_ground;

/* An agent, or the settings of a sub-agent, under construction. */
typedef struct phi__config_making {
    phi__config_ground *ground;
    const char *name;
    const phi_json *node; /* its table; NULL: the default agent */
    const phi_json *base; /* [agent]; NULL: none, or a sub-agent */
    bool is_child;
    bool has_own_key; /* a sub-agent whose key is not that of the agent it works for */
    phi_agent_desc *desc;
    const phi_agent_desc *top; /* of the agent that a sub-agent works for; its own: an agent */
    phi_profile profile;       /* desc->profile points to it */
    const char *workspace;     /* as it goes into the desc */
    const phi_json *place;     /* that names the workspace; NULL: the host's, or none */
    const phi_json *names;     /* the list of tools; NULL: none */
    bool *known;               /* of each of them: somebody has it */
    const char **offered;      /* names of tools that there are, for messages */
    size_t offered_count, offered_cap;
    phi_tool *tools;
    size_t tool_count, tool_cap;
    const phi_tool_source **sources;
    size_t source_count, source_cap;
    size_t at;            /* of a section that said PHI_BUSY: the entity it works on */
    void *work;           /* the same; NULL at first */
    const phi_json *list; /* of config_agents.c: that phi__config_making_used walks, or NULL */
    phi_json_iter items;
    size_t list_at; /* items before the next */
} phi__config_making;

/* An entity that an agent uses. */
typedef struct phi__config_used {
    const phi_json *node; /* its table */
    const phi_json *from; /* the reference, for messages; or the table itself */
    bool keep;            /* shared with other agents that keep it */
} phi__config_used;

struct phi_config_section {
    const char *name;               /* "mcp": its key at the top of a file */
    const phi__config_field *field; /* of the top: TABLE or TABLES */
    const char *space;              /* namespace of its instances; NULL: none */
    /* Checks, and begins what agents share. node NULL: the file does not have the section. *state
       is handed to the others; problems are added to the ground's. Anything but PHI_OK ends all.
       NULL: the section has no functions. */
    phi_status (*begin)(phi__config_ground *ground, const phi_json *node, void **state);
    /* Gives one agent its part. PHI_BUSY: again after phi_step, with the same making. Of
       check_only nothing is opened. */
    phi_status (*use)(void *state, phi__config_making *making);
    /* The agents are freed already. */
    void (*end)(void *state);
};

/* ---- config_agents.c ---- */

/* Entity `i` that the agent uses: of its own list under `key`, else [agent]'s, else all of the
   section's instances, shared; a sub-agent has only those of its own list. False: no more. */
PHI__FN bool phi__config_making_used(phi__config_making *making, const char *key, const char *space,
                                     const phi_json *section, size_t i, phi__config_used *out);
/* Adds a tool, unless there is one of that name. PHI_NO_MEMORY. */
PHI__FN phi_status phi__config_making_tool(phi__config_making *making, const phi_tool *tool);
PHI__FN phi_status phi__config_making_source(phi__config_making *making,
                                             const phi_tool_source *source);
/* Says that a tool of that name exists; true: the agent's list has it. `name` is borrowed as long
   as the making. */
PHI__FN bool phi__config_making_offer(phi__config_making *making, const char *name);
/* Takes every name for known: tools that only a document says, which is not read now. */
PHI__FN void phi__config_making_trust(phi__config_making *making);

/* ---- config_load.c ---- */

/* `path`, relative to `directory` unless it is absolute; in the arena. NULL: no memory. */
PHI__FN const char *phi__config_place_join(phi_arena *arena, const char *directory,
                                           const char *path);
/* Absolute, without links; in the arena. *out NULL: it cannot be resolved, and a problem of the
   node and the field says why. PHI_NO_MEMORY; PHI_UNSUPPORTED: PHI_NO_FILES, without a problem. */
PHI__FN phi_status phi__config_place_absolute(phi__config_ground *ground, const phi_json *node,
                                              const char *field, const char *path,
                                              const char **out);

/* ---- config_settings.c ---- */

/* A problem with a message of parts, as printf. Longer ones than 500 bytes are cut. */
PHI__FN void phi__config_words_error(phi__config_ground *ground, const phi_json *node,
                                     phi_status status, const char *field, const char *format, ...)
    PHI_PRINTF(5, 6);
PHI__FN void phi__config_words_warning(phi__config_ground *ground, const phi_json *node,
                                       const char *field, const char *format, ...) PHI_PRINTF(4, 5);
/* The name most like `name`, for "did you mean"; NULL: none is near. */
PHI__FN const char *phi__config_words_nearest(phi_str name, const char *const *names, size_t count);

#endif
