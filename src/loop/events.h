/* events.h - the queue of events, which the host empties. */
#ifndef PHI_LOOP_EVENTS_H
#define PHI_LOOP_EVENTS_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pops the oldest event; false: none. Pointers out of an event popped inside a callback are valid
   until that returns, all others until the first phi_step after it. */
PHI_API bool phi_next_event(phi_runtime *rt, phi_event *out);

/* Holds an agent's events, those that wait and those to come, while a slow client reads earlier
   ones: phi_next_event passes them over, and those of other agents go on. At
   phi_agent_memory.event_queue_bytes phi stops reading the agent's stream, so that the client slows
   the server. false: they wait behind what the queue has then, in their order, each with the `seq`
   that it got when it happened.
   Sub-agents are held by themselves. Twice is harmless. Pumping thread, also inside callbacks.
   PHI_STALE, PHI_BAD_ARG. */
PHI_API phi_status phi_agent_hold(phi_agent agent, bool hold);

#ifdef __cplusplus
}
#endif
#endif
