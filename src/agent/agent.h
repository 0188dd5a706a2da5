/* agent.h - an agent: an identity with a model, a system prompt, tools and a history. */
#ifndef PHI_AGENT_AGENT_H
#define PHI_AGENT_AGENT_H

#include "agent/runtime.h"
#include "loop/agent_desc.h"
#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an agent. On failure the handle's rt is NULL, and phi_last_error says which field to fix,
   or PHI_NO_MEMORY, or PHI_MISUSE: the runtime is closing. */
PHI_API phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc);

/* The agent's desc as it is now, with defaults filled in; strings and arrays are owned by the
   agent, valid until it is freed or that field is set again. profile is NULL, since its values are
   in the other fields. PHI_STALE. */
PHI_API phi_status phi_agent_get_desc(phi_agent agent, phi_agent_desc *out);

/* Frees an agent and its history, in any state: pending calls are cancelled (their tool's `cancel`
   is called), decisions die, queued events are purged, no AGENT_END follows. Agents below it have
   their runs cancelled and belong to its own parent from then on. Pointers out of its popped events
   are invalid. Safe in callbacks, also of the agent's own tools and hooks. A handle that is zero or
   stale is harmless. */
PHI_API void phi_agent_free(phi_agent agent);

PHI_API bool phi_agent_alive(phi_agent agent); /* any thread */

/* True if the agent's present model takes a block of that kind and type, for tools that can give
   one: (PHI_CONTENT_DOCUMENT, "application/pdf"), (PHI_CONTENT_AUDIO, "audio/wav"). A document
   without a type is one by its text, which every model takes. False for thinking, calls and opaque
   blocks, for documents and audio where a phi_provider answers, and when the agent is stale.
   Pumping thread. */
PHI_API bool phi_agent_takes(phi_agent agent, phi_content_kind kind, phi_str mime_type);

/* ---- beginning a run ---- */

/* Starts a run with a prompt. The text is copied. PHI_BUSY: a run is active, or the events of the
   last one, which ended without memory, were not popped. On any failure nothing changed. */
PHI_API phi_status phi_prompt(phi_agent agent, const char *text);

/* Starts a run that continues from the history as it is: after an error, a limit, an abort.
   PHI_CONTINUATION_INITIAL counts as DEFAULT. Calls without a result, of a process that ended while
   they ran, get an error as their result first. PHI_MISUSE: there are no messages, or the last
   message in view is an answer without tool calls. Else as phi_prompt. */
PHI_API phi_status phi_continue(phi_agent agent, phi_continuation kind);

/* Compacts the view now, however large it is, in its own run, without a model call: AGENT_START
   with PHI_CONTINUATION_COMPACTION, COMPACTION_START, COMPACTION_END, AGENT_END. PHI_OK without a
   run: a compaction would save nothing. Else as phi_prompt. */
PHI_API phi_status phi_compact(phi_agent agent);

/* Sends a text, whatever the history ends with. After an answer, or in an empty history, it is a
   prompt; after a question or a tool result without an answer, the run continues with the text
   behind that. Else as phi_prompt. */
PHI_API phi_status phi_send(phi_agent agent, const char *text);

/* ---- ending a run ---- */

/* Ends the run as soon as the pump sees the request: the text received so far is kept, calls get
   the result `Cancelled` (unless their own is on its way), and the agent can be prompted again. The
   runs of agents below it end too. It never ends a later run. A decision that is read behind an
   abort has no effect. Any thread. PHI_OK: the abort will be seen, however full the inbox is and
   without any memory. PHI_STALE. */
PHI_API phi_status phi_abort(phi_agent agent);

/* phi_abort of one run, with a reason. loop_id: NULL: the active run. reason: copied; NULL: none;
   AGENT_END has it, and a note of the kind PHI_NOTE_ABORT in the log, {"loop_id":...,"reason":...}.
   Pumping thread. PHI_NOT_FOUND: no such run is active; PHI_STALE, PHI_NO_MEMORY: nothing was
   done. */
PHI_API phi_status phi_abort_run(phi_agent agent, const char *loop_id, const char *reason);

/* Ends the run when the current turn is over: its answer is complete and its calls have their own
   results. It does not wait for a pause or a delay before a retry. */
PHI_API phi_status phi_stop(phi_agent agent);

/* Raises the limits of a run and the agent's budget: a paused run continues, if that is enough.
   PHI_MISUSE: there is neither a run nor a budget to raise. Pumping thread. */
PHI_API phi_status phi_budget_raise(phi_agent agent, const phi_raise *by);

/* ---- changing it ---- */

