/* speaker_in.h - a model and how it is spoken to: what an agent has of its model, as one value that
   can be made before it is needed and exchanged without memory. */
#ifndef PHI_LOOP_SPEAKER_IN_H
#define PHI_LOOP_SPEAKER_IN_H

#include "loop/provider.h"
#include "loop/types_in.h"
#include "model/model.h"
#include "wire/codec_in.h"

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
