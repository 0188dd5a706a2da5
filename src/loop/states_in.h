/* states_in.h - all states of a run and their outcomes; only states.c knows them. */
#ifndef PHI_LOOP_STATES_IN_H
#define PHI_LOOP_STATES_IN_H

#include "loop/types_in.h"
#include "model/event.h"

typedef struct phi__turn {
    uint32_t index;
    phi_trigger trigger; /* of the run's first one */
    bool open;           /* TURN_START is out */
    bool steered;        /* its steering was looked for */
    bool opened;         /* AGENT_START is out */
    bool silent;         /* no AFTER_LOOP: the run was refused before it began */
} phi__turn;

/* Each until it waits or is over, as far as the step's budget goes. */
PHI__FN void phi__states_advance_all(phi_runtime *rt);

#endif
