/* agent.h - an agent: a model with an identity, a system prompt, tools and a history. */
#ifndef PHI_AGENT_AGENT_H
#define PHI_AGENT_AGENT_H

#include "agent/runtime.h"
#include "loop/agent_desc.h"
#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an agent. On failure the rt of the returned handle is NULL, and phi_last_error names the
   field to fix, or has PHI_NO_MEMORY, or PHI_MISUSE (the runtime is closing). */
PHI_API phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc);

/* Gets the agent's current desc, with defaults filled in. The agent owns the strings and arrays;
   they are valid until the agent is freed or the field is set again. profile is NULL, since the
   profile's values are in the other fields. PHI_STALE. */
PHI_API phi_status phi_agent_get_desc(phi_agent agent, phi_agent_desc *out);

/* Frees an agent and its history, in any state. Pending calls are cancelled (the `cancel` of their
   tools is called), tickets become stale, queued events are purged, and no AGENT_END follows. The
   runs of agents below this agent are cancelled, and this agent's parent becomes their parent.
   Pointers in the agent's popped events become invalid. Safe in callbacks, also in those of the
   agent's own tools and hooks. A zero or stale handle is harmless. */
PHI_API void phi_agent_free(phi_agent agent);

PHI_API bool phi_agent_alive(phi_agent agent); /* any thread may call this */

/* True if the agent's current model takes blocks of this kind and type. A tool that can return such
   blocks should ask first, for example with PHI_CONTENT_DOCUMENT and "application/pdf", or with
   PHI_CONTENT_AUDIO and "audio/wav". A document without a type is passed as its text, which every
   model takes. False for thinking, calls and opaque blocks, for documents and audio if a
   phi_provider answers, and for a stale agent. Pumping thread. */
PHI_API bool phi_agent_takes(phi_agent agent, phi_content_kind kind, phi_str mime_type);

/* ---- beginning a run ---- */

/* Starts a run with a prompt. The text is copied. PHI_BUSY: a run is active; or the last run ended
   because there was no memory, and its events were not popped. PHI_BAD_ARG: the text is missing or
   empty. On any failure nothing changed. */
PHI_API phi_status phi_prompt(phi_agent agent, const char *text);

/* Starts a run that continues the history without a new message: after an error, a limit or an
   abort. PHI_CONTINUATION_INITIAL counts as PHI_CONTINUATION_DEFAULT. Before the run, calls that
   have no result because the process ended while they ran get an error result. PHI_MISUSE: there
   are no messages, or the last message in view is an answer without tool calls. Other statuses are
   those of phi_prompt. */
PHI_API phi_status phi_continue(phi_agent agent, phi_continuation kind);

/* Compacts the view now, whatever its size, in a separate run without a model call. The events are
   AGENT_START with PHI_CONTINUATION_COMPACTION, COMPACTION_START, COMPACTION_END, AGENT_END. If a
   compaction would save nothing, returns PHI_OK and starts no run. Other statuses are those of
   phi_prompt. */
PHI_API phi_status phi_compact(phi_agent agent);

/* Sends a text, whatever message the history ends with. After an answer, or in an empty history,
   the text is a prompt. After a user message or a tool result without an answer, the text is
   appended and the run continues. Statuses are those of phi_prompt. */
PHI_API phi_status phi_send(phi_agent agent, const char *text);

/* ---- ending a run ---- */

/* Ends the run as soon as the pumping thread sees the request. The text received so far is kept,
   calls get the result `Cancelled` (unless their own result was already posted), and the agent can
   be prompted again. The runs of agents below this agent end, too. An abort never ends a later run.
   A decision that is read after an abort has no effect. Until AGENT_END, phi_prompt returns
   PHI_BUSY. Any thread; without PHI_NO_THREADS also a signal handler. PHI_OK: the abort will be
   seen, even if the inbox is full or there is no memory. PHI_STALE. */
PHI_API phi_status phi_abort(phi_agent agent);

/* Aborts one run like phi_abort, with a reason. If loop_id is NULL, aborts the active run. reason
   is copied; NULL: no reason. AGENT_END has the reason, and so has a note of the kind
   PHI_NOTE_ABORT in the log: {"loop_id":...,"reason":...}. Pumping thread. PHI_NOT_FOUND: no such
   run is active; PHI_STALE, PHI_NO_MEMORY. After any of these nothing was done. */
PHI_API phi_status phi_abort_run(phi_agent agent, const char *loop_id, const char *reason);

/* Ends the run when the current turn is over, that is, when the answer is complete and its calls
   have their results. A paused run, or one that waits for a retry, ends without waiting further.
   Any thread. PHI_STALE. */
PHI_API phi_status phi_stop(phi_agent agent);

/* Raises the limits of the active run and the agent's budget. A paused run continues if the raise
   is enough. PHI_BAD_ARG: `by` is NULL, or its cost is negative; PHI_MISUSE: the agent has neither
   a run nor a budget; PHI_STALE. Pumping thread. */
PHI_API phi_status phi_budget_raise(phi_agent agent, const phi_raise *by);

