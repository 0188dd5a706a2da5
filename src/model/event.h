/* event.h - events: one flat struct; a field that a kind does not use is zero. */
#ifndef PHI_MODEL_EVENT_H
#define PHI_MODEL_EVENT_H

#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Value handles. A stale one gives PHI_STALE, from any thread, until phi_runtime_free. */
typedef struct phi_agent {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_agent;

typedef struct phi_call {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_call;

/* A pending decision: see loop/hook.h. */
typedef struct phi_ticket {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_ticket;

typedef enum phi_event_kind {
    PHI_EV_AGENT_START = 1, /* a run began */
    PHI_EV_AGENT_END,       /* it ended: status, usage; failure where it failed */
    PHI_EV_TURN_START,      /* one model call and its tools */
    PHI_EV_TURN_END,
    PHI_EV_MESSAGE_START,  /* message: a user prompt, a tool result, or the answer still empty */
    PHI_EV_TEXT,           /* text: new bytes of the answer; partial: the block so far */
    PHI_EV_THINKING,       /* the same of the model's thinking */
    PHI_EV_TOOL_ARGUMENTS, /* the same of a tool call's arguments: JSON text, cut anywhere */
    PHI_EV_MESSAGE_END,    /* message: whole, as in the log */
    /* call, tool_call_id, tool_name, arguments (at NULL: it is skipped); also of a call with wrong
       arguments, or of no such tool, whose TOOL_END is an error. A call that a hook denied has
       neither: its result is a MESSAGE_END of PHI_ROLE_TOOL_RESULT */
    PHI_EV_TOOL_START,
    /* text: a part of the result while the tool runs; message: its blocks and details, where
       phi_call_update gave it (else NULL); child_loop_id */
    PHI_EV_TOOL_UPDATE,
    PHI_EV_TOOL_PROGRESS, /* text: a message for the person who waits */
    PHI_EV_TOOL_END,      /* message: the result; is_error */
    PHI_EV_ERROR,         /* text: a message; failure; status. The run ends after it */
    /* discard the streaming answer (message: as far as it came): the attempt failed, and the model
       will be called again; or its text was thinking, and its deltas come again
       (PHI_QUIRK_THINK_TAGS) */
    PHI_EV_RETRACT,
    /* failure; attempt of attempts, the next one after delay_ms; text: a log line */
    PHI_EV_RETRY,
    PHI_EV_INPUT_REJECTED,   /* text: a filter's reason; the run ends after it */
    PHI_EV_INPUT_DROPPED,    /* text: the input that no model will see; input; source: why */
    PHI_EV_COMPACTION_START, /* compaction: the first two fields */
    PHI_EV_COMPACTION_END,   /* compaction */
    /* ticket: a hook answered PHI_WAIT; point; call, tool_... of a tool's; text; of a question:
       source, question_kind, arguments. Several may be open: phi_pending lists them, with their
       texts, in each frame */
    PHI_EV_DECISION,
    PHI_EV_PAUSED, /* text: the limit that was reached; phi_budget_raise continues */
    /* text: a message: a call that repeats itself, a store that refuses entries, a compactor that
       leaves nothing */
    PHI_EV_WARNING,
    /* the outcome of phi_agent_rewrite or phi_summarize: text: its op_id; status; source: a
       message, where it was refused or failed, a newer one replaced it (PHI_CANCELLED), or its
       op_id was known already and nothing was done (PHI_OK) */
    PHI_EV_REWRITE,
    /* text: "approaching_limit" or "at_limit"; context; once each time that level is reached */
    PHI_EV_CONTEXT_WARNING,
    PHI_EV_PRUNED, /* pruned: the messages that tools took out of the view, when a turn was over */
    PHI_EV_REVERTED, /* reverted: the model went back to an earlier step, or was refused to */
    /* text: the request that is about to be sent, JSON (phi_agent_desc.options.capture_requests) */
    PHI_EV_TURN_REQUEST,
    PHI_EV_PARALLEL_START, /* parallel: runs that are about to try the same concurrently */
    PHI_EV_PARALLEL_END,   /* parallel: which run was selected */
    /* a run is over, and the store has all of its thread: text: the thread's id; message_count;
       usage: of all its runs */
    PHI_EV_THREAD_UPDATED,
    /* forgotten: entries of the log that were freed, since the agent is at its memory limit */
    PHI_EV_FORGOTTEN,
    /* context: a policy with summaries on request leaves out older entries; once until more are */
    PHI_EV_SUMMARY_NEEDED,
    PHI_EV_TOOL_HEARTBEAT, /* elapsed_ms: a call runs that long already (phi_tool.heartbeat_ms) */
    /* a run of phi_spawn is over: tool_name: the sub-agent's; source: its id; text: its result or
       error message; status, is_error; child_loop_id, usage */
    PHI_EV_SUBAGENT_END,
    PHI_EV_TOOL_STATE, /* text: the tool state, JSON: it changed (features/effects.h) */
    /* an effect "emit" of a tool: tool_call_id, tool_name; source: its name; text: its value,
       JSON */
    PHI_EV_EFFECT,
    PHI_EV_STRATEGY, /* strategy: its progress; text: the best answer so far */
    /* text: the tools that came, went, and have another definition: "+a -b ~c"
       (loop/tool_source.h) */
    PHI_EV_TOOLS_CHANGED,
    /* the turn continues with another model (features/failover.h): text: its "provider/id"; source:
       that of the model that failed; failure, status; attempt of attempts: the run's switches */
    PHI_EV_FAILOVER,
    /* a block of the answer that phi does not interpret is whole (PHI_CONTENT_OPAQUE): block_index;
       source: its type on the wire; text: its JSON */
    PHI_EV_OPAQUE
} phi_event_kind;

/* Why a turn began. */
typedef enum phi_trigger {
    PHI_TRIGGER_USER = 1,
    PHI_TRIGGER_SUB_AGENT,
    PHI_TRIGGER_CONTINUATION,
    PHI_TRIGGER_BRANCH
} phi_trigger;

/* How a run came to be. */
typedef enum phi_continuation {
    PHI_CONTINUATION_INITIAL = 0, /* by a prompt */
    PHI_CONTINUATION_DEFAULT,     /* continues where the history ends */
    PHI_CONTINUATION_RERUN,       /* the same again */
    PHI_CONTINUATION_BRANCH,      /* another way from here */
    PHI_CONTINUATION_COMPACTION
} phi_continuation;

/* Which messages of a run stay in view once it has ended. phi's own runs end with COMPLETE. */
typedef enum phi_keep {
    PHI_KEEP_COMPLETE = 0, /* user messages and answers with all their results */
    /* nothing of the run, and none of its rewrites: the view is as before the run */
    PHI_KEEP_NONE
} phi_keep;

/* Where a user message came from. */
typedef enum phi_input {
    PHI_INPUT_NONE = 0,
    PHI_INPUT_PROMPT,
    PHI_INPUT_STEERING,
    PHI_INPUT_FOLLOW_UP,
    PHI_INPUT_INJECTED
} phi_input;

/* Everything it points to is owned by the runtime and valid until the first phi_step after the
   event was popped. Events that were not popped keep their memory. */
typedef struct phi_event {
    phi_event_kind kind;
    phi_agent agent;
    void *user_data; /* the agent's */
    uint64_t seq;    /* from 1, over the runtime; gaps only where an agent was freed or reset */
    int64_t timestamp_ms; /* Unix time */
    phi_str loop_id;
    uint32_t turn_index, block_index;
    phi_trigger trigger; /* TURN_START */
    bool is_error;       /* TOOL_END, SUBAGENT_END */
    phi_call call;       /* TOOL_... */
    phi_str tool_call_id, tool_name, arguments;
    phi_str text, partial;
    /* MESSAGE_..., TURN_END, TOOL_END. With deltas: the answer as far as it had come when the event
       was popped; `partial` is exact */
    const phi_message *message;
    /* TURN_END, AGENT_END, SUBAGENT_END; NULL: no answer, or no memory */
    const phi_usage *usage;
    const struct phi_failure *failure; /* ERROR, RETRY, FAILOVER; AGENT_END after one */
    /* AGENT_END: the run's, for phi_thread_message_at while its lane is the active one.
       INPUT_DROPPED without a text: how many were dropped while the event queue was full. */
    size_t first_message, message_count;
    const struct phi_loop_info *loop;        /* AGENT_START */
    const struct phi_compaction *compaction; /* COMPACTION_... */
    phi_ticket ticket;                       /* DECISION */
    int point;                               /* DECISION: a phi_hook_point */
    /* RETRY: the attempt that failed, from 1, of how many in all, the first included
       (PHI_UNLIMITED). FAILOVER: the switch, from 1, of how many the run may make. */
    uint32_t attempt, attempts;
    uint32_t delay_ms;   /* RETRY */
    phi_status status;   /* ERROR, AGENT_END, SUBAGENT_END, PARALLEL_END */
    uint64_t elapsed_ms; /* TOOL_HEARTBEAT: since the call was started, or resumed */
    phi_input input;     /* INPUT_DROPPED; MESSAGE_... of a user's message: where it came from */
    /* INPUT_DROPPED: why; MESSAGE_...: the tag of an injected message; AGENT_END: the reason of
       phi_abort_run; SUBAGENT_END: the id; DECISION of a question: who asks; OPAQUE: the type */
    phi_str source;
    phi_str rejection; /* AGENT_END: why a filter rejected the prompt; at NULL: none did */
    /* TOOL_END, TOOL_UPDATE, SUBAGENT_END: the run of a sub-agent that made the result */
    phi_str child_loop_id;
    /* of an event read from JSON (phi_event_from_json): AGENT_END's messages, TURN_END's tool
       results; message_count of them. A TOOL_UPDATE read from JSON has its result in `message` */
    const phi_message *messages;
    const struct phi_pruned *pruned;              /* PRUNED */
    const struct phi_reverted *reverted;          /* REVERTED */
    const struct phi_parallel *parallel;          /* PARALLEL_... */
    const struct phi_forgotten *forgotten;        /* FORGOTTEN */
    const struct phi_context *context;            /* CONTEXT_WARNING, SUMMARY_NEEDED */
    const struct phi_strategy_progress *strategy; /* STRATEGY */
    phi_str question_kind;                        /* DECISION of a question: "elicitation"... */
} phi_event;

/* "TextDelta"-like name for logs and tests. Static. */
PHI_API const char *phi_event_name(phi_event_kind kind);

#ifdef __cplusplus
}
#endif
#endif
