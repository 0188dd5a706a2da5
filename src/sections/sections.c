/* sections.c - the list of sections, in the order in which an agent gets its parts: scripts come
   last, for they are called before the hooks that were there. */
#include "sections/sections.h"

#include "sections/section_in.h"

/* The top of a file as these sections see it. */
typedef struct phi__cfg_sections {
    uint64_t set;
    const phi_json *node;
} phi__cfg_sections;

static const phi__cfg_field phi__sections_tools_field = PHI__C_TABLE_AS(
    sections, node, "tool_settings", phi__sec_tools_table, "Settings of built-in tools.");
static const phi_config_section phi__sections_tools = {
    "tool_settings",      &phi__sections_tools_field, NULL,
    phi__sec_tools_begin, phi__sec_tools_use,         phi__sec_tools_end};

#ifndef PHI_NO_FILES
static const phi__cfg_field phi__sections_skills_field =
    PHI__C_TABLE_AS(sections, node, "skills", phi__sec_skills_table, "Where skills are.");
static const phi_config_section phi__sections_skills = {"skills",
                                                        &phi__sections_skills_field,
                                                        NULL,
                                                        phi__sec_skills_begin,
                                                        phi__sec_skills_use,
                                                        phi__sec_skills_end};
#endif

static const phi__cfg_field phi__sections_mcp_field =
    PHI__C_TABLE_AS(sections, node, "mcp", phi__sec_mcp_table_top, "MCP servers.");
static const phi_config_section phi__sections_mcp = {
    "mcp", &phi__sections_mcp_field, "mcp", phi__sec_mcp_begin, phi__sec_mcp_use, phi__sec_mcp_end};

static const phi__cfg_field phi__sections_openapi_field =
    PHI__C_TABLE_AS(sections, node, "openapi", phi__sec_openapi_table, "OpenAPI documents.");
static const phi_config_section phi__sections_openapi = {"openapi",
                                                         &phi__sections_openapi_field,
                                                         "openapi",
                                                         phi__sec_openapi_begin,
                                                         phi__sec_openapi_use,
                                                         phi__sec_openapi_end};

static const phi__cfg_field phi__sections_permissions_field = PHI__C_TABLE_AS(
    sections, node, "permissions", phi__sec_perm_table, "Which tool calls may run.");
static const phi_config_section phi__sections_permissions = {"permissions",
                                                             &phi__sections_permissions_field,
                                                             NULL,
                                                             phi__sec_perm_begin,
                                                             phi__sec_perm_use,
                                                             phi__sec_perm_end};

#ifndef PHI_NO_PROCESS
static const phi__cfg_field phi__sections_callbacks_field =
    PHI__C_TABLE_AS(sections, node, "callbacks", phi__sec_scripts_table,
                    "Programs that are run at points of a run.");
static const phi_config_section phi__sections_callbacks = {"callbacks",
                                                           &phi__sections_callbacks_field,
                                                           NULL,
                                                           phi__sec_scripts_begin,
                                                           phi__sec_scripts_use,
                                                           phi__sec_scripts_end};
static const phi__cfg_field phi__sections_hooks_field =
    PHI__C_TABLE_AS(sections, node, "hooks", phi__sec_scripts_hooks_table, "As callbacks.");
static const phi_config_section phi__sections_hooks = {
    "hooks", &phi__sections_hooks_field, NULL, NULL, NULL, NULL};
#endif

/* ---- public ---- */

PHI_API const phi_config_section *const *phi_config_sections(void) {
    static const phi_config_section *const list[] = {&phi__sections_tools,
#ifndef PHI_NO_FILES
                                                     &phi__sections_skills,
#endif
                                                     &phi__sections_mcp,
                                                     &phi__sections_openapi,
                                                     &phi__sections_permissions,
#ifndef PHI_NO_PROCESS
                                                     &phi__sections_callbacks,
                                                     &phi__sections_hooks,
#endif
                                                     NULL};
    return list;
}
