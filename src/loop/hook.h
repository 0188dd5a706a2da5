/* hook.h - hooks at eighteen points of a run, decisions that may wait, and the list of everything
   that a runtime's runs wait for.

   An agent has one hook function; hook->point is the point at which phi calls it. The hook answers
   at once (PHI_ALLOW, PHI_DENY), or it returns PHI_WAIT, and the host calls phi_decide later with
   hook->ticket, from any thread. A permission dialog is such a waiting hook. Meanwhile the run
   waits (at a tool call only this call waits), but phi_step does not wait. Each wait has a
   deadline, phi_agent_desc.deadlines.decision_ms. After the deadline the point is denied; at points
   without a denial the run continues. */
#ifndef PHI_LOOP_HOOK_H
#define PHI_LOOP_HOOK_H

#include "loop/run.h"
#include "model/event.h"
#include "model/model.h"
#include "model/event_parts.h"
#include "model/failure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The points, in the order of a run; bits of phi_agent_desc.hook_points. Each comment names the
   fields of phi_hook that are set at this point, and what PHI_DENY does (DENY). Without such a note
   PHI_DENY does nothing. */
typedef enum phi_hook_point {
    /* Fields: message_count. DENY: there is no run, AGENT_END is the only event. */
    PHI_HOOK_BEFORE_LOOP = 1 << 0,
    /* Fields: turn_index, message_count. DENY: the run ends before the turn. */
    PHI_HOOK_BEFORE_TURN = 1 << 1,
    /* Fields: messages, which the policy chose for sending; the hook may replace them. Called once
       a turn, and again after a compaction. */
    PHI_HOOK_TRANSFORM_CONTEXT = 1 << 2,
    /* Fields: messages, including extensions. The remaining extensions are dropped after the
       hook. */
    PHI_HOOK_CONVERT_TO_LLM = 1 << 3,
    /* Fields: compaction. DENY: no compaction; a run with an overflow then ends with that error. */
    PHI_HOOK_BEFORE_COMPACTION = 1 << 4,
    PHI_HOOK_AFTER_COMPACTION = 1 << 5, /* fields: compaction */
    /* Fields: call, tool_name, tool_call_id, arguments. ALLOW with a reply: the reply replaces the
       arguments. DENY: the call is not run, and the model reads the reply. The arguments are
       checked after the hook, so in the hook they may not fit the schema. */
    PHI_HOOK_BEFORE_TOOL = 1 << 6,
    /* Fields: tool_name, tool_call_id, is_error, message (the result). */
    PHI_HOOK_AFTER_TOOL = 1 << 7,
    /* Fields: tool_name, tool_call_id, text; message if phi_call_update gave more than a text,
       else NULL. DENY: no event. This hook cannot wait: PHI_WAIT counts as PHI_DENY. */
    PHI_HOOK_BEFORE_TOOL_UPDATE = 1 << 8,
    PHI_HOOK_AFTER_TOOL_UPDATE = 1 << 9, /* the same fields, after the event; cannot wait */
    PHI_HOOK_ON_ERROR = 1 << 10,   /* fields: text, failure; a model call has finally failed */
    PHI_HOOK_AFTER_TURN = 1 << 11, /* fields: message_count, usage of the turn */
    /* Called when the run looks for steering and the queue is empty (in PHI_QUEUE_ALL: always, and
       again until there is no reply). ALLOW with a reply: the reply is a steering message. */
    PHI_HOOK_STEERING = 1 << 12,
    PHI_HOOK_FOLLOW_UP = 1 << 13,  /* the same for follow-ups, when the run would otherwise end */
    PHI_HOOK_AFTER_LOOP = 1 << 14, /* after AGENT_END; fields: message_count, usage of the run */
    /* Called before a user's message is stored, after the agent's `filters`. Fields: text, input.
       WARN: the reply is added for the model. DENY: the input is refused, and the reply says
       why. */
    PHI_HOOK_FILTER = 1 << 15,
    /* Before each attempt of a model call. ALLOW with a reply: the reply is the API key of this
       attempt; without a reply the model's own key is sent. model: the model that the key is for.
       After a failover, for summaries and for sub-agents this model may be at another server than
       the agent's own, and the key is sent to that server. is_error: the provider refused the last
       key; such an attempt is made once a turn and does not count as a retry. DENY: the model call
       fails, and the reply says why. */
    PHI_HOOK_CREDENTIAL = 1 << 16,
    /* A server asks the agent's host a question: source, question_kind, text, arguments; call,
       tool_name and tool_call_id if a tool call led to the question. May come between runs, too.
       ALLOW: the reply is the answer, in the form that the kind of question needs. DENY: no answer
       is given. If the hook does not have this point, all questions are denied. */
    PHI_HOOK_QUESTION = 1 << 17
} phi_hook_point;

/* The arguments of a hook. Fields that a point does not use are zero. All pointers are borrowed
   until the hook returns. */
