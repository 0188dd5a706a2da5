/* config_json.h - settings as JSON, in the shapes of the interchange of histories: for a host that
   keeps the settings of an agent beside its threads. A configuration file has shapes of its own
   (config.h).

       phi_json *node = phi_limits_to_json(&arena, &desc.limits);
       const char *error;
       if (phi_limits_from_json(node, &limits, &error) != PHI_OK) show(error);

   Writing has every member of the shape: a field that is zero is written as the default that it
   means (of compaction: those without an agent), and NULL as a struct of zeros. A field that
   the shape has no member for is added only where it is set, under a name that others ignore.
   A member that is missing or null is left at zero, which means default; unknown ones are ignored.
   A value that does not fit is PHI_BAD_ARG: *error is a static text that names the member and the
   expectation (NULL is fine for `error`), and *out is as it was.
   Ownership: trees are in the arena; NULL: no memory. Strings of a struct that was read are
   the tree's. Threads: any, one at a time with an arena. */
#ifndef PHI_CONFIG_CONFIG_JSON_H
#define PHI_CONFIG_CONFIG_JSON_H

#include "history/compact.h"
#include "loop/run.h"
#include "model/model.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* {"max_turns", "max_total_tokens", "max_duration": {"secs", "nanos"}, "max_cost"}; of limits that
   `disable` turns off: those that are unlimited. */
PHI_API phi_json *phi_limits_to_json(phi_arena *arena, const phi_limits *limits);
PHI_API phi_status phi_limits_from_json(const phi_json *node, phi_limits *out, const char **error);

/* {"max_retries", "initial_delay_ms", "backoff_multiplier", "max_delay_ms"}; max_retries 0 is
   `disable`. */
PHI_API phi_json *phi_retry_to_json(phi_arena *arena, const phi_retry *retry);
PHI_API phi_status phi_retry_from_json(const phi_json *node, phi_retry *out, const char **error);

/* {"enabled", "strategy": "auto", "disabled" or {"manual": {"cache_system", "cache_tools",
   "cache_messages"}}}, and "one_hour" where it is true. */
PHI_API phi_json *phi_cache_to_json(phi_arena *arena, const phi_cache *cache);
PHI_API phi_status phi_cache_from_json(const phi_json *node, phi_cache *out, const char **error);

/* {"max_context_tokens", "system_prompt_tokens", "compaction": {...}, "keep_recent", "keep_first",
   "tool_output_max_lines"}. keep_recent and keep_first are keep_recent_messages and
   keep_first_messages; the turns are in "compaction". Reading: the last one counts where
   "compaction" does not have it. */
PHI_API phi_json *phi_compaction_config_to_json(phi_arena *arena,
                                                const phi_compaction_config *config);
PHI_API phi_status phi_compaction_config_from_json(const phi_json *node, phi_compaction_config *out,
                                                   const char **error);

/* {"type": "sequential"}, {"type": "parallel"}, {"type": "batched", "size": 3}. batch:
   phi_tool_options.batch; 0, the default, is written as 4, and comes back of other types. */
PHI_API phi_json *phi_tool_mode_to_json(phi_arena *arena, phi_tool_mode mode, uint32_t batch);
PHI_API phi_status phi_tool_mode_from_json(const phi_json *node, phi_tool_mode *mode,
                                           uint32_t *batch, const char **error);

/* "off", "minimal", "low", "medium", "high", "xhigh", "max"; case makes no difference. */
PHI_API phi_json *phi_thinking_to_json(phi_arena *arena, phi_thinking level);
PHI_API phi_status phi_thinking_from_json(const phi_json *node, phi_thinking *out,
                                          const char **error);

enum { PHI_MODEL_JSON_SECRETS = 1 /* api_key and the values of headers are written, too */ };

/* {"id", "name", "api", "provider", "base_url", "api_key", "reasoning", "context_window",
   "max_tokens", "cost": {"input_per_million"...}, "headers", "compat"}, and "api_version" where
   the model has one. Without the flag api_key
   and the values of headers are "". "api" is "open_ai_completions" and so on; reading takes the
   names of configuration files, too. "compat" has "quirks" besides, by the names of PHI_QUIRK_;
   where it is, it says all. */
PHI_API phi_json *phi_model_to_json(phi_arena *arena, const phi_model *model, uint32_t flags);
/* Headers are in the arena. PHI_NO_MEMORY. */
PHI_API phi_status phi_model_from_json(const phi_json *node, phi_arena *arena, phi_model *out,
                                       const char **error);

#ifdef __cplusplus
}
#endif
#endif
