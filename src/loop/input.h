/* input.h - input for a running agent: steering, follow-ups and injected messages.

   Steering changes the course: the run looks for it before the first turn, between tools (one by
   one: after each; in batches: after each batch; at once: when all have ended) and after each turn.
   Calls that have not begun are then skipped, with a result that says so. A follow-up is more work:
   the run looks for it when it would end. Both queues outlive a run: the next run delivers their
   input. An injected message belongs to the current run: it is delivered when the next turn begins
   (one that comes while BEFORE_TURN is called or waits, with the turn that the hook allows), and
   reported as dropped (PHI_EV_INPUT_DROPPED) when the run ends first. A run ends by itself only
   when all three are empty. */
#ifndef PHI_LOOP_INPUT_H
#define PHI_LOOP_INPUT_H

#include "loop/run.h"
#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a message of the user's into a queue.

   Ownership: the text is copied, without white space at its ends.
   Threads:   any. PHI_OK means posted; the next phi_step puts it into the queue, and a queue that
              is full by then (phi_agent_input.queue_limit) reports it as dropped. PHI_FULL: the
              inbox is full now, try again. PHI_BAD_ARG: empty or blank, or larger than the inbox
              can ever hold. PHI_STALE.
   Callbacks: safe inside one.
   Nothing is written to phi_last_error, which is the pumping thread's.
   phi_inject: `source` (NULL: none) comes back with the message's events; PHI_MISUSE: no run is
   active. */
PHI_API phi_status phi_steer(phi_agent agent, const char *text);
PHI_API phi_status phi_follow_up(phi_agent agent, const char *text);
PHI_API phi_status phi_inject(phi_agent agent, const char *text, const char *source);

/* Input for a queue, with all its options. Zero means default for every field but queue, and text
   or content. */
typedef struct phi_enqueue_desc {
    phi_input queue;            /* PHI_INPUT_STEERING, _FOLLOW_UP or _INJECTED */
    const char *text;           /* copied; this or content */
    const phi_content *content; /* copied */
    size_t content_count;
    const char *source; /* comes back with the message's events; copied (default: none) */
    const char *id;     /* of the request, UTF-8, at most 128 bytes, */
    /* and JSON text about it: kept with the message in the log, as those of phi_prompt_with; copied
       */
    const char *refs;
    const char *loop_id; /* the run that it is meant for (default: any) */
} phi_enqueue_desc;

/* Queues any content at once. PHI_FULL: the queue is full; PHI_NOT_FOUND: no run of that loop_id is
   active; PHI_MISUSE: injected, and no run is; PHI_BAD_ARG: phi_last_error names the field;
   PHI_STALE, PHI_NO_MEMORY: nothing was queued. Pumping thread. */
PHI_API phi_status phi_enqueue(phi_agent agent, const phi_enqueue_desc *desc);

/* Removes the messages of a queue; PHI_INPUT_NONE: of all queues. Texts that were posted and not
   yet read by a phi_step, and messages that a run has taken for its next turn, are not in it.
   Pumping thread. */
PHI_API phi_status phi_queue_clear(phi_agent agent, phi_input queue);

#ifdef __cplusplus
}
#endif
#endif
