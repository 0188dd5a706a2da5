/* hook.h - hooks at eighteen points of a run, decisions that may wait, and the list of what a
   runtime's runs wait for.

   An agent has one hook function; hook->point says where it is called. It answers at once
   (PHI_ALLOW, PHI_DENY), or returns PHI_WAIT and calls phi_decide later with hook->ticket, from any
   thread: a permission dialog is a hook that waits. The run waits meanwhile (at a tool call: only
   that call), phi_step does not. A wait has a deadline, phi_agent_desc.deadlines.decision_ms: then
   the point is denied, or, where nothing can be denied, the run continues. */
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

/* The points, in the order of a run; bits of phi_agent_desc.hook_points. Each says what PHI_DENY
   does; without such a line it does nothing. */
typedef enum phi_hook_point {
    PHI_HOOK_BEFORE_LOOP = 1 << 0, /* message_count. DENY: no run, AGENT_END is its only event */
    /* turn_index, message_count. DENY: the run ends before the turn */
    PHI_HOOK_BEFORE_TURN = 1 << 1,
    /* messages: the projection; may be replaced. Called once a turn, and again after a
       compaction */
    PHI_HOOK_TRANSFORM_CONTEXT = 1 << 2,
    /* messages, extensions too; extensions still in the list are dropped */
    PHI_HOOK_CONVERT_TO_LLM = 1 << 3,
    /* compaction. DENY: it is not done; after an overflow the run ends with that error */
    PHI_HOOK_BEFORE_COMPACTION = 1 << 4,
    PHI_HOOK_AFTER_COMPACTION = 1 << 5, /* compaction */
    /* call, tool_name, tool_call_id, arguments. ALLOW with a reply: it runs with those arguments.
       DENY: it is not run, and the model reads the reply. The arguments are checked after it: they
       may not fit the schema */
    PHI_HOOK_BEFORE_TOOL = 1 << 6,
    PHI_HOOK_AFTER_TOOL = 1 << 7, /* tool_name, tool_call_id, is_error, message: the result */
    /* tool_name, tool_call_id, text; message: of phi_call_update. DENY: no event. It cannot wait:
       PHI_WAIT counts as PHI_DENY */
    PHI_HOOK_BEFORE_TOOL_UPDATE = 1 << 8,
    PHI_HOOK_AFTER_TOOL_UPDATE = 1 << 9, /* the same, after the event. It cannot wait */
    PHI_HOOK_ON_ERROR = 1 << 10,         /* text, failure: a model call has failed for good */
    PHI_HOOK_AFTER_TURN = 1 << 11,       /* message_count, usage: the turn's */
    /* When the run looks for steering and the queue is empty (in PHI_QUEUE_ALL: always, until it
       returns none). ALLOW with a reply: the reply is a steering message. */
    PHI_HOOK_STEERING = 1 << 12,
    PHI_HOOK_FOLLOW_UP = 1 << 13,  /* the same for follow-ups, when the run would end */
    PHI_HOOK_AFTER_LOOP = 1 << 14, /* after AGENT_END: message_count of the run, usage of the run */
    /* Before a user's message is stored: text, input; called after the agent's `filters`. WARN: the
       reply is appended for the model; DENY: the input is refused, and the reply says why. */
    PHI_HOOK_FILTER = 1 << 15,
    /* Before each attempt of a model call. ALLOW with a reply: the reply is its key; without one:
       the model's own. model: the one that the key is for; after a failover, for summaries and
       for sub-agents it may be at another server than the agent's own, and the reply is sent there.
       is_error: the provider refused the last key; such an attempt is made once a turn and does not
       count as a retry. DENY: the call fails, and the reply says why. */
    PHI_HOOK_CREDENTIAL = 1 << 16,
    /* Someone outside asks the agent's host: source, question_kind, text, arguments; call,
       tool_name, tool_call_id where a tool call led to it. Also between runs. ALLOW: the reply is
       the answer, in the form that the kind wants; DENY: none is given. Where the hook does not
       want this point, all are denied. */
    PHI_HOOK_QUESTION = 1 << 17
} phi_hook_point;

/* The arguments of a hook; a field that a point does not use is zero. Everything is borrowed until
   the hook returns. */
