/* section_in.h - the sections: each has a table, and functions that sections.c puts into its list;
   and what several of them need. */
#ifndef PHI_SECTIONS_SECTION_IN_H
#define PHI_SECTIONS_SECTION_IN_H

#include "config/config_in.h"

/* ---- section.c ---- */

/* "name" of a table for messages, from its name, else its id without braces; never empty. */
PHI__FN phi_str phi__sec_name(const phi_json *node);
/* True if a text begins with http:// or https://. */
PHI__FN bool phi__sec_is_address(const char *url);

/* Paths relative to the directory of the file, NULL-ended; NULL: no memory, or there are none. */
PHI__FN const char *const *phi__sec_places(phi__cfg_ground *ground, const phi__cfg_texts *paths);

/* ---- section_mcp.c, section_openapi.c: the table, begin, use and end ---- */

PHI__FN const phi__cfg_table *phi__table_mcp(void);
PHI__FN phi_status phi__sec_mcp_begin(phi__cfg_ground *ground, const phi_json *node, void **state);
PHI__FN phi_status phi__sec_mcp_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_mcp_end(void *state);

PHI__FN const phi__cfg_table *phi__table_openapi(void);
PHI__FN phi_status phi__sec_api_begin(phi__cfg_ground *ground, const phi_json *node, void **state);
PHI__FN phi_status phi__sec_api_use(void *state, phi__cfg_making *making);
PHI__FN void phi__sec_api_end(void *state);

#endif
