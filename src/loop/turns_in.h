/* turns_in.h - the states of a run between its model calls and tools. */
#ifndef PHI_LOOP_TURNS_IN_H
#define PHI_LOOP_TURNS_IN_H

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

PHI__FN phi__state phi__turn_before_loop(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_open(phi__run *run);
PHI__FN phi__state phi__turn_filter(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_poll(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_top(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_before(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_begin(phi__run *run);
PHI__FN phi__state phi__turn_failed(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_end(phi__run *run);
PHI__FN phi__state phi__turn_after(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_next(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_follow(phi__run *run, bool *wait);
PHI__FN phi__state phi__turn_close(phi__run *run);
PHI__FN phi__state phi__turn_after_loop(phi__run *run, bool *wait);

#endif
