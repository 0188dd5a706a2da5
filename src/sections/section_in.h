/* section_in.h - functions of section_mcp.c and section_openapi.c for sections.c, and helpers of
   the sections. */
#ifndef PHI_SECTIONS_SECTION_IN_H
#define PHI_SECTIONS_SECTION_IN_H

#include "config/config_in.h"

/* ---- section.c ---- */

/* Returns a table's name for messages: its member "name", else its id without braces. Never
   empty. */
PHI__FN phi_str phi__sec_name(const phi_json *node);
/* True if the URL begins with http:// or https://. */
PHI__FN bool phi__sec_is_address(const char *url);

/* Resolves paths in the file's directory. The list is NULL-ended. NULL: no memory, or there are no
   paths. */
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
