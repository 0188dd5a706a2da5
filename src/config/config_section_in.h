/* config_section_in.h - a section of the configuration that a room above brings: its table, and the
   factory that makes of it what agents borrow. */
#ifndef PHI_CONFIG_CONFIG_SECTION_IN_H
#define PHI_CONFIG_CONFIG_SECTION_IN_H

#include "config/config_agents.h"
#include "config/config_in.h"

#ifndef PHI_NO_CONFIG

/* An agent, or a child's settings, under construction. C2 owns this struct. */
typedef struct phi__config_making phi__config_making;

struct phi_config_section {
    const char *name;               /* "mcp": its key at the top of a file */
    const phi__config_field *field; /* of the top: TABLE or TABLES */
    const char *space;              /* namespace of its instances; NULL: none */
    /* Begins what all agents share; *state is handed to the others. Problems are added to the list.
       check_only: nothing is opened. */
    phi_status (*begin)(phi_agents *agents, const phi_json *node, bool check_only, void **state);
    phi_status (*step)(void *state); /* PHI_BUSY: again after phi_step; NULL: begin did all */
    /* Gives one agent its part: adds tools, sources, hooks to its desc. */
    phi_status (*use)(void *state, phi__config_making *making);
    void (*end)(void *state); /* the agents are freed already */
};

#endif
#endif
