/* settings.c - the settings of an agent as one tree of JSON, out of its parts. */
#include "config/config_json_in.h"

#include <stdio.h>

PHI_API phi_status phi_settings_to_json(const phi_settings *settings, uint32_t flags,
                                        phi_arena *arena, phi_str *out) {
    phi__config_json_writer w;
    const phi_json *tree;
    if (arena == NULL || settings == NULL || out == NULL) return PHI_BAD_ARG;
    w = phi__config_json_begin(arena);
    phi__config_json_put(&w, "limits", phi__config_json_limits_write(arena, &settings->limits));
    phi__config_json_put(&w, "retry", phi__config_json_retry_write(arena, &settings->retry));
    phi__config_json_put(&w, "cache", phi__config_json_cache_write(arena, &settings->cache));
    phi__config_json_put(&w, "context",
                         phi__config_json_compaction_write(arena, &settings->compaction));
    phi__config_json_put(
        &w, "tool_execution",
        phi__config_json_tool_mode_write(arena, settings->tool_mode, settings->tool_batch));
    phi__config_json_put(&w, "thinking_level",
                         phi__config_json_thinking_write(arena, settings->thinking));
    phi__config_json_put(&w, "model", phi__config_json_model_write(arena, &settings->model, flags));
    tree = phi__config_json_tree(&w);
    return tree != NULL ? phi_json_write(arena, tree, 0, out) : PHI_NO_MEMORY;
}

static phi_status phi__settings_read(const phi_json *node, phi_arena *arena, phi_settings *out,
                                     const char **error) {
    const phi_json *part = phi__config_json_get(node, "limits");
    phi_status status = PHI_OK;
    if (part != NULL) status = phi__config_json_limits_read(part, &out->limits, error);
    part = phi__config_json_get(node, "retry");
    if (status == PHI_OK && part != NULL)
        status = phi__config_json_retry_read(part, &out->retry, error);
    part = phi__config_json_get(node, "cache");
    if (status == PHI_OK && part != NULL)
        status = phi__config_json_cache_read(part, &out->cache, error);
    part = phi__config_json_get(node, "context");
    if (status == PHI_OK && part != NULL)
        status = phi__config_json_compaction_read(part, &out->compaction, error);
    part = phi__config_json_get(node, "tool_execution");
    if (status == PHI_OK && part != NULL)
        status = phi__config_json_tool_mode_read(part, &out->tool_mode, &out->tool_batch, error);
    part = phi__config_json_get(node, "thinking_level");
    if (status == PHI_OK && part != NULL)
        status = phi__config_json_thinking_read(part, &out->thinking, error);
    part = phi__config_json_get(node, "model");
    if (status == PHI_OK && part != NULL)
        status = phi__config_json_model_read(part, arena, &out->model, error);
    return status;
}

PHI_API phi_status phi_settings_from_json(phi_str json, phi_arena *arena, phi_settings *out,
                                          phi_parse_error *error) {
    phi__config_json r = PHI_ZERO;
    phi_settings settings = PHI_ZERO;
    const char *fault = NULL;
    phi_json *node = NULL;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    status = phi_json_parse(arena, json, 0, &node, error);
    if (status != PHI_OK) return status;
    if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__config_json_fail(&r, "settings: expected an object");
    status = phi__config_json_end(&r, &fault);
    if (status == PHI_OK) status = phi__settings_read(node, arena, &settings, &fault);
    if (status == PHI_OK) *out = settings;
    if (status != PHI_OK && error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = status;
        (void)snprintf(error->message, sizeof error->message, "%s",
                       fault != NULL ? fault : phi_status_text((int)status));
    }
    return status;
}
