/* draft_in.h - the first entries of a run, and the responses of phi_prompt_with. */
#ifndef PHI_LOOP_DRAFT_IN_H
#define PHI_LOOP_DRAFT_IN_H

#include "loop/loop_in.h"
#include "loop/inner_in.h"

PHI__FN bool phi__draft_run(phi__run *run, const phi__run_order *order);

#endif
