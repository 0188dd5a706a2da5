/* states_in.h - all states of a run and their outcomes; only states.c knows them. */
#ifndef PHI_LOOP_STATES_IN_H
#define PHI_LOOP_STATES_IN_H

#include "loop/types_in.h"

typedef struct phi__turn {
    uint32_t index;
    bool open;    /* TURN_START is out */
    bool steered; /* its steering was looked for */
} phi__turn;

/* Each until it waits or is over, as far as the step's budget goes. */
PHI__FN void phi__states_advance_all(phi_runtime *rt);

#endif
