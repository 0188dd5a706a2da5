/* agent_desc.h - phi_agent_desc: the settings that an agent is made with. */
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

/* The names of an agent, its session and its settings; copied. Loop ids are session.config.N. */
typedef struct phi_agent_ids {
    const char *agent_id;   /* (default: random) */
    const char *session_id; /* (default: random) */
    const char *config_id;  /* (default: made of the model's names) */
} phi_agent_ids;

/* How an agent's tools are offered to the model, and how their calls are run. */
typedef struct phi_tool_options {
    phi_tool_mode mode; /* (default: all calls of a turn at once) */
    uint32_t batch;     /* calls at a time in PHI_TOOLS_BATCHED (default 4) */
    /* for tools that set no timeout themselves (default 120,000; PHI_UNLIMITED) */
    uint32_t timeout_ms;
    phi_tool_choice choice;
    /* A percentage of the model's context window: when all definitions are larger, the tools that
       have `may_defer` are deferred (default 10; PHI_UNLIMITED: never). */
    uint32_t defer_percent;
    /* More tools, which may change between turns (loop/tool_source.h). The array is copied, the
       sources are borrowed. */
    const struct phi_tool_source *const *sources;
    size_t source_count;
    const struct phi_raw_tool
        *raw_tools; /* the provider's own tools, as JSON; copied (default: none) */
    size_t raw_tool_count;
    phi_effect_policy effects; /* of the tools on the tool state (default: all are allowed) */
    /* the same call with the same arguments this often in a run: the model and the host are warned
       (default 3; PHI_UNLIMITED: never) */
    uint32_t repeat_warn_after;
    /* this often: it is not run, and the run ends (default 5; PHI_UNLIMITED: never) */
    uint32_t repeat_stop_after;
    /* The texts of one tool result. A longer one keeps its head and its tail, with a line between
       them that says how much is missing; details are not cut (default 2 MiB; PHI_UNLIMITED). */
    uint32_t max_result_bytes;
    /* one image, document or sound of a result; a text takes the place of a larger one
       (default 20 MiB; PHI_UNLIMITED) */
    uint32_t max_result_image_bytes;
    /* An absolute path of a directory, made when needed: a result that is cut is kept there whole,
       in a file with mode 0600, and the line names that file. phi never removes one. The model's
       tools may read the directory. Copied (default: none; ignored where PHI_NO_FILES is
       defined). */
    const char *result_directory;
} phi_tool_options;

/* How much memory an agent, its events and its answers take. */
typedef struct phi_agent_memory {
    size_t limit_bytes; /* of this agent, its history included (default: none) */
    /* What it does at that limit. Without a store, entries that no lane's view has, and all of
       scratch lanes ("~..."), are freed for good: PHI_EV_FORGOTTEN reports it, and so does an entry
       of the log; pointers to them are invalid, and older responses are stale. With a store the log
       stays whole, and is recalled when needed (default: compact, then forget). */
    phi_at_memory_limit at_limit;
    size_t event_queue_bytes;    /* waiting for the host, then reading stops (default 256 KiB) */
    size_t max_event_bytes;      /* one event of an answer's stream (default 16 MiB) */
    uint64_t max_response_bytes; /* one answer (default 256 MiB) */
} phi_agent_memory;

/* How messages of the user come in. */
typedef struct phi_agent_input {
    phi_trigger first_turn_trigger; /* of runs that begin with a prompt (default: USER) */
    phi_queue_mode steering_mode, follow_up_mode;
    uint32_t queue_limit;             /* messages that wait in a queue (default 64) */
    const struct phi_filter *filters; /* of user messages; the array is copied */
    size_t filter_count;
} phi_agent_input;

/* The settings of an agent. Zero means the default in every field but model.protocol and
   model.id. */
typedef struct phi_agent_desc {
    /* ---- who it is ---- */

    phi_model model;           /* copied, strings too */
    const char *system_prompt; /* copied (default: the profile's, or none) */
    phi_agent_ids ids;
    /* its phi_abort ends this one's runs too, and its budget pays for them; both are of one runtime
       (default: none) */
    phi_agent parent;
    const struct phi_profile *profile; /* fills unset fields; copied (default: none) */
    void *user_data;                   /* comes back in every event, to hook_fn and translate_fn */

    /* ---- what it may do ---- */

    const phi_tool *tools; /* the array is copied; for its pointers see phi_tool */
    size_t tool_count;
    phi_tool_options tool_options;
    phi_hook_fn hook_fn;  /* called with hook_user_data (default: none) */
    uint32_t hook_points; /* PHI_HOOK_ bits: where hook_fn is called; one at least, if it is set */
    void *hook_user_data; /* (default: user_data) */

    /* ---- bounds ---- */

    phi_limits limits;
    phi_budget budget;
    phi_deadlines deadlines;
    phi_retry retry;
    phi_agent_memory memory;

    /* ---- how the model is asked ---- */

    phi_thinking thinking;
    uint32_t max_tokens;         /* output tokens a call (default: the model's) */
    phi_request_options options; /* temperature, top_p, stop texts, a seed...; copied */
    phi_cache cache;             /* prompt cache marks (default: all) */
    /* of the answers; copied; JSON needs phi_feature_formats (default: text) */
    phi_format format;

    /* ---- keeping: the history, and its part that the model sees ---- */

    /* keeps its thread, and loads it if it is there; copied, its pointers borrowed until the agent
       is freed (default: in memory only) */
    const struct phi_store *store;
    const char *thread_id; /* its id there; copied (default: a new thread, phi makes its id) */
    /* which messages stay in view of a run that fails or is cancelled, not of a run that a limit
       ends (default: its complete groups); PHI_KEEP_NONE undoes the run's rewrites, too */
    phi_keep keep;
    /* of the view, before a request that nears the model's window, and after one that the provider
       finds too long; its text is copied */
    phi_compaction_config compaction;
    phi_compactor compactor; /* makes those near the window; copied (default: none) */
    const struct phi_policy
        *policy; /* chooses the messages to send; copied (default: all of them) */

    /* ---- more ---- */

    phi_agent_input input;
    const char *workspace; /* a directory, for the host's tools; copied (default: none) */
    /* copied: used for every model of this agent, whatever its protocol (default: the registered
       one of that name, or phi's own) */
    const struct phi_provider *provider;
    phi_translate_fn translate_fn; /* called with user_data (default: phi's rules, phi_translate) */
    /* counts tokens for policy, warnings, budget, compaction and prunes (default: the estimate) */
    phi_token_counter token_counter;
    /* models that a run goes to when one fails for good (features/failover.h); copied (default:
       none) */
    const struct phi_failover *failover;
    /* what phi itself says to the model, in other words (model/texts.h); copied (default: the
       parent's, else phi's own) */
    const struct phi_texts *texts;
} phi_agent_desc;

#ifdef __cplusplus
}
#endif
#endif
