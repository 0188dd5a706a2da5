/* section_in.h - the sections: each has a table, and functions that sections.c puts into its
   list. */
#ifndef PHI_SECTIONS_SECTION_IN_H
#define PHI_SECTIONS_SECTION_IN_H

#include "config/config_in.h"
#include "mcp/mcp.h"
#include "mcp/mcp_oauth.h"

/* ---- section.c ---- */

/* "name" of a table for messages, from its name, else its id without braces; never empty. */
PHI__FN phi_str phi__sec_name(const phi_json *node);
/* True if a text begins with http:// or https://. */
PHI__FN bool phi__sec_is_address(const char *url);

/* A table of texts as a list in the arena. */
typedef struct phi__sec_pair {
    const char *name, *value;
} phi__sec_pair;
/* False: no memory. *count 0: there are none. */
PHI__FN bool phi__sec_pairs(phi_arena *arena, const phi_json *map, const phi__sec_pair **out,
                            size_t *count);

/* Paths relative to the directory of the file, NULL-ended; NULL: no memory, or there are none. */
PHI__FN const char *const *phi__sec_places(phi__cfg_ground *ground, const phi__cfg_texts *paths);

/* ---- each section: its table, begin, use and end ---- */

PHI__FN const phi__cfg_table *phi__table_tool_settings(void);
PHI__FN phi_status phi__sec_tools_begin(phi__cfg_ground *ground, const phi_json *node,
                                        void **state);
PHI__FN phi_status phi__sec_tools_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_tools_end(void *state);

#ifndef PHI_NO_FILES
PHI__FN const phi__cfg_table *phi__table_skills(void);
PHI__FN phi_status phi__sec_skill_begin(phi__cfg_ground *ground, const phi_json *node,
                                        void **state);
PHI__FN phi_status phi__sec_skill_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_skill_end(void *state);
#endif

PHI__FN const phi__cfg_table *phi__table_mcp(void);
PHI__FN phi_status phi__sec_mcp_begin(phi__cfg_ground *ground, const phi_json *node, void **state);
PHI__FN phi_status phi__sec_mcp_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_mcp_end(void *state);

typedef struct phi__cfg_mcp_server {
    uint64_t set;
    const char *id, *name, *description, *cwd;
    const phi_json *command, *env, *headers, *oauth;
    phi__cfg_texts args, roots;
    uint64_t max_message_bytes;
    bool required;
    phi_mcp_desc desc; /* its plain fields */
} phi__cfg_mcp_server;

typedef struct phi__cfg_oauth {
    uint64_t set;
    phi_mcp_oauth_desc desc;
} phi__cfg_oauth;

/* section_mcp.c */
PHI__FN const phi__cfg_table *phi__table_mcp_instance(void);
PHI__FN const phi__cfg_table *phi__table_mcp_oauth(void);

PHI__FN const phi__cfg_table *phi__table_openapi(void);
PHI__FN phi_status phi__sec_api_begin(phi__cfg_ground *ground, const phi_json *node, void **state);
PHI__FN phi_status phi__sec_api_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_api_end(void *state);

PHI__FN const phi__cfg_table *phi__table_permissions(void);
PHI__FN phi_status phi__sec_perm_begin(phi__cfg_ground *ground, const phi_json *node, void **state);
PHI__FN phi_status phi__sec_perm_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_perm_end(void *state);

#ifndef PHI_NO_PROCESS
PHI__FN const phi__cfg_table *phi__table_callbacks(void); /* of [hooks], too */
/* For both: the node is that of [callbacks]. */
PHI__FN phi_status phi__sec_script_begin(phi__cfg_ground *ground, const phi_json *node,
                                         void **state);
PHI__FN phi_status phi__sec_script_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_script_end(void *state);
#endif

#endif
