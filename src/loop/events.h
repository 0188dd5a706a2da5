/* events.h - the queue of events, which the host empties. */
#ifndef PHI_LOOP_EVENTS_H
#define PHI_LOOP_EVENTS_H

#include "io/transport.h"
#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pops the oldest event; false: none. Pointers out of an event popped inside a callback are valid
   until that returns, all others until the first phi_step after it. */
PHI_API bool phi_next_event(phi_runtime *rt, phi_event *out);

#ifdef __cplusplus
}
#endif
#endif
