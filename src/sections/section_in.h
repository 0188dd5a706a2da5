/* section_in.h - the sections: each has a table, and functions that sections.c puts into its
   list. */
#ifndef PHI_SECTIONS_SECTION_IN_H
#define PHI_SECTIONS_SECTION_IN_H

#include "config/config_in.h"
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

PHI__FN const phi__cfg_table *phi__sec_tools_table(void);
PHI__FN phi_status phi__sec_tools_begin(phi__cfg_ground *ground, const phi_json *node,
                                        void **state);
PHI__FN phi_status phi__sec_tools_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_tools_end(void *state);

#ifndef PHI_NO_FILES
PHI__FN const phi__cfg_table *phi__sec_skills_table(void);
PHI__FN phi_status phi__sec_skills_begin(phi__cfg_ground *ground, const phi_json *node,
                                         void **state);
PHI__FN phi_status phi__sec_skills_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_skills_end(void *state);
#endif

PHI__FN const phi__cfg_table *phi__sec_mcp_table_top(void);
PHI__FN phi_status phi__sec_mcp_begin(phi__cfg_ground *ground, const phi_json *node, void **state);
PHI__FN phi_status phi__sec_mcp_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_mcp_end(void *state);

typedef struct phi__cfg_mcp_server {
    uint64_t set;
    const char *id, *name, *description, *cwd, *url, *era, *name_prefix, *log_level;
    const phi_json *command, *env, *headers, *oauth;
    phi__cfg_texts args, answers, roots;
    uint32_t max_restarts, restart_delay_ms, close_ms;
    uint32_t connect_timeout_ms, timeout_ms, max_timeout_ms, max_list;
    uint64_t max_message_bytes;
    bool hide_keys, no_restart, needs_approval, hold_changed_tools, required;
    bool deferred, never_deferred;
} phi__cfg_mcp_server;

typedef struct phi__cfg_oauth {
    uint64_t set;
    const char *client_id, *client_secret, *issuer, *client_metadata_url, *client_name;
    const char *client_uri, *scope, *redirect_uri;
    phi_mcp_grant grant;
    phi_mcp_client_auth client_auth;
    uint32_t redirect_port, timeout_ms;
    bool web_application, no_offline_access, allow_private, no_legacy;
} phi__cfg_oauth;

/* section_mcp.c */
PHI__FN const phi__cfg_table *phi__sec_mcp_table_instance(void);
PHI__FN const phi__cfg_table *phi__sec_mcp_table_oauth(void);

PHI__FN const phi__cfg_table *phi__sec_openapi_table(void);
PHI__FN phi_status phi__sec_openapi_begin(phi__cfg_ground *ground, const phi_json *node,
                                          void **state);
PHI__FN phi_status phi__sec_openapi_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_openapi_end(void *state);

PHI__FN const phi__cfg_table *phi__sec_perm_table(void);
PHI__FN phi_status phi__sec_perm_begin(phi__cfg_ground *ground, const phi_json *node, void **state);
PHI__FN phi_status phi__sec_perm_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_perm_end(void *state);

#ifndef PHI_NO_PROCESS
PHI__FN const phi__cfg_table *phi__sec_scripts_table(void);       /* [callbacks] */
PHI__FN const phi__cfg_table *phi__sec_scripts_hooks_table(void); /* [hooks] */
/* For both: the node is that of [callbacks]. */
PHI__FN phi_status phi__sec_scripts_begin(phi__cfg_ground *ground, const phi_json *node,
                                          void **state);
PHI__FN phi_status phi__sec_scripts_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_scripts_end(void *state);
#endif

#endif
