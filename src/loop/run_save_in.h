/* run_save_in.h - saves a run as JSON, between two steps, and loads it. */
#ifndef PHI_LOOP_RUN_SAVE_IN_H
#define PHI_LOOP_RUN_SAVE_IN_H

#include "loop/loop_in.h"
#include "text/json_in.h"

/* run_save.c, run_save.c */
/* A queue as an array; and back, added to it. PHI_PARSE, PHI_NO_MEMORY. */
PHI__FN void phi__run_save_inputs(phi__buf *out, const phi__inputs *inputs, phi_arena *scratch);
PHI__FN phi_status phi__run_load_inputs(phi__agent *agent, const phi_json *node, phi__inputs *to);

/* The agent's run as an object; null where none is active, or it is over but for its last hook. */
PHI__FN void phi__run_save(phi__buf *out, const phi__agent *agent, phi_arena *scratch);

/* Of an idle agent whose thread is there again. PHI_PARSE: it does not fit the thread;
   PHI_NO_MEMORY. Then there is no run. */
PHI__FN phi_status phi__run_load(phi__agent *agent, const phi_json *node, bool interrupt);

#endif
