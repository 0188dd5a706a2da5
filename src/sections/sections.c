/* sections.c - the list of sections, in the order in which an agent gets its parts: scripts come
   last, for they are called before the hooks that were there. */
#include "sections/sections.h"

#include "sections/section_in.h"

/* The top of a file as these sections see it. */
typedef struct phi__cfg_sections {
    uint64_t set;
    const phi_json *node;
} phi__cfg_sections;

static const phi__cfg_field phi__key_tools =
    PHI__C_TABLE_AS(sections, node, "tool_settings", TABLE, phi__table_tool_settings,
                    "Settings of built-in tools.");
static const phi_config_section phi__in_tools = {
    "tool_settings",      &phi__key_tools,    NULL,
    phi__sec_tools_begin, phi__sec_tools_use, phi__sec_tools_end};

#ifndef PHI_NO_FILES
static const phi__cfg_field phi__key_skills =
    PHI__C_TABLE_AS(sections, node, "skills", TABLE, phi__table_skills, "Where skills are.");
static const phi_config_section phi__in_skills = {
    "skills", &phi__key_skills, NULL, phi__sec_skill_begin, phi__sec_skill_use, phi__sec_skill_end};
#endif

static const phi__cfg_field phi__key_mcp =
    PHI__C_TABLE_AS(sections, node, "mcp", TABLE, phi__table_mcp, "MCP servers.");
static const phi_config_section phi__in_mcp = {
    "mcp", &phi__key_mcp, "mcp", phi__sec_mcp_begin, phi__sec_mcp_use, phi__sec_mcp_end};

static const phi__cfg_field phi__key_openapi =
    PHI__C_TABLE_AS(sections, node, "openapi", TABLE, phi__table_openapi, "OpenAPI documents.");
static const phi_config_section phi__in_openapi = {"openapi",        &phi__key_openapi,
                                                   "openapi",        phi__sec_api_begin,
                                                   phi__sec_api_use, phi__sec_api_end};

static const phi__cfg_field phi__key_permissions = PHI__C_TABLE_AS(
    sections, node, "permissions", TABLE, phi__table_permissions, "Which tool calls may run.");
static const phi_config_section phi__in_permissions = {
    "permissions",       &phi__key_permissions, NULL,
    phi__sec_perm_begin, phi__sec_perm_use,     phi__sec_perm_end};

#ifndef PHI_NO_PROCESS
static const phi__cfg_field phi__key_callbacks =
    PHI__C_TABLE_AS(sections, node, "callbacks", TABLE, phi__table_callbacks,
                    "Programs that are run at points of a run.");
static const phi_config_section phi__in_callbacks = {
    "callbacks",           &phi__key_callbacks, NULL,
    phi__sec_script_begin, phi__sec_script_use, phi__sec_script_end};
static const phi__cfg_field phi__key_hooks =
    PHI__C_TABLE_AS(sections, node, "hooks", TABLE, phi__table_callbacks, "As callbacks.");
static const phi_config_section phi__in_hooks = {"hooks", &phi__key_hooks, NULL, NULL, NULL, NULL};
#endif

/* ---- public ---- */

PHI_API const phi_config_section *const *phi_config_sections(void) {
    static const phi_config_section *const list[] = {&phi__in_tools,
#ifndef PHI_NO_FILES
                                                     &phi__in_skills,
#endif
                                                     &phi__in_mcp,
                                                     &phi__in_openapi,
                                                     &phi__in_permissions,
#ifndef PHI_NO_PROCESS
                                                     &phi__in_callbacks,
                                                     &phi__in_hooks,
#endif
                                                     NULL};
    return list;
}
