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
/* Reserves what the run's next model call may cost, with so many tokens of input more than are in
   view; its older reservation is given back first. False: there is no room, and `reason` says
   where. */
PHI__FN bool phi__states_reserve(phi__run *run, uint64_t more, char *reason, size_t size);
/* Pauses the run at a limit: then *wait, and the outcome is its state, which looks again when it is
   woken. RUN_ON: it may not pause, or has for long enough. Its caller ends the pause. */
PHI__FN phi__state phi__states_pause(phi__run *run, const char *reason, bool *wait);

#endif
