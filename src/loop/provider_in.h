/* provider_in.h - a host's own model, in place of a codec and its transfer. */
#ifndef PHI_LOOP_PROVIDER_IN_H
#define PHI_LOOP_PROVIDER_IN_H

#include "loop/loop_in.h"
#include "loop/provider.h"
#include "loop/types_in.h"
#include "model/model.h"
#include "wire/codec_in.h"
#include "wire/reader_in.h"

/* PHI_OK, or its fault in phi_last_error, with a message that begins with `what`. */
PHI__FN phi_status phi__provider_check(phi_runtime *rt, const char *what,
                                       const phi_provider *provider);

/* The registered one of a protocol, or NULL. */
PHI__FN const phi_provider *phi__provider_find(const phi_runtime *rt, phi_str protocol);
PHI__FN void phi__provider_free_all(phi_runtime *rt);

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
PHI__FN void phi__provider_wake_all(phi_runtime *rt); /* the models to poll in this step */

typedef struct phi__speaker {
    phi_model model;              /* its strings are in the arena that it was made in */
    const phi_provider *own;      /* used whatever the model's protocol; NULL: none */
    const phi_provider *provider; /* `own`, or the registered one; NULL: one of ours */
    const phi__codec *codec;
    bool in_process; /* the provider is polled, not spoken to over HTTP */
} phi__speaker;

/* Copies a model and its provider into the arena, with defaults filled in. False: no memory. */
PHI__FN bool phi__speaker_take(const phi_runtime *rt, phi_arena *arena, const phi_provider *own,
                               const phi_model *model, phi__speaker *out);

/* Another provider for it; borrowed. */
PHI__FN void phi__speaker_by(phi__speaker *seat, const phi_provider *own);

/* The agent's, and giving it another one. */
PHI__FN phi__speaker phi__speaker_of(const phi__agent *agent);
PHI__FN void phi__speaker_set(phi__agent *agent, const phi__speaker *seat);

#endif
