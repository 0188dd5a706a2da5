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

/* For phi_config_desc.sections and phi_config_schema. NULL-ended, static. Without the sections that
   a PHI_NO_ macro leaves out. */
PHI_API const phi_config_section *const *phi_config_sections(void);

/* The files that a configuration runs or heeds, for phi_permissions_desc.protected_paths: the file
   itself, and each word of its commands ([hooks], [callbacks], MCP servers) that may name a file,
   relative to the workspace and to the file's directory. The rules of its [permissions] protect
   them already. NULL-ended, in the arena. PHI_TOO_BIG: more than 500; PHI_BAD_ARG,
   PHI_NO_MEMORY. */
PHI_API phi_status phi_config_protected_paths(const phi_config *config, phi_arena *arena,
                                              const char *const **out);

#ifdef __cplusplus
}
#endif
#endif
