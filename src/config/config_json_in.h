/* config_json_in.h - members of settings as JSON: read with the first error kept, and written until
   there is no memory. */
#ifndef PHI_CONFIG_CONFIG_JSON_IN_H
#define PHI_CONFIG_CONFIG_JSON_IN_H

#include "config/config_json.h"
#include "text/json_in.h"

typedef struct phi__config_json {
    const char *error; /* the first; static */
} phi__config_json;

typedef struct phi__config_json_writer {
    phi_arena *arena;
    phi_json *node;
    bool no_memory;
} phi__config_json_writer;

/* ---- reading: a member that is missing or null leaves *out as it is ---- */

PHI__FN void phi__config_json_fail(phi__config_json *r, const char *error);
PHI__FN phi_status phi__config_json_end(const phi__config_json *r, const char **error);
/* The member; NULL: missing or null. */
PHI__FN const phi_json *phi__config_json_get(const phi_json *node, const char *key);
/* True: *out is set. */
PHI__FN bool phi__config_json_uint(phi__config_json *r, const phi_json *node, const char *key,
                                   uint64_t least, uint64_t most, uint64_t *out, const char *error);
PHI__FN bool phi__config_json_u32(phi__config_json *r, const phi_json *node, const char *key,
                                  uint32_t least, uint32_t *out, const char *error);
PHI__FN void phi__config_json_num(phi__config_json *r, const phi_json *node, const char *key,
                                  double least, double most, double *out, const char *error);
PHI__FN void phi__config_json_bool(phi__config_json *r, const phi_json *node, const char *key,
                                   bool *out, const char *error);
PHI__FN void phi__config_json_text(phi__config_json *r, const phi_json *node, const char *key,
                                   const char **out, const char *error);

/* ---- writing ---- */

PHI__FN phi__config_json_writer phi__config_json_begin(phi_arena *arena);
/* value NULL: no memory. */
PHI__FN void phi__config_json_put(phi__config_json_writer *w, const char *key, phi_json *value);
PHI__FN void phi__config_json_put_uint(phi__config_json_writer *w, const char *key, uint64_t value);
/* 0 is written as the fallback. */
PHI__FN void phi__config_json_put_or(phi__config_json_writer *w, const char *key, uint64_t value,
                                     uint64_t fallback);
PHI__FN void phi__config_json_put_num(phi__config_json_writer *w, const char *key, double value);
PHI__FN void phi__config_json_put_bool(phi__config_json_writer *w, const char *key, bool value);
/* NULL is written as null. */
PHI__FN void phi__config_json_put_text(phi__config_json_writer *w, const char *key,
                                       const char *value);
/* The tree; NULL: no memory. */
PHI__FN phi_json *phi__config_json_tree(const phi__config_json_writer *w);

/* ---- the parts: members as phi_settings_to_json says ---- */

/* A struct at NULL is written as a struct of zeros. Reading: as phi_settings_from_json. */ PHI__FN
phi_json *phi__config_json_limits_write(phi_arena *arena, const phi_limits *limits);
PHI__FN phi_status phi__config_json_limits_read(const phi_json *node, phi_limits *out,
                                                const char **error);
PHI__FN phi_json *phi__config_json_retry_write(phi_arena *arena, const phi_retry *retry);
PHI__FN phi_status phi__config_json_retry_read(const phi_json *node, phi_retry *out,
                                               const char **error);
PHI__FN phi_json *phi__config_json_cache_write(phi_arena *arena, const phi_cache *cache);
PHI__FN phi_status phi__config_json_cache_read(const phi_json *node, phi_cache *out,
                                               const char **error);
PHI__FN phi_json *phi__config_json_compaction_write(phi_arena *arena,
                                                    const phi_compaction_config *config);
PHI__FN phi_status phi__config_json_compaction_read(const phi_json *node,
                                                    phi_compaction_config *out, const char **error);
PHI__FN phi_json *phi__config_json_tool_mode_write(phi_arena *arena, phi_tool_mode mode,
                                                   uint32_t batch);
PHI__FN phi_status phi__config_json_tool_mode_read(const phi_json *node, phi_tool_mode *mode,
                                                   uint32_t *batch, const char **error);
PHI__FN phi_json *phi__config_json_thinking_write(phi_arena *arena, phi_thinking level);
PHI__FN phi_status phi__config_json_thinking_read(const phi_json *node, phi_thinking *out,
                                                  const char **error);
PHI__FN phi_json *phi__config_json_model_write(phi_arena *arena, const phi_model *model,
                                               uint32_t flags);
PHI__FN phi_status phi__config_json_model_read(const phi_json *node, phi_arena *arena,
                                               phi_model *out, const char **error);

#endif
