/* agent_desc.h - phi_agent_desc: the settings that an agent is made with. */
#ifndef PHI_LOOP_AGENT_DESC_H
#define PHI_LOOP_AGENT_DESC_H

#include "loop/compactor.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/provider.h"
#include "loop/run.h"
#include "loop/tool.h"
#include "loop/tool_source.h"
#include "history/compact.h"
#include "history/policy.h"
#include "history/tool_state.h"
#include "persist/store.h"
#include "log/thread.h"
#include "model/texts.h"
#include "wire/structured.h"
#include "codecs/presets.h"
#include "codecs/translate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct phi_failover;
struct phi_profile;

/* Zero means default for every field but model.protocol and model.id. */
typedef struct phi_agent_desc {
    phi_model model;           /* copied, strings too */
    const char *system_prompt; /* copied (default: the profile's, or none) */
    const phi_tool *tools;     /* the array is copied; for its pointers see phi_tool */
    size_t tool_count;
    phi_tool_mode tool_mode; /* (default: all calls of a turn at once) */
    uint32_t tool_batch;     /* calls at a time in PHI_TOOLS_BATCHED (default 4) */
    /* of tools that have none of their own (default 120,000; PHI_UNLIMITED) */
    uint32_t tool_timeout_ms;
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens;  /* output tokens a call (default: the model's) */
    bool has_temperature; /* send `temperature` */
    double temperature;
    phi_cache cache;   /* prompt cache marks (default: all) */
    phi_format format; /* of the answers (default: text) */
    /* of the view, before a request that nears the model's window, and after one that the provider
       finds too long; its text is copied */
    phi_compaction_config compaction;
    phi_compactor compactor; /* makes those near the window; copied (default: none) */
    phi_limits limits;
    phi_budget budget;
    phi_deadlines deadlines;
    phi_retry retry;
    const struct phi_profile *profile; /* fills unset fields; copied (default: none) */
    /* copied (default: random; config_id: from the model). Loop ids are session.config.N */
    const char *agent_id, *session_id, *config_id;
    const char *workspace; /* a directory, for the host's tools; copied (default: none) */
    /* its phi_abort ends this one's runs too, and its budget pays for them; both are of one runtime
       (default: none) */
    phi_agent parent;
    /* of runs that begin with a prompt (default PHI_TRIGGER_USER) */
    phi_trigger first_turn_trigger;
    /* which messages stay in view of a run that fails or is cancelled, not of a run that a limit
       ends (default: its complete groups); PHI_KEEP_NONE undoes the run's rewrites, too */
    phi_keep keep;
    phi_hook_fn hook_fn;  /* called with hook_user_data (default: none) */
    uint32_t hook_points; /* PHI_HOOK_ bits: where hook_fn is called; one at least, if it is set */
    /* how long a run waits for phi_decide or phi_budget_raise (default 300,000; PHI_UNLIMITED) */
    uint32_t decision_timeout_ms;
    const phi_filter *filters; /* of user messages; the array is copied */
    size_t filter_count;
    phi_queue_mode steering_mode, follow_up_mode;
    uint32_t queue_limit; /* messages that wait in a queue (default 64) */
    /* the same call with the same arguments this often in a run: the model and the host are warned
       (default 3; PHI_UNLIMITED: never) */
    uint32_t repeat_warn_after;
    /* this often: it is not run, and the run ends (default 5; the same) */
    uint32_t repeat_stop_after;
    size_t memory_limit_bytes; /* of this agent, its history included (default: none) */
    /* What it does at that limit. Without a store, entries that no lane's view has, and all of
       scratch lanes ("~..."), are freed for good: PHI_EV_FORGOTTEN reports it, and so does an entry
       of the log; pointers to them are invalid, and older responses are stale. With a store the log
       stays whole, and is recalled when needed (default: compact, then forget). */
    phi_at_memory_limit at_memory_limit;
    size_t event_queue_bytes;    /* waiting for the host, then reading stops (default 256 KiB) */
    size_t max_event_bytes;      /* one event of an answer's stream (default 16 MiB) */
    uint64_t max_response_bytes; /* one answer (default 256 MiB) */
    /* copied: used for every model of this agent, whatever its protocol (default: the registered
       one of that name, or phi's own) */
    const phi_provider *provider;
    phi_translate_fn translate_fn; /* called with user_data (default: phi's rules, phi_translate) */
    /* emit the request of each turn, before its first attempt: PHI_EV_TURN_REQUEST */
    bool capture_requests;
    /* keeps its thread, and loads it if it is there; copied, its pointers borrowed until the agent
       is freed (default: in memory only) */
    const phi_store *store;
    const char *thread_id;    /* its id there; copied (default: a new thread, phi makes its id) */
    const phi_policy *policy; /* chooses the messages to send; copied (default: all of them) */
    /* counts tokens for policy, warnings, budget, compaction and prunes (default: the estimate) */
    phi_token_counter token_counter;
    void *user_data;           /* comes back in every event, to hook_fn and translate_fn */
    bool disable_facts;        /* its requests show no facts (features/facts.h) */
    phi_effect_policy effects; /* of its tools on the tool state (default: all are allowed) */
    /* Of the texts of one tool result. Of a longer one head and tail stay, with a line between them
       that says how much is missing; details are not cut (default 2 MiB; PHI_UNLIMITED) */
    uint32_t max_result_bytes;
    /* of one image, document or sound of a result; a text takes the place of a larger one
       (default 20 MiB; PHI_UNLIMITED) */
    uint32_t max_result_image_bytes;
    /* A directory, made when needed: a result that is cut is kept there whole, in a file of its
       own (0600), and the line names it. phi never removes one. Absolute, and one that the model's
       tools may read; copied (default: none; ignored where PHI_NO_FILES is defined) */
    const char *result_directory;
    void *hook_user_data; /* hook_fn is called with it instead (default: user_data) */
    /* More tools, which may change between turns (loop/tool_source.h). The array is copied, the
       sources are borrowed */
    const phi_tool_source *const *tool_sources;
    size_t tool_source_count;
    /* Models that a run goes to when one fails for good (features/failover.h). Copied (default:
       none) */
    const struct phi_failover *failover;
    phi_request_options options; /* top_p, stop texts, a seed...; copied (default: none) */
    /* JSON text of an object, merged into the body of each request over the model's `extra`:
       objects deeply, everything else replaces. A member that phi writes itself is refused by its
       path: here if phi always writes it, else by the request, before anything is sent. Copied
       (default: none) */
    const char *extra;
    const phi_raw_tool *raw_tools; /* the provider's own tools, as JSON; copied (default: none) */
    size_t raw_tool_count;
    /* of the model's context window: above it, the tools that have `may_defer` are deferred
       (default 10; PHI_UNLIMITED: never) */
    uint32_t defer_percent;
    /* what phi itself says to the model, in other words (model/texts.h); copied (default: the
       parent's, else phi's own) */
    const phi_texts *texts;
} phi_agent_desc;

#ifdef __cplusplus
}
#endif
#endif
