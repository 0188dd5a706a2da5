/* event_in.h - the words of events in JSON, for their writer and their reader. */
#ifndef PHI_AGENT_EVENT_IN_H
#define PHI_AGENT_EVENT_IN_H

#include "base/base_in.h"
#include "loop/hook.h"

/* All are static. An unknown trigger is "User", an unknown kind, point or input is "". */
PHI__FN const char *phi__event_type(phi_event_kind kind); /* the three deltas are "MessageUpdate" */
PHI__FN const char *phi__event_delta(phi_event_kind kind); /* and this inside */
PHI__FN const char *phi__event_trigger(phi_trigger trigger);
PHI__FN const char *phi__event_point(int point); /* a phi_hook_point; as the book names hooks */
PHI__FN const char *phi__event_input(phi_input input);

#endif
