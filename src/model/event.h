/* event.h - what happened: one flat struct, a field that a kind does not use is zero. */
#ifndef PHI_MODEL_EVENT_H
#define PHI_MODEL_EVENT_H

#include "io/transport.h"
#include "model/failure.h"
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

typedef enum phi_event_kind {
    PHI_EV_AGENT_START = 1, /* a run began */
    PHI_EV_AGENT_END,       /* it ended: status, usage; failure where it failed */
    PHI_EV_TURN_START,      /* one model call and its tools */
    PHI_EV_TURN_END,
    PHI_EV_MESSAGE_START,  /* message: a user prompt, a tool result, or the answer still empty */
    PHI_EV_TEXT,           /* text: new bytes of the answer; partial: the block so far */
    PHI_EV_THINKING,       /* the same of the model's thinking */
    PHI_EV_TOOL_ARGUMENTS, /* the same of a tool call's arguments: JSON text, cut anywhere */
    PHI_EV_MESSAGE_END,    /* message: whole, as it stands in the log */
    PHI_EV_TOOL_START,     /* call, tool_call_id, tool_name, arguments */
    PHI_EV_TOOL_UPDATE,    /* text: a part of the result while the tool runs */
    PHI_EV_TOOL_PROGRESS,  /* text: words for the person who waits */
    PHI_EV_TOOL_END,       /* message: the result; is_error */
    PHI_EV_ERROR           /* failure: what went wrong; status. The run ends after it */
} phi_event_kind;

/* What made a turn begin. */
typedef enum phi_trigger {
    PHI_TRIGGER_USER = 1,
    PHI_TRIGGER_SUB_AGENT,
    PHI_TRIGGER_CONTINUATION,
    PHI_TRIGGER_BRANCH
} phi_trigger;

/* Everything it points to is owned by the runtime and valid until the first phi_step after the event
   was popped. Events that were not popped keep their memory. */
typedef struct phi_event {
    phi_event_kind kind;
    phi_agent agent;
    void *user_data; /* the agent's */
    uint64_t seq;    /* from 1, over the runtime; gaps only where an agent was freed or reset */
    int64_t timestamp_ms; /* Unix time */
    phi_str loop_id;
    uint32_t turn_index, block_index;
    phi_trigger trigger; /* TURN_START */
    phi_call call;       /* TOOL_... */
    phi_str tool_call_id, tool_name, arguments;
    bool is_error;     /* TOOL_END */
    phi_status status; /* ERROR, AGENT_END */
    phi_str text, partial;
    const phi_message
        *message;           /* MESSAGE_..., TURN_END, TOOL_END. With deltas: the answer as far as it
                                    had come when the event was popped; `partial` is exact */
    const phi_usage *usage; /* TURN_END, AGENT_END */
    const phi_failure *failure;          /* ERROR; AGENT_END after one */
    size_t first_message, message_count; /* AGENT_END: the run's, for phi_message_at */
} phi_event;

/* "TextDelta"-like name for logs and tests. Static. */
PHI_API const char *phi_event_name(phi_event_kind kind);

#ifdef __cplusplus
}
#endif
#endif