/* ---- changing an agent ---- */

/* The fields that phi_agent_set can take from a desc. Some can be set during a run, as their
   comments say. All other fields of a desc stay as they were when the agent was made: ids, parent,
   profile, user_data, tool_options.sources and result_directory, memory, store, thread_id
   (phi_agent_use_thread changes the thread), input.first_turn_trigger, workspace, translate_fn and
   token_counter. */
typedef enum phi_set {
    /* The model can be changed in the middle of a conversation. The new model also replaces a model
       that a failover has chosen. If the host gave a config_id, the agent keeps it. */
    PHI_SET_MODEL = 1 << 0,
    PHI_SET_PROVIDER = 1 << 1,      /* NULL: the provider of the model's protocol */
    PHI_SET_SYSTEM_PROMPT = 1 << 2, /* NULL: no system prompt */
    PHI_SET_TOOLS = 1 << 3,         /* tools, tool_count: replace all of the agent's own tools */
    PHI_SET_TOOL_MODE = 1 << 4,     /* tool_options.mode, batch */
    /* tool_options.timeout_ms, and the timeout of every tool that has the old value */
    PHI_SET_TOOL_TIMEOUT = 1 << 5,
    PHI_SET_TOOL_CHOICE = 1 << 6,   /* tool_options.choice; can be set during a run */
    PHI_SET_DEFER_PERCENT = 1 << 7, /* tool_options.defer_percent */
    PHI_SET_RAW_TOOLS = 1 << 8,     /* tool_options.raw_tools, raw_tool_count */
    PHI_SET_EFFECTS = 1 << 9,       /* tool_options.effects */
    /* tool_options.repeat_warn_after, repeat_stop_after; can be set during a run */
    PHI_SET_REPEAT = 1 << 10,
    PHI_SET_RESULTS = 1 << 11, /* tool_options.max_result_bytes, max_result_image_bytes */
    PHI_SET_HOOKS = 1 << 12,   /* hook_fn, hook_points, hook_user_data */
    PHI_SET_LIMITS = 1 << 13,
    /* can be set during a run; the spending so far stays; paused runs check the new budget */
    PHI_SET_BUDGET = 1 << 14,
    /* can be set during a run, except decision_ms, which changes with the next run */
    PHI_SET_DEADLINES = 1 << 15,
    PHI_SET_RETRY = 1 << 16,      /* can be set during a run */
    PHI_SET_THINKING = 1 << 17,   /* also changes later loop ids if no config_id was given */
    PHI_SET_MAX_TOKENS = 1 << 18, /* can be set during a run */
    /* all options, including temperature and extra; can be set during a run */
    PHI_SET_OPTIONS = 1 << 19,
    PHI_SET_CACHE = 1 << 20, /* can be set during a run */
    PHI_SET_FORMAT = 1 << 21,
    PHI_SET_KEEP = 1 << 22,
    PHI_SET_COMPACTION = 1 << 23, /* compaction, compactor; ends the old compactor's job */
    PHI_SET_POLICY = 1 << 24,     /* NULL: all messages are sent */
    /* input.steering_mode, follow_up_mode, queue_limit; can be set during a run */
    PHI_SET_QUEUES = 1 << 25,
    PHI_SET_FILTERS = 1 << 26,  /* input.filters, filter_count */
    PHI_SET_FAILOVER = 1 << 27, /* NULL: no failover; the agent returns to its own model */
    PHI_SET_TEXTS = 1 << 28     /* NULL: phi's own texts */
} phi_set;

/* Changes an agent: takes from `to` the fields whose bits are in `fields`. They are checked and
   copied as by phi_agent_new; zero means the default. Sets either all of these fields or none.
   Other fields of `to` are ignored. Values that are set between runs are used from the next run on.
   Values that are set during a run are used from the run's next model call on (deadlines and
   retries: from the next attempt; budget, queues and repeat limits: at once). `to` may be a desc
   from phi_agent_get_desc. Afterwards phi_agent_get_desc returns the new values. PHI_BUSY: a run is
   active, and a field cannot be set during a run; PHI_MISUSE: the agent belongs to phi_run;
   PHI_BAD_ARG, PHI_UNSUPPORTED: phi_last_error names the field; PHI_STALE, PHI_NO_MEMORY. */
PHI_API phi_status phi_agent_set(phi_agent agent, const phi_agent_desc *to, uint32_t fields);

/* Removes the history and the messages in both queues, and starts a new session id. Needs no memory
   if no other agent shares the session. Queued events are purged, and pointers in popped events
   become invalid. A thread in a store keeps all entries: the agent continues in a fresh lane of it,
   which needs memory. PHI_BUSY: a run is active; PHI_MISUSE: the agent belongs to phi_run;
   PHI_STALE, PHI_NO_MEMORY. After any of these nothing changed. */
PHI_API phi_status phi_agent_reset(phi_agent agent);

#ifdef __cplusplus
}
inline phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc &desc) {
    return phi_agent_new(rt, &desc);
}
#endif
#endif
