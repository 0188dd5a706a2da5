/* agent_desc.h - phi_agent_desc: the settings of an agent. */
#ifndef PHI_LOOP_AGENT_DESC_H
#define PHI_LOOP_AGENT_DESC_H

#include "loop/compactor.h"
#include "loop/run.h"
#include "loop/tool.h"
#include "log/compaction_config.h"
#include "model/effects.h"
#include "model/event.h"
#include "model/model.h"
#include "model/tokens.h"

#ifdef __cplusplus
extern "C" {
#endif

struct phi_failover;
struct phi_profile;

/* The ids of an agent, its session and its settings; copied. The id of a run has the form
   session.config.N. */
typedef struct phi_agent_ids {
    const char *agent_id;   /* (default: random) */
    const char *session_id; /* (default: random) */
    const char *config_id;  /* (default: made from the model's names) */
} phi_agent_ids;

/* Options of an agent's tools and tool calls. */
typedef struct phi_tool_options {
    phi_tool_mode mode; /* (default: all calls of a turn at once) */
    uint32_t batch;     /* how many calls run at a time in PHI_TOOLS_BATCHED (default 4) */
    /* the timeout of tools that set none (default 120,000; PHI_UNLIMITED) */
    uint32_t timeout_ms;
    phi_tool_choice choice;
    /* Tools with `may_defer` are deferred if their definitions together take more than this
       percentage of the model's context window (default 10; PHI_UNLIMITED: never). */
    uint32_t defer_percent;
    /* More tools, which may change between turns (loop/tool_source.h). The array is copied, the
       sources are borrowed. */
    const struct phi_tool_source *const *sources;
    size_t source_count;
    const struct phi_raw_tool *raw_tools; /* JSON of hosted tools; copied (default: none) */
    size_t raw_tool_count;
    phi_effect_policy effects; /* which effects tools may have on the tool state (default: all) */
    /* A run counts calls of the same tool with the same arguments. From the call with this number
       on, the model and the host are warned (default 3; PHI_UNLIMITED: never). */
    uint32_t repeat_warn_after;
    /* The call with this number is not run, and the run ends (default 5; PHI_UNLIMITED: never). */
    uint32_t repeat_stop_after;
    /* The maximum size of the texts of one tool result. A longer result keeps its head and its
       tail, and a line between the two says how much is missing. Details are not cut. (default 2
       MiB; PHI_UNLIMITED) */
    uint32_t max_result_bytes;
    /* The maximum size of one image, document or sound of a result. A text replaces a larger block.
       (default 20 MiB; PHI_UNLIMITED) */
    uint32_t max_result_image_bytes;
    /* The absolute path of a directory, which phi makes when it is needed. A result that is cut is
       kept there whole, in a file with mode 0600, and the line in the result names the file. phi
       never removes these files. The model's tools may read the directory. Copied (default: none;
       ignored if PHI_NO_FILES is defined). */
    const char *result_directory;
} phi_tool_options;

/* Memory limits of an agent, its events and its answers. */
typedef struct phi_agent_memory {
    size_t limit_bytes; /* limit for this agent and its history (default: none) */
    /* Action at limit_bytes (default: compact, then forget). Without a store, entries that are in
       no lane's view and all entries of scratch lanes ("~...") are freed for good. PHI_EV_FORGOTTEN
       and an entry of the log report this; pointers to freed entries are invalid, and older
       responses are stale. With a store the log stays whole and is recalled when needed. */
    phi_at_memory_limit at_limit;
    /* Maximum size of the events that wait for the host. At this size phi stops reading (default
       256 KiB). */
    size_t event_queue_bytes;
    size_t max_event_bytes;      /* limit for one event in an answer's stream (default 16 MiB) */
    uint64_t max_response_bytes; /* limit for one answer (default 256 MiB) */
} phi_agent_memory;

/* How user messages reach the agent. */
typedef struct phi_agent_input {
    /* trigger of the first turn in runs that begin with a prompt (default: PHI_TRIGGER_USER) */
    phi_trigger first_turn_trigger;
    phi_queue_mode steering_mode, follow_up_mode;
    uint32_t queue_limit; /* the most messages that wait in one queue (default 64) */
    /* The filters get user messages before the messages are stored. The array is copied. */
    const struct phi_filter *filters;
    size_t filter_count;
} phi_agent_input;

/* The settings of an agent. In every field but model.protocol and model.id, zero means the
   default. */
typedef struct phi_agent_desc {
    /* ---- identity ---- */

    phi_model model;           /* copied with its strings */
    const char *system_prompt; /* copied (default: the profile's, or none) */
    phi_agent_ids ids;
    /* The agent above this one: phi_abort of the parent also ends the runs of this agent, and the
       parent's budget pays for them, too. Both belong to one runtime. (default: none) */
    phi_agent parent;
    const struct phi_profile *profile; /* fills in unset fields; copied (default: none) */
    void *user_data;                   /* passed to hook_fn and translate_fn; every event has it */

    /* ---- tools and hooks ---- */

    /* The array is copied; phi_tool says how long its pointers are borrowed. */
    const phi_tool *tools;
    size_t tool_count;
    phi_tool_options tool_options;
    phi_hook_fn hook_fn; /* called with hook_user_data (default: none) */
    /* PHI_HOOK_ bits: the points at which hook_fn is called; at least one if hook_fn is set. */
    uint32_t hook_points;
    void *hook_user_data; /* (default: user_data) */

    /* ---- limits ---- */

    phi_limits limits;
    phi_budget budget;
    phi_deadlines deadlines;
    phi_retry retry;
    phi_agent_memory memory;

    /* ---- model calls ---- */

    phi_thinking thinking;
    uint32_t max_tokens;         /* output tokens of one call (default: the model's) */
    phi_request_options options; /* temperature, top_p, stop texts, a seed...; copied */
    phi_cache cache;             /* marks for prompt caching (default: all) */
    /* the format of answers; copied; JSON needs phi_feature_formats (default: text) */
    phi_format format;

    /* ---- the history, and the part of it that the model sees ---- */

    /* Keeps the agent's thread. If the store has this thread already, the agent loads it. Copied;
       the pointers in it are borrowed until the agent is freed. (default: the thread is in memory
       only) */
    const struct phi_store *store;
    /* the thread's id in the store; copied (default: a new thread whose id phi makes) */
    const char *thread_id;
    /* Which messages of a run stay in view if the run fails or is cancelled (default: its complete
       groups). PHI_KEEP_NONE also undoes the run's rewrites. Does not apply to a run that a limit
       ends. */
    phi_keep keep;
    /* How the view is compacted, both before a request that nears the model's window and after a
       request that the provider finds too long. compaction.focus_message is copied. */
    phi_compaction_config compaction;
    phi_compactor compactor;         /* makes compactions near the window; copied (default: none) */
    const struct phi_policy *policy; /* chooses the messages to send; copied (default: all) */

    /* ---- other settings ---- */

    phi_agent_input input;
    const char *workspace; /* a directory for the host's tools; copied (default: none) */
    /* The provider for all models of this agent, whatever their protocol; copied (default: the
       provider that is registered under the protocol's name, or else phi's own code). */
    const struct phi_provider *provider;
    phi_translate_fn translate_fn; /* called with user_data (default: phi_translate) */
    /* counts tokens for policy, warnings, budget, compactions and prunes (default: the estimate) */
    phi_token_counter token_counter;
    /* The models that a run changes to when a model finally fails (features/failover.h); copied
       (default: none). */
    const struct phi_failover *failover;
    /* Replaces texts that phi itself sends to the model (model/texts.h); copied (default: the texts
       of the parent, else phi's own). */
    const struct phi_texts *texts;
} phi_agent_desc;

#ifdef __cplusplus
}
#endif
#endif