typedef struct phi_hook {
    phi_hook_point point;
    phi_agent agent;
    phi_ticket ticket; /* for phi_decide, if the hook returns PHI_WAIT */
    /* TRANSFORM_CONTEXT, CONVERT_TO_LLM: true if phi calls the hook once more after its wait was
       allowed or ran out; false in the calls that ask_again causes */
    bool decided;
    uint64_t seq; /* the `seq` of the last event that the runtime queued before this call */
    phi_str loop_id;
    uint32_t turn_index;
    phi_call call;
    phi_str tool_name, tool_call_id, arguments;
    bool needs_approval; /* BEFORE_TOOL: phi_tool.needs_approval */
    bool is_error;
    phi_str text;
    phi_input input;
    const phi_message *message;
    const phi_usage *usage;
    const phi_failure *failure;
    const phi_compaction *compaction;
    const phi_model *model; /* CREDENTIAL: the model that the key is for */
    /* message_count is the number of messages in the history (phi_thread_message_at reads them).
       Only TRANSFORM_CONTEXT and CONVERT_TO_LLM get `messages`, the list that will be sent;
       message_count is then its length. The hook may set both fields to its own list. When the hook
       returns, phi copies this list, and the messages in it that were not in the given list. NULL
       pointers and messages without their content are left out. */
    const phi_message *const *messages;
    size_t message_count;
    /* The hook sets the next four fields. */
    phi_str reply; /* copied when the hook returns */
    /* the deadline of a wait (default: the run's or agent's decision_ms; PHI_UNLIMITED) */
    uint32_t timeout_ms;
    /* For a waiting hook that calls another hook. If set, phi calls the hook again after phi_decide
       with PHI_ALLOW: `round` is one higher, `reply` is the reply of phi_decide, and the hook may
       wait again. */
    bool ask_again;
    bool quiet;     /* if the hook waits: no PHI_EV_DECISION, because the program decides itself */
    uint32_t round; /* in: how often the hook has already waited with ask_again for this answer */
    /* In and out. Kept from round to round; 0 in the first round. A hook that calls other hooks
       notes here which of them has waited. phi_permissions_hook uses the lowest 8 bits; its hook_fn
       sees the bits above them, shifted down. */
    uint32_t waited;
    /* QUESTION: the name of the server that asks. BEFORE_TOOL: phi_tool.source, or empty */
    phi_str source;
    phi_str question_kind; /* QUESTION: "elicitation", "sampling"... */
    /* BEFORE_TOOL, in phi_permissions_desc.ask_fn: the rules that ask. The host owns these rules;
       this pointer does not keep them alive */
    struct phi_permissions *permissions;
} phi_hook;

/* A filter sees the text of user messages (their text blocks, joined by line breaks) before the
   messages are stored: prompts, steering, follow-ups and injected messages. The filters are called
   in order, up to the first PHI_DENY. */
typedef struct phi_filter {
    phi_hook_fn fn;
    void *user_data;
} phi_filter;

/* Gives the verdict of a waiting hook. `reply` is for example a reason, changed arguments or a
   warning, as phi_hook_point says for each point. It is copied; NULL: no reply.

   Lifetime: the ticket becomes stale with the first decision, at its deadline, and when the run or
             call ends (also by an abort or a freed agent). A stale ticket gives PHI_STALE and
             changes nothing.
   Threads:   any. PHI_OK means posted. PHI_FULL: the inbox has no room for the reply now, and
              nothing is decided. Try again, or call without a reply: that always has room.
              PHI_BAD_ARG: the reply is larger than the inbox can ever hold, or the verdict is
              PHI_WAIT. PHI_MISUSE: a script guards this point, so only the script may allow it.
              PHI_DENY ends the wait early. */
PHI_API phi_status phi_decide(phi_ticket ticket, phi_verdict verdict, const char *reply);

typedef enum phi_waiting {
    PHI_WAITING_NOTHING = 0,  /* no run is active, or the run continues with the next phi_step */
    PHI_WAITING_DECISION = 1, /* waits for phi_decide; see ticket, point */
    PHI_WAITING_CALL,         /* waits for a tool; see call */
    PHI_WAITING_RETRY,        /* waits for the next attempt of a model call */
    PHI_WAITING_BUDGET,       /* waits for phi_budget_raise; text is the limit */
    PHI_WAITING_MODEL /* waits for a model's answer, from the request until the answer's end */
} phi_waiting;

/* One thing that a run waits for. The agent owns the strings; they are valid until the next
   phi_step. */
typedef struct phi_pending_item {
    phi_waiting kind;
    phi_agent agent;
    phi_str loop_id;
    uint32_t turn_index;
    phi_ticket ticket;
    phi_hook_point point;
    phi_call call; /* the call that waits, or that the decision is about */
    phi_str tool_name, tool_call_id, arguments;
    /* DECISION: the input that a filter checks, or the question's text; BUDGET: the limit */
    phi_str text;
    /* BUDGET: the agent to call phi_budget_raise with: this agent, or an ancestor */
    phi_agent payer;
    bool has_deadline;             /* false: the wait has no limit */
    uint64_t left_ms;              /* time until the deadline */
    phi_str source, question_kind; /* set for a question or a tool call, as in phi_hook */
    /* DECISION: the waiting hook decides by itself (phi_hook.quiet), for example by a script. A
       dialog should not ask the person about it. */
    bool quiet;
    struct phi_permissions *permissions; /* DECISION: phi_hook.permissions; NULL: no rules ask */
} phi_pending_item;

/* Lists everything that the runs of a runtime wait for, except models' answers: decisions first,
   then the rest, each in the order of the agents' handles. Returns the number of items; the first
   `most` of them are written to `out`. An item that was decided just now is still listed until the
   next phi_step. Pumping thread. */
PHI_API size_t phi_pending(phi_runtime *rt, phi_pending_item *out, size_t most);

#ifdef __cplusplus
}
#endif
#endif
