/* hooks_in.h - hooks.c for the other files of this room. */
#ifndef PHI_LOOP_HOOKS_IN_H
#define PHI_LOOP_HOOKS_IN_H

#include "loop/loop_in.h"

PHI__FN phi_ticket phi__decision_ticket(const phi__decision *d);
PHI__FN phi_str phi__hooks_arguments(const phi__decision *d);

#endif
