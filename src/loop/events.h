/* events.h - the event queue, from which the host pops events. */
#ifndef PHI_LOOP_EVENTS_H
#define PHI_LOOP_EVENTS_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pops the oldest event; false: there is none. Pointers in an event that was popped inside a
   callback are valid until the callback returns. In other events they are valid until the first
   phi_step after the pop. */
PHI_API bool phi_next_event(phi_runtime *rt, phi_event *out);

/* Holds an agent's events while a slow client reads earlier ones. phi_next_event skips the agent's
   events, both those in the queue and later ones; events of other agents are not affected. When the
   held events reach phi_agent_memory.event_queue_bytes, phi stops reading the agent's stream, so
   the slow client slows down the server. hold false: the held events go to the end of the queue in
   their order; each keeps the `seq` that it got when it happened. Sub-agents are held separately. A
   second call with the same value is harmless. Pumping thread, also inside callbacks. PHI_STALE:
   the agent is gone; PHI_BAD_ARG: the handle is zero. */
PHI_API phi_status phi_agent_hold(phi_agent agent, bool hold);

#ifdef __cplusplus
}
#endif
#endif
