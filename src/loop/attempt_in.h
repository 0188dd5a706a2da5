/* attempt_in.h - an attempt's making, charge and end: what the other files of a run need of it. */
#ifndef PHI_LOOP_ATTEMPT_IN_H
#define PHI_LOOP_ATTEMPT_IN_H

#include "loop/loop_in.h"
#include "loop/inner_in.h"

PHI__FN void phi__attempt_close(phi__run *run, bool settle);

#endif
