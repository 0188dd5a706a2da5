/* sections.h - the sections of a configuration that need phi_tools.h: built-in tools and their
   settings, skills, MCP servers, OpenAPI documents, permissions, and hooks that are scripts.

       phi_config_desc from = PHI_ZERO;
       from.path = "agent.toml";
       from.sections = phi_config_sections();

   docs/configuration.md lists their fields. */
#ifndef PHI_SECTIONS_SECTIONS_H
#define PHI_SECTIONS_SECTIONS_H

#include "config/config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a static list for phi_config_desc.sections and phi_config_schema, NULL-ended. Sections
   that a PHI_NO_ macro leaves out are not in the list. */
PHI_API const phi_config_section *const *phi_config_sections(void);

/* Lists the files that a configuration runs or reads, for phi_permissions_desc.protected_paths. The
   list has the configuration file, and each word of its commands ([hooks], [callbacks], MCP
   servers) that may name a file. A relative path is listed twice, relative to the workspace and to
   the file's directory. The file's own [permissions] already protect all these files. The list is
   NULL-ended and in the arena. PHI_TOO_BIG: more than 500 paths. */
PHI_API phi_status phi_config_protected_paths(const phi_config *config, phi_arena *arena,
                                              const char *const **out);

#ifdef __cplusplus
}
#endif
#endif
