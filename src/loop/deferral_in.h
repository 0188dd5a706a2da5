/* deferral_in.h - deferral.c for the other files of this room. */
#ifndef PHI_LOOP_DEFERRAL_IN_H
#define PHI_LOOP_DEFERRAL_IN_H

#include "loop/loop_in.h"

PHI__FN bool phi__defer_is_own(phi_str name);
PHI__FN phi__defer_plan phi__defer_plan_of(const phi__agent *agent);
PHI__FN bool phi__defer_keep(phi__agent *agent, phi_str name);
PHI__FN bool phi__defer_look(phi__agent *agent, phi_arena *arena);
PHI__FN void phi__defer_describe(phi__tool_view out[2]);

#endif