/* What phi_agent_set takes out of a desc. Marked *: also during a run, see there. All other fields
   of a desc stay what they were when the agent was made: ids, parent, profile, user_data,
   tool_options.sources and result_directory, memory, store and thread_id (phi_agent_use_thread),
   input.first_turn_trigger, workspace, translate_fn and token_counter. */
typedef enum phi_set {
    /* in mid-conversation, too; a config_id that was given stays. The agent leaves the model that a
       failover has put it to. */
    PHI_SET_MODEL = 1 << 0,
    PHI_SET_PROVIDER = 1 << 1,      /* another strategy, say. NULL: that of the model's protocol */
    PHI_SET_SYSTEM_PROMPT = 1 << 2, /* NULL: none */
    PHI_SET_TOOLS = 1 << 3,         /* tools, tool_count: they replace all of the agent's own */
    PHI_SET_TOOL_MODE = 1 << 4,     /* tool_options.mode, batch */
    /* tool_options.timeout_ms, and that of the tools which have the old one */
    PHI_SET_TOOL_TIMEOUT = 1 << 5,
    PHI_SET_TOOL_CHOICE = 1 << 6,   /* * tool_options.choice */
    PHI_SET_DEFER_PERCENT = 1 << 7, /* tool_options.defer_percent */
    PHI_SET_RAW_TOOLS = 1 << 8,     /* tool_options.raw_tools, raw_tool_count */
    PHI_SET_EFFECTS = 1 << 9,       /* tool_options.effects */
    PHI_SET_REPEAT = 1 << 10,       /* * tool_options.repeat_warn_after, repeat_stop_after */
    PHI_SET_RESULTS = 1 << 11,      /* tool_options.max_result_bytes, max_result_image_bytes */
    PHI_SET_HOOKS = 1 << 12,        /* hook_fn, hook_points, hook_user_data */
    PHI_SET_LIMITS = 1 << 13,
    PHI_SET_BUDGET = 1 << 14,     /* * its spending so far stays; paused runs look at it */
    PHI_SET_DEADLINES = 1 << 15,  /* * but for decision_ms, which counts from the next run on */
    PHI_SET_RETRY = 1 << 16,      /* * */
    PHI_SET_THINKING = 1 << 17,   /* names the next loop ids, too, where no config_id was given */
    PHI_SET_MAX_TOKENS = 1 << 18, /* * */
    PHI_SET_OPTIONS = 1 << 19,    /* * all of them, the temperature and extra too */
    PHI_SET_CACHE = 1 << 20,      /* * */
    PHI_SET_FORMAT = 1 << 21,
    PHI_SET_KEEP = 1 << 22,
    PHI_SET_COMPACTION = 1 << 23, /* compaction, compactor; a job of the old one is ended */
    PHI_SET_POLICY = 1 << 24,     /* NULL: all messages are sent */
    PHI_SET_QUEUES = 1 << 25,     /* * input.steering_mode, follow_up_mode, queue_limit */
    PHI_SET_FILTERS = 1 << 26,    /* input.filters, filter_count */
    PHI_SET_FAILOVER = 1 << 27,   /* NULL: none; the agent is at its own model then */
    PHI_SET_TEXTS = 1 << 28       /* NULL: phi's own */
} phi_set;

/* Changes an agent: takes the fields with bits in `fields` out of `to`, checked and copied as by
   phi_agent_new, zero for the default, all of them or none; the other fields of `to` are not looked
   at. They count from the next run on. Those marked * can be changed during a run, too, and count
   from its next model call on (deadlines and retries: from the next attempt; a budget, queues and
   repeats: at once). `to` may be what phi_agent_get_desc returned, which shows the new values from
   then on. PHI_BUSY: a run is active, and a field is not marked; PHI_MISUSE: an agent of phi_run;
   PHI_BAD_ARG, PHI_UNSUPPORTED: phi_last_error names the field; PHI_STALE, PHI_NO_MEMORY. */
PHI_API phi_status phi_agent_set(phi_agent agent, const phi_agent_desc *to, uint32_t fields);

/* Forgets the history and both queues and starts a new session id; needs no memory where no other
   agent has the session. Queued events are purged, and pointers out of popped ones are invalid.
   PHI_BUSY while running; PHI_NO_MEMORY: nothing changed. A thread in a store keeps everything: a
   fresh lane of it begins, which needs memory. */
PHI_API phi_status phi_agent_reset(phi_agent agent);

#ifdef __cplusplus
}
inline phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc &desc) {
    return phi_agent_new(rt, &desc);
}
#endif
#endif
