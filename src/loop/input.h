/* input.h - input for a running agent: steering, follow-ups and injected messages.

   Steering changes the course of a run. The run looks for steering before the first turn, between
   tools (sequential: after each call; batched: after each batch; parallel: when all calls have
   ended) and after each turn. If there is steering, calls that have not begun are skipped, with a
   result that says so. A follow-up is more work: the run looks for follow-ups when it would
   otherwise end. Both queues outlive a run, and the next run delivers their messages. An injected
   message belongs to the current run and is delivered when the next turn begins. (If the message
   comes while BEFORE_TURN is called or waits, the turn that the hook allows delivers it.) If the
   run ends first, the message is reported as dropped (PHI_EV_INPUT_DROPPED). A run ends by itself
   only when all three queues are empty. */
#ifndef PHI_LOOP_INPUT_H
#define PHI_LOOP_INPUT_H

#include "loop/run.h"
#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Put a user message into a queue. These functions start no run. If the agent is idle, a message of
   phi_steer or phi_follow_up waits for the next run (a follow-up: for its end). To start a run,
   call phi_prompt.

   Ownership: the text is copied, without white space at its ends.
   Threads:   any. PHI_OK means posted: the next phi_step puts the message into the queue, or
              reports it as dropped if the queue is full by then (phi_agent_input.queue_limit).
              PHI_FULL: the inbox is full now, try again. PHI_BAD_ARG: the text is empty or blank,
              or larger than the inbox can ever hold. PHI_STALE: the agent is gone. PHI_MISUSE
              (only phi_inject): no run is active.
   Callbacks: safe inside one. These functions do not set phi_last_error, which belongs to the
              pumping thread. The events of a message from phi_inject have its `source` (NULL:
              none). */
PHI_API phi_status phi_steer(phi_agent agent, const char *text);
PHI_API phi_status phi_follow_up(phi_agent agent, const char *text);
PHI_API phi_status phi_inject(phi_agent agent, const char *text, const char *source);

/* Input for a queue, with all options. Zero means default for every field but queue and text (or
   content). */
typedef struct phi_enqueue_desc {
    phi_input queue;            /* PHI_INPUT_STEERING, _FOLLOW_UP or _INJECTED */
    const char *text;           /* copied; give either text or content */
    const phi_content *content; /* copied */
    size_t content_count;
    const char *source; /* the message's events have it; copied (default: none) */
    /* the request's id, UTF-8, at most 128 bytes. The message in the log keeps id and refs, as with
       phi_prompt_with. Copied */
    const char *id;
    /* JSON text about the request; copied */
    const char *refs;
    const char *loop_id; /* the run that the message is for (default: any) */
} phi_enqueue_desc;

/* Queues text or any content, without a detour through the inbox. PHI_FULL: the queue is full;
   PHI_NOT_FOUND: no run of that loop_id is active; PHI_MISUSE: the queue is PHI_INPUT_INJECTED, and
   no run is active; PHI_BAD_ARG: phi_last_error names the field; PHI_STALE; PHI_NO_MEMORY. After
   any of these nothing was queued. Pumping thread. */
PHI_API phi_status phi_enqueue(phi_agent agent, const phi_enqueue_desc *desc);

/* Removes all messages from a queue; PHI_INPUT_NONE: from all queues. Does not remove posted texts
   that no phi_step has read yet, nor messages that a run has taken for its next turn. Pumping
   thread. */
PHI_API phi_status phi_queue_clear(phi_agent agent, phi_input queue);

#ifdef __cplusplus
}
#endif
#endif
