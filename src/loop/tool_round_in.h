/* tool_round_in.h - the calls of a turn, in the turn's memory: in the order of the answer, and
   logged in that order. What becomes of them is in run_tools.c. */
#ifndef PHI_LOOP_TOOL_ROUND_IN_H
#define PHI_LOOP_TOOL_ROUND_IN_H

#include "loop/types_in.h"

/* The calls of the reply, none begun; nobody hears of it. False: no memory. */
PHI__FN bool phi__run_lay_calls(phi__run *run);
PHI__FN void phi__run_detach_tools(phi__run *run); /* tells them; frees nothing */
PHI__FN void phi__run_drop_tools(phi__run *run);

#endif
