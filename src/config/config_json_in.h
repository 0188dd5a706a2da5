/* config_json_in.h - members of settings as JSON: read with the first error kept, and written until
   there is no memory. */
#ifndef PHI_CONFIG_CONFIG_JSON_IN_H
#define PHI_CONFIG_CONFIG_JSON_IN_H

#include "config/config_in.h"
#include "config/config_json.h"
#include "text/text_in.h"

/* ---- the parts: members as phi_settings_to_json says ---- */

/* A struct at NULL is written as a struct of zeros. Reading: as phi_settings_from_json. */
PHI__FN
phi_json *phi__set_limits_write(phi_arena *arena, const phi_limits *limits);
PHI__FN phi_status phi__set_limits_read(const phi_json *node, phi_limits *out, const char **error);
PHI__FN phi_json *phi__set_retry_write(phi_arena *arena, const phi_retry *retry);
PHI__FN phi_status phi__set_retry_read(const phi_json *node, phi_retry *out, const char **error);
PHI__FN phi_json *phi__set_cache_write(phi_arena *arena, const phi_cache *cache);
PHI__FN phi_status phi__set_cache_read(const phi_json *node, phi_cache *out, const char **error);
PHI__FN phi_json *phi__set_compaction_write(phi_arena *arena, const phi_compaction_config *config);
PHI__FN phi_status phi__set_compaction_read(const phi_json *node, phi_compaction_config *out,
                                            const char **error);
PHI__FN phi_json *phi__set_tool_mode_write(phi_arena *arena, phi_tool_mode mode, uint32_t batch);
PHI__FN phi_status phi__set_tool_mode_read(const phi_json *node, phi_tool_mode *mode,
                                           uint32_t *batch, const char **error);
PHI__FN phi_json *phi__set_thinking_write(phi_arena *arena, phi_thinking level);
PHI__FN phi_status phi__set_thinking_read(const phi_json *node, phi_thinking *out,
                                          const char **error);
PHI__FN phi_json *phi__set_model_write(phi_arena *arena, const phi_model *model, uint32_t flags);
PHI__FN phi_status phi__set_model_read(const phi_json *node, phi_arena *arena, phi_model *out,
                                       const char **error);

#endif
