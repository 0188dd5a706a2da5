/* capture_in.h - what a turn is about to send, told once a turn to a host that wants it written
   down. */
#ifndef PHI_LOOP_CAPTURE_IN_H
#define PHI_LOOP_CAPTURE_IN_H

#include "loop/input.h"
#include "loop/types_in.h"

typedef struct phi__heard phi__heard;

typedef struct phi__capture {
    uint32_t told;     /* turns whose request was told */
    phi__heard *heard; /* what was steered and followed up; in memory of its own */
    size_t count, cap;
} phi__capture;

/* What was said to the run, as it enters the log. False, here and below: no memory. */
PHI__FN bool phi__capture_heard(phi__run *run, phi_input input);
PHI__FN bool phi__capture_tell(phi__run *run); /* what the attempt asks, once a turn */
PHI__FN void phi__capture_free(phi__run *run);

#endif
