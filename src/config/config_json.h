/* config_json.h - the settings of an agent as JSON, for a host that stores settings with threads.
   The JSON has the shapes of the interchange format of histories. Configuration files have other
   shapes (config.h).

       phi_str json;
       phi_parse_error error;
       phi_settings_to_json(&settings, 0, &arena, &json);
       if (phi_settings_from_json(json, &arena, &settings, &error) != PHI_OK) show(&error); */
#ifndef PHI_CONFIG_CONFIG_JSON_H
#define PHI_CONFIG_CONFIG_JSON_H

#include "log/compact.h"
#include "loop/run.h"
#include "model/model.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Settings as in phi_agent_desc, with the same meaning. Zero means default for every field. */
typedef struct phi_settings {
    phi_limits limits;
    phi_retry retry;
    phi_cache cache;
    phi_compaction_config compaction;
    phi_tool_mode tool_mode;
    uint32_t tool_batch; /* for PHI_TOOLS_BATCHED */
    phi_thinking thinking;
    phi_model model;
} phi_settings;

enum { PHI_SETTINGS_SECRETS = 1 /* also write api_key and the values of headers */ };

/* Writes the settings as an object of these members:

   "limits"          {"max_turns", "max_total_tokens", "max_duration": {"secs", "nanos"},
                     "max_cost"}; limits that `disable` turns off are written as unlimited
   "retry"           {"max_retries", "initial_delay_ms", "backoff_multiplier", "max_delay_ms"};
                     max_retries 0 means `disable`
   "cache"           {"enabled", "strategy": "auto", "disabled" or {"manual": {"cache_system",
                     "cache_tools", "cache_messages"}}}, and "one_hour" if it is true
   "context"         {"max_context_tokens", "system_prompt_tokens", "compaction": {...},
                     "keep_recent", "keep_first", "tool_output_max_lines"}; keep_recent and
                     keep_first are keep_recent_messages and keep_first_messages; counts of turns
                     are in "compaction". tool_output_max_lines is read if "compaction" does not
                     have it
   "tool_execution"  {"type": "sequential"}, {"type": "parallel"}, {"type": "batched", "size": 3};
                     a batch of 0, the default, is written as 4
   "thinking_level"  "off", "minimal", "low", "medium", "high", "xhigh", "max"; any case
   "model"           {"id", "name", "api", "provider", "base_url", "api_key", "reasoning",
                     "context_window", "max_tokens", "cost": {"input_per_million"...}, "headers",
                     "compat"}, and "api_version" if the model has one. "api" is
                     "open_ai_completions" and so on; the names of configuration files are read,
                     too. "compat" also has "quirks", by the names of PHI_QUIRK_. If "quirks" is
                     present, the other members of "compat" are not read

   A zero field is written as the default that it means (in "context", the default that applies
   without an agent). Fields that have no member in the list above are written only if they are set.
   `flags` is PHI_SETTINGS_SECRETS or 0; with 0, api_key and the values of headers are written as
   "". *out is in the arena. PHI_BAD_ARG: a pointer is NULL. Also PHI_NO_MEMORY. Threads: any, one
   at a time with an arena. */
PHI_API phi_status phi_settings_to_json(const phi_settings *settings, uint32_t flags,
                                        phi_arena *arena, phi_str *out);
/* Reads settings. A missing or null member is left zero, which means default. Unknown members are
   ignored. Strings are in the arena. PHI_PARSE: not JSON. PHI_BAD_ARG: a value does not fit. *error
   (may be NULL) names the place, or the member and the expected value. PHI_NO_MEMORY. On any
   failure *out is unchanged. */
PHI_API phi_status phi_settings_from_json(phi_str json, phi_arena *arena, phi_settings *out,
                                          phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
