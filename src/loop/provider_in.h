/* provider_in.h - a host's own model, in place of a codec and its transfer. */
#ifndef PHI_LOOP_PROVIDER_IN_H
#define PHI_LOOP_PROVIDER_IN_H

#include "loop/loop_in.h"
#include "loop/provider.h"
#include "model/model.h"
#include "wire/wire_in.h"

/* The attempt's decoder state, zeroed, of an agent whose provider is one over HTTP. */
PHI__FN size_t phi__provider_state_bytes(const phi_provider *provider);
PHI__FN void phi__provider_state_init(void *state, const phi_provider *provider);

/* Makes the provider's request from run->attempt.spec, kept for all attempts; and, over HTTP, the
   request of an attempt. PHI_NO_MEMORY, or the status of the host's function. */
PHI__FN phi_status phi__provider_request(phi__run *run);
PHI__FN phi_status phi__provider_encode(phi__run *run);

/* In process: the states SEND and STREAM of an answer that is prepared. */
PHI__FN phi_status phi__provider_open(phi__run *run);

/* One poll. False: come again, woken or not as *wait says. */
PHI__FN bool phi__provider_poll(phi__run *run, bool *wait);

/* harmless if none is open; inside its poll deferred to the run's end */
PHI__FN void phi__provider_close(phi__run *run);

#endif
