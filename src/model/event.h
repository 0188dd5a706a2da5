/* event.h - events: one struct for all kinds. Fields that a kind does not use are zero. */
#ifndef PHI_MODEL_EVENT_H
#define PHI_MODEL_EVENT_H

#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Handles, passed by value. Until phi_runtime_free, functions return PHI_STALE for a stale handle,
   on any thread. */
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

/* Each comment says what happened and names the fields of phi_event that the kind sets. */
typedef enum phi_event_kind {
    PHI_EV_AGENT_START = 1, /* a run began */
    /* the run ended: status, usage; failure if the run failed; text: the limit that was reached, or
       the failure's message */
    PHI_EV_AGENT_END,
    PHI_EV_TURN_START, /* one model call and its tools */
    PHI_EV_TURN_END,
    /* message: a user message, a tool result, or an answer that is still empty */
    PHI_EV_MESSAGE_START,
    PHI_EV_TEXT,     /* text: new bytes of the answer; partial: the block's text so far */
    PHI_EV_THINKING, /* like PHI_EV_TEXT, for the model's thinking */
    /* like PHI_EV_TEXT, for a call's arguments: a piece of JSON text, cut at any place */
    PHI_EV_TOOL_ARGUMENTS,
    PHI_EV_MESSAGE_END, /* message: complete, as in the log */
    /* call, tool_call_id, tool_name, arguments (if arguments.at is NULL, the call is skipped).
       Calls with wrong arguments or of an unknown tool have this event, too; their TOOL_END is an
       error. A call that a hook denied has neither TOOL_START nor TOOL_END: its result is a
       MESSAGE_END of PHI_ROLE_TOOL_RESULT */
    PHI_EV_TOOL_START,
    /* text: a part of the result while the tool runs; message: the blocks and details of the part
       if phi_call_update gave more than a text, else NULL; child_loop_id */
    PHI_EV_TOOL_UPDATE,
    PHI_EV_TOOL_PROGRESS, /* text: a message for the person who waits */
    PHI_EV_TOOL_END,      /* message: the result; is_error */
    PHI_EV_ERROR,         /* text: a message; failure; status. The run ends after it */
    /* message: the answer so far, which the host should discard. Either the attempt failed, and phi
       will call the model again; or a text turned out to be thinking, and all deltas come again
       (PHI_QUIRK_THINK_TAGS) */
    PHI_EV_RETRACT,
    /* failure; attempt, attempts; delay_ms until the next attempt; text: a log line */
    PHI_EV_RETRY,
    PHI_EV_INPUT_REJECTED, /* text: a filter's reason; the run ends after it */
    /* text: input that no model will see; input: the origin of the text; source: why */
    PHI_EV_INPUT_DROPPED,
    PHI_EV_COMPACTION_START, /* compaction: only the first two fields are set */
    PHI_EV_COMPACTION_END,   /* compaction */
    /* a hook answered PHI_WAIT: ticket, point, text; for a tool: call, tool_call_id, tool_name,
       arguments; for a question: source, question_kind, arguments. Several decisions may be open:
       phi_pending lists all of them with their texts, at any time */
    PHI_EV_DECISION,
    /* text: the limit that was reached; phi_budget_raise continues. Comes again if another limit
       or another agent's budget then stops the run */
    PHI_EV_PAUSED,
    /* text: a message, for example about a repeated call, a store that refuses entries, or a
       compactor that leaves nothing */
    PHI_EV_WARNING,
    /* the outcome of phi_agent_rewrite or phi_summarize. text: the op_id; status; source: a message
       if the rewrite was refused or failed, if a newer rewrite replaced it (PHI_CANCELLED), or if
       its op_id was known already and nothing was done (PHI_OK) */
    PHI_EV_REWRITE,
    /* text: "approaching_limit" or "at_limit"; context: the figures. Emitted once each time a
       level is reached */
    PHI_EV_CONTEXT_WARNING,
    PHI_EV_PRUNED, /* pruned: the messages that tools removed from the view, when a turn was over */
    PHI_EV_REVERTED, /* reverted: the model went back to an earlier step, or this was refused */
    /* text: the request that is about to be sent, as JSON
       (phi_agent_desc.options.capture_requests) */
    PHI_EV_TURN_REQUEST,
    PHI_EV_PARALLEL_START, /* parallel: the runs that will answer the same prompt concurrently */
    PHI_EV_PARALLEL_END,   /* parallel: which run was selected */
    /* a run is over, and the store has the whole thread. text: the thread's id; message_count;
       usage: the sum of all runs of the thread */
    PHI_EV_THREAD_UPDATED,
    /* forgotten: entries of the log that were freed because the agent is at its memory limit */
    PHI_EV_FORGOTTEN,
    /* context: a policy with summaries on request leaves out older entries. Emitted again only when
       more are left out */
    PHI_EV_SUMMARY_NEEDED,
    /* elapsed_ms: how long a call has been running (phi_tool.heartbeat_ms) */
    PHI_EV_TOOL_HEARTBEAT,
    /* a run of phi_spawn is over. tool_name: the sub-agent's name; source: its id; text: its result
       or error message; status, is_error; child_loop_id, usage */
    PHI_EV_SUBAGENT_END,
    PHI_EV_TOOL_STATE, /* the tool state changed. text: the new state, JSON (features/effects.h) */
    /* a tool's effect "emit": tool_call_id, tool_name; source: the effect's name; text: the
       effect's value, JSON */
    PHI_EV_EFFECT,
    PHI_EV_STRATEGY, /* strategy: progress; text: the best answer so far */
    /* text: the tools that were added, removed and redefined: "+a -b ~c" (loop/tool_source.h) */
    PHI_EV_TOOLS_CHANGED,
    /* the turn continues with another model (features/failover.h). text: the new model's
       "provider/id"; source: the failed model's "provider/id"; failure, status; attempt, attempts:
       the run's switches */
    PHI_EV_FAILOVER,
    /* the answer has a complete block that phi does not interpret (PHI_CONTENT_OPAQUE):
       block_index; source: the block's type on the wire; text: its JSON */
    PHI_EV_OPAQUE
} phi_event_kind;