typedef struct phi_hook {
    phi_hook_point point;
    phi_agent agent;
    phi_ticket ticket; /* for phi_decide, after PHI_WAIT */
    /* TRANSFORM_CONTEXT, CONVERT_TO_LLM: called again after phi_decide or the deadline */
    bool decided;
    uint64_t seq; /* of the last event queued before; over the runtime */
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
    const phi_model *model; /* CREDENTIAL */
    /* The history has message_count messages: phi_thread_message_at. For TRANSFORM_CONTEXT and
       CONVERT_TO_LLM the list itself: the hook may set both to its own list. The list is copied
       when the hook returns, and so are its messages that were not in the given list; a NULL, and a
       message without its content, are left out. */
    const phi_message *const *messages;
    size_t message_count;
    /* out */
    phi_str reply;       /* copied when the hook returns */
    uint32_t timeout_ms; /* of a wait (default: the agent's deadlines.decision_ms; PHI_UNLIMITED) */
    /* For the wait of a hook that calls another one: after an ALLOW the hook is called again, with
       `round` one higher and the reply of phi_decide as its `reply`, and may wait again. */
    bool ask_again;
    bool quiet;     /* of a wait: no PHI_EV_DECISION, for the program decides by itself */
    uint32_t round; /* in: how often the hook has waited with ask_again for this answer */
    /* In and out, kept from round to round, 0 at first: for hooks that call others to note who has
       waited. The lowest 8 bits are phi_permissions_hook's; its hook_fn sees those above. */
    uint32_t waited;
    /* QUESTION: who asks: the name of a server. BEFORE_TOOL: phi_tool.source, or empty */
    phi_str source;
    phi_str question_kind; /* QUESTION: "elicitation", "sampling"... */
    /* BEFORE_TOOL, in phi_permissions_desc.ask_fn: whose rules ask; the host's, not kept alive */
    struct phi_permissions *permissions;
} phi_hook;

/* A filter sees the text of user messages (their text blocks, joined by line breaks) before they
   are stored: prompts, steering, follow-ups, injected ones. All are called in order, up to the
   first PHI_DENY. */
typedef struct phi_filter {
    phi_hook_fn fn;
    void *user_data;
} phi_filter;

/* Decides a waiting hook. `reply` as the point says: a reason, changed arguments, a warning;
   copied; NULL: none.

   Lifetime: the ticket dies with the first decision, its deadline, the end of the run or call (an
              abort, a freed agent); a dead one gives PHI_STALE and changes nothing.
   Threads:   any. PHI_OK means posted. PHI_FULL: the inbox has no room for the reply now, and
              nothing is decided: try again, or without a reply, which always has room. PHI_BAD_ARG:
              a reply larger than the inbox can ever hold, or PHI_WAIT. PHI_MISUSE: a script guards
              this point, and only PHI_DENY ends its wait early: nobody allows in its place. */
PHI_API phi_status phi_decide(phi_ticket ticket, phi_verdict verdict, const char *reply);

typedef enum phi_waiting {
    PHI_WAITING_NOTHING = 0,  /* no run is active, or it continues with the next phi_step */
    PHI_WAITING_DECISION = 1, /* for phi_decide: ticket, point */
    PHI_WAITING_CALL,         /* for a tool: call */
    PHI_WAITING_RETRY,        /* for the next attempt of a model call */
    PHI_WAITING_BUDGET,       /* for phi_budget_raise: text is the limit */
    PHI_WAITING_MODEL         /* for a model's answer, from its request on until its end */
} phi_waiting;

/* Something that a run waits for. Strings are owned by the agent and valid until the next
   phi_step. */
typedef struct phi_pending_item {
    phi_waiting kind;
    phi_agent agent;
    phi_str loop_id; /* of the run */
    uint32_t turn_index;
    phi_ticket ticket;
    phi_hook_point point;
    phi_call call; /* of the decision's tool call, too */
    phi_str tool_name, tool_call_id, arguments;
    phi_str text;      /* filter: the input; question: its text; BUDGET: the reason */
    phi_agent payer;   /* BUDGET: to call phi_budget_raise for: this agent, or one above it */
    bool has_deadline; /* else it waits without limit */
    uint64_t left_ms;  /* until then */
    phi_str source, question_kind; /* of a question, or a tool call: as of phi_hook */
    /* DECISION: as of phi_hook: the hook that waits decides by itself, such as a script. A dialog
       does not show it as its own. */
    bool quiet;
    struct phi_permissions *permissions; /* DECISION: the same; NULL: no rules ask */
} phi_pending_item;

/* Lists what the runs of a runtime wait for: decisions first, then the rest, each in the order of
   the agents' handles. Returns how many there are, of which the first `most` were written. One that
   was decided just now is listed until the next phi_step. Models' answers are not listed. Pumping
   thread. */
PHI_API size_t phi_pending(phi_runtime *rt, phi_pending_item *out, size_t most);

#ifdef __cplusplus
}
#endif
#endif
