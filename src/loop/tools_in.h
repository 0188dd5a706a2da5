/* tools_in.h - the tool calls of a turn, in the turn's memory: in the order of the answer, and
   logged in that order. */
#ifndef PHI_LOOP_TOOLS_IN_H
#define PHI_LOOP_TOOLS_IN_H

#include "loop/loop_in.h"

PHI__FN void phi__round_clear(phi__run *run);  /* a turn begins */
PHI__FN void phi__round_forget(phi__run *run); /* there was none */
PHI__FN void phi__round_free(phi__run *run);   /* the run goes */

/* Calls that have begun and whose results are not in the log yet. */
PHI__FN const phi__toolcall *phi__round_open(const phi__run *run, size_t *count);

/* Lays out the calls of the reply, none begun, without events. False: no memory. */
PHI__FN bool phi__tools_lay_calls(phi__run *run);
PHI__FN void phi__tools_detach(phi__run *run); /* calls their `cancel`; frees nothing */
PHI__FN void phi__tools_drop(phi__run *run);

/* the state TOOLS */
PHI__FN phi__state phi__tools_run(phi__run *run, bool *wait);
PHI__FN phi__state phi__tools_make_calls(phi__run *run); /* TOOLS, or TURN_END without any */

/* A number for a tool's name and its arguments, whatever their order of keys and blanks; text that
   is no JSON counts as it is. `arena` is given back. */
PHI__FN uint64_t phi__repeat_hash(phi_arena *arena, phi_str name, phi_str arguments);

/* Takes note of a call; how often it stands in the window now, this one included. */
PHI__FN uint32_t phi__repeat_note(phi__repeat_guard *guard, uint64_t hash);

#endif