/* Why a turn began. */
typedef enum phi_trigger {
    PHI_TRIGGER_USER = 1,
    PHI_TRIGGER_SUB_AGENT,
    PHI_TRIGGER_CONTINUATION,
    PHI_TRIGGER_BRANCH
} phi_trigger;

/* How a run began. */
typedef enum phi_continuation {
    PHI_CONTINUATION_INITIAL = 0, /* by a prompt */
    PHI_CONTINUATION_DEFAULT,     /* the run continues where the history ends */
    PHI_CONTINUATION_RERUN,       /* the same run again */
    PHI_CONTINUATION_BRANCH,      /* on a new branch */
    PHI_CONTINUATION_COMPACTION
} phi_continuation;

/* Which messages of a run stay in view after the run has ended. phi's own runs end with
   PHI_KEEP_COMPLETE. */
typedef enum phi_keep {
    PHI_KEEP_COMPLETE = 0, /* user messages and answers with all their results */
    /* no message and no rewrite of the run: the view is as before the run */
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

/* An event. The runtime owns everything that it points to, until the first phi_step after the event
   was popped. Events that were not popped keep their memory. */
typedef struct phi_event {
    phi_event_kind kind;
    phi_agent agent;
    void *user_data; /* phi_agent_desc.user_data */
    /* counts from 1, over the whole runtime; gaps occur only if an agent was freed or reset */
    uint64_t seq;
    int64_t timestamp_ms; /* Unix time */
    phi_str loop_id;
    uint32_t turn_index, block_index;
    phi_trigger trigger; /* in TURN_START */
    bool is_error;       /* in TOOL_END and SUBAGENT_END */
    phi_call call;       /* in TOOL_... events, and in DECISION if it is about a tool call */
    phi_str tool_call_id, tool_name, arguments;
    phi_str text, partial;
    /* In MESSAGE_..., TURN_END, AGENT_END, TOOL_UPDATE, TOOL_END and RETRACT. In deltas: the whole
       answer up to the time of the pop, while `partial` ends with `text` */
    const phi_message *message;
    /* in TURN_END, AGENT_END, SUBAGENT_END, THREAD_UPDATED; NULL: no answer or no memory */
    const phi_usage *usage;
    const struct phi_failure *failure; /* in ERROR, RETRY, FAILOVER; in AGENT_END after an error */
    /* AGENT_END: index and number of the run's messages, for phi_thread_message_at while the run's
       lane is active. THREAD_UPDATED: message_count messages are in the thread. INPUT_DROPPED
       without a text: message_count messages were dropped while the event queue was full. */
    size_t first_message, message_count;
    const struct phi_loop_info *loop;        /* in AGENT_START */
    const struct phi_compaction *compaction; /* in COMPACTION_... events */
    phi_ticket ticket;                       /* in DECISION */
    int point;                               /* in DECISION: a phi_hook_point */
    /* RETRY: attempt is the number of the failed attempt, from 1; attempts is the most that may be
       made, including the first (PHI_UNLIMITED). FAILOVER: attempt is the number of this switch,
       from 1; attempts is the most switches that the run may make. */
    uint32_t attempt, attempts;
    uint32_t delay_ms; /* in RETRY */
    /* in ERROR, RETRY, REWRITE, FAILOVER, AGENT_END, SUBAGENT_END and PARALLEL_END */
    phi_status status;
    uint64_t elapsed_ms; /* in TOOL_HEARTBEAT: time since the call was started or resumed */
    /* in INPUT_DROPPED, and in MESSAGE_... of a user's message: where the message came from */
    phi_input input;
    /* INPUT_DROPPED: why; MESSAGE_...: the `source` that the message was queued with; AGENT_END:
       the reason of phi_abort_run; SUBAGENT_END: the id; DECISION of a question: who asks; OPAQUE:
       the type. For REWRITE, EFFECT and FAILOVER see phi_event_kind */
    phi_str source;
    /* AGENT_END: why a filter rejected the prompt; if rejection.at is NULL, no filter did */
    phi_str rejection;
    /* TOOL_END, TOOL_UPDATE, SUBAGENT_END: the sub-agent's run that made the result */
    phi_str child_loop_id;
    /* Only in events read from JSON (phi_event_from_json): message_count messages of AGENT_END, or
       tool results of TURN_END. A TOOL_UPDATE read from JSON has its result in `message` */
    const phi_message *messages;
    const struct phi_pruned *pruned;              /* in PRUNED */
    const struct phi_reverted *reverted;          /* in REVERTED */
    const struct phi_parallel *parallel;          /* in PARALLEL_... events */
    const struct phi_forgotten *forgotten;        /* in FORGOTTEN */
    const struct phi_context *context;            /* in CONTEXT_WARNING and SUMMARY_NEEDED */
    const struct phi_strategy_progress *strategy; /* in STRATEGY */
    /* in DECISION of a question: such as "elicitation" */
    phi_str question_kind;
} phi_event;

/* Returns a name such as "TextDelta", for logs and tests. Static. */
PHI_API const char *phi_event_name(phi_event_kind kind);

#ifdef __cplusplus
}
#endif
#endif
